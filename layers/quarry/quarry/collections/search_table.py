"""What a collection can be filtered, counted and grouped by, and how its texts are embedded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import LiteralString

from quarry.collections.collection import TEXT_MAX_CHARACTERS, Collection, OwnTable
from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.declaration_parts import FacetDeclaration, Referred
from quarry.collections.names import table_name, words
from quarry.collections.row_sql import listed, quoted
from quarry.language.word_forms import inflections, plural, singular
from quarry.platform.tables import COLLECTION_WINDOWS, EmbeddedTable
from quarry.schema.facets import NUMERIC_KINDS, Facet, FacetKind, Related, SearchTable
from quarry.spans.quantities import CURRENCIES, unit_named

_WORDINGS: Mapping[str, str] = {"name": "by {}", "place": "in {}"}
DATE = "date"
"""The name of the facet for the date of a collection."""


def search_table(collection: Collection) -> SearchTable:
    """The source of the collection as a searched table. Its values are stored under the name `rows_N`."""
    declaration = collection.declaration
    facets = [_facet(collection, name, facet) for name, facet in declaration.facets.items()]
    is_own = isinstance(collection, OwnTable)
    dated = declaration.date if is_own and declaration.date in declaration.facets else DATE
    if declaration.date and dated not in declaration.facets:
        day = collection.day(declaration.date)
        facets.append(Facet(DATE, "date", day, "date", "dates", words=("day",)))
    table = SearchTable(
        collection.rows,
        nouns=called(collection),
        facets=tuple(facets),
        date=dated if any(each.name == dated and each.kind in ("date", "year") for each in facets) else None,
        related=tuple(_relations(collection)),
    )
    if not is_own:
        return _with_words_apart(table, collection)
    return replace(table, where=declaration.where.sql if declaration.where else "true", scope=declaration.scope)


def _with_words_apart(table: SearchTable, collection: Collection) -> SearchTable:
    """The table of a collection whose words are not in the source itself."""
    scope = collection.declaration.scope if collection.declaration.scope_setting else None
    return replace(
        table,
        key=collection.key_text("t"),
        has_key=collection.has_key_among("t"),
        holds_words=f"{collection.key_text('t')} in (select w.id from {collection.rows} w where {_holds_words(collection)})",
        source=collection.source_sql,
        guard=collection.guard(),
        values_of=f"coalesce({collection.text(scope, 't')}, '')" if scope else None,
        guarded=frozenset(_guarded(collection)),
        languages=collection.languages,
        spelt=True,
        reckons=True,
    )


def _holds_words(collection: Collection) -> LiteralString:
    """Whether a row `w` of words matches a query, each read in the row's language."""
    held = [
        (language, f"w.text_search @@ (select parsed_query({{0}}, {quoted(language)}::regconfig))")
        for language in collection.languages
    ]
    if collection.declaration.language_column is None:
        return held[0][1]
    return " or ".join(f"w.language = {quoted(language)} and {holds}" for language, holds in held)


def hides_rows(collection: Collection) -> bool:
    """Whether a caller may be unable to see some rows: they have owners, or row-level security may hide some."""
    return collection.declaration.scope_setting is not None or collection.has_row_security


def _guarded(collection: Collection) -> Iterator[str]:
    """The facets with values that a caller may not see."""
    for name, facet in collection.declaration.facets.items():
        reached = {*tables_reached(collection.declaration, facet), *([facet.through] if facet.through else [])}
        may_hide = reached & collection.guarded_tables or any(table_name(each) in collection.owned for each in reached)
        if hides_rows(collection) or may_hide:
            yield name


def embedded_table(collection: Collection) -> EmbeddedTable:
    """How the collection's texts are embedded. They are read from the source, row by row."""
    titles = collection.declaration.headings
    columns = tuple(dict.fromkeys((*titles, *collection.declaration.embedded)))
    if isinstance(collection, OwnTable):
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


def _facet(collection: Collection, name: str, declaration: FacetDeclaration) -> Facet:
    label = declaration.label or facet_label(name)
    is_plain = not declaration.of and not declaration.related and not declaration.expression
    is_many = is_plain and declaration.kind != "place" and collection.columns[declaration.columns_as(name)[0]].is_array
    kind = "value" if declaration.through is not None and declaration.kind == "array" else declaration.kind
    value = _value(collection, name, declaration)
    is_bare = isinstance(collection, OwnTable) and value[:2] in ("t.", "r.") and value[2:].isidentifier()
    return Facet(
        name,
        kind,
        value[2:] if is_bare else value,
        label,
        declaration.plural or plural(label),
        # with inflections of the label in the languages of the rows
        words=(*declaration.words, *inflections(label.lower().split()[-1], collection.languages)),
        wording=declaration.wording or _wording(declaration.kind, label),
        synonyms=(
            *((word, value) for word, values in declaration.synonyms.items() for value in values),
            *(
                _names_of_currencies()
                if is_plain and declaration.columns_as(name)[0] in _currencies(collection)
                else ()
            ),
        ),
        is_hard=declaration.hard is True,
        is_people=declaration.people,
        currency=declaration.currency if isinstance(declaration.currency, str) else None,
        related=name if declaration.of else declaration.related,
        is_many=is_many,
        unit=declaration.unit
        or (unit_named((declaration.column or "", name)) if declaration.kind == "number" else None),
        steps=len(list(tables_reached(collection.declaration, declaration))),
    )


def _currencies(collection: Collection) -> set[str]:
    """The columns that hold codes of currencies."""
    return {each.currency_column for each in collection.declaration.facets.values() if each.currency_column}


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


def _value(collection: Collection, name: str, declaration: FacetDeclaration) -> LiteralString:
    if declaration.through is not None or isinstance(declaration.title, Referred):
        return as_kind("r.quarry_value", declaration.kind)
    if declaration.of is not None:
        return as_kind(collection.called(declaration, "r"), declaration.kind)
    return (value_of_related if declaration.related else own_value)(
        collection, name, declaration, "r" if declaration.related else "t"
    )


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
    value = collection.other_column(column, row, declaration.kind)
    if isinstance(collection, OwnTable):
        return value
    if declaration.kind in ("array", "boolean"):
        return f"{value}::text[]" if declaration.kind == "array" else f"{value}::boolean"
    return as_kind(value if declaration.kind in _TYPED else f"{value}::text", declaration.kind)


_TYPED = NUMERIC_KINDS | {"date"}


def _joined(texts: Iterable[LiteralString]) -> LiteralString:
    """A place in several columns."""
    return f"concat_ws(', ', {listed(texts)})"


def as_kind(value: LiteralString, kind: FacetKind) -> LiteralString:
    """A value of unknown type, as the kind of its facet."""
    if kind == "date":
        return f"({value})::date"
    return f"{value}::numeric" if kind in NUMERIC_KINDS else value


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


def _relations(collection: Collection) -> Iterator[Related]:
    for name, facet in collection.declaration.facets.items():
        if facet.of is None:
            continue
        if facet.through is not None:
            key = collection.column(collection.key[0], "t")
            yield Related(name, facet.of, f"r.quarry_row = {key}", source=collection.joined(facet), has_several=True)
            continue
        if isinstance(facet.title, Referred):
            on = f"r.quarry_key = {collection.column(facet.by or '', 't')}"
            yield Related(name, facet.of, on, source=collection.reached(facet))
            continue
        of = collection.other_table(facet.of)
        on = f"{collection.column(facet.key or 'id', 'r')} = {collection.column(facet.by or '', 't')}"
        if isinstance(collection, OwnTable):
            yield Related(name, of, on + collection.of_same_owner(facet.of))
        else:
            yield Related(name, facet.of, on, source=of)
    for name, rows in collection.declaration.related.items():
        on, of = collection.belongs(rows, "t", "r"), collection.other_table(rows.of)
        is_own = isinstance(collection, OwnTable)
        yield (
            Related(name, of, on, rows.by)
            if is_own
            else Related(
                name, rows.of, on, source=of, has_several=True, is_indexed=name in collection.indexed_relations
            )
        )
