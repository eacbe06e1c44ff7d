"""Looks up what the words of a question may mean among the values of facets, usually in one statement."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from types import MappingProxyType

from psycopg.rows import DictRow

from quarry.language.tokens import Token, keys, slips
from quarry.language.tokens import stem as stem_of
from quarry.platform.off_loop import off_loop
from quarry.postgres.pool import Database
from quarry.retrieval.facets import FacetKind, SearchTable
from quarry.retrieval.values import NO_OWNERS, Owners, owners_of, visible_values
from quarry.spans.mention import KnownValue, ValueMatch

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
    tables: Sequence[SearchTable],
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
    found = await _found(database, tables, words, owners, forms, also, unsure[:DOUBTFUL_MAX])
    kinds = {facet.name: facet.kind for table in tables for facet in table.facets}
    others: list[tuple[Mapping[int, _Correction], Sequence[DictRow]]] = []
    for replaced in await off_loop(list, _corrections(words, found)):
        read = words[: max(replaced) + VALUE_WORDS_MAX]
        corrected = [replaced[place].word if place in replaced else word for place, word in enumerate(read)]
        others.append((replaced, await _found(database, tables, corrected, owners)))
    return await off_loop(_meanings, found, others, kinds)


@dataclass(frozen=True)
class _Correction:
    word: str
    likeness: float


async def _found(
    database: Database,
    tables: Sequence[SearchTable],
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


async def _visible(database: Database, tables: Sequence[SearchTable], rows: Sequence[DictRow]) -> list[DictRow]:
    # whole values first, since the number is limited
    proposed = sorted(
        (row for row in rows if row["match"] != "words"),
        key=lambda row: (_MATCHES.index(row["match"]), -row["row_count"]),
    )
    visible = await visible_values(database, tables, [_proposed(row) for row in proposed])
    kept = [row for row in rows if row["match"] == "words" or _proposed(row) in visible]
    known = {row["first"] for row in kept if row["match"] == "held"}
    return [row for row in kept if row["match"] != "near" or row["first"] not in known]


_MATCHES = ("whole", "near", "held", "part")


def _proposed(row: DictRow) -> tuple[str, str, str]:
    return row["table_name"], row["facet"], row["value"]


def _meanings(
    found: Sequence[DictRow],
    corrected: Sequence[tuple[Mapping[int, _Correction], Sequence[DictRow]]],
    kinds: Mapping[str, FacetKind],
) -> Sequence[ValueMatch]:
    """The values that the words may mean, as `found`, and with some words `corrected`."""
    matches = list(_matches(found, kinds))
    for replaced, again in corrected:
        matches += _of_corrected(_matches(again, kinds), replaced)
    return _merged(matches)


def _matches(found: Sequence[DictRow], kinds: Mapping[str, FacetKind]) -> Iterator[ValueMatch]:
    # values of a facet that is no longer declared stay until the next count
    found = [row for row in found if row["facet"] in kinds or row["match"] == "words"]
    terms = _terms(found)
    covered = _covered_by(
        (row["first"], row["last"])
        for row in found
        if row["match"] == "whole" and (kinds[row["facet"]] != "title" or "at" not in keys(row["value"]))
    )
    parts: set[tuple[object, ...]] = set()
    for row in found:
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


def _may_stand_for(kind: FacetKind, words: int, stems: Sequence[str]) -> bool:
    """Whether so many words of a value may stand for it: one of a name, half of another kind, none of a title."""
    return kind == "name" or (kind != "title" and 2 * words >= len(stems))


_OTHER_NAME = re.compile(r"[/|()]")


def _is_one_name(value: str, terms: Sequence[str]) -> bool:
    """Whether these stems are one of several names in a value: "Hall / Lobby", "Value Added Tax (VAT)"."""
    if not _OTHER_NAME.search(value):
        return False
    return any(tuple(terms) == tuple(map(stem_of, keys(name))) for name in _OTHER_NAME.split(value))


def _terms(found: Sequence[DictRow]) -> Sequence[str]:
    """The stems of the question's words."""
    stems: Sequence[str] = next(row["value_stems"] for row in found if row["match"] == "words")
    return stems


def _match(row: DictRow, first: int, last: int, *, is_whole: bool) -> ValueMatch:
    tables = frozenset((row["table_name"],))
    value = KnownValue(row["facet"], row["value"], row["row_count"], is_whole=is_whole, tables=tables)
    return ValueMatch(first, last, value)


def longest_run(terms: Sequence[str], value: Sequence[str], place: int) -> tuple[int, int]:
    """The longest run of words around `said[place]` that is also in `value`: its first position, and the one after its last."""
    best = (place, place + 1)
    for start, stem in enumerate(value):
        if stem != terms[place]:
            continue
        first, last, before, after = place, place + 1, start - 1, start + 1
        while first > 0 and before >= 0 and terms[first - 1] == value[before]:
            first, before = first - 1, before - 1
        while last < len(terms) and after < len(value) and terms[last] == value[after]:
            last, after = last + 1, after + 1
        best = max(best, (first, last), key=lambda run: run[1] - run[0])
    return best


def _corrections(words: Sequence[str], found: Sequence[DictRow]) -> Iterator[dict[int, _Correction]]:
    """Corrections of words by position, the likeliest ones first."""
    terms = _terms(found)
    corrections: dict[int, list[_Correction]] = {}
    for place in {row["first"] for row in found if row["match"] == "near"}:
        near = [row["value_stems"][0] for row in found if row["match"] == "near" and row["first"] == place]
        corrections[place] = _corrections_of(words[place], terms[place], near)
    for rank in range(max((len(readings) for readings in corrections.values()), default=0)):
        yield {place: readings[rank] for place, readings in corrections.items() if rank < len(readings)}


def _corrections_of(word: str, stem: str, near: Iterable[str]) -> list[_Correction]:
    """The stems with the fewest slips."""
    allowed = 2 if len(stem) >= TWO_SLIPS_LENGTH_MIN else 1
    counted = [(min(slips(stem, other), slips(word, other)), other) for other in sorted(set(near))]
    fewest = min((count for count, _ in counted), default=allowed + 1)
    if not 0 < fewest <= allowed:
        return []
    return [_Correction(other, LIKENESS_OF_SLIPS[count]) for count, other in counted if count == fewest][:READINGS_MAX]


def _of_corrected(matches: Iterable[ValueMatch], replaced: Mapping[int, _Correction]) -> Iterator[ValueMatch]:
    for match in matches:
        likeness = [replaced[place].likeness for place in range(match.first, match.last) if place in replaced]
        if likeness:
            yield replace(match, value=replace(match.value, likeness=min(likeness)))


def _merged(matches: Iterable[ValueMatch]) -> list[ValueMatch]:
    """Each match once, with the rows of all tables and dictionary entries added up."""
    rows: Counter[ValueMatch] = Counter()
    tables: dict[ValueMatch, frozenset[str]] = {}
    for match in matches:
        same = replace(match, value=replace(match.value, rows=0))
        rows[same] += match.value.rows
        tables[same] = tables.get(same, frozenset()) | match.value.tables
    return [
        replace(match, value=replace(match.value, rows=count, tables=tables[match]))
        for match, count in rows.items()
        if count > 0
    ]
