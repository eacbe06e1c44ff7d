"""Fits the weights of the reader to questions with known answers, calibrates how likely it is right, and prints what it is worth.

    python -m tools.fit SPIDER [--own tests/pairs] [--questions N] [--passes 2] [--seed 0] [--work FOLDER] [--write]

SPIDER holds `queries.csv` (database, question, sql) and `databases/NAME/{schema.sql,data/*.csv}`. Databases are split by the
digest of their names: most are fitted to, some only calibrate chances, the rest is held out and judged. WORK keeps the loaded
databases and the results of queries for the next time. `--write` puts the weights into the package.

The adapters of the second stage are trained by two more commands, before chances are calibrated by `--passes 0 --start WEIGHTS`:

    python -m tools.fit.dump SPIDER DUMP
    python -m tools.fit.adapters DUMP layers/quarry/quarry/reader/weights/adapters.safetensors
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import get_args

import psycopg

import quarry.reader
from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.models.local_embedding import INSTALLATION
from quarry.reader.learned import Learned, unpacked, write
from quarry.reader.pair_model import PairModel, pair_model
from quarry.reader.ranking import pair_scores_of
from tools.fit.calibration import Seen, calibration_of, seen_of
from tools.fit.pairs import Pair, Part, own_pairs, part_of, spider_pairs
from tools.fit.report import table
from tools.fit.training import Fit, Judged
from tools.fit.world import World

FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}
"""The server goes with its rows, or they are loaded again."""
TOLD_EVERY = 200
CONTEXT_EVERY = 12
"""One question of so many is asked behind one that it has nothing to do with."""
LINEAR_SHARES = (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)
"""What the linear score may count next to that of the pair model."""
WEIGHTS = Path(quarry.reader.__file__).parent / "weights"


def main(arguments: Sequence[str] | None = None) -> None:
    given = _given(arguments)
    pairs = {part: pairs_of(given, part) for part in get_args(Part)}
    with opened(given) as world:
        fit = Fit(world, unpacked(given.start.read_bytes()) if given.start else None)
        for number in range(given.passes):
            _learn(fit, pairs["fitted to"], number, given.seed)
        _calibrate_and_judge(fit, pairs, given)


def _given(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fit", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("spider", type=Path)
    parser.add_argument("--own", type=Path, default=Path("tests/pairs"))
    parser.add_argument("--questions", type=int, default=10_000, help="of each set at most, of those fitted to")
    parser.add_argument(
        "--judged", type=int, default=400, help="of each set at most, of those held out or calibrated on"
    )
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, help="where databases and results are kept; without it they are not")
    parser.add_argument("--start", type=Path, help="a file of weights to begin with")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    return parser.parse_args(arguments)


@contextmanager
def opened(given: argparse.Namespace) -> Iterator[World]:
    """The databases, in a Postgres of their own; what queries gave is kept at the end."""
    with _work(given.work) as work, EmbeddedPostgres(work / "postgres", parameters=FAST) as server:
        with psycopg.connect(server.start(), autocommit=True) as connection:
            world = World(connection, given.spider, given.own, work / "results")
            yield world
            world.keep()


def pairs_of(given: argparse.Namespace, part: Part, *, with_unanswerable: bool = False) -> list[Pair]:
    """The pairs of a part, of each set so many, drawn by the seed. Nothing is fitted to what has no answer."""
    most = given.questions if part == "fitted to" else given.judged
    chosen: list[Pair] = []
    for source in (spider_pairs(given.spider), own_pairs(given.own)):
        pairs = [pair for pair in source if part_of(pair) == part]
        if part == "fitted to" and not with_unanswerable:
            pairs = [pair for pair in pairs if pair.sql is not None]
        random.Random(given.seed).shuffle(pairs)  # noqa: S311 - nothing secret
        chosen += pairs[:most]
    return _in_conversation(chosen)


def _in_conversation(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs, some of them behind a question that they do not go on from."""
    asked: dict[str, str] = {}
    found: list[Pair] = []
    for place, pair in enumerate(pairs):
        earlier = asked.get(pair.database)
        is_behind = pair.previous is None and earlier is not None and place % CONTEXT_EVERY == 0
        found.append(replace(pair, previous=earlier) if is_behind else pair)
        asked[pair.database] = pair.question
    return found


def _learn(fit: Fit, pairs: Sequence[Pair], number: int, seed: int) -> None:
    began, judged = time.monotonic(), list[Judged]()
    for place, each in enumerate(fit.learn(pairs, seed + number), 1):
        judged.append(each)
        if place % TOLD_EVERY == 0:
            right = sum(one.is_first_right for one in judged) / len(judged)
            among = sum(any(one.right) for one in judged) / len(judged)
            took = time.monotonic() - began
            print(f"pass {number + 1}, {place}: right {right:.2f}, among {among:.2f}, {took:.0f} s", file=sys.stderr)
            judged.clear()


def _calibrate_and_judge(fit: Fit, pairs: Mapping[Part, Sequence[Pair]], given: argparse.Namespace) -> None:
    """Calibrate each stage, write what was learned, and print what both are worth."""
    model = pair_model()
    if model is None:
        raise SystemExit(f"The embedding model is not installed; the second stage needs it: {INSTALLATION}")
    by_linear, by_both = _seen(fit, pairs["calibrated on"], model, LINEAR_SHARES)
    share = max(LINEAR_SHARES, key=lambda share: sum(each.is_right for each in by_both[share]))
    learned = Learned(fit.weights, calibration_of(by_linear), calibration_of(by_both[share]), share)
    if given.write:
        write(WEIGHTS, learned)
    by_linear, by_both = _seen(fit, pairs["held out"], model, [share])
    print(f"The linear stage alone:\n\n{table(by_linear, learned.by_linear)}\n")
    print(f"Both stages:\n\n{table(by_both[share], learned.by_both)}")


def _seen(
    fit: Fit, pairs: Sequence[Pair], model: PairModel, shares: Sequence[float]
) -> tuple[list[Seen], dict[float, list[Seen]]]:
    """What pairs show of readings by the linear stage alone, and by both, where the linear score has each of these shares."""
    by_linear, by_both = list[Seen](), {share: list[Seen]() for share in shares}
    for judged in _judged(fit, pairs):
        by_linear.append(seen_of(judged))
        read = pair_scores_of(judged.found, judged.pair.previous or "", model)
        for share, seen in by_both.items():
            seen.append(seen_of(judged.by_both(read, share)))
    return by_linear, by_both


def _judged(fit: Fit, pairs: Sequence[Pair]) -> Iterator[Judged]:
    for pair in pairs:
        judged = fit.judged(pair)
        if judged is not None:
            yield judged


@contextmanager
def _work(folder: Path | None) -> Iterator[Path]:
    """Where databases are kept."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        yield folder
        return
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


if __name__ == "__main__":
    main()
