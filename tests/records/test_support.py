"""How the sources of an answer support its sentences: verbatim, in other words, or not."""

from __future__ import annotations

import datetime
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.records.contract import Citation
from quarry.records.evidence import RecordText
from quarry.records.support import denials_cite, support
from tests.linear.measuring import assert_linear, repeated

BODY = (
    "The harbour wall was inspected in March. Divers found 14 cracks below the waterline, and two of them reach the core.\n"
    "Repairs are put at 310,000 dollars. The harbour master did not recommend closing the quay."
)


def source(
    body: str = BODY,
    title: str = "Harbour wall survey",
    author: str | None = None,
    date: datetime.date | None = None,
    language: str = "english",
) -> RecordText:
    return RecordText("report", "r1", title, body, None, author, date, None, None, body[:50], language=language)


def only(answer: str, body: str = BODY, author: str | None = None) -> Citation:
    [citation] = support(answer, {1: source(body, author=author)}).citations
    return citation


def test_a_sentence_of_the_source_is_verified_with_its_place() -> None:
    citation = only("Divers found 14 cracks below the waterline, and two of them reach the core. [1]")
    assert (citation.verified, citation.support) == (True, 1.0)
    assert citation.quote == BODY[citation.start : citation.end]
    assert citation.quote == "Divers found 14 cracks below the waterline, and two of them reach the core."


def test_only_a_denial_that_a_source_does_not_make_may_not_cite_it() -> None:
    may_cite = denials_cite({1: source()})
    assert may_cite("The harbour master did not recommend closing the quay", 1)
    assert may_cite("They were seen by chance", 1)
    assert not may_cite("The harbour wall was inspected in March. Nothing tells who paid the divers", 1)


def test_a_paraphrase_is_supported_but_not_verified() -> None:
    citation = only("Two cracks of the 14 reach the core of the wall [1].")
    assert not citation.verified
    assert citation.support >= 0.5
    assert citation.quote is not None
    assert "two of them reach the core" in citation.quote


RESIGNED = "The harbour master resigned over the ferry timetable."


@pytest.mark.parametrize(
    ("answer", "unsupported"),
    [
        ("The survey found 41 cracks below the waterline [1].", "The survey found 41 cracks below the waterline."),
        ("Repairs are put at 900,000 dollars [1].", "Repairs are put at 900,000 dollars."),
        (f"{RESIGNED} Repairs are put at 310,000 dollars [1].", RESIGNED),
        (f"Repairs are put at 310,000 dollars [1].\n\n- {RESIGNED}", RESIGNED),
    ],
)
def test_what_no_source_says_is_unsupported_whether_it_cites_one_or_not(answer: str, unsupported: str) -> None:
    found = support(answer, {1: source()})
    assert found.unsupported == [unsupported]
    assert not any(each.verified for each in found.citations if each.sentence == unsupported)


@pytest.mark.parametrize(
    "said",
    [
        "Divers found cracks below the waterline.",  # as the source says
        "The sources do not say who steers the ferry on Sundays.",
        "Wem die Fähre gehört, geht aus den Unterlagen nicht hervor.",
        "### Ferry timetables, Sunday sailings and fares",
        "| Ferry | Sunday sailings | Monday fares |",
        "What follows is about ferries, fares and sailings:",
        "In short, yes.",
        "```\nferry timetables of Sunday sailings\n```",
    ],
)
def test_what_says_nothing_that_a_source_need_support_is_not_unsupported(said: str) -> None:
    assert support(f"{said}\n\nRepairs are put at 310,000 dollars [1].", {1: source()}).unsupported == []


@pytest.mark.parametrize(
    ("language", "date"), [("english", "5 April 2027"), ("german", "5. April 2027"), ("german", "April 5, 2027")]
)
def test_the_date_of_the_record_may_introduce_a_quote_of_it(language: str, date: str) -> None:
    read = source(date=datetime.date(2027, 4, 5), language=language)
    found = support(f"- **{date}**: Repairs are put at 310,000 dollars. [1]", {1: read})
    assert (found.citations[0].verified, found.citations[0].support, found.unsupported) == (True, 1.0, [])
    assert support(f"On {date} the ferry was put at 310,000 dollars [1].", {1: read}).citations[0].support > 0.5
    [other] = support("- **6 April 2027**: Repairs are put at 310,000 dollars. [1]", {1: read}).citations
    assert (other.verified, other.support) == (False, 0.0)


def test_the_title_may_introduce_what_is_quoted() -> None:
    body = "state: closed\ncrew: Ida Brandt"
    citation = only("Harbour wall survey – crew: Ida Brandt [1]", body)
    assert (citation.verified, citation.quote) == (True, "crew: Ida Brandt")
    assert not only("Harbour wall survey – crew: Ida Weiss [1]", body).verified


def test_each_marker_stands_behind_its_own_part_and_one_that_supports_a_sentence_is_enough() -> None:
    sources = {1: source(), 2: source("The ferry sails at nine from the north quay.", "Ferries")}
    found = support("The wall was inspected in March [1], and the ferry sails at nine [2].", sources)
    assert [each.support for each in found.citations] == [1.0, 1.0]
    found = support("Repairs are put at 310,000 dollars [1][2].", sources)
    assert [(each.n, each.verified) for each in found.citations] == [(1, True), (2, False)]
    assert found.unsupported == []


def test_what_has_no_marker_or_stands_in_code_is_passed_over() -> None:
    answer = (
        "Nothing here is cited.\n\n```\nx[1]\n```\n\n- **Cracks.** Divers found 14 cracks below the waterline [1].\n"
    )
    assert [each.sentence for each in support(answer, {1: source()}).citations] == [
        "Divers found 14 cracks below the waterline."
    ]


@given(st.text(alphabet="ab .!?\n[]12`*", max_size=300), st.text(alphabet="ab .!?\n12", max_size=300))
def test_every_quote_is_where_it_says(answer: str, body: str) -> None:
    found = support(answer, {1: source(body), 2: source(body[::-1])})
    bodies = {1: body, 2: body[::-1]}
    for each in found.citations:
        assert 0 <= each.support <= 1
        assert (each.quote is None) == (each.start is None) == (each.end is None)
        if each.quote is not None:
            assert each.quote == bodies[each.n][each.start : each.end]
        assert not each.verified or each.quote


@pytest.mark.parametrize("piece", ["a b c d e ", "x [1]. ", " 'a"])
def test_its_work_is_linear(piece: str) -> None:
    def read(text: str) -> None:
        support(text, {1: source(re.sub(r"\[1\]", "", text))})

    assert_linear(read, repeated(piece, after=" [1]"), 8_000)


class TestResultsOfQueries:
    """What a model answers from numbers that a query gave it."""

    RESULT = "12 tickets (status: open)\ncount\n12"

    @pytest.mark.parametrize("answer", ["There are 13 open tickets.", "13."])
    def test_a_number_that_stands_nowhere_is_unsupported_however_short_its_sentence(self, answer: str) -> None:
        found = support(answer, {1: source()}, results=[self.RESULT])
        assert (found.unsupported, found.rests_on_results) == ([answer], False)
        held = support("There are 12 open tickets.", {1: source()}, results=[self.RESULT])
        assert (held.unsupported, held.rests_on_results) == ([], True)

    def test_a_sentence_may_take_its_numbers_from_several_results(self) -> None:
        results = [self.RESULT, "Tickets: average age 34.5 days"]
        assert support("12 tickets are older than the average of 34.5 days.", {}, results=results).unsupported == []
        assert support("12 tickets are older than the average of 35.5 days.", {}, results=results).unsupported

    def test_what_an_answer_begins_with_is_told_from_what_it_adds(self) -> None:
        counted, cited = "There are 12 open tickets.", "The elm is 80 years old [1]."
        sources = {1: source("The elm is 80 years old.")}
        assert support(f"{counted} {cited}", sources, results=[self.RESULT]).leads_with_result
        assert not support(f"{cited} {counted}", sources, results=[self.RESULT]).leads_with_result


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("The council did not approve the closure in March.", "The council did approve the closure in March [1]."),
        ("If the quay wall has moved, the crane stops.", "The quay wall has moved [1]."),
        (BODY, "Divers never found 14 cracks below the waterline [1]."),
        ("Some residents of the quay signed the petition.", "Most residents of the quay signed the petition [1]."),
        ("Only the north gate is closed after ten at night.", "The north gate is closed after ten at night [1]."),
        ("The store was at -5 degrees at dawn.", "The store was at 5 degrees at dawn [1]."),
        ("The store holds 40 kg of salt for the crew.", "The store holds 40 g of salt for the crew [1]."),
        ("The deadline is 12 March 2027 for all offers.", "The deadline is 12 May 2027 for all offers [1]."),
        ("Ida Brandt said that the wall will leak next winter.", "The wall will leak next winter [1]."),
        ("Will the crew close the harbour gate at night?", "The crew close the harbour gate at night [1]."),
        (BODY, "Repairs became urgent once “divers found 41 cracks below the waterline” [1]."),
        (BODY, "Ida Weiss: Divers found 14 cracks below the waterline [1]."),
    ],
)
def test_words_that_say_less_than_the_claim_do_not_verify_it(body: str, answer: str) -> None:
    assert not only(answer, body).verified


@pytest.mark.parametrize(
    "answer",
    [
        "Repairs became urgent once “divers found 14 cracks below the waterline” [1].",
        "The survey says: “Divers found 14 cracks … and two of them reach the core.” [1]",
        "- **Cracks:** Divers found 14 cracks below the waterline, and two of them reach the core. [1]",
        "> The harbour master did not recommend closing the quay. [1]",
        "Ida Brandt said: “Divers found 14 cracks below the waterline” [1].",
    ],
)
def test_a_verbatim_quote_is_verified_however_it_is_introduced(answer: str) -> None:
    read = source(author="Ida Brandt", date=datetime.date(2027, 4, 5))
    [citation] = support(answer, {1: read}).citations
    assert (citation.verified, citation.support) == (True, 1.0)


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("Divers need twenty-four boreholes.", "Divers need 24 boreholes [1]."),
        ("Repairs are put at 2.4 million dollars.", "Repairs are put at $2,400,000 [1]."),
        ("The vote was 7–2.", "The vote was 7 to 2 [1]."),
        *(
            (f"Divers inspected the wall on {written}.", f"The wall was inspected by divers on {said} [1].")
            for written in ("March 5, 2024", "2024-03-05")
            for said in ("March 5th, 2024", "05.03.2024")
        ),
    ],
)
def test_numbers_and_dates_are_supported_however_they_are_written(body: str, answer: str) -> None:
    found = support(answer, {1: source(body)})
    assert (found.citations[0].verified, found.unsupported) == (False, [])
    other = answer.replace("4", "6").replace("7", "8")
    assert len(support(other, {1: source(body)}).unsupported) == 1
