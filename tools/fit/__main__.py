"""Fits the weights of the reader to questions with known answers, calibrates its probabilities, and prints how good it is.

    python -m tools.fit SPIDER [--own tests/pairs] [--questions N] [--passes 2] [--seed 0] [--work FOLDER] [--dump DUMP] [--write]

SPIDER holds `queries.csv` (database, question, sql) and `databases/NAME/{schema.sql,data/*.csv}`. Databases are split by a hash
of their names: most are for fitting, some only for calibration, and the rest is held out for judging. WORK keeps the loaded
databases and the results of queries for the next run. `--write` puts the weights into the package.

The adapters of the second stage are trained on the candidates of the first pass, taken before the weights learned from their
question; `--dump` saves these. Probabilities are calibrated once both stages exist:

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
from quarry.platform.settings import LOCAL_EMBEDDING_DIMENSIONS
from quarry.postgres.migrate import migrate
from quarry.reader.learned import WEIGHTS_FILE, Learned, StoredWeights, pair_model
from quarry.reader.reading import pair_scores_of
from tools.fit.calibration import Seen, calibration_of, seen_of
from tools.fit.invented import invented_pairs
from tools.fit.pairs import OWN, Pair, Part, own_pairs, part_of, spider_pairs
from tools.fit.parallel import Place, Workers, shared_weights
from tools.fit.report import table
from tools.fit.stored import packed, write, write_words
from tools.fit.superlatives import superlatives_of
from tools.fit.training import Fit, Learner, Lesson, first_weights, lesson_of
from tools.fit.words import extreme_of, ordering_of, words_of

FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}
"""Safe because the server's data is temporary or can be loaded again."""
TOLD_EVERY = 200
CONTEXT_EVERY = 12
"""One question in this many follows an unrelated one."""
LINEAR_SHARES = (0.3, 0.6, 1.0, 1.5, 2.2, 3.0, 4.0)
"""The factors to try for the linear score when it is added to the score of the pair model."""
WEIGHTS = Path(quarry.reader.__file__).parent / "weights"


def main(arguments: Sequence[str] | None = None) -> None:
    given = _given(arguments)
    pairs = {part: pairs_of(given, part) for part in get_args(Part)}
    weights = shared_weights(StoredWeights(given.start.read_bytes()) if given.start else first_weights())
    learner = Learner(weights, is_new=given.start is None)
    with opened(given, weights) as workers:
        if given.write:
            ordering = ordering_of([*filter(None, workers.each(extreme_of, pairs["fitted to"]))])
            write_words(WEIGHTS, words_of(pairs["fitted to"], ordering))
        fitted_to = [*pairs["fitted to"], *_made(workers, given)]
        for number in range(given.passes):
            with _dumped(given.dump if number == 0 else None) as dumped:
                _learn(learner, workers, fitted_to, number, given.seed, dumped)
            if given.write:
                (WEIGHTS / WEIGHTS_FILE).write_bytes(packed(weights))
        if given.dump is None:
            _calibrate_and_judge(weights, workers, pairs, given)


def _made(workers: Workers, given: argparse.Namespace) -> list[Pair]:
    """Superlatives over all databases to fit to, and questions over the invented ones with files of words, drawn by the seed."""
    own = [Pair(f"{OWN}{path.stem}", "", None, kind="") for path in sorted((given.own / "databases").glob("*.toml"))]
    spoken = [each for each in own if part_of(each) == "fitted to"]
    one_each = {pair.database: pair for pair in pairs_of(given, "fitted to")}
    drawn = random.Random(given.seed)  # noqa: S311 - nothing secret
    found: list[Pair] = []
    for most, task, about in (
        (given.superlatives, superlatives_of, [*one_each.values()]),
        (given.invented, partial(invented_pairs, number=-(-given.invented // max(1, len(spoken)))), spoken),
    ):
        made = [pair for pairs in workers.each(task, about) for pair in pairs] if most else []
        drawn.shuffle(made)
        found += made[:most]
    return found


@contextmanager
def _dumped(file: Path | None) -> Iterator[TextIO | None]:
    """The gzip file for the candidates that train the adapters: one line of JSON per question."""
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
    parser.add_argument("--questions", type=int, default=10_000, help="most questions per set, for fitting")
    parser.add_argument("--judged", type=int, default=400, help="most questions per set, for judging and calibration")
    parser.add_argument("--superlatives", type=int, default=0, help="how many superlatives to make, for fitting")
    parser.add_argument(
        "--invented", type=int, default=0, help="how many questions over invented databases to make, for fitting"
    )
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--work", type=Path, help="where databases and results are kept; without it they are not")
    parser.add_argument("--dump", type=Path, help="where candidates are written for the training of the adapters")
    parser.add_argument("--start", type=Path, help="a file of weights to start from")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    return parser.parse_args(arguments)


@contextmanager
def opened(given: argparse.Namespace, weights: Sequence[float]) -> Iterator[Workers]:
    """Processes that read with these weights, on their own Postgres. The results of queries are saved at the end."""
    with _work(given.work) as work, EmbeddedPostgres(work / "postgres", parameters=FAST) as server:
        url = server.start()
        migrate(url, embedding_dimensions=LOCAL_EMBEDDING_DIMENSIONS)  # conditions on places call functions of ours
        place = Place(url, given.spider, given.own, work / "results")
        with Workers(place, weights, given.processes) as workers:
            yield workers


def pairs_of(given: argparse.Namespace, part: Part) -> list[Pair]:
    """The pairs of a part, limited per set, drawn by the seed."""
    most = given.questions if part == "fitted to" else given.judged
    chosen: list[Pair] = []
    for source in (spider_pairs(given.spider), own_pairs(given.own)):
        pairs = [pair for pair in source if part_of(pair) == part]
        random.Random(given.seed).shuffle(pairs)  # noqa: S311 - nothing secret
        chosen += pairs[:most]
    return _in_conversation(chosen)


def _in_conversation(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs, some of them after a question that they do not follow up on."""
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
    """One pass over pairs, in an order given by a seed."""
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
    """Calibrates each stage, writes what was learned, and prints how good both are."""
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
    """The readings of pairs by the linear stage alone, and by both with each of these factors for the linear score."""
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
    """The folder for the databases."""
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
