"""Databases to fit on: loaded into an embedded Postgres, with the schema that `quarry map` drafts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from quarry.collections.apply import plan_changes
from quarry.collections.catalog_reading import read_catalog, relations_of_schema
from quarry.collections.collection import Collection, make_collection
from quarry.collections.declaration import read_declarations
from quarry.collections.relations import Relation
from quarry.collections.uses import referenced_tables
from quarry.query.of_collection import Declared, sources_of
from quarry.records.sources import with_collections
from quarry.schema.source import Schema
from quarry_map.drafting import draft
from tools.fit.pairs import OWN
from tools.spider_database import Database


def load_spider(connection: psycopg.Connection[Any], folder: Path) -> None:
    """Loads a Spider database into a schema of its name, with the keys that its rows satisfy."""
    Database(folder).load_postgres(connection, with_keys=True)


def load_own(connection: psycopg.Connection[Any], file: Path) -> None:
    """Loads one of our own databases into its own schema."""
    name = f"{OWN}{file.stem}"
    connection.execute(SQL("create schema {}").format(Identifier(name)))
    connection.execute("select set_config('search_path', %s, false)", [f'"{name}"'])
    connection.execute(file.read_bytes())
    connection.execute("reset search_path; analyze")


def drafted_schema(connection: psycopg.Connection[Any], name: str) -> Schema:
    """The sources in the draft of `quarry map` for a schema, both active and commented out, up to its limit."""
    relations = relations_of_schema(connection, name)
    declared = read_declarations(draft(name, relations).text)
    catalog = read_catalog(connection, referenced_tables(declared))
    changes = plan_changes(declared, {}, catalog.relations)
    collections: list[Collection] = []
    found: dict[str, Relation] = {}
    for place, change in enumerate(changes):
        assert change.declaration is not None
        assert change.relation is not None
        collections.append(make_collection(place + 1, change.name, change.declaration, change.relation, change.columns))
        found[change.name] = change.relation
    types = with_collections(collections, has_built_in=False)
    return Schema(
        sources_of([Declared(each, types[each.name].table, found[each.name].columns) for each in collections])
    )
