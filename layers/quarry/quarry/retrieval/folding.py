"""Grouping texts that say nearly the same. Pure.

Sorted neighbourhoods (Hernández and Stolfo, "The merge/purge problem for large databases", SIGMOD 1995): texts are sorted by
their words, forwards and backwards, and compared with their neighbours; what is alike is of one group. O(n log n).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

NEIGHBOURS = 3
"""So many of those behind a text are compared with it, in either order."""

RESEMBLANCE_MIN = 0.85
"""Texts are nearly the same that share this much of all the words that either has (Jaccard), and every number."""

_WORD = re.compile(r"\w+")


def fold(texts: Sequence[str]) -> list[list[int]]:
    """The places of `texts`, each in one group with those that say nearly the same, first places first; a text without words is
    alone.
    """
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
    """Whether two texts of these words say nearly the same: hardly a word differs, and none that holds a digit."""
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
    """The least place of a text's group; the way there is halved for the next who asks."""
    while group[place] != place:
        group[place] = group[group[place]]
        place = group[place]
    return place
