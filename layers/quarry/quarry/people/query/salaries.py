"""What is offered: a salary, INR a year."""

from __future__ import annotations

from quarry.people.query.draft import Draft
from quarry.spans.mention import Cue, Mention, MoneyRange, NumberRange

SALARY_MIN, SALARY_MAX = 10_000.0, 1e9
"""What is less or more a year is no salary."""
BARE_SALARY_MIN = 200_000.0
"""A number without a currency or a period is a year's salary from here on."""

_PER_YEAR = {"year": 1, "month": 12, "week": 52, None: 1}


def take_amounts(draft: Draft) -> None:
    """Amounts that are no conditions of the data: nobody says in rupees what a salary is."""
    bare = [place for place in range(len(draft.parsed.mentions)) if _is_bare_salary(draft, place)]
    asked = [draft.said_by([missing.evidence]) for missing in draft.question.unanswerable]
    for place in dict.fromkeys([*bare, *asked]):
        mention = None if place is None else draft.parsed.mentions[place]
        if mention is not None and isinstance(mention.value, (NumberRange, MoneyRange)):
            take_salary(draft, mention, mention.value)


def take_salary(draft: Draft, mention: Mention, range: MoneyRange | NumberRange) -> None:
    """What is offered at most; what is not clear is kept as words."""
    must = draft.constraints.must
    amount = _a_year(range)
    if amount is not None and must.offer_salary_inr_per_year == round(amount, 2):
        return
    if amount is None or not SALARY_MIN <= amount <= SALARY_MAX or must.offer_salary_inr_per_year is not None:
        draft.prefer(draft.text(mention).lower())
        return
    must.offer_salary_inr_per_year = round(amount, 2)
    draft.note("must.offer_salary_inr_per_year", f"{amount:.12g}", mention)


def _a_year(range: MoneyRange | NumberRange) -> float | None:
    if range.most is None:
        return None
    if isinstance(range, NumberRange):
        return range.most if range.most >= BARE_SALARY_MIN else None
    times = _PER_YEAR.get(range.per) if range.currency in (None, "INR") else None
    return range.most * times if times else None


def _is_bare_salary(draft: Draft, place: int) -> bool:
    """Whether a number of that size counts nothing: no word follows it in its clause."""
    mention, *following = draft.parsed.mentions[place : place + 2]
    value = mention.value
    if not isinstance(value, NumberRange) or value.unit is not None or _a_year(value) is None:
        return False
    gap = draft.parsed.text[mention.end : following[0].start] if following else ""
    return not following or bool(gap.strip()) or isinstance(following[0].value, Cue)
