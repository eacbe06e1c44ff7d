"""What was learned: the files of weights, and when an answer is given without doubt."""

from __future__ import annotations

import datetime
import random
from pathlib import Path

from quarry.agent.reading import explanation_of
from quarry.query.contract import ExplainedWords
from quarry.reader.features import DIMENSIONS
from quarry.reader.learned import NEVER, Calibration, Learned, Thresholds, learned, packed, unpacked
from quarry.reader.reading import Reading, read_question
from quarry.reader.said import ValueLink
from tests.query_language.made import DESK

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
    again = unpacked(packed(weights))
    # compared one by one: a million of them take `approx` ten seconds
    assert all(abs(one - other) <= max(1e-3 * abs(other), 1e-6) for one, other in zip(again, weights, strict=True))


def test_what_the_package_holds_is_small() -> None:
    folder = Path(__file__).parents[2] / "layers/quarry/quarry/reader/weights"
    assert sum(file.stat().st_size for file in folder.iterdir()) <= FOLDER_BYTES_MAX


def test_a_value_that_is_not_read_forbids_to_be_sure() -> None:
    sure = calibrated(Calibration({"always": 5.0}, SURE))
    link = ValueLink(3, 4, "comments", "author", "Zoe", 1)
    assert read("how many tickets", given=sure).verdict == "confident"
    reading = read("how many tickets in 2026 for 99 of 77 and 55", given=sure)
    assert reading.verdict == "doubted" or not reading.unread
    assert link.value not in read("how many teams zoe", [link], sure).unread


def test_an_answer_of_an_unknown_kind_is_not_given() -> None:
    never = calibrated(Calibration({"always": 9.0}, {}))
    reading = read("how many tickets are there?", given=never)
    assert (reading.verdict, never.by_linear.thresholds_of("count").doubted) == ("refused", NEVER)


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
