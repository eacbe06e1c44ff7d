"""What a collection can be filtered, counted and grouped by, and how its texts are embedded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import LiteralString

from quarry.core.collections.collection import Collection, quoted
from quarry.core.collections.declaration import FacetDeclaration, FacetKind, table_name
from quarry.core.language.inflections import inflections
from quarry.core.language.nouns import plural, singular
from quarry.core.query.dated import events_of
from quarry.core.query.reckoning import is_additive
from quarry.core.retrieval.facets import Facet, Related, SearchTable, identifier
from quarry.core.tables import COLLECTION_WINDOWS, EmbeddedTable

_WORDINGS: Mapping[str, str] = {"date": "{}", "name": "by {}", "place": "in {}"}
DATE = "date"
"""The facet that a collection with a date has, whatever the column is called."""


def search_table(collection: Collection) -> SearchTable:
    """The collection's source as a searched table; its values are known by the name of `rows_N`."""
    declaration = collection.declaration
    label = declaration.label or collection.name.replace("_", " ")
    facets = [_facet(collection, name, facet) for name, facet in declaration.facets.items()]
    if declaration.date and DATE not in declaration.facets:
        events = events_of(declaration.date)
        facets.append(
            Facet(DATE, "date", collection.day(declaration.date), "date", "dates", words=("day",), events=events)
        )
    facets = _with_amount(facets)
    setting = declaration.scope_setting
    return SearchTable(
        collection.rows,
        nouns=(*nouns(label), *inflections(label.lower().split()[-1], collection.languages)),
        facets=tuple(facets),
        date=DATE if declaration.date else None,
        key=collection.key_text("t"),
        has_key=collection.has_key_among("t"),
        holds_words=f"{collection.key_text('t')} in (select w.id from {collection.rows} w where {_holds_words(collection)})",
        source=collection.source_sql,
        guard=is_callers(collection, collection.text(declaration.scope, "t"))
        if declaration.scope and setting
        else "true",
        values_of=f"coalesce({collection.text(declaration.scope, 't')}, '')" if declaration.scope and setting else None,
        related=tuple(_relations(collection)),
        languages=collection.languages,
        reckons=True,
    )


def named_by_others(collection: Collection, others: Iterable[Collection]) -> Iterator[Facet]:
    """The collection's title, as the facets by which others refer to it: who names a thing means it, and what is of it."""
    titles = collection.declaration.title_columns
    known = {*collection.declaration.facets}
    for other in others:
        for name, facet in other.declaration.facets.items():
            if facet.of is None or name in known or (facet.title,) != titles:
                continue
            if table_name(facet.of) == collection.source and other.id != collection.id:
                known.add(name)
                yield _facet(collection, name, FacetDeclaration(kind=facet.kind, column=facet.title, label=facet.label))


def _holds_words(collection: Collection) -> LiteralString:
    """Whether a row `w` of words holds those of a text, each read in the row's language."""
    held = [
        (language, f"w.text_search @@ parsed_query({{0}}, {quoted(language)}::regconfig)")
        for language in collection.languages
    ]
    if collection.declaration.language_column is None:
        return held[0][1]
    return " or ".join(f"w.language = {quoted(language)} and {holds}" for language, holds in held)


def _with_amount(facets: Sequence[Facet]) -> list[Facet]:
    """The facets, the only sum of money that a row has being called its amount too."""
    money = [facet for facet in facets if facet.kind == "money"]
    if len(money) != 1 or not is_additive(money[0]):
        return list(facets)
    return [
        replace(each, words=tuple(dict.fromkeys((*each.words, "amount")))) if each is money[0] else each
        for each in facets
    ]


def is_callers(collection: Collection, scope: LiteralString) -> LiteralString:
    """Whether what `scope` says is the caller's, for a collection with a setting that says who that is."""
    return f"{scope} = current_setting({quoted(collection.declaration.scope_setting or '')}, true)"


def embedded_table(collection: Collection) -> EmbeddedTable:
    """How the collection's texts are embedded: read from the source, row by row."""
    titles = collection.declaration.title_columns
    columns = tuple(dict.fromkeys((*titles, *collection.declaration.embedded)))
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
    one = singular(label.lower())
    return tuple(dict.fromkeys((one, one.split()[-1])))


def _facet(collection: Collection, name: str, given: FacetDeclaration) -> Facet:
    label = given.label or name.replace("_", " ")
    is_many = given.by is None and given.through is None and collection.columns[given.column or name].is_array
    kind = "value" if given.through is not None and given.kind == "array" else given.kind
    return Facet(
        name,
        kind,
        _value(collection, name, given),
        label,
        plural(label),
        words=(*given.words, *inflections(label.lower().split()[-1], collection.languages)),
        units=(label,) if given.kind == "number" else (),
        wording=_wording(given.kind, label),
        is_hard=True,
        currency=given.currency,
        related=name if given.of else None,
        is_many=is_many,
        events=events_of(name, given.column or "", given.label or "") if given.kind in ("date", "year") else (),
    )


def _wording(kind: FacetKind, label: str) -> str:
    shown = label.replace("{", "").replace("}", "")
    if kind == "boolean":
        return f"marked {shown.removeprefix('is ').removeprefix('has ')}"
    return _WORDINGS.get(kind, f"with the {shown} {{}}")


def _value(collection: Collection, name: str, given: FacetDeclaration) -> LiteralString:
    if given.through is not None:
        return "r.quarry_value"
    if given.of is not None:
        return _title(given, "r")
    column = given.column or name
    value = collection.column(column, "t")
    if given.kind == "date":
        return collection.day(column)
    if given.kind in ("number", "money", "year"):
        return f"{value}::numeric"
    if given.kind == "boolean":
        return value
    return f"{value}::text[]" if collection.columns[column].is_array else f"{value}::text"


def _title(given: FacetDeclaration, row: LiteralString) -> LiteralString:
    """What a row of the other table is called, as text; null where a column alone is."""
    if given.title and given.title_columns == (given.title,):
        return f"{row}.{identifier(given.title)}::text"
    parts = [f"{row}.{identifier(part)}" if is_column else quoted(part) for part, is_column in given.title_parts]
    return f"nullif(btrim(concat({', '.join(parts)})), '')"


def _relations(collection: Collection) -> Iterator[Related]:
    for name, facet in collection.declaration.facets.items():
        if facet.of is None:
            continue
        of, key = identifier(*table_name(facet.of)), identifier(facet.key or "id")
        if facet.through is None:
            yield Related(name, facet.of, f"r.{key} = t.{identifier(facet.by or '')}", source=of)
            continue
        joins = (
            f"(select j.{identifier(facet.by or '')} as quarry_row, {_title(facet, 'o')} as quarry_value"
            f" from {identifier(*table_name(facet.through))} j join {of} o on o.{key} = j.{identifier(facet.to or '')})"
        )
        yield Related(name, facet.of, f"r.quarry_row = {collection.column(collection.key[0], 't')}", source=joins)
