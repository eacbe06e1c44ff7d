"""How the sources of an answer support its sentences: verbatim, in other words, or not."""

from __future__ import annotations

import datetime
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.records.candidates import RecordText
from quarry.records.contract import Citation
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


def test_who_said_it_may_stand_beside_the_words() -> None:
    answer = "Ida Brandt said: “Divers found 14 cracks below the waterline” [1]."
    assert only(answer, author="Ida Brandt").verified
    assert not only(answer, author="Someone Else").verified


def test_a_paraphrase_is_supported_but_not_verified() -> None:
    citation = only("Two cracks of the 14 reach the core of the wall [1].")
    assert not citation.verified
    assert citation.support >= 0.5
    assert citation.quote is not None
    assert "two of them reach the core" in citation.quote


@pytest.mark.parametrize(
    "answer",
    [
        "The survey found 41 cracks below the waterline [1].",
        "Repairs are put at 900,000 dollars [1].",
        "The ferry timetable changes on Sunday evenings [1].",
    ],
)
def test_what_the_source_does_not_say_is_unsupported(answer: str) -> None:
    found = support(answer, {1: source()})
    assert found.unsupported == [answer.replace(" [1]", "")]
    assert not found.citations[0].verified


@pytest.mark.parametrize(
    "answer",
    [
        "The harbour master resigned over the ferry timetable. Repairs are put at 310,000 dollars [1].",
        "Repairs are put at 310,000 dollars [1].\n\n- The harbour master resigned over the ferry timetable.",
        "The harbour master resigned over the ferry timetable.",
    ],
)
def test_what_cites_nothing_and_no_source_says_is_unsupported(answer: str) -> None:
    assert support(answer, {1: source()}).unsupported == ["The harbour master resigned over the ferry timetable."]


def test_a_number_that_no_source_has_is_unsupported_without_a_citation_too() -> None:
    answer = "Divers found 41 cracks below the waterline. Two of them reach the core [1]."
    assert support(answer, {1: source()}).unsupported == ["Divers found 41 cracks below the waterline."]


@pytest.mark.parametrize(
    "said",
    [
        "Divers found cracks below the waterline.",  # as the source says
        "The sources do not say who steers the ferry on Sundays.",
        "Would ferries sail on Sundays without a timetable?",
        "### Ferry timetables, Sunday sailings and fares",
        "**Ferry timetables, Sunday sailings and fares**",
        "| Ferry | Sunday sailings | Monday fares |",
        "What follows is about ferries, fares and sailings:",
        "- **23 January 2024, Sunday sailings**: No.",
        "In short, yes.",
        "```\nferry timetables of Sunday sailings\n```",
    ],
)
def test_what_says_nothing_that_a_source_need_support_is_not_unsupported(said: str) -> None:
    assert support(f"{said}\n\nRepairs are put at 310,000 dollars [1].", {1: source()}).unsupported == []


def test_what_was_counted_is_not_for_sources_to_support() -> None:
    counted = "Ferries sailed 12 times on Sundays in March."
    assert support(f"{counted}\n\nRepairs are put at 310,000 dollars [1].", {1: source()}, [counted]).unsupported == []


def test_a_marker_behind_several_sentences_of_a_source_stands_behind_them_all() -> None:
    body = "The plan was adopted. Result: carried. Against: Nora Weiss."
    citation = only(f"The ferry was late.\n- {body} [1]", body)
    assert (citation.sentence, citation.quote, citation.verified) == (body, body, True)
    citation = only(f"The ferry was late. {body.split('. ')[2]} [1]", body)
    assert (citation.sentence, citation.quote) == ("Against: Nora Weiss.", "Against: Nora Weiss.")


def test_a_short_sentence_is_verified_whole() -> None:
    body = "The plan was adopted. Against: Nora Weiss."
    assert only("Against: Nora Weiss. [1]", body).verified
    assert not only("Against: Ida Weiss. [1]", body).verified


def test_a_denial_is_not_verified_by_what_it_denies() -> None:
    assert not only("Divers never found 14 cracks below the waterline [1].").verified


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("The council did not approve the bridge closure in March.", "The council did approve the bridge closure in March [1]."),
        ("Nobody said that repairs to the quay are needed.", "Repairs to the quay are needed [1]."),
        ("The board denied that the quay wall had moved.", "The quay wall had moved [1]."),
        ("If the quay wall has moved, the crane stops.", "The quay wall has moved [1]."),
        ("That the quay wall has moved isn’t known.", "The quay wall has moved [1]."),
    ],
)  # fmt: skip
def test_what_a_source_denies_or_leaves_open_is_not_verified_by_the_words_of_it(body: str, answer: str) -> None:
    assert not only(answer, body).verified


def test_a_denial_in_another_sentence_of_the_source_takes_nothing_back() -> None:
    body = "Nobody was hurt. The quay wall has moved. It was not closed."
    assert only("The quay wall has moved [1].", body).verified
    assert only("The quay wall has moved. It was not closed [1].", body).verified


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("Four crews cleaned the quay within two days.", "All crews cleaned the quay within two days [1]."),
        ("Some of the tiles are porous and must be replaced.", "The tiles are porous and must be replaced [1]."),
        ("Some residents of the quay signed the petition.", "Most residents of the quay signed the petition [1]."),
        ("Only the north gate is closed after ten at night.", "The north gate is closed after ten at night [1]."),
        ("The north gate is closed after ten at night.", "Only the north gate is closed after ten at night [1]."),
        ("Fewer than twelve of the berths have water.", "Twelve of the berths have water [1]."),
        ("At most 40 percent of the ropes held.", "40 percent of the ropes held [1]."),
        ("Repairs cost 310,000 dollars more than planned.", "Repairs cost 310,000 dollars [1]."),
    ],
)
def test_what_is_said_of_some_or_of_less_is_not_verified_of_all_or_of_so_much(body: str, answer: str) -> None:
    assert not only(answer, body).verified


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("The works cost 2 million euros in all.", "The works cost 2 [1]."),
        ("The fee rose by 1.5 euros per metre.", "The fee rose by 1,5 euros per metre [1]."),
        ("The store was at -5 degrees at dawn.", "The store was at 5 degrees at dawn [1]."),
        ("The share was 40% of the ropes on board.", "The share was 40 of the ropes on board [1]."),
        ("The store holds 40 kg of salt for the crew.", "The store holds 40 g of salt for the crew [1]."),
        ("The bill was paid in euros by the port of Lyme.", "The bill was paid in dollars by the port of Lyme [1]."),
        ("The deadline is 12 March 2027 for all offers.", "The deadline is 12 May 2027 for all offers [1]."),
    ],
)
def test_another_number_unit_or_date_is_not_verified(body: str, answer: str) -> None:
    assert not only(answer, body).verified


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("The board may raise the fee to 40 euros a month.", "The fee to 40 euros a month [1]."),
        ("Ida Brandt said that the wall will leak next winter.", "The wall will leak next winter [1]."),
        ("The treasurer proposed that the fee be raised by two euros.", "The fee be raised by two euros [1]."),
        ("They hoped that the quay opens in the autumn.", "The quay opens in the autumn [1]."),
        ("Will the crew close the harbour gate at night?", "The crew close the harbour gate at night [1]."),
        ("He nearly broke the window of the lock house.", "He broke the window of the lock house [1]."),
    ],
)
def test_what_is_asked_hoped_or_said_by_somebody_is_not_verified_as_what_is_so(body: str, answer: str) -> None:
    assert not only(answer, body).verified


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("Will the crew close the gate?", "Will the crew close the gate? [1]"),
        ("If the valve sticks, the crane will stop at once.", "If the valve sticks, the crane will stop at once [1]."),
        ("The vote on the quay was 7–2 after an hour.", "The vote on the quay was 7-2 after an hour [1]."),
        ("The crew close the gate at night, and the dog sleeps.", "The crew close the gate at night [1]."),
        ("The works cost $2.4 million in all.", "The works cost $2.4 million in all. [1]"),
    ],
)
def test_what_is_quoted_with_all_that_stands_beside_it_is_verified(body: str, answer: str) -> None:
    assert only(answer, body).verified


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


def test_a_number_of_the_record_s_date_supports_no_other_number() -> None:
    read = source("Four crews cleaned the quay within two days.", date=datetime.date(2027, 4, 5))
    assert not support("5 crews cleaned the quay within two days [1].", {1: read}).citations[0].verified


def test_the_title_may_introduce_what_is_quoted() -> None:
    body = "state: closed\ncrew: Ida Brandt"
    citation = only("Harbour wall survey – crew: Ida Brandt [1]", body)
    assert (citation.verified, citation.quote) == (True, "crew: Ida Brandt")
    assert not only("Harbour wall survey – crew: Ida Weiss [1]", body).verified


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("Divers need twenty-four boreholes.", "Divers need 24 boreholes [1]."),
        ("Repairs are put at 2.4 million dollars.", "Repairs are put at 2,400,000 dollars [1]."),
        ("Repairs are put at 310,000 dollars.", "Repairs are put at $310000 [1]."),
        ("The vote was 7–2.", "The vote was 7 to 2 [1]."),
    ],
)
def test_a_number_is_supported_however_it_is_written(body: str, answer: str) -> None:
    citation = only(answer, body)
    assert citation.support >= 0.5
    assert not citation.verified


@pytest.mark.parametrize("said", ["5 March 2024", "March 5th, 2024", "2024-03-05"])
@pytest.mark.parametrize("written", ["March 5, 2024", "5 March 2024", "2024-03-05"])
def test_a_date_is_supported_however_it_is_written(written: str, said: str) -> None:
    body = f"Divers inspected the harbour wall on {written}."
    assert support(f"The harbour wall was inspected by divers on {said} [1].", {1: source(body)}).unsupported == []
    other = support("The harbour wall was inspected by divers on 2024-03-06 [1].", {1: source(body)})
    assert len(other.unsupported) == 1


def test_one_source_that_supports_a_sentence_is_enough() -> None:
    found = support(
        "Repairs are put at 310,000 dollars [1][2].", {1: source(), 2: source("Nothing of the kind.", "Other")}
    )
    assert [(each.n, each.verified) for each in found.citations] == [(1, True), (2, False)]
    assert found.unsupported == []


def test_each_marker_stands_behind_its_own_part() -> None:
    found = support(
        "The wall was inspected in March [1], and the ferry sails at nine [2].",
        {1: source(), 2: source("The ferry sails at nine from the north quay.", "Ferries")},
    )
    assert [each.support for each in found.citations] == [1.0, 1.0]
    assert {each.sentence for each in found.citations} == {
        "The wall was inspected in March, and the ferry sails at nine."
    }


def test_what_has_no_marker_or_stands_in_code_is_passed_over() -> None:
    answer = (
        "Nothing here is cited.\n\n```\nx[1]\n```\n\n- **Cracks.** Divers found 14 cracks below the waterline [1].\n"
    )
    assert [each.sentence for each in support(answer, {1: source()}).citations] == [
        "Divers found 14 cracks below the waterline."
    ]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("```x = 1``` is run first.\n\nRepairs are put at 310,000 dollars [1].", "Repairs are put at 310,000 dollars."),
        ("Of `a[1]` repairs are put at 310,000 dollars [1].", "Of `a[1]` repairs are put at 310,000 dollars."),
        ("Of ```a[1]``` repairs are put at 310,000 dollars [1].", "Of ```a[1]``` repairs are put at 310,000 dollars."),
    ],
)
def test_code_in_a_line_is_a_part_of_its_sentence_but_for_markers_in_it(answer: str, sentence: str) -> None:
    [citation] = support(answer, {1: source()}).citations
    assert citation.sentence == sentence


def test_a_number_that_names_no_source_is_passed_over() -> None:
    assert support("Repairs are put at 310,000 dollars [7].", {1: source()}).citations == []


def test_an_abbreviation_ends_no_sentence() -> None:
    body = "The ferry sails at 5 p.m. Monday from No. 5 of St. Peter Quay. Dr. Ida Brandt runs it."
    assert only("The ferry sails at 5 p.m. Monday from No. 5 of St. Peter Quay. [1]", body).quote == body[:62]
    assert only("Dr. Ida Brandt runs it [1].", body).sentence == "Dr. Ida Brandt runs it."


def test_beyond_the_first_hundred_citations_a_source_is_glanced_at() -> None:
    answer = "\n".join(["Divers found 14 cracks below the waterline [1].", "The ferry sails on Sundays [1]."] * 60)
    found = support(answer, {1: source()})
    assert len(found.citations) == 120
    assert [(each.verified, each.support, each.quote is None) for each in found.citations[98:102]] == [
        (True, 1.0, False), (False, 0.0, True), (False, 1.0, True), (False, 0.0, True),
    ]  # fmt: skip
    assert len(found.unsupported) == 60


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


@pytest.mark.parametrize(
    "piece", ["a", ". ", "a b c d e ", "[1] ", "x [1]. ", " ", "1 ", "\n", "...", "a b c d [1] ", "`", "` [1] ", "``` "]
)
def test_its_work_is_linear(piece: str) -> None:
    def read(text: str) -> None:
        support(text, {1: source(re.sub(r"\[1\]", "", text))})

    assert_linear(read, repeated(piece, after=" [1]"), 8_000)


def test_many_markers_behind_many_words_are_linear_work_too() -> None:
    bodies = {1: source("a b " * 2_000)}
    assert_linear(
        lambda text: support(text, bodies), lambda length: "a b " * (length // 8) + "[1]" * (length // 6), 8_000
    )


class TestResultsOfQueries:
    """What a model answers from numbers that a query gave it."""

    RESULT = "12 tickets (status: open)\ncount\n12"

    def test_a_number_of_a_result_supports_its_sentence_without_a_citation(self) -> None:
        found = support("There are 12 open tickets.", {1: source()}, results=[self.RESULT])
        assert (found.unsupported, found.rests_on_results) == ([], True)

    @pytest.mark.parametrize("answer", ["There are 13 open tickets.", "It is 13.", "13."])
    def test_a_number_that_stands_nowhere_is_unsupported_however_short_its_sentence(self, answer: str) -> None:
        found = support(answer, {1: source()}, results=[self.RESULT])
        assert (found.unsupported, found.rests_on_results) == ([answer], False)

    def test_a_sentence_may_take_its_numbers_from_several_results(self) -> None:
        results = [self.RESULT, "Tickets: average age 34.5 days"]
        assert support("12 tickets are older than the average of 34.5 days.", {}, results=results).unsupported == []
        assert support("12 tickets are older than the average of 35.5 days.", {}, results=results).unsupported

    def test_what_an_answer_begins_with_is_told_from_what_it_adds(self) -> None:
        counted, cited = "There are 12 open tickets.", "The elm is 80 years old [1]."
        sources = {1: source("The elm is 80 years old.")}
        assert support(f"{counted} {cited}", sources, results=[self.RESULT]).leads_with_result
        assert not support(f"{cited} {counted}", sources, results=[self.RESULT]).leads_with_result

    def test_that_the_records_do_not_say_something_as_the_prompt_asks_needs_no_support(self) -> None:
        denial = "The records do not say in which currency."
        assert support(denial, {1: source()}, results=[self.RESULT]).unsupported == []

    def test_a_sentence_that_repeats_the_question_claims_nothing(self) -> None:
        denial = "Who pays for the elm bench in Harbour Street remains open."
        asked = "Who pays for the elm bench in Harbour Street?"
        assert support(denial, {1: source()}).unsupported == [denial]
        assert support(denial, {1: source()}, question=asked).unsupported == []


def test_a_quotation_inside_a_sentence_is_verbatim_support() -> None:
    body = "Divers found 14 cracks below the waterline. Repairs are put at 310,000 dollars."
    citation = only("Repairs became urgent once “divers found 14 cracks below the waterline” [1].", body)
    assert (citation.quote, citation.verified) == ("Divers found 14 cracks below the waterline", True)
    assert not only("Repairs became urgent once “divers found 41 cracks below the waterline” [1].", body).verified
    assert not only("In 1987 “divers found 14 cracks below the waterline” [1].", body).verified
