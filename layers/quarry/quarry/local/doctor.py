"""`quarry doctor`: checks this installation and says how to fix it. Changes nothing and calls no paid model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import asdict

import psycopg
from psycopg.sql import SQL, Identifier
from rich.text import Text

from quarry import catalog
from quarry.collections.upkeep import embedded_tables, read_collections
from quarry.local.database import LocalDatabase, database_url, embedded_directory
from quarry.local.doctor_collections import Finding, Status, collection_findings, unapplied
from quarry.local.embedded_postgres import EmbeddedPostgresError
from quarry.local.telling import write_json
from quarry.local.terminal import make_console, printable
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.errors import ConfigurationError, ModelUnavailable, QuarryError
from quarry.platform.settings import Settings
from quarry.postgres.embed import Backlog, read_backlog
from quarry.postgres.migrate import connect, pending
from quarry.postgres.reader import Reader
from quarry.postgres.schema import SyncConnection, value

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
    named = "DATABASE_URL" if settings.database_url else "DATABASE_SECRET_ARN"
    where = named if settings.names_database else f"the embedded Postgres in {embedded_directory(settings)}"
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
    return Finding(
        "absent",
        "chat model",
        "none; the fallbacks answer",
        "set OPENAI_API_KEY, or OPENAI_BASE_URL for another server, or MODEL_PROVIDER=bedrock",
    )


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
    if _numbers(version) < least:
        needed = ".".join(str(part) for part in least)
        return Finding(
            "broken",
            subject,
            version,
            f"Quarry needs {needed} or newer: update it, then run `alter extension {name} update`",
        )
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
        yield from unapplied(connection, settings)
    yield asyncio.run(_not_embedded(LocalDatabase(settings, url)))


def _recorded_model(connection: SyncConnection, settings: Settings) -> Finding:
    subject = "vectors"
    row = connection.execute("select name, dimensions from embedding_model").fetchone()
    if row is None:
        return Finding("absent", subject, "none yet", "load data, or run `quarry embed`")
    name, dimensions = row
    if (name, dimensions) != (settings.embedding_model_name, settings.embedding_dimensions):
        return Finding(
            "broken",
            subject,
            f"made by {name} ({dimensions} dimensions), but the settings name {settings.embedding_model_name}"
            f" ({settings.embedding_dimensions} dimensions)",
            "restore the settings, or run `quarry embed --all` to embed everything again",
        )
    return Finding("ok", subject, f"made by {name}, {dimensions} dimensions")


def _weights(connection: SyncConnection, settings: Settings) -> Finding:
    stored: dict[str, float] = dict(
        connection.execute("select name, weight from tuned_weights order by name").fetchall()
    )
    shown = [
        f"{name.upper()} {weight:g}" + (", but the environment sets it" if name in settings.model_fields_set else "")
        for name, weight in stored.items()
    ]
    return Finding("ok", "weights", f"tuned for this database: {'; '.join(shown)}" if shown else "not tuned")


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
    detail = ", ".join(f"{labels.get(name, name)} {_waiting(waits)}" for name, waits in backlog.items())
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
        bound = f"more than {database.settings.database_reader_lag_seconds:g} seconds behind"
        return Finding("absent", subject, f"{bound}; {elsewhere}", "check its replication")
    return Finding("broken", subject, f"does not answer; {elsewhere}", "start it, or unset DATABASE_READER_URL")


def _waiting(backlog: Backlog) -> str:
    since = f" since {backlog.since:%Y-%m-%d %H:%M} UTC" if backlog.since else ""
    return f"{backlog.rows:,}{since}"


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])
