"""`quarry apply` makes the database agree with `quarry.toml`; `quarry reconcile` makes collections agree with their tables."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from psycopg.errors import Error as PostgresError

from quarry.collections.apply import Change, apply_change, check_rows, plan_changes, stored_collections, take_turn
from quarry.collections.catalog_reading import read_catalog
from quarry.collections.checking import are_unlike, check
from quarry.collections.collection import Collection
from quarry.collections.declaration import CollectionDeclaration, DeclarationError, Lines, read_declarations
from quarry.collections.json_sample import with_documents
from quarry.collections.relations import Embedding, Relation
from quarry.collections.row_condition import with_conditions
from quarry.collections.upkeep import Refreshed, compare, embedded_tables, keep_in_step, read_collections
from quarry.collections.uses import tables_named
from quarry.local.collections import declared_sources
from quarry.local.data import REFRESH_SECONDS, embed_waiting
from quarry.local.database import LocalDatabase, open_database
from quarry.local.readable import unreadable_fields
from quarry.local.telling import note, tell
from quarry.local.terminal import progress_bar
from quarry.platform.errors import ConfigurationError, ModelError, NotFound
from quarry.platform.settings import Settings
from quarry.postgres.embed import remember_model
from quarry.postgres.load import analyze
from quarry.postgres.migrate import connect
from quarry.postgres.schema import SyncConnection
from quarry.postgres.tenants import foreign_tables
from quarry.query.execute import uncomputed
from quarry.records.sources import BUILT_IN
from quarry.retrieval.values import Counted, refresh
from quarry.schema.calendar import Calendar
from quarry.schema.source import Schema
from quarry.services.s3 import S3Object, read_text
from quarry.services.services import Services

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
            changes = planned(connection, declared_text, path, database.settings)
            for change in changes:
                tell(
                    str(change), changes=[{"action": change.action, "name": change.name, "reasons": [*change.reasons]}]
                )
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


def reconcile(name: str | None) -> bool:
    """Compare one or all collections with their tables, and read again what differs; whether all are in step. Raises NotFound."""
    with open_database() as database:
        return asyncio.run(_reconcile(database, name))


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


def planned(
    connection: SyncConnection, text: str, path: Path | S3Object, settings: Settings, only: str | None = None
) -> list[Change]:
    """The changes that make the database agree with the text of a file, or with its collection `only`. Prints warnings.

    Raises DeclarationError.
    """
    declared: Mapping[str, CollectionDeclaration] = _chosen(read_declarations(text, str(path)), only)
    catalog = read_catalog(connection, tables_named(declared))
    catalog = replace(
        catalog,
        relations={each.qualified: each for each in with_documents(connection, catalog.relations.values())},
        vectors=Embedding(settings.embedding_model_name, settings.embedding_dimensions),
    )
    declared, wrong = with_conditions(connection, declared, catalog.relations)
    lines = Lines(text, str(path))
    checked = check(declared, catalog, lines, own_schema=settings.database_schema)
    for warning in checked.warnings:
        print(warning, file=sys.stderr)
    taken = [
        lines.problem(("collections", name), f"{name!r} is a built-in type: choose another name")
        for name in declared
        if name in BUILT_IN.counted
    ]
    conditions = [lines.problem(("collections", name, "where"), message) for name, message in wrong.items()]
    if problems := [*checked.errors, *conditions, *taken, *_of_others(connection, settings, declared, lines)] or [
        *_unread(connection, settings.database_schema, declared, catalog.relations, lines),
        *(_uncomputed(declared, catalog.relations, lines) if only is None else ()),
    ]:
        raise DeclarationError(problems)
    return plan_changes(declared, _chosen(stored_collections(connection), only), catalog.relations)


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
    of_others = foreign_tables(connection, settings.database_schema, tables_named(declared))
    for name, each in declared.items():
        if not tables_named({name: each}).isdisjoint(of_others):
            yield lines.problem(("collections", name), "names a table of another tenant, or one of Quarry's own")


def _chosen(named: Mapping[str, T], only: str | None) -> dict[str, T]:
    return {name: each for name, each in named.items() if only in (None, name)}


async def fill(
    database: LocalDatabase, only: str | None = None, *, applied: Set[str] = frozenset(), embed: bool
) -> bool:
    """Read pending rows of all collections, or of one, count their values and embed them; whether all are in step.

    Those `applied` just now are counted in any case.
    """
    async with database.services() as services:
        collections = _chosen(await read_collections(services.database), only)
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


async def _reconcile(database: LocalDatabase, name: str | None) -> bool:
    async with database.services() as services:
        collections = await read_collections(services.database)
        if name is not None and name not in collections:
            raise NotFound(
                f"There is no collection {name!r}. The collections are: {', '.join(collections) or 'none yet'}."
            )
        chosen = [collections[name]] if name else [*collections.values()]
        gone = [each.name for each in chosen if not all(each.source)]
        if gone:
            note(f"{', '.join(gone)}: the table was dropped or replaced since; `quarry apply` reads quarry.toml again")
        for collection in (each for each in chosen if each.declaration.is_searched and each.name not in gone):
            differing = await compare(services.database, collection)
            fact = {"name": collection.name, "rows": differing}
            tell(f"{collection.name}: {differing:,} rows differ", differing=[fact])
        done = await _refresh(services, chosen)
        await _count(database, services, chosen)
        await _embed(database, services, chosen)
    return _report(done) and not gone


async def _refresh(services: Services, collections: Iterable[Collection]) -> dict[str, Refreshed]:
    with progress_bar("reading rows", 0) as bar:
        return await keep_in_step(
            services.database,
            collections,
            rows_max=services.rows_max,
            on_progress=lambda collection, keys: bar.advance(keys),
        )


async def _count(database: LocalDatabase, services: Services, collections: Sequence[Collection]) -> None:
    """Count what ranking and reading need: how often words occur, and which values there are."""
    await _analyze(database, [each.rows for each in collections])
    work = [Counted("values", each.rows) for each in collections]
    await refresh(services.database, work, timeout_seconds=REFRESH_SECONDS)


async def _embed(database: LocalDatabase, services: Services, collections: Sequence[Collection]) -> None:
    """Embed pending rows, and update the statistics by which Postgres plans searches."""
    if any(each.declaration.vectors for each in collections):
        await remember_model(
            services.database, services.embeddings
        )  # nothing is embedded that would have it remembered
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
