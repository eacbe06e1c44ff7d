"""When the values of the data are counted anew."""

from __future__ import annotations

import psycopg
import pytest

from quarry.platform.errors import DatabaseUnavailable
from quarry.postgres.migrate import migrate
from quarry.postgres.pool import Database
from quarry.retrieval.values import CountedPart, refresh

COMPANY = "insert into companies (id, company_name) values ('a', 'Zebu')"
COUNTED = "select facet, value, row_count from facet_values order by facet"
MOTIONS = CountedPart("words", "motions")


def test_a_migration_that_changes_the_facets_of_a_table_counts_its_values(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(COMPANY)
        connection.execute("delete from facet_values")
        connection.execute("update quarry_functions set sha256 = '' where name = 'companies/companies_values.sql'")
        migrate(database_url, embedding_dimensions=384)
        assert connection.execute(COUNTED).fetchall() == [("name", "Zebu", 1), ("status", "startup", 1)]


async def test_a_table_that_cannot_be_counted_is_told_when_those_behind_it_are(
    database_url: str,
) -> None:
    database = Database(database_url, pool_size=1, timeout_seconds=1)
    await database.execute("insert into motions (id, text_content) values ('a', 'elm'), ('b', 'elms')")
    work = [
        CountedPart("words", "matters"),
        MOTIONS,
        CountedPart("values", "matters"),
        CountedPart("values", "companies"),
    ]
    with psycopg.connect(database_url) as writer:
        writer.execute("lock matters in access exclusive mode")
        with pytest.raises(DatabaseUnavailable, match=r"counted: words of matters, values of matters\."):
            await refresh(database, work, timeout_seconds=60)
    assert await database.rows("select lexeme, rows from lexeme_counts") == [{"lexeme": "elm", "rows": 2}]
    await database.close()
