"""What a collection can be filtered, counted and grouped by, and how its texts are embedded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import LiteralString

from quarry.core.collections.collection import Collection, OwnTable, quoted
from quarry.core.collections.declaration import FacetDeclaration
from quarry.core.retrieval.facets import Facet, Related, SearchTable, identifier
from quarry.core.tables import COLLECTION_WINDOWS, EmbeddedTable

_WORDINGS: Mapping[str, str] = {"boolean": "{}", "date": "{}", "name": "by {}", "place": "in {}"}
DATE = "date"
"""The facet that a collection with a date has, whatever the column is called."""


def search_table(collection: Collection) -> SearchTable:
    """The collection's source as a searched table; its values are known by the name of `rows_N`."""
    declaration = collection.declaration
    label = declaration.label or collection.name.replace("_", " ")
    facets = [_facet(collection, name, facet) for name, facet in declaration.facets.items()]
    if declaration.date and DATE not in declaration.facets:
        facets.append(Facet(DATE, "date", collection.day(declaration.date), "date", "dates", words=("day",)))
    table = SearchTable(
        collection.rows,
        nouns=declaration.nouns or nouns(label),
        facets=tuple(facets),
        date=DATE if declaration.date else None,
        related=tuple(_relations(collection)),
        called_by=declaration.called_by,
    )
    return table if isinstance(collection, OwnTable) else _beside(table, collection)


def _beside(table: SearchTable, collection: Collection) -> SearchTable:
    """The table where its words are in another than its rows."""
    scope = collection.declaration.scope if collection.declaration.scope_setting else None
    return replace(
        table,
        key=collection.key_text("t"),
        has_key=collection.has_key_among("t"),
        holds_words=f"{collection.key_text('t')} in"
        f" (select w.id from {collection.rows} w where w.text_search @@ parsed_query({{}}))",
        source=collection.source_sql,
        guard=is_callers(collection, collection.text(scope, "t")) if scope else "true",
        values_of=f"coalesce({collection.text(scope, 't')}, '')" if scope else None,
    )


def is_callers(collection: Collection, scope: LiteralString) -> LiteralString:
    """Whether what `scope` says is the caller's, for a collection with a setting that says who that is."""
    return f"{scope} = current_setting({quoted(collection.declaration.scope_setting or '')}, true)"


def embedded_table(collection: Collection) -> EmbeddedTable:
    """How the collection's texts are embedded: read from the source, row by row."""
    titles = collection.declaration.headings
    columns = tuple(dict.fromkeys((*titles, *collection.declaration.embedded)))
    if isinstance(collection, OwnTable):
        return EmbeddedTable(collection.rows, collection.windows, columns, titles=titles)
    expressions = {
        name: f"(select {collection.text(name)} from {collection.source_sql} x where {collection.has_key('t.id')})"
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


def nouns(label: str) -> tuple[str, ...]:
    """What a collection's rows are called, singular first: of "support tickets", "support ticket" and "ticket"."""
    singular = _singular(label.lower())
    return tuple(dict.fromkeys((singular, singular.split()[-1])))


def _singular(label: str) -> str:
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if label.endswith(ending):
            return label[: -len(ending)] + instead
    return label[:-1] if label.endswith("s") and not label.endswith(("ss", "us", "is")) else label


def _facet(collection: Collection, name: str, given: FacetDeclaration) -> Facet:
    label = given.label or name.replace("_", " ")
    is_many = given.by is None and collection.columns[given.column or name].is_array
    return Facet(
        name,
        given.kind,
        _value(collection, name, given),
        label,
        given.plural or (label if label.endswith("s") else f"{label}s"),
        words=given.words,
        units=(label,) if given.kind == "number" else (),
        leads=given.leads,
        wording=given.wording or _WORDINGS.get(given.kind, f"with the {label} {{}}"),
        synonyms=tuple(given.synonyms.items()),
        is_hard=given.hard is True,
        is_counted=given.hard == "counted",
        is_people=given.people,
        currency=given.currency,
        related=name if given.by else None,
        is_many=is_many,
    )


def _value(collection: Collection, name: str, given: FacetDeclaration) -> LiteralString:
    if given.by is not None:
        title = given.title or "name"
        return f"r.{title}" if isinstance(collection, OwnTable) else "r." + identifier(title) + "::text"
    column = given.column or name
    value = collection.column(column, "t")
    if given.kind == "date":
        return collection.day(column)
    if isinstance(collection, OwnTable):
        return value
    if given.kind in ("number", "money", "year"):
        return f"{value}::numeric"
    if given.kind == "boolean":
        return value
    return f"{value}::text[]" if collection.columns[column].is_array else f"{value}::text"


def _relations(collection: Collection) -> Iterator[Related]:
    for name, facet in collection.declaration.facets.items():
        if facet.by is None or facet.of is None:
            continue
        if isinstance(collection, OwnTable):
            yield Related(name, collection.other_table(facet.of), f"r.id = t.{facet.by}")
        else:
            on = f"r.{identifier(facet.key or 'id')} = t.{identifier(facet.by)}"
            yield Related(name, facet.of, on, source=collection.other_table(facet.of))
