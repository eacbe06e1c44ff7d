"""The domains and their modules. What a domain has stands in its folder, in modules of the same names in each: `tables`,
`facets`, `sources`, `routes`, `agent_tools`. A domain that lacks one of these has that of `quarry.standard`.

They are imported when they are asked for: who needs tables alone imports no routes, and what serves the page imports none. What
answers a request is imported with the first one that asks for it. `filled_domains` says which of them hold data.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from psycopg.sql import SQL, Identifier, Literal

from quarry.platform.contract import DOMAINS
from quarry.postgres.pool import Database
from quarry.services.services import Services

_STANDARD = "quarry.standard"


@cache
def _is_own(domain: str, name: str) -> bool:
    return find_spec(f"quarry.{domain}.{name}") is not None


@cache
def having(name: str) -> tuple[str, ...]:
    """The domains that have a module of that name."""
    is_standard = find_spec(f"{_STANDARD}.{name}") is not None
    return tuple(domain for domain in DOMAINS if is_standard or _is_own(domain, name))


@cache
def _standard(domain: str, name: str) -> Any:
    return import_module(f"{_STANDARD}.{name}").of(domain)


def module(domain: str, name: str) -> Any:
    """The module of that name of a domain: its own, or the standard one."""
    return import_module(f"quarry.{domain}.{name}") if _is_own(domain, name) else _standard(domain, name)


def modules(name: str) -> dict[str, Any]:
    """The module of that name of each domain that has one."""
    return {domain: module(domain, name) for domain in having(name)}


def import_what_answers() -> None:
    """Import what is else imported with the first request that asks for it."""
    for name in ("search", "agent_tools"):
        modules(name)


def searched_tables() -> dict[str, tuple[str, ...]]:
    """The tables of each domain that are searched, or say what else is: it holds data when one of them does."""
    return {
        domain: (
            *(table.name for table in facets.SEARCHED),
            *getattr(module(domain, "tables"), "DECLARED_IN", ()),
        )
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
