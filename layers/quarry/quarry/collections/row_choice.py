"""What a collection takes of its source: which rows, and whose vectors. Pure."""

from __future__ import annotations

import re
from typing import Annotated, LiteralString

from pydantic import BeforeValidator, ConfigDict, Field

from quarry.platform.lazy_model import LazyModel

_TEXT = re.compile(r"""(E?)'((?:[^']|'')*)'|"(?:[^"]|"")*\"""")
_SIGNS: dict[str, LiteralString] = {"%": "37", "{": "123", "}": "125"}
"""What a statement with parameters, or a template of SQL, takes for a place, by its code."""


class RowCondition(LazyModel):
    """Which rows a collection has: a boolean expression in SQL over columns of the row, and the names of these once Postgres has
    read it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    sql: Annotated[str, Field(min_length=1, max_length=500)]
    columns: tuple[str, ...] = ()

    @property
    def statement(self) -> LiteralString:
        """The expression, as statements with parameters can have it. Raises ValueError for what none can have."""
        found = _TEXT.sub(lambda match: _without_signs(match[0], match[1]), self.sql)
        if sign := next((sign for sign in _SIGNS if sign in found), None):
            raise ValueError(f"{self.sql!r} has a {sign}, which cannot stand there: write mod(a, b) for a % b")
        return found


def _without_signs(text: str, prefix: str) -> LiteralString:
    if text[0] == '"' or not set(_SIGNS) & {*text}:
        return text
    quote = f"{prefix}'"
    for sign, code in _SIGNS.items():
        text = text.replace(sign, f"' || chr({code}) || {quote}")
    return f"({text})"


class Vectors(LazyModel):
    """The column of pgvector that holds a row's vector, and the model that made it; None: the one that embeds questions."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    column: str
    model: str | None = None


def _as_condition(given: object) -> object:
    return {"sql": given} if isinstance(given, str) else given


def _as_vectors(given: object) -> object:
    return {"column": given} if isinstance(given, str) else given


Where = Annotated[RowCondition, BeforeValidator(_as_condition)]
VectorColumn = Annotated[Vectors, BeforeValidator(_as_vectors)]
