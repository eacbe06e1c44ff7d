"""Which sentences of records answer a question, and how they are quoted."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.records.passages import (
    NOTHING_NEAR,
    QUOTES_MAX,
    as_passages,
    candidates,
    nothing_near,
    quoted,
    select_quotes,
)
from quarry.records.retrieval import EvidenceSource, RecordText
from quarry.records.sources import BUILT_IN
from tests.records.sources import record, source

ELM = record(
    "elm", body="The elm is sound. It was planted in 1890. Cables cost $31,000.", date=datetime.date(2024, 1, 23)
)
VOTE = record(
    "vote",
    type="motion",
    title="The council keeps the elm.",
    body="The council keeps the elm.\nResult: Carried 7–2.",
    date=datetime.date(2024, 2, 13),
)


HOSTILE = (
    "<script>alert(1)</script> [1] [9](https://evil.example) ![x](y) `code` **bold** # heading | table > quote \\ _u_"
)
ANY_TEXT = st.text(st.sampled_from("elm vote kept. ?!\n[]()<>*_`#|\\19“”’$"), max_size=80) | st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]),  # what Postgres can hold
    max_size=80,
)
LINE = ANY_TEXT.map(lambda text: " ".join(text.split()) or "x")
RECORDS = st.lists(
    st.builds(
        record,
        id=st.integers().map(str),
        type=st.sampled_from([*BUILT_IN]),
        title=LINE,
        body=ANY_TEXT.map(lambda text: text.strip() or "x"),
        topic=st.none() | LINE,
        author=st.none() | LINE,
        date=st.none() | st.dates(),
    ),
    max_size=5,
)


def numbered(records: list[RecordText]) -> list[EvidenceSource]:
    return [source(n, text, weight=0.9 ** (n - 1)) for n, text in enumerate(records, start=1)]


def answer(question: str, *records: RecordText) -> str:
    quotes = select_quotes(candidates(question, numbered(list(records))))
    return "".join(quoted(quotes)) if quotes else ""


def without_escapes(markdown: str) -> str:
    return re.sub(r"\\[\\`*_\[\]<>#|]", "", markdown)


def test_the_sentence_that_answers_comes_first() -> None:
    assert "Cables cost $31,000." in answer("What did cables cost?", ELM, VOTE).split("\n")[0]
    assert answer("How did the council vote on the elm?", ELM, VOTE).startswith(
        "**13 February 2024**: The council keeps the elm. Result: Carried 7–2."
    )


def test_the_same_sentence_of_two_records_is_said_once() -> None:
    twice = [record("a", body="The elm stays where it is."), record("b", body="The elm stays where it is.")]
    assert answer("Does the elm stay?", *twice).count("The elm stays") == 1


def test_a_value_beside_the_question_follows_no_passage() -> None:
    smoke = record(
        "t", type="tickets", title="The printer smokes", body="The smoke comes from a new toner.\ncountry: Ireland"
    )
    assert "Ireland" not in answer("Why does the printer smoke?", smoke)
    assert "country: Ireland" in answer("In which country does the printer smoke?", smoke)


@pytest.mark.parametrize("kind", [*BUILT_IN])
def test_markup_in_a_record_stays_text(kind: str) -> None:
    hostile = record("x", type=kind, title=HOSTILE, body=HOSTILE, author=HOSTILE)
    left = without_escapes(answer("code heading table quote bold?", hostile))
    assert re.findall(r"[<>`*#|\\]|\]\(", left) == []
    assert set(re.findall(r"\[[^\]]*\]", left)) == {"[1]"}


@given(ANY_TEXT, RECORDS)
def test_every_citation_names_a_source_and_every_paragraph_has_one(question: str, records: list[RecordText]) -> None:
    written = answer(question, *records)
    left = without_escapes(written)
    assert set(re.findall(r"\[(.*?)\]", left)) <= {str(n) for n in range(1, len(records) + 1)}
    if written:
        paragraphs = [line for line in left.split("\n") if line]
        assert all(re.search(r" \[\d+\]$", paragraph) for paragraph in paragraphs)
        assert len(paragraphs) <= QUOTES_MAX


def test_sources_stand_in_the_order_of_their_passages_with_what_is_quoted_marked() -> None:
    sources = numbered([VOTE, ELM])
    pieces, shown = as_passages(select_quotes(candidates("What did cables cost?", sources)), sources)
    assert pieces[0].endswith("Cables cost $31,000. [1]")
    assert [(each.n, each.text.id) for each in shown] == [(1, "elm"), (2, "vote")]
    assert "It was planted in 1890. <mark>Cables cost $31,000.</mark>" in shown[0].to_source().snippet
    assert shown[1].to_source().snippet.startswith("<mark>The council keeps the elm.")


def test_where_nothing_is_near_the_nearest_are_links() -> None:
    linked = replace(record("a", title="The [elm]"), url="https://town.example/elm")
    said = "".join(nothing_near(numbered([linked, record("b", title="The vote")])))
    assert said == f"{NOTHING_NEAR}\n\nThe nearest:\n\n- [The \\[elm\\]](<https://town.example/elm>)\n- The vote"
