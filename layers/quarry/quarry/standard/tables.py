"""Tables with their own words, as `quarry.toml` declares them: what can be loaded, embedded and forgotten."""

from __future__ import annotations

from types import SimpleNamespace

from quarry.collections.collection import OwnTable, own_tables
from quarry.collections.declaration_parts import line_columns
from quarry.domains import module
from quarry.platform.tables import EmbeddedTable, Forgettable, LoadableTable


def of(domain: str) -> SimpleNamespace:
    contract = module(domain, "contract")
    loadable = tuple(LoadableTable(name, row) for name, row in contract.ROWS.items())
    collections = own_tables(contract.__file__, loadable)
    return SimpleNamespace(
        LOADABLE=loadable,
        COLLECTIONS=collections,
        EMBEDDED=tuple(map(_embedded, collections)),
        FORGETTABLE=tuple(Forgettable(each.name, each.rows) for each in collections),
    )


def _embedded(collection: OwnTable) -> EmbeddedTable:
    """Its texts, each window of them behind the title."""
    titles = line_columns(collection.declaration.title)
    texts = tuple(each for each in collection.declaration.text if each not in titles)
    return EmbeddedTable(collection.rows, collection.windows, (*titles, *texts), titles=titles if texts else ())
