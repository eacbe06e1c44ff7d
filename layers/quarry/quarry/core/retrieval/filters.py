"""Conditions on a searched table as SQL. Values are always parameters; a negated condition is met by rows that lack the value."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal, Placeholder

from quarry.core.query.mention import DateRange, MoneyRange, NumberRange
from quarry.core.query.question import Clause, Condition
from quarry.core.retrieval.facets import NUMERIC_KINDS, TEXT_KINDS, VALUE_MAX_CHARACTERS, Facet, SearchTable

RULED_OUT_MAX = 100
"""So many values are ruled out of a facet together."""


@dataclass
class Arguments:
    """The parameters of a statement, by the names that stand for them in it. Equal lists are one: they may be long, and each has
    its type beside it wherever it stands.
    """

    values: dict[str, Any] = field(default_factory=dict)
    _lists: dict[str, str] = field(default_factory=dict)

    def add(self, value: Any) -> Composable:
        name = f"p{len(self.values)}"
        if isinstance(value, list):
            name = self._lists.setdefault(repr(value), name)
        self.values[name] = value
        return Placeholder(name)

    def once(self, expression: Composable) -> Composable:
        """An expression over parameters alone. A plan that is kept for any parameters would evaluate it for each row."""
        return SQL("(select {})").format(expression)


class Literals(Arguments):
    """Parameters that stand in the statement itself, quoted: for a condition that is handed on to a SQL function as text."""

    def add(self, value: Any) -> Composable:
        return Literal(value)

    def once(self, expression: Composable) -> Composable:
        """The expression itself, which is evaluated while it is planned: so the planner knows how many rows meet it."""
        return expression


@dataclass(frozen=True)
class Among:
    """Which rows are asked about at all: those of an owner, where rows have one, and of these the ones with the given keys, and
    those whose text holds all of the given words.
    """

    scope: str | None = None
    keys: Sequence[str] | None = None
    words: str = ""


EVERY_ROW = Among()


def where(table: SearchTable, clauses: Sequence[Clause], arguments: Arguments, among: Among = EVERY_ROW) -> Composed:
    """True of the rows `t` that are searched and meet every clause. Raises ValueError for a condition that its facet cannot have,
    and where the rows have owners and none is given.
    """
    terms: list[Composable] = [SQL("({}) and ({})").format(SQL(table.where), SQL(table.guard))]
    if table.scope is not None:
        if among.scope is None:
            raise ValueError(f"{table.name} belong to someone: whose are asked about?")
        terms.append(SQL("t.") + Identifier(table.scope) + SQL(" = ") + arguments.add(among.scope))
    if among.keys is not None:
        terms.append(SQL(table.has_key).format(arguments.add(list(among.keys))))
    if among.words:
        terms.append(SQL(table.holds_words).format(arguments.add(among.words)))
    terms += _all_of(table, clauses, arguments)
    return SQL(" and ").join(terms)


def clause_sql(table: SearchTable, clause: Clause, arguments: Arguments) -> Composed:
    """True of the rows `t` that meet the clause by itself."""
    conditions = [_alone(table, condition, arguments) for condition in clause]
    return SQL("(") + (SQL(" or ").join(conditions) if conditions else SQL("false")) + SQL(")")


def related_rows(table: SearchTable, name: str) -> Composed:
    """`from … where …` of the related rows `r` of a row `t`."""
    related = table.relation(name)
    return SQL("from {} r where ").format(SQL(related.rows)) + SQL("(") + SQL(related.on) + SQL(")")


def _all_of(table: SearchTable, clauses: Sequence[Clause], arguments: Arguments) -> Iterator[Composed]:
    """Clauses about one relation are to hold for one and the same related row; a second one about the same facet for another."""
    rows: dict[str, list[list[Clause]]] = {}
    for clause in _ruled_out_together(clauses):
        relation = _only_relation(table, clause)
        if relation is None:
            yield clause_sql(table, clause, arguments)
            continue
        groups = rows.setdefault(relation, [])
        fitting = next((group for group in groups if not any(_about_same(clause, other) for other in group)), None)
        if fitting is None:
            groups.append([clause])
        else:
            fitting.append(clause)
    for relation, groups in rows.items():
        for group in groups:
            conditions = [_any_of(table, clause, arguments) for clause in group]
            yield _exists(table, relation, SQL(" and ").join(conditions))


def _ruled_out_together(clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses, with values of a facet that are ruled out one by one in one of them: a row's own are looked at once."""
    joined: list[Clause] = []
    places: dict[str, int] = {}
    for clause in clauses:
        if len(clause) == 1 and _rules_out_values(clause[0]):
            place = places.setdefault(clause[0].facet, len(joined))
            if place < len(joined):
                [known], [condition] = joined[place], clause
                values = (*known.values, *condition.values)
                if len(values) <= RULED_OUT_MAX:
                    joined[place] = (replace(known, values=values),)
                    continue
        joined.append(clause)
    return joined


def _rules_out_values(condition: Condition) -> bool:
    return condition.is_negated and bool(condition.values) and condition.range is None


def _only_relation(table: SearchTable, clause: Clause) -> str | None:
    """The relation that all conditions of a clause are about, unless one is negated: that holds for no row of it."""
    relations = {table.facet(condition.facet).related for condition in clause}
    if len(relations) != 1 or any(condition.is_negated for condition in clause):
        return None
    return relations.pop()


def _about_same(clause: Clause, other: Clause) -> bool:
    """Whether two clauses name values of one facet; bounds of one range hold for the same row."""
    named = {condition.facet for condition in clause if condition.range is None}
    return any(condition.facet in named for condition in other if condition.range is None)


def _alone(table: SearchTable, condition: Condition, arguments: Arguments) -> Composed:
    facet = table.facet(condition.facet)
    met = value_condition(facet, condition, arguments)
    if facet.related is not None:
        met = _exists(table, facet.related, met)
    if condition.is_negated:
        return SQL("(") + met + SQL(") is not true")
    return met


def _any_of(table: SearchTable, clause: Clause, arguments: Arguments) -> Composed:
    conditions = [value_condition(table.facet(condition.facet), condition, arguments) for condition in clause]
    return SQL("(") + SQL(" or ").join(conditions) + SQL(")")


def _exists(table: SearchTable, relation: str, condition: Composed) -> Composed:
    return SQL("exists (select ") + related_rows(table, relation) + SQL(" and ") + condition + SQL(")")


def value_condition(facet: Facet, condition: Condition, arguments: Arguments) -> Composed:
    """True of the row, `t` or `r`, whose value is one of those named, or in the range, or, where neither is given, there at all.

    Whether it is negated is left to the caller. Raises ValueError for a range or a value that the facet cannot have.
    """
    if condition.range is not None:
        return _in_range(facet, condition.range, arguments)
    if not condition.values:
        return has_value(facet)
    return _is_one_of(facet, condition.values, arguments)


def has_value(facet: Facet) -> Composed:
    """Whether the row, `t` or `r`, has any value that is not blank: one that groups it with others."""
    value = SQL(facet.sql)
    if facet.kind == "place" or (facet.is_array and facet.kind in TEXT_KINDS):
        values = SQL("place_parts({})" if facet.kind == "place" else "{}").format(value)
        return SQL("exists (select from unnest({}) v (value) where folded_value(v.value) is not null)").format(values)
    if facet.is_array:
        return SQL("cardinality(array_remove({}, null)) > 0").format(value)
    if facet.kind in TEXT_KINDS:
        return SQL("folded_value({}) is not null").format(value)
    if facet.kind == "date":
        # no calendar has other days, infinity among them
        return SQL("{} between date '0001-01-01' and date '9999-12-31'").format(value)
    return SQL("{} is not null").format(value)


def _is_one_of(facet: Facet, values: Sequence[str], arguments: Arguments) -> Composed:
    value, names = SQL(facet.sql), list(dict.fromkeys(values))
    if facet.kind in NUMERIC_KINDS:
        return SQL("{} = any({}::numeric[])").format(value, arguments.add([_number(facet, name) for name in names]))
    if facet.kind == "date":
        return SQL("{} = any({}::date[])").format(value, arguments.add([_day(facet, name) for name in names]))
    if facet.kind == "boolean":
        return SQL("{} = any({}::boolean[])").format(value, arguments.add([_truth(facet, name) for name in names]))
    if facet.kind == "words":
        asked = [arguments.once(SQL("parsed_query({})").format(arguments.add(name))) for name in names]
        held = [SQL("{} @@ {}").format(value, query) for query in asked]
        return SQL("(") + SQL(" or ").join(held) + SQL(")")
    given = SQL("{}::text[]").format(arguments.add(names))
    if facet.kind == "place":
        folded = arguments.once(SQL("folded_names({})").format(given))
        return SQL("folded_names(place_parts({})) && {}").format(value, folded)
    if facet.kind in ("title", "text"):
        return SQL("has_any_phrase({}, {})").format(value, given)
    same = SQL("{} && {}" if facet.is_array else "{} = any({})").format(value, given)
    unkept = [name for name in names if not _is_kept(name)]
    return SQL("({} or {})").format(same, _folds_to(facet, unkept, arguments)) if unkept else same


def _is_kept(value: str) -> bool:
    """Whether other spellings of a value are found among those that are looked up, and so were named with it."""
    return len(value) <= VALUE_MAX_CHARACTERS and any(character.isalnum() for character in value)


def _folds_to(facet: Facet, values: Sequence[str], arguments: Arguments) -> Composed:
    """Whether the row has another spelling of one of the values, which every row is looked at for."""
    given = SQL("array(select folded_value(g) from unnest({}::text[]) g)").format(arguments.add(list(values)))
    folded = SQL("{}::text[]").format(arguments.once(given))
    template = "exists (select from unnest({}) v (value) where folded_value(v.value) = any({}))"
    return SQL(template if facet.is_array else "folded_value({}) = any({})").format(SQL(facet.sql), folded)


def _number(facet: Facet, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"{facet.label} is a number, which {value!r} is not") from None


def _truth(facet: Facet, value: str) -> bool:
    if value not in ("true", "false"):
        raise ValueError(f"{facet.label} is true or false, which {value!r} is not")
    return value == "true"


def _day(facet: Facet, value: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        raise ValueError(f"{facet.label} is a date, which {value!r} is not") from None


def _in_range(facet: Facet, range: DateRange | NumberRange | MoneyRange, arguments: Arguments) -> Composed:
    if isinstance(range, DateRange) and facet.kind == "date":
        return _dates(SQL(facet.sql), range, arguments)
    if isinstance(range, DateRange) and facet.kind == "year":
        least = range.first.year if range.first else None
        most = range.last.year if range.last else None
        return _between(SQL(facet.sql), least, most, arguments)
    if isinstance(range, MoneyRange) and facet.kind == "money" and not facet.is_in(range.currency):
        raise ValueError(f"{facet.label} is in {facet.currency}, not in {range.currency}")
    if (isinstance(range, NumberRange) and facet.kind in NUMERIC_KINDS) or (
        isinstance(range, MoneyRange) and facet.kind == "money"
    ):
        return _between(
            SQL(facet.sql),
            range.least,
            range.most,
            arguments,
            includes_least=range.includes_least,
            includes_most=range.includes_most,
        )
    raise ValueError(f"{facet.label} has no such range")


def _dates(value: SQL, range: DateRange, arguments: Arguments) -> Composed:
    held = _between(value, range.first, range.last, arguments)
    if range.months:
        held += SQL(" and extract(month from {}) = any({}::int[])").format(value, arguments.add(list(range.months)))
    return held


def _between(
    value: SQL,
    least: Any,
    most: Any,
    arguments: Arguments,
    *,
    includes_least: bool = True,
    includes_most: bool = True,
) -> Composed:
    terms = [SQL("{} is not null").format(value)]
    if least is not None:
        terms.append(SQL("{} >= {}" if includes_least else "{} > {}").format(value, arguments.add(least)))
    if most is not None:
        terms.append(SQL("{} <= {}" if includes_most else "{} < {}").format(value, arguments.add(most)))
    return SQL(" and ").join(terms)
