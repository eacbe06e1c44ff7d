"""Tables with their own words, as `quarry.toml` declares them: what can be loaded, embedded and forgotten."""

from __future__ import annotations

from types import SimpleNamespace

from quarry.collections.facets import embedded_table, own_tables
from quarry.domains import module
from quarry.platform.tables import Forgettable, LoadableTable


def of(domain: str) -> SimpleNamespace:
    contract = module(domain, "contract")
    loadable = tuple(LoadableTable(name, row) for name, row in contract.ROWS.items())
    collections = own_tables(contract.__file__, loadable)
    return SimpleNamespace(
        LOADABLE=loadable,
        COLLECTIONS=collections,
        EMBEDDED=tuple(map(embedded_table, collections)),
        FORGETTABLE=tuple(Forgettable(each.name, each.rows) for each in collections),
    )
