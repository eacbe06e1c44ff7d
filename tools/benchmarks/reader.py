"""`make bench`: the cost of reading a question without a model, with 50 sources of 20 fields, compared with a small schema.

`values` measures the look-up of values. The machine's noise is in every figure.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import random
import statistics
import time
from collections.abc import Sequence
from itertools import product

from quarry.models.local_embedding import LocalEmbedding, installed_weights
from quarry.reader.learned import PairModel, learned, pair_model
from quarry.reader.mentions import ValueLink
from quarry.reader.reading import read_question
from quarry.schema.source import Field, Kind, Link, Schema, Source

TODAY = datetime.date(2026, 3, 18)
KINDS: tuple[Kind, ...] = ("text", "number", "date", "money", "text", "boolean", "text", "number")
CPU_MS_MAX = 60.0
"""Limit for a question read by the linear stage alone."""
BOTH_CPU_MS_MAX = 150.0
"""Limit for a question read with the pair model."""
_SYLLABLES = "ba co di fu ga he ji ka lo mi nu po ri sa te vu wa xe yo zi".split()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks reader", description="Reading questions.")
    parser.add_argument("--questions", type=int, default=200)
    given = parser.parse_args(arguments)
    learned()
    gc.freeze()  # keeps garbage collection from scanning the other benchmarks' imports while a question is read
    stages = [("linear stage", None, CPU_MS_MAX), ("both stages", pair_model(), BOTH_CPU_MS_MAX)]
    for sources, fields in ((4, 8), (50, 20)):
        schema = made(sources, fields)
        questions = _questions(schema, given.questions)
        for name, pairs, wanted in stages:
            for question, links in questions[:5]:
                read_question(question, schema, links, TODAY, learned(), None, pairs)
            costs = sorted(_cost(schema, question, links, pairs) for question, links in questions)
            print(
                f"{sources} sources of {fields} fields, {name}: median {statistics.median(costs):.0f} ms of CPU a question, "
                f"p95 {costs[int(0.95 * len(costs))]:.0f} ms, at most {wanted:.0f} wanted"
            )


def _cost(schema: Schema, question: str, links: Sequence[ValueLink], pairs: PairModel | None) -> float:
    began = time.process_time()
    read_question(question, schema, links, TODAY, learned(), None, pairs)
    return 1000 * (time.process_time() - began)


def made(sources: int, fields: int) -> Schema:
    """A schema with names made of ordinary words. Each source has a link to the one before it."""
    chosen, words = random.Random(7), _words()

    def word() -> str:
        return chosen.choice(words)

    found: dict[str, Source] = {}
    before = ""
    while len(found) < sources:
        name = word()
        own = {f"{word()}_{word()}": KINDS[place % len(KINDS)] for place in range(fields)}
        links = (
            {before: Link(before, before, lambda row, other: f"{row}.a = {other}.b", False, before)} if before else {}
        )
        found[name] = Source(
            name, name, (name,), name, lambda row: f"{row}.id", lambda row: f"{row}.name",
            {each: Field(each, kind, _column(each), each.replace("_", " "), each) for each, kind in own.items()}, links,
        )  # fmt: skip
        before = name
    return Schema(found)


def _words() -> list[str]:
    """Words to make names of. Invented words would be cut into more pieces than the names of real schemas, and each piece is
    read.
    """
    if not LocalEmbedding.available():
        return ["".join(syllables) for syllables in product(_SYLLABLES, repeat=3)]
    pieces = (installed_weights() / "vocab.txt").read_text(encoding="utf-8").split("\n")
    return [each for each in pieces if each.isascii() and each.isalpha() and 4 <= len(each) <= 9][:5_000]


def _column(name: str):  # type: ignore[no-untyped-def]
    return lambda row: f"{row}.{name}"


def _questions(schema: Schema, count: int) -> list[tuple[str, list[ValueLink]]]:
    chosen = random.Random(11)
    asked: list[tuple[str, list[ValueLink]]] = []
    for _ in range(count):
        source = schema.sources[chosen.choice([*schema.sources])]
        one, two = chosen.sample([*source.fields.values()], 2)
        question = chosen.choice(
            [
                f"How many {source.name} have a {one.label} over 300 in 2025?",
                f"average {one.label} of {source.name} by {two.label}",
                f"show the {one.label} and {two.label} of all {source.name} called zorro, latest first",
                f"which {source.name} has the highest {one.label} since last March or a {two.label} below 5",
            ]
        )
        place = len(question.split()) - 2
        asked.append((question, [ValueLink(place, place + 1, source.name, one.name, "zorro", 3)]))
    return asked
