"""The features that score parts of a query: how a field is named, which words are near, which words frame the question. Pure.

Features are hashed by name and come in bundles that candidates share.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from zlib import crc32

from quarry.language.word_forms import STOP_WORDS
from quarry.reader.mentions import Mentions, WordRun, union
from quarry.reader.names import FieldName, LinkName, Name, Names, SourceName

DIMENSIONS = 1 << 20
"""The number of weights. Features whose names have the same hash share one."""
LOGIT_MAX = 30.0
"""Scores are clipped to this distance from 0."""


@lru_cache(maxsize=1 << 17)
def index_of(name: str) -> int:
    """The position of a feature's weight."""
    return crc32(name.encode()) & (DIMENSIONS - 1)


class Bundle:
    """Features that always occur together, with their values and their total score."""

    __slots__ = ("features", "score")

    def __init__(self, features: Sequence[tuple[int, float]], weights: Sequence[float]) -> None:
        self.features = features
        self.score = sum([weights[place] * value for place, value in features])


def chance_of(weights: Mapping[str, float], values: Mapping[str, float]) -> float:
    """The probability, from 0 to 1, that a logistic regression with these weights gives for these named values."""
    score = sum(weights.get(name, 0.0) * value for name, value in values.items())
    return 1 / (1 + math.exp(-max(-LOGIT_MAX, min(LOGIT_MAX, score))))


NEAR_WORDS = 4
DISTANCE_MAX = 12
NEXT_WORDS = 1
"""How many words may separate names that belong together: "and"."""
NAMED_WELL = 0.5
TELLING = 0.08
"""Weight from which a word counts as a reason for a part."""
COVERED = 0.3
"""Initial score for each additional word read, to decide which parts to keep."""


@dataclass(frozen=True, eq=False)
class Features:
    """The words that a part reads, as bits, and the features that score it."""

    mask: int
    bundles: tuple[Bundle, ...]

    @cached_property
    def score(self) -> float:
        return sum([each.score for each in self.bundles])

    @property
    def rank(self) -> float:
        """The score by which parts of one kind are compared."""
        return self.score + COVERED * self.mask.bit_count()


@dataclass(eq=False)
class Clues:
    """The features of one question, in bundles that are each built once."""

    mentions: Mentions
    names: Names
    weights: Sequence[float]
    _cache: dict[object, Bundle] = field(default_factory=dict)

    def _bundle(self, key: object, features: Iterable[tuple[str, float]]) -> Bundle:
        """The bundle for a key, built from these features the first time."""
        bundle = self._cache.get(key)
        if bundle is None:
            bundle = Bundle([(index_of(name), value) for name, value in features], self.weights)
            self._cache[key] = bundle
        return bundle

    @cached_property
    def free_words(self) -> list[str]:
        """The words that are not numbers and name nothing."""
        words = (self.mentions.tokens[place].key for place in self.mentions.free)
        return [word for word in words if not word[0].isdigit()]

    @cached_property
    def pairs(self) -> list[str]:
        return [f"{one}_{two}" for one, two in pairwise(self.mentions.words)]

    @cached_property
    def frame(self) -> list[str]:
        """The words that say what is asked for: free words, pairs, and the first words."""
        words = self.mentions.words
        return [*self.free_words, *self.pairs, f"^{words[0] if words else ''}", f"^{'_'.join(words[:2])}"]

    def one(self, name: str, value: float = 1.0) -> Bundle:
        """A single feature."""
        return self._cache.get((name, value)) or self._bundle((name, value), ((name, value),))

    def framed(self, kind: str) -> Bundle:
        """All words that frame the question, for a kind of part."""
        return self._cache.get((kind, "frame")) or self._bundle((kind, "frame"), self._worded(kind, self.frame, 0.25))

    def freely(self, kind: str, weight: float = 0.5) -> Bundle:
        """The words that name nothing, for a kind of part."""
        words = [*self.free_words, *self.pairs]
        return self._cache.get((kind, "free")) or self._bundle((kind, "free"), self._worded(kind, words, weight))

    def _worded(self, kind: str, words: Iterable[str], weight: float) -> list[tuple[str, float]]:
        return [(kind, 1.0), *[(f"{kind}:{word}", weight) for word in words]]

    def near(self, kind: str, place: WordRun | None, words: int = NEAR_WORDS) -> Bundle:
        """The words right before and after a place, for a kind of part."""
        return self._bundle((kind, "near", place, words), self._near(kind, place, words))

    def _near(self, kind: str, place: WordRun | None, words: int) -> Iterator[tuple[str, float]]:
        if place is None:
            return
        question_words = self.mentions.words
        yield from ((f"{kind}<{word}", 1.0) for word in question_words[max(0, place.first - words) : place.first])
        yield from ((f"{kind}>{word}", 1.0) for word in question_words[place.last : place.last + words])
        if place.first:
            yield f"{kind}<<{question_words[place.first - 1]}", 1.0

    def leading_words(self, bundles: Container[Bundle]) -> set[str]:
        """The words that led to these bundles of parts, alone or together with the word before or after."""
        leads = set[str]()
        kinds = [
            key[0]
            for key, bundle in self._cache.items()
            if bundle in bundles and isinstance(key, tuple) and len(key) == 2 and key[1] == "free"
        ]
        words = self.mentions.words
        for word, behind in zip(words, [*words[1:], ""], strict=False):
            for kind in kinds:
                if self.weights[index_of(f"{kind}:{word}")] >= TELLING:
                    leads.add(word)
                if self.weights[index_of(f"{kind}:{word}_{behind}")] >= TELLING:
                    leads |= {word, behind}
        return leads

    def standing_for(self, fields: Iterable[FieldName]) -> set[str]:
        """The words that the learned weights take for the names of these fields, which the question does not name."""
        stems = {
            stem for each in fields if self.mentions.best(each) is None for name in each.names[:2] for stem in name
        }
        return {
            self.mentions.tokens[place].key
            for place in self.mentions.free
            if any(self.weights[index_of(f"{self.mentions.stems[place]}~{stem}")] >= TELLING for stem in stems)
        }

    def name(self, role: str, each: Name) -> Features:
        """How a source, field or link is named in a role; if it is not named, the words of the question that may stand for it."""
        place = self.mentions.best(each)
        features = self._field(role, each, place) if isinstance(each, FieldName) else self._source(role, each, place)
        return Features(place.mask if place else 0, (self._bundle((role, each), features),))

    def _field(self, role: str, each: FieldName, place: WordRun | None) -> Iterator[tuple[str, float]]:
        yield f"{role}:kind:{each.kind}", 1.0
        first = f"^{self.mentions.words[0]}" if self.mentions.tokens else "^"
        yield f"{role}:kind:{each.kind}:{first}", 0.5
        if each.is_pointer:
            yield f"{role}:key", 1.0
        if place is not None:
            yield f"{role}:named", place.likeness
            if place.likeness >= 0.99:
                yield f"{role}:whole", 1.0
            return
        yield f"{role}:unnamed", 1.0
        yield from self._stands_for(each)

    def hinted(self, each: FieldName | SourceName) -> float:
        """How strongly the learned weights link the free words to this name."""
        return self._bundle(("hinted", each), self._stands_for(each)).score

    def _stands_for(self, each: FieldName | SourceName) -> Iterator[tuple[str, float]]:
        stems = {stem for name in each.names[:2] for stem in name}
        for place in self.mentions.free:
            if self.mentions.tokens[place].key not in STOP_WORDS or place == 0:
                yield from ((f"{self.mentions.stems[place]}~{stem}", 1.0) for stem in stems)

    @cached_property
    def named_fields(self) -> list[int]:
        """The words that name fields, each place once, as bits."""
        fields = (places[0] for each, places in self.mentions.places.items() if isinstance(each, FieldName))
        return [*dict.fromkeys(place.mask for place in fields if place.likeness >= NAMED_WELL)]

    def together(self, role: str, fields: Sequence[FieldName]) -> Features:
        """The positions of the words that name several fields: how early, and which words are between or next to them."""
        masks = [place.mask for each in fields if (place := self.mentions.best(each))]
        if not masks:
            return Features(0, ())
        mask = union(masks)
        first, last = (mask & -mask).bit_length() - 1, mask.bit_length()
        others = [each for each in self.named_fields if not each & mask]
        between = sum(each >> first > 0 and each < 1 << last for each in others)
        behind = any(last <= (each & -each).bit_length() - 1 <= last + NEXT_WORDS for each in others)
        early = self.one(f"{role}:first", -min(first, 15) / 15)
        beside = self.one(f"{role}:between", float(min(between, 3))), self.one(f"{role}:behind", float(behind))
        return Features(0, (early, *beside))

    def distance(self, role: str, each: FieldName, place: WordRun) -> Bundle:
        """How near a field is named to other words."""
        places = self.mentions.places.get(each)
        if not places:
            return self.one(f"{role}:nowhere")
        nearest = min(min(abs(at.first - place.last), abs(at.last - place.first)) for at in places)
        return self.one(f"{role}:distance", -min(nearest, DISTANCE_MAX) / 6)

    def _source(self, role: str, each: SourceName | LinkName, place: WordRun | None) -> Iterator[tuple[str, float]]:
        if place is None:
            yield f"{role}:unnamed", 1.0
            if isinstance(each, SourceName) and role == "base":
                yield from self._stands_for(each)
            return
        yield f"{role}:named", place.likeness
        yield f"{role}:early", -min(place.first, 15) / 15
        if place.likeness >= 0.99:
            yield f"{role}:whole", 1.0

    def role(self, link: LinkName) -> Features:
        """How the reference behind a link is named, apart from the rows that it leads to."""
        target = self.names.sources[link.target or ""]
        stems = {stem for name in link.names for stem in name} - {stem for name in target.names for stem in name}
        mask = sum(1 << place for place, stem in enumerate(self.mentions.stems) if stem in stems)
        return Features(mask, (self._bundle(("role", link), self._role(stems, mask)),))

    def _role(self, stems: Iterable[str], mask: int) -> Iterator[tuple[str, float]]:
        yield ("role:named" if mask else "role:unnamed"), 1.0
        for place in () if mask else self.mentions.free:
            yield from ((f"{self.mentions.stems[place]}~{stem}", 1.0) for stem in stems)

    def joined(self, *parts: Features | Bundle) -> Features:
        """Combines several of these into one."""
        mask, bundles = 0, list[Bundle]()
        for part in parts:
            if isinstance(part, Features):
                mask |= part.mask
                bundles += part.bundles
            else:
                bundles.append(part)
        return Features(mask, tuple(bundles))

    def sourced(self, fields: Sequence[FieldName]) -> int:
        """The words that name the sources of some fields."""
        places = (self.mentions.best(self.names.sources[each.source]) for each in fields)
        return union(place.mask for place in places if place)
