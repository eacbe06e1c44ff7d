"""When the values of the data are counted anew."""

from __future__ import annotations

import psycopg

from quarry import catalog
from quarry.core.postgres.migrate import migrate
from quarry.core.retrieval.refresh import refresh
from quarry.core.services import Services

COMPANY = "insert into companies (id, company_name) values ('a', 'Zebu')"
COUNTED = "select facet, value, row_count from facet_values order by facet"


def test_a_migration_that_changes_the_facets_of_a_table_counts_its_values(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(COMPANY)
        connection.execute("delete from facet_values")
        connection.execute("update quarry_functions set sha256 = '' where name = 'companies/companies_values.sql'")
        migrate(database_url, embedding_dimensions=384)
        assert connection.execute(COUNTED).fetchall() == [("name", "Zebu", 1), ("status", "startup", 1)]


async def test_no_table_is_begun_that_there_is_no_time_for(services: Services) -> None:
    await services.database.execute(COMPANY)
    counted = await refresh(services.database, "values", catalog.SEARCHED, timeout_seconds=60)
    assert counted == {name: 2 * (name == "companies") for name in catalog.SEARCHED}
    assert (
        await refresh(services.database, "values", catalog.SEARCHED, timeout_seconds=60, keep_going=lambda: False) == {}
    )


async def test_words_of_several_rows_are_counted_by_the_rows_that_hold_them(services: Services) -> None:
    await services.database.execute(
        "insert into motions (id, text_content) values ('a', 'elm elm street'), ('b', 'The elms are old')"
    )
    counted = await refresh(services.database, "words", ["motions", "meetings"], timeout_seconds=60)
    assert counted == {"motions": 1, "meetings": 0}
    rows = await services.database.rows("select lexeme, rows from lexeme_counts where of_table = 'motions' order by 1")
    assert [(row["lexeme"], row["rows"]) for row in rows] == [("elm", 2)]
    assert await services.database.row("select rows, lexemes from text_totals where of_table = 'motions'") == {
        "rows": 2,
        "lexemes": 5,
    }


async def test_words_are_left_as_they_are_where_few_rows_are_new(services: Services) -> None:
    await services.database.execute(
        "insert into motions (id, text_content) select n::text, 'elm' from generate_series(1, 100) n"
    )
    await refresh(services.database, "words", ["motions"], timeout_seconds=60)
    await services.database.execute("insert into motions (id, text_content) values ('new', 'oak')")
    await services.database.execute("analyze motions")
    assert await services.database.row("select count_lexemes('motions', 0.05) as counted") == {"counted": None}
    assert await services.database.row("select count_lexemes('motions', 0.005) as counted") == {"counted": 1}


def test_a_migration_counts_the_words_of_tables_that_have_been_there(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("insert into motions (id, text_content) values ('a', 'elm'), ('b', 'an elm')")
        connection.execute("delete from text_totals where of_table = 'motions'")
        migrate(database_url, embedding_dimensions=384)
        assert connection.execute("select lexeme, rows from lexeme_counts").fetchall() == [("elm", 2)]
