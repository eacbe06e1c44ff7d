"""The one list of domains. What a domain has stands in its folder, in modules of the same names in each: `tables`, `facets`,
`routes`, and `agent_tools` and `completion` where it has them.

They are imported when they are asked for: who needs tables alone imports no routes, and what serves the page imports none. What
answers a request is imported with the first one that asks for it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

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
