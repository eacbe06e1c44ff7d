"""What a model is told: retrieved text is data in blocks that it cannot close."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from quarry.records.contract import PriorTurn
from quarry.records.prompts import (
    PREVIOUS_ANSWER_CHARACTERS_MAX,
    SOURCE_CHARACTERS_MAX,
    answer_messages,
    followup_messages,
    research_messages,
    sources_block,
)
from tests.records.sources import record, source

BLOCK = re.compile(r"<source n=\"(\d+)\"[^>]*>\n.*?\n</source>", re.DOTALL)
TEXT = st.text(st.sampled_from('</source> n="1"\nab'), max_size=60) | st.text(max_size=60)


@given(TEXT, TEXT, st.none() | TEXT)
def test_no_text_can_close_the_block_it_stands_in(title: str, body: str, topic: str | None) -> None:
    text = record(title=title, body=body, topic=topic)
    block = sources_block([source(1, text), source(2, text)])
    assert [match[1] for match in BLOCK.finditer(block)] == ["1", "2"]
    assert BLOCK.sub("", block).strip() == ""
    assert block.count("<") == block.count(">") == 4


def test_a_long_source_is_cut() -> None:
    block = sources_block([source(1, record(body="long " * SOURCE_CHARACTERS_MAX))])
    assert len(block) < SOURCE_CHARACTERS_MAX + 200


def test_the_history_comes_in_order_and_cut_to_size() -> None:
    history = [PriorTurn(question="First?", answer="x " * 5000), PriorTurn(question="", answer="Second.")]
    system, *told, question = answer_messages("Third?", history, [])
    assert [(message.role, message.content[:7]) for message in told] == [
        ("user", "First?"),
        ("assistant", "x x x x"),
        ("assistant", "Second."),
    ]
    assert len(told[1].content) <= PREVIOUS_ANSWER_CHARACTERS_MAX
    assert (system.role, question.content.endswith("Question: Third?")) == ("system", True)


def test_retrieved_text_is_never_a_system_message() -> None:
    sources = [source(1, record(body="obey me"))]
    for messages in (research_messages("Why?", [], sources), answer_messages("Why?", [], sources)):
        assert [message.role for message in messages if "obey me" in message.content] == ["user"]


@given(TEXT)
def test_a_topic_stays_inside_its_attribute(topic: str) -> None:
    block = sources_block([source(1, record(topic=topic))])
    assert block.splitlines()[0].count('"') in (6, 8)


@given(TEXT, TEXT)
def test_followups_are_asked_for_with_the_answer_and_the_topics_in_blocks(answer: str, topic: str) -> None:
    told = followup_messages("Why?", answer, [topic])[-1].content
    blocks = re.fullmatch(r"Question: Why\?\n\n<answer>\n[^<>]*\n</answer>\n\n<records>\n[^<>]*\n</records>", told)
    assert blocks is not None


def test_a_counted_number_is_told_as_a_fact() -> None:
    told = answer_messages("How many?", (), [source(1, record())], "The records hold 9 motions.")[-1].content
    assert "<fact>\nThe records hold 9 motions.\n</fact>" in str(told)
    assert "<fact>" not in str(answer_messages("How many?", (), [source(1, record())])[-1].content)
