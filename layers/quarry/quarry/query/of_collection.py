"""A declared collection as a source: its facets, its other plain columns and its predicates become fields, and what its rows
refer to, or are referred to by, becomes links. Pure.

A facet with `by` and `of` is a field, the title of the row that is referred to, and a link of the same name to that row:
`agent` and `agent.email`. Collections that refer to this one are links by their names: `count(tickets)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import LiteralString

from pydantic import TypeAdapter

from quarry.collections.collection import Collection
from quarry.collections.column_types import is_single
from quarry.collections.declaration import FacetDeclaration
from quarry.collections.json_paths import MOMENT, NUMBER, TRUTH, covered
from quarry.collections.names import words
from quarry.collections.naming import table_name
from quarry.collections.own_table import OwnTable
from quarry.collections.predicate import read_predicate
from quarry.collections.relations import Column, is_date_type
from quarry.collections.search_table import DATE, called, search_table, tables_reached
from quarry.collections.secrets import is_secret_number, secrecy_of
from quarry.collections.used_columns import UsedColumn
from quarry.language.word_forms import plural
from quarry.query.algebra import Condition
from quarry.query.collection_links import guard_of, links_of, title_of, titles_of
from quarry.query.paths import NUMERIC
from quarry.query.schema import KINDS, Field, Kind, Link, Source, SqlHoldsWords, described
from quarry.retrieval.facets import SearchTable

_NUMBERS = frozenset(("smallint", "integer", "bigint", "numeric", "real", "double precision"))
_TEXTS = frozenset(("text", "character varying"))
_KINDS_OF_PATHS: Mapping[str, Kind] = {NUMBER: "number", "bigint": "number", MOMENT: "datetime", TRUTH: "boolean"}


@dataclass(frozen=True)
class Declared:
    """A collection, the table that its values are known by, and the columns of its source that the service's role may read."""

    collection: Collection
    table: SearchTable
    columns: Sequence[Column]


def sources_of(declared: Sequence[Declared]) -> dict[str, Source]:
    """The collections as sources, by name, each with links to the others."""
    collections = [each.collection for each in declared]
    return {each.collection.name: _source(each, collections) for each in declared}


def _source(declared: Declared, collections: Sequence[Collection]) -> Source:
    collection, table = declared.collection, declared.table
    declaration = collection.declaration
    links = links_of(collection, collections)
    # what one collection of a table hides is no field of another
    unshown = {name for each in collections if each.source == collection.source for name in each.unshown_columns}
    titles = titles_of(collection, collections, links)
    owned = frozenset(each.source for each in collections if each.declaration.scope_setting)
    columns = (_column_field(collection, unshown, column) for column in declared.columns)
    paths = (_path_field(unshown, name, used) for name, used in _paths_of(collection).items())
    fields = dict(_facet_fields(declared, titles, owned)) | {
        name: field
        for name, field in (*columns, *paths)
        if field is not None and name not in declaration.facets and name not in declaration.links
    }
    return Source(
        collection.name,
        label=collection.label,
        nouns=called(collection),
        rows=collection.source_sql,
        key=collection.key_text,
        title=collection.title,
        fields=fields,
        links=links,
        guard=guard_of(collection),
        holds_words=_holds_words(collection, table),
        dated=table.date,
        description=declaration.describe or "",
        languages=table.languages,
        predicates={name: _predicate(text) for name, text in declaration.predicates.items()},
        owner_claim=declaration.scope_claim if declaration.scope_setting else None,
    )


@cache
def _conditions() -> TypeAdapter[tuple[Condition, ...]]:
    return TypeAdapter(tuple[Condition, ...])


@cache
def _predicate(text: str) -> tuple[Condition, ...]:
    return _conditions().validate_python(read_predicate(text))


def _holds_words(collection: Collection, table: SearchTable) -> SqlHoldsWords | None:
    if not collection.declaration.text:
        return None
    if isinstance(collection, OwnTable):
        return lambda row, text: f"{row}.text_search @@ (select parsed_query({text}))"
    # the words stand in a table of ours, in a template with a place for the text
    words_hold = table.holds_words.partition(" in ")[2]
    return lambda row, text: f"{collection.key_text(row)} in {words_hold.format(text)}"


# ---- fields ----


def _facet_fields(
    declared: Declared, titles: Mapping[str, Link], owned: Set[tuple[str, str]]
) -> Iterator[tuple[str, Field]]:
    collection = declared.collection
    facets = {facet.name: facet for facet in search_table(collection).facets}
    for name, given in collection.declaration.facets.items():
        link = titles.get(name)
        if link is not None and given.of is not None:
            title = title_of(collection, given)
            value = described(facets[name], title, declared.table, is_array=False)
            # rows that have owners are read with each query: the dictionary knows their values whoever asks
            is_owned = any(table_name(each) in owned for each in tables_reached(given))
            yield name, replace(value, related=link, listed=None if is_owned else value.listed)
        else:
            own = partial(_own_value, collection, name, given)
            yield name, described(facets[name], own, declared.table)
    if DATE in facets and DATE not in collection.declaration.facets:
        column = collection.declaration.date or ""
        yield DATE, described(facets[DATE], partial(collection.day, column), declared.table)


def _own_value(collection: Collection, name: str, facet: FacetDeclaration, row: LiteralString) -> LiteralString:
    if facet.expression is not None:
        return collection.reckoned(facet.expression, row)
    column = facet.column or name
    if isinstance(collection, OwnTable) and facet.kind != "date":
        return collection.column(column, row)
    return _column_value(collection.columns[column], column, KINDS[facet.kind], row)


def _column_field(collection: Collection, unshown: Set[str], column: Column) -> tuple[str, Field | None]:
    """A column that is no facet, as a field; None where it holds no plain values or nobody may see it."""
    name = column.name.replace(".", "_").replace("(", "_").replace(")", "_")
    kind = _kind(column)
    is_declared = column.name in collection.declaration.fields
    if kind is None or column.name in unshown or (_is_secret(column.name, kind) and not is_declared):
        return name, None
    return name, _undeclared(name, kind, column.name, UsedColumn.of(column), column.comment)


def _paths_of(collection: Collection) -> Mapping[str, UsedColumn]:
    """The keys of JSON columns that were seen, or declared: these are of the type that was declared."""
    return {**collection.document_keys, **{name: used for name, used in collection.columns.items() if used.path}}


def _path_field(unshown: Set[str], name: str, used: UsedColumn) -> tuple[str, Field | None]:
    """A key of a JSON column that is no facet, as a field; None where nobody may see it."""
    kind = _KINDS_OF_PATHS.get(used.base, "text")
    if covered(name, unshown) or any(_is_secret(key, kind) for key in used.path):
        return name, None
    return name, _undeclared(name, kind, ".".join(used.path[1:]), used)


def _undeclared(name: str, kind: Kind, column: str, used: UsedColumn, comment: str | None = None) -> Field:
    label = " ".join(words(column)) or column
    sql = partial(_column_value, used, column, kind)
    return Field(name, kind, sql, label, plural(label), is_array=used.is_array, unit=None, description=comment)


def _is_secret(name: str, kind: Kind) -> bool:
    """Whether an undeclared column is called like a secret; days and truths only say something about one."""
    if kind == "text":
        return secrecy_of(name) is not None
    return kind == "number" and is_secret_number(name)


def _kind(column: Column) -> Kind | None:
    if not is_single(replace(column, is_array=False)):
        return None
    if column.base in _NUMBERS:
        return "number"
    if column.base == "money":
        return "money"
    if is_date_type(column.base):
        return "date" if column.base == "date" else "datetime"
    return "boolean" if column.category == "B" else "text"


def _column_value(used: UsedColumn, name: str, kind: Kind, row: LiteralString) -> LiteralString:
    """A column as its kind has it. A column of that type stays bare, so that an index on it serves."""
    value, base = used.sql(name, row), used.base
    if used.is_array:
        return f"{value}::text[]"
    if kind == "date":
        return value if base == "date" else f"({value})::date"
    if kind in NUMERIC:
        return value if base in _NUMBERS else f"{value}::numeric"
    if kind == "boolean":
        return value if base == "boolean" else f"({value}::numeric <> 0)"
    return value if kind == "datetime" or base in _TEXTS else f"{value}::text"
