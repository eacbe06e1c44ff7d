"""Going through the comparisons of a query, with the rows that each is about and a pointer to it (RFC 6901). Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quarry.platform.errors import InvalidInput
from quarry.query.algebra import AllOf, AnyOf, Comparison, Condition, Exists, Not, Query, Words
from quarry.query.paths import Rows, resolve_rows, rows_of
from quarry.query.schema import Schema

Change = Callable[[Comparison, Rows, str], Comparison]
"""What becomes of a comparison."""


def with_comparisons(query: Query, schema: Schema, change: Change, pointer: str = "") -> Query:
    """The query with `change` made of each comparison of rows, in nested queries too. Parts that the schema does not know stay
    as they are: compiling the query tells what is wrong with them.
    """
    source = schema.sources.get(query.source)
    if source is None:
        return query
    return _Walk(schema, change).query(query, rows_of(source), pointer)


@dataclass(frozen=True)
class _Walk:
    schema: Schema
    change: Change

    def query(self, query: Query, rows: Rows, pointer: str) -> Query:
        aggregates = tuple(
            each.model_copy(update={"where": self.all(each.where, rows, f"{pointer}/aggregate/{place}/where")})
            for place, each in enumerate(query.aggregate)
        )
        where = self.all(query.where, rows, f"{pointer}/where")
        return query.model_copy(update={"where": where, "aggregate": aggregates})

    def all(self, conditions: tuple[Condition, ...], rows: Rows, pointer: str) -> tuple[Condition, ...]:
        return tuple(self.one(each, rows, f"{pointer}/{place}") for place, each in enumerate(conditions))

    def one(self, condition: Condition, rows: Rows, pointer: str) -> Condition:
        match condition:
            case AnyOf():
                return AnyOf(any_of=self.all(condition.any_of, rows, f"{pointer}/any_of"))
            case AllOf():
                return AllOf(all_of=self.all(condition.all_of, rows, f"{pointer}/all_of"))
            case Not():
                return Not(negated=self.one(condition.negated, rows, f"{pointer}/not"))
            case Exists():
                return self.exists(condition, rows, pointer)
            case Words():
                return condition
            case Comparison():
                return self.comparison(condition, rows, pointer)

    def exists(self, condition: Exists, rows: Rows, pointer: str) -> Exists:
        try:
            related = resolve_rows(condition.exists, rows, self.schema, f"{pointer}/exists").steps[-1].to
        except InvalidInput:
            return condition
        return condition.model_copy(update={"where": self.all(condition.where, related, f"{pointer}/where")})

    def comparison(self, condition: Comparison, rows: Rows, pointer: str) -> Comparison:
        if condition.query is not None:
            nested = with_comparisons(condition.query, self.schema, self.change, f"{pointer}/value")
            return condition.model_copy(update={"value": nested})
        return self.change(condition, rows, pointer)
