"""Lines made of a row's columns, as `quarry.toml` writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


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
