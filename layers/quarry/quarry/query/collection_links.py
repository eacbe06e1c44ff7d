"""What rows of a declared collection refer to, and what refers to them, as the links of a source. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import LiteralString

from quarry.collections.collection import Collection
from quarry.collections.declaration_parts import (
    FacetDeclaration,
    LinkDeclaration,
    Parent,
    Referred,
    RelatedRows,
    is_template,
)
from quarry.collections.facets import facet_label, refers, value_of_related
from quarry.collections.names import table_name, words
from quarry.collections.row_sql import as_kind
from quarry.language.word_forms import plural, singular
from quarry.schema.source import KINDS, Field, Kind, Link, SqlOf, SqlOn


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
    return {each.source: each for each in reversed([*filter(_has_owners, others), *others])}


def _has_owners(collection: Collection) -> bool:
    return collection.declaration.scope_setting is not None


def title_of(collection: Collection, facet: FacetDeclaration) -> SqlOf:
    """The value of the row that a facet refers to, directly or over other rows."""
    ends = facet.model_copy(update={"title": _ends(facet)[1]})
    return lambda row: as_kind(collection.called(ends, row), facet.kind)


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
        for name, facet in self.collection.declaration.facets.items():
            if facet.through is not None:
                yield self._through(name, facet)
            elif facet.of is not None:
                yield self._by(name, facet)
        for name, link in self.collection.declaration.links.items():
            yield self._to(name, link)
        for name, rows in self.collection.declaration.related.items():
            yield self._to_related(name, rows)
        parent = self.collection.declaration.part_of
        name = singular(table_name(parent.of)[1]).lower() if parent else ""
        if parent is not None and name.isidentifier() and name not in self.collection.declaration.facets:
            yield self._to_parent(name, parent)

    def _by(self, name: str, facet: FacetDeclaration) -> Link:
        """The row at the end of one reference, or of several, one after the other."""
        is_chain = isinstance(facet.title, Referred)
        rows = self.collection.chained(facet, lambda last: f"{last}.*", self._rows) if is_chain else None
        return self._link(name, facet, rows)

    def _through(self, name: str, facet: FacetDeclaration) -> Link:
        """The rows that another table joins a row with."""
        collection = self.collection
        of = self._rows(facet.of or "")
        rows = collection.joined_rows(facet, "o.*", of, facet.key or "id", facet.by or "", facet.to or "")
        return self._link(name, facet, rows)

    def _link(self, name: str, facet: FacetDeclaration, rows: LiteralString | None) -> Link:
        label, end = facet.label or facet_label(name), _ends(facet)[0]
        is_many, on = facet.through is not None, refers(self.collection, facet)
        key = self._key_of(facet)
        if (target := self.declared.get(table_name(end))) is not None:
            return Link(name, label, on, is_many, target.name, rows or self._all_rows(target), is_shared=is_many)
        shown = self._title_alone(facet)
        return Link(name, label, on, is_many, None, rows or self.collection.other_table(end), shown, key, is_many)

    def _key_of(self, facet: FacetDeclaration) -> SqlOf:
        """The key of the row at the end of a facet's references."""
        key, title = facet.key, facet.title
        while isinstance(title, Referred):
            key, title = title.key, title.title
        return lambda row: self.collection.column(key or "id", row)

    def _all_rows(self, target: Collection) -> LiteralString | None:
        """The table of a collection that leaves out some rows: a reference leads to those too, as facets show them."""
        return None if target.source_sql == target.table_sql else target.table_sql

    def _title_alone(self, facet: FacetDeclaration) -> Mapping[str, Field]:
        """The one declared field of a table that is no collection."""
        title = _ends(facet)[1]
        name = "title" if is_template(title) else title
        return {name: _field(name, KINDS[facet.kind], title_of(self.collection, facet))}

    def _rows(self, table: str) -> LiteralString:
        """The rows of a table that links lead to. Those of a collection are guarded as its source is."""
        of = self.declared.get(table_name(table))
        return self.collection.other_table(table) if of is None else of.table_sql

    def _to(self, name: str, link: LinkDeclaration) -> Link:
        collection, pairs = self.collection, list(zip(link.key, link.by, strict=True))

        def on(row: LiteralString, other: LiteralString) -> LiteralString:
            return _are_equal(collection, pairs, other, row)

        target = self.declared.get(table_name(link.of or ""))
        label = facet_label(name)
        if target is not None:
            return Link(name, label, on, False, target.name, self._all_rows(target))
        shown = {key: _field(key, "text", _text(collection, key)) for key in link.key}
        return Link(name, label, on, False, None, collection.other_table(link.of or ""), shown)

    def _to_related(self, name: str, rows: RelatedRows) -> Link:
        """The rows of another table that belong to a row. Where that table is no collection, they have the fields declared."""
        collection, label = self.collection, facet_label(name)
        is_indexed = name in collection.indexed_relations
        target = self.declared.get(table_name(rows.of))
        on = partial(collection.belongs, rows)
        if target is not None:
            all_rows = self._all_rows(target) if self.is_of_table else None
            return Link(name, label, on, True, target.name, all_rows, is_indexed=is_indexed)
        shown = {field: _field(field, "text", _text(collection, column)) for field, column in rows.fields.items()}
        shown |= {
            each: replace(
                _field(each, KINDS[facet.kind], partial(value_of_related, collection, each, facet)), is_array=is_array
            )
            for each, facet in collection.declaration.facets.items()
            if facet.related == name
            for is_array in [facet.kind == "array"]
        }
        return Link(name, label, on, True, None, collection.other_table(rows.of), shown, is_indexed=is_indexed)

    def _to_parent(self, name: str, parent: Parent) -> Link:
        collection, key = self.collection, parent.key or "id"

        def on(row: LiteralString, other: LiteralString) -> LiteralString:
            return f"{collection.column(key, other)} = {collection.column(parent.by, row)}"

        target = self.declared.get(table_name(parent.of))
        if target is not None:
            return Link(name, name.replace("_", " "), on, False, target.name, self._all_rows(target))
        shown = {column: _field(column, "text", _text(collection, column)) for column in parent.show}
        return Link(name, name.replace("_", " "), on, False, None, collection.other_table(parent.of), shown)


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
    taken = forth | {*declaration.facets, *declaration.predicates, *declaration.links}
    for other in others:
        # of several facets over one reference the first is called as it is: `mover`, not the `party` of the mover
        by_columns = {(each.by, each.through is None): each for each in reversed([*_references(other, collection)])}
        references = [*reversed(by_columns.values())]
        for each in references:
            is_plain = len(references) == 1 and other.name not in taken
            name = other.name if is_plain else f"{other.name}_{each.name}"
            if name not in taken:
                taken.add(name)
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
