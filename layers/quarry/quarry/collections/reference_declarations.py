"""Parts of a declaration: conditions on rows, vectors, quoting, and references to other tables. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, LiteralString, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from quarry.collections.naming import table_name
from quarry.collections.predicate import depends_on_day, read_predicate
from quarry.collections.templates import parse
from quarry.platform.lazy_model import LazyModel


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


def _is_table(name: str) -> str:
    table_name(name)
    return name


TableName = Annotated[str, AfterValidator(_is_table)]


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


def is_predicate(text: str) -> str:
    """The text, if it is a valid predicate. Raises ValueError, which says where it goes wrong."""
    read_predicate(text)
    return text


def _is_lasting(text: str) -> str:
    if depends_on_day(read_predicate(text)):
        raise ValueError(
            "a condition on related rows cannot name `today`: which rows meet it would change without a write"
        )
    return text


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
    where: Annotated[str, AfterValidator(_is_lasting)] | None = None
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
        found = _TEXT.sub(lambda match: _without_signs(match[0], match[1]), self.sql)
        if sign := next((sign for sign in _SIGNS if sign in found), None):
            raise ValueError(f"{self.sql!r} has a {sign}, which is not allowed: write mod(a, b) for a % b")
        return found


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
    def asked_of_any(self) -> str:
        """The follow-up question without the names, which says nothing about the row."""
        return self.followup.format(topic="", author="", title="")


class Vectors(Declared):
    """The pgvector column with a row's vector, and the model that made it; None: the model that embeds questions."""

    stands_for = "column"

    column: str
    model: str | None = None
