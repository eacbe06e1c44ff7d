"""The one model of what can be asked: sources with their fields and links, derived from declarations.

SQL of a field is a function of the name (alias) of the row that it is read from, so that a path over several tables reads each
from its own. Fields that are declared as facets have the words by which questions name them and their values. Pure.
"""

from __future__ import annotations

import datetime
import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Literal, LiteralString, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pydantic
from pydantic import ConfigDict, field_validator, model_validator

from quarry.language.writing import ENGLISH
from quarry.platform.contract import LazyModel
from quarry.platform.errors import ConfigurationError
from quarry.schema.algebra import Aggregate, Condition

FacetKind = Literal[
    "value", "array", "name", "title", "place", "number", "year", "money", "date", "boolean", "text", "words"
]  # fmt: skip
"""value: one of many; array: several of many; name: what a row (or somebody of it) is called; title: a role or heading, said by
its last words as well ("Engineer" of "Senior Engineer"); place: cities, regions, countries, several of them separated by
commas; year: a whole number that ranges of dates apply to; text: words that it contains; words: a text search vector, and
words that it holds."""


def identifier(*names: str) -> LiteralString:
    """A name in SQL, quoted.

    A statement with parameters and a template read `%`, `{` and `}`: names with these are written with Unicode escapes.
    """
    return ".".join(map(_quoted_name, names))


_READ_OTHERWISE = re.compile(r"[%{}\\]")


def _quoted_name(name: str) -> LiteralString:
    quoted: LiteralString = '"' + name.replace('"', '""') + '"'
    if not set(name) & set("%{}"):
        return quoted
    return "U&" + _READ_OTHERWISE.sub(lambda match: f"\\{ord(match[0]):04X}", quoted)


LISTED_KINDS: frozenset[FacetKind] = frozenset({"value", "array", "name", "title", "place"})
"""The kinds whose values are looked up for a question's words."""

TEXT_KINDS: frozenset[FacetKind] = LISTED_KINDS | {"text"}
"""The kinds whose values are texts."""

NUMERIC_KINDS: frozenset[FacetKind] = frozenset({"number", "money", "year"})
"""The kinds whose values are numbers."""

VALUE_MAX_CHARACTERS = 200
"""Longer values are not looked up."""


NEAREST_VALUES = 3
NEAREST_CUTOFF = 0.4
NEAREST_CHARACTERS = 60
"""How many letters of values are compared."""
EXPLAINED_VALUES = 5
"""How many unknown values of a request get the nearest known ones."""

_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_SPACES = " \t\n\r\f\v"


class NamedValue(NamedTuple):
    """A value as somebody wrote it, for any of the facets; `pointer` is its place in the request. `elsewhere` are facets for
    which the same value is named: a value that only they have is not unknown here.
    """

    facets: tuple[str, ...]
    value: str
    pointer: str = ""
    is_negated: bool = False
    elsewhere: tuple[str, ...] = ()


class UnknownValue(NamedTuple):
    """An unknown value, and the nearest known ones. `noun` names a row, `label` the facet."""

    noun: str
    label: str
    value: str
    nearest: tuple[str, ...] = ()

    def __str__(self) -> str:
        offered = f"; did you mean {' or '.join(repr(value) for value in self.nearest)}?" if self.nearest else "."
        return f"No {self.noun} has the {self.label} {self.value!r}{offered}"


def nearest(value: str, existing: Sequence[str], cutoff: float = NEAREST_CUTOFF) -> tuple[str, ...]:
    """The known values with the most similar spelling."""
    by_plain = {plain(each)[:NEAREST_CHARACTERS]: each for each in existing}
    text = plain(value)[:NEAREST_CHARACTERS]
    close = difflib.get_close_matches(text, by_plain, n=NEAREST_VALUES, cutoff=cutoff)
    return tuple(by_plain[each] for each in close)


def folded_value(value: str) -> str:
    """A value as groups and filters compare it, like the SQL function `folded_value`; empty if it is blank."""
    decomposed = unicodedata.normalize("NFKD", value.lower())
    return _ACCENTS.sub("", decomposed).replace("’", "'").strip(_SPACES)


def plain(text: str) -> str:
    """Lower-case words and numbers, separated by single spaces."""
    return _NOT_ALPHANUMERIC.sub(" ", text.casefold()).strip()


MONTHS = 12
_DAYS = range(1, 8)
_CLOCK = r"^([01]\d|2[0-3]):[0-5]\d$"


class _Part(LazyModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class BusinessHours(_Part):
    """The hours of the week in which work is done: on `days`, of which 1 is Monday, from `start` to before `end`."""

    days: tuple[int, ...] = (1, 2, 3, 4, 5)
    start: str = pydantic.Field(pattern=_CLOCK)
    end: str = pydantic.Field(pattern=_CLOCK)

    @field_validator("days")
    @classmethod
    def _are_weekdays(cls, days: tuple[int, ...]) -> tuple[int, ...]:
        if not days or any(day not in _DAYS for day in days):
            raise ValueError("days are numbers from 1, Monday, to 7, Sunday")
        return tuple(sorted(set(days)))

    @model_validator(mode="after")
    def _has_hours(self) -> BusinessHours:
        if self.start >= self.end:
            raise ValueError("`start` is before `end`, as in 09:00 and 17:30")
        return self


class Calendar(_Part):
    """When a day begins, when a fiscal year does, and when work is done.

    `time_zone` is a name of the IANA database; without it, days are those of the database's session, and today is the day in
    UTC. `fiscal_year_start` is the month, 1 to 12, with which a fiscal year begins.
    """

    time_zone: str | None = None
    fiscal_year_start: int | None = pydantic.Field(default=None, ge=1, le=MONTHS)
    business_hours: BusinessHours | None = None

    @property
    def today(self) -> datetime.date:
        """The day in its time zone. Raises ConfigurationError where this machine has no data of time zones."""
        return datetime.datetime.now(datetime.UTC if self.time_zone is None else _zone(self.time_zone)).date()

    @property
    def settings(self) -> dict[str, str]:
        """The setting of a session in which days are those of its time zone."""
        return {} if self.time_zone is None else {"TimeZone": self.time_zone}


@cache
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        raise ConfigurationError(
            f"This machine does not know the time zone {name}: install the package tzdata."
        ) from None


ACTOR_SETTING = "quarry.actor"
"""The setting by which our own policies know whose rows and values a caller may read."""

KEY = "quarry_key"
"""The field with the key of a row, in sources made of searched tables."""

Kind = Literal["text", "number", "money", "year", "date", "datetime", "boolean"]

SqlOf = Callable[[LiteralString], LiteralString]
"""SQL of a row, by the row's alias."""
SqlOn = Callable[[LiteralString, LiteralString], LiteralString]
"""Whether a row and another belong together, by the aliases of both."""
SqlHoldsWords = Callable[[LiteralString, LiteralString], LiteralString]
"""Whether a row holds all words of a text, by the row's alias and the text, which is a parameter."""

NO_VALUE: SqlOf = lambda row: "null"  # noqa: E731
"""The key of rows that nothing tells apart, and the title of rows that have none."""


@dataclass(frozen=True)
class Field:
    """A value of a row. One that `is_array` is several of the kind; one of `related` rows is read from these.

    `listed` names the dictionary that knows its values: the source and the facet there. `unit` is what a number is measured in,
    `currency` what money is in. Of a `place` it is the text that names it, each part of which counts. One that `folds` is
    compared by the words that name its values, and grouped without regard to accents. `wording` says in English that it has a
    value ("in {}"). `currency_of` is the field of the same row with the currency of money, where rows differ. A text that
    `names_rows` is what its rows are called: two of one name are two.
    """

    name: str
    kind: Kind
    sql: SqlOf
    label: str
    plural: str
    is_array: bool = False
    unit: str | None = None
    currency: str | None = None
    listed: tuple[Source, str] | None = None
    related: Link | None = None
    description: str | None = None
    folds: bool = False
    place: SqlOf | None = None
    wording: str | None = None
    currency_of: str | None = None
    names_rows: bool = False
    is_spelt: bool = False
    """Whether conditions name places as the data spells them."""
    facet: FacetKind | None = None
    """The kind of facet that it is declared as: how words of a question name its values. None for other columns."""
    words: tuple[str, ...] = ()
    """Other names for it."""
    synonyms: tuple[tuple[str, str], ...] = ()
    """Other words for its values: ("television", "TV")."""
    is_hard: bool = True
    """Whether a value in a question is a requirement, not a preference."""
    is_people: bool = False
    """Whether its values are people."""
    hops: int = 0
    """How many references lead from a row to the value; 0 for a value of the row itself."""
    column: LiteralString | None = None
    """The column of our own table that it is, if it is one as it stands."""

    @property
    def is_listed(self) -> bool:
        """Whether its values are looked up for a question's words."""
        return self.facet in LISTED_KINDS

    @property
    def has_several(self) -> bool:
        """Whether a row may have several values. The parts of one place are one."""
        return self.is_array and self.facet != "place"

    @property
    def is_measurable(self) -> bool:
        """Whether it is a facet of which each row has one number of its own."""
        return self.facet in NUMERIC_KINDS and self.related is None and not self.is_array

    @property
    def value(self) -> LiteralString:
        """The value as SQL of a row `t`, or of a related row `r`; of a place, the text that names it."""
        return (self.place or self.sql)("t" if self.related is None else "r")


@dataclass(frozen=True)
class Link:
    """How rows lead to rows of another source: to one (a reference, `is_many` false) or to many (related rows).

    `rows` is the table, or a parenthesised query, that the other rows are in; `on` joins a row with one of them, by both
    aliases. `fields` are those that can be read there where the other is no source itself, and `key` tells its rows apart.
    Several rows may lead to the same row of the other side by a reference, or where `is_shared`: by a table that joins them.
    Where related rows are not `is_indexed`, no index finds those of one row. `owner` is their column with the key of the row that
    they belong to, where that is a column of our own.
    """

    name: str
    label: str
    on: SqlOn
    is_many: bool
    target: str | None = None
    rows: LiteralString | None = None
    fields: Mapping[str, Field] = field(default_factory=dict)
    key: SqlOf | None = None
    is_shared: bool = False
    is_indexed: bool = True
    owner: LiteralString | None = None


@dataclass(frozen=True)
class Measure:
    """A number that a source declares by name. With the `unit` `%` it is a share, a part of 1."""

    name: str
    aggregate: Aggregate
    label: str
    unit: str | None = None
    synonyms: tuple[str, ...] = ()
    description: str | None = None


@dataclass(frozen=True, eq=False)
class Source:
    """Rows that can be asked about. `rows` is their table in SQL; `guard` is true of the rows that this caller may see, where the
    database's own policies do not say it. `holds_words` is true of rows that hold all words of a text, which is a parameter.
    `dated` names the field that dates a row. `predicates` are boolean fields that stand for conditions, all of which must hold
    (`overdue`). Where rows have owners, `owner_claim` is which of the caller's verified claims says whose are the caller's. Rows
    of its table may be left out: by the fields `chosen_by`, or with rows that they refer to, as `left_out` says.
    """

    name: str
    label: str
    nouns: tuple[str, ...]
    rows: LiteralString
    key: SqlOf
    title: SqlOf
    fields: Mapping[str, Field]
    links: Mapping[str, Link] = field(default_factory=dict)
    guard: SqlOf = lambda row: "true"
    holds_words: SqlHoldsWords | None = None
    dated: str | None = None
    description: str = ""
    languages: tuple[str, ...] = ()
    predicates: Mapping[str, Sequence[Condition]] = field(default_factory=dict)
    measures: Mapping[str, Measure] = field(default_factory=dict)
    calendar: Calendar | None = None
    owner_claim: str | None = None
    texts: Mapping[str, Field] = field(default_factory=dict)
    """Long texts: they can be selected and compared, and no question is read as one about them."""
    found_by: str = ""
    """If a Query does not list its rows by conditions: what to use instead, as an error says it. Its rows are counted and
    grouped, but not by the fields in `naming`, and those whose `id` is given are shown.
    """
    naming: frozenset[str] = frozenset()
    chosen_by: frozenset[str] = frozenset()
    left_out: str = ""
    dictionary_rows: LiteralString = "true"
    """The rows `t` whose values the dictionary counts, as an SQL condition."""
    owner: LiteralString = "''"
    """The owner of the values of a row `t`, as SQL; '' for values of everybody."""
    guarded: frozenset[str] = frozenset()
    """The facets with values that a caller may not see. Such a value is used only where a visible row has it."""

    @property
    def language(self) -> str:
        """The text search configuration of all its rows; English if they differ."""
        return self.languages[0] if len(self.languages) == 1 else ENGLISH

    @property
    def has_key(self) -> bool:
        """Whether a key tells its rows apart."""
        return self.key is not NO_VALUE

    @cached_property
    def selectable(self) -> Mapping[str, Field]:
        """The fields that a path can end at: its own, and the key and the title of its rows unless fields have these names."""
        if self.title is NO_VALUE:
            return self.fields
        own = {
            "id": Field("id", "text", lambda row: f"({self.key(row)})::text", "id", "ids"),
            "title": Field("title", "text", self.title, "title", "titles"),
        }
        return {**self.fields, **{name: each for name, each in own.items() if name not in self.fields}}

    @cached_property
    def names(self) -> Sequence[str]:
        """All names that can come next in a path."""
        return [*self.selectable, *self.predicates, *self.links, *self.texts]

    @cached_property
    def facets(self) -> Mapping[str, Field]:
        """The fields that are declared as facets."""
        return {name: each for name, each in self.fields.items() if each.facet is not None}

    @cached_property
    def listed(self) -> Sequence[Field]:
        """The facets whose values are looked up."""
        return [each for each in self.facets.values() if each.is_listed]


@dataclass(frozen=True)
class Schema:
    """The sources of a caller, and the calendar by which dates are read."""

    sources: Mapping[str, Source]
    calendar: Calendar = field(default_factory=Calendar)


KINDS: Mapping[FacetKind, Kind] = {
    "value": "text", "array": "text", "name": "text", "title": "text", "place": "text", "text": "text", "number": "number",
    "money": "money", "year": "year", "date": "date", "boolean": "boolean",
}  # fmt: skip
"""The kinds of facets as those of fields. A search vector is no field: a query's `text` looks for words."""

_ROW = re.compile(r"(?<![\w.])[tr]\.")


def one_row(sql: LiteralString) -> SqlOf:
    """SQL over a row `t` or `r` as SQL over the row of any name."""
    return lambda row: _ROW.sub(f"{row}.", sql)


def compared_as(field: Field, kind: FacetKind, value: SqlOf, *, is_many: bool, is_spelt: bool) -> Field:
    """A field with the SQL of its value, compared as a facet of a kind. Each part of a place counts; `is_spelt`: conditions name
    places as the data spells them.
    """
    place = value if kind == "place" else None
    return replace(
        field,
        kind=KINDS.get(kind, "text"),
        sql=(lambda row: f"place_parts({value(row)})") if place else value,
        is_array=is_many or kind in ("place", "array"),
        place=place,
        folds=True,
        is_spelt=is_spelt,
        facet=kind,
    )


DATE = "date"
"""The name of the facet for the date of a row, where no other facet is it."""


def union_of(tables: Sequence[Source], names: Iterable[str] | None = None) -> Source:
    """The rows of several tables as one source, with the facets of these names, or all of them. A table without a facet has no
    value of it. Of a facet of several tables, the one with the fewest references says what it is called.
    """
    every = (name for table in tables for name in table.facets)
    facets = [
        [table.facets[name] for table in tables if name in table.facets]
        for name in dict.fromkeys(every if names is None else names)
    ]
    columns = [_UnionColumn.of(same, place) for place, same in enumerate(facets)]
    selects: list[LiteralString] = [
        f"select {place} as quarry_table, ({table.key('t')})::text as quarry_key"
        f"{''.join(column.of_table(table) for column in columns)} from {table.rows} t where {table.guard('t')}"
        for place, table in enumerate(tables)
    ]

    def holds_words(row: LiteralString, text: LiteralString) -> LiteralString:
        by_table = (
            f"{row}.quarry_table = {place} and {row}.quarry_key in"
            f" (select ({table.key('t')})::text from {table.rows} t where {table.holds_words('t', text)})"
            for place, table in enumerate(tables)
            if table.holds_words
        )
        return f"({' or '.join(by_table)})"

    key = "({}.quarry_key)::text".format
    return Source(
        "records",
        "records",
        nouns=tuple(dict.fromkeys(noun for table in tables for noun in table.nouns)),
        rows=f"({' union all '.join(selects)})",
        key="{}.quarry_key".format,
        title=key,
        fields={KEY: Field(KEY, "text", key, "id", "ids"), **{each.name: each.field for each in columns}},
        holds_words=holds_words,
        dated=DATE if any(table.dated for table in tables) else None,
        languages=tuple(dict.fromkeys(language for table in tables for language in table.languages or (ENGLISH,))),
    )


class _UnionColumn(NamedTuple):
    """A facet that several tables have, as a column of their union."""

    name: str
    field: Field
    sql_type: LiteralString
    is_many: bool
    place: int

    @classmethod
    def of(cls, facets: Sequence[Field], place: int) -> _UnionColumn:
        # the last of those with the fewest references
        facet = min(reversed(facets), key=lambda each: each.hops)
        is_many = any(each.has_several or (each.related is not None and each.related.is_many) for each in facets)
        kinds = {each.facet or "value" for each in facets}
        # values are texts where kinds differ, or rows have several places
        kind: FacetKind = "value" if len(kinds) > 1 or (is_many and "place" in kinds) else kinds.pop()
        value = f"{{}}.c{place}".format
        field = compared_as(replace(facet, related=None), kind, value, is_many=is_many, is_spelt=facet.is_spelt)
        return cls(facet.name, field, _SQL_TYPES.get(KINDS.get(kind, "text"), "text"), is_many, place)

    def of_table(self, table: Source) -> LiteralString:
        """The column in the rows `t` of a table; where rows may have several values, an array of them."""
        facet, cast = table.facets.get(self.name), f"{self.sql_type}{'[]' if self.is_many else ''}"
        if facet is None:
            return f", null::{cast} as c{self.place}"
        value, link = facet.value, facet.related
        if link is not None:
            one = "" if self.is_many else " limit 1"
            value = (
                f"{'array' if self.is_many else ''}(select {value} from {link.rows} r where {link.on('t', 'r')}{one})"
            )
        elif self.is_many and not facet.has_several:
            value = f"array[{value}]"
        return f", ({value})::{cast} as c{self.place}"


_SQL_TYPES: Mapping[Kind, LiteralString] = {
    "number": "numeric", "money": "numeric", "year": "numeric", "date": "date", "datetime": "timestamptz", "boolean": "boolean",
}  # fmt: skip
"""The types of the columns of a union. Others are texts."""
