"""Parts of a declaration: lines made of a row's columns, conditions on rows, vectors, quoting, references to other tables,
and facets. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Literal, LiteralString, Self
from zoneinfo import available_timezones

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from quarry.collections.names import nearest, table_name
from quarry.collections.predicate import depends_on_day, expression_columns, read_predicate
from quarry.platform.contract import LazyModel
from quarry.schema.source import FacetKind
from quarry.spans.numbers import UNITS, dimension_of


@dataclass(frozen=True)
class ColumnPart:
    """A column in a template."""

    column: str


Template = Sequence["str | ColumnPart | Template"]
"""Texts, columns, and parts that are left out where one of their columns is empty."""


def is_template(line: str) -> bool:
    """Whether a line is more than the name of a column."""
    return "{" in line


def parse(template: str) -> Template:
    """A template such as `"{title}[, {city}]"`: columns in braces; parts in brackets are left out where one of their columns
    is empty.

    A text without braces is the name of a column. Raises ValueError for a single bracket.
    """
    if not is_template(template):
        return [ColumnPart(template)]
    open_parts: list[list[Any]] = [[]]
    for piece in re.findall(r"\{[^{}]+\}|[\[\]]|[^{}\[\]]+|[{}]", template):
        if piece == "[":
            open_parts.append([])
        elif piece == "]" and len(open_parts) > 1:
            part = open_parts.pop()
            open_parts[-1].append(part)
        elif piece in "[]{}":
            raise ValueError(f"{template!r} has an unmatched {piece}")
        else:
            open_parts[-1].append(ColumnPart(piece[1:-1]) if piece[0] == "{" else piece)
    if len(open_parts) > 1:
        raise ValueError(f"{template!r} has an unmatched [")
    return open_parts[0]


def line_columns(lines: Iterable[str]) -> tuple[str, ...]:
    """The columns in lines, each once."""

    def of(template: Template) -> Iterator[str]:
        for part in template:
            if isinstance(part, ColumnPart):
                yield part.column
            elif not isinstance(part, str):
                yield from of(part)

    return tuple(dict.fromkeys(column for line in lines for column in of(parse(line))))


def split_template(template: str) -> list[tuple[str, bool]]:
    """The literal texts and the columns of a template, in order. The second value says whether the part is a column."""
    pieces = re.split(r"\{([^{}]+)\}", template)
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]


def template_columns(template: str) -> list[str]:
    """The columns in a template."""
    return [piece for piece, is_column in split_template(template) if is_column]


class Declared(LazyModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    stands_for: ClassVar[str] = ""
    """The field that a text or a list of texts sets, in place of a table."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return {cls.stands_for: value} if cls.stands_for and isinstance(value, str | list) else value


def one_or_many(value: object) -> object:
    return [value] if isinstance(value, str) else value


Columns = Annotated[tuple[str, ...], BeforeValidator(one_or_many)]


def readable(read: Callable[[str], object]) -> AfterValidator:
    """A validator of texts that `read` can read. It raises ValueError, which says where a text goes wrong."""

    def check(text: str) -> str:
        read(text)
        return text

    return AfterValidator(check)


TableName = Annotated[str, readable(table_name)]


def is_line(line: Any) -> Any:
    if isinstance(line, str):
        parse(line)
    return line


class Referred(Declared):
    """A value in another table: the `title`, a line, of the row of table `of` whose `key` equals the column `by`; or another
    reference from that row.
    """

    by: str
    of: TableName
    key: str | None = None
    title: Annotated[str | Referred, AfterValidator(is_line)]


class Parent(Declared):
    """The row that a row is part of: the row of table `of` whose `key` equals the column `by`. Its columns `show` are shown."""

    by: str
    of: TableName
    key: str | None = None
    show: Annotated[Columns, Field(min_length=1)]


class LinkDeclaration(Declared):
    """A reference that gives a row no name: to the row of table `of` whose columns `key` equal the columns `by`. `of` and
    `key` default to those of the foreign key.
    """

    stands_for = "by"

    by: Annotated[Columns, Field(min_length=1)]
    of: TableName | None = None
    key: Columns = ()

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.key and len(self.key) != len(self.by):
            raise ValueError("`by` and `key` need the same number of columns")
        if self.key and self.of is None:
            raise ValueError("`key` are columns of the table `of`, which is missing")
        return self


def _lasting(text: str) -> None:
    if depends_on_day(read_predicate(text)):
        raise ValueError(
            "a condition on related rows cannot name `today`: which rows meet it would change without a write"
        )


def _by_name(listed: object) -> object:
    """Accept columns that keep their own names as fields."""
    names = one_or_many(listed)
    return {name: name for name in names} if isinstance(names, list) else names


class RelatedRows(Declared):
    """The rows of table `of` that belong to a row: those whose column `by` holds its key and that meet the predicate `where`
    over their columns. `fields` are further columns for a Query, under names of their own.
    """

    of: TableName
    by: str
    where: Annotated[str, readable(_lasting)] | None = None
    fields: Annotated[Mapping[str, str], BeforeValidator(_by_name)] = {}


_TEXT = re.compile(r"""(E?)'((?:[^']|'')*)'|"(?:[^"]|"")*\"""")
_SIGNS: dict[str, LiteralString] = {"%": "37", "{": "123", "}": "125"}
"""The codes of characters that mark a parameter in a statement, or a place in an SQL template."""


class RowCondition(Declared):
    """A condition on the rows of a collection: a boolean SQL expression, and the columns in it as Postgres read them."""

    stands_for = "sql"

    sql: Annotated[str, Field(min_length=1, max_length=500)]
    columns: tuple[str, ...] = ()

    @property
    def statement(self) -> LiteralString:
        """The expression, safe in statements with parameters. Raises ValueError where that is impossible."""
        expression = _TEXT.sub(lambda match: _without_signs(match[0], match[1]), self.sql)
        if sign := next((sign for sign in _SIGNS if sign in expression), None):
            raise ValueError(f"{self.sql!r} has a {sign}, which is not allowed: write mod(a, b) for a % b")
        return expression


class KeptWith(Declared):
    """Rows belong to a collection only with the row of table `of` that they refer to: where that meets the condition `where`,
    and where they refer to none. `key` is the column that they refer to.
    """

    of: TableName
    where: RowCondition
    key: str | None = None


def _without_signs(text: str, prefix: str) -> LiteralString:
    if text[0] == '"' or not set(_SIGNS) & {*text}:
        return text
    quote = f"{prefix}'"
    for sign, code in _SIGNS.items():
        text = text.replace(sign, f"' || chr({code}) || {quote}")
    return f"({text})"


class Quoting(Declared):
    """How an answer without a model quotes a row.

    `unit` is a sentence of the text; its first two lines together (lead); its first line (line), or the first line if it is
    short (short_line). `weight` multiplies its score. `followup` is a question about the row, with places for `{topic}`,
    `{author}`, or `{title}` after a colon.
    """

    unit: Literal["sentences", "lead", "line", "short_line"] = "sentences"
    weight: float = Field(default=1.0, gt=0, le=10)
    followup: str = Field(
        default="What do the records say about {topic}?", pattern=r"^(?:[^{}]|\{(?:topic|author|title)\})+$"
    )

    @property
    def general_followup(self) -> str:
        """The follow-up question without the names, which says nothing about the row."""
        return self.followup.format(topic="", author="", title="")


class Vectors(Declared):
    """The pgvector column with a row's vector, and the model that made it; None: the model that embeds questions."""

    stands_for = "column"

    column: str
    model: str | None = None


_MISSPELT = 0.85
"""From this similarity on, a word is taken for a misspelt unit."""


def _unit(unit: str) -> None:
    """Refuse a word that is nearly a unit of measure. Any other word names what is counted ("people")."""
    if dimension_of(unit) is None and (meanings := get_close_matches(unit.lower(), UNITS, 1, _MISSPELT)):
        raise ValueError(f"{unit!r} is not a unit of measure; did you mean {meanings[0]!r}?")


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
    expression: Annotated[str, readable(expression_columns)] | None = None
    unit: Annotated[str, readable(_unit)] | None = None

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
        kinds = ", ".join(listed)
        yield joins and self.kind not in listed, f"with `through` the kind must be one of {kinds}, not {self.kind}"
        of_other = self.title or self.key
        yield not self.of and of_other, "`title` and `key` are columns of the table `of`, which is missing"
        yield self.of and self.column, "with `of` the value is the other table's `title`, not `column`"
        yield self.currency and self.kind != "money", "only money has a currency"
        elsewhere = self.of or self.related
        yield self.currency_column and elsewhere, "`currency` names a column of the row, which does not hold the amount"
        yield self.unit and self.kind != "number", "only a number has a unit"
        yield self.expression and (parts or not is_number), "an `expression` is a number or money: no `column`, no `of`"
        no_place = parts or self.kind != "place"
        yield self.columns and no_place, "`columns` are the parts of a place: no `column`, no `of`"
        no_column = self.of or self.expression
        yield self.related and no_column, "with `related` the value is a `column`: no `of`, no `expression`"
        no_value = self.wording and "{}" not in self.wording and self.kind != "boolean"
        yield no_value, "`wording` needs {} in the place of the value"

    @property
    def currency_column(self) -> str | None:
        """The column that says which currency the amount of a row is in."""
        return self.currency.column if isinstance(self.currency, CurrencyColumn) else None

    @property
    def used_columns(self) -> tuple[str, ...]:
        """The columns of the row that it names. Empty where its own name is the column, or another table holds the value."""
        if not self.is_of_row:
            return ()
        own_column = self.by or self.column
        return self.columns or (
            expression_columns(self.expression) if self.expression else (own_column,) if own_column else ()
        )

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


def problem_of_zone(name: str | None) -> str | None:
    """What is wrong with the name of a time zone, if anything."""
    if name is None or name in (zones := available_timezones()):
        return None
    return f"there is no time zone {name!r}{nearest(name, zones) or ': write one as Europe/Berlin'}"
