"""What can be asked of the data: sources with their fields and links, derived from declarations.

SQL of a field is a function of the name (alias) of the row that it is read from, so that a path over several tables reads each
from its own. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, LiteralString

from quarry.query.algebra import Condition
from quarry.retrieval.facets import SearchTable

ACTOR_SETTING = "quarry.actor"
"""The setting by which our own policies know whose rows and values a caller may read."""

KEY = "quarry_key"
"""The field that holds the key of a row, of sources that are asked by the reader of questions alone."""

Kind = Literal["text", "number", "money", "year", "date", "datetime", "boolean"]

SqlOf = Callable[[LiteralString], LiteralString]
"""SQL of a row, by the row's alias."""
SqlOn = Callable[[LiteralString, LiteralString], LiteralString]
"""Whether a row and another belong together, by the aliases of both."""
SqlHoldsWords = Callable[[LiteralString, LiteralString], LiteralString]
"""Whether a row holds all words of a text, by the row's alias and the text, which is a parameter."""

SqlHolds = Callable[[LiteralString, Sequence[str], Any], Any]
"""Whether a row holds one of some texts, as SQL, by the row's alias, the texts, and how parameters stand in the statement."""


@dataclass(frozen=True)
class Field:
    """A value of a row. One that `is_array` is several of the kind; one of `related` rows is read from these.

    `listed` names the dictionary of values that knows it: its table and facet, which has the synonyms too. `unit` is what a
    number is measured in, `currency` what money is in. `holds` is how it is compared where values are named as the data spells
    them; `wording` says in English that it has a value ("in {}").
    """

    name: str
    kind: Kind
    sql: SqlOf
    label: str
    plural: str
    is_array: bool = False
    unit: str | None = None
    currency: str | None = None
    listed: tuple[SearchTable, str] | None = None
    related: Link | None = None
    description: str | None = None
    holds: SqlHolds | None = None
    wording: str | None = None


@dataclass(frozen=True)
class Link:
    """How rows lead to rows of another source: to one (a reference, `is_many` false) or to many (related rows).

    `rows` is the table, or a parenthesised query, that the other rows are in; `on` joins a row with one of them, by both
    aliases. `fields` are those that can be read there where the other is no source itself.
    """

    name: str
    label: str
    on: SqlOn
    is_many: bool
    target: str | None = None
    rows: LiteralString | None = None
    fields: Mapping[str, Field] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """Rows that can be asked about. `rows` is their table in SQL; `guard` is true of the rows that this caller may see, where the
    database's own policies do not say it. `holds_words` is true of rows that hold all words of a text, which is a parameter.
    `dated` names the field that dates a row. `predicates` are boolean fields that stand for conditions, all of which must hold
    (`overdue`). Where rows have owners, `owner_claim` is which of the caller's verified claims says whose are the caller's.
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
    owner_claim: str | None = None


@dataclass(frozen=True)
class Schema:
    """The sources of a caller."""

    sources: Mapping[str, Source]
