"""The cost of a cold start: the layers' sizes, the processor time of importing each built function and of the first answers of
`search`, and the local model.

The time is that of a fresh interpreter of the functions' version, which sees only its built layers. The same run also measures
an interpreter that imports only psycopg and pydantic. The machine's speed is in both, so read the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg

from quarry.local.data import load_sample
from quarry.models.local_embedding import LocalEmbedding
from quarry.postgres.pool import Database
from tools.benchmarks.measuring import migrated_server
from tools.rehearsal.artifacts import ROOT, Artifacts, CannotRun, build

LARGEST = 5
"""How many packages of a layer to list."""

LAYER_MAX_MIB = 250
"""Lambda's limit for the unpacked size of a function, including its layers."""

BASE = "import psycopg, pydantic"

MEASURE = """
import time
started = time.process_time()
{statement}
print(time.process_time() - started)
"""

FIRST_ANSWER = """
import json, sys, time
started = time.process_time()
import app

class Context:
    aws_request_id, function_name, function_version = "1", "search", "1"
    invoked_function_arn, memory_limit_in_mb = "arn:aws:lambda:us-east-1:123456789012:function:search", 1769

    def get_remaining_time_in_millis(self):
        return 60_000

async def read(body):
    return [piece async for piece in body]

response = app.handler(json.load(sys.stdin), Context())
assert response.loop.run_until_complete(read(response.body))
print()
print(time.process_time() - started)
app.environment.close()
"""
"""Seconds until the end of the first answer, on the last line: the function writes its metrics there too."""

LOCAL_MODEL = """
import asyncio, resource, time
from quarry.models.local_embedding import LocalEmbedding

def mebibytes(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

before, started = mebibytes(), time.perf_counter()
embedding = LocalEmbedding()
embedding.load()
loaded, times = time.perf_counter() - started, []
for number in range(20):
    started = time.perf_counter()
    asyncio.run(embedding.embed([f"who keeps the records of bridge {number}?"]))
    times.append(time.perf_counter() - started)
vector = asyncio.run(embedding.embed(["Why did the council keep the elm?"]))[0]
print(loaded, sorted(times)[10], mebibytes() - before, *vector)
"""
"""Seconds to load, median seconds of a query, mebibytes more than before, and a vector."""

AIMS = {"search": 3.0}
AIM = 2.5
"""The most that a function's import may take, as a multiple of the base; the search function before its first model call."""

FIRST_AIMS = {"records/search": 5.0, "records/ask": 6.0}
"""The recorded events that a new environment of `search` answers first, with the most that may take: its import, its services,
its connections to the database, and the answer, without a model.
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks.deployed", description=__doc__)
    parser.add_argument("--imports", type=int, default=9, help="fresh interpreters for each figure")
    measure(parser.parse_args().imports)


def measure(imports: int) -> None:
    """Prints both tables, or why nothing can be measured here."""
    try:
        artifacts = build()
    except CannotRun as reason:
        print(f"\nno functions as built: {reason}")
        return
    _print_sizes(artifacts)
    _print_times("import of a function", import_times(artifacts, imports), AIMS)
    with sampled_server() as url:
        _print_times("first answer of search after a start", first_answer_times(artifacts, imports, url), FIRST_AIMS)
    loaded, query, memory, *_ = run_local_model(artifacts)
    print(
        f"\nthe local model in its layer: loaded with numpy in {loaded * 1000:.0f} ms, "
        f"a query {query * 1000:.1f} ms, {memory:.0f} MiB of memory"
    )


def run_local_model(artifacts: Artifacts) -> list[float]:
    """The figures of LOCAL_MODEL, with only the shared layer and its own."""
    return _run(artifacts, LOCAL_MODEL, [artifacts.shared_layer, artifacts.embedding_layer])


def import_times(artifacts: Artifacts, imports: int) -> dict[str, float]:
    """Median seconds of processor time for the base, under the empty name, and for each function."""
    statements = {"": BASE} | dict.fromkeys(artifacts.function_names(), "import app")
    taken: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(imports):
        # alternating, so that a busy moment affects all of them
        for name, statement in statements.items():
            taken[name].append(_import_seconds(artifacts, name, statement))
    return {name: statistics.median(times) for name, times in taken.items()}


@contextmanager
def sampled_server() -> Iterator[str]:
    """The URL of a database with the sample data, without vectors."""

    async def fill(url: str) -> None:
        database, model = Database(url, pool_size=1, timeout_seconds=60), LocalEmbedding()
        await load_sample(database, url, model)
        await model.close()
        await database.close()

    with migrated_server() as url:
        asyncio.run(fill(url))
        with psycopg.connect(url) as connection:
            connection.execute("delete from embedding_model")
        yield url


def first_answer_times(artifacts: Artifacts, starts: int, url: str) -> dict[str, float]:
    """Like `import_times`, of a process of `search` that imports and answers one event, by the event's name."""
    paths = [artifacts.function("search"), *artifacts.layers_of("search")]
    environment = artifacts.environment("search") | {"DATABASE_URL": url, "AWS_LAMBDA_FUNCTION_NAME": "search"}
    taken: dict[str, list[float]] = {name: [] for name in ("", *FIRST_AIMS)}
    for _ in range(starts):
        taken[""].append(_import_seconds(artifacts, "", BASE))
        for name in FIRST_AIMS:
            event = (ROOT / "events" / f"{name}.json").read_text()
            taken[name].append(_run(artifacts, FIRST_ANSWER, paths, environment, event)[0])
    return {name: statistics.median(times) for name, times in taken.items()}


def _import_seconds(artifacts: Artifacts, name: str, statement: str) -> float:
    paths = [artifacts.function(name), *artifacts.layers_of(name)] if name else [artifacts.shared_layer]
    return _run(artifacts, MEASURE.format(statement=statement), paths)[0]


def _run(
    artifacts: Artifacts,
    program: str,
    paths: Sequence[Path],
    environment: Mapping[str, str] | None = None,
    event: str = "",
) -> list[float]:
    """The numbers in the last line that a program prints in a fresh interpreter of the functions' version; it reads `event`."""
    done = subprocess.run(
        [artifacts.python, "-S", "-c", program],
        # as in Lambda, where the function's folder is read-only
        env={
            "PATH": os.defpath,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "AWS_REGION": "us-east-1",
            **(environment or {}),
        },
        input=event,
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(number) for number in done.stdout.splitlines()[-1].split()]


def _print_sizes(artifacts: Artifacts) -> None:
    print(f"\nthe layers, unpacked, MiB; {LAYER_MAX_MIB} are allowed for all of a function's")
    for layer in artifacts.layers:
        sizes = dict(_package_sizes(layer))
        largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:LARGEST]
        shown = ", ".join(f"{name} {sizes[name] / 2**20:.1f}" for name in largest)
        print(f"{layer.parent.name:14} {sum(sizes.values()) / 2**20:6.1f}   {shown}")


def _package_sizes(layer: Path) -> Iterator[tuple[str, int]]:
    for entry in layer.iterdir():
        files = entry.rglob("*") if entry.is_dir() else [entry]
        yield entry.name, sum(path.stat().st_size for path in files if path.is_file())


def _print_times(what: str, medians: Mapping[str, float], aims: Mapping[str, float]) -> None:
    base = medians[""]
    print(f"\n{what}, processor ms of a fresh interpreter, median, beside `{BASE}` in the same run")
    print(f"{'base':14} {base * 1000:6.0f}")
    for name, seconds in medians.items():
        if name:
            ratio, aim = seconds / base, aims.get(name, AIM)
            print(f"{name:14} {seconds * 1000:6.0f} {ratio:6.2f}x   aim {aim:.1f}x{'' if ratio < aim else '   MISSED'}")


if __name__ == "__main__":
    main()
