"""What is demanded of every result is checked on its own fields; what is unknown meets no demand and breaks no negation."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from quarry_tools.demands import Demands, Facts

BAKERY = Facts(
    status="startup",
    country="Norland",
    city="Vik",
    year=2015,
    staff=40,
    tags=["Bread", "Retail"],
    niches=["Spring 2015"],
    text="Crumb\nSourdough by post",
)
UNKNOWN = Facts(text="Crumb")

POSITIVE: list[tuple[dict[str, Any], bool]] = [
    ({"status": ["startup", "closed"]}, True),
    ({"country": ["norland"]}, True),
    ({"city": ["Elsewhere"]}, False),
    ({"year_min": 2015, "year_max": 2015}, True),
    ({"staff_max": 39}, False),
    ({"tag": ["RETAIL", "Banks"]}, True),
    ({"niche": ["Autumn 2015"]}, False),
    ({"country": ["Norland"], "staff_max": 20}, False),
]
NEGATIVE: list[tuple[dict[str, Any], bool]] = [
    ({"not_country": ["Sudland"]}, True),
    ({"not_country": ["NORLAND"]}, False),
    ({"not_city": ["Vik"]}, False),
    ({"not_tag": ["bread"]}, False),
    ({"not_text": r"\bSOURDOUGH\b"}, False),
    ({"not_text": r"\bsour\b"}, True),
]


@pytest.mark.parametrize(("demands", "met"), POSITIVE + NEGATIVE)
def test_each_is_checked_whatever_the_case(demands: dict[str, Any], met: bool) -> None:
    assert Demands.model_validate(demands).are_met_by(BAKERY) is met


@pytest.mark.parametrize("demands", [demands for demands, _ in POSITIVE])
def test_what_is_unknown_meets_no_demand(demands: dict[str, Any]) -> None:
    assert not Demands.model_validate(demands).are_met_by(UNKNOWN)


@pytest.mark.parametrize("demands", [demands for demands, _ in NEGATIVE])
def test_what_is_unknown_breaks_no_negation(demands: dict[str, Any]) -> None:
    assert Demands.model_validate(demands).are_met_by(UNKNOWN)


@pytest.mark.parametrize("wrong", [{"state": ["x"]}, {"country": "Norland"}, {"tag": []}, {"not_text": "("}])
def test_wrong_demands_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Demands.model_validate(wrong)
