"""The one list of domains. What a domain has stands in its folder, in modules of the same names in each: `tables`, `facets`,
`routes`, and `agent_tools` and `completion` where it has them.

They are imported when they are asked for: who needs tables alone imports no routes, and what serves the page imports none. What
answers a request is imported with the first one that asks for it. `filled_domains` says which of them hold data.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from psycopg.sql import SQL, Identifier, Literal

from quarry.postgres.pool import Database
from quarry.services.services import Services

DOMAINS = ("companies", "people", "records", "ontology", "campaigns")


def having(name: str) -> tuple[str, ...]:
    """The domains that have a module of that name."""
    return tuple(domain for domain in DOMAINS if find_spec(f"quarry.{domain}.{name}"))


def module(domain: str, name: str) -> ModuleType:
    """The module of that name of a domain."""
    return import_module(f"quarry.{domain}.{name}")


def modules(name: str) -> dict[str, ModuleType]:
    """The module of that name of each domain that has one."""
    return {domain: module(domain, name) for domain in having(name)}


def import_what_answers() -> None:
    """Import what is else imported with the first request that asks for it."""
    for name in ("search", "agent_tools", "completion"):
        modules(name)


def searched_tables() -> dict[str, tuple[str, ...]]:
    """The tables of each domain that are searched, or say what else is: it holds data when one of them does."""
    return {
        domain: (*(table.name for table in facets.SEARCHED), *getattr(facets, "DECLARED_IN", ()))
        for domain, facets in modules("facets").items()
    }


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
