"""What a question asks of a searched table, as a Query about the table's source. Pure.

A query says exactly what the question says. `query_of` and `condition_of` return None for what a Query cannot say.
"""

from __future__ import annotations

import calendar
import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from quarry.core.query.mention import DateRange, MoneyRange, NumberRange
from quarry.core.query.question import Ask, Clause
from quarry.core.query.question import Condition as FacetCondition
from quarry.core.retrieval.answers import measures_of
from quarry.core.retrieval.facets import NUMBER_OF, NUMERIC_KINDS, Facet, SearchTable
from quarry.query.algebra import (
    LIMIT_MAX,
    PARTS_MAX,
    Aggregate,
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Group,
    Not,
    Order,
    Query,
    Scalar,
    Span,
    Words,
)
from quarry.query.schema import Source

MONTHS_MAX = 60
"""Months of several years that a condition lists at most."""


class _Unsayable(Exception):
    """A Query cannot say this."""


@dataclass(frozen=True)
class TableQuestion:
    """What is asked of a table: `ask` about the rows that meet all clauses and hold the words. With `keys`, only rows that have
    one of them count. With `base`, the question is for the share of the rows meeting it that meets the clauses too.
    """

    table: SearchTable
    ask: Ask
    clauses: Sequence[Clause] = ()
    words: str = ""
    keys: Sequence[str] | None = None
    base: Sequence[Clause] | None = None


def query_of(asked: TableQuestion, source: Source) -> Query | None:
    """The query that asks the same of the source; None where there is none."""
    try:
        return _Writer(source, asked.table).query(asked)
    except (_Unsayable, ValidationError):
        return None


def condition_of(clause: Clause, table: SearchTable, source: Source) -> Condition | None:
    """The condition that says the same of the source's rows; None where there is none."""
    try:
        return _Writer(source, table).clause(clause)
    except (_Unsayable, ValidationError):
        return None


@dataclass(frozen=True)
class _Writer:
    source: Source
    table: SearchTable

    def query(self, asked: TableQuestion) -> Query:
        texts = [asked.words, *(text for clause in asked.clauses for text in self._text_of(clause))]
        clauses = [clause for clause in asked.clauses if not list(self._text_of(clause))]
        text = " ".join(filter(None, texts))
        if text and (self.source.holds_words is None or asked.base is not None):
            raise _Unsayable
        self._check_same_row(clauses)
        if asked.base is not None:
            return self._share(clauses, asked.base)
        where, spans = self._where(clauses, "/where")
        if asked.keys is not None:
            where = (*where, self._has_key(asked.keys))
        return self._asked(asked.ask, Query(source=self.source.name, where=where, text=text, spans=spans))

    def _has_key(self, keys: Sequence[str]) -> Condition:
        if "id" in self.source.fields or not keys:
            raise _Unsayable
        return _compared("id", "=", keys)

    def _where(self, clauses: Sequence[Clause], pointer: str) -> tuple[tuple[Condition, ...], tuple[Span, ...]]:
        spans = [
            Span(pointer=f"{pointer}/{place}", start=said.start, end=said.end)
            for place, clause in enumerate(clauses)
            for said in dict.fromkeys(span for condition in clause for span in condition.evidence)
        ]
        return tuple(map(self.clause, clauses)), tuple(spans[:PARTS_MAX])

    def _text_of(self, clause: Clause) -> Iterator[str]:
        """The words that rows must hold, where that is what a clause says."""
        if len(clause) == 1 and self.table.facet(clause[0].facet).kind == "words":
            [condition] = clause
            if not condition.is_negated and len(condition.values) == 1:
                yield condition.values[0]

    def _check_same_row(self, clauses: Sequence[Clause]) -> None:
        """Several clauses about related rows are of one of them, which comparisons of their own do not say."""
        seen = set[str]()
        for clause in clauses:
            related = {
                field.related.name
                for each in clause
                if (field := self.source.fields.get(each.facet)) is not None
                and field.related is not None
                and field.related.is_many
                and not each.is_negated
            }
            if related & seen:
                raise _Unsayable
            seen |= related

    # ---- what is asked ----

    def _share(self, clauses: Sequence[Clause], base: Sequence[Clause]) -> Query:
        where, spans = self._where(base, "/where")
        part, said = self._where([clause for clause in clauses if clause not in base], "/aggregate/0/where")
        if not part:
            raise _Unsayable
        aggregate = (Aggregate(fn="count", where=part), Aggregate(fn="share", where=part))
        return Query(source=self.source.name, where=where, aggregate=aggregate, spans=(*spans, *said))

    def _asked(self, ask: Ask, rows: Query) -> Query:
        if ask.lacks:
            raise _Unsayable
        match ask.kind:
            case "rows":
                return rows.model_copy(update={"limit": _limit(ask)})
            case "count" | "exists":
                return rows.model_copy(update={"aggregate": (Aggregate(fn="count"),)})
            case "measure":
                return rows.model_copy(update={"aggregate": self._measures(ask)})
            case "distinct":
                return rows.model_copy(update={"aggregate": (self._distinct(ask),)})
            case "extreme":
                return self._extreme(ask, rows)
            case "groups":
                return self._groups(ask, rows)

    def _distinct(self, ask: Ask) -> Aggregate:
        facet = self._asked_facet(ask)
        if ask.grain is not None and facet.kind == "date":
            raise _Unsayable
        return Aggregate(fn="count_distinct", field=self._path(facet))

    def _extreme(self, ask: Ask, rows: Query) -> Query:
        facet = self._asked_facet(ask)
        path = self._path(facet)
        by = f"{'min' if ask.ascending else 'max'}({path})" if self._is_many(path) else path
        order = (Order(by=by, direction="asc" if ask.ascending else "desc"),)
        return rows.model_copy(update={"select": ("title", path), "order": order, "limit": _limit(ask)})

    def _groups(self, ask: Ask, rows: Query) -> Query:
        facet, measures = self._asked_facet(ask), self._measures(ask)
        group = Group(field=self._path(facet), period=ask.grain if facet.kind == "date" else None)
        first = measures[0].name if measures else "count"
        order = (Order(by=first, direction="asc" if ask.ascending else "desc"),)
        shape = {
            "aggregate": (Aggregate(fn="count"), *measures),
            "group": (group,),
            # periods that are all asked for stand in the order of time
            "order": () if group.period and ask.limit is None else order,
            # the first few are values: rows without one are no answer
            "having": (Comparison(field=group.field, op="not_null"),) if ask.limit is not None else (),
            "limit": _limit(ask),
        }
        return rows.model_copy(update=shape)

    def _measures(self, ask: Ask) -> tuple[Aggregate, ...]:
        return tuple(
            Aggregate(fn=each.function, field=self._path(self.table.facet(each.facet))) for each in measures_of(ask)
        )

    def _asked_facet(self, ask: Ask) -> Facet:
        name = ask.facet or (self.table.date if ask.grain else None)
        if name is None:
            raise _Unsayable
        return self.table.facet(name)

    # ---- fields ----

    def _path(self, facet: Facet) -> str:
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
        return conditions[0] if len(conditions) == 1 else AnyOf(any_of=conditions)

    def _condition(self, condition: FacetCondition) -> Condition:
        facet = self.table.facet(condition.facet)
        if facet.kind == "words":
            said = tuple(Words(words=each) for each in condition.values)
            return _denied(said[0] if len(said) == 1 else AnyOf(any_of=said), condition)
        path = self._path(facet)
        if condition.range is not None:
            return _denied(self._in_range(facet, path, condition.range), condition)
        if not condition.values:
            return Comparison(field=path, op="is_null" if condition.is_negated else "not_null")
        values = tuple(dict.fromkeys(_value(facet, value) for value in condition.values))
        if facet.kind in ("title", "text"):
            return _denied(_compared(path, "contains", values), condition)
        return _compared(path, "!=" if condition.is_negated else "=", values)

    def _in_range(self, facet: Facet, path: str, span: DateRange | NumberRange | MoneyRange) -> Condition:
        if isinstance(span, DateRange):
            return self._days(facet, path, span)
        is_amount = isinstance(span, MoneyRange)
        if facet.kind not in (("money",) if is_amount else NUMERIC_KINDS):
            raise _Unsayable
        if isinstance(span, MoneyRange) and not facet.is_in(span.currency):
            raise _Unsayable
        if (span.includes_least and span.includes_most) or (span.least is None and span.most is None):
            return _between(path, span.least, span.most)
        bounds = ((">=" if span.includes_least else ">", span.least), ("<=" if span.includes_most else "<", span.most))
        compared = tuple(_compared(path, op, (_plain(bound),)) for op, bound in bounds if bound is not None)
        if len(compared) > 1 and self._is_many(path):
            raise _Unsayable
        return compared[0] if len(compared) == 1 else AllOf(all_of=compared)

    def _days(self, facet: Facet, path: str, days: DateRange) -> Condition:
        first, last = days.first, days.last
        if facet.kind == "year":
            return _between(path, first.year if first else None, last.year if last else None)
        if facet.kind != "date":
            raise _Unsayable
        if not days.months:
            return _between(path, first, last)
        months = tuple(_between(path, *month) for month in _months(days))
        if not months:
            raise _Unsayable
        return months[0] if len(months) == 1 else AnyOf(any_of=months)


def _denied(met: Condition, condition: FacetCondition) -> Condition:
    return Not(negated=met) if condition.is_negated else met


def _limit(ask: Ask) -> int | None:
    return None if ask.limit is None else min(max(ask.limit, 1), LIMIT_MAX)


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


def _value(facet: Facet, value: str) -> Scalar:
    """A value as its kind has it. Numbers and truths are written as text in a question's conditions."""
    if facet.kind in NUMERIC_KINDS:
        try:
            return _plain(float(value))
        except (ValueError, OverflowError):
            raise _Unsayable from None
    return value == "true" if facet.kind == "boolean" else value


def _months(days: DateRange) -> Iterator[tuple[datetime.date, datetime.date]]:
    """The months of each year that lie within a range, joined where one follows another."""
    if days.first is None or days.last is None:
        raise _Unsayable
    spans: list[tuple[datetime.date, datetime.date]] = []
    for year in range(days.first.year, days.last.year + 1):
        for month in sorted(days.months):
            first = max(days.first, datetime.date(year, month, 1))
            last = min(days.last, datetime.date(year, month, calendar.monthrange(year, month)[1]))
            if first > last:
                continue
            if spans and first - spans[-1][1] == datetime.timedelta(days=1):
                spans[-1] = (spans[-1][0], last)
            else:
                spans.append((first, last))
            if len(spans) > MONTHS_MAX:
                raise _Unsayable
    yield from spans
