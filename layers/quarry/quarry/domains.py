"""The one list of domains. What a domain has stands in its folder, in modules of the same names in each: `tables`, `facets`,
`routes`, and `agent_tools` and `completion` where it has them.

They are imported when they are asked for: who needs tables alone imports no routes, and what serves the page imports none.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

DOMAINS = ("companies", "people", "records", "ontology", "campaigns")


def modules(name: str) -> dict[str, ModuleType]:
    """The module of that name of each domain that has one."""
    paths = {domain: f"quarry.{domain}.{name}" for domain in DOMAINS}
    return {domain: import_module(path) for domain, path in paths.items() if find_spec(path)}


def searched_tables() -> dict[str, tuple[str, ...]]:
    """The tables of each domain that are searched, or say what else is: it holds data when one of them does."""
    return {
        domain: (*(table.name for table in facets.SEARCHED), *getattr(facets, "DECLARED_IN", ()))
        for domain, facets in modules("facets").items()
    }
