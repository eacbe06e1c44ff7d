"""Which domains hold data: what a deployment offers."""

from __future__ import annotations

from psycopg.sql import SQL, Identifier, Literal

from quarry.domains import searched_tables
from quarry.postgres.pool import Database
from quarry.services.services import Services

REMEMBERED_SECONDS = 60.0
"""How long the page and the list of models may miss a domain that was filled just now."""


async def filled_domains(services: Services, database: Database, *, seconds: float) -> list[str]:
    """The domains of which a searched table holds a row, as they were at most `seconds` ago, read from `database`.

    Raises DatabaseUnavailable.
    """

    async def read() -> list[str]:
        query = SQL(" union all ").join(
            SQL("select {} as domain where {}").format(
                Literal(domain),
                SQL(" or ").join(SQL("exists (select from {})").format(Identifier(table)) for table in tables),
            )
            for domain, tables in searched_tables().items()
        )
        return sorted(row["domain"] for row in await database.rows(query))

    return await services.memory.read("filled domains", read, seconds=seconds)
