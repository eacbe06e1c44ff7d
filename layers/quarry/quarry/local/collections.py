"""Collections on the command line: `quarry map` drafts their file."""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from quarry.collections.apply import resolved
from quarry.collections.catalog_reading import relations_named, relations_of_schema, with_documents, with_markup
from quarry.collections.collection import Collection, make_collection
from quarry.collections.declaration import CollectionDeclaration, read_declarations
from quarry.collections.facets import facet_source
from quarry.collections.names import nearest, shown_name, table_name
from quarry.collections.relations import Embedding, Relation
from quarry.collections.uses import used_columns
from quarry.local.database import database_url
from quarry.local.readable import columns_of_field, unreadable_fields
from quarry.local.terminal import make_console, write_table
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.errors import ConfigurationError
from quarry.platform.settings import Settings
from quarry.postgres.migrate import connect
from quarry.postgres.schema import SyncConnection
from quarry.query.of_collection import Declared, sources_of
from quarry.schema.source import Field, Kind, Source
from quarry_map.drafting import Draft, draft
from quarry_map.table_guess import NOT_READ, date_kinds


def map_schema(schema: str, output: Path | None, *, force: bool, explain: bool = False) -> None:
    """Draft quarry.toml from the tables of a schema, write it to `output` or stdout, and summarise it on stderr. With `explain`,
    print a table of what can be asked instead.

    Raises ConfigurationError if the schema does not exist, or the file exists and `force` is not set.
    """
    if output is not None and output.exists() and not force:
        raise ConfigurationError(f"{output} already exists: --force overwrites it")
    settings = Settings.from_environment()
    with database_url(settings) as url, connect(url, settings.database_schema) as connection:
        _check_schema(connection, schema, settings.database_schema)
        relations = with_markup(connection, with_documents(connection, relations_of_schema(connection, schema)))
        others = relations_named(connection, _referred_elsewhere(relations))
        made = Embedding(settings.embedding_model_name, settings.embedding_dimensions)
        # the local model: drafting makes no network calls
        kinds = asyncio.run(date_kinds(relations, LocalEmbedding())) if LocalEmbedding.available() else NOT_READ

        def drafting(relations: Sequence[Relation]) -> Draft:
            return draft(schema, relations, others.values(), made, kinds)

        drafted, relations = _readable(connection, settings.database_schema, relations, [*others.values()], drafting)
    if output is not None:
        output.write_text(drafted.text, encoding="utf-8")
    if explain:
        write_table(make_console(), HEADINGS, explained(drafted.text, [*relations, *others.values()]))
    elif output is None:
        print(drafted.text, end="")
    print(_summary(drafted, relations, output), file=sys.stderr)


def _readable(
    connection: SyncConnection,
    schema: str,
    relations: Sequence[Relation],
    others: Sequence[Relation],
    drafting: Callable[[Sequence[Relation]], Draft],
) -> tuple[Draft, list[Relation]]:
    """A draft whose fields can all be read, and the tables without the columns that cannot. `schema` is Quarry's."""
    drafted = drafting(relations)
    sources = drafted_sources(drafted.text, [*relations, *others])
    unreadable: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for collection, source in sources.values():
        for name, why in unreadable_fields(connection, schema, source).items():
            columns = columns_of_field(collection.declaration, name)
            unreadable[collection.source] |= dict.fromkeys(columns, f"cannot be read: {shown_name(why)}")
    kept = [each.without(unreadable.get(each.qualified, {})) for each in relations]
    return (drafting(kept) if unreadable else drafted), kept


def _check_schema(connection: SyncConnection, schema: str, own: str) -> None:
    if schema == own:
        raise ConfigurationError(f"The schema {schema} belongs to Quarry: name the schema of your tables.")
    rows = connection.execute("select nspname::text from pg_namespace where nspname !~ '^pg_'").fetchall()
    known = [name for (name,) in rows if name not in (own, "information_schema")]
    if schema not in known:
        raise ConfigurationError(f"There is no schema {schema!r} in this database{nearest(schema, known)}")


def _referred_elsewhere(relations: list[Relation]) -> set[tuple[str, str]]:
    named = {reference.target for relation in relations for reference in relation.references}
    return named - {relation.qualified for relation in relations}


def _summary(drafted: Draft, relations: list[Relation], output: Path | None) -> str:
    commented = f" and {len(drafted.commented)} commented out" if drafted.commented else ""
    line = f"drafted {len(drafted.collections)} of {len(relations)} tables and views{commented}, left out {len(drafted.left_out)}"
    unknown = sum(relation.rows is None and relation.kind == "table" for relation in relations)
    if unknown:
        line += f"; {unknown} have no statistics: run `analyze` in SQL for a better draft"
    return f"{line}: {output}" if output else line


HEADINGS = ("collection", "use", "fields")
_GROUPED: Mapping[str, tuple[Kind, ...]] = {
    "summed, averaged": ("number", "money"),
    "grouped by": ("text",),
    "by period": ("date", "datetime", "year"),
    "yes or no": ("boolean",),
}


def drafted_sources(text: str, relations: Sequence[Relation]) -> dict[str, tuple[Collection, Source]]:
    """The collections that a draft declares, by name, each with its source, which has the columns that the draft names."""
    return declared_sources(read_declarations(text), {relation.qualified: relation for relation in relations})


def declared_sources(
    declarations: Mapping[str, CollectionDeclaration],
    by_name: Mapping[tuple[str, str], Relation],
    *,
    with_all: bool = False,
) -> dict[str, tuple[Collection, Source]]:
    """Like `drafted_sources`, of declarations over the tables `by_name`; `with_all` the columns that may be asked for too."""
    declared: list[Declared] = []
    for number, (name, declaration) in enumerate(declarations.items(), 1):
        relation = by_name[table_name(declaration.source)]
        whole = resolved(declaration, relation, by_name)
        collection = make_collection(number, name, whole, relation, used_columns(whole, relation, by_name))
        named = {*collection.columns, *declaration.fields}
        columns = [column for column in relation.columns if with_all or column.name in named]
        declared.append(Declared(collection, facet_source(collection), columns))
    sources = sources_of(declared)
    return {each.collection.name: (each.collection, sources[each.collection.name]) for each in declared}


def explained(text: str, relations: Sequence[Relation]) -> Iterator[tuple[str, str, str]]:
    """Rows of the table: for each collection what is searched, summed and grouped by, and which rows it leads to."""
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
        yield what, [_measured(field) for field in shown if field.kind in kinds]
    yield (
        "leads to",
        [f"{each.name} ({each.target or 'its key or name'})" for each in source.links.values() if not each.is_many],
    )
    yield "has many", [each.name for each in source.links.values() if each.is_many]
    yield "also asked", [*declaration.fields]


def _measured(field: Field) -> str:
    currency = f"in the row's {field.currency_of}" if field.currency_of else "money"
    measured = field.currency or field.unit or (currency if field.kind == "money" else None)
    return f"{field.name} ({measured})" if measured else field.name
