"""What a table says to a question is what its rows say, counted one by one."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import AsyncIterator, Iterator, Sequence

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.sql import SQL

from quarry.postgres.pool import Database
from quarry.query import groups
from quarry.query.algebra import Period
from quarry.query.filtered import Filtered, Group, Groups, Measure
from quarry.retrieval.facets import folded_value
from quarry.spans.mention import Clause, Condition, DateRange, MoneyRange, NumberRange
from tests.conftest import clone_database
from tests.query_language.houses import HOUSES, SCHEMA, House, Tenant, count_values, folded, meets

DAYS = [datetime.date(year, month, day) for year in (1999, 2000, 2001) for month in (1, 6, 12) for day in (1, 15)]
STYLES, COLOURS, TOWNS = ("barn", "cottage", "villa"), ("blue", "red", "white"), ("Aston", "Belford", "Crane")
PLACES = ("Aston", "Belford, Northland", "belford", "Crane, Northland", None)
TITLES = ("Mill House", "Old Mill", "The Old Mill House", None)
NAMES, TRADES = ("Ann Oak", "Bo Elm"), ("baker", "cook")


def optional(values: Sequence[str]) -> st.SearchStrategy[str | None]:
    return st.sampled_from([*values, None])


tenants = st.builds(Tenant, optional(NAMES), optional(TRADES), st.none() | st.sampled_from(DAYS))
houses = st.builds(
    House,
    id=st.just(""),
    style=optional(STYLES),
    rooms=st.none() | st.integers(1, 5),
    built=st.none() | st.integers(1998, 2002),
    price=st.none() | st.integers(0, 4),
    sold=st.none() | st.sampled_from(DAYS),
    colours=st.lists(st.sampled_from(COLOURS), max_size=3).map(tuple),
    town=st.sampled_from(PLACES),
    heated=st.none() | st.booleans(),
    title=st.sampled_from(TITLES),
    listed=st.sampled_from([True, True, True, False]),
    tenants=st.lists(tenants, max_size=3).map(tuple),
)
numbers = st.none() | st.integers(0, 5).map(float)
date_ranges = st.builds(
    DateRange,
    st.none() | st.sampled_from(DAYS),
    st.none() | st.sampled_from(DAYS),
    st.sampled_from([(), (1,), (6, 12)]),
)
number_ranges = st.builds(NumberRange, numbers, numbers, st.booleans(), st.booleans())
money_ranges = st.builds(MoneyRange, numbers, numbers, currency=st.sampled_from([None, "EUR"]))


def named(facet: str, values: Sequence[str]) -> st.SearchStrategy[Condition]:
    return st.builds(
        Condition, st.just(facet), st.lists(st.sampled_from(values), max_size=2).map(tuple), is_negated=st.booleans()
    )


def ranged(facet: str, ranges: st.SearchStrategy[DateRange | NumberRange | MoneyRange]) -> st.SearchStrategy[Condition]:
    return st.builds(Condition, st.just(facet), range=ranges, is_negated=st.booleans())


conditions = st.one_of(
    named("style", STYLES),
    named("colour", COLOURS),
    named("town", (*TOWNS, "northland")),
    named("heated", ("true", "false")),
    named("title", ("mill", "Old Mill", "mill house")),
    named("tenant", NAMES),
    named("trade", TRADES),
    named("rooms", ("1", "3")),
    ranged("rooms", number_ranges),
    ranged("price", money_ranges),
    ranged("price", number_ranges),
    ranged("built", st.builds(DateRange, st.none() | st.sampled_from(DAYS), st.none() | st.sampled_from(DAYS))),
    ranged("sold", date_ranges),
    ranged("since", date_ranges),
)
questions = st.lists(st.lists(conditions, min_size=1, max_size=3).map(tuple), max_size=4)


@pytest.fixture(scope="module")
def houses_url(server_url: str, migrated_template: str) -> Iterator[str]:
    """A database with the two tables, for all tests of this file."""
    with clone_database(server_url, migrated_template) as url:
        with psycopg.connect(url) as connection:
            connection.execute(SCHEMA)
        yield url


@pytest.fixture
async def database(houses_url: str) -> AsyncIterator[Database]:
    database = Database(houses_url, pool_size=1, timeout_seconds=60)
    yield database
    await database.close()


async def fill(database: Database, rows: Sequence[House]) -> list[House]:
    """Put these houses in place of all others; as they are there, with their ids."""
    placed = [House(**{**vars(house), "id": f"h{number:03}"}) for number, house in enumerate(rows)]
    async with database.transaction() as connection:
        await connection.execute("truncate houses, tenants")
        cursor = connection.cursor()
        await cursor.executemany(
            "insert into houses values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)", [h.row for h in placed]
        )
        await cursor.executemany(
            "insert into tenants values (%s, %s, %s, %s)",
            [(h.id, t.name, t.trade, t.since) for h in placed for t in h.tenants],
        )
    return placed


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    rows=st.lists(houses, max_size=12),
    clauses=questions,
    facet=st.sampled_from(["style", "colour", "tenant", "rooms", "town"]),
)
def test_answers_are_those_of_counting_row_by_row(
    houses_url: str, rows: list[House], clauses: list[Clause], facet: str
) -> None:
    async def ask_all() -> None:
        database = Database(houses_url, pool_size=1, timeout_seconds=60)
        try:
            await check(database, await fill(database, rows), clauses, facet)
        finally:
            await database.close()

    asyncio.run(ask_all())


async def check(database: Database, rows: list[House], clauses: list[Clause], facet: str) -> None:
    met = [house for house in rows if meets(house, clauses)]
    counted = count_values(met, facet)
    asked = Filtered(HOUSES, clauses)
    assert await asked.count(database) == len(met)
    assert set(await asked.keys(database, 100)) == {house.id for house in met}
    by_value = await asked.groups(database, facet)
    groups = by_value.groups
    assert {folded(group.value): group.rows for group in groups} == counted
    assert (by_value.rows, by_value.grouped) == (len(met), counted.total())
    assert by_value.is_overlapping == (counted.total() > len(met))
    assert [group.rows for group in groups] == sorted(counted.values(), reverse=True)
    fragment = await database.rows(SQL("select t.id from houses t where {}").format(asked.where()))
    assert {row["id"] for row in fragment} == {house.id for house in met}


VILLAGE = [
    House("", "barn", 2, 1999, 100, datetime.date(2000, 6, 1), ("red",), "Aston", True, "Old Mill"),
    House("", "villa", 5, 2001, 300, datetime.date(2000, 12, 1), ("red", "white"), "Aston", False, "Mill House",
          tenants=(Tenant("Ann Oak", "baker"), Tenant("Bo Elm", "cook"))),
    House("", "villa", 3, 2001, 300, datetime.date(2001, 6, 15), (), "Crane, Northland", None, None,
          tenants=(Tenant("Ann Oak", "cook"),)),
    House("", None, None, None, None, None),
]  # fmt: skip


@pytest.fixture
async def village(database: Database) -> Database:
    await fill(database, VILLAGE)
    return database


def filtered(*conditions: Condition) -> Filtered:
    return Filtered(HOUSES, [(condition,) for condition in conditions])


async def keys(database: Database, *conditions: Condition) -> list[str]:
    return await filtered(*conditions).keys(database, 100)


async def periods(database: Database, period: Period, *conditions: Condition) -> Groups:
    return await filtered(*conditions).groups(database, None, period)


async def test_a_row_without_the_value_meets_the_negated_condition(village: Database) -> None:
    assert await keys(village, Condition("style", ("villa",), is_negated=True)) == ["h000", "h003"]
    assert await keys(village, Condition("tenant", ("Ann Oak",), is_negated=True)) == ["h000", "h003"]


async def test_conditions_on_related_rows_hold_for_one_of_them(village: Database) -> None:
    ann, cook = Condition("tenant", ("Ann Oak",)), Condition("trade", ("cook",))
    assert await keys(village, ann, cook) == ["h002"]


async def test_two_values_of_a_related_facet_may_be_of_two_rows(village: Database) -> None:
    ann, bo = Condition("tenant", ("Ann Oak",)), Condition("tenant", ("Bo Elm",))
    assert await keys(village, ann, bo) == ["h001"]


async def test_a_place_is_met_by_any_part_of_what_is_written_in_any_case(village: Database) -> None:
    assert await filtered(Condition("town", ("NORTHLAND",))).count(village) == 1


async def test_months_hold_in_every_year(village: Database) -> None:
    assert await filtered(Condition("sold", range=DateRange(months=(6,)))).count(village) == 2


async def test_rows_are_in_the_order_of_their_date_latest_first(village: Database) -> None:
    assert await keys(village) == ["h002", "h001", "h000", "h003"]


async def test_periods_are_their_first_days(village: Database) -> None:
    by_year = await periods(village, "year")
    assert by_year.groups == [Group(datetime.date(2000, 1, 1), 2), Group(datetime.date(2001, 1, 1), 1), Group(None, 1)]


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
    in_june = await months(Condition("sold", range=DateRange(months=(6,))))
    assert in_june == [("2000-06", 1), ("2001-06", 1)]


async def test_what_is_asked_for_beyond_today_is_not_empty_yet(village: Database) -> None:
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
    monkeypatch.setattr(groups, "FILL_MAX", 13)
    assert not (await periods(village, "month")).has_gaps


async def test_spellings_of_one_value_are_one_group_by_the_most_frequent(village: Database) -> None:
    styles = ["Barn", "barn ", "BARN", "Barn", "Bàrn", "", "  ", "\t", None, "-"]
    await fill(village, [House("", style) for style in styles])
    found = (await filtered().groups(village, "style")).groups
    assert found == [Group("Barn", 5), Group(None, 4), Group("-", 1)]
    await fill(village, [House("", colours=("Red", "red", " "))])
    [red] = (await filtered().groups(village, "colour")).groups
    assert (str(red.value).lower(), red.rows) == ("red", 1)


@pytest.mark.parametrize("value", ["Épicéa", " ½ ", "ﬁr", "’s", "\u00a0x", "STRASSE", "ſ", "-", "", " \t"])
async def test_values_fold_in_python_as_in_the_database(village: Database, value: str) -> None:
    row = await village.row("select coalesce(folded_value(%s), '') as folded", [value])
    assert row == {"folded": folded_value(value)}


async def test_values_are_parameters(village: Database) -> None:
    hostile = "'); drop table houses; -- %s %(p0)s {}"
    assert await keys(village, Condition("style", (hostile,)), Condition("title", (hostile,))) == []
    assert await filtered().count(village) == 4


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
        Condition("heated", ("yes",)),
        Condition("price", range=MoneyRange(1, currency="USD")),
    ],
)
async def test_what_a_facet_cannot_be_asked_is_refused(village: Database, condition: Condition) -> None:
    with pytest.raises(ValueError):
        await filtered(condition).count(village)
