"""Writes training data for `tools.fit.adapters`, sentences that answer questions: `python -m tools.fit.sentences PROSE DUMP`.

PROSE is `tests/pairs/prose`. Each question comes with the nearest sentences of its collection, by the cosine of the local
embedding model, and a few of other collections. A sentence with the fact of an answered question answers it. Half of these
questions are also written without that sentence: the records are on the subject, but none of them answers.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from quarry.language.word_forms import sentences
from quarry.models.local_embedding import LocalEmbedding

HELD_OUT = frozenset(
    "allotments border_village choir farm_coop forestry insurance lighthouse pflege software_release theatre tram_authority vet"
    " zoo".split()
)
"""Collections that the adapters are never trained on: the probability is fitted to their questions."""
WRONG_MAX = 10
WRONG_WITHOUT_RIGHT_MAX = 6
FAR = 2
"""Sentences of other collections per answered question."""
SEED = 3


@dataclass(frozen=True)
class Sentence:
    collection: str
    text: str


def read_prose(folder: Path) -> dict[str, dict[str, Any]]:
    """The small collections by name: `records` as title and body, `answered` as question and fact, `unanswerable`."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def sentences_of(name: str, told: Mapping[str, Any]) -> Iterator[Sentence]:
    """The sentences of a collection, each after the title of its record."""
    for title, body in told["records"]:
        yield from (Sentence(name, f"{title}: {each}") for each in sentences(body))


async def rows(prose: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows of the dump."""
    all_of_them = [each for name, told in prose.items() for each in sentences_of(name, told)]
    asked = [
        (name, question, fact)
        for name, told in prose.items()
        for question, fact in (*told["answered"], *((each, None) for each in told["unanswerable"]))
    ]
    model = LocalEmbedding()
    near = (
        np.array(await model.embed([question for _, question, _ in asked]))
        @ np.array(await model.embed([each.text for each in all_of_them])).T
    )
    chosen = random.Random(SEED)  # noqa: S311 - nothing secret
    return (
        row
        for (name, question, fact), cosines in zip(asked, near, strict=True)
        for row in _rows_of(name, question, fact, [all_of_them[place] for place in np.argsort(-cosines)], chosen)
        if name not in HELD_OUT
    )


def _rows_of(
    name: str, question: str, fact: str | None, nearest: Sequence[Sentence], chosen: random.Random
) -> Iterator[dict[str, Any]]:
    """The rows of one question; `nearest` are all sentences, nearest first."""
    right = [each.text for each in nearest if fact and each.collection == name and fact in each.text]
    wrong = [each.text for each in nearest if each.collection == name and each.text not in right][:WRONG_MAX]
    far = [
        each.text for each in nearest if each.collection != name and (each.collection in HELD_OUT) == (name in HELD_OUT)
    ]
    if right:
        yield _row(question, right, [*wrong, *chosen.sample(far, FAR)])
    if not right or chosen.random() < 0.5:
        yield _row(question, [], wrong[:WRONG_WITHOUT_RIGHT_MAX])


def _row(question: str, right: Sequence[str], wrong: Sequence[str]) -> dict[str, Any]:
    return {
        "question": question,
        "previous": "",
        "candidates": [*([text, True] for text in right), *([text, False] for text in wrong)],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the dump."""
    parser = argparse.ArgumentParser(prog="python -m tools.fit.sentences", description=__doc__)
    parser.add_argument("prose", type=Path)
    parser.add_argument("dump", type=Path)
    given = parser.parse_args(arguments)
    with gzip.open(given.dump, "wt", encoding="utf-8") as file:
        for row in asyncio.run(rows(read_prose(given.prose))):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
