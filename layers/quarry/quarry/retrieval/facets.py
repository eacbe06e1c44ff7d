"""What a table can be filtered, counted and grouped by: declared once, for reading questions, for SQL and for words alike.

Values are compared with those of the data as somebody wrote them. Pure.
"""

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
    """A name in SQL, quoted."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


LISTED_KINDS: frozenset[FacetKind] = frozenset({"value", "array", "name", "title", "place"})
"""The kinds whose values are looked up for a question's words."""

TEXT_KINDS: frozenset[FacetKind] = LISTED_KINDS | {"text"}
"""The kinds whose values are texts."""

NUMERIC_KINDS: frozenset[FacetKind] = frozenset({"number", "money", "year"})
"""The kinds whose values are numbers."""

NUMBER_OF = "number_of_"
"""The name of a facet that counts the rows of a collection which refer to a row begins so, and ends with the collection's."""

VALUE_MAX_CHARACTERS = 200
"""Longer values are no one's name for anything, and are not looked up."""


@dataclass(frozen=True)
class Facet:
    """A property of a table's rows. `column` is a column or an expression over the row `t`; where `related` names rows that
    belong to it, one over such a row `r`.

    `label` and `plural` name it, `words` are other names, `synonyms` other words for values ("television", "TV"), `wording` puts
    a condition into words. `is_hard`: a value in a question is required, and else adds weight. `is_people`: its values are
    people.
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
    """Whether its column is an array; that of an array facet is."""
    unit: str | None = None
    """What a number is measured in, where that is known ("minutes")."""
    steps: int = 0
    """How many references lead from a row to the value; 0: it is the row's own."""
    counts: tuple[str, ...] = ()
    """Of the number of another table's rows that refer to a row: what these are called."""

    @property
    def is_array(self) -> bool:
        return self.is_many or self.kind == "array"

    @property
    def is_measurable(self) -> bool:
        """Whether a row has one number of it, of its own."""
        return self.kind in NUMERIC_KINDS and self.related is None and not self.is_array

    def is_in(self, currency: str | None) -> bool:
        """Whether amounts in a currency compare with its own; one that is said without is meant in the facet's."""
        return None in (currency, self.currency) or currency == self.currency

    @property
    def sql(self) -> LiteralString:
        """Its value as SQL over a row `t`, or `r` where it is a related row's."""
        if not self.column.isidentifier():
            return self.column
        return ("t." if self.related is None else "r.") + self.column

    @property
    def is_listed(self) -> bool:
        """Whether its values are looked up for a question's words."""
        return self.kind in LISTED_KINDS


@dataclass(frozen=True)
class Related:
    """Rows of `table` that belong to a row, by the SQL condition `on` over both, `t` and `r`. Conditions on facets of one
    relation hold for the same related row; a negated one for none. `owner` is the column with the key of the row that they
    belong to.
    """

    name: str
    table: str
    on: LiteralString
    owner: LiteralString | None = None
    source: LiteralString | None = None
    """The table in SQL, where it is none of ours."""
    has_several: bool = False
    """Whether several of its rows may belong to a row though none of them names an owner."""

    @property
    def is_many(self) -> bool:
        """Whether several of its rows may belong to a row."""
        return self.has_several or self.owner is not None

    @property
    def rows(self) -> LiteralString:
        """The table, as SQL."""
        return self.source or identifier(self.table)


@dataclass(frozen=True)
class SearchTable:
    """A table that is searched. `nouns` are what its rows are called, singular; `date` names the facet that dates them.

    Its rows are in the table of its name, unless `source` names another in SQL. A row is known by `key`, a column or an
    expression over the row `t`; `has_key` is a template with a place for an array of keys: whether the row has one of them.
    """

    name: str
    nouns: tuple[str, ...]
    facets: Sequence[Facet]
    date: str | None = None
    key: LiteralString = "id"
    has_key: LiteralString = "t.id = any({}::text[])"
    holds_words: LiteralString = "t.text_search @@ (select parsed_query({0}))"
    """Whether the row `t` holds the words of a query, as a template with a place for it."""
    source: LiteralString | None = None
    where: LiteralString = "true"
    """Rows that are searched at all, as SQL over `t`."""
    guard: LiteralString = "true"
    """Rows that whom the database acts for may see, as SQL over `t`. Values are counted of all."""
    scope: LiteralString | None = None
    """The column that holds whose a row is, where nobody else may find it."""
    guarded: frozenset[str] = frozenset()
    """The facets with values that a caller may not see: one is used only where a row that has it is visible."""
    values_of: LiteralString | None = None
    """Whose the values of a row `t` are, as SQL, where that is not its `scope`."""
    related: Sequence[Related] = ()
    united: Sequence[SearchTable] = ()
    """The tables whose rows it holds together, where it is none of its own: it has their facets, and is read, not searched."""
    languages: tuple[str, ...] = ()
    """The text search configurations of its rows; none: they are in English."""
    reckons: bool = False
    """Whether sums and averages of its numbers answer questions in words."""

    @property
    def language(self) -> str:
        """The one that all its rows are in; English where these differ."""
        return self.languages[0] if len(self.languages) == 1 else ENGLISH

    @property
    def writing(self) -> Writing:
        """How its numbers and dates are written."""
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
        """Whose a value of a row `t` is; '' where it is everybody's."""
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
"""So many letters of a value are compared with one that does not exist,"""
EXPLAINED_VALUES = 5
"""for the first so many that do not exist."""

_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_SPACES = " \t\n\r\f\v"


@dataclass(frozen=True)
class NamedValue:
    """A value as somebody wrote it, of any of the facets; `pointer` is where it stands in the request. `elsewhere` are facets of
    which the same is said: what one of them has means nothing here, unless these facets have it too.
    """

    facets: tuple[str, ...]
    value: str
    pointer: str = ""
    is_negated: bool = False
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnknownValue:
    """A value that no row has, and those that come nearest to it. `noun` is what a row is called, `label` the facet."""

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
    """The known values that are spelt most like `value`; a likeness of 1 is the same."""
    by_plain = {plain(each)[:NEAREST_CHARACTERS]: each for each in existing}
    wanted = plain(value)[:NEAREST_CHARACTERS]
    close = difflib.get_close_matches(wanted, by_plain, n=NEAREST_VALUES, cutoff=cutoff)
    return tuple(by_plain[each] for each in close)


def folded_value(value: str) -> str:
    """A value as groups and filters compare it, as `folded_value` in SQL has it; empty where it is blank."""
    decomposed = unicodedata.normalize("NFKD", value.lower())
    return _ACCENTS.sub("", decomposed).replace("’", "'").strip(_SPACES)


def plain(text: str) -> str:
    """Lower-case words and figures, one space between them."""
    return _NOT_ALPHANUMERIC.sub(" ", text.casefold()).strip()
