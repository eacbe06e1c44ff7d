"""What a declaration says of rows in other tables."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from quarry.collections.naming import table_name
from quarry.collections.templates import parse
from quarry.platform.lazy_model import LazyModel


class Declared(LazyModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


def one_or_many(value: object) -> object:
    return [value] if isinstance(value, str) else value


Columns = Annotated[tuple[str, ...], BeforeValidator(one_or_many)]


def _is_table(name: str) -> str:
    table_name(name)
    return name


TableName = Annotated[str, AfterValidator(_is_table)]


def _is_line(line: Any) -> Any:
    if isinstance(line, str):
        parse(line)
    return line


class Referred(Declared):
    """A value in another table: the `title`, a line, of the row of table `of` whose `key` is in column `by`; or what such a row
    refers to itself.
    """

    by: str
    of: TableName
    key: str | None = None
    title: Annotated[str | Referred, AfterValidator(_is_line)]


class Parent(Declared):
    """What rows are part of: the row of table `of` whose `key` is in column `by`, of which the columns `show` are shown."""

    by: str
    of: TableName
    key: str | None = None
    show: Annotated[Columns, Field(min_length=1)]


class LinkDeclaration(Declared):
    """What rows refer to that gives them no name: the row of table `of` whose columns `key` hold what the columns `by` do. `of`
    and `key` are left out where a foreign key says them.
    """

    by: Annotated[Columns, Field(min_length=1)]
    of: TableName | None = None
    key: Columns = ()

    @model_validator(mode="before")
    @classmethod
    def _from_columns(cls, value: object) -> object:
        return {"by": value} if isinstance(value, str | list) else value

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.key and len(self.key) != len(self.by):
            raise ValueError("`by` and `key` name as many columns as each other")
        if self.key and self.of is None:
            raise ValueError("`key` are columns of the table `of`, which is missing")
        return self
