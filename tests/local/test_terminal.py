"""What a terminal shows of answers: nothing that would move its cursor, whatever texts hold, and the same text in any pieces."""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from quarry.local.terminal import MarkdownWriter, printable
from quarry.local.views import PeopleView, RecordsView
from quarry.people.contract import PeopleSearchResponse
from quarry.records.contract import (
    AnswerChunkEvent,
    Citation,
    CitationsEvent,
    ConfidenceEvent,
    DoneEvent,
    FollowupsEvent,
    Source,
    SourcesEvent,
    TextWithdrawnEvent,
    ToolCallEvent,
    ToolObservationEvent,
)
from quarry.verification.wire import CheckedStatement

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
MARKDOWN = st.lists(st.sampled_from("elm|**bold**|*|**|`|`a*b`|[12]|[1][2].|-|##|3.| |   |\n|naïve|木".split("|"))).map(
    "".join
)


def written(chunks: Sequence[str], *, is_terminal: bool = True) -> str:
    file = io.StringIO()
    color: Literal["standard"] | None = "standard" if is_terminal else None
    console = Console(file=file, force_terminal=is_terminal, color_system=color, width=40, highlight=False)
    writer = MarkdownWriter(console)
    for chunk in chunks:
        writer.feed(chunk)
    writer.finish()
    return file.getvalue()


@settings(max_examples=60)
@given(MARKDOWN, st.lists(st.integers(0, 200)))
def test_an_answer_looks_the_same_however_it_was_cut_into_chunks(text: str, cuts: list[int]) -> None:
    ends = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    assert written([text[start:end] for start, end in pairwise(ends)]) == written([text])


@settings(max_examples=60)
@given(st.text())
def test_no_control_character_reaches_the_terminal(text: str) -> None:
    for shown in (printable(text), ESCAPES.sub("", written([text]))):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)


def test_a_terminal_shows_markdown_wrapped_and_coloured_and_a_file_gets_it_as_it_is() -> None:
    text = "# Elm\n\n- **2024**: the council keeps the old elm, supported by cables [1]\n**never closed\nplain"
    shown = written([text])
    assert ESCAPES.sub("", shown) == (
        "Elm\n\n• 2024: the council keeps the old elm,\n  supported by cables [1]\nnever closed\nplain\n"
    )
    assert "\x1b[36m[1]\x1b[0m" in shown
    assert shown.endswith("\nplain\n")
    assert written([text], is_terminal=False) == text + "\n"


def test_a_terminal_says_that_text_is_withdrawn_and_marks_what_follows_where_it_stands() -> None:
    file = io.StringIO()
    view = RecordsView(Console(file=file, width=200, highlight=False, markup=False, emoji=False))
    flagged = CheckedStatement(start=0, end=18, state="flagged", reason="source 1 says kept")
    for event in (
        *(AnswerChunkEvent(chunk=piece) for piece in ("It was ", "sold ", "for 900. ")),
        TextWithdrawnEvent(reason="Most of it is not borne out."),
        *(AnswerChunkEvent(chunk=piece) for piece in ("It was ", "felled ", "[1].")),
        CitationsEvent(citations=[], unsupported=[], statements=[flagged]),
    ):
        view.show(event)
    shown = " ".join(file.getvalue().split())
    assert shown.startswith(
        "It was *Withdrawn: most of it is not borne out.* It was felled [1].† † Source 1 says kept."
    )


def test_an_answer_is_shown_with_its_research_sources_confidence_followups_and_link() -> None:
    file = io.StringIO()
    view = RecordsView(Console(file=file, width=200, highlight=False, markup=False, emoji=False))
    source = Source(
        n=1, type="motion", id="m-1", title="Keep\x1b[2J the elm", snippet="", date=datetime.date(2024, 2, 13)
    )
    for event in (
        ToolCallEvent(id="search_1", tool="search_records", arguments={"query": "elm"}),
        ToolObservationEvent(id="search_1", tool="search_records", count=1, summary="1 record found; kept [1]"),
        SourcesEvent(sources=[source]),
        AnswerChunkEvent(chunk="It was "),
        AnswerChunkEvent(chunk="kept [1]."),
        CitationsEvent(
            citations=[Citation(n=1, sentence="It was kept.", support=0.2, verified=False)],
            unsupported=["It was kept."],
            statements=[CheckedStatement(start=0, end=16, state="flagged", reason="source 1 says felled, not kept")],
        ),
        ConfidenceEvent(level="low", source_count=1, label="Low: 1 of 1 is not in its source"),
        FollowupsEvent(questions=["Who moved it?"]),
        DoneEvent(answer_id="abc", cached=False, topic_changed=False, degraded=["records_answer"]),
        DoneEvent(answer_id=None, cached=False, topic_changed=False, degraded=[]),
    ):
        view.show(event)
    assert [line.rstrip() for line in file.getvalue().splitlines() if line.strip()] == [
        "search records: query: elm",
        "  1 record found; kept [1]",
        "It was kept [1].†",
        "† Source 1 says felled, not kept.",
        "Sources",
        "[1] motion · 2024-02-13 Keep[2J the elm",
        "Low: 1 of 1 is not in its source",
        "Ask next",
        "• Who moved it?",
        "Degraded: records_answer",
        "http://127.0.0.1:8080/search?id=abc  (with `quarry serve`)",
        "This answer is not kept.",
    ]


def test_people_are_shown_with_their_reading_reasons_and_what_the_search_cost() -> None:
    card = {"id": "c1", "title": "Engineer", "company_name": "Kestrel\x1b[2J", "city": "Pune", "intent_primary": "work",
            "start_date": "2019-04-01", "is_current": True}  # fmt: skip
    asha = {"id": "p1", "name": "Asha", "headline": None, "bio": None, "similarity_percent": 82, "open_to_work": True,
            "open_to_contact": False, "work_preferred_locations": [], "work_preferred_salary_min": None, "matched_cards": [card],
            "why_matched": ["Go at Kestrel"], "meets": ["at Kestrel"], "misses": ["in Pune"]}  # fmt: skip
    constraints = {"query_original": "q", "query_cleaned": "q", "must": {"city": "pune"}, "should": {}, "exclude": {}}
    relaxations = [{"constraint": "location", "label": "Anywhere", "additional_people": 1200}]
    found = {"search_id": "s-1", "people": [asha], "fallback_tier": 2, "degraded": ["people_reasons"],
             "constraints": constraints, "relaxations": relaxations}  # fmt: skip
    file = io.StringIO()
    view = PeopleView(Console(file=file, width=200, highlight=False, markup=False, emoji=False))
    view.show(PeopleSearchResponse.model_validate(found))
    assert [line.rstrip() for line in file.getvalue().splitlines() if line.strip()] == [
        "must   city: pune",
        "Too few people fit exactly: location relaxed.",
        "1. Asha",
        "   ✓ at Kestrel  ✗ in Pune",
        "   • Go at Kestrel",
        "   Engineer, Kestrel[2J, Pune, 2019 to now",
        "With one constraint less",
        "• Anywhere: 1,200 more",
        "Degraded: people_reasons",
        "search s-1, which cost a credit",
    ]
