"""Commands that change the data: sample, load, embed, cleanup.

The sample data is invented, written for Quarry. Its vectors are included, keyed by the hash of the text they were made from, so
that a first start does not wait for the embedding model. A text that has changed is embedded.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from quarry import catalog
from quarry.collections.apply import check_rows, read_collections
from quarry.collections.checking import collections_with_vectors, take_over_vectors
from quarry.collections.facets import embedded_table
from quarry.collections.upkeep import embedded_tables
from quarry.files.forms import ReadOptions
from quarry.files.reading import files_in, read_records
from quarry.files.records import RecordFile, UnreadableFile
from quarry.local.database import LocalDatabase, open_database
from quarry.local.output import note, quantity, tell
from quarry.local.terminal import ProgressBar, make_console, progress_bar
from quarry.models.interface import EmbeddingModel
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.errors import Forbidden, ModelError, QuarryError
from quarry.platform.settings import LOCAL_EMBEDDING_MODEL
from quarry.platform.tables import EmbeddedTable, LoadableTable
from quarry.postgres.embed import (
    Embedded,
    count_pending,
    embed_pending,
    forget_vectors,
    make_ready,
    probe,
    remember_model,
    remembers_model,
)
from quarry.postgres.load import REPORTED_PROBLEMS_MAX, Loaded, LoadError, analyze, load_file, load_records
from quarry.postgres.migrate import sql_directory
from quarry.postgres.pool import Database
from quarry.retrieval.values import refresh
from quarry.runs.run_log import delete_expired
from quarry.services.s3 import S3Object, fetch
from quarry.services.services import Services
from quarry.services.tenants import everyone

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EmbedScope = Literal["new", "stale", "all"]
"""Which rows to embed: new ones, also those whose text has changed, or every row after dropping all vectors."""

STANDARD_INPUT = Path("-")
LISTED_MAX = 20
REFRESH_SECONDS = 600.0
"""How long counting the values of a table may take."""


async def load_samples(database: LocalDatabase) -> None:
    """Load the sample data that the database does not have yet, and report it."""
    has_begun = False
    with make_console(stderr=True).status("") as status:

        def on_step(step: str) -> None:
            nonlocal has_begun
            # verify the weights only if there is something to load
            if not has_begun and database.settings.embeddings == "local" and LocalEmbedding.available():
                LocalEmbedding.verify_weights()
            has_begun = True
            status.update(step)

        try:
            async with database.services() as services:
                model, rows_max = services.embeddings, services.rows_max
                domains = await load_sample(services.database, database.url, model, rows_max=rows_max, on_step=on_step)
        except ModelError as error:
            note(f"the sample data has no vectors, search finds words only: {error.message}")
            return
    if domains:
        tell(f"Loaded the sample data: {', '.join(domains)}.", loaded=[*domains])
    else:
        tell("The sample data is already loaded.")


def load_table(
    table_name: str, paths: Sequence[Path], *, options: ReadOptions, skip_invalid: bool, embed: bool
) -> bool:
    """Load files, the files of folders, or standard input (`-`) into a table, and embed the new rows.

    Returns False if a file could not be loaded, after reporting why; the others are loaded. Raises OSError. A missing or failing
    embedding model is reported: the rows stay, and are found by their words.
    """
    table = catalog.LOADABLE[table_name]
    sources = sources_of(paths)
    with open_database() as database:
        load = partial(_load_source, database, table, options=options, skip_invalid=skip_invalid)
        done = [load(source, with_name=len(sources) > 1) for source in sources]
        if not any(done):
            return False
        schema = database.settings.database_schema
        analyze(database.url, table.name, schema=schema)
        if embed and table.name in catalog.EMBEDDED:
            asyncio.run(_embed_loaded(database, catalog.EMBEDDED[table.name]))
            analyze(database.url, catalog.EMBEDDED[table.name].embeddings, schema=schema)
    return all(done)


def _load_source(
    database: LocalDatabase,
    table: LoadableTable,
    source: Path,
    *,
    options: ReadOptions,
    skip_invalid: bool,
    with_name: bool,
) -> bool:
    """Load one file and report its rows, `with_name` with the file's name; whether it could be loaded."""
    name, schema = name_of(source), database.settings.database_schema
    check = partial(check_rows, rows_max=database.rows_max)
    prefix = f"{name}: " if with_name else ""
    try:
        with opened_records(source, options, table.name) as (records, bar):
            load = partial(load_records, database.url, table, records, schema=schema, check=check)
            loaded = load(skip_invalid=skip_invalid, on_progress=bar.reach)
    except (LoadError, UnreadableFile, Forbidden) as error:
        report_failure(error, name, prefix)
        return False
    report_skipped(loaded, prefix)
    line = f"{prefix}{quantity(loaded.rows, 'row')}, {loaded.changed:,} new or changed, {loaded.skipped:,} skipped"
    tell(line, files=[file_facts(name, loaded)])
    return True


def sources_of(paths: Sequence[Path]) -> list[Path]:
    """The files at these paths, and those in folders. A missing one raises OSError before a database is started."""
    sources = [source for path in paths for source in (_files_of(path) if path.is_dir() else [path])]
    for source in sources:
        if source != STANDARD_INPUT:
            source.stat()
    return sources


def _files_of(folder: Path) -> list[Path]:
    """The files of a folder, without links that lead out of it, which are reported. Raises UnreadableFile."""
    files, outside = files_in(folder)
    if outside:
        links = ", ".join(path.name for path in outside[:LISTED_MAX])
        note(f"{folder}: left out {links}: a link leads out of the folder; name the file itself to load it")
    return files


@contextmanager
def fetched(sources: Iterable[Path | S3Object]) -> Iterator[list[Path]]:
    """The sources as local paths: objects of S3 are copied to this machine for the time of the block. Raises as `fetch`."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, source in enumerate(sources):
            if isinstance(source, S3Object):
                path = Path(folder, str(number), source.name)
                path.parent.mkdir()
                with path.open("w+b") as file:
                    fetch(source, file)
                source = path
            paths.append(source)
        yield paths


def name_of(source: Path) -> str:
    """The name of a file in messages."""
    return "standard input" if source == STANDARD_INPUT else source.name


@contextmanager
def opened_records(source: Path, options: ReadOptions, into: str) -> Iterator[tuple[RecordFile, ProgressBar]]:
    """The records of a file, and the progress bar of loading it `into` a table. Guesses about the file are reported at the end.

    Raises OSError, UnreadableFile.
    """
    opened = nullcontext(sys.stdin.buffer) if source == STANDARD_INPUT else source.open("rb")
    with opened as file, read_records(file, name_of(source), options) as records:
        size = os.fstat(file.fileno()).st_size
        try:
            with progress_bar(f"loading {name_of(source)} into {into}", size or None, of_bytes=True) as bar:
                yield records, bar
        finally:
            for remark in records.notes:
                note(remark)
            tell(notes=records.notes)


def report_failure(error: LoadError | UnreadableFile | Forbidden, name: str, prefix: str = "") -> None:
    """Report what is wrong with rows, or with the file `name`, and that nothing was loaded."""
    messages = [f"{prefix}{each}" for each in error.problems] if isinstance(error, LoadError) else [error.message]
    problems = messages[:REPORTED_PROBLEMS_MAX]
    for problem in problems:
        note(problem)
    tell(files=[{"file": name, "rows": 0, "problems": [problem.removeprefix(prefix) for problem in problems]}])
    advice = "; correct these rows, or skip them with --skip-invalid" if isinstance(error, LoadError) else ""
    note(f"{name}: nothing was loaded{advice}")


def report_skipped(loaded: Loaded, prefix: str = "") -> None:
    """Report the skipped rows."""
    for problem in loaded.problems[:REPORTED_PROBLEMS_MAX]:
        note(f"{prefix}skipped {problem}")
    unnamed = loaded.skipped - len(loaded.problems[:REPORTED_PROBLEMS_MAX])
    if unnamed > 0:
        note(f"{prefix}skipped {unnamed:,} more")


def file_facts(name: str, loaded: Loaded) -> dict[str, object]:
    """A loaded file in the JSON output."""
    problems = [str(problem) for problem in loaded.problems[:REPORTED_PROBLEMS_MAX]]
    counts = {"rows": loaded.rows, "changed": loaded.changed, "skipped": loaded.skipped}
    return {"file": name, **counts, "problems": problems}


async def _embed_loaded(database: LocalDatabase, table: EmbeddedTable) -> None:
    async with database.services() as services:
        for done in await embed_waiting(services, [table]):
            tell(f"{quantity(done.rows, 'row')} embedded")
            _report_failed(table, done)


async def embed_tables(database: LocalDatabase, scope: EmbedScope) -> bool:
    """Embed the pending rows of every table; whether all succeeded. Raises ModelUnavailable, ConfigurationError."""
    async with database.services() as services:
        tables = await all_embedded(services.database)
        if scope == "all":
            # keep the vectors until the model has shown that it can make new ones
            await probe(services.embeddings)
            with_own_vectors = await collections_with_vectors(services.database, services.embeddings)
            forgotten = [*tables, *map(embedded_table, with_own_vectors)]
            await forget_vectors(services.database, forgotten, services.embeddings)
            await take_over_vectors(services.database, with_own_vectors, services.embeddings)
        await remembers_model(services.database, services.embeddings)
        stale = scope != "new"
        waiting = [table for table in tables if await count_pending(services.database, table, stale=stale)]
        if not waiting:
            tell("nothing to embed")
            return True
        await make_ready(services.database, services.embeddings)
        well = True
        for table in waiting:
            done = await embed_table(services, table, stale=stale)
            tell(f"{table.name}: {quantity(done.rows, 'row')} embedded")
            well = _report_failed(table, done) and well
        return well


async def all_embedded(database: Database) -> list[EmbeddedTable]:
    """Every table that has vectors, including those of collections."""
    return [*catalog.EMBEDDED.values(), *embedded_tables((await read_collections(database)).values())]


async def embed_table(services: Services, table: EmbeddedTable, *, stale: bool) -> Embedded:
    """Embed the pending rows of a table under a progress bar. Raises ModelUnavailable."""
    pending = await count_pending(services.database, table, stale=stale)
    with progress_bar(f"embedding {table.name}", pending) as bar:
        done = await embed_pending(services.database, services.embeddings, table, stale=stale, on_progress=bar.advance)
    tell(tables=[{"table": table.name, "embedded": done.rows, "failed": [*done.failed], "problem": done.problem}])
    remaining = await count_pending(services.database, table, stale=stale) - len(done.failed)
    if done.problem:
        note(f"{table.name}: not embedded: {done.problem}; `quarry doctor` shows more")
    elif remaining > 0:
        note(
            f"{table.name}: {quantity(remaining, 'row')} left to another embedder or writer; `quarry embed` tries again"
        )
    return done


async def embed_waiting(services: Services, tables: Iterable[EmbeddedTable]) -> list[Embedded]:
    """Embed the pending rows of these tables, stale ones too. A failing model is reported: the rows are then found by words."""
    waiting = [table for table in tables if await count_pending(services.database, table)]
    done = list[Embedded]()
    try:
        if waiting:
            await make_ready(services.database, services.embeddings)
        for table in waiting:
            done.append(await embed_table(services, table, stale=True))
    except ModelError as error:
        note(f"not embedded, so only words find the rows: {error.message}")
    return done


def _report_failed(table: EmbeddedTable, done: Embedded) -> bool:
    """Report the rows that the model refused; whether all succeeded."""
    failed = done.failed
    if failed:
        more = f" and {len(failed) - LISTED_MAX:,} more" if len(failed) > LISTED_MAX else ""
        note(f"{table.name}: not embedded: {', '.join(failed[:LISTED_MAX])}{more}; `quarry embed` tries again")
    return not failed and not done.problem


async def clean_up(database: LocalDatabase, *, as_json: bool) -> bool:
    """Delete expired rows and report how many of each kind; False if it failed for a tenant."""
    deleted, days, well = Counter[str](), database.settings.run_log_days, True
    async with database.services() as services:
        for each in await everyone(services):
            try:
                deleted.update(await delete_expired(each.database, catalog.EXPIRING, run_log_days=days))
                rows = [collection.rows for collection in (await read_collections(each.database)).values()]
                await refresh(each.database, catalog.counted(rows), timeout_seconds=REFRESH_SECONDS)
            except QuarryError as error:
                if each is services:
                    raise
                note(f"the tenant in {each.settings.database_schema}: {error.message}")
                well = False
    if as_json:
        print(json.dumps(deleted))
    else:
        print(", ".join(f"{label.replace('_', ' ')} {count:,}" for label, count in deleted.items()))
    return well


def describe_tables() -> str:
    """The loadable tables and their fields, as text."""
    return "\n\n".join(_describe_table(name, table.row.model_json_schema()) for name, table in catalog.LOADABLE.items())


def _describe_table(name: str, schema: Mapping[str, Any]) -> str:
    fields: Mapping[str, Mapping[str, Any]] = schema["properties"]
    width = max(len(field) for field in fields)
    lines = [
        f"    {field:<{width}}  {_type_name(property_)}{', required' if field in schema['required'] else ''}"
        for field, property_ in fields.items()
    ]
    return "\n".join([f"  {name}: {' '.join(schema['description'].split())}", *lines])


def _type_name(schema: Mapping[str, Any]) -> str:
    """A JSON schema's type in words."""
    for choice in schema.get("anyOf", ()):
        if choice["type"] != "null":
            return _type_name(choice)
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    if schema["type"] == "array":
        return f"list of {_type_name(schema['items'])}"
    if schema["type"] == "string":
        if schema.get("format") == "date":
            return "date as YYYY-MM-DD"
        if schema.get("format") == "date-time":
            return "time as YYYY-MM-DDThh:mm:ssZ"
        return f"text up to {schema['maxLength']:,} characters" if "maxLength" in schema else "text"
    return {"integer": "whole number", "number": "number", "boolean": "true or false"}.get(schema["type"], "JSON")


VECTORS_FILE = "vectors.npz"


class ShippedVectors:
    """An embedding model that has the vectors of some texts in a file, and asks `model` for the others."""

    def __init__(self, model: EmbeddingModel, path: Path) -> None:
        self._model = model
        self._path = path
        self._vectors: dict[int, NDArray[np.float16]] | None = None

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def dimensions(self) -> int:
        return self._model.dimensions

    def windows(self, text: str) -> list[str]:
        return self._model.windows(text)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        shipped = self._shipped_vectors()
        missing = [text for text in texts if text_key(text) not in shipped]
        embedded = dict(zip(missing, await self._model.embed(missing), strict=True)) if missing else {}
        return [
            embedded[text] if text in embedded else shipped[text_key(text)].astype(float).tolist() for text in texts
        ]

    async def close(self) -> None:
        await self._model.close()

    def _shipped_vectors(self) -> dict[int, NDArray[np.float16]]:
        if self._vectors is None:
            self._vectors = {}
            if self.name == LOCAL_EMBEDDING_MODEL and self._path.exists():
                import numpy as np

                with np.load(self._path) as file:
                    self._vectors = dict(zip(file["keys"].tolist(), file["vectors"], strict=True))
        return self._vectors


def text_key(text: str) -> int:
    """The first 64 bits of the text's SHA-256."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def sample_directory() -> Path:
    return sql_directory() / "sample"


def sample_domains() -> list[str]:
    """The domains that have sample data."""
    return sorted(path.name for path in sample_directory().iterdir() if path.is_dir())


async def load_sample(
    database: Database,
    url: str,
    model: EmbeddingModel,
    *,
    rows_max: int = 0,
    on_step: Callable[[str], None] = lambda step: None,
) -> list[str]:
    """Load and embed the sample data of each domain that does not have it yet; return the domains that were loaded."""
    loaded: list[str] = []
    async for domain, sha256 in _not_loaded(database):
        for table, path in _files(domain):
            on_step(f"loading {table.name}")
            load_file(url, table, path, schema=database.schema, check=partial(check_rows, rows_max=rows_max))
            analyze(url, table.name, schema=database.schema)
        shipped = ShippedVectors(model, sample_directory() / domain / VECTORS_FILE)
        await _embed(database, url, shipped, domain, on_step)
        await database.execute(
            """insert into loaded_samples (domain, sha256) values (%s, %s)
               on conflict (domain) do update set sha256 = excluded.sha256, loaded_at = excluded.loaded_at""",
            [domain, sha256],
        )
        loaded.append(domain)
    return loaded


async def write_vectors(model: LocalEmbedding, texts: Sequence[str], path: Path) -> None:
    """Write the vectors of `texts` (embedded windows) to `path`; the same texts on the same machine give the same bytes."""
    import numpy as np

    keys = sorted({text_key(text): text for text in texts}.items())
    vectors = np.array(await model.embed([text for _, text in keys]), dtype=np.float16)
    np.savez(path, keys=np.array([key for key, _ in keys], dtype=np.uint64), vectors=vectors)


async def _not_loaded(database: Database) -> AsyncIterator[tuple[str, str]]:
    rows = await database.rows("select domain, sha256 from loaded_samples")
    digests = {row["domain"]: row["sha256"] for row in rows}
    for domain in sample_domains():
        digest = hashlib.sha256()
        for _, path in _files(domain):
            digest.update(path.read_bytes())
        if digests.get(domain) != digest.hexdigest():
            yield domain, digest.hexdigest()


def _files(domain: str) -> list[tuple[LoadableTable, Path]]:
    directory = sample_directory() / domain
    paths = ((table, directory / f"{table.name}.jsonl") for table in catalog.LOADABLE.values())
    return [(table, path) for table, path in paths if path.exists()]


async def _embed(
    database: Database, url: str, model: EmbeddingModel, domain: str, on_step: Callable[[str], None]
) -> None:
    await remember_model(database, model)
    for table, _ in _files(domain):
        if table.name in catalog.EMBEDDED:
            on_step(f"embedding {table.name}")
            await embed_pending(database, model, catalog.EMBEDDED[table.name])
            analyze(url, catalog.EMBEDDED[table.name].embeddings, schema=database.schema)
