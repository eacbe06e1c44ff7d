"""Amounts of money in any currency: "over $5M", "₹18 lakh", "12 LPA", "80k–100k EUR a year", "raised at least 2 million"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from quarry.language.word_forms import STOP_WORDS, Token
from quarry.language.writing import DIGITS, IN_WORDS, NO_NUMERAL, SCALE, numeral_value, scale_value
from quarry.spans.mention import Mention, MoneyRange, Per
from quarry.spans.numbers import CODES, CURRENCIES, Amount, Bounds, find_bounds, paired

CONTEXT_CHARACTERS_MAX = 60
"""How far from an amount a word may mark it as money ("revenue", "raised")."""
AMOUNT_PER_PERIOD_MIN = 1000.0
"""A smaller number "a month" counts something else, unless it is called money."""


@dataclass(frozen=True)
class _Sum(Amount):
    """A number that may be money. `is_named`: a currency, or a word for pay, is next to it."""

    currency: str | None = None
    per: Per | None = None
    is_named: bool = False


def find_money(text: str, tokens: Sequence[Token]) -> list[Mention]:
    """The amounts of money in a text, in order."""
    amounts = ((bounds, _money(text, tokens, bounds)) for bounds in find_bounds(text, list(_sums(text))))
    return [Mention(money, bounds.start, bounds.end) for bounds, money in amounts if money]


def _money(text: str, tokens: Sequence[Token], bounds: Bounds) -> MoneyRange | None:
    """The bounds as money, if a currency, a word for pay, or a word before or after them marks them as money."""
    sums = [each for each in bounds.amounts if isinstance(each, _Sum)]
    currency = next((each.currency for each in sums if each.currency), None)
    per = next((each.per for each in sums if each.per), None)
    context = None
    if per is None or not any(each.is_named for each in sums):
        context = _context_before().search(text[max(0, bounds.start - CONTEXT_CHARACTERS_MAX) : bounds.start])
        behind = _context_behind().match(text, bounds.end)
        is_money = bool((context and not _counts_a_noun(tokens, bounds)) or behind)
        if not any(each.is_named for each in sums) and not (is_money and not _looks_like_years(text, sums)):
            return None
    if per is None and context and context["per"]:
        per = _per(context["per"])
    return MoneyRange(*bounds.range, currency, per)


def _looks_like_years(text: str, sums: Sequence[_Sum]) -> bool:
    return all(re.fullmatch(r"[12]\d{3}", text[each.start : each.end]) for each in sums)


def _counts_a_noun(tokens: Sequence[Token], bounds: Bounds) -> bool:
    """ "Raised 3 children"."""
    place = bisect_left(tokens, bounds.end, key=lambda token: token.start)
    if place == len(tokens) or tokens[place].ends_clause:
        return False
    word = tokens[place].key
    return word not in STOP_WORDS and not _CONTEXT_NOUNS.fullmatch(word)


def _sums(text: str) -> Iterator[_Sum]:
    """The numbers in a text with their currency and period. The ends of a range share these."""
    sums = [each for match in _amount().finditer(text) if (each := _sum(match))]
    for low, high in paired(text, sums):
        if high:
            low = replace(low, currency=low.currency or high.currency, per=low.per or high.per)
            yield replace(low, is_named=low.is_named or high.is_named)
            yield high
        else:
            yield low


def _sum(match: re.Match[str]) -> _Sum | None:
    scale = match["scale"] or ""
    value = numeral_value(match["number"] or "")
    if value is None:
        return None
    currency = _currency(match["before"] or match["behind"] or "")
    per: Per | None = "year" if match["lpa"] else _per(match["per"] or "")
    if match["lpa"]:
        value, scale = value * 1e5, "lakh"
    is_pay = bool(match["lpa"]) or (per is not None and (bool(scale) or value >= AMOUNT_PER_PERIOD_MIN))
    is_named = bool(match["before"] or match["behind"]) or is_pay
    return _Sum(
        match.start(), match.end(), value, scale_value(scale), None, bool(match["plus"]), currency, per, is_named
    )


_SIGNS = {
    "us$": "USD", "a$": "AUD", "au$": "AUD", "c$": "CAD", "ca$": "CAD", "s$": "SGD", "hk$": "HKD", "nz$": "NZD", "r$": "BRL",
    "$": "USD", "€": "EUR", "£": "GBP", "₹": "INR", "¥": "JPY", "₩": "KRW", "₦": "NGN", "₺": "TRY", "₽": "RUB", "₱": "PHP",
    "₫": "VND", "₪": "ILS", "฿": "THB", "₴": "UAH", "₵": "GHS",
}  # fmt: skip
_CONTEXT_NOUNS = re.compile(
    r"(?:salar(?:y|ies)|ctc|compensation|package|stipend|wages?|income|pay|budgets?|revenues?|turnover|sales|funding|investments?|"
    r"valuations?|arr|mrr|profits?|earnings|costs?|prices?|fees?|capital|grants?|seed|rent|assets|spend(?:ing)?)",
    re.IGNORECASE,
)


def _currency(word: str) -> str | None:
    word = word.strip().lower().rstrip(".")
    return _SIGNS.get(word) or CURRENCIES.get(word) or CURRENCIES.get(word.removesuffix("s")) or (word.upper() or None)


def _per(word: str) -> Per | None:
    word = word.lower().lstrip("/ ")
    if not word:
        return None
    for letters, per in _PERIODS:
        if re.search(letters, word):
            return per
    return None


_PERIODS: tuple[tuple[str, Per], ...] = (
    (r"mo|mth|^p\.?\s?m", "month"),
    (r"week|wk", "week"),
    (r"hour|hr", "hour"),
    (r"day|daily|diem", "day"),
    (r"year|yr|ann|^p\.?\s?a", "year"),
)


@cache
def _amount() -> re.Pattern[str]:
    signs = "|".join(re.escape(sign) for sign in _SIGNS)
    codes = "|".join(CODES)
    words = "|".join(sorted(CURRENCIES, key=len, reverse=True))
    period = (
        r"(?:(?:/|\bper\b|\ban?\b|\bevery\b)\s{0,2}+(?:months?|mo|mth|years?|yr|annum|weeks?|wk|days?|diem|hours?|hr)\b"
        r"|\bp\.?\s?[am]\b\.?|\b(?:annually|yearly|monthly|hourly|weekly|daily)\b)"
    )
    return re.compile(
        rf"(?<![\w.]){NO_NUMERAL}|(?:(?P<before>(?<![\w$])(?:{signs})|\b(?:{codes}|rs|rupees)\b\.?)\s{{0,2}}+)?"
        rf"(?<![\w,#:])(?<!\d\.)(?:(?P<number>{DIGITS}(?P<scale>{SCALE}|l\b)?|\b(?!one\b(?!\s+(?:hundred|thousand|million|billion)))"
        rf"{IN_WORDS})(?P<plus>\+)?)(?!\d|[.,]\d|%|:\d)"
        rf"(?:\s{{0,2}}+(?P<lpa>lpa\b|l\.p\.a\.?|lakhs?\s(?:p\.?a\b\.?|per\s(?:year|annum))))?"
        rf"(?:\s{{0,2}}+(?P<behind>(?:{signs})(?!\w)|(?:{codes}|(?:{words})s?)\b\.?))?(?:\s?/-)?(?:\s{{0,2}}+(?P<per>{period}))?",
        re.IGNORECASE,
    )


@cache
def _context_before() -> re.Pattern[str]:
    return re.compile(
        rf"\b(?:(?P<per>annual|yearly|monthly|weekly|daily|hourly)\s+)?(?:{_CONTEXT_NOUNS.pattern}|rais(?:ed|ing|es)|worth|valued|"
        r"pay(?:s|ing)|paid|earn(?:s|ing|ed)?|cost(?:s|ing)|priced|invested|expecting|expects)"
        r"(?:\s+(?:of|is|are|was|at|in|to|for|ctc|salary|per|annum|a|an|them|back|range|ranging))*\s*[:=]?\s*$",
        re.IGNORECASE,
    )


@cache
def _context_behind() -> re.Pattern[str]:
    return re.compile(
        rf"\s{{1,2}}+(?:(?:in|of|as)\s{{1,2}}+)?(?:(?:annual|yearly|monthly|seed|total|venture)\s{{1,2}}+)?{_CONTEXT_NOUNS.pattern}\b",
        re.IGNORECASE,
    )
