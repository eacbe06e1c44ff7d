"""What a collection can be filtered, counted and grouped by, and how its texts are embedded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import LiteralString

from quarry.collections.collection import TEXT_MAX_CHARACTERS, Collection
from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.declaration_parts import FacetDeclaration, Referred
from quarry.collections.names import table_name, words
from quarry.collections.uses import as_kind, listed
from quarry.language.word_forms import inflections, plural, singular
from quarry.platform.tables import COLLECTION_WINDOWS, EmbeddedTable
from quarry.schema.source import DATE, KEY, KINDS, FacetKind, Field, Link, Source, SqlOf, SqlOn, compared_as
from quarry.spans.numbers import CURRENCIES, unit_named

_WORDINGS: Mapping[str, str] = {"name": "by {}", "place": "in {}"}


def facet_source(collection: Collection) -> Source:
    """The collection as a source whose fields are its facets, as searches filter it: texts are compared with their spellings in
    the data, so that an index on the column serves, and conditions are worded as people say them ("in Germany"). Its values are
    stored under its name, `rows_N`.
    """
    declaration = collection.declaration
    fields = {name: _facet(collection, name, facet) for name, facet in declaration.facets.items()}
    dated = declaration.date if collection.has_own_words and declaration.date in fields else DATE
    if declaration.date and dated not in fields:
        day = partial(collection.day, declaration.date)
        fields[DATE] = Field(DATE, "date", day, "date", "dates", words=("day",), wording="{}", folds=True, facet="date")
    read_by = {name: name if each.of else each.related for name, each in declaration.facets.items()}
    links = {
        link.name: replace(link, fields={name: fields[name] for name, by in read_by.items() if by == link.name})
        for link in _links(collection)
    }
    linked = {name: replace(fields[name], related=links[by]) for name, by in read_by.items() if by}
    key = partial(_key_text, collection)
    return Source(
        collection.rows,
        label=plural(called(collection)[0]),
        nouns=called(collection),
        rows=collection.source_sql,
        key=collection.key_value,
        title=key,
        fields={KEY: Field(KEY, "text", key, "id", "ids"), **fields, **linked},
        links=links,
        guard=collection.guard,
        holds_words=collection.holds_words,
        dated=dated if dated in fields and fields[dated].facet in ("date", "year") else None,
        languages=collection.languages,
        owner_claim="sub" if collection.has_own_words and declaration.scope else None,
        dictionary_rows=collection.counted,
        owner=collection.owner,
        guarded=frozenset(_guarded(collection)),
    )


def _key_text(collection: Collection, row: LiteralString) -> LiteralString:
    return f"({collection.key_value(row)})::text"


def hides_rows(collection: Collection) -> bool:
    """Whether a caller may be unable to see some rows: they have owners, or row-level security may hide some."""
    return collection.declaration.scope_setting is not None or collection.has_row_security


def _guarded(collection: Collection) -> Iterator[str]:
    """The facets with values that a caller may not see."""
    if collection.has_own_words:
        return  # what callers may see is said by the rows' owners alone
    for name, facet in collection.declaration.facets.items():
        reached = {*tables_reached(collection.declaration, facet), *([facet.through] if facet.through else [])}
        may_hide = reached & collection.guarded_tables or any(table_name(each) in collection.owned for each in reached)
        if hides_rows(collection) or may_hide:
            yield name


def embedded_table(collection: Collection) -> EmbeddedTable:
    """How the collection's texts are embedded. They are read from the source, row by row."""
    titles = collection.declaration.headings
    columns = tuple(dict.fromkeys((*titles, *collection.declaration.embedded)))
    if collection.has_own_words:
        return EmbeddedTable(collection.rows, collection.windows, columns, titles=titles)
    # no more of a long text is embedded than is searched by words
    expressions = {
        name: f"(select left({collection.text(name)}, {TEXT_MAX_CHARACTERS}) from {collection.source_sql} x"
        f" where {collection.has_key('t.id')})"
        for name in columns
    }
    return EmbeddedTable(
        collection.rows,
        collection.windows,
        columns,
        titles=titles,
        expressions=expressions,
        declared_in=COLLECTION_WINDOWS,
    )


def called(collection: Collection) -> tuple[str, ...]:
    """The names for one row of a collection: "support ticket" and "ticket" for "support tickets"."""
    one = singular(collection.label.lower())
    return tuple(collection.declaration.nouns or dict.fromkeys((one, one.split()[-1])))


def facet_label(name: str) -> str:
    """The label of a facet without one: `unitprice` becomes "unit price", and `dept` "department"."""
    return " ".join(words(name)) or name


def _facet(collection: Collection, name: str, declaration: FacetDeclaration) -> Field:
    label = declaration.label or facet_label(name)
    is_plain = not declaration.of and not declaration.related and not declaration.expression
    is_many = is_plain and declaration.kind != "place" and collection.columns[declaration.columns_as(name)[0]].is_array
    of_currencies = {each.currency_column for each in collection.declaration.facets.values()}
    kind = "value" if declaration.through is not None and declaration.kind == "array" else declaration.kind
    value: SqlOf = partial(_value, collection, name, declaration)
    bare = value("t")[2:]
    field = Field(
        name,
        KINDS.get(kind, "text"),
        value,
        label,
        declaration.plural or plural(label),
        unit=declaration.unit
        or (unit_named((declaration.column or "", name)) if declaration.kind == "number" else None),
        currency=declaration.currency if isinstance(declaration.currency, str) else None,
        wording=declaration.wording or _wording(declaration.kind, label),
        # with inflections of the label in the languages of the rows
        words=(*declaration.words, *inflections(label.lower().split()[-1], collection.languages)),
        synonyms=(
            *((word, value) for word, values in declaration.synonyms.items() for value in values),
            *(_names_of_currencies() if is_plain and declaration.columns_as(name)[0] in of_currencies else ()),
        ),
        is_hard=declaration.hard is True,
        is_people=declaration.people,
        hops=len(list(tables_reached(collection.declaration, declaration))),
        column=bare if bare.isidentifier() else None,
    )
    # the values of collections are looked up first
    return compared_as(field, kind, value, is_many=is_many, is_spelt=not collection.has_own_words)


@cache
def _names_of_currencies() -> tuple[tuple[str, str], ...]:
    return tuple((word, code) for name, code in CURRENCIES.items() for word in (name, plural(name)))


def _wording(kind: FacetKind, label: str) -> str:
    shown = label.replace("{", "").replace("}", "")
    if kind == "boolean":
        return f"marked {shown.removeprefix('is ').removeprefix('has ')}"
    if kind in ("date", "year"):
        # "since 2000 (birth date)": rows may have another date too
        return "{}" if shown in ("date", "day", "year") else f"{{}} ({shown})"
    return _WORDINGS.get(kind, f"with the {shown} {{}}")


def _value(collection: Collection, name: str, declaration: FacetDeclaration, row: LiteralString) -> LiteralString:
    if declaration.through is not None or isinstance(declaration.title, Referred):
        return as_kind(f"{row}.quarry_value", declaration.kind)
    if declaration.of is not None:
        return as_kind(collection.called(declaration, row), declaration.kind)
    return (value_of_related if declaration.related else own_value)(collection, name, declaration, row)


def own_value(collection: Collection, name: str, declaration: FacetDeclaration, row: LiteralString) -> LiteralString:
    """The value of a facet in columns of the row."""
    if declaration.expression is not None:
        return collection.computed(declaration.expression, row)
    column, *more = declaration.columns_as(name)
    if more:
        return _joined(collection.text(each, row) for each in (column, *more))
    value = collection.value(column, declaration.kind, row)
    return f"joined_names({value})" if declaration.kind == "place" and collection.columns[column].is_array else value


def value_of_related(
    collection: Collection, name: str, declaration: FacetDeclaration, row: LiteralString
) -> LiteralString:
    """The value of a facet in a related row, whose types are unknown."""
    column, *more = declaration.columns_as(name)
    if more:
        return _joined(collection.other_text(each, row) for each in (column, *more))
    return collection.other_value(column, row, declaration.kind)


def _joined(texts: Iterable[LiteralString]) -> LiteralString:
    """A place in several columns."""
    return f"concat_ws(', ', {listed(texts)})"


def tables_reached(declaration: CollectionDeclaration, facet: FacetDeclaration) -> Iterator[str]:
    """The tables that a facet leads to, up to the one with the value."""
    if facet.related is not None:
        yield declaration.related[facet.related].of
    if facet.of is not None:
        yield facet.of
    title = facet.title
    while isinstance(title, Referred):
        yield title.of
        title = title.title


def _links(collection: Collection) -> Iterator[Link]:
    """How rows lead to the rows that facets are read from."""
    for name, facet in collection.declaration.facets.items():
        if facet.of is None:
            continue
        of = collection.other_table(facet.of)
        if facet.through is not None:
            of = collection.joined(facet)
        elif isinstance(facet.title, Referred):
            of = collection.reached(facet)
        on = refers(collection, facet)
        yield Link(name, name.replace("_", " "), on, facet.through is not None, rows=of)
    for name, rows in collection.declaration.related.items():
        yield Link(
            name,
            name.replace("_", " "),
            partial(collection.belongs, rows),
            True,
            rows=collection.other_table(rows.of),
            is_indexed=collection.has_own_words or name in collection.indexed_relations,
            owner=rows.by if collection.has_own_words else None,
        )


def refers(collection: Collection, facet: FacetDeclaration) -> SqlOn:
    """Whether a row refers to another by a facet."""
    if facet.through is not None:
        return lambda row, other: f"{other}.quarry_row = {collection.column(collection.key[0], row)}"
    key, by, of = facet.key or "id", facet.by or "", facet.of or ""
    if isinstance(facet.title, Referred):
        return lambda row, other: f"{other}.quarry_key = {collection.column(by, row)}"
    return lambda row, other: (
        f"{collection.column(key, other)} = {collection.column(by, row)}{collection.of_same_owner(of, row, other)}"
    )
