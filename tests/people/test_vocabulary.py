"""Names in a query are looked up in the data, misspelt and shortened companies among them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest

from quarry.core.postgres.pool import Database
from quarry.people.normalisation import normalise
from quarry.people.parsing.find_names import company_like_phrases
from quarry.people.parsing.known import KnownNames, phrases_to_look_up
from quarry.people.parsing.query_parser import parse
from quarry.people.retrieval import find_vocabulary
from tests.conftest import clone_database
from tests.people.cards import add_card

COMPANIES = (
    "Tarang Pay", "Kosmo Retail", "Kosmo Foods", "National Institute of Computing, Hyderabad", "Fort & Apollo", "100%_Wool Mills"
)  # fmt: skip


@pytest.fixture(scope="module")
def url(server_url: str, migrated_template: str) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            for number, company in enumerate(COMPANIES):
                add_card(connection, f"c{number}", degrees=[], company_name=company)
            add_card(connection, "hidden", degrees=[], company_name="Secret Pay", visible=False)
            # enough rows for the planner to prefer an index
            connection.execute(
                """insert into experience_cards (id, person_id, title, intent_primary, company_name)
                   select 'n' || n, 'c0', 'Card', 'work', 'Company ' || md5(n::text) from generate_series(1, 3000) n"""
            )
            connection.execute("analyze experience_cards")
        yield url


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    database = Database(url, pool_size=1, timeout_seconds=10)
    yield database
    await database.close()


@pytest.mark.parametrize(
    ("query", "companies"),
    [
        ("engineers at Tarang Pay", ["tarang pay"]),
        ("ex-tarrang pay people", ["tarang pay"]),
        ("Tarrang Pay engineers", ["tarang pay"]),
        ("engineers at Tarang", ["tarang pay"]),
        ("engineers at Kosmo", ["kosmo"]),  # which of the two is not known
        ("alumni of the National Institute of Computing", ["national institute of computing, hyderabad"]),
        ("anyone from fort and apollo", ["fort & apollo"]),
        ("weavers at 100%_Wool", []),
        ("engineers at Secret", ["secret"]),
        ("plumbers", []),
    ],
)
async def test_a_company_is_recognised_however_it_is_written(
    database: Database, query: str, companies: list[str]
) -> None:
    vocabulary = await find_vocabulary(database, phrases_to_look_up(query), company_like_phrases(query))
    names = KnownNames(vocabulary)
    assert normalise(parse(query, names), names).must.company_norm == companies
    assert "secret pay" not in vocabulary.companies


async def test_what_is_looked_up_is_no_pattern(database: Database) -> None:
    assert (await find_vocabulary(database, [], ["%", "_", "t%", "\\", ""])).companies == frozenset()
    assert (await find_vocabulary(database, [], ["100%_wool"])).companies == {"100%_wool mills"}


def test_names_are_compared_by_index(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("set pg_trgm.similarity_threshold = 0.5")
        plan = "\n".join(
            row[0]
            for row in connection.execute(
                """explain select company_norm from experience_cards c where visible
                   and (company_norm % 'tarrang pay' or company_norm like 'tarrang pay %' or company_norm like 'tarrang pay,%')"""
            )
        )
    assert "experience_cards_company_like" in plan
    assert "Seq Scan" not in plan
