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
    a name is taken apart, which takes ten times as long as to look.
    """
    given = SQL("{}::text[]").format(parameters.parameter(list(names)))
    patterns = parameters.parameter([piece_pattern(name) for name in names])
    return SQL(
        "({value} = any({given}) or ({value} like any({patterns}::text[]) and place_parts({value}) && {given}))"
    ).format(value=SQL("({}::text)").format(value), given=given, patterns=patterns)
