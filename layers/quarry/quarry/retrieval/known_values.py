"""Matches values that a request names with those of the data, and finds the nearest ones of an unknown value;
and looks up what the words of a question may mean, usually in one statement.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from types import MappingProxyType
from typing import Any

from psycopg.rows import DictRow

from quarry.language.word_forms import Token, keys, slips, stem
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.postgres.pool import Database
from quarry.retrieval.values import NO_OWNERS, Owners, frequent_visible_values, owners_of, visible_values
from quarry.schema.source import (
    EXPLAINED_VALUES,
    FacetKind,
    NamedValue,
    Source,
    UnknownValue,
    folded_value,
    nearest,
    plain,
)
from quarry.spans.mention import KnownValue, ValueMatch
from quarry.spans.places import places_called

VALUES_MAX = 1_000
"""The most values that a request may name."""
COMPARED_VALUES = 1_000
"""How many values of a facet, most frequent first, are compared with an unknown one."""


async def values_meant(
    database: Database,
    table: Source,
    named_values: Sequence[NamedValue],
    question: str = "",
    *,
    whole: bool = False,
    owners: Owners = NO_OWNERS,
    keeps_places: bool = True,
) -> list[list[str]]:
    """For each named value, the values of the data that it means; for a place, all spellings of it and of the places in it. An
    unknown value is kept if the question `question` contains it, if there is no data, or, with `keeps_places`, if it is a known
    place. `whole`: values that merely contain all its words do not count. `owners` says whose values of tables with owners are
    known.

    Raises InvalidInput for other unknown values, with the nearest ones, and for more than VALUES_MAX; DatabaseUnavailable.
    """
    if len(named_values) > VALUES_MAX:
        raise InvalidInput(
            [FieldError(named_values[VALUES_MAX].pointer, f"at most {VALUES_MAX:,} values can be named")]
        )
    matches_by_value = await _matches(database, [table], named_values, owners, whole=whole)
    partial = [each for each, matches in zip(named_values, matches_by_value, strict=True) if not matches.whole]
    beside = await _matches(database, [table], [each._replace(facets=each.elsewhere) for each in partial], owners)
    by_value = dict(zip(partial, beside, strict=True))
    meanings = [
        matches.meaning_beside(by_value.get(each, _Matches()))
        for each, matches in zip(named_values, matches_by_value, strict=True)
    ]
    words = _stems(question)
    unknown = [
        each
        for each, values in zip(named_values, meanings, strict=True)
        if values is None and not _is_within(each.value, words) and not (keeps_places and _is_place(table, each))
    ]
    if unknown and await _has_values(database, table):
        raise InvalidInput(await _explained(database, table, unknown, owners))
    return [[each.value] if values is None else values for each, values in zip(named_values, meanings, strict=True)]


@dataclass(frozen=True)
class NamedCondition:
    """The values that a condition of a request names for a facet; `pointer` is where they stand. Alternatives share a `group`."""

    facet: str
    values: Sequence[str]
    pointer: str
    group: object = None
    is_negated: bool = False

    @property
    def meaning_key(self) -> object:
        """The same for conditions that say the same of several facets: alternatives, and those that exclude the same values."""
        if self.group is not None:
            return "group", self.group
        return tuple(map(str.casefold, self.values)) if self.is_negated else id(self)


async def conditions_meant(
    database: Database, table: Source, conditions: Sequence[NamedCondition], question: str
) -> list[list[str]]:
    """For each condition, the values of the data that it means, each once; none if an alternative on another facet has them.
    Raises what `values_meant` does.
    """
    together: dict[object, list[str]] = {}
    for each in conditions:
        together.setdefault(each.meaning_key, []).append(each.facet)
    named_values = [
        NamedValue((each.facet,), value, each.pointer, elsewhere=tuple(dict.fromkeys(together[each.meaning_key])))
        for each in conditions
        for value in each.values
    ]
    meanings = iter(await values_meant(database, table, named_values, question))
    return [list(dict.fromkeys(value for _ in each.values for value in next(meanings))) for each in conditions]


async def existing_values(
    database: Database,
    tables: Sequence[Source],
    values: Sequence[NamedValue],
    owners: Owners = NO_OWNERS,
    *,
    whole: bool = False,
) -> list[list[str]]:
    """For each value as somebody wrote it, the values of the data that it means: those that differ only in case, accents and
    outer spaces; else those that differ in punctuation or inflection, or that it is a declared synonym of; else, unless `whole`,
    those that contain all of its words. For a place, all spellings of it and of the places in it. `owners` says whose
    values of tables with owners are known. Raises DatabaseUnavailable.
    """
    matches_by_value = await _matches(database, tables, values, owners, whole=whole)
    return [matches.likest(each.value) for each, matches in zip(values, matches_by_value, strict=True)]


async def frequent_values(
    database: Database, facets: Sequence[tuple[Source, str]], owners: Owners, limit: int
) -> Mapping[tuple[str, str], list[str]]:
    """The most frequent values of each facet that the caller may see, by table and facet, in one statement, and one more if
    policies may hide some. `owners` says whose values of tables with owners are known. Raises DatabaseUnavailable.
    """
    unguarded = [each for each in facets if each[1] not in each[0].guarded]
    arguments = {
        "tables": [table.name for table, _ in unguarded],
        "facets": [facet for _, facet in unguarded],
        "owners": owners_of([table for table, _ in unguarded], owners),
        "limit": limit,
        "read": max(COMPARED_VALUES, limit),
    }
    by_facet: dict[tuple[str, str], list[str]] = {}
    for row in await database.rows(_LISTED_VALUES, arguments) if unguarded else []:
        by_facet.setdefault((row["table_name"], row["facet"]), []).append(row["value"])
    return {**by_facet, **await frequent_visible_values(database, facets, limit)}


@dataclass(frozen=True)
class _Matches:
    """The values of the data that are the same as a named one, and those that contain all of its words. `is_place`: it may be
    known by other names.
    """

    whole: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    is_place: bool = False

    def likest(self, value: str) -> list[str]:
        """The values that are likest to a named one."""
        same = [] if self.is_place else [each for each in self.whole if folded_value(each) == folded_value(value)]
        return same or self.whole or self.partial

    def meaning_beside(self, other: _Matches) -> list[str] | None:
        """The values meant if `other` has the matches of the same words in other facets; None if there are none at all."""
        if self.whole or not (other.whole or other.partial):
            return self.whole or self.partial or None
        return [] if other.whole else self.partial


async def _matches(
    database: Database,
    tables: Sequence[Source],
    named_values: Sequence[NamedValue],
    owners: Owners,
    *,
    whole: bool = False,
) -> list[_Matches]:
    lookups = [
        (place, table.name, owner, facet, value, whole or is_place)
        for table, owner in zip(tables, owners_of(tables, owners), strict=True)
        for place, each in enumerate(named_values)
        for facet in each.facets
        if facet in table.facets
        for value, is_place in _other_names(table, facet, each.value)
    ]
    places, names, scopes, facets, values, wholes = map(list, zip(*lookups, strict=True) if lookups else [()] * 6)
    arguments: dict[str, Any] = {
        "places": places,
        "tables": names,
        "owners": scopes,
        "facets": facets,
        "values": values,
        "wholes": wholes,
    }
    matches_by_value = [_Matches(is_place=any(_is_place(table, each) for table in tables)) for each in named_values]
    rows = await database.rows(_EXISTING_VALUES, arguments) if lookups else []
    visible = await visible_values(database, tables, [(row["table_name"], row["facet"], row["value"]) for row in rows])
    for row in rows:
        if (row["table_name"], row["facet"], row["value"]) not in visible:
            continue
        matching = matches_by_value[row["place"]].whole if row["is_whole"] else matches_by_value[row["place"]].partial
        if row["value"] not in matching:
            matching.append(row["value"])
    return matches_by_value


def _other_names(table: Source, facet: str, value: str) -> Iterator[tuple[str, bool]]:
    """A value, what it is a synonym of, and the names of the place that it is. These are `True`: no part of another name is meant
    ("england" in "New England").
    """
    yield value, False
    yield from ((meaning, False) for meaning in _synonyms(table, facet, value))
    if table.facets[facet].facet == "place":
        text = plain(value)
        place = next(iter(places_called(value)), None)
        yield from ((name, True) for name in (place.names if place else ()) if plain(name) != text)


def _synonyms(table: Source, facet: str, value: str) -> list[str]:
    text = plain(value)
    return [meaning for word, meaning in table.facets[facet].synonyms if plain(word) == text]


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, keys(text)))


def _is_within(value: str, words: frozenset[str]) -> bool:
    stems = _stems(value)
    return bool(stems) and stems <= words


def _is_place(table: Source, named_value: NamedValue) -> bool:
    facets = [table.facets[facet] for facet in named_value.facets if facet in table.facets]
    return any(facet.facet == "place" for facet in facets) and bool(places_called(named_value.value))


async def _has_values(database: Database, table: Source) -> bool:
    row = await database.row(
        "select exists (select from facet_values where table_name = %(table)s) as has", {"table": table.name}
    )
    return row is not None and bool(row["has"])


async def _explained(
    database: Database, table: Source, unknown: Sequence[NamedValue], owners: Owners
) -> list[FieldError]:
    """An error for each value; one for a value that is named for several facets."""
    errors = []
    apart = {(each.value, tuple(sorted({*each.elsewhere, *each.facets}))): each for each in reversed(unknown)}
    for place, each in enumerate(reversed(apart.values())):
        facets = each.elsewhere or each.facets
        near: tuple[str, ...] = ()
        if place < EXPLAINED_VALUES:
            existing = await _compared(database, table, facets, owners)
            near = await off_loop(nearest, each.value, existing)
        labelled = each.elsewhere or each.facets[:1]
        label = " or ".join(dict.fromkeys(table.facets[facet].label for facet in labelled))
        errors.append(FieldError(each.pointer, str(UnknownValue(table.nouns[0], label, each.value, near))))
    return errors


async def _compared(database: Database, table: Source, facets: Sequence[str], owners: Owners) -> list[str]:
    """The most frequent values of the facets that the caller may see."""
    arguments = {
        "facets": [facet for facet in facets if facet not in table.guarded],
        "limit": COMPARED_VALUES,
        "table": table.name,
        "owner": owners_of([table], owners)[0],
    }
    rows = await database.rows(_FREQUENT_VALUES, arguments) if arguments["facets"] else []
    visible = await frequent_visible_values(database, [(table, facet) for facet in facets], COMPARED_VALUES)
    return list(dict.fromkeys([row["value"] for row in rows] + [value for each in visible.values() for value in each]))


_EXISTING_VALUES = (
    "select a.place, a.table_name, a.facet, f.value, f.is_whole from ("
    "  select place, table_name, owner, facet, whole, phrase_key(folded_words(value)) as phrase,"
    "   word_stems(folded_words(value)) as stems"
    "  from unnest(%(places)s::int[], %(tables)s::text[], %(owners)s::text[], %(facets)s::text[], %(values)s::text[],"
    "   %(wholes)s::boolean[]) g (place, table_name, owner, facet, value, whole)"
    ") a, lateral ("
    "  (select v.value, true as is_whole from facet_values v"
    "   where v.phrase = a.phrase and v.table_name = a.table_name and v.facet = a.facet and v.scope = a.owner limit 60)"
    "  union all"
    "  (select v.value, false from facet_values v where not a.whole and v.stems @> a.stems and cardinality(v.stems) > 1"
    "   and cardinality(a.stems) > 0 and v.table_name = a.table_name and v.facet = a.facet and v.scope = a.owner"
    "   order by v.row_count desc, v.value limit 60)"
    ") f"
)

# a value may have several rows in the dictionary
_FREQUENT_VALUES = (
    "select facet, value from facet_values"
    " where table_name = %(table)s and facet = any(%(facets)s::text[]) and scope = %(owner)s"
    " group by facet, value order by sum(row_count) desc, value limit %(limit)s"
)

# if a facet has more values, the first ones in the index are read
_LISTED_VALUES = (
    "select a.table_name, a.facet, v.value"
    " from unnest(%(tables)s::text[], %(facets)s::text[], %(owners)s::text[]) a (table_name, facet, owner), lateral ("
    "  select r.value, sum(r.row_count) as number from ("
    "   select f.value, f.row_count from facet_values f where f.table_name = a.table_name and f.facet = a.facet"
    "   and f.scope = a.owner order by f.value limit %(read)s) r"
    "  group by r.value having sum(r.row_count) > 0 order by number desc, r.value limit %(limit)s) v"
    " order by a.table_name, a.facet, v.number desc, v.value"
)


WORDS_MAX = 300
"""How many words of a question are looked up."""
DOUBTFUL_MAX = 6
"""How many words are corrected, the first ones."""
SLIP_LENGTH_MIN = 5
TWO_SLIPS_LENGTH_MIN = 8
"""The least length of a stem for two slips."""
VALUE_WORDS_MAX = 12
"""How many words after a corrected one may belong to the same value."""
READINGS_MAX = 3
"""How many corrections are tried for each word."""
LIKENESS_OF_SLIPS = (1.0, 0.8, 0.6)

_NO_FORMS: Mapping[int, Sequence[str]] = MappingProxyType({})


@dataclass(frozen=True)
class LookUp:
    """A phrase to look up in place of the words `first` to `last` (exclusive)."""

    first: int
    last: int
    phrase: str
    facet: str | None = None


async def look_up(
    database: Database,
    tables: Sequence[Source],
    tokens: Sequence[Token],
    *,
    forms: Mapping[int, Sequence[str]] = _NO_FORMS,
    also: Sequence[LookUp] = (),
    doubtful: Collection[int] = (),
    owners: Owners = NO_OWNERS,
) -> Sequence[ValueMatch]:
    """The values of `tables` that runs of up to six words may mean, in no order; runs may overlap. Values match in full, apart
    from inflection, accents and spaces; names and other long values also by some of their words, if these are rare.

    `forms` are other forms of the words at these positions, `also` further phrases, in one facet if they name one. Words at
    `doubtful` positions may be misspelt: they are corrected if the data does not contain them. `owners` says whose values of
    tables with owners are found; values that the caller may not see are left out.
    """
    words = [token.key for token in tokens[:WORDS_MAX]]
    if not words:
        return ()
    also = [phrase for phrase in also if phrase.last <= len(words)]
    unsure = [place for place in sorted(doubtful) if place < len(words) and len(words[place]) >= SLIP_LENGTH_MIN]
    rows = await _dictionary_rows(database, tables, words, owners, forms, also, unsure[:DOUBTFUL_MAX])
    kinds = {name: facet.facet for table in tables for name, facet in table.facets.items()}
    others: list[tuple[Mapping[int, _Correction], Sequence[DictRow]]] = []
    for replaced in await off_loop(list, _corrections(words, rows)):
        first_words = words[: max(replaced) + VALUE_WORDS_MAX]
        corrected = [replaced[place].word if place in replaced else word for place, word in enumerate(first_words)]
        others.append((replaced, await _dictionary_rows(database, tables, corrected, owners)))
    return await off_loop(_meanings, rows, others, kinds)


@dataclass(frozen=True)
class _Correction:
    word: str
    likeness: float


async def _dictionary_rows(
    database: Database,
    tables: Sequence[Source],
    words: list[str],
    owners: Owners,
    forms: Mapping[int, Sequence[str]] = _NO_FORMS,
    also: Sequence[LookUp] = (),
    doubtful: Sequence[int] = (),
) -> list[DictRow]:
    """The rows of the dictionary for the words, without values that the caller may not see."""
    other = [(place, form) for place, same_forms in forms.items() for form in same_forms]
    may_hide = any(table.guarded for table in tables)
    rows = await database.call(
        "look_up_values_v2",
        p_tables=[table.name for table in tables],
        p_words=words,
        p_forms_at=[place for place, _ in other],
        p_forms=[form for _, form in other],
        p_phrases=[phrase.phrase for phrase in also],
        p_phrases_first=[phrase.first for phrase in also],
        p_phrases_last=[phrase.last for phrase in also],
        p_phrases_facet=[phrase.facet for phrase in also],
        p_doubtful=list(doubtful),
        p_owners=owners_of(tables, owners),
        p_may_hide=may_hide,
    )
    return await _visible(database, tables, rows) if may_hide else rows


async def _visible(database: Database, tables: Sequence[Source], rows: Sequence[DictRow]) -> list[DictRow]:
    # whole values first, since the number is limited
    proposed = sorted(
        (row for row in rows if row["match"] != "words"),
        key=lambda row: (_MATCHES.index(row["match"]), -row["row_count"]),
    )
    visible = await visible_values(database, tables, [_proposed(row) for row in proposed])
    remaining = [row for row in rows if row["match"] == "words" or _proposed(row) in visible]
    exact = {row["first"] for row in remaining if row["match"] == "held"}
    return [row for row in remaining if row["match"] != "near" or row["first"] not in exact]


_MATCHES = ("whole", "near", "held", "part")


def _proposed(row: DictRow) -> tuple[str, str, str]:
    return row["table_name"], row["facet"], row["value"]


def _meanings(
    rows: Sequence[DictRow],
    corrected: Sequence[tuple[Mapping[int, _Correction], Sequence[DictRow]]],
    kinds: Mapping[str, FacetKind | None],
) -> Sequence[ValueMatch]:
    """The values that the words may mean, as `rows`, and with some words `corrected`."""
    matches = list(_value_matches(rows, kinds))
    for replaced, again in corrected:
        matches += _of_corrected(_value_matches(again, kinds), replaced)
    return _merged(matches)


def _value_matches(rows: Sequence[DictRow], kinds: Mapping[str, FacetKind | None]) -> Iterator[ValueMatch]:
    # values of a facet that is no longer declared stay until the next count
    rows = [row for row in rows if row["facet"] in kinds or row["match"] == "words"]
    terms = _terms(rows)
    covered = _covered_by(
        (row["first"], row["last"])
        for row in rows
        if row["match"] == "whole" and (kinds[row["facet"]] != "title" or "at" not in keys(row["value"]))
    )
    parts: set[tuple[object, ...]] = set()
    for row in rows:
        if row["match"] == "whole":
            # "Engineer at Acme" in a question is a role and a company, not the title of a row
            if kinds[row["facet"]] != "title" or "at" not in keys(row["value"]):
                yield _match(row, row["first"], row["last"], is_whole=True)
        elif row["match"] == "part":
            stems = row["value_stems"]
            first, last = longest_run(terms, stems, row["first"])
            part = (first, last, row["table_name"], row["facet"], row["value"])
            is_whole = _is_one_name(row["value"], terms[first:last])
            may_stand = is_whole or _may_stand_for(kinds[row["facet"]], last - first, stems)
            if part in parts or covered(first, last) or not may_stand:
                continue
            parts.add(part)  # each of its words finds it
            if last - first < len(stems):
                yield _match(row, first, last, is_whole=is_whole)


def _covered_by(runs: Iterable[tuple[int, int]]) -> Callable[[int, int], bool]:
    """A function that says whether a run of words lies within a longer one of `runs`."""
    ends = [0] * (WORDS_MAX + 1)
    for first, last in runs:
        ends[first] = max(ends[first], last)
    furthest = list(accumulate(ends, max))

    def covered(first: int, last: int) -> bool:
        return last < ends[first] or (first > 0 and last <= furthest[first - 1])

    return covered


def _may_stand_for(kind: FacetKind | None, words: int, stems: Sequence[str]) -> bool:
    """Whether this number of words of a value may stand for it: one word of a name, half of another kind, none of a title."""
    return kind == "name" or (kind != "title" and 2 * words >= len(stems))


_OTHER_NAME = re.compile(r"[/|()]")


def _is_one_name(value: str, terms: Sequence[str]) -> bool:
    """Whether these stems are one of several names in a value: "Hall / Lobby", "Value Added Tax (VAT)"."""
    if not _OTHER_NAME.search(value):
        return False
    return any(tuple(terms) == tuple(map(stem, keys(name))) for name in _OTHER_NAME.split(value))


def _terms(rows: Sequence[DictRow]) -> Sequence[str]:
    """The stems of the question's words."""
    stems: Sequence[str] = next(row["value_stems"] for row in rows if row["match"] == "words")
    return stems


def _match(row: DictRow, first: int, last: int, *, is_whole: bool) -> ValueMatch:
    tables = frozenset((row["table_name"],))
    value = KnownValue(row["facet"], row["value"], row["row_count"], is_whole=is_whole, tables=tables)
    return ValueMatch(first, last, value)


def longest_run(terms: Sequence[str], value: Sequence[str], place: int) -> tuple[int, int]:
    """The longest run of words around `said[place]` that is also in `value`: its first position, and the one after its last."""
    best = (place, place + 1)
    for start, term in enumerate(value):
        if term != terms[place]:
            continue
        first, last, before, after = place, place + 1, start - 1, start + 1
        while first > 0 and before >= 0 and terms[first - 1] == value[before]:
            first, before = first - 1, before - 1
        while last < len(terms) and after < len(value) and terms[last] == value[after]:
            last, after = last + 1, after + 1
        best = max(best, (first, last), key=lambda run: run[1] - run[0])
    return best


def _corrections(words: Sequence[str], rows: Sequence[DictRow]) -> Iterator[dict[int, _Correction]]:
    """Corrections of words by position, the likeliest ones first."""
    terms = _terms(rows)
    corrections: dict[int, list[_Correction]] = {}
    for place in {row["first"] for row in rows if row["match"] == "near"}:
        near = [row["value_stems"][0] for row in rows if row["match"] == "near" and row["first"] == place]
        corrections[place] = _corrections_of(words[place], terms[place], near)
    for rank in range(max((len(readings) for readings in corrections.values()), default=0)):
        yield {place: readings[rank] for place, readings in corrections.items() if rank < len(readings)}


def _corrections_of(word: str, term: str, near: Iterable[str]) -> list[_Correction]:
    """The stems with the fewest slips."""
    allowed = 2 if len(term) >= TWO_SLIPS_LENGTH_MIN else 1
    slips_by_stem = [(min(slips(term, other), slips(word, other)), other) for other in sorted(set(near))]
    fewest = min((count for count, _ in slips_by_stem), default=allowed + 1)
    if not 0 < fewest <= allowed:
        return []
    return [_Correction(other, LIKENESS_OF_SLIPS[count]) for count, other in slips_by_stem if count == fewest][
        :READINGS_MAX
    ]


def _of_corrected(matches: Iterable[ValueMatch], replaced: Mapping[int, _Correction]) -> Iterator[ValueMatch]:
    for match in matches:
        likeness = [replaced[place].likeness for place in range(match.first, match.last) if place in replaced]
        if likeness:
            yield match._replace(value=replace(match.value, likeness=min(likeness)))


def _merged(matches: Iterable[ValueMatch]) -> list[ValueMatch]:
    """Each match once, with the rows of all tables and dictionary entries added up."""
    rows: Counter[ValueMatch] = Counter()
    tables: dict[ValueMatch, frozenset[str]] = {}
    for match in matches:
        same = match._replace(value=replace(match.value, rows=0))
        rows[same] += match.value.rows
        tables[same] = tables.get(same, frozenset()) | match.value.tables
    return [
        match._replace(value=replace(match.value, rows=count, tables=tables[match]))
        for match, count in rows.items()
        if count > 0
    ]
