"""Chooses the kind and the part of each segment of a query, by fitted weights (`tools/fit/people`).

A log-linear model reads the segments from left to right. Earlier choices are features of later ones, so that a list goes on as it
began, and a "not" reaches as far as in the training data. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import log

from quarry.language.log_linear import Weights, softmax, stored_weights
from quarry.language.word_forms import STOP_WORDS, is_everyday
from quarry.people.segments import Cut, Segment

Part = str
PARTS: Mapping[str, tuple[Part, ...]] = {
    "company": ("must", "should", "exclude", "ignore"),
    "school": ("must", "should", "exclude", "ignore"),
    "team": ("must", "should", "exclude", "ignore"),
    "name": ("must", "exclude", "ignore", "like"),
    "place": ("must", "should", "exclude", "prefers"),
    "wish": ("prefers", "should", "exclude"),
    "role": ("must", "only", "should", "exclude", "ignore"),
    "open": ("must", "exclude"),
    "now": ("current", "former", "exclude", "ignore"),
    "date": ("must", "started", "ended", "exclude", "should", "ignore"),
    "money": ("must", "should"),
    "number": ("must", "should", "ignore"),
    "length": ("must", "should", "ignore"),
    "word": ("text", "must", "like", "exclude", "ignore", "former", "current", "idle", "not", "never", "only", "prefer",
             "both"),
}  # fmt: skip
"""The parts that a segment of each kind can play. `should` raises the rank, `text` is searched for, `ignore` asks nothing. A word
that `must` occur is a name; a person whom others should be `like` is one too. A word can also say that somebody has no work
(`idle`), or apply to others (`not`, `never`, `only`, `prefer`, `both`). A `never` is a "not" of all that a person has done.
"""

CUES = ("not", "never", "only", "prefer", "both", "former", "current")
DENYING = ("not", "never")
SILENT = ("ignore", *CUES)
MEASURED = ("date", "money", "number", "length")
BEFORE, BEHIND = 4, 5
"""How many words before and after a segment are features."""
WINDOW = 16
"""How many positions are searched for them: the words of one value count as one."""
GAP_MAX = 3
REACH_MAX = 3
BEAM = 6
"""How many readings are followed at once."""
CHANCE_MIN = 1e-4
"""Choices less likely than this are not followed."""
NAMED = ("must", "like")
"""The parts of a word that only a name plays."""
DENIED = ("exclude", "former", "idle")
"""The parts that a "not" can give to a segment."""

Choice = tuple[str, Part]
"""A kind and a part."""
Read = tuple[Segment, Choice, float]
"""A segment, its choice, and the chance of that."""
WEIGHTS_FILE = "parts.json.zz"
"""Written by `tools/fit/people`."""


@cache
def learned() -> Weights:
    """The packaged weights."""
    return stored_weights("quarry.people", WEIGHTS_FILE)


@dataclass(frozen=True)
class Passed:
    """The choices so far."""

    value: Segment | None = None
    choice: Choice = ("", "start")
    cues: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """For each cue, the position after it, and how many meaningful segments followed."""

    def after(self, segment: Segment, choice: Choice) -> Passed:
        """The same with one more segment."""
        cues = dict(self.cues)
        if choice[1] in CUES:
            cues["not" if choice[1] in DENYING else choice[1]] = (segment.last, 0)
        if choice[1] not in SILENT or (choice[0] != "word" and choice[1] != "ignore"):
            return Passed(segment, choice, {cue: (place, count + 1) for cue, (place, count) in cues.items()})
        return replace(self, cues=cues)


@dataclass(frozen=True)
class Denials:
    """The state of negation. A "not" denies what follows it or, if that is nothing, what precedes it.

    `started`: there was a "not"; `idle`: the last one has denied nothing yet; `denied`: something was denied; `ahead`: something
    is excluded before any "not"; `attached`: a hyphen excludes the last segment.
    """

    started: bool = False
    idle: bool = False
    denied: bool = False
    ahead: bool = False
    attached: bool = False

    def after(self, part: Part, *, has_hyphen: bool) -> Denials:
        """The same with one more part. `has_hyphen`: a hyphen stands directly before it."""
        if part in DENYING:
            return Denials(started=True, idle=True, denied=self.denied, ahead=self._is_ahead)
        if part not in DENIED:
            return replace(self, attached=False)
        attached = part == "exclude" and (has_hyphen or self.attached)
        ahead = self.ahead or (part == "exclude" and not self.started and not attached)
        return replace(self, denied=True, idle=False, ahead=ahead, attached=attached)

    @property
    def is_sound(self) -> bool:
        """Whether a word states every exclusion, and every "not" has an effect."""
        return not self._is_ahead and (self.denied or not self.idle)

    @property
    def _is_ahead(self) -> bool:
        return self.ahead and not (self.started and self.idle)


def choices_of(segment: Segment) -> Iterator[Choice]:
    """All choices for a segment."""
    is_name = segment.is_unknown or segment.is_part
    return (
        (kind, part)
        for kind in segment.kinds
        for part in PARTS[kind]
        if kind != "word" or (part not in CUES if is_name else part not in NAMED)
    )


def evidence_of(cut: Cut, segment: Segment, passed: Passed) -> list[str]:
    """The features of a segment: the words around it, how it is joined to the last choice, and cues in reach."""
    tokens = cut.tokens
    before = _beside(cut, range(segment.first - 1, -1, -1), 1, BEFORE)
    behind = _beside(cut, range(segment.last, len(tokens)), 0, BEHIND)
    found = [
        "",
        *(f"b{at}:{word}" for at, word in enumerate(before)),
        *(f"a{at}:{word}" for at, word in enumerate(behind)),
    ]
    found += [f"b:{word}" for word in before] + [f"a:{word}" for word in behind]
    found += [f"b2:{' '.join(before[:2])}", f"a2:{' '.join(behind[:2])}"]
    if segment.kinds == ("word",):
        key = tokens[segment.first].key
        found.append(f"common:{key in STOP_WORDS}:{is_everyday(key)}")
    if "date" in segment.kinds or segment.kinds == ("word",):
        found += [f"w:{tokens[segment.first].key}", f"w2:{tokens[segment.first].key} {' '.join(behind[:1])}"]
    found += [f"l:{tokens[segment.last - 1].key}"] if segment.kinds[0] in MEASURED else []
    if segment.is_part or segment.is_unknown:
        named = "part" if segment.is_part else "unknown"
        found += [named, f"{named}:{tokens[segment.first].is_capital}", f"{named} b0:{' '.join(before[:1])}"]
        found += [
            f"{named} common:{is_everyday(tokens[segment.first].key)}",
            f"{named} upper:{cut.phrase(segment).isupper()}",
        ]
        found += [f"{named} alone"] if len(cut.segments) == 1 else []
    is_attached = cut.text[cut.start(segment) - 1 : cut.start(segment)] == "-"
    found += ["attached"] if is_attached else []
    found += ["relative"] if segment.is_relative else []
    found.append(f"p:{passed.choice[1]}|{_joined(cut, passed.value, segment)}")
    for cue, (place, count) in passed.cues.items():
        breaks = sum(token.ends_clause for token in tokens[place : segment.first + 1])
        found += [f"{cue}:{min(count, REACH_MAX)}", f"{cue}:{min(count, REACH_MAX)}|{min(breaks, REACH_MAX)}"]
        found.append(f"{cue}:{count == 0}|{segment.first == place}")
        found.append(f"{cue}:{passed.choice[1]}|{_joined(cut, passed.value, segment)}")
    return found


def targets_of(choice: Choice) -> tuple[str, str]:
    """The targets of weights for a choice: the part of any kind, and the part of this kind."""
    kind, part = choice
    return part, f"{kind}.{part}"


def probabilities(evidence: Sequence[str], choices: Sequence[Choice], weights: Weights) -> list[float]:
    """The probability of each choice."""
    held = [weights[each] for each in evidence if each in weights]
    return softmax([sum(each.get(target, 0.0) for target in targets_of(choice) for each in held) for choice in choices])


def read_parts(cut: Cut, weights: Weights) -> list[Read]:
    """The choice for each segment with its chance: the likeliest reading with sound negation, else the likeliest of all."""
    beam = [_Reading()]
    for segment in cut.segments:
        beam = sorted((longer for each in beam for longer in _longer(cut, segment, each, weights)), key=_likeliest)
        sound = [each for each in beam if each.denials.is_sound]
        # keep a sound reading, since the rest may deny nothing
        beam = beam[:BEAM] if not sound or sound[0] in beam[:BEAM] else [*beam[:BEAM], sound[0]]
    return min(beam, key=lambda each: (not each.denials.is_sound, *_likeliest(each))).read


@dataclass(frozen=True, eq=False)
class _Reading:
    """A reading of the first segments: the `last` one, and those `before` it. `score` is the logarithm of its chance."""

    before: _Reading | None = None
    last: Read | None = None
    passed: Passed = field(default_factory=Passed)
    denials: Denials = Denials()
    score: float = 0.0

    @property
    def read(self) -> list[Read]:
        """The segments in their order."""
        found: list[Read] = []
        reading: _Reading | None = self
        while reading is not None and reading.last is not None:
            found.append(reading.last)
            reading = reading.before
        return found[::-1]


def _likeliest(reading: _Reading) -> tuple[float]:
    return (-reading.score,)


def _longer(cut: Cut, segment: Segment, reading: _Reading, weights: Weights) -> Iterator[_Reading]:
    """The reading with one more segment, for each likely choice. Only words known as cues may be cues."""
    cues = weights.get(f"w:{cut.tokens[segment.first].key}", {})
    choices = [each for each in choices_of(segment) if each[0] != "word" or each[1] not in CUES or each[1] in cues]
    chances = probabilities(evidence_of(cut, segment, reading.passed), choices, weights)
    has_hyphen = cut.text[max(0, cut.start(segment) - 2) : cut.start(segment)] in ("-", " -")
    for chance, choice in zip(chances, choices, strict=True):
        if chance >= min(CHANCE_MIN, max(chances)):
            yield _Reading(
                reading,
                (segment, choice, chance),
                reading.passed.after(segment, choice),
                reading.denials.after(choice[1], has_hyphen=has_hyphen),
                reading.score + log(chance),
            )


def _beside(cut: Cut, places: range, ahead: int, most: int) -> list[str]:
    """The first words at some positions, with marks for the ends of clauses and of the query. Values are given by their kind."""
    words: list[str] = []
    for place in places[:WINDOW]:
        if len(words) >= most:
            return words
        breaks = cut.tokens[place + ahead].ends_clause if place + ahead < len(cut.tokens) else False
        words += [","] if breaks else []
        word = cut.words[place]
        words += [word] if not words or words[-1] != word else []
    return [*words, "|"] if len(places) <= WINDOW else words


def _joined(cut: Cut, before: Segment | None, segment: Segment) -> str:
    """What stands between a segment and the last meaningful one."""
    if before is None:
        return "start"
    between, before_end = cut.tokens[before.last : segment.first], cut.end(before)
    comma = "," if any(token.ends_clause for token in cut.tokens[before.last : segment.first + 1]) else ""
    comma += "-" if cut.text[before_end : cut.start(segment)] == " -" else ""
    same = "=" if set(before.kinds) & set(segment.kinds) else "~"
    return f"{same}{comma}{' '.join(token.key for token in between)}" if len(between) < GAP_MAX else f"{same}{comma}far"
