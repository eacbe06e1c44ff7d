"""What `quarry.toml` can declare of a facet: what rows of a collection are filtered, counted and grouped by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from quarry.collections.expression import expression_columns
from quarry.collections.reference_declarations import Columns, Declared, Referred, TableName, is_line
from quarry.retrieval.facets import FacetKind
from quarry.spans.quantities import UNITS, dimension_of


def _is_expression(expression: str) -> str:
    expression_columns(expression)
    return expression


_MISSPELT = 0.85
"""From this similarity on, a word is taken for a misspelt unit."""


def _is_unit(unit: str) -> str:
    """Refuse a word that is nearly a unit of measure. Any other word names what is counted ("people")."""
    if dimension_of(unit) is None and (meanings := get_close_matches(unit.lower(), UNITS, 1, _MISSPELT)):
        raise ValueError(f"{unit!r} is not a unit of measure; did you mean {meanings[0]!r}?")
    return unit


class CurrencyColumn(Declared):
    """Each row names the currency of its amount by an ISO 4217 code."""

    column: str


class FacetDeclaration(Declared):
    """What rows can be filtered, counted and grouped by. `column` defaults to the facet's name. An `expression` computes a
    number from several columns instead. `unit` is the unit of a number; money has a `currency`, a code (`"EUR"`) or the column
    with the code of each row (`{ column = "currency" }`).

    With `by`, the value is the `title` of the row of table `of` whose `key` equals the column `by`: a column, a template
    (`parse`), or another reference. A place may take several `columns`: a city and its country. With `related`, a row has the
    values of all its related rows of that name, and conditions on facets of one relation hold for the same related row. With
    `through`, a row has the values of all rows of `of` that the table `through` joins it with; `by` and `to` are the columns
    of that table which refer to the row and to `of`.
    """

    stands_for = "kind"

    kind: FacetKind
    column: str | None = None
    columns: tuple[str, ...] = ()
    related: str | None = None
    label: str | None = Field(default=None, max_length=80)
    plural: str | None = Field(default=None, max_length=80)
    words: tuple[str, ...] = ()
    synonyms: Mapping[str, Columns] = {}
    wording: Annotated[str, Field(pattern=r"^[^{}]*(\{\}[^{}]*)?$")] | None = None
    hard: Literal[True, False, "counted"] = True
    people: bool = False
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] | CurrencyColumn | None = None
    by: str | None = None
    of: TableName | None = None
    through: TableName | None = None
    to: str | None = None
    key: str | None = None
    title: Annotated[str | Referred | None, AfterValidator(is_line)] = None
    expression: Annotated[str, AfterValidator(_is_expression)] | None = None
    unit: Annotated[str, AfterValidator(_is_unit)] | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if broken := next((message for is_broken, message in self._rules() if is_broken), None):
            raise ValueError(broken)
        return self

    def _rules(self) -> Iterator[tuple[object, str]]:
        """Each rule for what can stand together: whether it is broken, and its message."""
        joins, refers = self.through is not None, self.by is not None and self.through is None
        is_number, listed = self.kind in ("number", "money"), ("array", "value", "name", "title", "place")
        parts = self.column or self.of
        yield self.to and not joins, "`to` is a column of the table `through`, which is missing"
        yield refers != (self.of is not None and not joins), "`by` is a column, and `of` a table: one is missing"
        yield joins and not (self.of and isinstance(self.title, str)), "with `through`, `of` or `title` is missing"
        yield (
            joins and self.kind not in listed,
            f"with `through` the kind must be one of {', '.join(listed)}, not {self.kind}",
        )
        yield (
            not self.of and (self.title or self.key),
            "`title` and `key` are columns of the table `of`, which is missing",
        )
        yield self.of and self.column, "with `of` the value is the other table's `title`, not `column`"
        yield self.currency and self.kind != "money", "only money has a currency"
        yield (
            self.currency_column and (self.of or self.related),
            "`currency` names a column of the row, which does not hold the amount",
        )
        yield self.unit and self.kind != "number", "only a number has a unit"
        yield self.expression and (parts or not is_number), "an `expression` is a number or money: no `column`, no `of`"
        yield (
            self.columns and (parts or self.kind != "place"),
            "`columns` are the parts of a place: no `column`, no `of`",
        )
        yield (
            self.related and (self.of or self.expression),
            "with `related` the value is a `column`: no `of`, no `expression`",
        )
        yield (
            self.wording and "{}" not in self.wording and self.kind != "boolean",
            "`wording` needs {} in the place of the value",
        )

    @property
    def currency_column(self) -> str | None:
        """The column that says which currency the amount of a row is in."""
        return self.currency.column if isinstance(self.currency, CurrencyColumn) else None

    @property
    def used_columns(self) -> tuple[str, ...]:
        """The columns of the row that it names. Empty where its own name is the column, or another table holds the value."""
        if not self.is_of_row:
            return ()
        named = self.by or self.column
        return self.columns or (expression_columns(self.expression) if self.expression else (named,) if named else ())

    def columns_as(self, name: str) -> tuple[str, ...]:
        """The columns with the value of a facet of this name, in the row or in related rows."""
        return self.columns or (self.column or name,)

    @property
    def is_of_row(self) -> bool:
        """Whether columns of the row hold the value, or refer to it."""
        return self.through is None and self.related is None

    @property
    def reference(self) -> Referred | None:
        """The reference to the value where another table holds it."""
        if self.by is None or self.of is None or self.through is not None:
            return None
        return Referred(by=self.by, of=self.of, key=self.key, title=self.title or "name")
