"""The filters on a searched table's facets, as conditions of a Query about the table's source, and in words. Pure.

The source's fields are the table's facets, each said as the facet's wording has it ("in Germany").
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import LiteralString

from quarry.query.algebra import AllOf, AnyOf, Comparison, Condition, Exists, Not, Query, Scalar, Words
from quarry.query.paths import MONTH
from quarry.query.phrases import Phrases
from quarry.query.schema import KEY, Field, Link, Schema, Source, described, link_to, linked, of_row, one_row, source_of
from quarry.retrieval.facets import NUMBER_OF, NUMERIC_KINDS, Facet, Related, SearchTable
from quarry.spans.mention import Clause, DateRange, MoneyRange, NumberRange
from quarry.spans.mention import Condition as FacetCondition


class _Unsayable(ValueError):
    """A Query cannot say this."""


def query_of(clauses: Sequence[Clause], table: SearchTable, source: Source, words: str = "") -> Query:
    """The query for the rows that meet all clauses and hold the words. Raises ValueError for what the source does not have."""
    return _Writer(source, table).query(clauses, words)


def condition_of(clause: Clause, table: SearchTable, source: Source) -> Condition | None:
    """The condition that says the same of the source's rows; None where there is none."""
    try:
        return written(clause, table, source)
    except ValueError:
        return None


def written(clause: Clause, table: SearchTable, source: Source) -> Condition:
    """The same. Raises ValueError with what is wrong where there is none."""
    return _Writer(source, table).clause(clause)


def path_of(facet: Facet, table: SearchTable, source: Source) -> str:
    """The path of a facet in the source. Raises ValueError where it has none."""
    return _Writer(source, table).path(facet)


@dataclass(frozen=True)
class _Writer:
    source: Source
    table: SearchTable
    within: Link | None = None
    """The link to the related rows that conditions are written for."""

    def query(self, clauses: Sequence[Clause], words: str) -> Query:
        texts = [words, *(text for clause in clauses for text in self._text_of(clause))]
        text = " ".join(filter(None, texts))
        if text and self.source.holds_words is None:
            raise _Unsayable
        compared = [clause for clause in clauses if not list(self._text_of(clause))]
        where = tuple(map(self._all_of, self._of_same_row(compared)))
        return Query(source=self.source.name, where=where, text=text)

    def _text_of(self, clause: Clause) -> Iterator[str]:
        """The words that rows must hold, where that is what a clause says."""
        if len(clause) == 1 and self.table.facet(clause[0].facet).kind == "words":
            [condition] = clause
            if condition.facet in self.source.fields:
                return
            if not condition.is_negated and len(condition.values) == 1:
                yield condition.values[0]

    def _of_same_row(self, clauses: Sequence[Clause]) -> list[list[Clause]]:
        """The clauses, those together that are to hold for one and the same related row. A second one that names values of the
        same facet is of another row.
        """
        groups: list[list[Clause]] = []
        of_link: dict[str, list[list[Clause]]] = {}
        for clause in clauses:
            link = self._link_of(clause)
            same = of_link.setdefault(link.name, []) if link else []
            group = next((group for group in same if not any(_names_same(clause, other) for other in group)), None)
            if group is None:
                group = []
                groups.append(group)
                same.append(group)
            group.append(clause)
        return groups

    def _link_of(self, clause: Clause) -> Link | None:
        """The link to the related rows one of which is to be so; None where it is said of the row itself, or of none of them."""
        fields = [self.source.fields.get(each.facet) for each in clause]
        links = {link.name: link for field in fields if field and (link := field.related) and link.is_many}
        is_of_one = all(field and field.related for field in fields) and not any(each.is_negated for each in clause)
        return next(iter(links.values())) if len(links) == 1 and is_of_one else None

    def _all_of(self, clauses: Sequence[Clause]) -> Condition:
        """The conditions of clauses that hold for one row."""
        link = self._link_of(clauses[0])
        is_range = any(each.range is not None for clause in clauses for each in clause)
        if link is None or (len(clauses) == 1 and not is_range):
            [clause] = clauses
            return self.clause(clause)
        rows = replace(self, within=link)
        return Exists(exists=link.name, where=tuple(map(rows.clause, clauses)))

    # ---- fields ----

    def path(self, facet: Facet) -> str:
        if self.within is not None:
            names = [name for name in (facet.name, facet.column) if name in self.within.fields]
            if not names:
                raise _Unsayable
            return names[0]
        if facet.name in self.source.fields:
            return facet.name
        rows = facet.name.removeprefix(NUMBER_OF)
        if facet.counts and rows in self.source.links:
            return f"count({rows})"
        if "title" not in self.source.fields and self.source.title("t") in (
            facet.sql,
            facet.sql.removesuffix("::text"),
        ):
            return "title"
        raise _Unsayable

    def _is_many(self, path: str) -> bool:
        field = self.source.fields.get(path)
        return field is not None and (field.is_array or bool(field.related and field.related.is_many))

    # ---- conditions ----

    def clause(self, clause: Clause) -> Condition:
        conditions = tuple(map(self._condition, clause))
        if not conditions:
            raise _Unsayable
        return AnyOf.of(conditions)

    def _condition(self, condition: FacetCondition) -> Condition:
        facet = self.table.facet(condition.facet)
        if facet.kind == "words" and facet.name not in self.source.fields:
            said = tuple(Words(words=each) for each in condition.values)
            return _denied(AnyOf.of(said), condition)
        path = self.path(facet)
        if condition.range is not None:
            return _denied(self._in_range(facet, path, condition.range), condition)
        if not condition.values:
            return Comparison(field=path, op="is_null" if condition.is_negated else "not_null")
        values = tuple(dict.fromkeys(_scalar(facet, value) for value in condition.values))
        if facet.kind in ("title", "text"):
            return _denied(_compared(path, "contains", values), condition)
        return _compared(path, "!=" if condition.is_negated else "=", values)

    def _in_range(self, facet: Facet, path: str, span: DateRange | NumberRange | MoneyRange) -> Condition:
        if isinstance(span, DateRange):
            return self._days(facet, path, span)
        is_amount = isinstance(span, MoneyRange)
        if facet.kind not in (("money",) if is_amount else NUMERIC_KINDS):
            raise _Unsayable(f"{facet.label} has no such range")
        if isinstance(span, MoneyRange) and not facet.is_in(span.currency):
            raise _Unsayable(f"{facet.label} is in {facet.currency}, not in {span.currency}")
        if (span.includes_least and span.includes_most) or (span.least is None and span.most is None):
            return _between(path, span.least, span.most)
        bounds = ((">=" if span.includes_least else ">", span.least), ("<=" if span.includes_most else "<", span.most))
        compared = tuple(_compared(path, op, (_plain(bound),)) for op, bound in bounds if bound is not None)
        if len(compared) > 1 and self.within is None and self._is_many(path):
            raise _Unsayable
        return AllOf.of(compared)

    def _days(self, facet: Facet, path: str, days: DateRange) -> Condition:
        first, last = days.first, days.last
        if facet.kind == "year":
            return _between(path, first.year if first else None, last.year if last else None)
        if facet.kind != "date":
            raise _Unsayable(f"{facet.label} has no such range")
        if not days.months:
            return _between(path, first, last)
        in_months = _compared(f"{MONTH}({path})", "=", sorted(days.months))
        return in_months if first is None and last is None else AllOf(all_of=(in_months, _between(path, first, last)))


def _names_same(clause: Clause, other: Clause) -> bool:
    """Whether two clauses name values of one facet; bounds of one range hold for the same row."""
    named = {condition.facet for condition in clause if condition.range is None}
    return any(condition.facet in named for condition in other if condition.range is None)


def _denied(met: Condition, condition: FacetCondition) -> Condition:
    return Not(negated=met) if condition.is_negated else met


def _between(path: str, least: object, most: object) -> Condition:
    if least is not None and most is not None:
        if least == most:
            return _compared(path, "=", (_plain(least),))
        return _compared(path, "between", (_plain(least), _plain(most)))
    if least is None and most is None:
        return Comparison(field=path, op="not_null")
    return _compared(path, "<=" if least is None else ">=", (_plain(most if least is None else least),))


def _compared(path: str, op: str, values: Sequence[Scalar]) -> Comparison:
    said = {"value": values[0]} if len(values) == 1 else {"values": tuple(values)}
    return Comparison.model_validate({"field": path, "op": op, **said})


def _plain(bound: object) -> Scalar:
    """A bound as JSON has it: whole numbers without decimals."""
    if isinstance(bound, datetime.date):
        return bound.isoformat()
    assert isinstance(bound, int | float)
    return int(bound) if float(bound).is_integer() else bound


def _scalar(facet: Facet, value: str) -> Scalar:
    """A value as its kind has it. Numbers and truths are written as text in a question's conditions."""
    try:
        if facet.kind in NUMERIC_KINDS:
            return _plain(float(value))
        if facet.kind == "date":
            datetime.date.fromisoformat(value)
    except (ValueError, OverflowError):
        kind = "date" if facet.kind == "date" else "number"
        raise _Unsayable(f"{facet.label} is a {kind}, which {value!r} is not") from None
    if facet.kind == "boolean" and value not in ("true", "false"):
        raise _Unsayable(f"{facet.label} is true or false, which {value!r} is not")
    return value == "true" if facet.kind == "boolean" else value


@lru_cache(maxsize=256)
def worded_source(table: SearchTable) -> Source:
    """The source that a table's questions are about, by the table's name."""
    links = {related.name: _link(table, related) for related in table.related}
    key: LiteralString = f"({table.key_sql})::text"
    fields = {KEY: Field(KEY, "text", one_row(key), "id", "ids")}
    fields |= {facet.name: linked(_value(table, facet), facet, links) for facet in table.facets}
    return source_of(
        table, table.name, key, fields, links, lambda row, text: of_row(table.holds_words.format(text), row)
    )


def labels(table: SearchTable, clauses: Sequence[Clause]) -> list[str]:
    """The clauses in words that can follow what they are about. Raises ValueError."""
    source = worded_source(table)
    # every day is named by a date
    phrases = Phrases(Schema({table.name: source}), source, datetime.date.min)
    return [phrases.condition(condition(table, clause)) for clause in clauses]


def condition(table: SearchTable, clause: Clause) -> Condition:
    """What a clause asks of a row. Raises ValueError for what the facets cannot have."""
    return written(clause, table, worded_source(table))


def can_have(table: SearchTable, clause: Clause) -> bool:
    """Whether the facets of a table can be asked for what a clause says."""
    return condition_of(clause, table, worded_source(table)) is not None


def _link(table: SearchTable, related: Related) -> Link:
    return link_to(
        related, {facet.name: _value(table, facet) for facet in table.facets if facet.related == related.name}
    )


def _value(table: SearchTable, facet: Facet) -> Field:
    """A facet as a field of the row that holds it. A place is each of its parts."""
    is_place = facet.kind == "place"
    sql: LiteralString = f"place_parts({facet.sql})" if is_place else facet.sql
    field = described(facet, one_row(sql), table, is_array=is_place or facet.is_array)
    return replace(field, wording=facet.wording)
