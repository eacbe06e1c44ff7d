"""Numbers that are asked for in words, of collections of several trades: what SQL over the tables says, or no number at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from quarry.collections.upkeep import read_collections
from quarry.postgres.pool import Database
from quarry.records.contract import AggregationEvent
from quarry.records.counting import Counted, count, what_to_count
from quarry.records.reading import read_records
from quarry.records.searched_types import with_collections
from tests.collections.support import apply_file, owner, refreshed
from tests.conftest import clone_database
from tests.records.trades import DECLARED, SCHEMA


@pytest.fixture(scope="module")
def trades(server_url: str, migrated_template: str) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        fill(url)
        yield url


def fill(url: str) -> None:
    """The tables, declared, their words in step."""
    owner(url, SCHEMA)
    apply_file(url, DECLARED)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work_off(url)).result()


async def work_off(url: str) -> None:
    database = Database(url, pool_size=1, timeout_seconds=60)
    problems = await refreshed(database)
    await database.close()
    assert not any(problems.values()), problems


@pytest.fixture
async def database(trades: str) -> AsyncIterator[Database]:
    database = Database(trades, pool_size=1, timeout_seconds=60)
    yield database
    await database.close()


async def told(database: Database, question: str) -> Counted | None:
    """The number that the question is answered with."""
    types = with_collections([*(await read_collections(database)).values()], has_built_in=False)
    reading = await read_records(database, types, question)
    wanted = what_to_count(reading, [*types.values()])
    return await count(database, wanted) if wanted else None


async def sentence_of(url: str, question: str) -> str:
    """What is told of the number that the question is answered with."""
    database = Database(url, pool_size=1, timeout_seconds=60)
    counted = await told(database, question)
    await database.close()
    assert counted
    return counted.sentence


def in_short(event: AggregationEvent) -> Any:
    """The number; of groups, that of each: what was reckoned of it, else how many there are."""
    if event.groups:
        return {
            str(group.value): round(float((group.model_extra or {}).get(event.of or "", group.count) or 0), 6)
            for group in event.groups
        }
    return event.total if event.of is None else event.value and round(event.value, 6)


def by_sql(url: str, sql: str) -> Any:
    """A number, or the numbers of each group."""
    with psycopg.connect(url, options="-c search_path=trades") as connection:
        rows = connection.execute(sql.encode()).fetchall()
    if rows and len(rows[0]) == 2:
        return {str(name): round(float(number or 0), 6) for name, number in rows}
    [[number]] = rows
    return number if number is None or isinstance(number, int) else round(float(number), 6)


NUMBERS: Mapping[str, str] = {
    # sums and averages
    "What is the average price of products?": "select avg(price) from products",
    "average price of Garden products": "select avg(price) from products where category = 'Garden'",
    "What is the average price of Kitchen products by Birch?":
        "select avg(price) from products where category = 'Kitchen' and brand = 'Birch'",
    "total stock of products": "select sum(stock) from products",
    "the sum of stock of all Office products": "select sum(stock) from products where category = 'Office'",
    "average weight of products": "select avg(weight) from products",
    "total amount of orders paid in 2023": "select sum(total) from orders where paid_on between '2023-01-01' and '2023-12-31'",
    "Which category of products has the highest weight on average?":
        "select category, avg(weight) from products group by 1 order by 2 desc limit 1",
    "What is the stock of Garden products on average?": "select avg(stock) from products where category = 'Garden'",
    "What percentage of orders is paid?": "select count(*) from orders where status = 'paid'",
    "What is the total revenue of orders?": "select sum(total) from orders",
    "total revenue of orders from Spain in 2023":
        "select sum(total) from orders where country = 'Spain' and order_date between '2023-01-01' and '2023-12-31'",
    "What is the total quantity of orders from Norway?": "select sum(quantity) from orders where country = 'Norway'",
    "sum of quantity of orders by country": "select country, sum(quantity) from orders group by 1",
    "total revenue of orders by customer": "select customer, sum(total) from orders group by 1",
    "orders: total revenue per year": "select date_trunc('year', order_date)::date, sum(total) from orders group by 1",
    "average fee of visits by doctor": "select doctor, avg(fee) from visits group by 1",
    "average duration of visits per ward": "select ward, avg(duration) from visits group by 1",
    "What was the average fee of visits in March 2024?":
        "select avg(fee) from visits where visited_on between '2024-03-01' and '2024-03-31'",
    "average fee of visits of Ines Falk": "select avg(fee) from visits where doctor = 'Ines Falk'",
    "total fee of visits to Surgery": "select sum(fee) from visits where ward = 'Surgery'",
    "total fines of loans": "select sum(fine) from loans",
    "average fine of loans in each branch": "select branch, avg(fine) from loans group by 1",
    "total load of shipments to Porto": "select sum(weight) from shipments where destination = 'Porto'",
    "what is the average weight of shipments by carrier": "select carrier, avg(weight) from shipments group by 1",
    "average load of shipments delivered in April 2024":
        "select avg(weight) from shipments where (delivered_at at time zone 'utc')::date between '2024-04-01' and '2024-04-30'",
    "total amount of expenses": "select sum(amount) from expenses",
    "total amount of expenses by category": "select kind, sum(amount) from expenses group by 1",
    "average amount of travel expenses": "select avg(amount) from expenses where kind = 'travel'",
    # how much
    "How much did we spend on travel last year?":
        "select sum(amount) from expenses where kind = 'travel'"
        " and extract(year from spent_on) = extract(year from current_date) - 1",
    "How much was spent on software?": "select sum(amount) from expenses where kind = 'software'",
    "how much stock of Garden products is there": "select sum(stock) from products where category = 'Garden'",
    # the highest and the lowest
    "What is the highest price of products?":
        "select name, price from products where price = (select max(price) from products)",
    "lowest fee of visits": "select reason, fee from visits where fee = (select min(fee) from visits) limit 1",
    "the cheapest product": "select name, price from products where price = (select min(price) from products)",
    "cheapest Garden product":
        "select name, price from products where price = (select min(price) from products where category = 'Garden')"
        " and category = 'Garden'",
    "Which is the most expensive product?":
        "select name, price from products where price = (select max(price) from products)",
    "most expensive Kitchen product":
        "select name, price from products where category = 'Kitchen' order by price desc nulls last limit 1",
    "the heaviest product": "select name, weight from products order by weight desc limit 1",
    "which product has the most stock": "select name, stock from products where stock = (select max(stock) from products)",
    "top 3 products by price": "select name, price from products where price is not null order by price desc limit 3",
    "which ward has the highest average fee of visits": "select ward, avg(fee) from visits group by 1 order by 2 desc limit 1",
    "which category has the lowest average price of products":
        "select category, avg(price) from products group by 1 order by 2 limit 1",
    "which branch has the highest total fine of loans": "select branch, sum(fine) from loans group by 1 order by 2 desc limit 1",
    "top 2 customers by revenue of orders": "select customer, sum(total) from orders group by 1 order by 2 desc limit 2",
    "top 2 countries by quantity of orders": "select country, sum(quantity) from orders group by 1 order by 2 desc limit 2",
    "which country has the most quantity of orders":
        "select country, sum(quantity) from orders group by 1 order by 2 desc limit 1",
    "which country has the highest revenue": "select country, sum(total) from orders group by 1 order by 2 desc limit 1",
    "which ward has the highest fee": "select ward, max(fee) from visits group by 1 order by 2 desc limit 1",
    "revenue by month": "select date_trunc('month', order_date)::date, sum(total) from orders group by 1",
    "average order total": "select avg(total) from orders",
    "what is the total of orders": "select sum(total) from orders",
    "total revenue excluding Spain": "select sum(total) from orders where country <> 'Spain'",
    # counts
    "total orders by country": "select country, count(*) from orders group by 1",
    "How many orders and visits are there?":
        "select 'orders', count(*)::int from orders union all select 'visits', count(*)::int from visits",
    "How many orders are paid?": "select count(*)::int from orders where status = 'paid'",
    "How many orders were paid in 2023?": "select count(*)::int from orders where extract(year from paid_on) = 2023",
    "how many pending orders are there from France":
        "select count(*)::int from orders where status = 'pending' and country = 'France'",
    "orders per month": "select date_trunc('month', order_date)::date, count(*) from orders group by 1",
    "how many orders per country": "select country, count(*) from orders group by 1",
    "how many orders by each customer": "select customer, count(*) from orders group by 1",
    "How many different countries do orders come from?": "select count(distinct country)::int from orders",
    "which doctor had most visits in March 2024":
        "select doctor, count(*) from visits where visited_on between '2024-03-01' and '2024-03-31' group by 1"
        " order by 2 desc limit 1",
    "How many visits were there in 2024?": "select count(*)::int from visits where extract(year from visited_on) = 2024",
    "how many loans were returned in March 2024":
        "select count(*)::int from loans where returned_on between '2024-03-01' and '2024-03-31'",
    "how many loans were borrowed in March 2024":
        "select count(*)::int from loans where borrowed_on between '2024-03-01' and '2024-03-31'",
    "how many loans were not returned": "select count(*)::int from loans where returned_on is null",
    "which branch has the most loans":
        "select branch, count(*) from loans group by 1 order by 2 desc fetch first 1 rows with ties",
    "how many loans does each member have": "select member, count(*) from loans group by 1",
    "how many shipments were lost": "select count(*)::int from shipments where state = 'lost'",
    "how many shipments were shipped before April 2024":
        "select count(*)::int from shipments where shipped_at < '2024-04-01 00:00+00'",
    "how many shipments were delivered in March 2024":
        "select count(*)::int from shipments where (delivered_at at time zone 'utc')::date between '2024-03-01' and '2024-03-31'",
    "number of shipments per city": "select destination, count(*) from shipments group by 1",
    "how many different carriers have shipments": "select count(distinct carrier)::int from shipments",
    "how many products cost more than 20 euros": "select count(*)::int from products where price > 20",
    "average price of products over 20 euros": "select avg(price) from products where price > 20",
    "how many products were added in 2024": "select count(*)::int from products where extract(year from added_on) = 2024",
    "how many products by brand": "select brand, count(*) from products group by 1",
}  # fmt: skip

NO_NUMBER = (
    "What is the median price of products?",
    "total revenue of orders by customer and country",
    "total price of products",
    "average price of orders",
    "average price of red products",
    "average height of products",
    "how much more revenue had orders from Spain than from France",
    "what is the average delay of shipments",
    "top 3 categories by price of products",
    "cheapest product per category",
    "how many shipments were lost in March 2024",
    "which wards have an average fee over 60",
    "is the average price of products over 20 euros",
    "total revenue of orders of Zed Quill",
    "how much did the library cost",
    "total amount of expenses for balloons",
    "which doctor earned the most",
    "average fee of visits except those of nobody in particular",
    "how many orders above the average price",
    "what is the total weight",
    "running total of revenue",
    "total revenue of the top 3 customers",
    "top 10% of orders by total",
    "how many customers have a revenue over 500",
    "number of visits per doctor per ward",
    "second most expensive product",
    "total revenue of orders cancelled in 2023",
)


@pytest.mark.parametrize("question", NUMBERS)
async def test_the_number_is_what_the_table_says(trades: str, database: Database, question: str) -> None:
    counted = await told(database, question)
    assert counted is not None
    assert in_short(counted.event) == by_sql(trades, NUMBERS[question]), counted.sentence


@pytest.mark.parametrize("question", NO_NUMBER)
async def test_what_cannot_be_read_exactly_gets_no_number(database: Database, question: str) -> None:
    counted = await told(database, question)
    assert counted is None or not (counted.event.total or counted.event.groups), counted.sentence
