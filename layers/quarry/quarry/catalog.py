"""The tables of all domains: which can be loaded, embedded, searched, cleaned up, and what of them forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.domains import modules
from quarry.platform.tables import EmbeddedTable, ExpiringTable, Forgettable, LoadableTable
from quarry.retrieval.values import CountedPart
from quarry.runs.run_log import CORE_EXPIRING
from quarry.schema.source import Source
from quarry.streaming import runs

_TABLES = modules("tables").values()

LOADABLE: dict[str, LoadableTable] = {table.name: table for module in _TABLES for table in module.LOADABLE}
EMBEDDED: dict[str, EmbeddedTable] = {
    table.name: table for module in _TABLES for table in getattr(module, "EMBEDDED", ())
}
SEARCHED: dict[str, Source] = {table.name: table for module in modules("facets").values() for table in module.SEARCHED}
EXPIRING: tuple[ExpiringTable, ...] = (
    *CORE_EXPIRING,
    *runs.EXPIRING,
    *(table for module in _TABLES for table in getattr(module, "EXPIRING", ())),
)
FORGETTABLE: dict[str, tuple[str, Forgettable]] = {
    each.kind: (domain, each) for domain, module in modules("tables").items() for each in module.FORGETTABLE
}
"""With its domain, by kind."""


def counted(of_collections: Sequence[str]) -> list[CountedPart]:
    """What searches know by counting, of the tables of all domains and of those that hold the rows of collections."""
    return [
        *(CountedPart("values", name) for name in (*SEARCHED, *of_collections)),
        *(CountedPart("words", name) for name in (*EMBEDDED, *of_collections)),
    ]
