"""Commands that measure search."""

from __future__ import annotations

import argparse
from pathlib import Path

from quarry.domains import DOMAINS
from quarry.local.cli.parsing import Arguments, Commands, WrongUsage, add, add_json, on_database


def _eval(given: Arguments) -> int:
    from quarry_tools.comparison import read_earlier_queries
    from quarry_tools.evaluation import evaluate, read_files

    # wrong lines are told before a database is started for them
    queries = read_files(given.files, given.domain)
    earlier = read_earlier_queries(given.against) if given.against else None
    return on_database(lambda database: evaluate(queries, database, earlier=earlier, as_json=given.json))


def _tune(given: Arguments) -> int:
    from quarry_tools.evaluation import read_files
    from quarry_tools.tune import reset, tune

    if given.reset == bool(given.files):
        raise WrongUsage("give a FILE of judged queries to tune by, or --reset")
    if given.reset:
        return on_database(lambda database: reset(database, as_json=given.json))
    queries = read_files(given.files, given.domain)
    return on_database(
        lambda database: tune(queries, database, folds=given.folds, apply=given.apply, as_json=given.json)
    )


def add_to(commands: Commands) -> None:
    evaluate = add(
        commands, "eval", _eval, "measure search on judged queries",
        "quarry eval sql/sample/records/judged.jsonl",
    )  # fmt: skip
    evaluate.description = (
        "Run each query of a judged file through the search of its domain, in this process, and print by kind of\n"
        "query how good the ranking is, how often an answer is right or a demand broken, and the times. With a\n"
        "chat model the searches that use one call it. docs/evaluating.md says how to judge queries of your own."
    )
    evaluate.add_argument("files", metavar="FILE", type=Path, nargs="+", help="one judged query a line, as JSON")
    evaluate.add_argument("--domain", choices=sorted(DOMAINS), help="only the queries of this domain")
    evaluate.add_argument(
        "--against", metavar="EARLIER.json", type=Path, help="compare with what `quarry eval --json` wrote earlier"
    )
    add_json(evaluate)

    tune = add(
        commands, "tune", _tune, "find the weights of words and meaning that suit your data",
        "quarry tune sql/sample/records/judged.jsonl",
    )  # fmt: skip
    tune.description = (
        "Try weights of words and meaning on judged queries, and see how those that did best do on queries that were\n"
        "held out. --apply stores them for this database, if they do better there; what the environment sets wins."
    )
    tune.add_argument("files", metavar="FILE", type=Path, nargs="*", help="one judged query a line, as JSON")
    tune.add_argument("--domain", choices=sorted(DOMAINS), help="only the queries of this domain")
    tune.add_argument(
        "--folds",
        type=_folds,
        default=5,
        metavar="N",
        help="how many parts are held out in turn (default: %(default)s)",
    )
    tune.add_argument("--apply", action="store_true", help="store the best weights for this database")
    tune.add_argument("--reset", action="store_true", help="forget what was stored")
    add_json(tune)


def _folds(text: str) -> int:
    if text.isdecimal() and int(text) >= 2:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 1")
