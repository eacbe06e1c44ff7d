"""What parts of a query are scored by: how a field is named, which words stand near, which words frame the question. Pure.

Features go by the hash of their names, in bundles that candidates share.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import pairwise
from zlib import crc32

from quarry.platform.text import STOP_WORDS
from quarry.reader.names import FieldName, LinkName, Names, SourceName
from quarry.reader.said import Place, Said

DIMENSIONS = 1 << 20
"""Weights that there are. Features whose names have the same hash share one."""
LOGIT_MAX = 30.0
"""A score further from 0 is as good as sure."""


@lru_cache(maxsize=1 << 17)
def index_of(name: str) -> int:
    """The place of a feature's weight."""
    return crc32(name.encode()) & (DIMENSIONS - 1)


class Bundle:
    """Features that always come together, with their values, and what they add to a score."""

    __slots__ = ("features", "score")

    def __init__(self, features: Sequence[tuple[int, float]], weights: Sequence[float]) -> None:
        self.features = features
        self.score = sum(weights[place] * value for place, value in features)


class Scorer:
    """Makes bundles for one question, each once."""

    def __init__(self, weights: Sequence[float]) -> None:
        self.weights = weights
        self._made: dict[object, Bundle] = {}

    def bundle(self, features: Iterable[tuple[str, float]]) -> Bundle:
        """A bundle of features by their names."""
        return Bundle([(index_of(name), value) for name, value in features], self.weights)

    def known(self, key: object) -> Bundle | None:
        """The bundle that was made for a key."""
        return self._made.get(key)

    def keys_of(self, bundles: Container[Bundle]) -> Iterator[object]:
        """The keys that some bundles were made for."""
        return (key for key, bundle in self._made.items() if bundle in bundles)

    def keep(self, key: object, features: Iterable[tuple[str, float]]) -> Bundle:
        """Make the bundle for a key."""
        made = self._made[key] = self.bundle(features)
        return made


def chance_of(weights: Mapping[str, float], known: Mapping[str, float]) -> float:
    """The probability by a logistic regression that has these weights, of what is known by name, from 0 to 1."""
    score = sum(weights.get(name, 0.0) * value for name, value in known.items())
    return 1 / (1 + math.exp(-max(-LOGIT_MAX, min(LOGIT_MAX, score))))


Weights = Mapping[str, Mapping[str, float]]
"""For each piece of named evidence what it counts for its targets."""


def stored_weights(package: str, file: str) -> Weights:
    """The weights in a package's folder `weights`: JSON compressed by zlib, since most of it is words that repeat."""
    held: Weights = json.loads(zlib.decompress((files(package) / "weights" / file).read_bytes()))
    return held


def packed_weights(weights: Weights) -> bytes:
    """Weights as `stored_weights` reads them."""
    return zlib.compress(json.dumps(weights, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(), 9)


def softmax(scores: Sequence[float]) -> list[float]:
    """Scores as probabilities."""
    if not scores:
        return []
    most = max(scores)
    powers = [math.exp(score - most) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


NEAR_WORDS = 4
DISTANCE_MAX = 12
NEXT_WORDS = 1
"""So many words stand between names that belong together: "and"."""
NAMED_WELL = 0.5
TELLING = 0.08
"""From this weight on a word is a reason for a part."""
COVERED = 0.3
"""What a word more that is read counts at first, when parts are kept or dropped by themselves."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The words that a part reads, as bits, and the features that say how likely it is meant."""

    mask: int
    bundles: tuple[Bundle, ...]

    @cached_property
    def score(self) -> float:
        return sum([each.score for each in self.bundles])

    @property
    def rank(self) -> float:
        """What parts of one kind are compared by."""
        return self.score + COVERED * self.mask.bit_count()


class Clues:
    """The features of one question."""

    def __init__(self, said: Said, names: Names, scorer: Scorer) -> None:
        self.said = said
        self.names = names
        self.scorer = scorer

    @cached_property
    def free_words(self) -> list[str]:
        """The words that nothing is called by, but numbers."""
        return [self.said.tokens[place].key for place in self.said.free if not self.said.tokens[place].key[0].isdigit()]

    @cached_property
    def pairs(self) -> list[str]:
        words = self.said.words
        return [f"{one}_{two}" for one, two in pairwise(words)]

    @cached_property
    def frame(self) -> list[str]:
        """The words that say what is asked for: free ones, pairs, and the first ones."""
        words = self.said.words
        return [*self.free_words, *self.pairs, f"^{words[0] if words else ''}", f"^{'_'.join(words[:2])}"]

    def one(self, name: str, value: float = 1.0) -> Bundle:
        """A feature by itself."""
        return self.scorer.known((name, value)) or self.scorer.keep((name, value), [(name, value)])

    def framed(self, kind: str, weight: float = 0.25) -> Bundle:
        """All words that frame the question, for a kind of part."""
        return self.scorer.known((kind, "frame")) or self.scorer.keep(
            (kind, "frame"), [(kind, 1.0), *((f"{kind}:{word}", weight) for word in self.frame)]
        )

    def freely(self, kind: str, weight: float = 0.5) -> Bundle:
        """The words that nothing is called by, for a kind of part."""
        return self.scorer.known((kind, "free")) or self.scorer.keep(
            (kind, "free"),
            [(kind, 1.0), *((f"{kind}:{word}", weight) for word in (*self.free_words, *self.pairs))],
        )

    def near(self, kind: str, place: Place | None, words: int = NEAR_WORDS) -> Bundle:
        """The words right before and behind a place, for a kind of part."""
        key = (kind, "near", place, words)
        return self.scorer.known(key) or self.scorer.keep(key, self._near(kind, place, words))

    def _near(self, kind: str, place: Place | None, words: int) -> Iterator[tuple[str, float]]:
        if place is None:
            return
        said = self.said.words
        yield from ((f"{kind}<{word}", 1.0) for word in said[max(0, place.first - words) : place.first])
        yield from ((f"{kind}>{word}", 1.0) for word in said[place.last : place.last + words])
        if place.first:
            yield f"{kind}<<{said[place.first - 1]}", 1.0

    def explained(self, bundles: Container[Bundle]) -> set[str]:
        """The words for which these bundles were chosen: by themselves, and with the word before or behind."""
        weights, found = self.scorer.weights, set[str]()
        kinds = [
            key[0]
            for key in self.scorer.keys_of(bundles)
            if isinstance(key, tuple) and len(key) == 2 and key[1] in ("frame", "free")
        ]
        words = self.said.words
        for word, behind in zip(words, [*words[1:], ""], strict=False):
            for kind in kinds:
                if weights[index_of(f"{kind}:{word}")] >= TELLING:
                    found.add(word)
                if weights[index_of(f"{kind}:{word}_{behind}")] >= TELLING:
                    found |= {word, behind}
        return found

    def field(self, role: str, each: FieldName) -> Evidence:
        """How a field is named, in a role; where it is not, which words of the question may stand for its name."""
        place = self.said.best(each)
        key = (role, each)
        bundle = self.scorer.known(key) or self.scorer.keep(key, self._field(role, each, place))
        return Evidence(place.mask if place else 0, (bundle,))

    def _field(self, role: str, each: FieldName, place: Place | None) -> Iterator[tuple[str, float]]:
        yield f"{role}:kind:{each.kind}", 1.0
        first = f"^{self.said.words[0]}" if self.said.tokens else "^"
        yield f"{role}:kind:{each.kind}:{first}", 0.5
        if each.is_key:
            yield f"{role}:key", 1.0
        if place is not None:
            yield f"{role}:named", place.likeness
            if place.likeness >= 0.99:
                yield f"{role}:whole", 1.0
            return
        yield f"{role}:unnamed", 1.0
        yield from self._stands_for(each)

    def hinted(self, each: FieldName | SourceName) -> float:
        """How far the words that nothing is called by stood for such a name in what was learned."""
        known = self.scorer.known(("hinted", each)) or self.scorer.keep(("hinted", each), self._stands_for(each))
        return known.score

    def _stands_for(self, each: FieldName | SourceName) -> Iterator[tuple[str, float]]:
        stems = {stem for name in each.called[:2] for stem in name}
        for place in self.said.free:
            if self.said.tokens[place].key not in STOP_WORDS or place == 0:
                yield from ((f"{self.said.stems[place]}~{stem}", 1.0) for stem in stems)

    @cached_property
    def named_fields(self) -> list[int]:
        """The words that fields are called by, each place once, as bits."""
        return [
            *dict.fromkeys(
                places[0].mask
                for each, places in self.said.named.items()
                if isinstance(each, FieldName) and places[0].likeness >= NAMED_WELL
            )
        ]

    def together(self, role: str, fields: Sequence[FieldName]) -> Evidence:
        """How the words that several fields are called by stand: how early, and which others stand between or next to them."""
        masks = [place.mask for each in fields if (place := self.said.best(each))]
        if not masks:
            return Evidence(0, ())
        mask = 0
        for each in masks:
            mask |= each
        first, last = (mask & -mask).bit_length() - 1, mask.bit_length()
        others = [each for each in self.named_fields if not each & mask]
        between = sum(each >> first > 0 and each < 1 << last for each in others)
        behind = any(last <= (each & -each).bit_length() - 1 <= last + NEXT_WORDS for each in others)
        return Evidence(
            0,
            (
                self.one(f"{role}:first", -min(first, 15) / 15),
                self.one(f"{role}:between", float(min(between, 3))),
                self.one(f"{role}:behind", float(behind)),
            ),
        )

    def distance(self, role: str, each: FieldName, place: Place) -> Bundle:
        """How near to other words a field is named."""
        named = self.said.named.get(each)
        if not named:
            return self.one(f"{role}:nowhere")
        nearest = min(min(abs(at.first - place.last), abs(at.last - place.first)) for at in named)
        return self.one(f"{role}:distance", -min(nearest, DISTANCE_MAX) / 6)

    def called(self, role: str, each: SourceName | LinkName) -> Evidence:
        """How a source or link is named, in a role."""
        place = self.said.best(each)
        key = (role, each)
        bundle = self.scorer.known(key) or self.scorer.keep(key, self._called(role, each, place))
        return Evidence(place.mask if place else 0, (bundle,))

    def _called(self, role: str, each: SourceName | LinkName, place: Place | None) -> Iterator[tuple[str, float]]:
        if place is None:
            yield f"{role}:unnamed", 1.0
            if isinstance(each, SourceName) and role == "base":
                yield from self._stands_for(each)
            return
        yield f"{role}:named", place.likeness
        yield f"{role}:early", -min(place.first, 15) / 15
        if place.likeness >= 0.99:
            yield f"{role}:whole", 1.0

    def joined(self, *parts: Evidence | Bundle) -> Evidence:
        """Several of these as one."""
        mask, bundles = 0, list[Bundle]()
        for part in parts:
            if isinstance(part, Evidence):
                mask |= part.mask
                bundles += part.bundles
            else:
                bundles.append(part)
        return Evidence(mask, tuple(bundles))

    def sourced(self, fields: Sequence[FieldName]) -> int:
        """The words that the sources of some fields are called by."""
        mask = 0
        for each in fields:
            place = self.said.best(self.names.sources[each.source])
            mask |= place.mask if place else 0
        return mask
