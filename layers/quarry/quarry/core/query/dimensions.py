"""Everything that the rooms of language find in a question: numbers, dates, lengths of time, money and places."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from quarry.core.language.tokens import Token
from quarry.core.query.dates import find_dates
from quarry.core.query.mention import Mention
from quarry.core.query.money import find_money
from quarry.core.query.numbers import find_durations, find_numbers
from quarry.core.query.places import find_places


def find_dimensions(text: str, tokens: Sequence[Token], reference_date: datetime.date) -> list[Mention]:
    """Candidates of all rooms, in no order; they may overlap."""
    return [
        *find_dates(text, tokens, reference_date),
        *find_numbers(text, tokens),
        *find_durations(text, tokens),
        *find_money(text, tokens),
        *find_places(text, tokens),
    ]
