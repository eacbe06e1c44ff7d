"""What was learned: the files of weights, when an answer is given without doubt, and what candidates agree on."""

from __future__ import annotations

import datetime
import random
from pathlib import Path

import pytest

from quarry.agent.reading import explanation_of
from quarry.query.contract import ExplainedWords
from quarry.reader.features import DIMENSIONS
from quarry.reader.learned import NEVER, Calibration, Learned, StoredWeights, Thresholds, learned
from quarry.reader.mentions import ValueLink
from quarry.reader.reading import Reading, in_any_year, likely_conditions, read_question, remaining_words
from quarry.schema.algebra import Comparison
from tests.query.desk_schema import DESK
from tools.fit.stored import packed

TODAY = datetime.date(2026, 7, 1)
FOLDER_BYTES_MAX = 3_000_000
SURE = {kind: Thresholds(0.5, 0.1) for kind in ("rows", "extreme", "count", "numbers", "groups")}


def read(question: str, links: list[ValueLink] | None = None, given: Learned | None = None) -> Reading:
    return read_question(question, DESK, links or [], TODAY, given or learned())


def calibrated(calibration: Calibration) -> Learned:
    return Learned(learned().weights, calibration, calibration, 0.0)


def test_weights_stay_the_same_in_their_file_to_half_precision() -> None:
    chosen = random.Random(3)
    weights = [chosen.gauss(0, 1) if chosen.random() < 0.02 else 0.0 for _ in range(DIMENSIONS)]
    again = StoredWeights(packed(weights))
    # compared one by one: a million of them take `approx` ten seconds
    assert all(abs(one - other) <= max(1e-3 * abs(other), 1e-6) for one, other in zip(again, weights, strict=True))


def test_what_the_package_holds_is_small() -> None:
    folder = Path(__file__).parents[2] / "layers/quarry/quarry/reader/weights"
    assert sum(file.stat().st_size for file in folder.iterdir()) <= FOLDER_BYTES_MAX


def test_a_value_that_is_not_read_forbids_to_be_sure() -> None:
    sure = calibrated(Calibration({"always": 5.0}, SURE))
    assert read("how many tickets", given=sure).verdict == "confident"
    reading = read("how many teams zoe", [ValueLink(3, 4, "comments", "author", "Zoe", 1)], sure)
    assert (reading.verdict == "doubted") == ("zoe" in reading.unread)


def test_an_answer_of_an_unknown_kind_is_not_given() -> None:
    never = calibrated(Calibration({"always": 9.0}, {}))
    reading = read("how many tickets are there?", given=never)
    assert (reading.verdict, never.by_linear.thresholds_of("count").doubted) == ("refused", NEVER)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("how many tickets are approved?", "approved"), ("how many approved tickets are there?", "approved"),
        ("average cost of returned tickets", "returned"), ("total cost of tickets that were returned", "returned"),
        ("how many students are there?", "students"), ("how many tickets were refused in 2026?", "refused"),
        ("wie viele tickets sind genehmigt?", "genehmigt"),
    ],
)  # fmt: skip
def test_a_word_that_may_state_a_condition_forbids_to_be_sure(question: str, word: str) -> None:
    reading = read(question, given=calibrated(Calibration({"always": 9.0}, SURE)))
    assert reading.verdict == "doubted"
    assert word in reading.unread


@pytest.mark.parametrize(
    "question",
    ["how many tickets are there altogether?", "total number of tickets", "average cost of tickets", "newest ticket"],
)
def test_words_that_frame_a_question_are_no_doubt(question: str) -> None:
    assert read(question, given=calibrated(Calibration({"always": 9.0}, SURE))).verdict == "confident"


@pytest.mark.parametrize(
    ("question", "fields", "direction"),
    [
        ("longest ticket", {"hours"}, "desc"), ("cheapest ticket", {"cost"}, "asc"), ("newest ticket", {"opened_on"}, "desc"),
        ("which ticket is the oldest", {"opened_on", "closed_at"}, "asc"),
    ],
)  # fmt: skip
def test_a_word_for_the_most_sorts_by_what_it_is_said_of(question: str, fields: set[str], direction: str) -> None:
    query = read(question).query
    assert query
    assert query.order[0].by in fields
    assert query.order[0].direction == direction


@pytest.mark.parametrize("question", ["which agent is the longest", "longest team", "the tallest ticket"])
def test_a_word_for_the_most_that_is_said_of_nothing_here_is_named(question: str) -> None:
    reading = read(question)
    assert {"longest", "tallest"} & {*reading.unread}
    assert reading.verdict != "confident"


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("liste des tickets par mois", "par"),
        ("total cost of tickets par mois", "par"),
        ("Zeige tickets je Monat", "je"),
    ],
)
def test_a_word_that_asks_for_groups_is_named_where_the_answer_has_none(question: str, word: str) -> None:
    reading = read(question)
    assert reading.query
    assert not reading.query.group
    assert word in reading.unread
    assert reading.verdict != "confident"


def test_a_word_beside_a_condition_of_a_number_may_state_another() -> None:
    status = ValueLink(5, 6, "tickets", "status", "Open", 3)
    sure = calibrated(Calibration({"always": 9.0}, SURE))
    reading = read("how many tickets with status open were returned?", [status], sure)
    assert (reading.verdict, "returned" in reading.unread) == ("doubted", True)


def test_words_that_nothing_explains_are_named() -> None:
    reading = read("how many tickets are purple?")
    assert "purple" in reading.unread
    assert "tickets" not in reading.unread


def test_spans_point_to_the_words_that_say_the_parts() -> None:
    question = "how many tickets are open"
    reading = read(question, [ValueLink(4, 5, "tickets", "status", "Open", 3)])
    assert reading.query is not None
    said = {each.pointer: question[each.start : each.end] for each in reading.query.spans}
    assert said["/source"] == "tickets"
    assert "open" in said.get("/where", "open")


def test_an_explanation_says_what_words_mean_and_which_queries_were_likely() -> None:
    reading = read("how many tickets are open", [ValueLink(4, 5, "tickets", "status", "Open", 3)])
    explanation = explanation_of(reading)
    assert ExplainedWords(text="open", means="tickets.status = Open") in explanation.words
    assert ExplainedWords(text="tickets", means="tickets") in explanation.words
    assert explanation.queries[0].query["source"] == "tickets"
    assert sum(each.probability for each in explanation.queries) <= 1.0001


def test_the_chances_of_one_condition_add_up_over_candidates() -> None:
    reading = read("open tickets about printers", [ValueLink(0, 1, "tickets", "status", "Open", 3)])
    likely = likely_conditions(reading)[0]
    assert likely.fields == {"status"}
    single = [share for each, share in reading.shares if "status" in str(each.query.get("where"))]
    assert max(single) < likely.chance <= 1.0001
    assert remaining_words(reading.mentions, likely.mask) == "tickets about printers"


def test_a_value_that_was_said_in_part_is_known_to_be() -> None:
    part = read("mia tickets", [ValueLink(0, 1, "agents", "name", "Mia Maria Keller", 1, is_whole=False)])
    assert {round(each.stated, 2) for each in likely_conditions(part) if "name" in str(each.fields)} == {0.33}


def test_a_month_without_a_year_is_that_month_of_any_year() -> None:
    said = read("tickets opened in March").mentions
    march = Comparison(field="opened_on", op="between", values=("2026-03-01", "2026-03-31"))
    assert in_any_year(march, said) == Comparison(field="month(opened_on)", values=(3,))
    assert in_any_year(march, read("tickets opened in March 2026").mentions) == march
