"""The one list of domains. What a domain has stands in its folder, in modules of the same names in each: `tables`, `facets`,
`routes`, and `agent_tools` where it has some.

They are imported when they are asked for: who needs tables alone imports no routes, and what serves the page imports none.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

DOMAINS: Mapping[str, tuple[str, ...]] = {
    "companies": ("companies",),
    "people": ("people",),
    "records": ("motions", "agenda_items", "matters", "document_sections", "key_statements", "transcript_segments"),
    "ontology": (
        "onto_tasks", "onto_plans", "onto_goals", "onto_milestones", "onto_documents", "onto_outputs", "onto_requirements",
    ),
    "campaigns": ("campaigns",),
}  # fmt: skip
"""The domains, each with the tables that are searched: it holds data when one of them does."""


def modules(name: str) -> dict[str, ModuleType]:
    """The module of that name of each domain that has one."""
    paths = {domain: f"quarry.{domain}.{name}" for domain in DOMAINS}
    return {domain: import_module(path) for domain, path in paths.items() if find_spec(path)}
