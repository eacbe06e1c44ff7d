"""Questions with their first candidates in words, for the training of the pair model: `python -m tools.fit.dump --help`.

    python -m tools.fit.dump SPIDER OUT [--own tests/pairs] [--questions N] [--seed 0] [--work FOLDER]

OUT is a gzip file with a line of JSON for each question of a database that is fitted to or calibrated on.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quarry.reader.learned import learned
from quarry.reader.pair_text import text_of
from tools.fit.__main__ import opened, pairs_of
from tools.fit.pairs import Part
from tools.fit.training import Fit, Judged

PARTS: tuple[Part, ...] = ("fitted to", "calibrated on")
CANDIDATES_MAX = 24
"""So many candidates of a question are written, and as many more of those that are right."""
TOLD_EVERY = 200


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fit.dump", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("spider", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--own", type=Path, default=Path("tests/pairs"))
    parser.add_argument("--questions", type=int, default=10_000, help="of each set at most, of those fitted to")
    parser.add_argument("--judged", type=int, default=400, help="of each set at most, of those calibrated on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, help="where databases and results are kept; without it they are not")
    given = parser.parse_args(arguments)
    with opened(given) as world, gzip.open(given.out, "wt", encoding="utf-8") as out:
        fit = Fit(world, list(learned().weights))
        began = time.monotonic()
        for part in PARTS:
            for place, pair in enumerate(pairs_of(given, part, with_unanswerable=True), 1):
                judged = fit.judged(pair)
                if judged is not None and judged.found.all:
                    out.write(json.dumps({"part": part, **line_of(judged)}) + "\n")
                if place % TOLD_EVERY == 0:
                    print(f"{part}, {place}: {time.monotonic() - began:.0f} s", file=sys.stderr)


def line_of(judged: Judged) -> dict[str, Any]:
    """A question with its candidates as JSON: text, linear score, whether it is wanted."""
    rows = [
        [text_of(each.composed), round(each.score, 3), wanted]
        for each, wanted in zip(judged.found.all, judged.wanted, strict=True)
    ]
    kept = [*rows[:CANDIDATES_MAX], *[row for row in rows[CANDIDATES_MAX:] if row[2]][:3]]
    pair = judged.pair
    return {
        "database": pair.database,
        "kind": pair.kind,
        "question": pair.question,
        "previous": pair.previous or "",
        "candidates": kept,
    }


if __name__ == "__main__":
    main()
