"""The facets of a table: what it can be filtered, counted and grouped by, in questions, in SQL and in words. Pure."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, LiteralString

from quarry.language.writing import ENGLISH, Writing, writing_of

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
    return "U&" + _READ_OTHERWISE.sub(lambda found: f"\\{ord(found[0]):04X}", quoted)


LISTED_KINDS: frozenset[FacetKind] = frozenset({"value", "array", "name", "title", "place"})
"""The kinds whose values are looked up for a question's words."""

TEXT_KINDS: frozenset[FacetKind] = LISTED_KINDS | {"text"}
"""The kinds whose values are texts."""

NUMERIC_KINDS: frozenset[FacetKind] = frozenset({"number", "money", "year"})
"""The kinds whose values are numbers."""

NUMBER_OF = "number_of_"
"""The prefix of facets that count the rows of another collection that refer to a row."""

VALUE_MAX_CHARACTERS = 200
"""Longer values are not looked up."""


@dataclass(frozen=True)
class Facet:
    """A property of a table's rows. `column` is a column or an SQL expression on the row `t`, or on a row `r` of the `related`
    rows.

    `label` and `plural` name it, `words` are other names, `synonyms` other words for values ("television", "TV"). `wording`
    puts a condition into words. `is_hard`: a value in a question is a requirement, not a preference. `is_people`: its values
    are people.
    """

    name: str
    kind: FacetKind
    column: LiteralString
    label: str
    plural: str
    words: tuple[str, ...] = ()
    wording: str = "{}"
    synonyms: tuple[tuple[str, str], ...] = ()
    is_hard: bool = True
    is_people: bool = False
    currency: str | None = None
    related: str | None = None
    is_many: bool = False
    """Whether the column is an array. That of an array facet always is."""
    unit: str | None = None
    """The unit of a number, if known ("minutes")."""
    steps: int = 0
    """How many references lead from a row to the value; 0 for a value of the row itself."""
    counts: tuple[str, ...] = ()
    """If it counts rows of another table: the nouns for these."""

    @property
    def is_array(self) -> bool:
        return self.is_many or self.kind == "array"

    @property
    def is_measurable(self) -> bool:
        """Whether each row has one number of its own."""
        return self.kind in NUMERIC_KINDS and self.related is None and not self.is_array

    @property
    def sql(self) -> LiteralString:
        """Its value as SQL on a row `t`, or on a related row `r`."""
        if not self.column.isidentifier():
            return self.column
        return ("t." if self.related is None else "r.") + self.column

    @property
    def is_listed(self) -> bool:
        """Whether its values are looked up for a question's words."""
        return self.kind in LISTED_KINDS


@dataclass(frozen=True)
class Related:
    """Rows `r` of `table` that belong to a row `t`, by the SQL condition `on`. Conditions on facets of one relation must hold for
    the same related row, and a negated one for none. `owner` is the column with the key of the row that they belong to.
    """

    name: str
    table: str
    on: LiteralString
    owner: LiteralString | None = None
    source: LiteralString | None = None
    """The table in SQL, if it is not one of Quarry's own."""
    has_several: bool = False
    """Whether a row may have several of them although they have no `owner` column."""
    is_indexed: bool = True
    """Whether an index finds those of a row."""

    @property
    def is_many(self) -> bool:
        """Whether a row may have several of them."""
        return self.has_several or self.owner is not None

    @property
    def rows(self) -> LiteralString:
        """The table, as SQL."""
        return self.source or identifier(self.table)


@dataclass(frozen=True)
class SearchTable:
    """A searched table. `nouns` are the singular names for its rows; `date` names the facet that dates them.

    The rows are in the table of its name, or in `source` (SQL). `key` is a column or an expression on the row `t`; `has_key` is
    an SQL template: whether the row has one of an array of keys.
    """

    name: str
    nouns: tuple[str, ...]
    facets: Sequence[Facet]
    date: str | None = None
    key: LiteralString = "id"
    has_key: LiteralString = "t.id = any({}::text[])"
    holds_words: LiteralString = "t.text_search @@ (select parsed_query({0}))"
    """An SQL template: whether the row `t` contains the words of a query."""
    source: LiteralString | None = None
    where: LiteralString = "true"
    """The searched rows, as an SQL condition on `t`."""
    guard: LiteralString = "true"
    """The rows that the caller may see, as an SQL condition on `t`. Values are counted over all rows."""
    scope: LiteralString | None = None
    """The column with the owner of a row, if only the owner may find it."""
    guarded: frozenset[str] = frozenset()
    """The facets with values that a caller may not see. A value counts only if a visible row has it."""
    values_of: LiteralString | None = None
    """The owner of the values of a row `t`, as SQL, if that is not its `scope`."""
    related: Sequence[Related] = ()
    united: Sequence[SearchTable] = ()
    """The tables that it unites, if it has no rows of its own. It has their facets, and is read, not searched."""
    languages: tuple[str, ...] = ()
    """The text search configurations of its rows; English if empty."""
    spelt: bool = False
    """Whether conditions name places as the data spells them, because they are looked up first."""
    reckons: bool = False
    """Whether sums and averages of its numbers answer questions."""

    @property
    def language(self) -> str:
        """The language of all its rows; English if they differ."""
        return self.languages[0] if len(self.languages) == 1 else ENGLISH

    @property
    def writing(self) -> Writing:
        """The format of its numbers and dates."""
        return writing_of(self.language)

    @cached_property
    def by_name(self) -> Mapping[str, Facet]:
        """The facets by their names."""
        return {facet.name: facet for facet in reversed(self.facets)}

    def facet(self, name: str) -> Facet:
        """The facet of that name. Raises KeyError."""
        return self.by_name[name]

    def relation(self, name: str) -> Related:
        """The related rows of that name. Raises KeyError."""
        for related in self.related:
            if related.name == name:
                return related
        raise KeyError(name)

    @property
    def rows(self) -> LiteralString:
        """The table that holds its rows, as SQL."""
        return self.source or identifier(self.name)

    @property
    def scope_sql(self) -> LiteralString:
        """The owner of a value of a row `t`, as SQL; '' for values of everybody."""
        return self.values_of or ("t." + self.scope if self.scope else "''")

    @property
    def key_sql(self) -> LiteralString:
        """The key of a row `t`."""
        return "t." + self.key if self.key.isidentifier() else self.key

    @property
    def listed(self) -> list[Facet]:
        """The facets whose values are looked up."""
        return [facet for facet in self.facets if facet.is_listed]


NEAREST_VALUES = 3
NEAREST_CUTOFF = 0.4
NEAREST_CHARACTERS = 60
"""How many letters of values are compared."""
EXPLAINED_VALUES = 5
"""How many unknown values of a request get the nearest known ones."""

_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_SPACES = " \t\n\r\f\v"


@dataclass(frozen=True)
class NamedValue:
    """A value as somebody wrote it, for any of the facets; `pointer` is its place in the request. `elsewhere` are facets for
    which the same value is named: a value that only they have is not unknown here.
    """

    facets: tuple[str, ...]
    value: str
    pointer: str = ""
    is_negated: bool = False
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnknownValue:
    """An unknown value, and the nearest known ones. `noun` names a row, `label` the facet."""

    noun: str
    label: str
    value: str
    nearest: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: SearchTable, facet: str, value: str, nearest: tuple[str, ...] = ()) -> UnknownValue:
        return cls(table.nouns[0], table.facet(facet).label, value, nearest)

    def __str__(self) -> str:
        offered = f"; did you mean {' or '.join(repr(value) for value in self.nearest)}?" if self.nearest else "."
        return f"No {self.noun} has the {self.label} {self.value!r}{offered}"


def nearest(value: str, existing: Sequence[str], cutoff: float = NEAREST_CUTOFF) -> tuple[str, ...]:
    """The known values with the most similar spelling."""
    by_plain = {plain(each)[:NEAREST_CHARACTERS]: each for each in existing}
    wanted = plain(value)[:NEAREST_CHARACTERS]
    close = difflib.get_close_matches(wanted, by_plain, n=NEAREST_VALUES, cutoff=cutoff)
    return tuple(by_plain[each] for each in close)


def folded_value(value: str) -> str:
    """A value as groups and filters compare it, like the SQL function `folded_value`; empty if it is blank."""
    decomposed = unicodedata.normalize("NFKD", value.lower())
    return _ACCENTS.sub("", decomposed).replace("’", "'").strip(_SPACES)


def plain(text: str) -> str:
    """Lower-case words and numbers, separated by single spaces."""
    return _NOT_ALPHANUMERIC.sub(" ", text.casefold()).strip()
