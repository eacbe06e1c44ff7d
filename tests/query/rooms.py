"""The dimensions as the tests call them: a text in, mentions out."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Any

from quarry.language.word_forms import tokenise
from quarry.spans.dates import find_dates
from quarry.spans.mention import DateRange, Duration, Mention, MoneyRange, NumberRange, Place, PlaceKind
from quarry.spans.money import find_money
from quarry.spans.numbers import find_durations, find_numbers
from quarry.spans.places import find_places

TODAY = datetime.date(2024, 5, 15)


@dataclass(frozen=True)
class Room:
    find: Callable[[str], list[Mention]]
    value: Callable[..., Any]
    shown: Callable[[Any], dict[str, Any]] = methodcaller("_asdict")


def _place(kind: PlaceKind, name: str, within: str | None = None) -> Place:
    return Place(kind, name, (), within=within)


ROOMS = {
    "dates": Room(lambda text: find_dates(text, tokenise(text), TODAY), DateRange),
    "numbers": Room(lambda text: find_numbers(text, tokenise(text)), NumberRange),
    "money": Room(lambda text: find_money(text, tokenise(text)), MoneyRange),
    "places": Room(
        lambda text: find_places(text, tokenise(text)), _place, lambda place: place._asdict() | {"names": ()}
    ),
    "durations": Room(
        lambda text: find_durations(text, tokenise(text)),
        Duration,
        lambda length: {"least": length.least, "most": length.most},
    ),
}


def apart(mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions in order, none within another: of those that overlap the longest."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda each: (each.start - each.end, each.is_latent)):
        if all(mention.end <= other.start or other.end <= mention.start for other in kept):
            kept.append(mention)
    return sorted(kept, key=lambda each: each.start)
