"""A declared collection as a source: its facets, its other plain columns and its predicates become fields, and what its rows
refer to, or are referred to by, becomes links. Pure.

A facet with `by` and `of` is a field, the title of the row that is referred to, and a link of the same name to that row:
`agent` and `agent.email`. Collections that refer to this one are links by their names: `count(tickets)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from quarry.collections.collection import Collection, OwnTable, column_of
from quarry.collections.declaration_parts import RelatedRows
from quarry.collections.facets import DATE, called
from quarry.collections.names import table_name, words
from quarry.collections.predicate import read_measure, read_predicate
from quarry.collections.relations import MOMENT, NUMBER, TRUTH, Column, covered, is_date_type
from quarry.collections.row_sql import NUMBERS, UsedColumn
from quarry.collections.secrets import is_secret_number, secrecy_of
from quarry.collections.uses import is_single
from quarry.language.word_forms import plural
from quarry.query.collection_links import is_name_of_row, links_of, title_of, titles_of
from quarry.schema.algebra import CONDITIONS, Aggregate, Condition
from quarry.schema.source import KINDS, Field, Kind, Link, Measure, Source, SqlHoldsWords, SqlOf

_KINDS: Mapping[str, Kind] = {
    NUMBER: "number", "bigint": "number", MOMENT: "datetime", "date": "date", TRUTH: "boolean",
}  # fmt: skip
"""The kinds of what is no text, by the types of paths and of our own columns."""


@dataclass(frozen=True)
class Declared:
    """A collection, the source of its facets, and the columns of its source that the service's role may read."""

    collection: Collection
    table: Source
    columns: Sequence[Column]


def sources_of(declared: Sequence[Declared]) -> dict[str, Source]:
    """The collections as sources, by name, each with links to the others."""
    collections = [each.collection for each in declared]
    return {each.collection.name: _source(each, collections) for each in declared}


def _source(declared: Declared, collections: Sequence[Collection]) -> Source:
    collection, table = declared.collection, declared.table
    declaration = collection.declaration
    links = links_of(collection, collections)
    # a column that one collection of a table hides is a field of no other that does not say so
    others = (each for each in collections if each.source == collection.source)
    unshown = {name for each in others for name in each.unshown_columns} - {*collection.declaration.shows}
    titles = titles_of(collection, collections, links)
    columns = (_column_field(collection, unshown, column) for column in declared.columns)
    paths = (_path_field(unshown, name, used) for name, used in _paths_of(collection).items())
    fields = dict(_facet_fields(declared, titles, collections)) | {
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
        guard=collection.guard,
        holds_words=collection.holds_words if declaration.text else None,
        dated=table.dated,
        description=declaration.describe or "",
        languages=table.languages,
        predicates=_predicates(collection),
        measures=_measures(collection, {*fields, *links}),
        calendar=declaration.calendar,
        owner_claim=declaration.scope_claim if declaration.scope_setting else None,
        chosen_by=frozenset(_name_of(each) for each in declaration.where.columns) if declaration.where else frozenset(),
        left_out="; ".join(_left_out(collection)),
    )


def _left_out(collection: Collection) -> Iterator[str]:
    """Which rows of its table a collection leaves out, in words."""
    declaration = collection.declaration
    if declaration.where:
        yield f"leaves out rows by {', '.join(declaration.where.columns)}"
    for by, kept in declaration.kept_with.items():
        of = table_name(kept.of)[1]
        yield f"leaves out rows whose {by} names a row of {of} that is left out by {', '.join(kept.where.columns)}"


def own_source(
    collection: OwnTable,
    table: Source,
    *,
    holds_words: SqlHoldsWords | None = None,
    of_related: Mapping[str, Mapping[str, Field]] = MappingProxyType({}),
) -> Source:
    """A collection in a table of ours that is searched by a domain of its own: its facets become fields, and what it declares of
    related rows links. `of_related` are further fields of related rows.
    """
    declaration = collection.declaration
    own = {name: _own_field(each, table) for name, each in table.facets.items() if each.facet in KINDS}
    declared = {name: _fields_of_related(collection, table, rows) for name, rows in declaration.related.items()}
    links = {
        name: replace(
            link,
            fields={
                **{own[each].column or each: own[each] for each in link.fields if each in own},
                **declared.get(name, {}),
                **of_related.get(name, {}),
            },
        )
        for name, link in table.links.items()
    }
    return replace(
        table,
        name=collection.name,
        title=collection.title,
        fields={
            name: replace(each, related=links[link.name]) if (link := table.fields[name].related) else each
            for name, each in own.items()
        },
        links=links,
        holds_words=holds_words or table.holds_words,
        description=declaration.describe or "",
        predicates=_predicates(collection),
        texts={name: _text_field(collection, name) for name in declaration.text if name not in table.facets},
    )


def _own_field(facet: Field, table: Source) -> Field:
    """A facet as a field of the row that holds it. A place that is put together of several columns is each of its parts."""
    field = replace(_plain(facet, table), place=None)
    return replace(field, sql=facet.place, is_array=False) if facet.place and facet.column else field


def _text_field(collection: OwnTable, name: str) -> Field:
    """A searched text as a field."""
    label = " ".join(words(name))
    return Field(name, "text", lambda row: f"({collection.text(name, row)})::text", label, plural(label))


def _fields_of_related(collection: OwnTable, table: Source, rows: RelatedRows) -> Mapping[str, Field]:
    """The columns of related rows as fields, described by a facet of the same column in any relation to their table."""
    rows_of = collection.other_table(rows.of)
    facets = {
        facet.column: facet
        for facet in reversed([*table.facets.values()])
        if facet.related and facet.related.rows == rows_of
    }

    def field_of(name: str, column: str) -> Field:
        used = column_of(collection.types, rows.of, column)
        facet = facets.get(column)
        label = facet.label if facet else " ".join(words(name))
        listed = (table, facet.name) if facet and facet.is_listed and facet.facet != "title" else None
        sql: SqlOf = lambda row: collection.other_column(column, row)  # noqa: E731
        kind = _KINDS.get(used.base, "text")
        shown = facet.plural if facet else plural(label)
        known = facet.words if facet and listed else ()
        return Field(name, kind, sql, label, shown, used.is_array, listed=listed, words=known)

    return {name: field_of(name, column) for name, column in rows.fields.items()}


def _predicates(collection: Collection) -> dict[str, tuple[Condition, ...]]:
    return {name: _predicate(text) for name, text in collection.declaration.predicates.items()}


def _measures(collection: Collection, names: Set[str]) -> dict[str, Measure]:
    """The measures that it declares. A bare word that names no field is a text: `status != cancelled`."""
    return {
        name: Measure(
            name,
            Aggregate.model_validate(_with_texts(read_measure(value), names)),
            value.get("label") or name.replace("_", " "),
            value.get("unit"),
            tuple(value.get("synonyms", ())),
            value.get("describe"),
        )
        for name, value in collection.declaration.measures.items()
    }


def _with_texts(read: Any, names: Set[str]) -> Any:
    if isinstance(read, list):
        return [_with_texts(each, names) for each in read]
    if not isinstance(read, dict):
        return read
    other = read["value"].get("field") if isinstance(read.get("value"), dict) else None
    if other is not None and other.partition(".")[0] not in names:
        return {**read, "value": other}
    return {key: _with_texts(each, names) for key, each in read.items()}


@cache
def _predicate(text: str) -> tuple[Condition, ...]:
    return CONDITIONS.validate_python(read_predicate(text))


# ---- fields ----


def _facet_fields(
    declared: Declared, titles: Mapping[str, Link], collections: Sequence[Collection]
) -> Iterator[tuple[str, Field]]:
    collection, table = declared.collection, declared.table
    for name, declaration in collection.declaration.facets.items():
        facet = table.facets[name]
        led = titles[declaration.related or name] if declaration.of or declaration.related else None
        is_parted = bool(declaration.columns) or (
            led is None and facet.place is not None and collection.columns[declaration.column or name].is_array
        )
        field = _plain(facet, table)
        if not is_parted:
            value = title_of(collection, declaration) if declaration.of else facet.place or facet.sql
            is_array = facet.has_several and declaration.of is None
            field = replace(field, sql=value, place=facet.place and value, is_array=is_array)
        if led is not None:
            yield name, replace(field, related=led, names_rows=is_name_of_row(declaration, led, collections))
        else:
            is_title = not is_parted and declaration.columns_as(name) == collection.declaration.title
            currency_of = _field_of(collection, declaration.currency_column)
            yield name, replace(field, names_rows=is_title, currency_of=currency_of)
    if DATE in table.facets and DATE not in collection.declaration.facets:
        yield DATE, _plain(table.facets[DATE], table)


def _plain(facet: Field, table: Source) -> Field:
    """A facet of a table as a Query compares it: with values, and by its label."""
    listed = (table, facet.name) if facet.is_listed else None
    return replace(facet, listed=listed, related=None, folds=False, wording=None)


def _field_of(collection: Collection, column: str | None) -> str | None:
    """The field that a column of the row is."""
    if column is None:
        return None
    facets = collection.declaration.facets.items()
    own = (name for name, each in facets if not each.of and not each.related and each.columns_as(name) == (column,))
    return next(own, _name_of(column))


def _name_of(column: str) -> str:
    """A column's name as a field."""
    return column.replace(".", "_").replace("(", "_").replace(")", "_")


def _column_field(collection: Collection, unshown: Set[str], column: Column) -> tuple[str, Field | None]:
    """A column that is no facet, as a field; None where it holds no plain values or nobody may see it."""
    name = _name_of(column.name)
    kind = _kind(column)
    is_declared = column.name in collection.declaration.fields
    if kind is None or column.name in unshown or (_is_secret(column.name, kind) and not is_declared):
        return name, None
    field = _undeclared(name, kind, column.name, UsedColumn.of(column), column.comment)
    is_plain = column.name not in collection.declaration.markup
    field = field if is_plain else replace(field, sql=partial(collection.text, column.name))
    return name, replace(field, names_rows=collection.declaration.title == (column.name,))


def _paths_of(collection: Collection) -> Mapping[str, UsedColumn]:
    """The keys of JSON columns, seen or declared. Declared keys have the declared type."""
    return {**collection.document_keys, **{name: used for name, used in collection.columns.items() if used.path}}


def _path_field(unshown: Set[str], name: str, used: UsedColumn) -> tuple[str, Field | None]:
    """A key of a JSON column that is no facet, as a field; None where nobody may see it."""
    kind = _KINDS.get(used.base, "text")
    if covered(name, unshown) or any(_is_secret(key, kind) for key in used.path):
        return name, None
    return name, _undeclared(name, kind, ".".join(used.path[1:]), used)


def _undeclared(name: str, kind: Kind, column: str, used: UsedColumn, comment: str | None = None) -> Field:
    label = " ".join(words(column)) or column
    sql = partial(used.as_kind, column, kind)
    return Field(name, kind, sql, label, plural(label), is_array=used.is_array, unit=None, description=comment)


def _is_secret(name: str, kind: Kind) -> bool:
    """Whether an undeclared column has the name of a secret. Dates and booleans are none."""
    if kind == "text":
        return secrecy_of(name) is not None
    return kind == "number" and is_secret_number(name)


def _kind(column: Column) -> Kind | None:
    if not is_single(replace(column, is_array=False)):
        return None
    if column.base in NUMBERS:
        return "number"
    if column.base == "money":
        return "money"
    if is_date_type(column.base):
        return "date" if column.base == "date" else "datetime"
    return "boolean" if column.category == "B" else "text"
