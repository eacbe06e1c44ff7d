"""The cost of a cold start: the layers' sizes, the processor time of importing each built function, and the local model.

The time is that of a fresh interpreter of the functions' version, which sees only its built layers. The same run also measures
an interpreter that imports only psycopg and pydantic. The machine's speed is in both, so read the ratio.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.rehearsal.artifacts import Artifacts, CannotRun, build

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
    _print_imports(import_times(artifacts, imports))
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


def _import_seconds(artifacts: Artifacts, name: str, statement: str) -> float:
    paths = [artifacts.function(name), *artifacts.layers_of(name)] if name else [artifacts.shared_layer]
    return _run(artifacts, MEASURE.format(statement=statement), paths)[0]


def _run(artifacts: Artifacts, program: str, paths: Sequence[Path]) -> list[float]:
    """The numbers printed by a program in a fresh interpreter of the functions' version."""
    done = subprocess.run(
        [artifacts.python, "-S", "-c", program],
        # as in Lambda, where the function's folder is read-only
        env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(number) for number in done.stdout.split()]


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


def _print_imports(medians: Mapping[str, float]) -> None:
    base = medians[""]
    print(
        "\nimport of a function, processor ms of a fresh interpreter, median, beside `import psycopg, pydantic` in the same run"
    )
    print(f"{'base':14} {base * 1000:6.0f}")
    for name, seconds in medians.items():
        if name:
            ratio, aim = seconds / base, AIMS.get(name, AIM)
            print(f"{name:14} {seconds * 1000:6.0f} {ratio:6.2f}x   aim {aim:.1f}x{'' if ratio < aim else '   MISSED'}")


if __name__ == "__main__":
    main()
