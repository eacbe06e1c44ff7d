"""Salaries as recruiters in India write them, in Indian rupees a year: "INR 80,000/month", "12 LPA", "up to ₹18 lakh"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

MONTHS = 12
SALARY_MIN, SALARY_MAX = 10_000.0, 1e9
"""What is less or more a year is no salary."""

YEARLY_MIN = 200_000.0
"""An amount in rupees without a period is a year's from here on; a smaller one may be a month's."""

AMOUNT_WITH_PERIOD_MIN = 5_000.0
"""A smaller number "a month" that is not called rupees counts something else."""

LEAD_CHARACTERS_MAX = 80
"""So far before an amount stands what says of which kind it is."""

_LPA = ("lpa", "l.p")
_SCALES = {"k": 1e3, "t": 1e3, "l": 1e5, "c": 1e7}


@dataclass(frozen=True)
class SalaryMention:
    """A salary at `text[start:end]`, the upper end of a range; None where it does not say clearly what is offered a year."""

    start: int
    end: int
    inr_per_year: float | None


def find_salaries(text: str) -> list[SalaryMention]:
    """The salaries that a text names, in order. Other numbers (users, budgets, revenues) are none."""
    mentions: list[SalaryMention] = []
    for match in _amount().finditer(text):
        lead = _lead(text, match.start())
        if _is_salary(match, text, lead):
            value = None if match["foreign"] or lead.is_floor else _yearly(match)
            mentions.append(SalaryMention(lead.start, match.end(), value))
    return mentions


def offered_salary(text: str) -> float | None:
    """The salary that a text clearly offers, INR a year; None where it names none, or more than one."""
    values = {mention.inr_per_year for mention in find_salaries(text) if mention.inr_per_year is not None}
    return values.pop() if len(values) == 1 else None


_CEILING = frozenset("under upto up max maximum below within less most around about approx approximately < <=".split())
_FLOOR = frozenset("above over min minimum least more greater exceeding > >=".split())
_OFFER = frozenset("pay paying pays offer offering offers budget".split())
_MONEY = _OFFER | frozenset(
    "salary salaries ctc package stipend compensation expecting expects expected expectation remuneration wage".split()
)
_GLUE = frozenset("of is for at than to the a no not between range with : rs".split())
_NO_SALARY_VERBS = frozenset(
    """
    managed manage manages managing handled handles handling raised raising grew grown saved saving saves cut revenue turnover
    worth funding portfolio generated closed deals scaled crossed valued reduced serving sold
    """.split()
)
_NO_NOUN = frozenset(
    """
    and or but with who whose that in at for from per open only max maximum based near not available immediate immediately
    preferably preferred to as is are no less currently looking ready willing if when onwards basic gross fixed total all plus
    salary ctc package pay stipend compensation budget annual
    """.split()
)


@dataclass(frozen=True)
class _Lead:
    """The words right before an amount that say what it is, and the place where they begin."""

    words: tuple[str, ...]
    start: int
    before: tuple[str, ...]

    @property
    def is_about_money(self) -> bool:
        return any(word in _MONEY for word in self.words)

    @property
    def is_floor(self) -> bool:
        """Whether the amount is the least, and not what is offered."""
        at_least = any(word in _FLOOR for word in self.words) and not {"no", "not"} & set(self.words)
        return at_least and not any(word in _OFFER for word in self.words)


def _lead(text: str, amount: int) -> _Lead:
    """What leads in the amount at `text[amount]`."""
    offset = max(0, amount - LEAD_CHARACTERS_MAX)
    found = list(re.finditer(r"[^\W\d_]+|[<>]=?|[:,;.()]", text[offset:amount]))
    words: list[str] = []
    start = amount
    while found and (word := found[-1].group().lower()) in _CEILING | _FLOOR | _MONEY | _GLUE:
        words.append(word)
        if word not in _GLUE or word in ("no", "not", "at"):
            start = offset + found[-1].start()
        found.pop()
    return _Lead(tuple(words), start, tuple(match.group().lower() for match in found[-3:]))


def _is_salary(match: re.Match[str], text: str, lead: _Lead) -> bool:
    scale = _scale(match)
    if scale.startswith(_LPA):
        return True
    after = re.compile(r"\s*+([^\W\d_]+)").match(text, match.end())
    counts_a_noun = after is not None and after[1].lower() not in _NO_NOUN
    if counts_a_noun or any(word in _NO_SALARY_VERBS for word in lead.before):
        return False
    if match["period"]:
        return bool(scale or match["rupees"] or match["foreign"] or _number(match) >= AMOUNT_WITH_PERIOD_MIN)
    if match["foreign"] or not scale or scale[0] in "kt":
        looks_like_a_year = not scale and re.fullmatch(r"(?:19|20)\d\d", match["low"]) is not None
        return bool(match["rupees"]) or (lead.is_about_money and not looks_like_a_year)
    return True


def _yearly(match: re.Match[str]) -> float | None:
    scale = _scale(match)
    amount = _number(match) * (_SCALES[scale[0]] if scale else 1)
    period = (match["period"] or "").lower().lstrip("/ ")
    if re.search(r"mo|mth|^p\.?\s?m", period):
        amount *= MONTHS
    elif not period and not scale.startswith(_LPA) and amount < YEARLY_MIN:
        return None
    # no float noise: 1.2 crore is 12,000,000
    return round(amount, 2) if SALARY_MIN <= amount <= SALARY_MAX else None


def _scale(match: re.Match[str]) -> str:
    return (match["scale"] or match["low_scale"] or "").lower()


def _number(match: re.Match[str]) -> float:
    return float((match["high"] or match["low"]).replace(",", ""))


@cache
def _amount() -> re.Pattern[str]:
    number = r"\d+(?:,\d{2,3})*(?:\.\d+)?"
    rupees = r"(?:₹|\binr\b|\brs\b\.?|\brupees?\b)"
    scale = r"(?:lpa\b|l\.p\.a\.?|lakhs?\b|lacs?\b|crores?\b|cr\b|thousand\b|k\b|l\b)"
    period = (
        r"(?:(?:/|\bper\b|\ban?\b|\bevery\b)\s*+(?:months?|mo|mth|years?|yr|annum)\b"
        r"|\bp\.?\s?[am]\b\.?|\b(?:annually|yearly|monthly|annual)\b)"
    )
    return re.compile(
        rf"(?P<between>\bbetween\s++)?(?:(?P<foreign>[$€£]|\b(?:usd|eur|gbp|aed|sgd|cad)\b)\s*+)?(?:(?P<rupees>{rupees})\s*+)?"
        rf"(?<![\w,])(?<!\d\.)(?P<low>{number})(?![\d%])\s*+(?P<low_scale>{scale})?"
        rf"(?:\s*+(?:-|–|—|\bto\b|(?(between)and\b|(?!)))\s*+{rupees}?\s*+(?P<high>{number})(?![\d%]))?"
        rf"\s*+(?P<scale>{scale})?\s*+(?:{rupees})?(?:\s*+/-)?\s*+(?P<period>{period})?",
        re.IGNORECASE,
    )
