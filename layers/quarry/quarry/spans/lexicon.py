"""Phrases of a closed list, found in a text as the longest that begins at each word; and the words that a table brings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from quarry.language.nouns import deed_of, plural
from quarry.language.stemming import stem, stem_set, stems_of
from quarry.language.tokens import Token, keys
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.date_verbs import is_verb
from quarry.spans.dealings import DEALING, dealt_with
from quarry.spans.measures import QUANTITIES
from quarry.spans.mention import Cue, FacetName, Grain
from quarry.spans.quantities import units_like

Meaning = TypeVar("Meaning")

PERIODS: Mapping[str, Grain] = {
    "day": "day", "date": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year",
}  # fmt: skip


@dataclass(frozen=True)
class Found(Generic[Meaning]):
    """The words `first` to `last` (not included) and what they mean."""

    first: int
    last: int
    meaning: Meaning


class PhraseTable(Generic[Meaning]):
    """Phrases and what each means. Where one is given twice, the first meaning holds.

    `form` is what two words are compared by; texts must be given in the same form.
    """

    def __init__(self, phrases: Iterable[tuple[str, Meaning]], form: Callable[[str], str] = str) -> None:
        self._meanings: dict[tuple[str, ...], Meaning] = {}
        lengths: dict[str, set[int]] = {}
        for text, meaning in phrases:
            if phrase := tuple(form(key) for key in keys(text)):
                self._meanings.setdefault(phrase, meaning)
                lengths.setdefault(phrase[0], set()).add(len(phrase))
        self._lengths = {word: sorted(counts, reverse=True) for word, counts in lengths.items()}

    def longest_at(self, words: Sequence[str], first: int) -> Found[Meaning] | None:
        """The longest phrase that begins with the word at `first`."""
        for length in self._lengths.get(words[first], ()):
            phrase = tuple(words[first : first + length])
            if len(phrase) == length and phrase in self._meanings:
                return Found(first, first + length, self._meanings[phrase])
        return None

    def find(self, words: Sequence[str]) -> Iterator[Found[Meaning]]:
        """The longest phrase at each word; they may overlap."""
        for first in range(len(words)):
            if found := self.longest_at(words, first):
                yield found


@dataclass(frozen=True)
class Synonym:
    """Another everyday word for a value that `facet` may have."""

    facet: str
    value: str


@dataclass(frozen=True)
class Lexicon:
    """The words that a table brings: what its rows and facets are called, by stem; `leads`: the facets whose values a word may
    stand before; `name_facets`: those that say what a row, or who made it, is called; `units`: the stems of what is counted;
    `recent_days`: how far back "recent" goes.
    """

    terms: PhraseTable[FacetName | Cue]
    exact_terms: PhraseTable[FacetName | Cue]
    synonyms: PhraseTable[Synonym]
    leads: Mapping[str, frozenset[str]]
    row_words: frozenset[str] = frozenset()
    """The words of some length that rows are called by, which may be misspelt."""
    place_facets: frozenset[str] = frozenset()
    name_facets: frozenset[str] = frozenset()
    units: frozenset[str] = frozenset()
    recent_days: int | None = None
    measured_in: frozenset[str] = frozenset()
    """The stems of the units that its numbers can be told in."""
    numbers: frozenset[str] = frozenset()
    """The facets that are reckoned with."""
    date: str | None = None
    events: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Dates by name, the one that dates the rows first, each with the words for what happened then."""
    verbs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What is said of rows in the names of facets, before what these are: "billing" of `billing_country`, and "assignee"."""
    doers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The verbs of what is done by those, or to whom, that a row refers to: "assign" of `assignee`, "approv" of `approved_by`."""
    facet_terms: PhraseTable[FacetName | Cue] = field(default_factory=lambda: PhraseTable(()))
    """The names of facets alone, by stem."""
    owned: Mapping[tuple[str, ...], frozenset[str]] = field(default_factory=dict)
    """Of several tables, what the rows of each are called, by stems, and the numbers that these have."""
    own_events: Mapping[tuple[str, ...], Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """Of several tables, what the rows of each are called, by stems, and what happened on each of the rows' own dates."""
    opposites: PhraseTable[FacetName] = field(default_factory=lambda: PhraseTable(()))
    """What says of a row that it is not what a facet of yes and no is called ("unfurnished", "out of print"), by stem."""
    referring: Mapping[tuple[str, ...], Mapping[tuple[str, ...], str]] = field(default_factory=dict)
    """Of several tables, what the rows of each are called, by stems, and what rows of others are that refer to these, with the
    facet that tells how many do, or that these refer to, with the facet that tells which one.
    """
    dealings: Mapping[tuple[str, ...], Mapping[str, str]] = field(default_factory=dict)
    """Of several tables, what the rows of each are called, by stems, and by the stems of what is done with them the facet that
    tells in how many rows it is.
    """
    facet_places: frozenset[int] = frozenset()
    """Of one text, the words at which what rows may be called is the name of a facet (`ambiguous`)."""

    def term_at(self, words: Sequence[str], word_stems: Sequence[str], first: int) -> Found[FacetName | Cue] | None:
        """The longest name of a facet or of the rows that begins at `first`: as it is written or, where none is, by its stems,
        for "advertiser" and "advertisement" have the same.
        """
        if first in self.facet_places:
            return self.facet_terms.longest_at(word_stems, first)
        exact = self.exact_terms.longest_at([_singular(word) for word in words[first : first + TERM_WORDS_MAX]], 0)
        by_stem = self.terms.longest_at(word_stems, first)
        if by_stem and by_stem.meaning == Cue("noun") and words[by_stem.last - 1].endswith("ive"):
            # "the most expensive" are no expenses
            by_stem = None
        if by_stem and by_stem.meaning == Cue("noun") and words[by_stem.last - 1].endswith("ed") and exact is None:
            # "listed last month" is said of listings, and names none; "listed most" asks for the most of them
            by_stem = by_stem if {*words[by_stem.last : by_stem.last + 1]} & {"most", "least"} else None
        if by_stem and isinstance(by_stem.meaning, FacetName) and words[by_stem.last - 1].endswith("ed"):
            # "rated" is no rate
            by_stem = None if self.numbers & {*by_stem.meaning.facets} else by_stem
        if exact is None or (by_stem and by_stem.last - first > exact.last):
            return by_stem
        return Found(first, first + exact.last, exact.meaning)


@dataclass(frozen=True)
class LookUp:
    """A phrase that the words `first` to `last` (not included) may stand for, to be looked up as if it stood there."""

    first: int
    last: int
    phrase: str
    facet: str | None = None


TERM_WORDS_MAX = 6
MISSPELT_LENGTH_MIN = 6
CONTINUED_MAX = 12
"""So many words of lists are looked up with what they share with the ones before."""


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word.removesuffix("s")


def stems(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(stem(token.key) for token in tokens)


def lexicon_of(table: SearchTable) -> Lexicon:
    """The lexicon of a table. It costs a millisecond: keep it."""
    rows = table.united if table.reckons else ()
    return Lexicon(
        terms=PhraseTable(_terms(table), stem),
        exact_terms=PhraseTable(_terms(table), _singular),
        synonyms=PhraseTable(
            ((word, Synonym(facet.name, value)) for facet in table.facets for word, value in facet.synonyms),
            stem,
        ),
        leads=_leads(table.facets),
        row_words=frozenset(
            word
            for noun in table.nouns
            for word in (noun, plural(noun))
            if len(word) >= MISSPELT_LENGTH_MIN and word.isalpha()
        ),
        place_facets=frozenset(facet.name for facet in table.facets if facet.kind == "place"),
        name_facets=frozenset(facet.name for facet in table.facets if facet.kind == "name"),
        units=_units(table),
        measured_in=units_like(facet.unit for facet in table.facets),
        recent_days=table.recent_days if table.date else None,
        numbers=frozenset(facet.name for facet in table.facets if facet.is_measurable)
        if table.reckons
        else frozenset(),
        date=table.date,
        events={
            facet.name: facet.events
            for facet in sorted(table.facets, key=lambda facet: facet.name != table.date)
            if facet.events
        },
        verbs={
            facet.name: said[:-1] or said for facet in table.facets if facet.is_listed and (said := facet.name_words)
        },
        doers={facet.name: said for facet in table.facets if (said := _deeds(facet)) and facet.steps <= 1},
        facet_terms=PhraseTable(_facet_terms(table), stem),
        opposites=PhraseTable((*_opposites(table), *_undone(table), *_blank(table)), stem),
        referring=_referring(table),
        dealings=_by_noun(
            rows, lambda own: {deed: facet.name for deed in DEALING if (facet := dealt_with(own, {deed}))}
        ),
        owned=_by_noun(table.united, lambda own: frozenset(each.name for each in own.facets if each.is_measurable)),
        own_events=_by_noun(
            rows, lambda own: {each.name: each.events for each in own.facets if each.events and each.steps == 0}
        ),
    )


def _by_noun(tables: Iterable[SearchTable], of: Callable[[SearchTable], Meaning]) -> dict[tuple[str, ...], Meaning]:
    """What is so `of` each of the tables, by the stems of what its rows are called."""
    return {stems_of(noun): told for own in tables for told in [of(own)] for noun in own.nouns}


def _units(table: SearchTable) -> frozenset[str]:
    """The stems of what is counted."""
    counted = (*table.nouns, *(unit for facet in table.facets for unit in units_of(facet)))
    times = {stem("times")} if any(facet.counts for facet in table.facets) else set[str]()
    like = units_like(facet.unit for facet in table.facets)
    return like.union(times, (stem(keys(name)[-1]) for name in counted if keys(name)))


def _referring(table: SearchTable) -> dict[tuple[str, ...], dict[tuple[str, ...], str]]:
    rows: dict[tuple[str, ...], dict[tuple[str, ...], str]] = {}
    for own in table.united:
        called = {
            stems_of(name): facet.name
            for facet in own.facets
            for name in (facet.counts or ((facet.label, *facet.words) if facet.steps == 1 else ()))
        }
        # what a row refers to itself comes before what refers to it
        called |= {stems_of(facet.label): facet.name for facet in own.facets if facet.steps == 1 and not facet.counts}
        rows |= {stems_of(noun): {**rows.get(stems_of(noun), {}), **called} for noun in own.nouns}
    return rows


def synonyms_in(tokens: Sequence[Token], lexicon: Lexicon) -> list[LookUp]:
    """What the words are other words for."""
    return [
        LookUp(found.first, found.last, found.meaning.value, found.meaning.facet)
        for found in lexicon.synonyms.find(stems(tokens))
    ]


def continued_in(tokens: Sequence[Token]) -> list[LookUp]:
    """What words of a list may say with what the first shares with them: of "Series A, B or C", "series b" and "series c"."""
    heads: dict[int, str] = {}
    for place in range(2, len(tokens)):
        before = place - 2 if tokens[place - 1].key in ("or", "and") else place - 1
        is_continued = before < place - 1 or tokens[place].ends_clause
        if is_continued and before > 0:
            heads[place] = heads.get(before, tokens[before - 1].key)
    return [LookUp(place, place + 1, f"{head} {tokens[place].key}") for place, head in heads.items()][:CONTINUED_MAX]


def units_of(facet: Facet) -> tuple[str, ...]:
    """The nouns that a number of this facet counts; none of what is no number, or is counted of rows."""
    if facet.kind != "number" or facet.counts:
        return ()
    serving = ("people", "persons", "guests") if _SERVING & {stem(key) for key in keys(facet.label)} else ()
    return (*facet.units, facet.label, facet.plural, *facet.words, *serving, *_participants(facet))


def _participants(facet: Facet) -> tuple[str, ...]:
    """What is counted of which the name says what became of it: "customers" of `customers_affected`."""
    said = facet.label.split()
    return (" ".join(said[:-1]),) if len(said) > 1 and said[-1].endswith("ed") else ()


_SERVING = stem_set("servings serves portions seats sleeps capacity guests persons")
"""What a number is called that says for how many people something is."""
_NEGATIVE_PREFIXES = ("un", "non", "in", "im", "ir", "il", "dis")


def _terms(table: SearchTable) -> Iterator[tuple[str, FacetName | Cue]]:
    for noun in table.nouns:
        yield from ((name, Cue("noun")) for name in (noun, plural(noun)))
    if table.reckons:
        # "the heaviest piece of equipment"
        yield from ((said, Cue("filler")) for said in ("piece of", "item of"))
    yield from _facet_terms(table)


def _facet_terms(table: SearchTable) -> Iterator[tuple[str, FacetName | Cue]]:
    named: dict[tuple[str, ...], list[str]] = {}
    written: dict[tuple[str, ...], str] = {}
    for facet in table.facets:
        if facet.kind == "words":
            # what a row says is the row: "how many texts mention …"
            yield from ((name, Cue("noun")) for name in (facet.label, *facet.words))
            continue
        if facet.counts or (facet.kind == "text" and table.reckons):
            # that a row lacks a text is said in more words than its name
            continue
        counted = [unit for unit in facet.units if facet.kind == "number" and unit not in PERIODS]
        # a quantity is of units, whatever these are
        said = {*facet.name_words}
        is_of_units = facet.kind == "number" and said & QUANTITIES and not said & _LIMITS
        counted += ["unit", "piece"] if is_of_units else []
        for name in (facet.label, facet.plural, *facet.words, *counted, *_turned(facet)):
            phrase = tuple(_singular(key) for key in keys(name))
            written.setdefault(phrase, name)
            if facet.name not in named.setdefault(phrase, []):
                named[phrase].append(facet.name)
    for phrase, facets in named.items():
        yield written[phrase], FacetName(tuple(facets))
    if table.date:
        for word, grain in PERIODS.items():
            yield word, FacetName((table.date,), grain)


_LIMITS = frozenset("min minimum max maximum reorder limit target threshold".split())
"""What the name of a number says that it is not of what there is."""


def _turned(facet: Facet) -> Iterator[str]:
    """A facet's name as it is said in a sentence: "type of boat" for `boat_type`, "needs a licence" for `needs_licence`."""
    match facet.name_words:
        case (first, last) if facet.kind == "boolean":
            yield from (f"{first} {article} {last}" for article in ("a", "an", "the"))
        case (first, last) if facet.kind in ("value", "title", "place"):
            yield from (f"{last} of {article}{first}" for article in ("", "the ", "a "))


def _opposites(table: SearchTable) -> Iterator[tuple[str, FacetName]]:
    for facet in table.facets:
        for name in (facet.label, *facet.words) if facet.kind == "boolean" else ():
            first, _, rest = name.lower().partition(" ")
            if not rest:
                yield from ((prefix + first, FacetName((facet.name,))) for prefix in _NEGATIVE_PREFIXES)
            elif first in ("in", "on"):
                yield f"{'out of' if first == 'in' else 'off'} {rest}", FacetName((facet.name,))


_LACKING = ("no", "without", "without a", "without an", "without any", "lacking", "missing")


def _blank(table: SearchTable) -> Iterator[tuple[str, FacetName]]:
    """What says that a row lacks a text that it may have: "without comments", where no rows are called so."""
    rows = {stems_of(noun) for noun in table.nouns}
    for facet in table.facets if table.reckons else ():
        names = (facet.label, facet.plural, *facet.words) if facet.kind == "text" else ()
        for name in (each for each in names if stems_of(each) not in rows):
            yield from ((f"{lacking} {name}", FacetName((facet.name,))) for lacking in _LACKING)


def _deeds(facet: Facet) -> tuple[str, ...]:
    match facet.name_words:
        case (*_, last) if facet.is_listed and (deed := deed_of(last)):
            return (deed,)
        case (verb, "by" | "to") if facet.is_listed and is_verb(verb):
            return (verb.removesuffix("ed"),)
        case (verb, particle, "by") if facet.is_listed and is_verb(verb):
            # "checked in by"
            return (f"{verb.removesuffix('ed')} {particle}",)
    return ()


def _undone(table: SearchTable) -> Iterator[tuple[str, FacetName]]:
    """What says that a row refers to nobody, or that something has not happened: "unassigned" of an `assignee`, "unpaid"."""
    for facet in table.facets if table.reckons else ():
        for deed in _deeds(facet) if facet.steps <= 1 else ():
            yield f"un{deed}ed", FacetName((facet.name,))
        for event in filter(is_verb, facet.events) if facet.kind == "date" else ():
            yield f"un{event}", FacetName((facet.name,))


def _leads(facets: Sequence[Facet]) -> Mapping[str, frozenset[str]]:
    leads: dict[str, set[str]] = {}
    for facet in facets:
        for lead in facet.leads:
            leads.setdefault(lead.lower(), set()).add(facet.name)
    return {lead: frozenset(names) for lead, names in leads.items()}
