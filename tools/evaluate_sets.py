"""Measures search on data sets that were not made for Quarry: `make eval FOREIGN=folder`.

Each folder with a `judged.jsonl` (docs/evaluating.md) is a set. Its other files, named after their tables, are loaded into the
set's own database with `quarry load`, embedded by the local model, and kept for the next run as long as files, migrations and
model stay the same. If a table has several files (`companies.jsonl`, `companies-narrow.jsonl`), the first that the loader
accepts is loaded. Every judged query is run; the results of search are compared with BM25 and cosine over the same rows.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier
from pydantic import ValidationError

from quarry import catalog
from quarry.local.database import LocalDatabase
from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.local.terminal import progress_bar
from quarry.platform.errors import QuarryError
from quarry.platform.settings import LOCAL_EMBEDDING_DIMENSIONS, LOCAL_EMBEDDING_MODEL, Settings
from quarry.postgres.migrate import migrate, sql_directory
from quarry.services.services import Services
from quarry_tools.comparison import compare, read_earlier
from quarry_tools.evaluation import doubts, report, run_queries, show, show_comparisons, tell
from quarry_tools.judged import JudgedQuery, read_judged
from quarry_tools.measures import DEPTH, ndcg, reciprocal_rank
from quarry_tools.outcomes import ALL, Outcome, Summary, summarise
from tools.baselines import BM25, Cosine, Row, documents_of, read_rows

JUDGED_FILE = "judged.jsonl"
DEFAULT_CACHE = Path(".quarry/evaluation")
PARAMETERS = {"synchronous_commit": "off"}
BASELINES = {"bm25": "BM25", "cosine": "cosine"}
"""The baselines whose nDCG@10 is reported."""


@dataclass(frozen=True)
class DataSet:
    """A folder with judged queries, and the file of each table to load, in loading order."""

    name: str
    judged: Path
    files: dict[str, Path]

    def key(self) -> str:
        """Changes with everything the loaded database depends on."""
        digest = hashlib.sha256(f"{LOCAL_EMBEDDING_MODEL} {catalog.EMBEDDED}".encode())
        for path in (*self.files.values(), *sorted((sql_directory() / "migrations").glob("*.sql"))):
            digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()[:12]


def find_sets(folder: Path, names: Sequence[str] = ()) -> list[DataSet]:
    """The sets in a folder, or those named. Raises QuarryError if a name does not exist, OSError."""
    by_name = {path.parent.name: path for path in sorted(folder.glob(f"*/{JUDGED_FILE}"))}
    missing = [name for name in names if name not in by_name]
    if missing or not by_name:
        raise QuarryError(f"{folder} has no set {', '.join(missing)}, but {', '.join(by_name) or 'none at all'}")
    return [DataSet(name, by_name[name], choose_files(by_name[name].parent)) for name in names or by_name]


def choose_files(folder: Path) -> dict[str, Path]:
    """For each table with files in the folder, the first whose rows the loader all accepts. Raises QuarryError, OSError."""
    files: dict[str, Path] = {}
    for table in catalog.LOADABLE:
        candidates = [
            path for path in (folder / f"{table}.jsonl", *sorted(folder.glob(f"{table}-*.jsonl"))) if path.exists()
        ]
        fitting = next((path for path in candidates if fits_table(table, path)), None)
        if fitting:
            files[table] = fitting
        elif candidates:
            raise QuarryError(f"`quarry load {table}` refuses {' and '.join(map(str, candidates))}")
    return files


def fits_table(table: str, path: Path) -> bool:
    """Whether every row of a file is valid for the table."""
    row = catalog.LOADABLE[table].row
    try:
        for line in path.read_bytes().splitlines():
            if line.strip():
                row.model_validate(json.loads(line))
    except (ValueError, ValidationError):
        return False
    return True


@contextmanager
def set_database(server: EmbeddedPostgres, set_: DataSet) -> Iterator[LocalDatabase]:
    """The set's database, loaded and embedded if needed. Its functions are always those of the current code."""
    name = f"{set_.name}_{set_.key()}"
    url = server.url().rsplit("/", 1)[0] + "/" + name
    if not _exists(server.url(), name):
        _fill(server.url(), name, set_)
    migrate(url, embedding_dimensions=LOCAL_EMBEDDING_DIMENSIONS)
    settings = Settings.from_environment({**os.environ, "DATABASE_URL": url, "EMBEDDINGS": "local"})
    yield LocalDatabase(settings, url)


def _exists(server_url: str, name: str) -> bool:
    with psycopg.connect(server_url) as connection:
        return connection.execute("select from pg_database where datname = %s", [name]).fetchone() is not None


def _fill(server_url: str, name: str, set_: DataSet) -> None:
    """Loads the set under a temporary name, so that an interrupted load does not count as complete; drops older versions."""
    filling = f"{name}_filling"
    with psycopg.connect(server_url, autocommit=True) as connection:
        for (old,) in connection.execute(
            "select datname from pg_database where datname ~ %s", [f"^{set_.name}_[0-9a-f]{{12}}"]
        ):
            connection.execute(SQL("drop database {} with (force)").format(Identifier(old)))
        connection.execute(SQL("create database {}").format(Identifier(filling)))
        environment = {
            **os.environ,
            "DATABASE_URL": server_url.rsplit("/", 1)[0] + "/" + filling,
            "EMBEDDINGS": "local",
        }
        for table, path in set_.files.items():
            print(f"{set_.name}: loading {path.name}", file=sys.stderr, flush=True)
            command = [str(Path(sys.executable).with_name("quarry")), "load", table, str(path)]
            if subprocess.run(command, env=environment, check=False, stdout=sys.stderr).returncode:
                raise QuarryError(f"{path} was not loaded")
        connection.execute(SQL("alter database {} rename to {}").format(Identifier(filling), Identifier(name)))


@dataclass(frozen=True)
class Measured:
    """The results of a set's queries: by search, and each baseline's ranking by query id."""

    name: str
    outcomes: list[Outcome]
    baselines: dict[str, dict[str, list[str]]]

    def summaries(self) -> list[Summary]:
        """Summaries by kind, under the set's name, with the baselines' nDCG among the measures."""
        return [
            replace(s, domain=self.name, measures={**s.measures, **self._baselines_of(s)})
            for s in summarise(self.outcomes)
        ]

    def report(self) -> dict[str, Any]:
        """The results as JSON, including the baselines' rankings for each query."""
        content = report(self.outcomes, self.summaries())
        for query, outcome in zip(content["queries"], self.outcomes, strict=True):
            for baseline, ranked in self.baselines.items():
                if keys := ranked.get(outcome.query.id):
                    relevant = outcome.query.relevant
                    query[baseline] = {
                        "ndcg": ndcg(keys, relevant),
                        "mrr": reciprocal_rank(keys, relevant),
                        "found": keys,
                    }
        return {"set": self.name, **content}

    def _baselines_of(self, summary: Summary) -> dict[str, float]:
        values = {
            baseline: [
                ndcg(ranked[outcome.query.id], outcome.query.relevant)
                for outcome in self.outcomes
                if summary.kind in (ALL, outcome.query.kind) and outcome.query.id in ranked
            ]
            for baseline, ranked in self.baselines.items()
        }
        return {baseline: mean(of_kind) for baseline, of_kind in values.items() if of_kind}


async def measure(set_: DataSet, database: LocalDatabase) -> Measured:
    """Runs the set's queries through search and the baselines. Raises QuarryError if a search fails."""
    queries = read_judged(set_.judged)
    tell([f"{set_.name}: {len(queries)} queries"])
    async with database.services() as services:
        with progress_bar(f"{set_.name}: evaluating", len(queries)) as bar:
            outcomes = await run_queries(queries, services, on_query=lambda: bar.advance(1))
        # results that are not shown have no rank, so a baseline shows as few
        depth = max(outcome.results_max or DEPTH for outcome in outcomes)
        ranked = [query for query in queries if query.relevant]
        baselines = await _baselines(ranked, read_rows(set_.files), services, depth)
    tell(f"{set_.name}: {doubt}" for doubt in doubts(outcomes))
    return Measured(set_.name, outcomes, baselines)


async def _baselines(
    queries: Sequence[JudgedQuery], rows: Sequence[Row], services: Services, depth: int
) -> dict[str, dict[str, list[str]]]:
    """The top results of each baseline by query id; empty for a query without ranked rows."""
    if not queries or not rows:
        return {}
    bm25, cosine = BM25(documents_of(rows)), await Cosine.of(rows, services.database)
    texts = {query.id: "\n".join([*query.earlier, query.query]) for query in queries}
    vectors = await services.embeddings.embed(list(texts.values()))
    return {
        "bm25": {id: bm25.rank(text, depth) for id, text in texts.items()},
        "cosine": {id: cosine.rank(vector, depth) for id, vector in zip(texts, vectors, strict=True)},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures the sets and prints one table."""
    options = _parser().parse_args(arguments)
    names = [name for name in options.sets.split(",") if name]
    cache: Path = options.cache.absolute()
    try:
        earlier = read_earlier(options.against) if options.against else {}
        sets = find_sets(options.folder, names)
        with EmbeddedPostgres(cache / "postgres", parameters=PARAMETERS) as server:
            measured: list[Measured] = []
            for set_ in sets:
                with set_database(server, set_) as database:
                    measured.append(asyncio.run(measure(set_, database)))
    except QuarryError as error:
        print(f"evaluate_sets: {error.message}", file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text(json.dumps([each.report() for each in measured], ensure_ascii=False, indent=2) + "\n")
    show([summary for each in measured for summary in each.summaries()], BASELINES)
    show_comparisons(
        [
            replace(comparison, domain=each.name)
            for each in measured
            if each.name in earlier
            for comparison in compare(each.outcomes, earlier[each.name])
        ]
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.evaluate_sets", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with one folder per set")
    parser.add_argument("--sets", default="", metavar="NAME,…", help="only these")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results of each query")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with an earlier file from --json")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where the databases are kept (%(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
