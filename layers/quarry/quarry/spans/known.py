"""What the words of a question mean in the data, by what stands beside them: one mention for each run of words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from quarry.language.everyday import is_everyday
from quarry.language.tokens import Token, keys, says_something_by_case
from quarry.platform.text import STOP_WORDS
from quarry.spans.cues import cues
from quarry.spans.lexicon import Found, Lexicon, stems
from quarry.spans.mention import Asked, Cue, FacetName, Known, KnownValue, Mention, Place, Reference, Vocabulary

WHOLE_QUESTION_WORDS_MAX = 4
"""A question of so few words may be nothing but a part of a name."""

PHRASE_WORDS_MIN = 3
"""So many everyday words that are all of a value are no chance ("went out of business")."""

PARTIAL_NAMES_MAX = 3
"""A word that is a part of more names, and is written small, names nobody."""

CHANCE_WORDS_MAX = 2
"""So many everyday words may stand in the order of a name by chance."""

_ARTICLES = frozenset(("the", "a", "an", "any", "all"))
_LED_BY = frozenset("in from of at since before after by until to the a an".split())
_BEFORE_NOUNS = frozenset("of or many than".split())
_WHOEVER = frozenset("no without each every per by".split())
_TOGETHER = frozenset(("both", "all", "each"))
_WHICH = frozenset(("which", "what"))
_BEING = frozenset("is are was were be been being".split())
_DONE = frozenset(("done", "made", "held", "taken"))
"""Participles that are also said of anything."""
LEADS_MAX = 3
_BESIDE = 4.0
_CAPITAL = 1.0
_PLACE_LEADS = frozenset("in from near around at within outside inside".split())


@dataclass(frozen=True)
class KnownSpan:
    """The words `first` to `last` (not included) as they are known; `is_exact`: all of a value, written right."""

    first: int
    last: int
    mention: Mention
    is_exact: bool


class Sides:
    """The words of a question, and what those beside a run of them say about it."""

    def __init__(self, tokens: Sequence[Token], lexicon: Lexicon, asked: Sequence[Found[Asked | Reference]]) -> None:
        self.tokens = tokens
        self._lexicon = lexicon
        self.place_facets = lexicon.place_facets
        self.reckons = bool(lexicon.numbers)
        self.name_facets = lexicon.name_facets
        self._speaks_by_case = says_something_by_case(tokens)
        self._words = words = [token.key for token in tokens]
        word_stems = stems(tokens)
        self._is_everyday = [False] * len(tokens)
        self._rows: set[int] = set()
        self._starts: dict[int, FacetName] = {}
        self._ends: dict[int, FacetName] = {}
        self._asks_most = any(
            isinstance(each.meaning, Asked) and each.meaning.what in ("most", "least") for each in asked
        )
        self._people: set[tuple[int, int]] = set()
        for found in asked:
            self._is_everyday[found.first : found.last] = [True] * (found.last - found.first)
        for place in range(len(tokens)):
            term = lexicon.term_at(words, word_stems, place)
            if term and term.meaning == Cue("noun"):
                self._rows.add(place)
            if term and isinstance(term.meaning, FacetName):
                self._starts[place] = self._ends[term.last] = term.meaning
                if lexicon.name_facets & {*term.meaning.facets}:
                    self._people.add((place, term.last))
            for said in (term, cues().longest_at(words, place)):
                if said:
                    self._is_everyday[place : said.last] = [True] * (said.last - place)

    def support(self, facet: str, first: int, last: int) -> float:
        """How much speaks for these words being a value of `facet`: its name beside them or as a part of them, a word that leads
        to its values, or capitals where they say something.
        """
        within = range(first, last) if last - first > 1 else ()
        behind = last
        if self._word(last) == "as":  # "… as a selling point"
            behind += 1 + (self._word(last + 1) in _ARTICLES)
        behind += self._word(behind) in _TOGETHER
        names = (self._ends.get(first), self._starts.get(behind), *(self._starts.get(place) for place in within))
        is_beside = facet in self._leads_before(first) or any(name and facet in name.facets for name in names)
        return _BESIDE * is_beside + _CAPITAL * self.has_capital(first, last)

    def are_whoever(self, first: int, last: int) -> bool:
        """Whether words that may be somebody's work stand for whoever a row refers to by that name: "no director", "by director",
        "which director has the most".
        """
        before = self._word(first - 1)
        is_asked = before in _WHICH and self._asks_most
        return self.reckons and (first, last) in self._people and (before in _WHOEVER or is_asked)

    def is_everyday(self, first: int, last: int) -> bool:
        """Whether the words are those of questions at large, or bare figures."""
        return all(
            self._is_everyday[place] or self.tokens[place].key.isdigit() or len(self.tokens[place].key) == 1
            for place in range(first, last)
        )

    def is_meant(self, first: int, last: int, value: KnownValue) -> bool:
        """Whether everyday words are a value where they stand: a noun behind "of" ("of features"), several words behind a verb
        of being ("are on hold"), one that ends the question there ("are done") or is a participle before what rows are called
        ("done jobs"), or what the facet of the value is called after ("senior" of a seniority).
        """
        if not self.reckons or not value.is_whole or value.likeness < 1:
            return False
        if last - first > 1:
            return self._word(first - 1) in _BEING
        if self._starts.get(first) and self._starts[first].facets == (value.facet,):
            return (self.tokens[first].key,) == keys(value.value)
        if value.facet not in self.name_facets and (self.tokens[first].key,) == keys(value.value):
            is_state = last == len(self.tokens) and self._word(first - 1) in _BEING
            if is_state or (last in self._rows and self.tokens[first].key in _DONE):
                return True
        behind = self._word(last)
        ends = last == len(self.tokens) or behind in _LED_BY or behind in _BEING
        cue = cues().longest_at(self._words, first)
        is_light = cue is not None and cue.meaning == "light"
        return is_light and ends and self._word(first - 1) in _BEFORE_NOUNS

    def _word(self, place: int) -> str:
        return self._words[place] if 0 <= place < len(self._words) else ""

    def is_small_word(self, first: int, last: int) -> bool:
        """Whether it is an "in" or "or" as everybody writes it, which no code of a state or a company is."""
        token = self.tokens[first]
        return last - first == 1 < len(self.tokens) and token.key in STOP_WORDS and token.text.islower()

    def is_all(self, first: int, last: int) -> bool:
        return last - first == len(self.tokens) <= WHOLE_QUESTION_WORDS_MAX

    def names_rows(self, first: int, last: int) -> bool:
        """Whether several words stand right before what rows are called: "cloud nine posters" are somebody's."""
        return last - first > 1 and last in self._rows and not self.tokens[last].ends_clause

    def listed_behind(self, last: int) -> int:
        """Where the next of a list would begin, of which one ends before `last`; -1: where none can."""
        if self._word(last) in ("and", "or", "nor"):
            return last + 1
        return last if last < len(self.tokens) and self.tokens[last].ends_clause else -1

    def led_by(self, first: int) -> int:
        """How many prepositions and articles stand right before the word at `first`."""
        count = 0
        while count < LEADS_MAX and first - count > 0 and self.tokens[first - count - 1].key in _LED_BY:
            count += 1
        return count

    def leads_to_place(self, first: int) -> bool:
        return bool(self._before(first) & _PLACE_LEADS)

    def _leads_before(self, first: int) -> frozenset[str]:
        leads: frozenset[str] = frozenset()
        for lead in self._before(first):
            leads |= self._lexicon.leads.get(lead, frozenset())
        return leads

    def _before(self, first: int) -> frozenset[str]:
        """The word before the one at `first`, without articles, and the last two as a phrase."""
        if first and self.tokens[first - 1].key in _ARTICLES:
            first -= 1
        words = [token.key for token in self.tokens[max(0, first - 2) : first]]
        return frozenset((words[-1], " ".join(words))) if words else frozenset()

    def has_capital(self, first: int, last: int) -> bool:
        is_written_so = all(token.is_capital or token.key in ("of", "the", "and") for token in self.tokens[first:last])
        return self._speaks_by_case and is_written_so and (first > 0 or last - first > 1)


def find_known(vocabulary: Vocabulary, sides: Sides, places: Mapping[tuple[int, int], Mention]) -> list[KnownSpan]:
    """One mention for each run of words that the data knows, its likeliest values first; and the places, with what they are in
    the data.
    """
    spans: dict[tuple[int, int], list[KnownValue]] = {}
    for match in vocabulary.matches:
        is_inside = 0 <= match.first < match.last <= len(sides.tokens)
        is_inflected = is_inside and (
            _is_inflected_name(sides, match.first, match.last, match.value)
            or _is_inflected_place(sides, match.first, match.last, match.value)
        )
        if is_inside and not is_inflected:
            spans.setdefault((match.first, match.last), []).append(match.value)
    lists = _lists_of_names(sides, spans)
    found = [
        known
        for span, values in spans.items()
        if (known := _known(sides, *span, values, places.get(span), lists.get(span, span))) is not None
    ]
    found = [_within(sides, known, spans) for known in found]
    unknown = [span for span in places if span not in spans]
    return found + [
        KnownSpan(first, last, places[first, last], is_exact=True)
        for first, last in unknown
        if first < last and (not places[first, last].is_latent)
    ]


def _lists_of_names(
    sides: Sides, spans: Mapping[tuple[int, int], Sequence[KnownValue]]
) -> Mapping[tuple[int, int], tuple[int, int]]:
    """The names of a list ("Ann Oak, Bo Elm and Cy Ash"), each with where the list begins and ends."""
    longest: dict[int, int] = {}
    for first, last in spans:
        longest[first] = max(last, longest.get(first, 0))
    names = {
        first: last
        for first, last in longest.items()
        if any(value.is_whole and value.facet in sides.name_facets for value in spans[first, last])
    }
    begins: dict[int, int] = {}
    lists: dict[int, tuple[int, int]] = {}
    for first, last in sorted(names.items()):
        begin = begins.get(first, first)
        lists[begin] = begin, last
        if (other := sides.listed_behind(last)) in names:
            begins[other] = begin
    return {(first, last): lists[begins.get(first, first)] for first, last in names.items()}


def _within(sides: Sides, known: KnownSpan, spans: Mapping[tuple[int, int], Sequence[KnownValue]]) -> KnownSpan:
    """A place with what the data knows of the country that its last words name ("London, Canada")."""
    place = known.mention.value
    if not isinstance(place, Place) or place.within is None:
        return known
    inner = next(
        (spans[first, known.last] for first in range(known.first + 1, known.last) if (first, known.last) in spans), ()
    )
    values = tuple(value for value in inner if value.facet in sides.place_facets and value.is_whole)
    return replace(known, mention=replace(known.mention, value=replace(place, known_within=values)))


def _known(
    sides: Sides, first: int, last: int, values: Sequence[KnownValue], place: Mention | None, list_of: tuple[int, int]
) -> KnownSpan | None:
    ranked = _likeliest(sides, first, last, values, list_of)
    support = sides.support(ranked[0].facet, first, last)
    if place is not None and (meant := _as_place(sides, first, place, ranked, support)):
        return KnownSpan(first, last, meant, is_exact=True)
    if support == 0 and not sides.is_all(first, last):
        ranked = _without_chance_names(sides, first, last, ranked)
        if not ranked:
            return None
    best = ranked[0]
    is_exact = best.is_whole and best.likeness >= 1
    is_supported = support > 0 or sides.is_all(first, last)
    said_before = first > 0 and (sides.tokens[first - 1].key in ("or", "and") or sides.tokens[first].ends_clause)
    # of "Series A or B", the B is all of a value but for what it shares with the one before
    is_continued = said_before and last - first < len(keys(best.value))
    is_phrase = best.is_whole and (last - first >= PHRASE_WORDS_MIN or is_continued)
    is_chance = sides.is_everyday(first, last) and not (is_supported or is_phrase or sides.is_meant(first, last, best))
    if is_chance or sides.is_small_word(first, last):
        return None
    tokens = sides.tokens
    mention = Mention(
        Known(ranked),
        tokens[first].start,
        tokens[last - 1].end,
        is_latent=not sides.is_all(first, last) and _may_be_chance(sides, first, last, best, is_supported),
        source="data",
    )
    return KnownSpan(first, last, mention, is_exact)


def _may_be_chance(sides: Sides, first: int, last: int, best: KnownValue, is_supported: bool) -> bool:
    """Whether words within a longer question may be like a value by chance: like a part of it but for a slip; or, where nothing
    beside them speaks for it, like a part, or everyday words that are somebody's name.
    """
    if not best.is_whole and best.likeness < 1:
        return True
    if is_supported or (best.is_whole and sides.names_rows(first, last)):
        return False
    is_name = best.facet in sides.name_facets
    is_short = last - first <= CHANCE_WORDS_MAX
    return not best.is_whole or (
        is_name and is_short and all(is_everyday(token.key) for token in sides.tokens[first:last])
    )


def _likeliest(
    sides: Sides, first: int, last: int, values: Sequence[KnownValue], list_of: tuple[int, int]
) -> tuple[KnownValue, ...]:
    """The values in the order of what speaks for them; where something beside the words, or else beside the list of names that
    they are in, speaks for one, only those that it speaks for, and where one was said whole and right, only such.
    """
    facets = {value.facet for value in values}
    beside = {facet: sides.support(facet, first, last) >= _BESIDE for facet in facets}
    if not any(beside.values()):
        beside = {facet: sides.support(facet, *list_of) >= _BESIDE for facet in facets}
    if any(beside.values()):
        values = [value for value in values if beside[value.facet]]
    if any(value.is_whole and value.likeness >= 1 for value in values):
        values = [value for value in values if value.is_whole and value.likeness >= 1]
    elif any(value.likeness >= 1 for value in values):
        values = [value for value in values if value.likeness >= 1]
    ranked = sorted(values, key=lambda value: (-value.likeness, -math.log1p(value.rows), value.facet, value.value))
    return tuple(dict.fromkeys(ranked))


def _without_chance_names(
    sides: Sides, first: int, last: int, ranked: tuple[KnownValue, ...]
) -> tuple[KnownValue, ...]:
    """Words in small letters, with nothing beside them that speaks for a name: as they are, they name somebody where they mean
    nothing else here; inflected ("paid" for "Pays"), or as a part of many names, never.
    """
    if sides.has_capital(first, last):
        return ranked
    said = tuple(token.key for token in sides.tokens[first:last])
    others = tuple(value for value in ranked if value.facet not in sides.name_facets and value.is_whole)
    if others:
        return others
    parts = [value for value in ranked if not value.is_whole]
    return tuple(
        value
        for value in ranked
        if value.facet not in sides.name_facets
        or (value.is_whole and value.likeness < 1)
        or ("".join(keys(value.value)) == "".join(said) if value.is_whole else _is_part(said, value, len(parts)))
    )


def _is_inflected_name(sides: Sides, first: int, last: int, value: KnownValue) -> bool:
    """Whether words are only of one stem with a name, or with words of one, and nothing speaks for it: "engineers" names no team
    "Engine", "women engineers" no "Women's Engineering College".
    """
    if value.facet not in sides.name_facets or value.likeness < 1:
        return False
    said, named = (token.key for token in sides.tokens[first:last]), keys(value.value)
    if value.is_whole:
        is_same = "".join(said).removesuffix("s") == "".join(named).removesuffix("s")
    else:
        is_same = {word.removesuffix("s") for word in said} <= {word.removesuffix("s") for word in named}
    return not is_same and not sides.support(value.facet, first, last)


def _is_inflected_place(sides: Sides, first: int, last: int, value: KnownValue) -> bool:
    """Whether a word in small letters is only another form of a place's name, with nothing that leads to a place: "baths" are not
    in Bath.
    """
    if value.facet not in sides.place_facets or not value.is_whole or value.likeness < 1 or not sides.reckons:
        return False
    said = "".join(token.key for token in sides.tokens[first:last])
    is_led = sides.support(value.facet, first, last) or sides.leads_to_place(first)
    return said != "".join(keys(value.value)) and not is_led and all(t.text.islower() for t in sides.tokens[first:last])


def _is_part(said: Sequence[str], value: KnownValue, parts: int) -> bool:
    """Whether the words stand in the name to the letter, and in few others."""
    return value.likeness >= 1 and parts <= PARTIAL_NAMES_MAX and set(said) <= set(keys(value.value))


def _are_its_letters(sides: Sides, first: int, place: Mention, others: Sequence[KnownValue]) -> bool:
    """Whether an adjective of a place is to the letter a value of something else: "Japanese", where that is a skill."""
    said = (sides.tokens[first].key,)
    is_name = isinstance(place.value, Place) and said[0] in (place.value.name, *place.value.names)
    return not is_name and any(value.is_whole and keys(value.value) == said for value in others)


def _as_place(sides: Sides, first: int, place: Mention, ranked: Sequence[KnownValue], support: float) -> Mention | None:
    """The words as a place of the data; None where they are a value of something else, or nothing says that a place is meant."""
    known = tuple(value for value in ranked if value.facet in sides.place_facets)
    others = [value for value in ranked if value.facet not in sides.place_facets]
    is_something_else = bool(others) and (support >= _BESIDE or _are_its_letters(sides, first, place, others))
    if not isinstance(place.value, Place) or not known or is_something_else:
        return None
    if place.is_latent and not support and not sides.leads_to_place(first):
        return None
    return replace(place, value=replace(place.value, known=known), is_latent=False)
