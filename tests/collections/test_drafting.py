"""Drafts of quarry.toml: usable as they are, whatever the tables."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarry.core.collections.checking import check, tables_named
from quarry.core.collections.declaration import Lines, read_declarations
from quarry.core.collections.drafting import COLLECTIONS_MAX, Draft, draft
from quarry.core.collections.guessing import is_secret
from quarry.core.collections.relations import Column, Reference, Relation, read_catalog, relations_of_schema
from tests.collections.conftest import SCHEMAS, opened
from tests.collections.made import TYPES, catalog, column, table


def declared(text: str, *tables: Relation) -> dict[str, Any]:
    """What a draft declares, once it is read and nothing in it is wrong."""
    read = read_declarations(text)
    assert check(read, catalog(*tables), Lines(text, "quarry.toml"), own_schema="quarry").errors == []
    return dict(tomllib.loads(text).get("collections", {}))


def drafted(*tables: Relation) -> dict[str, Any]:
    return declared(draft("public", tables).text, *tables)


@pytest.fixture(scope="module")
def schemas(server_url: str) -> dict[str, tuple[Draft, dict[str, Any]]]:
    """What is drafted of each schema: the draft, and what it declares, which the catalog bears out."""
    found = {}
    for name in SCHEMAS:
        with opened(server_url, name) as (_, connection):
            made = draft("public", relations_of_schema(connection, "public"))
            read = read_declarations(made.text)
            known = read_catalog(connection, tables_named(read))
            assert check(read, known, Lines(made.text, "quarry.toml"), own_schema="quarry").errors == [], name
            found[name] = made, dict(tomllib.loads(made.text).get("collections", {}))
    return found


def test_every_schema_has_a_draft_that_fits_it(schemas: dict[str, tuple[Draft, dict[str, Any]]]) -> None:
    assert {name: made.collections for name, (made, _) in schemas.items()} == {
        "composite_keys": ("guides", "pairs", "ranges", "sites", "tours", "visits"),
        "library": (),
        "odd_names": (),
        "records_shop": (),
        "service": (),
        "trade": (),
        "views_only": (),
    }  # fmt: skip


_ALPHABET = st.characters(codec="utf-8", exclude_characters="\x00")
_NAMES = st.one_of(
    st.text(_ALPHABET, min_size=1, max_size=12),
    st.builds("".join, st.lists(st.sampled_from(
        "id name title first_ last_ _at created_ updated_ password token body status city country url price type from _id account_".split()
    ), min_size=1, max_size=3)),
)  # fmt: skip
_COLUMNS = st.builds(
    column,
    _NAMES,
    st.sampled_from([*TYPES, "text[]", "integer[]", "mood[]", "bytea[]"]),
    is_nullable=st.booleans(),
    width=st.none() | st.integers(1, 500),
    distinct=st.none() | st.floats(-1, 100),
)


@st.composite
def schema_of_any_kind(draw: st.DrawFn) -> list[Relation]:
    """Tables with any names, columns and keys, which refer to each other's keys."""
    relations: list[Relation] = []
    for name in draw(st.lists(_NAMES, unique=True, min_size=1, max_size=16)):
        columns: Sequence[Column] = draw(st.lists(_COLUMNS, min_size=1, max_size=6, unique_by=lambda each: each.name))
        names = [each.name for each in columns]
        keys = st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)
        key = draw(st.just([]) | keys)
        references = [
            Reference((draw(st.sampled_from(names)),), other.qualified, other.primary_key)
            for other in draw(st.lists(st.sampled_from(relations), max_size=3) if relations else st.just([]))
            if len(other.primary_key) == 1
        ]
        relations.append(
            table(
                name,
                [replace(each, is_nullable=each.is_nullable and each.name not in key) for each in columns],
                key=key,
                unique=draw(st.lists(keys, max_size=2)),
                references=references,
                kind=draw(st.sampled_from(["table", "table", "table", "partitioned table", "view", "foreign table"])),
                rows=draw(st.none() | st.integers(0, 10**9)),
                comment=draw(st.none() | st.text(_ALPHABET, max_size=600)),
                **{
                    fact: draw(st.integers(0, 9)) == 0
                    for fact in ("is_partition", "has_row_security", "is_row_security_active")
                },
                may_select=draw(st.integers(0, 9)) > 0,
                may_trigger=draw(st.booleans()),
            )
        )
    return relations


def searched(collection: dict[str, Any]) -> set[str]:
    """The columns of its own that a collection searches, shows or counts by."""
    facets = collection.get("facets", {})
    return {
        *collection["text"], *collection.get("embed", []), *collection.get("cite", []), *collection.get("key", []),
        *re.findall(r"\{([^{}]+)\}", collection.get("title", "") + collection.get("url", "")), collection.get("title"),
        *(name if isinstance(facet, str) else facet.get("column") for name, facet in facets.items()),
    }  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(schema_of_any_kind())
def test_a_draft_of_any_tables_fits_them_and_tells_no_secret(relations: list[Relation]) -> None:
    made = draft("public", relations)
    collections = declared(made.text, *relations)
    assert tuple(collections) == made.collections
    assert len(made.collections) <= COLLECTIONS_MAX
    assert len(made.collections) + len(made.commented) + len(made.left_out) == len(relations)
    sources = dict(zip(collections, tables_of(made.text, relations), strict=True))
    for name, collection in collections.items():
        secret = {each.name for each in sources[name].columns if is_secret(each)}
        assert not secret & searched(collection)
        for facet in collection.get("facets", {}).values():
            if "of" in facet:
                assert not is_secret(sources_title(facet, relations))


def tables_of(text: str, relations: Sequence[Relation]) -> list[Relation]:
    """The table of each collection, in order."""
    by_name = {relation.qualified: relation for relation in relations}
    return [
        by_name[next(iter(tables_named({"x": each.model_copy(update={"facets": {}})})))]
        for each in read_declarations(text).values()
    ]


def sources_title(facet: dict[str, str], relations: Sequence[Relation]) -> Column:
    return next(
        relation.by_name[facet["title"]]
        for relation in relations
        if f'"{relation.name}"' in facet["of"].replace('""', '"') or facet["of"] == f"public.{relation.name}"
    )
