"""When: a time in which an experience went on, when it began or ended; and days that are ruled out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from quarry.people.query.draft import Draft
from quarry.spans.mention import DateRange, Mention
from quarry.spans.question import Condition

LEAD_CHARACTERS_MAX = 12
BESIDE_CHARACTERS = 48
"""So near to a date a word such as "joined" says what began then."""

_GRADUATED = re.compile(r"\b(?:graduates|graduate|alumni|class|batch)\s+of\b", re.IGNORECASE)
_OF = re.compile(r"\b(?:of|class of|group of|batch of)\s+$", re.IGNORECASE)


def each_said(clause: Sequence[Condition]) -> Sequence[Condition]:
    """The conditions of a clause, of alternative periods one that holds them all: an experience has one time."""
    dated = [condition for condition in clause if isinstance(condition.range, DateRange)]
    if len(dated) < 2:
        return clause[:1]
    ranges = [condition.range for condition in dated if isinstance(condition.range, DateRange)]
    firsts, lasts = [each.first for each in ranges], [each.last for each in ranges]
    whole = DateRange(
        None if None in firsts else min(first for first in firsts if first),
        None if None in lasts else max(last for last in lasts if last),
    )
    return [replace(dated[0], range=whole)]


def take_dates(draft: Draft, mention: Mention, condition: Condition, range: DateRange) -> None:
    """A time goes on in an experience, unless the words say that it began ("joined", "of 1996") or ended ("left") then."""
    first = range.first.isoformat() if range.first else None
    last = range.last.isoformat() if range.last else None
    must, exclude = draft.constraints.must, draft.constraints.exclude
    if not _is_explicit(draft.text(mention), range):
        draft.prefer(draft.text(mention).lower())
        return
    if mention.assertion == "negated" or condition.is_negated:
        exclude.time_start, exclude.time_end = first, last
        draft.note("exclude.time", draft.text(mention), mention)
        return
    which = _bound_of(draft, mention, condition)
    if which == "started":
        must.started_from, must.started_until = first or must.started_from, last or must.started_until
    elif which == "ended":
        must.ended_from, must.ended_until = first or must.ended_from, last or must.ended_until
    elif (first and must.time_start) or (last and must.time_end):
        draft.prefer(draft.text(mention).lower())
        return
    else:
        must.time_start, must.time_end = first or must.time_start, last or must.time_end
    draft.note(f"must.{which}", draft.text(mention), mention)


def _is_explicit(said: str, range: DateRange) -> bool:
    """Whether a period names its years, and does not depend on today."""
    years = [day.year for day in (range.first, range.last) if day]
    named = re.findall(r"\d{2,4}", said)
    return any(
        len(name) != 3 and str(year + by).endswith(name) for year in years for by in (-1, 0, 1) for name in named
    )


def _bound_of(draft: Draft, mention: Mention, condition: Condition) -> str:
    if condition.facet in ("end", "graduation"):
        return "ended"
    if _GRADUATED.search(draft.parsed.text[max(0, mention.start - 2 * LEAD_CHARACTERS_MAX) : mention.start + 3]):
        return "ended"
    beside = bisect_left(draft.beginnings, mention.start - BESIDE_CHARACTERS)
    begins = beside < len(draft.beginnings) and draft.beginnings[beside] <= mention.start + BESIDE_CHARACTERS
    before = draft.parsed.text[max(0, mention.start - LEAD_CHARACTERS_MAX) : mention.start]
    return "started" if begins or _OF.search(before) or _OF.match(draft.text(mention)[:3] + " ") else "time"
