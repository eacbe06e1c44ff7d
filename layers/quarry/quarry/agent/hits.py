"""What a search of any source finds."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest

from quarry.platform.lazy_model import LazyModel


class Hit(LazyModel):
    """A row that was found: `text` is the passage that speaks for it."""

    source: str
    id: str
    title: str
    text: str
    date: datetime.date | None = None
    url: str | None = None


def interleaved(lists: Iterable[Sequence[Hit]]) -> list[Hit]:
    """One list of several ranked ones, whose scores cannot be compared: the best of each, then the second best of each."""
    return [hit for hit in chain.from_iterable(zip_longest(*lists)) if hit is not None]
