"""The schema of a query: sources with their fields and links, derived from declarations.

SQL of a field is a function of the name (alias) of the row that it is read from, so that a path over several tables reads each
from its own. A searched table's facets become fields, and the rows that belong to its rows links. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, LiteralString

from quarry.language.word_forms import plural
from quarry.schema.algebra import Aggregate, Condition
from quarry.schema.calendar import Calendar
from quarry.schema.facets import Facet, FacetKind, Related, SearchTable

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

SqlHolds = Callable[[LiteralString, Sequence[str], Any], Any]
"""Whether a row holds one of some texts, as SQL, by the row's alias, the texts, and how parameters stand in the statement."""


@dataclass(frozen=True)
class Field:
    """A value of a row. One that `is_array` is several of the kind; one of `related` rows is read from these.

    `listed` names the dictionary of values that knows it: its table and facet, which has the synonyms too. `unit` is what a
    number is measured in, `currency` what money is in. `holds` is how it is compared where values are named as the data spells
    them; of a `place`, the text that names it, each part of which counts; one that `folds` is grouped without regard to
    accents; `wording` says in English that it has a value ("in {}"). `currency_of` is the field of the same row with the currency
    of money, where rows differ. A text that `names_rows` is what its rows are called: two of one name are two.
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
    folds: bool = False
    place: SqlOf | None = None
    wording: str | None = None
    currency_of: str | None = None
    names_rows: bool = False


@dataclass(frozen=True)
class Link:
    """How rows lead to rows of another source: to one (a reference, `is_many` false) or to many (related rows).

    `rows` is the table, or a parenthesised query, that the other rows are in; `on` joins a row with one of them, by both
    aliases. `fields` are those that can be read there where the other is no source itself, and `key` tells its rows apart.
    Several rows may lead to the same row of the other side by a reference, or where `is_shared`: by a table that joins them.
    Where related rows are not `is_indexed`, no index finds those of one row.
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


@dataclass(frozen=True)
class Measure:
    """A number that a source declares by name. With the `unit` `%` it is a share, a part of 1."""

    name: str
    aggregate: Aggregate
    label: str
    unit: str | None = None
    synonyms: tuple[str, ...] = ()
    description: str | None = None


@dataclass(frozen=True)
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

_ROW = re.compile(r"(?<![\w.])([tr])\.")


def source_of(
    table: SearchTable,
    name: str,
    title: LiteralString,
    fields: Mapping[str, Field],
    links: Mapping[str, Link],
    holds_words: SqlHoldsWords,
    **known: Any,
) -> Source:
    """A source of the table's rows. `title` says over a row `t` what it is called; `known` is what else a Source has."""
    return Source(
        name,
        label=plural(table.nouns[0]),
        nouns=table.nouns,
        rows=table.rows,
        key=one_row(table.key_sql),
        title=one_row(title),
        fields=fields,
        links=links,
        guard=one_row(guard_of(table)),
        holds_words=holds_words,
        dated=table.date,
        languages=table.languages,
        **known,
    )


def guard_of(table: SearchTable) -> LiteralString:
    """Which rows `t` of a table are searched and the caller's to see."""
    owner = f"t.{table.scope} = current_setting('{ACTOR_SETTING}', true)" if table.scope else "true"
    return " and ".join(f"({part})" for part in (table.where, table.guard, owner) if part != "true") or "true"


def facet_link(table: SearchTable, related: Related, also: Mapping[str, Field]) -> Link:
    """How rows lead to related rows, with the facets of these, by their columns, and `also` other fields."""
    facets = [facet for facet in table.facets if facet.related == related.name and facet.kind in KINDS]
    fields = {
        (facet.column if facet.column.isidentifier() else facet.name): facet_field(table, facet) for facet in facets
    }
    return link_to(related, {**fields, **also})


def link_to(related: Related, fields: Mapping[str, Field]) -> Link:
    """How rows lead to the rows that belong to them, of which these fields can be read."""
    return Link(
        related.name,
        related.name.replace("_", " "),
        on=lambda row, other: of_row(related.on, row, other),
        is_many=related.is_many,
        rows=related.rows,
        fields=fields,
        is_indexed=related.is_indexed,
    )


def linked(value: Field, facet: Facet, links: Mapping[str, Link]) -> Field:
    """A facet's field, with the link to the related rows that it is read from, if any."""
    return replace(value, related=links[facet.related]) if facet.related else value


def facet_field(table: SearchTable, facet: Facet) -> Field:
    """A facet as a field of the row that holds it. A place that is put together of several columns is each of its parts."""
    has_parts = facet.kind == "place" and not facet.column.isidentifier()
    sql: LiteralString = "place_parts(" + facet.sql + ")" if has_parts else facet.sql
    return described(facet, one_row(sql), table, is_array=has_parts or facet.is_array)


def described(facet: Facet, sql: SqlOf, table: SearchTable, *, is_array: bool | None = None) -> Field:
    """A field described by a facet."""
    return Field(
        facet.name,
        KINDS.get(facet.kind, "text"),
        sql,
        facet.label,
        facet.plural,
        is_array=facet.is_array if is_array is None else is_array,
        unit=facet.unit,
        currency=facet.currency,
        listed=(table, facet.name) if facet.is_listed else None,
    )


def worded(fields: Mapping[str, Field], table: SearchTable) -> dict[str, Field]:
    """The fields of a table, worded as people say them: "in Germany"."""
    return {
        name: replace(field, wording=table.facet(name).wording) if name in table.by_name else field
        for name, field in fields.items()
    }


def one_row(sql: LiteralString) -> SqlOf:
    """SQL over a row `t`, or over a related row `r`, as SQL over the row of any name."""
    return lambda row: of_row(sql, row, row)


def of_row(sql: LiteralString, row: LiteralString, other: LiteralString = "r") -> LiteralString:
    """SQL over a row `t` and a related row `r` with other names for them."""
    parts = _ROW.split(sql)
    return "".join(
        part if place % 2 == 0 else (row if part == "t" else other) + "." for place, part in enumerate(parts)
    )
