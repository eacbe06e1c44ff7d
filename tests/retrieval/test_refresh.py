"""When the values of the data are counted anew."""

from __future__ import annotations

import psycopg

from quarry import catalog
from quarry.core.postgres.migrate import migrate
from quarry.core.retrieval.refresh import refresh_values
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
    tables = list(catalog.SEARCHED.values())
    await services.database.execute(COMPANY)
    counted = await refresh_values(services.database, tables, timeout_seconds=60)
    assert counted == {table.name: 2 * (table.name == "companies") for table in tables}
    assert await refresh_values(services.database, tables, timeout_seconds=60, keep_going=lambda: False) == {}
