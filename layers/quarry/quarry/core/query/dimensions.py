"""Everything that the rooms of language find in a question: numbers, money, dates, lengths of time and places."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

from quarry.core.language.tokens import Token
from quarry.core.query.mention import DateRange, Mention

_YEAR = re.compile(r"(?:(in|from|since|before) )?(\d{4})\b")


def find_dimensions(text: str, tokens: Sequence[Token], reference_date: datetime.date, locale: str) -> list[Mention]:
    """Candidates of all rooms, in no order; they may overlap."""
    found = []
    for m in _YEAR.finditer(text):
        year = int(m[2])
        first, last = datetime.date(year, 1, 1), datetime.date(year, 12, 31)
        value = DateRange(first, last, grain="year")
        if m[1] == "since":
            value = DateRange(first, None, grain="year")
        if m[1] == "before":
            value = DateRange(None, datetime.date(year - 1, 12, 31), grain="year")
        found.append(Mention(value, m.start(), m.end()))
    return found
