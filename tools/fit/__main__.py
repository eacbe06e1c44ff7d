"""Fits the weights of the reader to questions with known answers, calibrates how likely it is right, and prints what it is worth.

    python -m tools.fit SPIDER [--own tests/pairs] [--questions N] [--passes 2] [--seed 0] [--work FOLDER] [--dump DUMP] [--write]

SPIDER holds `queries.csv` (database, question, sql) and `databases/NAME/{schema.sql,data/*.csv}`. Databases are split by the
digest of their names: most are fitted to, some only calibrate chances, the rest is held out and judged. WORK keeps the loaded
databases and the results of queries for the next time. `--write` puts the weights into the package.

The adapters of the second stage are trained on the candidates of the first pass, as they were before the weights had learned
from their question; `--dump` keeps these. Chances are calibrated once both stages are there:

    python -m tools.fit SPIDER --dump DUMP --write
    python -m tools.fit.adapters DUMP layers/quarry/quarry/reader/weights/adapters.safetensors
    python -m tools.fit SPIDER --start layers/quarry/quarry/reader/weights/weights.bin --passes 0 --write
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TextIO, get_args

import quarry.reader
from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.models.local_embedding import INSTALLATION
from quarry.reader.learned import WEIGHTS_FILE, Learned, packed, pair_model, unpacked, write
from quarry.reader.reading import pair_scores_of
from tools.fit.calibration import Seen, calibration_of, seen_of
from tools.fit.pairs import Pair, Part, own_pairs, part_of, spider_pairs
from tools.fit.parallel import Place, Workers, shared_weights
from tools.fit.report import table
from tools.fit.training import Fit, Learner, Lesson, first_weights, lesson_of

FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}
"""The server goes with its rows, or they are loaded again."""
TOLD_EVERY = 200
CONTEXT_EVERY = 12
"""One question of so many is asked behind one that it has nothing to do with."""
LINEAR_SHARES = (0.3, 0.6, 1.0, 1.5, 2.2, 3.0, 4.0)
"""What the linear score may count next to that of the pair model."""
WEIGHTS = Path(quarry.reader.__file__).parent / "weights"


def main(arguments: Sequence[str] | None = None) -> None:
    given = _given(arguments)
    pairs = {part: pairs_of(given, part) for part in get_args(Part)}
    weights = shared_weights(unpacked(given.start.read_bytes()) if given.start else first_weights())
    learner = Learner(weights, is_new=given.start is None)
    with opened(given, weights) as workers:
        for number in range(given.passes):
            with _dumped(given.dump if number == 0 else None) as dumped:
                _learn(learner, workers, pairs["fitted to"], number, given.seed, dumped)
            if given.write:
                (WEIGHTS / WEIGHTS_FILE).write_bytes(packed(weights))
        if given.dump is None:
            _calibrate_and_judge(weights, workers, pairs, given)


@contextmanager
def _dumped(file: Path | None) -> Iterator[TextIO | None]:
    """Where candidates are written for the training of the adapters: a gzip file with a line of JSON for each question."""
    if file is None:
        yield None
        return
    with gzip.open(file, "wt", encoding="utf-8") as out:
        yield out


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
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--work", type=Path, help="where databases and results are kept; without it they are not")
    parser.add_argument("--dump", type=Path, help="where candidates are written for the training of the adapters")
    parser.add_argument("--start", type=Path, help="a file of weights to begin with")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    return parser.parse_args(arguments)


@contextmanager
def opened(given: argparse.Namespace, weights: Sequence[float]) -> Iterator[Workers]:
    """Processes that read by these weights, over a Postgres of their own; what queries gave is kept at the end."""
    with _work(given.work) as work, EmbeddedPostgres(work / "postgres", parameters=FAST) as server:
        place = Place(server.start(), given.spider, given.own, work / "results")
        with Workers(place, weights, given.processes) as workers:
            yield workers


def pairs_of(given: argparse.Namespace, part: Part) -> list[Pair]:
    """The pairs of a part, of each set so many, drawn by the seed."""
    most = given.questions if part == "fitted to" else given.judged
    chosen: list[Pair] = []
    for source in (spider_pairs(given.spider), own_pairs(given.own)):
        pairs = [pair for pair in source if part_of(pair) == part]
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


def _learn(
    learner: Learner, workers: Workers, pairs: Sequence[Pair], number: int, seed: int, dumped: TextIO | None
) -> None:
    """One pass over pairs, in the order that a seed gives."""
    order, began, lessons = [*pairs], time.monotonic(), list[Lesson]()
    random.Random(seed + number).shuffle(order)  # noqa: S311 - nothing secret
    for lesson in filter(None, workers.each(lesson_of, order)):
        learner.learn(lesson)
        lessons.append(lesson)
        if dumped and lesson.line:
            dumped.write(json.dumps(lesson.line) + "\n")
        if len(lessons) % TOLD_EVERY == 0:
            last = lessons[-TOLD_EVERY:]
            right = sum(each.is_first_right for each in last) / TOLD_EVERY
            among = sum(each.is_among for each in last) / TOLD_EVERY
            took = f"{time.monotonic() - began:.0f} s"
            told = f"pass {number + 1}, {len(lessons)}: right {right:.2f}, among {among:.2f}, {took}"
            print(told, file=sys.stderr, flush=True)


def _calibrate_and_judge(
    weights: Sequence[float], workers: Workers, pairs: Mapping[Part, Sequence[Pair]], given: argparse.Namespace
) -> None:
    """Calibrate each stage, write what was learned, and print what both are worth."""
    if pair_model() is None:
        raise SystemExit(f"The embedding model is not installed; the second stage needs it: {INSTALLATION}")
    by_linear, by_both = _seen(workers, pairs["calibrated on"], LINEAR_SHARES)
    share = max(LINEAR_SHARES, key=lambda share: sum(each.is_right for each in by_both[share]))
    learned = Learned(weights, calibration_of(by_linear), calibration_of(by_both[share]), share)
    if given.write:
        write(WEIGHTS, learned)
    by_linear, by_both = _seen(workers, pairs["held out"], [share])
    print(f"The linear stage alone:\n\n{table(by_linear, learned.by_linear)}\n")
    print(f"Both stages:\n\n{table(by_both[share], learned.by_both)}")


def _seen(
    workers: Workers, pairs: Sequence[Pair], shares: Sequence[float]
) -> tuple[list[Seen], dict[float, list[Seen]]]:
    """What pairs show of readings by the linear stage alone, and by both, where the linear score has each of these shares."""
    found = [*filter(None, workers.each(partial(_seen_of_pair, shares=shares), pairs))]
    by_both = {share: [seen[share] for _, seen in found] for share in shares}
    return [alone for alone, _ in found], by_both


def _seen_of_pair(fit: Fit, pair: Pair, shares: Sequence[float]) -> tuple[Seen, dict[float, Seen]] | None:
    judged, model = fit.judged(pair), pair_model()
    if judged is None or model is None:
        return None
    read = pair_scores_of(judged.found, pair.previous or "", model)
    return seen_of(judged), {share: seen_of(judged.by_both(read, share)) for share in shares}


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
