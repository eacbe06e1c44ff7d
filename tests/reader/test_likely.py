"""What the candidates of a reading agree on."""

from __future__ import annotations

import datetime

from quarry.query.algebra import Comparison
from quarry.reader.learned import learned
from quarry.reader.reading import LikelyCondition, Reading, in_any_year, likely_conditions, read_question, words_left
from quarry.reader.said import ValueLink
from tests.query_language.made import DESK

TODAY = datetime.date(2026, 7, 1)


def read(question: str, *links: ValueLink) -> Reading:
    return read_question(question, DESK, links, TODAY, learned())


def first(reading: Reading) -> LikelyCondition:
    return likely_conditions(reading)[0]


def test_the_chances_of_one_condition_add_up_over_candidates() -> None:
    reading = read("open tickets about printers", ValueLink(0, 1, "tickets", "status", "Open", 3))
    likely = first(reading)
    assert likely.fields == {"status"}
    single = [share for each, share in reading.shares if "status" in str(each.query.get("where"))]
    assert max(single) < likely.chance <= 1.0001
    assert words_left(reading.said, likely.mask) == "tickets about printers"


def test_a_value_that_was_said_in_part_is_known_to_be() -> None:
    part = read("mia tickets", ValueLink(0, 1, "agents", "name", "Mia Maria Keller", 1, is_whole=False))
    assert {round(each.said, 2) for each in likely_conditions(part) if "name" in str(each.fields)} == {0.33}


def test_a_month_without_a_year_is_that_month_of_any_year() -> None:
    said = read("tickets opened in March").said
    march = Comparison(field="opened_on", op="between", values=("2026-03-01", "2026-03-31"))
    assert in_any_year(march, said) == Comparison(field="month(opened_on)", values=(3,))
    assert in_any_year(march, read("tickets opened in March 2026").said) == march
