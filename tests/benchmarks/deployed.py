"""What a cold start costs: the layer's size, and the processor time of importing each function as it is built.

The time is that of a fresh interpreter of the functions' version, which sees the built layer and nothing else. Beside it, in the
same run, that of one that imports only psycopg and pydantic: the machine's speed is in both, so read the ratio.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.deployed.artifacts import ARCHITECTURE, OTHER_ARCHITECTURE, Artifacts, CannotRun, build

LARGEST = 5
"""Packages of the layer that are named."""

LAYER_MAX_MIB = 250
"""What Lambda unpacks for one function at most, its layers included."""

BASE = "import psycopg, pydantic"

MEASURE = """
import time
started = time.process_time()
{statement}
print(time.process_time() - started)
"""

AIMS = {"search": 3.0}
AIM = 2.5
"""A function's import takes no more than so many times the base; the search function, before its first model call, more."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.deployed", description=__doc__)
    parser.add_argument("--imports", type=int, default=9, help="fresh interpreters for each figure")
    measure(parser.parse_args().imports)


def measure(imports: int) -> None:
    """Print both tables, or why nothing can be measured here."""
    try:
        artifacts = build()
    except CannotRun as reason:
        print(f"\nno functions as built: {reason}")
        return
    _print_sizes(artifacts)
    _print_imports(import_times(artifacts, imports))


def import_times(artifacts: Artifacts, imports: int) -> dict[str, float]:
    """Median seconds of processor time for the base, under the empty name, and for each function."""
    statements = {"": BASE} | dict.fromkeys(artifacts.function_names(), "import app")
    taken: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(imports):
        # in turns, so that a busy moment falls on all of them alike
        for name, statement in statements.items():
            taken[name].append(_import_seconds(artifacts, name, statement))
    return {name: statistics.median(times) for name, times in taken.items()}


def _import_seconds(artifacts: Artifacts, name: str, statement: str) -> float:
    paths = [*([artifacts.function(name)] if name else []), artifacts.layer]
    done = subprocess.run(
        [artifacts.python, "-S", "-c", MEASURE.format(statement=statement)],
        # as in Lambda, where the function's folder cannot be written
        env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def _print_sizes(artifacts: Artifacts) -> None:
    print(f"\nthe layer, unpacked, MiB; {LAYER_MAX_MIB} are allowed")
    for architecture, layer in ((ARCHITECTURE, artifacts.layer), (OTHER_ARCHITECTURE, artifacts.other_layer)):
        sizes = dict(_package_sizes(layer))
        largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:LARGEST]
        shown = ", ".join(f"{name} {sizes[name] / 2**20:.1f}" for name in largest)
        print(f"{architecture:8} {sum(sizes.values()) / 2**20:6.1f}   {shown}")


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
