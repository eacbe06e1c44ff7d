"""What a question says: its words, and what they may name, compare or mean. Pure."""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import takewhile
from operator import or_

from quarry.language.recognition import language_of
from quarry.language.word_forms import STOP_WORDS, Token, phrase, says_something_by_case, stem, tokenise
from quarry.language.writing import ENGLISH, numeral_value, with_english_digits
from quarry.reader.names import ALONE, PREFIX_MIN, FieldName, Name, Names, grouped
from quarry.reader.surroundings import SURE, Run, bounded, chances_denied, days_of, is_closed
from quarry.spans.date_points import number_words_of
from quarry.spans.dates import find_dates, last_occurrence
from quarry.spans.mention import DateRange, Duration, Mention, MoneyRange, NumberRange
from quarry.spans.money import find_money
from quarry.spans.numbers import find_durations, find_numbers


@dataclass(frozen=True)
class ValueLink:
    """Words of a question, from `first` to before `last`, that may mean a `value` of a field; so many `rows` have it.
    `is_whole`: the question contains the whole value. A place may mean several values: `value` is then its words, and `means` has
    the values.
    """

    first: int
    last: int
    source: str
    field: str
    value: str
    rows: int = 0
    is_whole: bool = True
    means: tuple[str, ...] = ()


WORDS_MAX = 60
"""How many words of a question to read."""
NAMED_MIN = 0.34
"""The smallest share of a name that words must contain to mean it."""
NAMED_WELL = 0.7
"""Likeness from which words count as a name and not as text to search for."""
GAP_MAX = 2
FORM_LIKENESS = 0.8
SHORT_LIKENESS = 0.7
WHOLE_LIKENESS = 0.7
"""Likeness from which words name the key of a row, and not the row itself: "tasks" is no `task_id`. So for a field by its role:
"town" is no "recipient's town".
"""
SHORT_MIN = 3
"""Fewest letters of a shortened word."""
JOINED_MAX = 4
"""Most words that one abbreviation may stand for."""
MENTIONS_MAX = 3
VALUES_MAX = 8
LINKS_MAX = 40
"""Most values, over all fields, that the same words may mean."""
NUMBERS_MAX = 4
TEXTS_MAX = 3
_QUOTED = re.compile(r"[\"“”„«»']([^\"“”„«»']{1,60})[\"“”„«»'](?!\w)")


@dataclass(frozen=True)
class WordRun:
    """The words from `first` to before `last` of a question, and the share of a name that they are, 0 to 1."""

    first: int
    last: int
    likeness: float = 1.0

    @property
    def mask(self) -> int:
        """The words as bits."""
        return ((1 << self.last) - 1) & ~((1 << self.first) - 1)


def union(masks: Iterable[int]) -> int:
    """The words of all masks."""
    return reduce(or_, masks, 0)


@dataclass(frozen=True)
class ValueMention:
    """Words that may mean values in the data, one per field. Values that come together are read together."""

    place: WordRun
    links: tuple[ValueLink, ...]


@dataclass(frozen=True)
class NumberMention:
    """A number, or the two ends of a range. `op` is the comparison that the words around it state."""

    place: WordRun
    least: float | None
    most: float | None
    op: str
    unit: str | None = None
    currency: str | None = None

    @property
    def one(self) -> float:
        """The number, if it is a single one."""
        return self.least if self.least is not None else self.most or 0.0

    @property
    def is_range(self) -> bool:
        return self.least is not None and self.most is not None and self.least != self.most


@dataclass(frozen=True)
class DateMention:
    """A range of days, a month, or years. `is_introduced`: its words say how it is bounded ("in 2017"). `is_open`: it may be
    bounded otherwise ("seit 2020", "dès 2020").
    """

    place: WordRun
    days: DateRange
    is_introduced: bool = False
    is_open: bool = False


@dataclass(frozen=True)
class TextMention:
    """Words in quotes, or a name that is not a value in the data."""

    place: WordRun
    text: str


@dataclass
class Mentions:
    """A question, split into what its words say."""

    text: str
    tokens: Sequence[Token]
    stems: Sequence[str]
    values: list[ValueMention] = field(default_factory=list)
    numbers: list[NumberMention] = field(default_factory=list)
    days: list[DateMention] = field(default_factory=list)
    lengths: list[NumberMention] = field(default_factory=list)
    texts: list[TextMention] = field(default_factory=list)
    places: dict[Name, list[WordRun]] = field(default_factory=dict)
    alignable: int = 0
    """The words that name something, or mean a value, a number or a time."""
    denied: Mapping[Run, float] = field(default_factory=dict)
    """The probability that the question denies what these words mean: values, numbers, times, texts, and what is so or not."""

    def chance_denied(self, place: WordRun | None) -> float:
        """The probability that the question denies what is said at a place."""
        return self.denied.get((place.first, place.last), 0.0) if place else 0.0

    @property
    def words(self) -> list[str]:
        return [token.key for token in self.tokens]

    def best(self, each: Name) -> WordRun | None:
        """The place that names it best."""
        places = self.places.get(each)
        return places[0] if places else None

    @property
    def spans(self) -> list[ValueMention | NumberMention | DateMention | TextMention]:
        """Everything that means a value, a number, a time or a text."""
        return [*self.values, *self.numbers, *self.days, *self.lengths, *self.texts]

    @property
    def free(self) -> list[int]:
        """The words that name nothing."""
        return [place for place in range(len(self.tokens)) if not self.alignable >> place & 1]

    def unread(self, mask: int, explained: Container[str] = ()) -> list[str]:
        """The words, as written, that are neither in `mask` nor `explained` nor stop words."""
        return [
            token.text
            for place, token in enumerate(self.tokens)
            if not mask >> place & 1 and token.key not in STOP_WORDS and token.key not in explained
        ]


def read_words(text: str, names: Names, links: Sequence[ValueLink], today: datetime.date) -> Mentions:
    """Reads the words of a question. `links` are the values that they may mean."""
    tokens = tokenise(text)[:WORDS_MAX]
    question_mentions = Mentions(text, tokens, [stem(token.key) for token in tokens])
    question_mentions.places = _places_by_name(question_mentions, names)
    question_mentions.values = _values(links)
    language = language_of(text)
    plain = with_english_digits(text, language or ENGLISH)
    mentions = [*find_numbers(plain, tokens), *find_money(plain, tokens)]
    question_mentions.days = [
        _as_bounded(tokens, DateMention(place, each.value, each.is_introduced), today)
        for each in find_dates(text, tokens, today)
        if isinstance(each.value, DateRange) and (place := _between(tokens, each.start, each.end)) is not None
    ]
    question_mentions.numbers = _numbers(tokens, mentions, number_words_of(language or ENGLISH))
    question_mentions.lengths = _numbers_of(tokens, find_durations(plain, tokens))
    quoted = _quoted(text, tokens)
    question_mentions.values = [each for each in question_mentions.values if not _is_in_part(each, quoted)]
    question_mentions.texts = _texts(text, tokens, question_mentions, quoted)
    by_name, spans = question_mentions.places, [span.place for span in question_mentions.spans]
    likely = [each for places in by_name.values() for each in places if each.likeness >= 0.5]
    question_mentions.alignable = union(each.mask for each in (*likely, *spans))
    truths = [places[0] for each, places in by_name.items() if isinstance(each, FieldName) and each.kind == "boolean"]
    question_mentions.denied = chances_denied(tokens, [(each.first, each.last) for each in (*spans, *truths)])
    return question_mentions


def _as_bounded(tokens: Sequence[Token], time: DateMention, today: datetime.date) -> DateMention:
    """A time with the words that bound it, where its own do not. A bounded month without a year is its last occurrence."""
    place, days = time.place, time.days
    if time.is_introduced or not (is_closed(days) or days.months):
        return time
    bound, chance, (first, last) = bounded(tokens, (place.first, place.last))
    if days.months:
        days = last_occurrence(days, today) if bound != "in" else days
    days = days if days.months else days_of(days, bound)
    return DateMention(WordRun(first, last), days, is_open=chance < SURE)


# ---- what is named ----


def _places_by_name(mentions: Mentions, names: Names) -> dict[Name, list[WordRun]]:
    """Everything that some of the words name."""
    forms = [_alike(token.key, stemmed, names) for token, stemmed in zip(mentions.tokens, mentions.stems, strict=True)]
    words = mentions.words
    for first in range(len(words)):
        for last in range(first + 2, min(first + JOINED_MAX, len(words)) + 1):
            for short in names.shortening(words[first:last]):
                if short in mentions.stems[first:last]:
                    continue  # "member" is no abbreviation of "members renewed"
                for place in range(first, last):
                    forms[place].setdefault(short, FORM_LIKENESS)
    hits = {name: None for alike in forms for each in alike for name in names.by_stem[each]}
    return {name: places for name in hits if (places := _places(name, forms, mentions, names))}


def _alike(word: str, stemmed: str, names: Names) -> dict[str, float]:
    """The stems of names that a word may be, and its likeness to each."""
    alike = {stemmed: 1.0} if stemmed in names.by_stem else {}
    if not alike and len(stemmed) >= PREFIX_MIN:
        for other in names.by_prefix.get(stemmed[:PREFIX_MIN], ()):
            if _common(stemmed, other) >= 0.6 * max(len(stemmed), len(other)):
                alike[other] = FORM_LIKENESS
    if not alike:
        starts = (stemmed[:length] for length in range(SHORT_MIN, len(stemmed)))
        alike = dict.fromkeys((each for each in starts if each in names.by_stem), SHORT_LIKENESS)
    for short in names.shortening([word]):
        alike.setdefault(short, SHORT_LIKENESS)
    for other in names.compounds(stemmed):
        alike.setdefault(other, max(NAMED_MIN, len(stemmed) / len(other)))
    return alike


def _common(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _places(name: Name, forms: Sequence[dict[str, float]], mentions: Mentions, names: Names) -> list[WordRun]:
    """The places where words match one of its names, best match first, each word once."""
    matches: list[tuple[int, WordRun]] = []
    for stems in name.names:
        weights = names.weights(name, stems)
        alone = {stem for stem in weights if names.is_alone(name, stem)}
        for first, alike in enumerate(forms):
            if not weights.keys().isdisjoint(alike):
                matches.append((len(weights), _run(first, weights, alone, forms, mentions)))
    # of names as like, the one with most words, where these are closest
    matches.sort(key=lambda match: (-match[1].likeness, -match[0], match[1].last - match[1].first, match[1].first))
    places: list[WordRun] = []
    is_whole = isinstance(name, FieldName) and (name.is_key or name.same_as is not None)
    least = WHOLE_LIKENESS if is_whole else NAMED_MIN
    for _, place in matches:
        if place.likeness >= least and not any(place.mask & other.mask for other in places):
            places.append(place)
    return places[:MENTIONS_MAX]


def _run(
    first: int, weights: Mapping[str, float], alone: set[str], forms: Sequence[dict[str, float]], mentions: Mentions
) -> WordRun:
    nearness: dict[str, float] = {}
    last, place = first + 1, first
    while place < len(forms) and place < first + len(weights) + GAP_MAX:
        shared = weights.keys() & forms[place].keys()
        better = [each for each in shared if forms[place][each] > nearness.get(each, 0.0)]
        if better:
            nearness |= {each: forms[place][each] for each in better}
            last = place + 1
        elif not shared and mentions.tokens[place].key not in STOP_WORDS:
            break
        place += 1
    likeness = sum(weights[each] * near for each, near in nearness.items())
    floor = max((ALONE * nearness[each] for each in nearness if each in alone), default=0.0)
    return WordRun(first, last, max(likeness, floor))


# ---- values, numbers, times, texts ----


def _values(links: Sequence[ValueLink]) -> list[ValueMention]:
    """The links by the words that state them, longest first. Shorter words inside a longer value are part of it."""
    ranked = sorted(links, key=lambda each: (not each.is_whole, -each.rows))
    by_place = grouped(((link.first, link.last), link) for link in ranked)
    mask, mentions = 0, []
    for (first, last), same in sorted(
        by_place.items(), key=lambda item: (-(item[0][1] - item[0][0]), not item[1][0].is_whole, item[0])
    ):
        place = WordRun(first, last)
        if mask & place.mask or last > WORDS_MAX:
            continue
        mask |= place.mask
        mentions.append(ValueMention(place, tuple(same)))
    joined: list[ValueMention] = []
    for each in sorted(mentions, key=lambda each: each.place.first):
        both = _both(joined[-1], each) if joined else None
        joined = [*joined[:-1], both] if both else [*joined, each]
    return [replace(each, links=each.links[:LINKS_MAX]) for each in joined[:VALUES_MAX]]


def _both(one: ValueMention, other: ValueMention) -> ValueMention | None:
    """Two adjacent parts of the same values, merged into one. None if they are not."""
    parts = {(each.source, each.field, each.value) for each in other.links if not each.is_whole}
    links = [
        replace(each, last=other.place.last)
        for each in one.links
        if not each.is_whole and each.last == other.place.first and (each.source, each.field, each.value) in parts
    ]
    return ValueMention(WordRun(one.place.first, other.place.last), tuple(links)) if links else None


def _numbers(tokens: Sequence[Token], mentions: Sequence[Mention], words: Mapping[str, int]) -> list[NumberMention]:
    """The numbers, each with its most specific mention, and those that no mention covers."""
    numbers: list[NumberMention] = []
    mask = 0
    for number in sorted(
        _numbers_of(tokens, mentions), key=lambda each: (each.op == "=", each.currency is None, each.unit is not None)
    ):
        if not mask & number.place.mask:
            mask |= number.place.mask
            numbers.append(number)
    for place, token in enumerate(tokens):
        value = None if mask >> place & 1 else words.get(token.key) or numeral_value(token.key)
        if value is not None:
            numbers.append(NumberMention(WordRun(place, place + 1), value, value, "="))
    return sorted(numbers, key=lambda each: each.place.first)[:NUMBERS_MAX]


def _numbers_of(tokens: Sequence[Token], mentions: Sequence[Mention]) -> list[NumberMention]:
    return [number for each in mentions if (number := _number(tokens, each)) is not None]


def _number(tokens: Sequence[Token], mention: Mention) -> NumberMention | None:
    value, place = mention.value, _between(tokens, mention.start, mention.end)
    if place is None or not isinstance(value, NumberRange | MoneyRange | Duration):
        return None
    op = "="
    if value.least is None or value.most is None:
        low = value.least is not None
        includes = value.includes_least if low else value.includes_most
        op = (">" if low else "<") + ("=" if includes else "")
    currency = value.currency if isinstance(value, MoneyRange) else None
    unit = None if isinstance(value, MoneyRange) else value.unit
    return NumberMention(place, value.least, value.most, op, unit, currency)


def _quoted(text: str, tokens: Sequence[Token]) -> list[TextMention]:
    """The texts in quotes."""
    return [
        TextMention(place, match[1].strip())
        for match in _QUOTED.finditer(text)
        if (place := _between(tokens, match.start(1), match.end(1))) is not None
    ]


def _is_in_part(value: ValueMention, quoted: Sequence[TextMention]) -> bool:
    """Whether the words cover only part of a value and cross the edge of a quoted text."""
    return not any(link.is_whole for link in value.links) and any(
        value.place.mask & each.place.mask and each.place.mask & ~value.place.mask for each in quoted
    )


def _texts(text: str, tokens: Sequence[Token], mentions: Mentions, quoted: Sequence[TextMention]) -> list[TextMention]:
    """Quoted texts that are not values, and capitalised names that name nothing in the schema."""
    mask = union(value.place.mask for value in mentions.values if any(link.is_whole for link in value.links))
    texts: list[TextMention] = []
    for each in quoted:
        if each.place.mask & ~mask:
            texts.append(each)
            mask |= each.place.mask
    if not says_something_by_case(tokens):
        return texts[:TEXTS_MAX]
    mask |= union(places[0].mask for places in mentions.places.values() if places[0].likeness >= NAMED_WELL)
    texts += [TextMention(place, phrase(text, tokens, place.first, place.last)) for place in _capitals(tokens, mask)]
    return texts[:TEXTS_MAX]


def _capitals(tokens: Sequence[Token], mask: int) -> Iterator[WordRun]:
    """Runs of capitalised words within a clause, including short words between them and hyphenated parts."""
    first = 1
    while first < len(tokens):
        last = place = first
        while place < len(tokens) and (place == first or not tokens[place].ends_clause) and not mask >> place & 1:
            is_joined = last == place > first and tokens[place].start - tokens[place - 1].end == 1
            if tokens[place].is_capital or (is_joined and tokens[place].text[0].isdigit()):
                last = place + 1
            elif place == first or tokens[place].key not in STOP_WORDS:
                break
            place += 1
        if last > first:
            yield WordRun(first, last)
        first = max(last, first + 1)


def _between(tokens: Sequence[Token], start: int, end: int) -> WordRun | None:
    """The words that these characters cover."""
    first = bisect_left(tokens, start, key=lambda token: token.end - 1)
    last = bisect_left(tokens, end, key=lambda token: token.start)
    return WordRun(first, last) if first < last else None
