"""The rows of a searched table that meet filters: which they are, how many, and how many by a facet or a period."""

from __future__ import annotations

import datetime
from collections.abc import AsyncIterator, Iterator, Sequence

import psycopg
import pytest

from quarry.postgres.pool import Database
from quarry.query import groups
from quarry.query.algebra import Period
from quarry.query.filtered import Filtered, Group, Groups, Measure
from quarry.retrieval.facets import folded_value
from quarry.spans.mention import Condition, DateRange, MoneyRange, NumberRange
from tests.conftest import clone_database
from tests.query_language.houses import HOUSES, SCHEMA


@pytest.fixture(scope="module")
def village_url(server_url: str, migrated_template: str) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        with psycopg.connect(url) as connection:
            connection.execute(SCHEMA)
        yield url


@pytest.fixture
async def village(village_url: str) -> AsyncIterator[Database]:
    database = Database(village_url, pool_size=1, timeout_seconds=60)
    yield database
    await database.close()


def filtered(*conditions: Condition) -> Filtered:
    return Filtered(HOUSES, [(condition,) for condition in conditions])


async def periods(database: Database, period: Period, *conditions: Condition) -> Groups:
    return await filtered(*conditions).groups(database, None, period)


ANN, BO = Condition("tenant", ("Ann Oak",)), Condition("tenant", ("Bo Elm",))


@pytest.mark.parametrize(
    ("conditions", "met"),
    [
        ([], ["h2", "h1", "h0", "h3"]),
        ([Condition("style", ("villa",), is_negated=True)], ["h0", "h3"]),
        ([Condition("tenant", ("Ann Oak",), is_negated=True)], ["h0", "h3"]),
        ([ANN, Condition("trade", ("cook",))], ["h2"]),
        ([ANN, BO], ["h1"]),
        ([Condition("town", ("NORTHLAND",))], ["h2"]),
        ([Condition("title", ("mill",))], ["h1", "h0"]),
        ([Condition("heated", ("false",))], ["h1"]),
        ([Condition("sold", range=DateRange(months=(6,)))], ["h2", "h0"]),
        ([Condition("built", range=DateRange(datetime.date(2000, 1, 1)))], ["h2", "h1"]),
        ([Condition("price", range=MoneyRange(most=100, currency="EUR"))], ["h0"]),
        ([Condition("rooms", range=NumberRange(2, 3, includes_least=False))], ["h2"]),
        ([Condition("style", ("'); drop table houses; -- %s %(p0)s {}",))], []),
    ],
)
async def test_rows_that_are_listed_and_meet_all_filters_are_found_latest_first(
    village: Database, conditions: Sequence[Condition], met: list[str]
) -> None:
    asked = filtered(*conditions)
    assert await asked.keys(village, 100) == met
    assert await asked.count(village) == len(met)


async def test_groups_count_a_row_once_for_each_of_its_values(village: Database) -> None:
    found = await filtered().groups(village, "colour")
    assert {group.value: group.rows for group in found.groups} == {"red": 2, "white": 1, None: 2}
    assert (found.rows, found.grouped, found.is_overlapping) == (4, 5, True)


async def test_empty_periods_are_groups_from_the_first_to_the_last_and_over_the_days_asked_for(
    village: Database,
) -> None:
    async def months(*clauses: Condition) -> list[tuple[str, int]]:
        found = await periods(village, "month", *clauses)
        return [(str(group.value)[:7], group.rows) for group in found.groups if group.value is not None]

    every = await months()
    assert (every[0], every[6], every[-1]) == (("2000-06", 1), ("2000-12", 1), ("2001-06", 1))
    assert len(every) == 13
    assert sum(rows for _, rows in every) == 3
    in_2000 = await months(Condition("sold", range=DateRange(datetime.date(2000, 1, 1), datetime.date(2000, 12, 31))))
    assert [month for month, _ in in_2000] == [f"2000-{month:02}" for month in range(1, 13)]
    until = Condition("sold", range=DateRange(None, datetime.date(9000, 1, 1)))
    years = (await periods(village, "year", until)).groups
    assert years[-1] == Group(datetime.date.today().replace(month=1, day=1), 0)


async def test_of_too_many_periods_the_empty_ones_are_left_out_and_that_is_told(
    village: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "FILL_MAX", 10)
    months = await periods(village, "month")
    assert sum(group.rows for group in months.groups) == 4
    assert months.has_gaps


@pytest.mark.parametrize("value", ["Épicéa", " ½ ", "ﬁr", "’s", "\u00a0x", "STRASSE", "ſ", "-", "", " \t"])
async def test_values_fold_in_python_as_in_the_database(village: Database, value: str) -> None:
    row = await village.row("select coalesce(folded_value(%s), '') as folded", [value])
    assert row == {"folded": folded_value(value)}


async def test_a_measure_of_rows_without_values_is_none(village: Database) -> None:
    total, most = Measure("sum", "price"), Measure("max", "rooms")
    assert await filtered().numbers(village, (total, most)) == (4, {"sum:price": 700, "max:rooms": 5})
    by_style = await filtered().groups(village, "style", measures=(total,))
    assert [(each.value, each.measures) for each in by_style.groups] == [
        ("villa", {"sum:price": 600}), ("barn", {"sum:price": 100}), (None, {"sum:price": None}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "condition",
    [
        Condition("style", range=NumberRange(1)),
        Condition("rooms", ("many",)),
        Condition("sold", ("yesterday",)),
        Condition("price", range=MoneyRange(1, currency="USD")),
    ],
)
async def test_what_a_facet_cannot_be_asked_is_refused(village: Database, condition: Condition) -> None:
    with pytest.raises(ValueError):
        await filtered(condition).count(village)
