"""What is answered from records without a model: laws that hold whatever the records say."""

from __future__ import annotations

import datetime
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.records.candidates import RecordText
from quarry.records.evidence import EvidenceSource
from quarry.records.fallbacks import (
    FOLLOWUPS_MAX,
    NOTHING_FOUND,
    SENTENCES_MAX,
    extractive_answer,
    followups_about,
    nothing_held,
    of_codes,
    suggest_followups,
)
from quarry.records.searched_types import BUILT_IN
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
SAID = record(
    "said",
    type="key_statement",
    title="Leland Frost, Councillor",
    body="If this tree hurts someone, the report will not matter.\nExplaining his vote against the elm.",
    author="Leland Frost",
    topic="Quill Square elm",
)


def test_whom_somebody_blames_is_a_reason() -> None:
    body = "Families wrote about bus 12, often late in winter. Bus 12 is late, and the supervisor blamed the drivers."
    text = record("bus", title="Transport", body=body)
    lead = next(extractive_answer("Why is bus 12 late?", "bus 12 late", [source(1, text)]))
    assert lead.startswith("Bus 12 is late")


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
    return [source(n, text, weight=1 / n) for n, text in enumerate(records, start=1)]


def answer(question: str, *records: RecordText) -> str:
    return "".join(extractive_answer(question, question, numbered(list(records))))


def without_escapes(markdown: str) -> str:
    return re.sub(r"\\[\\`*_\[\]<>#|]", "", markdown)


def test_the_value_that_is_asked_for_is_quoted_with_whose_it_is() -> None:
    depots = [
        record(name, type="depots", title=name, body=f"Built of brick.\ncity: {city}\nfloor space: {space}")
        for name, city, space in (("North depot", "Turku", 410), ("South depot", "Turku", 95))
    ]
    assert answer("What is the floor space of North depot?", *depots).startswith("North depot – floor space: 410 [1]")
    in_turku = answer("Which depots are in Turku?", *depots)
    assert "North depot – city: Turku [1]" in in_turku
    assert "South depot – city: Turku [2]" in in_turku
    assert "floor space" not in in_turku
    assert "floor space: 95" in answer("South depot?", depots[1])


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What did the North depot cost?", "price: 410"),
        ("How expensive is the North depot?", "price: 410"),
        ("How tall is the North depot?", "height: 12"),
    ],
)
def test_the_value_that_is_asked_for_by_a_verb_or_an_adjective_is_quoted(question: str, value: str) -> None:
    depot = record(
        "depot", type="depots", title="North depot", body="Built of brick.\ncity: Turku\nprice: 410\nheight: 12"
    )
    assert answer(question, depot).startswith(f"North depot – {value} [1]")


def test_of_a_code_that_is_asked_for_no_other_row_is_quoted() -> None:
    rows = [
        source(place, record(code, type="permits", title=code, body=f"Sent by hand on a rainy day.\nholder: {holder}"))
        for place, (code, holder) in enumerate((("AB-10416", "Ada Lind"), ("AB-10417", "Bo Falk")), 1)
    ]
    asked = "Who is the holder of AB-10417?"
    assert [each.text.id for each in of_codes(asked, rows)] == ["AB-10417"]
    assert of_codes("Who is the holder of AB-10999?", rows) == rows
    assert of_codes("Who is the holder?", rows) == rows
    assert "AB-10417 – holder: Bo Falk [2]" in "".join(extractive_answer(asked, asked, of_codes(asked, rows)))


def test_of_a_list_each_row_is_quoted_once() -> None:
    rows = [
        source(place, record(name, type="depots", title=name, body=f"{note}status: closed"))
        for place, (name, note) in enumerate(
            (("North depot", ""), ("South depot", "Its roof leaks badly.\n"), ("East depot", "")), 1
        )
    ]
    asked = "Which depots are closed?"
    listed = "".join(extractive_answer(asked, asked, rows, rows={"depots"}, is_list=True))
    assert re.findall(r"\[(\d)\]", listed) == ["1", "2", "3"]
    assert all(name in listed for name in ("North depot", "South depot", "East depot"))


def test_the_sentence_that_answers_comes_first() -> None:
    assert answer("What did cables cost?", ELM, VOTE).startswith("Cables cost $31,000.")
    assert answer("How did the council vote on the elm?", ELM, VOTE).startswith(
        "The council keeps the elm. Result: Carried 7–2."
    )


def test_each_sentence_is_cited() -> None:
    written = answer("Which trees did the council plant or keep, and what do cables cost?", VOTE, ELM)
    assert "The council keeps the elm. Result: Carried 7–2. [1]" in written
    assert "- Cables cost $31,000. [2]" in written


def voted(name: str, told: str, day: datetime.date, topic: str) -> RecordText:
    return record(name, body=f"The vote on fares {told}.", date=day, topic=topic)


FIRST = voted("one", "failed by four hands to five after a stormy evening", datetime.date(2024, 1, 23), "Ferry fares")


def test_votes_on_one_matter_on_two_days_are_dated() -> None:
    second = voted(
        "two", "was carried seven to two without debate or amendment", datetime.date(2024, 2, 13), "Ferry fares"
    )
    written = answer("How did the vote on fares end?", FIRST, second)
    assert written.startswith("**23 January 2024**: The vote on fares failed")
    assert "- **13 February 2024**: The vote on fares was carried" in written


@pytest.mark.parametrize(
    ("day", "topic"), [(datetime.date(2024, 1, 23), "Ferry fares"), (datetime.date(2024, 2, 13), "Ferry landing")]
)
def test_what_is_of_one_day_or_of_two_matters_is_not_dated(day: datetime.date, topic: str) -> None:
    second = voted("two", "was carried seven to two without debate or amendment", day, topic)
    written = answer("How did the vote on fares end?", FIRST, second)
    assert "was carried" in written
    assert "2024" not in written


def test_a_day_that_is_asked_for_is_said_where_the_sentence_does_not() -> None:
    assert answer("When was the elm found sound?", ELM).startswith("**23 January 2024**: The elm is sound.")
    told = record("told", body="The elm was cabled on March 4, 2024, by two climbers.", date=datetime.date(2024, 4, 9))
    assert answer("When was the elm cabled?", told).startswith("The elm was cabled on March 4")
    assert "2024" not in answer("What did cables cost?", ELM)


def test_a_value_does_not_stand_before_the_sentence_that_answers() -> None:
    jam = record(
        "jam",
        type="faults",
        title="Sluice gate jams",
        body="A plank of oak had wedged under the rail.\nsite: North lock\ncrew: Ida",
    )
    written = answer("Why does the sluice gate of North lock jam?", jam)
    assert written.startswith("A plank of oak had wedged under the rail. [1]")


def test_a_short_sentence_is_quoted_with_the_one_beside_it() -> None:
    outage = record(
        "outage", title="Outage of the pumps", body="A fuse blew. The crew started the pumps by hand at six."
    )
    assert answer("What caused the outage of the pumps?", outage).startswith(
        "A fuse blew. The crew started the pumps by hand at six. [1]"
    )


def test_what_is_asked_of_somebody_begins_with_their_words() -> None:
    asked = "What did Leland Frost say about the elm?"
    written = "".join(extractive_answer(asked, asked, numbered([VOTE, SAID]), frozenset(["Leland Frost"])))
    assert written.startswith("Leland Frost, Councillor: “If this tree hurts someone")


def test_a_record_that_is_called_by_a_code_is_named_by_what_it_says() -> None:
    coded = record("c", type="reports", title="R-1044", body="The lamp at the pier went out.")
    assert "- R-1044: The lamp at the pier went out. (reports)" in nothing_held((), numbered([coded]))
    assert followups_about([coded]) == ["What do the records say about R-1044: The lamp at the pier went out?"]


def test_a_part_that_says_little_is_asked_about_with_its_whole() -> None:
    findings = record("d", type="document_section", title="Fire safety report: Findings")
    assert followups_about([findings]) == ["What does the report say about Findings (Fire safety report)?"]


def test_what_was_said_is_quoted_with_its_speaker() -> None:
    assert "Leland Frost, Councillor: “If this tree hurts someone, the report will not matter.” [1]" in answer(
        "Who spoke against the tree?", SAID
    )


def test_without_records_it_says_so() -> None:
    assert answer("Was the elm kept?") == NOTHING_FOUND


def test_the_same_sentence_of_two_records_is_said_once() -> None:
    twice = [record("a", body="The elm stays where it is."), record("b", body="The elm stays where it is.")]
    assert answer("Does the elm stay?", *twice).count("The elm stays") == 1


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
    if written != NOTHING_FOUND:
        paragraphs = [line for line in left.split("\n") if line and line != "Also in the records:"]
        assert all(re.search(r" \[\d+\]$", paragraph) for paragraph in paragraphs)
        assert len(paragraphs) <= SENTENCES_MAX


@given(ANY_TEXT, RECORDS)
def test_the_same_records_give_the_same_answer(question: str, records: list[RecordText]) -> None:
    assert answer(question, *records) == answer(question, *records)


@given(ANY_TEXT, RECORDS, RECORDS)
def test_followups_are_few_different_and_not_the_question(
    question: str, used: list[RecordText], pool: list[RecordText]
) -> None:
    questions = suggest_followups(question, numbered(used), pool).questions
    assert len(questions) == len(set(questions)) <= FOLLOWUPS_MAX
    assert question not in questions


def test_followups_ask_about_records_that_were_not_used() -> None:
    bridge = record("bridge", type="matter", title="Sable River Bridge", topic="Sable River Bridge")
    assert suggest_followups("Was the elm kept?", numbered([VOTE]), [VOTE, bridge]).questions[0] == (
        "Where does Sable River Bridge stand now?"
    )


def test_topics_become_questions() -> None:
    assert followups_about([record(type="matter", title="Ferry Parking.")]) == ["Where does Ferry Parking stand now?"]
