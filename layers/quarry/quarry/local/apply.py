"""`quarry apply` makes the database agree with `quarry.toml`; `quarry reconcile` makes collections agree with their tables."""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import LiteralString, TypeVar

from psycopg.errors import Error as PostgresError
from psycopg.errors import QueryCanceled
from psycopg.sql import SQL

from quarry.collections.apply import (
    Change,
    apply_change,
    check_rows,
    plan_changes,
    read_collections,
    resolve,
    stored_collections,
    take_turn,
)
from quarry.collections.catalog_reading import (
    read_catalog,
    relations_by_name,
    relations_of_schema,
    trial,
    with_conditions,
    with_documents,
    with_markup,
)
from quarry.collections.checking import are_unlike, check
from quarry.collections.collection import Collection, make_collection
from quarry.collections.declaration import CollectionDeclaration, DeclarationError, Lines, read_declarations
from quarry.collections.facets import facet_source
from quarry.collections.names import comment_name, nearest, table_name
from quarry.collections.relations import Embedding, Relation
from quarry.collections.upkeep import Refreshed, compare, embedded_tables, keep_in_step
from quarry.collections.uses import referenced_tables, used_columns
from quarry.local.data import REFRESH_SECONDS, embed_waiting
from quarry.local.database import LocalDatabase, database_url, open_database
from quarry.local.output import note, tell
from quarry.local.terminal import make_console, progress_bar, write_table
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.errors import ConfigurationError, ModelError, NotFound
from quarry.platform.settings import Settings
from quarry.postgres.embed import remember_model
from quarry.postgres.load import analyze
from quarry.postgres.migrate import connect
from quarry.postgres.schema import SyncConnection, is_installed
from quarry.postgres.tenants import foreign_tables
from quarry.query.execute import uncomputed
from quarry.query.of_collection import Declared, sources_of
from quarry.records.tables import NAMES as BUILT_IN_NAMES
from quarry.retrieval.values import CountedPart, refresh
from quarry.schema.source import DATE, Calendar, Field, Kind, Schema, Source
from quarry.services.s3 import S3Object, read_text
from quarry.services.services import Services
from quarry_map.drafting import Draft, draft
from quarry_map.table_guess import NO_KINDS, date_kinds


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
        referred_to = {reference.target for relation in relations for reference in relation.references}
        others = relations_by_name(connection, referred_to - {relation.qualified for relation in relations})
        embedding = Embedding(settings.embedding_model_name, settings.embedding_dimensions)
        # the local model: drafting makes no network calls
        kinds = asyncio.run(date_kinds(relations, LocalEmbedding())) if LocalEmbedding.available() else NO_KINDS

        def drafting(relations: Sequence[Relation]) -> Draft:
            return draft(schema, relations, others.values(), embedding, kinds)

        drafted, relations = _readable_draft(
            connection, settings.database_schema, relations, [*others.values()], drafting
        )
    if output is not None:
        output.write_text(drafted.text, encoding="utf-8")
    if explain:
        write_table(make_console(), HEADINGS, explanation(drafted.text, [*relations, *others.values()]))
    elif output is None:
        print(drafted.text, end="")
    print(_summary(drafted, relations, output), file=sys.stderr)


def _readable_draft(
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
            unreadable[collection.source] |= dict.fromkeys(columns, f"cannot be read: {comment_name(why)}")
    readable = [each.without(unreadable.get(each.qualified, {})) for each in relations]
    return (drafting(readable) if unreadable else drafted), readable


def _check_schema(connection: SyncConnection, schema: str, own: str) -> None:
    if schema == own:
        raise ConfigurationError(f"The schema {schema} belongs to Quarry: name the schema of your tables.")
    rows = connection.execute("select nspname::text from pg_namespace where nspname !~ '^pg_'").fetchall()
    schemas = [name for (name,) in rows if name not in (own, "information_schema")]
    if schema not in schemas:
        raise ConfigurationError(f"There is no schema {schema!r} in this database{nearest(schema, schemas)}")


def _summary(drafted: Draft, relations: list[Relation], output: Path | None) -> str:
    commented = f" and {len(drafted.commented)} commented out" if drafted.commented else ""
    line = f"drafted {len(drafted.collections)} of {len(relations)} tables and views{commented}, left out {len(drafted.skipped)}"
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
    """Like `drafted_sources`, of declarations over the tables `by_name`; `with_all`: with their other columns too."""
    declared: list[Declared] = []
    for number, (name, declaration) in enumerate(declarations.items(), 1):
        relation = by_name[table_name(declaration.source)]
        whole = resolve(declaration, relation, by_name)
        collection = make_collection(number, name, whole, relation, used_columns(whole, relation, by_name))
        names = {*collection.columns, *declaration.fields}
        columns = [column for column in relation.columns if with_all or column.name in names]
        declared.append(Declared(collection, facet_source(collection), columns))
    sources = sources_of(declared)
    return {each.collection.name: (each.collection, sources[each.collection.name]) for each in declared}


def explanation(text: str, relations: Sequence[Relation]) -> Iterator[tuple[str, str, str]]:
    """Rows of the table: for each collection what is searched, summed and grouped by, and which rows it leads to."""
    rows = {relation.qualified: relation.rows for relation in relations}
    for name, (collection, source) in drafted_sources(text, relations).items():
        count = rows[collection.source]
        yield name, "counted", "rows" if count is None else f"about {count:,} rows"
        for what, fields in _of(collection, source):
            if fields:
                yield "", what, ", ".join(fields)


def _of(collection: Collection, source: Source) -> Iterator[tuple[str, list[str]]]:
    declaration = collection.declaration
    shown_fields = [
        field for name, field in source.fields.items() if name in declaration.facets or name == source.dated
    ]
    yield "searched", [*declaration.text]
    for what, kinds in _GROUPED.items():
        yield what, [_with_unit(field) for field in shown_fields if field.kind in kinds]
    yield (
        "leads to",
        [f"{each.name} ({each.target or 'its key or name'})" for each in source.links.values() if not each.is_many],
    )
    yield "has many", [each.name for each in source.links.values() if each.is_many]
    yield "also asked", [*declaration.fields]


def _with_unit(field: Field) -> str:
    currency = f"in the row's {field.currency_of}" if field.currency_of else "money"
    measured = field.currency or field.unit or (currency if field.kind == "money" else None)
    return f"{field.name} ({measured})" if measured else field.name


ROWS_SAMPLED = 20
"""How many rows are read."""
_NO_FUNCTION = "does not exist"
READ_SECONDS = 5
"""The time limit of reading them. A slower view is not judged."""


def unreadable_fields(connection: SyncConnection, schema: str, source: Source) -> dict[str, str]:
    """Postgres' reason for each field of a source that cannot be read. Empty where its rows cannot be read at all.

    `schema` is Quarry's. Before a database is migrated, fields that need a function of Quarry are not judged.
    """
    own = {name: field.sql("r") for name, field in source.fields.items() if field.related is None}
    if not own or _problem(connection, source, [*own.values()]) is None or _problem(connection, source, ()) is not None:
        return {}
    problems = {name: _problem(connection, source, [sql]) for name, sql in own.items()}
    is_migrated = is_installed(connection, schema)
    return {
        name: problem for name, problem in problems.items() if problem and (is_migrated or _NO_FUNCTION not in problem)
    }


def _problem(connection: SyncConnection, source: Source, fields: Sequence[LiteralString]) -> str | None:
    columns = SQL(", ").join(map(SQL, fields or ("1",)))
    statement = SQL("select {} from {} r limit {}").format(columns, SQL(source.rows), ROWS_SAMPLED)
    try:
        with trial(connection, READ_SECONDS):
            connection.execute(statement)
    except QueryCanceled:
        return None
    except PostgresError as error:
        return error.diag.message_primary or error.__class__.__name__
    return None


def columns_of_field(declared: CollectionDeclaration, name: str) -> tuple[str, ...]:
    """The columns of its own table that a field is read from."""
    facet = declared.facets.get(name)
    if facet is not None:
        return facet.used_columns or (name,)
    return (declared.date,) if name == DATE and declared.date else (name,)


T = TypeVar("T")


def apply_file(path: Path | S3Object, *, only_plan: bool, embed: bool) -> bool:
    """Make the database agree with a file, and fill new collections; whether all are in step. Changes are printed first.

    Raises DeclarationError, which names every wrong line, and ConfigurationError if there is no file.
    """
    declared_text = read_declared(path)
    with open_database() as database:
        schema = database.settings.database_schema
        with connect(database.url, schema) as connection:
            wait_for_others(connection)
            changes = plan_file(connection, declared_text, path, database.settings)
            for each in changes:
                fact = {"action": each.action, "name": each.name, "reasons": [*each.reasons]}
                tell(str(each), changes=[fact])
            if only_plan:
                return True
            # with a quota all changes or none, else each by itself
            with connection.transaction() if database.rows_max else nullcontext():
                for change in changes:
                    apply_change(connection, change, schema)
                check_rows(connection, database.rows_max)
        applied = {change.name for change in changes if change.action != "keep"}
        return asyncio.run(fill(database, applied=applied, embed=embed))


def wait_for_others(connection: SyncConnection) -> None:
    """Wait for other processes that change declarations in this database, and say so."""
    take_turn(connection, lambda: note("waiting for another `quarry apply` or `quarry load` to finish"))


def read_declared(path: Path | S3Object) -> str:
    """The text of a file of declarations. Raises ConfigurationError if there is none."""
    if isinstance(path, S3Object):
        if (text := read_text(path)) is None:
            raise ConfigurationError(f"There is no {path}.")
        return text
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigurationError(f"There is no {path}: `quarry map > {path}` drafts one from your tables.") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path} is not UTF-8.") from None


def plan_file(
    connection: SyncConnection, text: str, path: Path | S3Object, settings: Settings, only: str | None = None
) -> list[Change]:
    """The changes that make the database agree with the text of a file, or with its collection `only`. Prints warnings.

    Raises DeclarationError.
    """
    declared: Mapping[str, CollectionDeclaration] = _only(read_declarations(text, str(path)), only)
    catalog = read_catalog(connection, referenced_tables(declared))
    relations = {each.qualified: each for each in with_documents(connection, catalog.relations.values())}
    embedding = Embedding(settings.embedding_model_name, settings.embedding_dimensions)
    catalog = replace(catalog, relations=relations, vectors=embedding)
    declared, wrong = with_conditions(connection, declared, catalog.relations)
    lines = Lines(text, str(path))
    checked = check(declared, catalog, lines, own_schema=settings.database_schema)
    for warning in checked.warnings:
        print(warning, file=sys.stderr)
    name_clashes = [
        lines.problem(("collections", name), f"{name!r} is a built-in type: choose another name")
        for name in declared
        if name in BUILT_IN_NAMES
    ]
    conditions = [lines.problem(("collections", name, "where"), message) for name, message in wrong.items()]
    if problems := [
        *checked.errors,
        *conditions,
        *name_clashes,
        *_of_others(connection, settings, declared, lines),
    ] or [
        *_unread(connection, settings.database_schema, declared, catalog.relations, lines),
        *(_uncomputed(declared, catalog.relations, lines) if only is None else ()),
    ]:
        raise DeclarationError(problems)
    return plan_changes(declared, _only(stored_collections(connection), only), catalog.relations)


def _unread(
    connection: SyncConnection,
    schema: str,
    declared: Mapping[str, CollectionDeclaration],
    relations: Mapping[tuple[str, str], Relation],
    lines: Lines,
) -> Iterator[str]:
    """What is wrong with fields that cannot be read."""
    for name, (collection, source) in declared_sources(declared, relations).items():
        for field, why in unreadable_fields(connection, schema, source).items():
            path = ("facets", field) if field in collection.declaration.facets else ("source",)
            yield lines.problem(("collections", name, *path), f"{field!r} cannot be read: {why}")


def _uncomputed(
    declared: Mapping[str, CollectionDeclaration], relations: Mapping[tuple[str, str], Relation], lines: Lines
) -> Iterator[str]:
    """What is wrong with measures that cannot be computed."""
    sources = {name: source for name, (_, source) in declared_sources(declared, relations, with_all=True).items()}
    calendar = next((each.calendar for each in declared.values() if each.calendar is not None), Calendar())
    for name, source in sources.items():
        for measure, why in uncomputed(source, Schema(sources, calendar)).items():
            yield lines.problem(("collections", name, "measures", measure), why)


def _of_others(
    connection: SyncConnection, settings: Settings, declared: Mapping[str, CollectionDeclaration], lines: Lines
) -> Iterator[str]:
    """A problem for each collection that names a table of another tenant, or of Quarry."""
    of_others = foreign_tables(connection, settings.database_schema, referenced_tables(declared))
    for name, each in declared.items():
        if not referenced_tables({name: each}).isdisjoint(of_others):
            yield lines.problem(("collections", name), "names a table of another tenant, or one of Quarry's own")


def _only(by_name: Mapping[str, T], only: str | None) -> dict[str, T]:
    return {name: each for name, each in by_name.items() if only in (None, name)}


async def fill(
    database: LocalDatabase, only: str | None = None, *, applied: Set[str] = frozenset(), embed: bool
) -> bool:
    """Read pending rows of all collections, or of one, count their values and embed them; whether all are in step.

    Those `applied` just now are counted in any case.
    """
    async with database.services() as services:
        collections = _only(await read_collections(services.database), only)
        done = await _refresh(services, collections.values())
        # its facets may have changed, though no row did
        changed = [each for name, each in collections.items() if name in applied or (name in done and done[name].keys)]
        await _count(database, services, changed)
        if embed:
            await _embed(database, services, [*collections.values()])
            await _doubt_vectors(services, [each for name, each in collections.items() if name in applied])
    return _report(done)


async def _doubt_vectors(services: Services, collections: Sequence[Collection]) -> None:
    """Warn of vectors in the owner's tables that another model made, judged by their texts."""
    for each in collections:
        with suppress(ModelError, PostgresError):  # both are reported by what needs them
            if each.declaration.vectors and await are_unlike(services.database, each, services.embeddings):
                note(
                    f"{each.name}: the vectors in {each.declaration.vectors.column} differ from those that "
                    f"{services.embeddings.name} makes of the same texts: set the model that made them "
                    "(OPENAI_EMBEDDING_MODEL), or delete `vectors` to have the texts embedded"
                )


async def reconcile(database: LocalDatabase, name: str | None) -> bool:
    """Compare one or all collections with their tables, and read again what differs; whether all are in step. Raises NotFound."""
    async with database.services() as services:
        collections = await read_collections(services.database)
        if name is not None and name not in collections:
            names = ", ".join(collections) or "none yet"
            raise NotFound(f"There is no collection {name!r}. The collections are: {names}.")
        selected = [collections[name]] if name else [*collections.values()]
        sourceless = [each.name for each in selected if not all(each.source)]
        if sourceless:
            note(
                f"{', '.join(sourceless)}: the table was dropped or replaced since; `quarry apply` reads quarry.toml again"
            )
        for collection in (each for each in selected if each.declaration.is_searched and each.name not in sourceless):
            differing = await compare(services.database, collection)
            fact = {"name": collection.name, "rows": differing}
            tell(f"{collection.name}: {differing:,} rows differ", differing=[fact])
        done = await _refresh(services, selected)
        await _count(database, services, selected)
        await _embed(database, services, selected)
    return _report(done) and not sourceless


async def _refresh(services: Services, collections: Iterable[Collection]) -> dict[str, Refreshed]:
    with progress_bar("reading rows", 0) as bar:
        return await keep_in_step(services.database, collections, rows_max=services.rows_max, on_progress=bar.advance)


async def _count(database: LocalDatabase, services: Services, collections: Sequence[Collection]) -> None:
    """Count what ranking and reading need: how often words occur, and which values there are."""
    await _analyze(database, [each.rows for each in collections])
    work = [CountedPart("values", each.rows) for each in collections]
    await refresh(services.database, work, timeout_seconds=REFRESH_SECONDS)


async def _embed(database: LocalDatabase, services: Services, collections: Sequence[Collection]) -> None:
    """Embed pending rows, and update the statistics by which Postgres plans searches."""
    if any(each.declaration.vectors for each in collections):
        # nothing is embedded that would have it remembered
        await remember_model(services.database, services.embeddings)
    await embed_waiting(services, embedded_tables(collections))
    await _analyze(database, [each.windows for each in collections])


async def _analyze(database: LocalDatabase, tables: Iterable[str]) -> None:
    for table in tables:
        await asyncio.to_thread(analyze, database.url, table, schema=database.settings.database_schema)


def _report(done: Mapping[str, Refreshed]) -> bool:
    for name, each in done.items():
        fact = {"name": name, "rows": each.keys, "problem": each.problem}
        # another process may have read what waited
        line = f"{name}: {each.keys:,} rows read" if each.keys else f"{name}: up to date"
        tell(None if each.problem else line, collections=[fact])
        if each.problem:
            print(f"{name} is out of date: {each.problem}", file=sys.stderr)
    return not any(each.problem for each in done.values())
