"""Fits the head of the pair model alone to the output of `tools.fit --dump`, in minutes on one core and without torch.

    python -m tools.fit.head DUMP ADAPTERS OUT [--questions 700]

The network and its adapters stay as they are in ADAPTERS; the head is drawn to what it was. The loss is that of
`tools.fit.adapters`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from quarry.models.local_embedding import MiniLM, installed_weights, read_safetensors
from quarry.reader.learned import HEAD_BIAS, HEAD_WEIGHT, PAIRS_MAX, encoded_pair, first_text
from tools.fit.tensors import write_half

Array = npt.NDArray[Any]

RIGHT_MAX = 2
"""How many right candidates to add that are not among the first ones."""
HELD = 0.015
"""How strongly the head is held to what it was. Chosen on 210 questions left out."""
STEPS = 120
RATE = 0.02


@dataclass(frozen=True)
class Example:
    """The means of the network for the candidates of a question, and which are right; the last row is "none of these"."""

    means: Array
    right: Array


def main(arguments: Sequence[str] | None = None) -> None:
    given = _given(arguments)
    adapters = dict(read_safetensors(given.adapters))
    network = MiniLM.with_adapters(installed_weights(), adapters)
    with gzip.open(given.dump, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    random.Random(given.seed).shuffle(rows)  # noqa: S311 - nothing secret
    examples = list(islice((_example(network, row) for row in rows if len(row["candidates"]) > 1), given.questions))
    start = np.append(adapters[HEAD_WEIGHT], adapters[HEAD_BIAS]).astype(np.float64)
    head = fitted(examples, start)
    print(f"right first: {right_of(examples, start):.3f} before, {right_of(examples, head):.3f} after")
    write_half(given.out, {**adapters, HEAD_WEIGHT: head[:-1], HEAD_BIAS: head[-1:]})


def _given(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fit.head", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dump", type=Path)
    parser.add_argument("adapters", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--questions", type=int, default=700)
    parser.add_argument("--seed", type=int, default=3)
    return parser.parse_args(arguments)


def _example(network: MiniLM, row: dict[str, Any]) -> Example:
    encode = network.tokenizer.encode
    first, more = row["candidates"][:PAIRS_MAX], row["candidates"][PAIRS_MAX:]
    read = [*first, *[each for each in more if each[1]][:RIGHT_MAX]]
    question = encode(first_text(row["question"], row["previous"]))
    means = np.array(network.means([encoded_pair(question, encode(text)) for text, _ in read]), dtype=np.float64)
    right = [is_right for _, is_right in read]
    return Example(_with_one(means), np.array([*right, not any(right)]))


def _with_one(means: Array) -> Array:
    """The means with a column of ones for the bias, and a row of zeros for "none of these"."""
    ones = np.hstack([means, np.ones((len(means), 1))])
    return np.vstack([ones, np.zeros((1, ones.shape[1]))])


def fitted(examples: Sequence[Example], start: Array) -> Array:
    """The head, with its bias last, by Adam (Kingma & Ba 2015) over all examples at once."""
    head, held = start.copy(), np.append(np.full(len(start) - 1, HELD), 0.0)
    moved, squares = np.zeros_like(head), np.zeros_like(head)
    for step in range(1, STEPS + 1):
        change = sum(_changes(examples, head)) / len(examples) + held * (head - start)
        moved = 0.9 * moved + 0.1 * change
        squares = 0.99 * squares + 0.01 * change**2
        head = head - RATE * moved / (1 - 0.9**step) / (np.sqrt(squares / (1 - 0.99**step)) + 1e-8)
    return head


def _changes(examples: Sequence[Example], head: Array) -> Iterator[Array]:
    for each in examples:
        chances = np.exp(each.means @ head - (each.means @ head).max())
        chances /= chances.sum()
        good = chances * each.right
        yield each.means.T @ (chances - good / good.sum())


def right_of(examples: Sequence[Example], head: Array) -> float:
    """The share of questions whose likeliest candidate is right, of those with a right one."""
    asked = [each for each in examples if each.right[:-1].any()]
    return float(np.mean([each.right[np.argmax((each.means @ head)[:-1])] for each in asked]))


if __name__ == "__main__":
    main()
