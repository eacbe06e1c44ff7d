"""A declared calendar says when a day begins, when a fiscal year does, and when work is done."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from starlette.testclient import TestClient

from quarry.collections.declaration import DeclarationError, read_declarations
from quarry.platform.errors import InvalidInput
from quarry.query.values import interval_of
from tests.collections.test_search import filled
from tests.conftest import client_of
from tests.query.desk import asked

TABLES = """
create schema dispatch;
create table dispatch.trips (id int primary key, left_at timestamptz not null, planned_on date, load numeric);
insert into dispatch.trips values
  (1, '2026-03-31 21:30+00', '2026-03-31', 10), (2, '2026-03-31 22:30+00', '2026-04-01', 20),
  (3, '2026-04-03 10:00+00', '2026-04-03', 30), (4, '2026-04-04 10:00+00', '2027-03-31', 40);
"""
TRIPS = """
[collections.trips]
source = "dispatch.trips"
date = "left_at"
facets = { load = "number", planned_on = "date", lead = { kind = "number", expression = "planned_on - left_at", unit = "days" } }
fields = ["left_at"]
"""
CALENDAR = """
[calendar]
time_zone = "Europe/Berlin"
fiscal_year_start = 4
business_hours = { start = "09:00", end = "17:00" }
"""


@pytest.fixture(scope="module")
def client(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("dispatch")
    with filled(server_url, migrated_template, folder, CALENDAR + TRIPS, TABLES) as url, client_of(url) as client:
        yield client


def rows(client: TestClient, **query: Any) -> list[list[Any]]:
    found: list[list[Any]] = asked(client, {"source": "trips", **query})["rows"]
    return found


@pytest.mark.parametrize(
    ("group", "counted"),
    [
        ({"field": "left_at", "period": "month"}, [["2026-03", 1], ["2026-04", 3]]),
        ({"field": "left_at", "period": "quarter"}, [["2026-Q1", 1], ["2026-Q2", 3]]),
        ("hour(left_at)", [[12, 2], [0, 1], [23, 1]]),
        ("fiscal_year(left_at)", [[2027, 3], [2026, 1]]),
        ("fiscal_quarter(left_at)", [[1, 3], [4, 1]]),
        ("fiscal_year(planned_on)", [[2027, 3], [2026, 1]]),
        ("in_business_hours(left_at)", [[False, 3], [True, 1]]),
    ],
)  # fmt: skip
def test_moments_are_grouped_by_the_calendar(client: TestClient, group: Any, counted: list[Any]) -> None:
    assert rows(client, aggregate=["count"], group=[group]) == counted


def test_sentences_name_weekdays(client: TestClient) -> None:
    result = asked(client, {"source": "trips", "aggregate": ["count"], "group": ["weekday(left_at)"]})
    assert sorted(result["rows"]) == [[2, 1], [3, 1], [5, 1], [6, 1]]
    assert all(day in result["sentence"] for day in ("Tuesday", "Wednesday", "Friday")), result["sentence"]


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ({"field": "left_at", "value": "2026-04-01"}, [2]),
        ({"field": "left_at", "op": "<", "value": "2026-04"}, [1]),
        ({"field": "in_business_hours(left_at)", "value": True}, [3]),
        ({"field": "fiscal_quarter(left_at)", "value": 4}, [1]),
        ({"field": "left_at", "value": "FY2026"}, [1]),
        ({"field": "left_at", "op": ">=", "value": "FY2027-Q1"}, [2, 3, 4]),
        ({"field": "planned_on", "op": "between", "values": ["FY2026-Q4", "fy 2026"]}, [1]),
    ],
)
def test_conditions_take_the_same_days(client: TestClient, condition: dict[str, Any], ids: list[int]) -> None:
    assert [row[0] for row in rows(client, where=[condition], select=["id"], order=["id"])] == ids


@pytest.mark.parametrize(
    ("named", "start", "days"),
    [
        ("FY2026", 4, ("2025-04-01", "2026-04-01")),
        ("FY2026-Q4", 4, ("2026-01-01", "2026-04-01")),
        ("FY2026", 1, ("2026-01-01", "2027-01-01")),
        ("this fiscal year", 4, ("2026-04-01", "2027-04-01")),
        ("last fiscal quarter", 11, ("2026-08-01", "2026-11-01")),
    ],
)  # fmt: skip
def test_a_fiscal_year_is_a_period_named_by_the_year_it_ends_in(named: str, start: int, days: tuple[str, str]) -> None:
    found = interval_of(named, "date", datetime.date(2026, 11, 29), "", start)
    assert (found.start, found.end) == days


def test_between_a_date_and_a_moment_are_whole_days_of_the_calendar(client: TestClient) -> None:
    found = rows(client, select=["id", "lead", "planned_on - left_at"], order=["id"])
    assert all(isinstance(lead, int) and lead == days for _, lead, days in found), found


def test_a_fiscal_year_needs_a_calendar() -> None:
    with pytest.raises(InvalidInput, match="fiscal_year_start"):
        interval_of("FY2026", "date", datetime.date(2026, 11, 29), "")


def test_today_is_the_day_in_the_declared_zone() -> None:
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):  # never the same day
        calendar = read_declarations(CALENDAR.replace("Europe/Berlin", zone) + TRIPS)["trips"].calendar
        assert calendar is not None
        assert calendar.today == datetime.datetime.now(ZoneInfo(zone)).date()


@pytest.mark.parametrize(
    ("calendar", "told"),
    [
        ('time_zone = "Europe/Berln"', "there is no time zone 'Europe/Berln'; did you mean 'Europe/Ber"),
        ("fiscal_year_start = 13", "quarry.toml:2: calendar.fiscal_year_start: input should be less than or equal to 12, not 13"),
        ('timezone = "UTC"', "quarry.toml:2: calendar.timezone: is unknown here; did you mean 'time_zone'?"),
        ('business_hours = { start = "17:00", end = "09:00" }', "`start` is before `end`"),
        ('business_hours = { days = [0], start = "09:00", end = "17:00" }', "days are numbers from 1, Monday, to 7, Sunday"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_calendar_is_named_with_its_line(calendar: str, told: str) -> None:
    with pytest.raises(DeclarationError) as error:
        read_declarations(f"[calendar]\n{calendar}\n{TRIPS}")
    assert told in str(error.value)


def test_a_collection_has_no_calendar_of_its_own() -> None:
    with pytest.raises(DeclarationError, match=r"trips\.calendar: all collections have one calendar"):
        read_declarations(f'{TRIPS}calendar = {{ time_zone = "UTC" }}\n')
