"""Fuses results found by words and by meaning into one list, and groups texts that say nearly the same. Pure.

Scores are weighted (Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid retrieval", TOIS 2023) or ranks reciprocal
(Cormack, Clarke and Büttcher, SIGIR 2009). Near duplicates are found in sorted neighbourhoods (Hernández and Stolfo, "The
merge/purge problem for large databases", SIGMOD 1995): texts are sorted by their words, forwards and backwards, and compared with
their neighbours. O(n log n).
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Generic, Literal, NamedTuple, TypeVar

NEIGHBOURS = 3
"""How many following texts each text is compared with, in either order."""

RESEMBLANCE_MIN = 0.85
"""Texts are nearly the same if their words overlap this much (Jaccard) and they share every number."""

_WORD = re.compile(r"\w+")


def fold(texts: Sequence[str]) -> list[list[int]]:
    """The positions of `texts` in groups that say nearly the same, in order; a text without words is alone."""
    words = [tuple(_WORD.findall(text.casefold())) for text in texts]
    sets = [frozenset(each) for each in words]
    group = list(range(len(texts)))
    for one, other in chain(_neighbours(words), _neighbours([each[::-1] for each in words])):
        if _root(group, one) != _root(group, other) and is_nearly_same(sets[one], sets[other]):
            first, second = sorted((_root(group, one), _root(group, other)))
            group[second] = first
    folded: dict[int, list[int]] = {}
    for place in range(len(texts)):
        folded.setdefault(_root(group, place), []).append(place)
    return list(folded.values())


def is_nearly_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts with these words are nearly the same: few words differ, and none with a digit."""
    shared = len(one & other)
    if not shared or shared < RESEMBLANCE_MIN * (len(one) + len(other) - shared):
        return False
    return not any(character.isdigit() for word in one ^ other for character in word)


def _neighbours(words: Sequence[tuple[str, ...]]) -> list[tuple[int, int]]:
    in_order = sorted(range(len(words)), key=lambda place: (words[place], place))
    return [
        (place, other) for index, place in enumerate(in_order) for other in in_order[index + 1 : index + 1 + NEIGHBOURS]
    ]


def _root(group: list[int], place: int) -> int:
    """The first position of a text's group; halves the path for the next call."""
    while group[place] != place:
        group[place] = group[group[place]]
        place = group[place]
    return place


Key = TypeVar("Key", bound=Hashable)

Method = Literal["scores", "reciprocal_rank"]
"""How scores are made comparable. scores: as they are (the share of the best possible text score, and a cosine);
reciprocal_rank: 1 / (RRF_K + rank).
"""

RRF_K = 50
SEMANTIC_WEIGHT = 0.4
"""The weight of meaning; words have the rest of 1. The best mean over five judged collections, flat from 0.3 to 0.5."""

WORDS_HELD = 0.4
"""If the best text score is below this, the words match little of the query, and meaning weighs more: up to twice as much. Flat
from 0.4 to 0.6 on the judged collections.
"""


class Scored(NamedTuple, Generic[Key]):
    """A result found by words, by meaning (cosine), or by both; None if not found that way."""

    key: Key
    text: float | None
    similarity: float | None


class Fused(NamedTuple, Generic[Key]):
    """An item of the fused list: its score, its ranks by words and by meaning (1 is best), and its similarity (cosine)."""

    key: Key
    score: float
    text_rank: int | None = None
    semantic_rank: int | None = None
    similarity: float | None = None


def fuse(
    results: Sequence[Scored[Key]], *, method: Method = "scores", semantic_weight: float = SEMANTIC_WEIGHT
) -> list[Fused[Key]]:
    """The results, each key once, best first, by (1 − semantic_weight) · text + semantic_weight · similarity. With the method
    `scores`, meaning weighs more if words match little of the query.

    A missing score counts 0. Reciprocal ranks are added with weight 1 each, as published. Items with equal scores are ordered by
    their best rank, then by their key, so that the order is stable.
    """
    text = {item.key: item.text for item in results if item.text is not None}
    similarity = {item.key: item.similarity for item in results if item.similarity is not None}
    ranks = _ranks(text), _ranks(similarity)
    if method == "scores":
        share = min(1.0, max(text.values(), default=0.0) / WORDS_HELD)
        semantic_weight = min(1.0, semantic_weight * (2 - share))
        halves = [(1 - semantic_weight, text), (semantic_weight, similarity)]
    else:
        halves = [(1.0, {key: 1 / (RRF_K + rank) for key, rank in each.items()}) for each in ranks]
    fused = [
        Fused(
            key,
            math.fsum([weight * scaled.get(key, 0.0) for weight, scaled in halves]),
            ranks[0].get(key),
            ranks[1].get(key),
            similarity.get(key),
        )
        for key in dict.fromkeys([item.key for item in results])
        if key in text or key in similarity
    ]
    return sorted(fused, key=_order)


def _order(item: Fused[Key]) -> tuple[float, int, str]:
    ranks = [rank for rank in (item.text_rank, item.semantic_rank) if rank is not None]
    return -item.score, min(ranks), str(item.key)


def _ranks(scores: Mapping[Key, float]) -> dict[Key, int]:
    ordered = sorted(scores, key=lambda key: (-scores[key], str(key)))
    return {key: rank for rank, key in enumerate(ordered, start=1)}
