"""`quarry doctor`: checks this installation and says how to fix it. Changes nothing and calls no paid model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import Literal

import psycopg
from psycopg import Error as PostgresError
from psycopg.rows import class_row
from psycopg.sql import SQL, Identifier
from rich.text import Text

from quarry import catalog
from quarry.collections.apply import hash_of_functions, read_collections, stored_collections
from quarry.collections.catalog_reading import relations_by_name, trial, with_documents
from quarry.collections.checking import bypass, policy_warning
from quarry.collections.collection import ENGLISH, Collection
from quarry.collections.declaration import FILE_NAME
from quarry.collections.relations import Relation
from quarry.collections.secrets import exposures
from quarry.collections.upkeep import embedded_tables
from quarry.collections.uses import Relations, UsedColumn, declared_source, referenced_tables
from quarry.local.apply import plan_file, read_declared
from quarry.local.database import LocalDatabase, database_url, embedded_directory
from quarry.local.embedded_postgres import EmbeddedPostgresError
from quarry.local.output import write_json
from quarry.local.terminal import make_console, printable
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.errors import ConfigurationError, ModelUnavailable, QuarryError
from quarry.platform.settings import LOCAL_EMBEDDING_MODEL, Settings
from quarry.postgres.embed import read_backlog
from quarry.postgres.migrate import connect, pending
from quarry.postgres.reader import Reader
from quarry.postgres.schema import SyncConnection, value
from quarry.records.sources import RecordTypes, SearchedType, with_collections

LISTED_MAX = 5
"""How many changes are named."""
KEY_SECONDS = 5
"""The time limit of looking for a key that two rows have."""
ROWS_SAMPLED = 20
"""How many rows of a collection are read, as a search would, to check that reading works."""

_STATE = """
select c.id, c.problem,
  coalesce(sees_all_rows(r.oid::regclass), true) as sees_all,
  (select count(*) from pg_trigger t where t.tgfoid = to_regproc('note_changes_' || c.id) and t.tgenabled in ('O', 'A'))
    as triggers,
  (select count(*) from collection_changes q where q.collection = c.id) as waiting,
  (select extract(epoch from now() - min(q.at))::float8 from collection_changes q where q.collection = c.id) as waiting_for
from collections c left join pg_class r on r.oid = c.source
order by c.id
"""
_TRIGGERS = 4


@dataclass(frozen=True)
class _State:
    id: int
    problem: str | None
    sees_all: bool
    triggers: int
    waiting: int
    waiting_for: float | None


def collection_findings(connection: SyncConnection, embedding_model: str) -> Iterator[Finding]:
    """The findings on each collection."""
    collections = stored_collections(connection)
    with connection.cursor(row_factory=class_row(_State)) as cursor:
        states = {state.id: state for state in cursor.execute(_STATE)}
    tables = referenced_tables({name: each.declaration for name, each in collections.items()})
    existing = relations_by_name(connection, tables | {each.source for each in collections.values()})
    relations = {each.qualified: each for each in with_documents(connection, existing.values())}
    types = with_collections([*collections.values()], has_built_in=False)
    for collection in collections.values():
        unreadable = _read_problem(connection, types[collection.name], types)
        duplicate = "" if unreadable else _duplicate_key(connection, collection, relations)
        yield _finding(collection, states[collection.id], relations, unreadable, duplicate)
        yield from _secrets(collection, relations)
        source = relations.get(collection.source)
        if source and source.knows_user and collection.declaration.scope_setting is None:
            problem, _, advice = policy_warning(source).partition(": ")
            yield Finding("absent", f"rows of {collection.name}", problem, advice)
        other = [each for each in collection.languages if each != ENGLISH] if collection.declaration.has_meaning else []
        if embedding_model == LOCAL_EMBEDDING_MODEL and other:
            detail = f"{embedding_model} understands only English: text in {' and '.join(other)} is searched by words"
            advice = "if words are not enough, use a multilingual model: set EMBEDDINGS=openai, then run `quarry embed --all`"
            yield Finding("absent", f"meaning in {collection.name}", detail, advice)


def _secrets(collection: Collection, relations: Relations) -> Iterator[Finding]:
    """Columns that look like secrets and that every caller can see."""
    source = relations.get(collection.source)
    leaks = exposures(collection.declaration, source, relations) if source else ()
    if reasons := "; ".join(dict.fromkeys(each.reason for each in leaks)):
        advice = "add them to `hidden` in quarry.toml, or show other columns, then run `quarry apply`"
        yield Finding("absent", f"secrets in {collection.name}", reasons, f"unless everyone may see them: {advice}")


def _read_problem(connection: SyncConnection, type: SearchedType, types: RecordTypes) -> str | None:
    """Postgres' reason why a search could not read its rows; None if it can."""
    keys = SQL("select w.id from {} w").format(Identifier(type.rows))
    if not type.is_searched:
        keys = SQL("select {} as id from {} t").format(SQL(type.table.key("t")), SQL(type.table.rows))
    statement = SQL("select r.* from ({} limit {}) k cross join lateral ({} offset 0) r").format(
        keys, ROWS_SAMPLED, SQL(type.text)
    )
    try:
        with connection.transaction(force_rollback=True):
            for name, value in types.settings({}).items():
                connection.execute("select set_config(%s, %s, true)", [name, value])
            connection.execute(statement)
    except PostgresError as error:
        return error.diag.message_primary or error.__class__.__name__
    return None


def _duplicate_key(connection: SyncConnection, collection: Collection, relations: Relations) -> str:
    """How many rows have the same key, and which; "" where keys are unique, or the check takes too long."""
    source = relations.get(collection.source)
    if source is None or not collection.key or any({*key} == {*collection.key} for key in source.keys):
        return ""
    statement = SQL(
        "select {key}, count(*) from {rows} t group by 1 having count(*) > 1 or {key} is null limit 1"
    ).format(key=SQL(collection.key_text("t")), rows=SQL(collection.source_sql))
    try:
        with trial(connection, KEY_SECONDS):
            row = connection.execute(statement).fetchone()
    except PostgresError:
        return ""
    return f"{row[1]:,} rows have {row[0] if row[0] is not None else 'none'}" if row else ""


def _column_changes(collection: Collection, relation: Relation) -> Iterator[str]:
    """Changes of the columns that a collection uses."""
    columns = {each.number: each for each in relation.columns}
    for name, used in sorted(collection.columns.items()):
        now, holder = columns.get(used.number), used.path[0] if used.path else name
        if now is None:
            yield f"{name} no longer exists"
        elif now.name != holder:
            yield f"{holder} is now called {now.name}"
        elif UsedColumn.of(now) != used if not used.path else relation.at(name) is None:
            yield f"{holder} is now {now.type}"


def _finding(
    collection: Collection,
    state: _State,
    relations: Mapping[tuple[str, str], Relation],
    unreadable: str | None,
    duplicate: str,
) -> Finding:
    subject = f"collection {collection.name}"
    for is_broken, detail, advice in (
        *_faults_of_tables(collection, relations),
        (bool(duplicate), f"its key {', '.join(collection.key)} is not unique: {duplicate}", _NAME_KEY),
        *_faults(collection, state),
        (unreadable is not None, f"its rows cannot be read: {unreadable}", "mend the policies, views and functions"),
    ):
        if is_broken:
            return Finding("broken", subject, detail, advice)
    if state.waiting:
        wait = "1 change waits" if state.waiting == 1 else f"{state.waiting:,} changes wait"
        seconds = state.waiting_for or 0
        oldest = f"{seconds / 60:.0f} minutes" if seconds >= 2 * 60 else f"{seconds:.0f} seconds"
        detail = f"{wait}, the oldest for {oldest}"
        advice = "`quarry serve` or the scheduled function will read them; `quarry reconcile` reads them now"
        return Finding("absent", subject, detail, advice)
    return Finding("ok", subject, f"up to date with {'.'.join(collection.source)}")


def pending_changes(connection: SyncConnection, settings: Settings) -> Iterator[Finding]:
    """What the quarry.toml of this folder declares and the database does not have yet."""
    file = Path(FILE_NAME)
    if not file.exists():
        return
    subject = f"changes in {file}"
    try:
        with redirect_stderr(StringIO()):  # its warnings are those of `quarry apply`
            changes = plan_file(connection, read_declared(file), file, settings)
    except QuarryError as error:
        yield Finding("broken", subject, error.message, _MEND)
        return
    waiting = [f"{change.action} {change.name}" for change in changes if change.action != "keep"]
    if waiting:
        more = f" and {len(waiting) - LISTED_MAX:,} more" if len(waiting) > LISTED_MAX else ""
        yield Finding("absent", subject, f"not applied: {', '.join(waiting[:LISTED_MAX])}{more}", "run `quarry apply`")


_NAME_KEY = "name columns that tell its rows apart as `key` in quarry.toml, then run `quarry apply`"
_MEND = "mend quarry.toml, then run `quarry apply`"


def _faults_of_tables(
    collection: Collection, relations: Mapping[tuple[str, str], Relation]
) -> Iterator[tuple[bool, str, str]]:
    """Possible faults of a collection's tables, worst first: whether it has the fault, what it is, what to do."""
    if not all(collection.source):
        table = f"the table {collection.declaration.source}"
        if declared_source(collection.declaration) in relations:
            yield True, f"{table} was replaced by another of this name", "run `quarry apply`"
        yield True, f"{table} no longer exists", _MEND
        return
    declared, others = declared_source(collection.declaration), referenced_tables({"": collection.declaration})
    for each in (collection.source, *sorted(others - {declared, collection.source})):
        name, relation = ".".join(each), relations.get(each)
        if relation is None:
            yield True, f"the table {name}, which it refers to, no longer exists", _MEND
            continue
        grant = f"grant select on {name} to the role of DATABASE_URL"
        yield not relation.may_select, f"this role may not read {name}", grant
        if each == collection.source:
            changed = ", ".join(_column_changes(collection, relation))
            yield bool(changed), f"columns of {name} have changed: {changed}", _MEND
        if relation.bypassed and not collection.declaration.bypasses_policies:
            yield True, bypass(relation), "or set bypasses_policies = true if every caller may see them"


def _faults(collection: Collection, state: _State) -> Iterator[tuple[bool, str, str]]:
    """Other possible faults, worst first."""
    declared, source = collection.declaration, ".".join(collection.source)
    policy = "give the role BYPASSRLS, or add a policy for select using (true)"
    yield not state.sees_all, f"policies hide rows of {source}", policy
    lacks_triggers = collection.has_triggers and state.triggers < _TRIGGERS
    yield lacks_triggers, f"triggers on {source} are missing or disabled", "run `quarry apply`, then `quarry reconcile`"
    yield state.problem is not None, f"out of date: {state.problem}", "run `quarry reconcile` once it is fixed"
    renamed = collection.source != declared_source(declared)
    yield renamed, f"the table {declared.source} is now called {source}", _MEND
    is_earlier = collection.functions_hash != hash_of_functions(collection)
    yield is_earlier, "its triggers come from an earlier version", "run `quarry apply`"


Status = Literal["ok", "broken", "absent"]
"""absent: missing, and Quarry works without it."""


@dataclass(frozen=True)
class Finding:
    """The result of one check: its subject, status and details, and what to do unless it is ok."""

    status: Status
    subject: str
    detail: str
    advice: str = ""


POSTGRES_MIN = 15
PGVECTOR_MIN = (0, 8)

_MARKS: dict[Status, tuple[str, str]] = {
    "ok": ("ok", "green"),
    "broken": ("!!", "bold red"),
    "absent": ("--", "yellow"),
}


def examine(*, as_json: bool) -> bool:
    """Check everything and print the findings; whether nothing is broken."""
    findings: list[Finding] = []
    console = make_console()
    for finding in _findings():
        findings.append(finding)
        if not as_json:
            mark, style = _MARKS[finding.status]
            text = f"{finding.detail.rstrip('.')}; {finding.advice}" if finding.advice else finding.detail
            console.print(Text.assemble((mark, style), "  ", printable(f"{finding.subject}: {text}")))
    well = all(finding.status != "broken" for finding in findings)
    if as_json:
        write_json({"ok": well, "checks": [asdict(finding) for finding in findings]})
    return well


def _findings() -> Iterator[Finding]:
    try:
        settings = Settings.from_environment()
    except ConfigurationError as error:
        yield Finding("broken", "settings", error.message, "see docs/settings.md for valid values")
        return
    yield Finding("ok", "settings", "valid")
    yield _embedding_model(settings)
    yield _chat_model(settings)
    variable = "DATABASE_URL" if settings.database_url else "DATABASE_SECRET_ARN"
    where = variable if settings.names_database else f"the embedded Postgres in {embedded_directory(settings)}"
    try:
        with database_url(settings) as url:
            with connect(url, settings.database_schema) as connection:
                yield from _server(connection, where)
            yield from _schema(settings, url)
            if settings.database_reader_url:
                yield asyncio.run(replica_finding(LocalDatabase(settings, url)))
    except EmbeddedPostgresError as error:
        yield Finding("broken", "database", str(error))
    except QuarryError as error:
        yield Finding("broken", "database", error.message)
    except psycopg.Error as error:
        yield Finding("broken", "database", error.diag.message_primary or type(error).__name__)


def _embedding_model(settings: Settings) -> Finding:
    subject, name = "embedding model", settings.embedding_model_name
    if settings.embeddings != "local":
        return Finding("ok", subject, f"{name}, {settings.embedding_dimensions} dimensions (not called)")
    try:
        LocalEmbedding.verify_weights()
    except ModelUnavailable as error:
        return Finding("absent", subject, error.message)
    except ConfigurationError as error:
        return Finding("broken", subject, error.message)
    if not LocalEmbedding.available():
        return Finding("absent", subject, f"{name} cannot run: numpy is not installed", "run `make demo` again")
    return Finding("ok", subject, f"{name}, {settings.embedding_dimensions} dimensions, with the official weights")


def _chat_model(settings: Settings) -> Finding:
    if settings.has_chat_model:
        at_bedrock = settings.model_provider == "bedrock"
        where = ", at Bedrock" if at_bedrock else ", at OPENAI_BASE_URL" if settings.openai_base_url else ""
        return Finding("ok", "chat model", f"{settings.chat_model_name}{where} (not called)")
    advice = "set OPENAI_API_KEY, or OPENAI_BASE_URL for another server, or MODEL_PROVIDER=bedrock"
    return Finding("absent", "chat model", "none; the fallbacks answer", advice)


def _server(connection: SyncConnection, where: str) -> Iterator[Finding]:
    number, text = connection.info.server_version, connection.info.parameter_status("server_version") or ""
    yield Finding("ok", "database", f"{where} answers")
    if number // 10_000 < POSTGRES_MIN:
        yield Finding("broken", "Postgres", text, f"Quarry needs version {POSTGRES_MIN} or newer")
    else:
        yield Finding("ok", "Postgres", text)
    yield _extension(connection, "vector", "pgvector", PGVECTOR_MIN)
    yield from (_extension(connection, name, name, (0, 0)) for name in ("pg_trgm", "btree_gin", "fuzzystrmatch"))


def _extension(connection: SyncConnection, name: str, subject: str, least: tuple[int, int]) -> Finding:
    row = connection.execute(
        "select coalesce(installed_version, default_version), installed_version is not null"
        " from pg_available_extensions where name = %s",
        [name],
    ).fetchone()
    if row is None:
        return Finding("broken", subject, "not installed on the server", f"install {subject} there")
    version, created = row
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < least:
        needed = ".".join(str(part) for part in least)
        advice = f"Quarry needs {needed} or newer: update it, then run `alter extension {name} update`"
        return Finding("broken", subject, version, advice)
    return Finding("ok", subject, version if created else f"{version}; `quarry migrate` creates it")


def _schema(settings: Settings, url: str) -> Iterator[Finding]:
    """Checks that need a migrated database."""
    try:
        waiting = pending(url, schema=settings.database_schema)
    except ConfigurationError as error:
        problem, _, advice = error.message.rstrip(".").rpartition(": ")
        yield Finding("broken", "migrations", problem, advice)
        return
    if any(name.count("/") == 0 for name in waiting):
        yield Finding("broken", "migrations", f"{len(waiting)} pending", "run `quarry migrate`")
        return
    if waiting:
        yield Finding("broken", "SQL functions", f"{len(waiting)} changed", "run `quarry migrate`")
    else:
        yield Finding("ok", "migrations", f"all applied, in the schema {settings.database_schema}")
    with connect(url, settings.database_schema) as connection:
        yield _recorded_model(connection, settings)
        yield _weights(connection, settings)
        rows = _rows(connection)
        collections = [*collection_findings(connection, settings.embedding_model_name)]
        # an installation for declared tables needs no rows of the built-in ones
        if rows.status == "ok" or not collections:
            yield rows
        yield from collections
        yield from pending_changes(connection, settings)
    yield asyncio.run(_not_embedded(LocalDatabase(settings, url)))


def _recorded_model(connection: SyncConnection, settings: Settings) -> Finding:
    subject = "vectors"
    row = connection.execute("select name, dimensions from embedding_model").fetchone()
    if row is None:
        return Finding("absent", subject, "none yet", "load data, or run `quarry embed`")
    name, dimensions = row
    if (name, dimensions) != (settings.embedding_model_name, settings.embedding_dimensions):
        own = f"{settings.embedding_model_name} ({settings.embedding_dimensions} dimensions)"
        detail = f"made by {name} ({dimensions} dimensions), but the settings name {own}"
        advice = "restore the settings, or run `quarry embed --all` to embed everything again"
        return Finding("broken", subject, detail, advice)
    return Finding("ok", subject, f"made by {name}, {dimensions} dimensions")


def _weights(connection: SyncConnection, settings: Settings) -> Finding:
    stored: dict[str, float] = dict(
        connection.execute("select name, weight from tuned_weights order by name").fetchall()
    )
    weights = [
        f"{name.upper()} {weight:g}" + (", but the environment sets it" if name in settings.model_fields_set else "")
        for name, weight in stored.items()
    ]
    return Finding("ok", "weights", f"tuned for this database: {'; '.join(weights)}" if weights else "not tuned")


def _rows(connection: SyncConnection) -> Finding:
    counts = {
        name: value(connection, SQL("select count(*) from {}").format(Identifier(name))) for name in catalog.LOADABLE
    }
    if not any(counts.values()):
        return Finding("absent", "rows", "none", "run `quarry sample`, or `quarry load`")
    return Finding("ok", "rows", ", ".join(f"{name} {count:,}" for name, count in counts.items()))


async def _not_embedded(database: LocalDatabase) -> Finding:
    async with database.services() as services:
        collections = await read_collections(services.database)
        labels = {each.rows: name for name, each in collections.items()}
        tables = [*catalog.EMBEDDED.values(), *embedded_tables(collections.values())]
        backlog = await read_backlog(services.database, tables)
    subject = "rows not embedded"
    if not backlog:
        return Finding("ok", subject, "none")
    detail = ", ".join(
        f"{labels.get(name, name)} {each.rows:,}" + (f" since {each.since:%Y-%m-%d %H:%M} UTC" if each.since else "")
        for name, each in backlog.items()
    )
    return Finding("absent", subject, detail, "run `quarry embed --stale`")


async def replica_finding(database: LocalDatabase) -> Finding:
    """The state of the replica that DATABASE_READER_URL names."""
    async with database.services() as services:
        assert isinstance(services.reader, Reader)
        state = await services.reader.ask()
    subject, elsewhere = "replica", "searches go to the database"
    if state == "ok":
        return Finding("ok", subject, "DATABASE_READER_URL answers and is up to date: searches go to it")
    if state == "behind":
        lag = f"more than {database.settings.database_reader_lag_seconds:g} seconds behind"
        return Finding("absent", subject, f"{lag}; {elsewhere}", "check its replication")
    return Finding("broken", subject, f"does not answer; {elsewhere}", "start it, or unset DATABASE_READER_URL")
