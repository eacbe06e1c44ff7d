"""The condition that a text names a place. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from psycopg.sql import SQL, Composable, Composed

from quarry.platform.text import piece_pattern


class _Parameters(Protocol):
    def parameter(self, value: object) -> Composable: ...


def is_place_among(value: Composable, names: Sequence[str], parameters: _Parameters) -> Composed:
    """The SQL condition that a text is one of these places, or names one between commas and the like. Only a text that contains
    a name is taken apart, which takes ten times as long as to look; not one that ends with a name after a comma.
    """
    array = SQL("{}::text[]").format(parameters.parameter(list(names)))
    patterns = [piece_pattern(name) for name in names]
    last = [f"%, {pattern[1:-1]}" for name, pattern in zip(names, patterns, strict=True) if _is_one_part(name)]
    return SQL(
        "({value} = any({given}) or ({value} like any({patterns}::text[])"
        " and ({value} like any({last}::text[]) or place_parts({value}) && {given})))"
    ).format(
        value=SQL("({}::text)").format(value),
        given=array,
        patterns=parameters.parameter(patterns),
        last=parameters.parameter(last),
    )


def _is_one_part(name: str) -> bool:
    """Whether a name holds nothing that could part a text."""
    return name == name.strip() and name.replace(" ", "").isalpha()
