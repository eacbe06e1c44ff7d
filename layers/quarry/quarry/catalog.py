"""The tables of all domains: which can be loaded, embedded, searched and cleaned up."""

from __future__ import annotations

from quarry.core.cleanup import CORE_EXPIRING, ExpiringTable
from quarry.core.retrieval.facets import SearchTable
from quarry.core.stream import run_store
from quarry.core.tables import EmbeddedTable, LoadableTable
from quarry.domains import modules

_TABLES = modules("tables").values()

LOADABLE: dict[str, LoadableTable] = {table.name: table for module in _TABLES for table in module.LOADABLE}
EMBEDDED: dict[str, EmbeddedTable] = {
    table.name: table for module in _TABLES for table in getattr(module, "EMBEDDED", ())
}
SEARCHED: dict[str, SearchTable] = {
    table.name: table for module in modules("facets").values() for table in module.SEARCHED
}
EXPIRING: tuple[ExpiringTable, ...] = (
    *CORE_EXPIRING,
    *run_store.EXPIRING,
    *(table for module in _TABLES for table in getattr(module, "EXPIRING", ())),
)
