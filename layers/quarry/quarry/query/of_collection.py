"""A declared collection as a source: its facets, its other plain columns and its predicates become fields, and what its rows
refer to, or are referred to by, becomes links. Pure.

A facet with `by` and `of` is a field, the title of the row that is referred to, and a link of the same name to that row:
`agent` and `agent.email`. Collections that refer to this one are links by their names: `count(tickets)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, LiteralString

from quarry.collections.collection import Collection
from quarry.collections.declaration_parts import (
    FacetDeclaration,
    Referred,
    RelatedRows,
    is_template,
)
from quarry.collections.facets import OwnTable, column_of, facet_label, refers, row_nouns, value_of_related
from quarry.collections.names import table_name, words
from quarry.collections.predicate import read_measure, read_predicate
from quarry.collections.relations import MOMENT, NUMBER, TRUTH, Column, covered, is_date_type
from quarry.collections.secrets import is_secret_number, secrecy_of
from quarry.collections.uses import NUMBERS, UsedColumn, as_kind, is_single
from quarry.language.word_forms import plural, singular
from quarry.schema.algebra import CONDITIONS, Aggregate, Condition
from quarry.schema.source import DATE, KINDS, Field, Kind, Link, Measure, Source, SqlHoldsWords, SqlOf, SqlOn

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
    # declared keys of JSON columns have the declared type
    keys = {**collection.document_keys, **{name: used for name, used in collection.columns.items() if used.path}}
    paths = (_path_field(unshown, name, used) for name, used in keys.items())
    fields = dict(_facet_fields(declared, titles, collections)) | {
        name: field
        for name, field in (*columns, *paths)
        if field is not None and name not in declaration.facets and name not in declaration.links
    }
    return Source(
        collection.name,
        label=collection.label,
        nouns=row_nouns(collection),
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
    for by, parent in declaration.kept_with.items():
        of = table_name(parent.of)[1]
        yield f"leaves out rows whose {by} names a row of {of} that is left out by {', '.join(parent.where.columns)}"


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
        several = facet.plural if facet else plural(label)
        other_names = facet.words if facet and listed else ()
        return Field(name, kind, sql, label, several, used.is_array, listed=listed, words=other_names)

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


def _with_texts(definition: Any, names: Set[str]) -> Any:
    if isinstance(definition, list):
        return [_with_texts(each, names) for each in definition]
    if not isinstance(definition, dict):
        return definition
    other = definition["value"].get("field") if isinstance(definition.get("value"), dict) else None
    if other is not None and other.partition(".")[0] not in names:
        return {**definition, "value": other}
    return {key: _with_texts(each, names) for key, each in definition.items()}


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


def links_of(collection: Collection, others: Sequence[Collection]) -> dict[str, Link]:
    """The links of a collection to `others`, itself among them, and to the tables that its facets name."""
    forth = {link.name: link for link in _Forth(collection, _by_table(others)).links()}
    return {**forth, **{link.name: link for link in _links_back(collection, others, {*forth})}}


def titles_of(collection: Collection, others: Sequence[Collection], links: Mapping[str, Link]) -> dict[str, Link]:
    """The links that facets are read by: those of `links`, but to all related rows of a table where a collection leaves some
    out.
    """
    of_tables = _Forth(collection, _by_table(others), is_of_table=True).links()
    return {each.name: links[each.name] if links[each.name].rows == each.rows else each for each in of_tables}


def _by_table(others: Sequence[Collection]) -> dict[tuple[str, str], Collection]:
    # of several collections of one table, the first with owners, else the first
    owned = [each for each in others if each.declaration.scope_setting is not None]
    return {each.source: each for each in reversed([*owned, *others])}


def title_of(collection: Collection, facet: FacetDeclaration) -> SqlOf:
    """The value of the row that a facet refers to, directly or over other rows."""
    ends = facet.model_copy(update={"title": _ends(facet)[1]})
    return lambda row: as_kind(collection.referred_title(ends, row), facet.kind)


def is_name_of_row(facet: FacetDeclaration, link: Link, others: Sequence[Collection]) -> bool:
    """Whether the value of a facet is what the row that it refers to is called."""
    title = _ends(facet)[1]
    target = next((each for each in others if each.name == link.target), None)
    return title in target.declaration.title if target else facet.kind == "name"


def _ends(facet: FacetDeclaration) -> tuple[str, str]:
    """The table that a facet's value is in, and its title there."""
    table, title = facet.of or "", facet.title or "name"
    while isinstance(title, Referred):
        table, title = title.of, title.title
    return table, title


@dataclass(frozen=True)
class _Forth:
    """The links to what rows refer to or are part of. `declared` are the collections by table."""

    collection: Collection
    declared: Mapping[tuple[str, str], Collection]
    is_of_table: bool = False
    """Whether they lead to all related rows of a table, not only to those of its collection."""

    def links(self) -> Iterator[Link]:
        declaration = self.collection.declaration
        for name, facet in declaration.facets.items():
            if facet.of is not None:
                yield self._by_facet(name, facet)
        for name, link in declaration.links.items():
            yield self._by_columns(name, facet_label(name), link.of or "", link.key, link.by, link.key)
        for name, rows in declaration.related.items():
            yield self._to_related(name, rows)
        parent = declaration.part_of
        name = singular(table_name(parent.of)[1]).lower() if parent else ""
        if parent is not None and name.isidentifier() and name not in declaration.facets:
            key = parent.key or "id"
            yield self._by_columns(name, name.replace("_", " "), parent.of, (key,), (parent.by,), parent.show)

    def _by_facet(self, name: str, facet: FacetDeclaration) -> Link:
        """The row at the end of one reference, or of several, one after the other; or the rows that another table joins a row
        with.
        """
        collection, is_many, rows = self.collection, facet.through is not None, None
        if is_many:
            of = self._rows(facet.of or "")
            rows = collection.joined_rows(facet, "o.*", of, facet.key or "id", facet.by or "", facet.to or "")
        elif isinstance(facet.title, Referred):
            rows = collection.chained(facet, lambda last: f"{last}.*", self._rows)
        table, title = _ends(facet)
        # the one declared field of a table that is no collection
        own = "title" if is_template(title) else title
        fields = {own: _field(own, KINDS[facet.kind], title_of(collection, facet))}
        on, key = refers(collection, facet), self._key_of(facet)
        label = facet.label or facet_label(name)
        return self._to(name, label, on, table, fields, rows, is_many=is_many, key=key, is_shared=is_many)

    def _key_of(self, facet: FacetDeclaration) -> SqlOf:
        """The key of the row at the end of a facet's references."""
        key, title = facet.key, facet.title
        while isinstance(title, Referred):
            key, title = title.key, title.title
        return lambda row: self.collection.column(key or "id", row)

    def _rows(self, table: str) -> LiteralString:
        """The rows of a table that links lead to. Those of a collection are guarded as its source is."""
        of = self.declared.get(table_name(table))
        return self.collection.other_table(table) if of is None else of.table_sql

    def _to(
        self,
        name: str,
        label: str,
        on: SqlOn,
        table: str,
        fields: Mapping[str, Field],
        rows: LiteralString | None = None,
        *,
        leads_to_all: bool = True,
        **options: Any,
    ) -> Link:
        """The link to the collection of a table, or to the table with these fields where it has none. A reference
        `leads_to_all` rows of the table, as facets show them, also to those that its collection leaves out.
        """
        target = self.declared.get(table_name(table))
        if target is None:
            return Link(name, label, on, rows=rows or self.collection.other_table(table), fields=fields, **options)
        if rows is None and leads_to_all and target.source_sql != target.table_sql:
            rows = target.table_sql
        return Link(name, label, on, target=target.name, rows=rows, **options)

    def _by_columns(
        self, name: str, label: str, table: str, key: Sequence[str], by: Sequence[str], columns: Iterable[str]
    ) -> Link:
        """The row of a table whose `key` equals the columns `by` of a row."""
        collection, pairs = self.collection, list(zip(key, by, strict=True))
        fields = {each: _field(each, "text", _text(collection, each)) for each in columns}

        def on(row: LiteralString, other: LiteralString) -> LiteralString:
            return _are_equal(collection, pairs, other, row)

        return self._to(name, label, on, table, fields, is_many=False)

    def _to_related(self, name: str, rows: RelatedRows) -> Link:
        """The rows of another table that belong to a row. Where that table is no collection, they have the fields declared."""
        collection = self.collection
        fields = {field: _field(field, "text", _text(collection, column)) for field, column in rows.fields.items()}
        for each, facet in collection.declaration.facets.items():
            if facet.related == name:
                field = _field(each, KINDS[facet.kind], partial(value_of_related, collection, each, facet))
                fields[each] = replace(field, is_array=facet.kind == "array")
        return self._to(
            name, facet_label(name), partial(collection.belongs, rows), rows.of, fields,
            leads_to_all=self.is_of_table, is_many=True, is_indexed=name in collection.indexed_relations,
        )  # fmt: skip


def _are_equal(
    collection: Collection, pairs: Sequence[tuple[str, str]], row: LiteralString, other: LiteralString
) -> LiteralString:
    """That each column of a row equals its pair in another."""
    equal = [f"{collection.column(mine, row)} = {collection.column(theirs, other)}" for mine, theirs in pairs]
    return " and ".join(equal)


def _text(collection: Collection, column: str) -> SqlOf:
    return lambda row: collection.other_text(column, row)


def _field(name: str, kind: Kind, sql: SqlOf) -> Field:
    label = " ".join(words(name)) or name
    return Field(name, kind, sql, label, plural(label))


@dataclass(frozen=True)
class _Reference:
    """How rows of `other` refer to rows of a collection: by the facet, or the parent, that is called `name`."""

    other: Collection
    name: str
    by: tuple[str, ...]
    key: tuple[str, ...]
    through: FacetDeclaration | None = None


def _links_back(collection: Collection, others: Sequence[Collection], forth: set[str]) -> Iterator[Link]:
    """The rows of each collection that refer to a row, by the collection's name; where it refers in several ways, or the name is
    taken, with the reference behind it: `flights_origin`.
    """
    declaration = collection.declaration
    names = forth | {*declaration.facets, *declaration.predicates, *declaration.links}
    for other in others:
        # of several facets over one reference the first is called as it is: `mover`, not the `party` of the mover
        by_columns = {(each.by, each.through is None): each for each in reversed([*_references(other, collection)])}
        references = [*reversed(by_columns.values())]
        for each in references:
            is_plain = len(references) == 1 and other.name not in names
            name = other.name if is_plain else f"{other.name}_{each.name}"
            if name not in names:
                names.add(name)
                yield _link_back(collection, name, other.label.lower(), each)


def _references(other: Collection, collection: Collection) -> Iterator[_Reference]:
    for name, facet in other.declaration.facets.items():
        if facet.of is None or table_name(facet.of) != collection.source:
            continue
        if facet.through is None:
            yield _Reference(other, name, (facet.by or "",), (facet.key or "id",))
        else:
            yield _Reference(other, name, (facet.to or "",), (facet.key or "id",), facet)
    for name, link in other.declaration.links.items():
        if table_name(link.of or "") == collection.source:
            yield _Reference(other, name, link.by, link.key)
    parent = other.declaration.part_of
    if parent is not None and table_name(parent.of) == collection.source:
        yield _Reference(other, "part_of", (parent.by,), (parent.key or "id",))


def _link_back(collection: Collection, name: str, label: str, reference: _Reference) -> Link:
    other, facet = reference.other, reference.through
    pairs = list(zip(reference.by, reference.key, strict=True))
    if facet is None:
        on: SqlOn = lambda row, rows: _are_equal(other, pairs, rows, row)  # noqa: E731
        return Link(name, label, on, True, other.name, is_indexed=not other.indexed_columns.isdisjoint(reference.by))
    [key] = reference.key
    joined = other.joined_rows(facet, "o.*", other.source_sql, other.key[0], facet.to or "", facet.by or "")
    return Link(
        name,
        label,
        lambda row, rows: f"{rows}.quarry_row = {collection.column(key, row)}",
        True,
        other.name,
        joined,
        is_shared=True,
    )
