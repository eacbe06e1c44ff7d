"""What can be asked of tables as a draft declares them: a table for people to read before they apply it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from quarry.collections.apply import resolved
from quarry.collections.collection import Collection, make_collection
from quarry.collections.declaration_file import read_declarations
from quarry.collections.naming import table_name
from quarry.collections.relations import Relation
from quarry.collections.search_table import search_table
from quarry.collections.used_columns import used_columns
from quarry.query.of_collection import Declared, sources_of
from quarry.query.schema import Field, Kind, Source

HEADINGS = ("collection", "what", "of it")
_GROUPED: Mapping[str, tuple[Kind, ...]] = {
    "summed, averaged": ("number", "money"),
    "grouped by": ("text",),
    "by period": ("date", "datetime", "year"),
    "yes or no": ("boolean",),
}


def drafted_sources(text: str, relations: Sequence[Relation]) -> dict[str, tuple[Collection, Source]]:
    """The collections that a draft declares of these tables, by name, as sources of what it names of their columns."""
    by_name = {relation.qualified: relation for relation in relations}
    declared: list[Declared] = []
    for number, (name, declaration) in enumerate(read_declarations(text).items(), 1):
        relation = by_name[table_name(declaration.source)]
        whole = resolved(declaration, relation, by_name)
        collection = make_collection(number, name, whole, relation, used_columns(whole, relation, by_name))
        named = {*collection.columns, *declaration.fields}
        columns = [column for column in relation.columns if column.name in named]
        declared.append(Declared(collection, search_table(collection), columns))
    sources = sources_of(declared)
    return {each.collection.name: (each.collection, sources[each.collection.name]) for each in declared}


def explained(text: str, relations: Sequence[Relation]) -> Iterator[tuple[str, str, str]]:
    """Rows of the table: of each collection what it is searched, summed and grouped by, and what its rows lead to."""
    rows = {relation.qualified: relation.rows for relation in relations}
    for name, (collection, source) in drafted_sources(text, relations).items():
        known = rows[collection.source]
        yield name, "counted", "rows" if known is None else f"about {known:,} rows"
        for what, fields in _of(collection, source):
            if fields:
                yield "", what, ", ".join(fields)


def _of(collection: Collection, source: Source) -> Iterator[tuple[str, list[str]]]:
    declaration = collection.declaration
    shown = [field for name, field in source.fields.items() if name in declaration.facets or name == source.dated]
    yield "searched", [*declaration.text]
    for what, kinds in _GROUPED.items():
        yield what, [_told(field) for field in shown if field.kind in kinds]
    yield (
        "leads to",
        [f"{each.name} ({each.target or 'its key or name'})" for each in source.links.values() if not each.is_many],
    )
    yield "has many", [each.name for each in source.links.values() if each.is_many]
    yield "also asked", [*declaration.fields]


def _told(field: Field) -> str:
    measured = field.currency or field.unit or ("money" if field.kind == "money" else None)
    return f"{field.name} ({measured})" if measured else field.name
