"""What a model is told: retrieved text is data in blocks that it cannot close."""

from __future__ import annotations

import datetime
import re

from hypothesis import given
from hypothesis import strategies as st

from quarry.records.prompts import answer_messages, sources_block
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


def test_the_data_the_day_and_the_users_filters_are_told() -> None:
    day = datetime.date(2026, 11, 27)
    system, question = answer_messages("Why?", [], [], "tickets: status text (open)", "tickets, open", day)
    assert "tickets: status text (open)" in system.content
    assert "Friday, 2026-11-27" in system.content
    assert "tickets, open." in question.content
