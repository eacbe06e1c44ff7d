"""What a collection can be filtered, counted and grouped by, and how its texts are embedded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import LiteralString

from quarry.collections.collection import TEXT_MAX_CHARACTERS, Collection
from quarry.collections.declaration import FacetDeclaration, FacetKind
from quarry.collections.names import words
from quarry.collections.own_table import OwnTable
from quarry.collections.reference_declarations import Referred
from quarry.collections.row_sql import quoted
from quarry.language.word_forms import inflections, plural, singular
from quarry.platform.tables import COLLECTION_WINDOWS, EmbeddedTable
from quarry.retrieval.facets import NUMERIC_KINDS, Facet, Related, SearchTable
from quarry.spans.quantities import unit_named

_WORDINGS: Mapping[str, str] = {"name": "by {}", "place": "in {}"}
DATE = "date"
"""The facet that a collection with a date has, whatever the column is called."""


def search_table(collection: Collection) -> SearchTable:
    """The collection's source as a searched table; its values are known by the name of `rows_N`."""
    declaration = collection.declaration
    facets = [_facet(collection, name, facet) for name, facet in declaration.facets.items()]
    if declaration.date and DATE not in declaration.facets:
        day = collection.day(declaration.date)
        facets.append(Facet(DATE, "date", day, "date", "dates", words=("day",)))
    table = SearchTable(
        collection.rows,
        nouns=called(collection),
        facets=tuple(facets),
        date=DATE if any(each.name == DATE and each.kind == "date" for each in facets) else None,
        related=tuple(_relations(collection)),
        guarded=frozenset(_guarded(collection)),
    )
    return table if isinstance(collection, OwnTable) else _beside(table, collection)


def _beside(table: SearchTable, collection: Collection) -> SearchTable:
    """The table where its words are in another than its rows."""
    scope = collection.declaration.scope if collection.declaration.scope_setting else None
    return replace(
        table,
        key=collection.key_text("t"),
        has_key=collection.has_key_among("t"),
        holds_words=f"{collection.key_text('t')} in (select w.id from {collection.rows} w where {_holds_words(collection)})",
        source=collection.source_sql,
        guard=is_callers(collection, collection.text(scope, "t")) if scope else "true",
        values_of=f"coalesce({collection.text(scope, 't')}, '')" if scope else None,
        languages=collection.languages,
        reckons=True,
    )


def _holds_words(collection: Collection) -> LiteralString:
    """Whether a row `w` of words holds those of a text, each read in the row's language."""
    held = [
        (language, f"w.text_search @@ (select parsed_query({{0}}, {quoted(language)}::regconfig))")
        for language in collection.languages
    ]
    if collection.declaration.language_column is None:
        return held[0][1]
    return " or ".join(f"w.language = {quoted(language)} and {holds}" for language, holds in held)


def is_callers(collection: Collection, scope: LiteralString) -> LiteralString:
    """Whether what `scope` says is the caller's, for a collection with a setting that says who that is. A row without an owner is
    nobody's.
    """
    return f"{scope} = nullif(current_setting({quoted(collection.declaration.scope_setting or '')}, true), '')"


def hides_rows(collection: Collection) -> bool:
    """Whether a caller may not see all rows: they have owners, or row-level security may hide some."""
    return collection.declaration.scope_setting is not None or collection.has_row_security


def _guarded(collection: Collection) -> Iterator[str]:
    """The facets with values that a caller may not see."""
    for name, facet in collection.declaration.facets.items():
        reached = {*tables_reached(facet), *([facet.through] if facet.through else [])}
        if hides_rows(collection) or reached & collection.guarded_tables:
            yield name


def embedded_table(collection: Collection) -> EmbeddedTable:
    """How the collection's texts are embedded: read from the source, row by row."""
    titles = collection.declaration.headings
    columns = tuple(dict.fromkeys((*titles, *collection.declaration.embedded)))
    if isinstance(collection, OwnTable):
        return EmbeddedTable(collection.rows, collection.windows, columns, titles=titles)
    # of a gigantic text no more is embedded than is searched by its words
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
    """What a collection's rows are called, in the singular: of "support tickets", "support ticket" and "ticket"."""
    one = singular(collection.label.lower())
    return tuple(collection.declaration.nouns or dict.fromkeys((one, one.split()[-1])))


def facet_label(name: str) -> str:
    """What people call a facet that says nothing of it: `unitprice` is a unit price, and `dept` a department."""
    return " ".join(words(name)) or name


def _facet(collection: Collection, name: str, given: FacetDeclaration) -> Facet:
    label = given.label or facet_label(name)
    is_many = not given.of and not given.expression and collection.columns[given.column or name].is_array
    kind = "value" if given.through is not None and given.kind == "array" else given.kind
    return Facet(
        name,
        kind,
        _value(collection, name, given),
        label,
        given.plural or plural(label),
        # with other forms of what it is called, in the languages of the rows
        words=(*given.words, *inflections(label.lower().split()[-1], collection.languages)),
        wording=given.wording or _wording(given.kind, label),
        synonyms=tuple(given.synonyms.items()),
        is_hard=given.hard is True,
        is_people=given.people,
        currency=given.currency,
        related=name if given.of else None,
        is_many=is_many,
        unit=given.unit or (unit_named((given.column or "", name)) if given.kind == "number" else None),
        steps=len(list(tables_reached(given))),
    )


def _wording(kind: FacetKind, label: str) -> str:
    shown = label.replace("{", "").replace("}", "")
    if kind == "boolean":
        return f"marked {shown.removeprefix('is ').removeprefix('has ')}"
    if kind in ("date", "year"):
        # "since 2000 (birth date)", where rows have another date too
        return "{}" if shown in ("date", "day", "year") else f"{{}} ({shown})"
    return _WORDINGS.get(kind, f"with the {shown} {{}}")


def _value(collection: Collection, name: str, given: FacetDeclaration) -> LiteralString:
    if given.through is not None or isinstance(given.title, Referred):
        return _as_kind("r.quarry_value", given.kind)
    if given.of is not None:
        return _as_kind(collection.called(given, "r"), given.kind)
    if given.expression is not None:
        return collection.reckoned(given.expression)
    column = given.column or name
    value = collection.column(column, "t")
    if given.kind == "date":
        return collection.day(column)
    if isinstance(collection, OwnTable):
        return value
    if given.kind in NUMERIC_KINDS:
        return _as_kind(value, given.kind)
    if given.kind == "boolean":
        return value if collection.columns[column].base == "boolean" else f"({value}::numeric <> 0)"
    return f"{value}::text[]" if collection.columns[column].is_array else f"{value}::text"


def _as_kind(value: LiteralString, kind: FacetKind) -> LiteralString:
    """A value as the kind of its facet has it in SQL."""
    if kind == "date":
        return f"({value})::date"
    return f"{value}::numeric" if kind in NUMERIC_KINDS else value


def tables_reached(given: FacetDeclaration) -> Iterator[str]:
    """The tables that references lead to, up to the one that holds the value."""
    if given.of is not None:
        yield given.of
    title = given.title
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
        yield Related(name, of, on) if isinstance(collection, OwnTable) else Related(name, facet.of, on, source=of)
