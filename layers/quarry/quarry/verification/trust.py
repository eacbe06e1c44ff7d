"""What goes into the check of an answer and comes out of it, by itself: opening a kept answer needs nothing of the check."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Literal

Level = Literal["high", "medium", "low"]


@dataclass(frozen=True)
class Trust:
    """A level, and its ground in words."""

    level: Level
    label: str


@dataclass(frozen=True)
class SourceText:
    """A source of an answer, by its number: all of its text, and who says it."""

    n: int
    title: str
    body: str
    topic: str = ""
    author: str = ""
    date: datetime.date | None = None
