"""Lines that are made of a row's columns, as `quarry.toml` writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Placed:
    """A column in a template."""

    column: str


Template = Sequence["str | Placed | Template"]
"""Texts, columns, and parts that are left out where a column in them is empty."""


def is_template(line: str) -> bool:
    """Whether it is more than the name of a column."""
    return "{" in line


def parse(template: str) -> Template:
    """A template, `"{title}[, {city}]"`: columns in braces, and in brackets parts that are left out where a column in them is
    empty. A text without braces is the name of a column. Raises ValueError for a bracket that is alone.
    """
    if not is_template(template):
        return [Placed(template)]
    open_parts: list[list[Any]] = [[]]
    for piece in re.findall(r"\{[^{}]+\}|[\[\]]|[^{}\[\]]+|[{}]", template):
        if piece == "[":
            open_parts.append([])
        elif piece == "]" and len(open_parts) > 1:
            part = open_parts.pop()
            open_parts[-1].append(part)
        elif piece in "[]{}":
            raise ValueError(f"{template!r} has a {piece} alone")
        else:
            open_parts[-1].append(Placed(piece[1:-1]) if piece[0] == "{" else piece)
    if len(open_parts) > 1:
        raise ValueError(f"{template!r} has a [ alone")
    return open_parts[0]


def line_columns(lines: Iterable[str]) -> tuple[str, ...]:
    """The columns that lines are made of, each once."""

    def of(template: Template) -> Iterator[str]:
        for part in template:
            if isinstance(part, Placed):
                yield part.column
            elif not isinstance(part, str):
                yield from of(part)

    return tuple(dict.fromkeys(column for line in lines for column in of(parse(line))))


def split_template(template: str) -> list[tuple[str, bool]]:
    """A template as its literal texts and the columns in braces, in order, each with whether it is a column."""
    pieces = re.split(r"\{([^{}]+)\}", template)
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]


def template_columns(template: str) -> list[str]:
    """The columns that a template names."""
    return [piece for piece, is_column in split_template(template) if is_column]
