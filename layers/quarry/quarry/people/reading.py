"""Reads a query for people: cuts it into segments, and chooses what each is and asks, by fitted weights (`tools/fit/people`).

Segments are values of the data, places, dates, amounts, and the words between them, with the kinds that each may be. A log-linear
model reads them from left to right. Earlier choices are features of later ones, so that a list goes on as it began; whether the
query denies a segment is one too (`reader/surroundings`). Pure: values are looked up before.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from math import log

from quarry.language.recognition import Weights, softmax, stored_weights
from quarry.language.word_forms import (
    STOP_WORDS,
    Token,
    fields_of_worker,
    inflections,
    is_everyday,
    keys,
    says_something_by_case,
    singular,
    word_forms,
)
from quarry.people.facets import PEOPLE
from quarry.reader.surroundings import Run, chances_denied
from quarry.spans.dates import find_dates
from quarry.spans.mention import DateRange, Duration, KnownValue, Mention, MoneyRange, NumberRange, Place, ValueMatch
from quarry.spans.money import find_money
from quarry.spans.numbers import find_durations, find_numbers
from quarry.spans.places import find_places, known_place

TOKENS_MAX = 200
"""How many words of a query are read."""
NAMES_MAX = 6
"""The most values that may share a part of a name."""
YEARS_APART = 3
"""A date does not depend on today if it reads the same so many years earlier."""

KIND_OF_FACET = {
    "company": "company", "school": "school", "team": "team", "name": "name", "home": "place", "workplace": "place",
    "preferred_place": "place", "open_to_work": "open", "is_current": "now",
}  # fmt: skip
"""The kinds of values by facet; those of other facets are roles."""
PARTIAL_NAME_KINDS = frozenset({"company", "school", "name"})
"""The kinds of values that a part of their name may name."""
ANY = ("intent", "work")
"""A value that nearly every experience has, so that it says nothing."""
MIXED = ("company", "place", "word")
"""The kinds of an unknown name."""


@dataclass(frozen=True)
class Segment:
    """The words `first` to `last` (exclusive), and what they may be: `values` of the data, or another `value`.

    `is_part`: the words are a part of a value. `is_unknown`: they look like a name that the data does not have.
    """

    first: int
    last: int
    kinds: tuple[str, ...]
    values: tuple[KnownValue, ...] = ()
    value: Place | DateRange | MoneyRange | NumberRange | Duration | None = None
    is_part: bool = False
    is_unknown: bool = False
    is_relative: bool = False
    """A date that depends on today."""

    def of(self, *facets: str) -> list[str]:
        """The values of these facets, in lower case."""
        return list(dict.fromkeys(each.value.lower() for each in self.values if each.facet in facets))


@dataclass(frozen=True)
class Cut:
    """A query with its words and its segments in order. Every word is in one segment."""

    text: str
    tokens: Sequence[Token]
    segments: Sequence[Segment]

    @cached_property
    def words(self) -> Sequence[str]:
        """The words; for segments that are no plain words, their kind."""
        kinds = [each.kinds[0] for each in self.segments for _ in range(each.first, each.last)]
        return [token.key if kind == "word" else f"<{kind}>" for token, kind in zip(self.tokens, kinds, strict=True)]

    @cached_property
    def denied(self) -> Mapping[Run, float]:
        """The probability that the query denies a segment, of those that are no plain words."""
        return chances_denied(
            self.tokens, [(each.first, each.last) for each in self.segments if each.kinds != ("word",)]
        )

    def start(self, segment: Segment) -> int:
        return self.tokens[segment.first].start

    def end(self, segment: Segment) -> int:
        return self.tokens[segment.last - 1].end

    def phrase(self, segment: Segment) -> str:
        """Its characters."""
        return self.text[self.start(segment) : self.end(segment)]


def to_look_up(tokens: Sequence[Token], segments: Sequence[Segment]) -> tuple[dict[int, tuple[str, ...]], list[int]]:
    """The other forms of each word, and the positions of words that may be misspelt."""
    covered = {place for segment in segments for place in range(segment.first, segment.last)}
    forms = {place: (*word_forms(token.key), *inflections(token.key, ("en",))) for place, token in enumerate(tokens)}
    doubtful = (place for place, token in enumerate(tokens) if token.key.isalpha() and not is_everyday(token.key))
    return forms, [place for place in doubtful if place not in covered]


def assemble(text: str, tokens: Sequence[Token], segments: Sequence[Segment], matches: Sequence[ValueMatch]) -> Cut:
    """The segments of a query. Of those that overlap, the longest counts, and among equals a value of the data."""
    values = list(_value_segments(tokens, [*matches, *_declared(tokens)]))
    whole = [each for each in values if not each.is_part]
    values = [
        *whole,
        *(each for each in values if each.is_part and not _is_of_a_name(tokens, each, [*whole, *segments])),
    ]
    unknown = list(_unknown(text, tokens, [*values, *segments]))
    by_first: dict[int, Segment] = {}
    ranked = [*unknown, *whole, *segments, *(each for each in values if each.is_part)]
    for segment in sorted(ranked, key=lambda each: (each.is_part, each.first - each.last)):
        same = next(
            (each for each in by_first.values() if (each.first, each.last) == (segment.first, segment.last)), None
        )
        if same is not None and not (same.is_unknown or segment.is_part):
            by_first[same.first] = _both(same, segment)
        elif not any(each.first < segment.last and segment.first < each.last for each in by_first.values()):
            by_first[segment.first] = segment
    covered = {place for each in by_first.values() for place in range(each.first, each.last)}
    words = [Segment(place, place + 1, ("word",)) for place in range(len(tokens)) if place not in covered]
    return Cut(text, tokens, sorted([*by_first.values(), *words], key=lambda each: each.first))


def _both(one: Segment, other: Segment) -> Segment:
    kinds = tuple(dict.fromkeys((*one.kinds, *other.kinds)))
    values = tuple(dict.fromkeys((*one.values, *other.values)))
    return replace(one, kinds=kinds, values=values, value=one.value or other.value)


def _value_segments(tokens: Sequence[Token], matches: Iterable[ValueMatch]) -> Iterator[Segment]:
    """The values that words name, one segment for the same words; also parts of names, if few values share them."""
    by_words: dict[tuple[int, int], list[KnownValue]] = {}
    for match in _with_joined_parts(list(matches)):
        says = any(token.key not in STOP_WORDS or token.is_capital for token in tokens[match.first : match.last])
        says = says and not _is_noun_alone(tokens, match)
        if says and (match.value.facet, match.value.value) != ANY:
            by_words.setdefault((match.first, match.last), []).append(match.value)
    for (first, last), values in by_words.items():
        words = [token.key for token in tokens[first:last]]
        whole = [each for each in values if each.is_whole and _is_mentioned(words, each)]
        whole = whole or [
            each for each in values if each.is_whole and each.facet != "team" and _is_by_worker(words, each)
        ]
        parts = [
            each for each in values if KIND_OF_FACET.get(each.facet) in PARTIAL_NAME_KINDS and _is_part_of(words, each)
        ]
        if any(each.likeness == 1 for each in whole):
            whole = [each for each in whole if each.likeness == 1]
        if whole:
            yield Segment(first, last, _kinds(whole), tuple(whole))
        elif parts and len({each.value for each in parts}) <= NAMES_MAX:
            yield Segment(first, last, (*_kinds(parts), "word"), tuple(parts), is_part=True)


def _with_joined_parts(matches: Sequence[ValueMatch]) -> Iterator[ValueMatch]:
    """The matches, with adjacent parts of one value joined."""
    parts: dict[tuple[str, str], list[ValueMatch]] = {}
    for match in sorted(matches, key=lambda each: (each.first, each.last)):
        same = parts.setdefault((match.value.facet, match.value.value), [])
        if not match.value.is_whole and same and same[-1].last == match.first:
            likeness = min(same[-1].value.likeness, match.value.likeness)
            same[-1] = same[-1]._replace(last=match.last, value=replace(match.value, likeness=likeness))
        elif not match.value.is_whole:
            same.append(match)
        else:
            yield match
    for same in parts.values():
        yield from same


def _is_mentioned(terms: Sequence[str], value: KnownValue) -> bool:
    """Whether words state a value; roles and teams may be in the plural or a declared synonym. Other forms are no team:
    "accountants" are not in Accounting.
    """
    if value.facet in KIND_OF_FACET and value.facet != "team":
        return True
    if value.likeness < 1:
        return value.facet in ("title", "domain", "team")
    words, value_words = _singulars(terms, value)
    synonyms = PEOPLE.facets[value.facet].synonyms
    return "".join(words) == "".join(value_words) or any(
        keys(word) == tuple(terms) for word, meaning in synonyms if meaning == value.value
    )


def _is_part_of(terms: Sequence[str], value: KnownValue) -> bool:
    """Whether words are part of a name; misspelt words count, and plurals except for people: "nurses" is no Ms Nurse."""
    words, value_words = _singulars(terms, value) if value.facet != "name" else (list(terms), list(keys(value.value)))
    return value.likeness < 1 or set(words) <= set(value_words)


def _is_noun_alone(tokens: Sequence[Token], match: ValueMatch) -> bool:
    """Whether a word is just a noun for people. "People" names a team only next to "team"."""
    if match.last - match.first > 1 or singular(tokens[match.first].key) not in {
        singular(each) for each in PEOPLE.nouns
    }:
        return False
    beside = {
        token.key for token in (*tokens[max(0, match.first - 1) : match.first], *tokens[match.last : match.last + 1])
    }
    facet = PEOPLE.facets[match.value.facet]
    return beside.isdisjoint({facet.label, facet.plural, *facet.words})


def _is_by_worker(terms: Sequence[str], value: KnownValue) -> bool:
    """Whether words name people by a field that is the value: "physicists" for "physics"."""
    words, value_words = _singulars(terms, value)
    is_by_last = bool(words and value_words) and words[:-1] == value_words[:-1]
    return is_by_last and value_words[-1] in {singular(form) for form in fields_of_worker(words[-1])}


def _singulars(words: Sequence[str], value: KnownValue) -> tuple[list[str], list[str]]:
    return [singular(key) for key in words], [singular(key) for key in keys(value.value.replace("_", " "))]


def _kinds(values: Iterable[KnownValue]) -> tuple[str, ...]:
    """The kinds of some values. A preferred location that is no place is a wish: "remote"."""
    kinds = dict.fromkeys(KIND_OF_FACET.get(each.facet, "role") for each in values)
    wished = [each.value for each in values if each.facet == "preferred_place"]
    if wished and known_place(wished[0].lower()) is None:
        kinds = {"wish": None, **{kind: None for kind in kinds if kind != "place"}}
    return tuple(kinds)


def _is_of_a_name(tokens: Sequence[Token], part: Segment, explained: Sequence[Segment]) -> bool:
    """Whether a part of a name belongs to a longer, unknown name.

    In a query with capitals, an adjacent capitalised word continues the name. Elsewhere an unexplained word does: a rare one, or
    any next to a common one ("meridian bank").
    """
    beside = [
        place
        for place, joint in ((part.first - 1, part.first), (part.last, part.last))
        if 0 <= place < len(tokens) and not tokens[joint].ends_clause
    ]
    words = tokens[part.first : part.last]
    if says_something_by_case(tokens):
        return all(token.is_capital for token in words) and any(tokens[place].is_capital for place in beside)
    covered = {place for each in explained for place in range(each.first, each.last)}
    strange = [tokens[place].key for place in beside if place not in covered and tokens[place].key not in STOP_WORDS]
    is_common = all(is_everyday(token.key) for token in words)
    return any(is_common or not is_everyday(key) for key in strange)


def _unknown(text: str, tokens: Sequence[Token], segments: Sequence[Segment]) -> Iterator[Segment]:
    """Runs of capitalised words with unexplained ones, and codes ("AB-17"): unknown names."""
    explained = {place for each in segments for place in range(each.first, each.last)}
    by_case = says_something_by_case(tokens)
    first = 0
    while by_case and first < len(tokens):
        last = first + 1
        while last < len(tokens) and _continues(text, tokens, first, last):
            last += 1
        run = range(first, last)
        strange = [place for place in run if place not in explained and tokens[place].key not in STOP_WORDS]
        starts = first == 0 and len(run) == 1
        if tokens[first].is_capital and strange and not starts and not all(_is_plain(tokens[each]) for each in strange):
            begin = first if first in strange or any(each < strange[-1] for each in strange) else strange[0]
            yield Segment(begin, last, MIXED, is_unknown=True)
        first = last


def _continues(text: str, tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether a word continues a name: it has a capital, or is attached to the word before it."""
    is_attached = text[tokens[last - 1].end : tokens[last].start] in ("-", "/")
    is_joined = tokens[last].is_capital or (is_attached and tokens[last].key[:1].isdigit())
    return tokens[first].is_capital and is_joined and not tokens[last].ends_clause


def _is_plain(token: Token) -> bool:
    """Whether a capitalised word may just begin a sentence."""
    return token.ends_clause and is_everyday(token.key)


def _declared(tokens: Sequence[Token]) -> Iterator[ValueMatch]:
    """The declared synonyms of values, and the words for true-or-false facets."""
    words = [singular(token.key) for token in tokens]
    for phrase, value in _phrases().items():
        for first in range(len(words) - len(phrase) + 1):
            if tuple(words[first : first + len(phrase)]) == phrase:
                yield ValueMatch(first, first + len(phrase), value)


@cache
def _phrases() -> Mapping[tuple[str, ...], KnownValue]:
    phrases: dict[tuple[str, ...], KnownValue] = {}
    for facet in PEOPLE.facets.values():
        phrases |= {keys(words): KnownValue(facet.name, value) for words, value in facet.synonyms}
        if facet.name in ("open_to_work", "is_current"):
            phrases |= {keys(words): KnownValue(facet.name, facet.label) for words in (facet.label, *facet.words)}
    return {tuple(map(singular, words)): value for words, value in phrases.items()}


def measured_segments(text: str, tokens: Sequence[Token], today: datetime.date) -> list[Segment]:
    """Amounts, dates, lengths of time, places and numbers; of those that overlap, the first kind counts."""
    earlier = today.replace(year=today.year - YEARS_APART, day=1)
    fixed = {(each.start, each.end, each.value) for each in find_dates(text, tokens, earlier)}
    kinds = (
        ("money", find_money(text, tokens)),
        ("date", find_dates(text, tokens, today)),
        ("length", find_durations(text, tokens)),
        ("place", find_places(text, tokens)),
        ("number", find_numbers(text, tokens)),
    )
    segments: list[Segment] = []
    for kind, mentions in kinds:
        for mention in mentions:
            segment = _segment(kind, tokens, mention)
            if segment and not any(each.first < segment.last and segment.first < each.last for each in segments):
                is_relative = kind == "date" and (mention.start, mention.end, mention.value) not in fixed
                segments.append(replace(segment, is_relative=is_relative))
    return segments


def _segment(kind: str, tokens: Sequence[Token], mention: Mention) -> Segment | None:
    places = [place for place, each in enumerate(tokens) if each.start < mention.end and mention.start < each.end]
    value = mention.value
    if not places or not isinstance(value, (Place, DateRange, MoneyRange, NumberRange, Duration)):
        return None
    kinds = (kind, "word") if mention.is_latent else (kind,)
    return Segment(places[0], places[-1] + 1, kinds, value=value)


# ---- what segments ask ----

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
DENIAL_STEPS = 4
"""How finely the probability that a segment is denied is evidence."""
WINDOW = 16
"""How many positions are searched for them: the words of one value count as one."""
GAP_MAX = 3
REACH_MAX = 3
BEAM = 6
"""How many readings are followed at once."""
CHANCE_MIN = 1e-4
"""Choices less likely than this are not followed."""
NAME_PARTS = ("must", "like")
"""The parts of a word that only a name plays."""
Choice = tuple[str, Part]
"""A kind and a part."""
Decision = tuple[Segment, Choice, float]
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


def choices_of(segment: Segment) -> Iterator[Choice]:
    """All choices for a segment."""
    is_name = segment.is_unknown or segment.is_part
    return (
        (kind, part)
        for kind in segment.kinds
        for part in PARTS[kind]
        if kind != "word" or (part not in CUES if is_name else part not in NAME_PARTS)
    )


def evidence_of(cut: Cut, segment: Segment, passed: Passed) -> list[str]:
    """The features of a segment: the words around it, how it is joined to the last choice, and cues in reach."""
    tokens = cut.tokens
    before = _beside(cut, range(segment.first - 1, -1, -1), 1, BEFORE)
    behind = _beside(cut, range(segment.last, len(tokens)), 0, BEHIND)
    features = [
        "",
        *(f"b{at}:{word}" for at, word in enumerate(before)),
        *(f"a{at}:{word}" for at, word in enumerate(behind)),
    ]
    features += [f"b:{word}" for word in before] + [f"a:{word}" for word in behind]
    features += [f"b2:{' '.join(before[:2])}", f"a2:{' '.join(behind[:2])}"]
    if segment.kinds == ("word",):
        key = tokens[segment.first].key
        features.append(f"common:{key in STOP_WORDS}:{is_everyday(key)}")
    if "date" in segment.kinds or segment.kinds == ("word",):
        features += [f"w:{tokens[segment.first].key}", f"w2:{tokens[segment.first].key} {' '.join(behind[:1])}"]
    features += [f"l:{tokens[segment.last - 1].key}"] if segment.kinds[0] in MEASURED else []
    if segment.is_part or segment.is_unknown:
        name_kind = "part" if segment.is_part else "unknown"
        features += [
            name_kind,
            f"{name_kind}:{tokens[segment.first].is_capital}",
            f"{name_kind} b0:{' '.join(before[:1])}",
        ]
        features += [
            f"{name_kind} common:{is_everyday(tokens[segment.first].key)}",
            f"{name_kind} upper:{cut.phrase(segment).isupper()}",
        ]
        features += [f"{name_kind} alone"] if len(cut.segments) == 1 else []
    is_attached = cut.text[cut.start(segment) - 1 : cut.start(segment)] == "-"
    features += ["attached"] if is_attached else []
    features += ["relative"] if segment.is_relative else []
    if (chance := cut.denied.get((segment.first, segment.last))) is not None:
        features += [f"denied:{round(chance * DENIAL_STEPS)}", f"denied:{chance >= 1 / 2}|{segment.kinds[0]}"]
    features.append(f"p:{passed.choice[1]}|{_joined(cut, passed.value, segment)}")
    for cue, (place, count) in passed.cues.items():
        breaks = sum(token.ends_clause for token in tokens[place : segment.first + 1])
        features += [f"{cue}:{min(count, REACH_MAX)}", f"{cue}:{min(count, REACH_MAX)}|{min(breaks, REACH_MAX)}"]
        features.append(f"{cue}:{count == 0}|{segment.first == place}")
        features.append(f"{cue}:{passed.choice[1]}|{_joined(cut, passed.value, segment)}")
    return features


def targets_of(choice: Choice) -> tuple[str, str]:
    """The targets of weights for a choice: the part of any kind, and the part of this kind."""
    kind, part = choice
    return part, f"{kind}.{part}"


def probabilities(evidence: Sequence[str], choices: Sequence[Choice], weights: Weights) -> list[float]:
    """The probability of each choice."""
    by_feature = [weights[each] for each in evidence if each in weights]
    return softmax(
        [sum(each.get(target, 0.0) for target in targets_of(choice) for each in by_feature) for choice in choices]
    )


def read_parts(cut: Cut, weights: Weights) -> list[Decision]:
    """The choice for each segment with its chance: the likeliest reading of all."""
    beam = [_Reading()]
    for segment in cut.segments:
        longer = (each for before in beam for each in _longer(cut, segment, before, weights))
        beam = sorted(longer, key=lambda each: -each.score)[:BEAM]
    return beam[0].decisions


@dataclass(frozen=True, eq=False)
class _Reading:
    """A reading of the first segments: the `last` one, and those `before` it. `score` is the logarithm of its chance."""

    before: _Reading | None = None
    last: Decision | None = None
    passed: Passed = field(default_factory=Passed)
    score: float = 0.0

    @property
    def decisions(self) -> list[Decision]:
        """The segments in their order."""
        decisions: list[Decision] = []
        reading: _Reading | None = self
        while reading is not None and reading.last is not None:
            decisions.append(reading.last)
            reading = reading.before
        return decisions[::-1]


def _longer(cut: Cut, segment: Segment, reading: _Reading, weights: Weights) -> Iterator[_Reading]:
    """The reading with one more segment, for each likely choice. Only words known as cues may be cues."""
    cues = weights.get(f"w:{cut.tokens[segment.first].key}", {})
    choices = [each for each in choices_of(segment) if each[0] != "word" or each[1] not in CUES or each[1] in cues]
    chances = probabilities(evidence_of(cut, segment, reading.passed), choices, weights)
    for chance, choice in zip(chances, choices, strict=True):
        if chance >= min(CHANCE_MIN, max(chances)):
            yield _Reading(
                reading, (segment, choice, chance), reading.passed.after(segment, choice), reading.score + log(chance)
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
