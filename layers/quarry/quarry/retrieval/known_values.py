"""Matches values that a request names with those of the data, and finds the nearest ones of an unknown value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quarry.language.tokens import keys, stem
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.postgres.pool import Database
from quarry.retrieval.facets import (
    EXPLAINED_VALUES,
    NamedValue,
    SearchTable,
    UnknownValue,
    folded_value,
    nearest,
    plain,
)
from quarry.retrieval.values import (
    NO_OWNERS,
    Owners,
    frequent_visible_values,
    owners_of,
    visible_values,
)
from quarry.spans.gazetteer import places_called

VALUES_MAX = 1_000
"""The most values that a request may name."""
COMPARED_VALUES = 1_000
"""How many values of a facet, most frequent first, are compared with an unknown one."""


async def values_meant(
    database: Database,
    table: SearchTable,
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
    found = await _matches(database, [table], named_values, owners, whole=whole)
    partial = [each for each, matches in zip(named_values, found, strict=True) if not matches.whole]
    beside = await _matches(database, [table], [replace(each, facets=each.elsewhere) for each in partial], owners)
    by_value = dict(zip(partial, beside, strict=True))
    meanings = [
        matches.meant_beside(by_value.get(each, _Matches())) for each, matches in zip(named_values, found, strict=True)
    ]
    words = _stems(question)
    unknown = [
        each
        for each, values in zip(named_values, meanings, strict=True)
        if values is None and not _is_said(each.value, words) and not (keeps_places and _is_place(table, each))
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
    def said_of(self) -> object:
        """The same for conditions that say the same of several facets: alternatives, and those that exclude the same values."""
        if self.group is not None:
            return "group", self.group
        return tuple(map(str.casefold, self.values)) if self.is_negated else id(self)


async def conditions_meant(
    database: Database, table: SearchTable, conditions: Sequence[NamedCondition], question: str
) -> list[list[str]]:
    """For each condition, the values of the data that it means, each once; none if an alternative on another facet has them.
    Raises what `values_meant` does.
    """
    together: dict[object, list[str]] = {}
    for each in conditions:
        together.setdefault(each.said_of, []).append(each.facet)
    named = [
        NamedValue((each.facet,), value, each.pointer, elsewhere=tuple(dict.fromkeys(together[each.said_of])))
        for each in conditions
        for value in each.values
    ]
    meanings = iter(await values_meant(database, table, named, question))
    return [list(dict.fromkeys(value for _ in each.values for value in next(meanings))) for each in conditions]


async def existing_values(
    database: Database,
    tables: Sequence[SearchTable],
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
    found = await _matches(database, tables, values, owners, whole=whole)
    return [matches.likest(each.value) for each, matches in zip(values, found, strict=True)]


async def frequent_values(
    database: Database, facets: Sequence[tuple[SearchTable, str]], owners: Owners, limit: int
) -> Mapping[tuple[str, str], list[str]]:
    """The most frequent values of each facet that the caller may see, by table and facet, in one statement, and one more if
    policies may hide some. `owners` says whose values of tables with owners are known. Raises DatabaseUnavailable.
    """
    counted = [each for each in facets if each[1] not in each[0].guarded]
    arguments = {
        "tables": [table.name for table, _ in counted],
        "facets": [facet for _, facet in counted],
        "owners": owners_of([table for table, _ in counted], owners),
        "limit": limit,
        "read": max(COMPARED_VALUES, limit),
    }
    found: dict[tuple[str, str], list[str]] = {}
    for row in await database.rows(_LISTED_VALUES, arguments) if counted else []:
        found.setdefault((row["table_name"], row["facet"]), []).append(row["value"])
    return {**found, **await frequent_visible_values(database, facets, limit)}


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

    def meant_beside(self, other: _Matches) -> list[str] | None:
        """The values meant, if the same is said of the other's facets; None if there are none at all."""
        if self.whole or not (other.whole or other.partial):
            return self.whole or self.partial or None
        return [] if other.whole else self.partial


async def _matches(
    database: Database,
    tables: Sequence[SearchTable],
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
        if facet in table.by_name
        for value, is_place in _said_otherwise(table, facet, each.value)
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
    found = [_Matches(is_place=any(_is_place(table, each) for table in tables)) for each in named_values]
    rows = await database.rows(_EXISTING_VALUES, arguments) if lookups else []
    visible = await visible_values(database, tables, [(row["table_name"], row["facet"], row["value"]) for row in rows])
    for row in rows:
        if (row["table_name"], row["facet"], row["value"]) not in visible:
            continue
        kept = found[row["place"]].whole if row["is_whole"] else found[row["place"]].partial
        if row["value"] not in kept:
            kept.append(row["value"])
    return found


def _said_otherwise(table: SearchTable, facet: str, value: str) -> Iterator[tuple[str, bool]]:
    """A value, what it is a synonym of, and the names of the place that it is. These are `True`: no part of another name is meant
    ("england" in "New England").
    """
    yield value, False
    yield from ((meaning, False) for meaning in _synonyms(table, facet, value))
    if table.facet(facet).kind == "place":
        text = plain(value)
        place = next(iter(places_called(value)), None)
        yield from ((name, True) for name in (place.names if place else ()) if plain(name) != text)


def _synonyms(table: SearchTable, facet: str, value: str) -> list[str]:
    text = plain(value)
    return [meaning for word, meaning in table.facet(facet).synonyms if plain(word) == text]


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, keys(text)))


def _is_said(value: str, words: frozenset[str]) -> bool:
    stems = _stems(value)
    return bool(stems) and stems <= words


def _is_place(table: SearchTable, named: NamedValue) -> bool:
    facets = [table.by_name[facet] for facet in named.facets if facet in table.by_name]
    return any(facet.kind == "place" for facet in facets) and bool(places_called(named.value))


async def _has_values(database: Database, table: SearchTable) -> bool:
    row = await database.row(
        "select exists (select from facet_values where table_name = %(table)s) as has", {"table": table.name}
    )
    return row is not None and bool(row["has"])


async def _explained(
    database: Database, table: SearchTable, unknown: Sequence[NamedValue], owners: Owners
) -> list[FieldError]:
    """An error for each value; one for a value that is named for several facets."""
    errors = []
    apart = {(each.value, tuple(sorted({*each.elsewhere, *each.facets}))): each for each in reversed(unknown)}
    for place, each in enumerate(reversed(apart.values())):
        facets = each.elsewhere or each.facets
        near: tuple[str, ...] = ()
        if place < EXPLAINED_VALUES:
            known = await _compared(database, table, facets, owners)
            near = await off_loop(nearest, each.value, known)
        named = each.elsewhere or each.facets[:1]
        label = " or ".join(dict.fromkeys(table.facet(facet).label for facet in named))
        errors.append(FieldError(each.pointer, str(UnknownValue(table.nouns[0], label, each.value, near))))
    return errors


async def _compared(database: Database, table: SearchTable, facets: Sequence[str], owners: Owners) -> list[str]:
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
