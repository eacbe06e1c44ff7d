"""Bounds as words and signs put them around an amount: "more than 5", "at least", "between 5 and 10", "5–10", "or fewer"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

LEAD_CHARACTERS_MAX = 40
"""So far before an amount the words begin that bound it."""
ABOUT_SHARE = 0.2
""""About 100" is what differs from it by a fifth at most."""


@dataclass(frozen=True)
class Amount:
    """A number at `text[start:end]`, its scale ("k", "million") and what it counts (`unit`) included, where they follow.

    `at_least`: a plus sign says so ("5+ years").
    """

    start: int
    end: int
    value: float
    scale: float = 1.0
    unit: str | None = None
    at_least: bool = False


AmountType = TypeVar("AmountType", bound=Amount)


@dataclass(frozen=True)
class Bounds:
    """From `least` to `most`, None being open, as `text[start:end]` says. `is_bare`: a number that nothing compares."""

    start: int
    end: int
    amounts: tuple[Amount, ...]
    least: float | None = None
    most: float | None = None
    includes_least: bool = True
    includes_most: bool = True
    is_bare: bool = False


def find_bounds(text: str, amounts: Sequence[Amount]) -> list[Bounds]:
    """What the amounts of a text (in order, apart) are compared with. Amounts that make up a range are in one."""
    found: list[Bounds] = []
    for low, high in paired(text, amounts):
        lead = _lead(text, low.start)
        bounds = _range(low, high, lead) if high else _compared(text, low, lead)
        if found and (both := _both(text, found[-1], bounds)):
            found[-1] = both
        else:
            found.append(bounds)
    return found


@dataclass(frozen=True)
class _Lead:
    """What the words right before an amount say of it, and where they begin."""

    kind: str
    start: int


def _lead(text: str, amount: int) -> _Lead:
    begin = max(0, amount - LEAD_CHARACTERS_MAX)
    said = text[begin:amount]
    # most numbers of a long list have only others before them
    match = _before().search(said) if _SAYS_SOMETHING.search(said) else None
    return _Lead(match.lastgroup or "", begin + match.start()) if match else _Lead("", amount)


def _in_one_range(text: str, low: Amount, high: Amount) -> bool:
    """Whether two amounts, one right behind the other, are the ends of a range."""
    gap = text[low.end : high.start]
    return bool(_TO.fullmatch(gap) or (_AND.fullmatch(gap) and _lead(text, low.start).kind == "between"))


def paired(text: str, amounts: Sequence[AmountType]) -> Iterator[tuple[AmountType, AmountType | None]]:
    """The amounts in order, each with the other end of its range where it begins one."""
    place = 0
    while place < len(amounts):
        low, high = amounts[place], amounts[place + 1] if place + 1 < len(amounts) else None
        if high and _in_one_range(text, low, high):
            yield low, high
            place += 1
        else:
            yield low, None
        place += 1


def _range(low: Amount, high: Amount, lead: _Lead) -> Bounds:
    # "5–10 million"
    if low.scale == 1 < high.scale and low.value < high.value / high.scale:
        low = replace(low, value=low.value * high.scale)
    least, most = sorted((low.value, high.value))
    start = lead.start if lead.kind in ("between", "about") else low.start
    return Bounds(start, high.end, (low, high), least, most)


def _compared(text: str, amount: Amount, lead: _Lead) -> Bounds:
    value, start, end = amount.value, lead.start, amount.end
    kind = lead.kind
    if kind in ("", "about", "between"):
        behind = _behind().match(text, end)
        if behind:
            kind, start, end = behind.lastgroup or "", amount.start, behind.end()
        elif amount.at_least:
            kind, start = "from", amount.start
    whole = Bounds(start, end, (amount,), value, value)
    match kind:
        case "over":
            return replace(whole, most=None, includes_least=False)
        case "from":
            return replace(whole, most=None)
        case "under":
            return replace(whole, least=None, includes_most=False)
        case "upto":
            return replace(whole, least=None)
        case "about":
            return replace(whole, least=round(value * (1 - ABOUT_SHARE), 6), most=round(value * (1 + ABOUT_SHARE), 6))
        case "exactly":
            return whole
        case _:
            return replace(whole, start=amount.start, is_bare=True)


def _both(text: str, lower: Bounds, upper: Bounds) -> Bounds | None:
    """ "More than 5 and fewer than 10" as one."""
    if not _BUT.fullmatch(text[lower.end : upper.start]):
        return None
    if lower.least is None:
        lower, upper = upper, lower
    if lower.most is not None or upper.least is not None or lower.least is None or upper.most is None:
        return None
    return replace(
        lower,
        start=min(lower.start, upper.start),
        end=max(lower.end, upper.end),
        amounts=(*lower.amounts, *upper.amounts),
        most=upper.most,
        includes_most=upper.includes_most,
    )


_SAYS_SOMETHING = re.compile(r"[^\W\d]|[<=>≤≥~≈]")
_TO = re.compile(r"\s{0,3}+(?:[-–—]|\b(?:to|through|till|until)\b)\s{0,3}+", re.IGNORECASE)
_AND = re.compile(r"\s{1,3}+and\s{1,3}+", re.IGNORECASE)
_BUT = re.compile(r"\s{0,3}+,?\s{0,3}+(?:and|but)\s{1,3}+", re.IGNORECASE)

_GREATER = (
    r"(?:more\s+expensive|more|greater|larger|bigger|higher|longer|older|taller|heavier|wider|deeper|faster|thicker|"
    r"costlier|dearer)"
)
_SMALLER = r"(?:less\s+expensive|fewer|less|lower|smaller|shorter|cheaper|younger|lighter|narrower|slower|thinner)"
_OF = r"(?:\s+(?:of|is|as))?"


@cache
def _before() -> re.Pattern[str]:
    """Words and signs that end right before an amount."""
    return re.compile(
        r"(?:^|(?<=[\s(,;:\w]))(?:"
        rf"(?P<upto>\b(?:at\s+(?:the\s+)?most|up\s?to|upto|max(?:imum)?\b\.?{_OF}|not?\s+{_GREATER}\s+than|no\s+over|"
        rf"not\s+(?:over|above|exceeding)|within|as\s+(?:many|much)\s+as|capped\s+at)|≤|<=|=<)"
        rf"|(?P<from>\b(?:at\s+(?:the\s+)?least|min(?:imum)?\b\.?{_OF}|not?\s+{_SMALLER}\s+than|not\s+(?:under|below)|"
        r"starting\s+(?:at|from|with))|≥|>=|=>)"
        rf"|(?P<over>\b(?:{_GREATER}\s+than|over|above|exceed(?:s|ing)?|upwards?\s+of|in\s+excess\s+of|north\s+of|beyond)|>)"
        rf"|(?P<under>\b(?:{_SMALLER}\s+than|under|below|short\s+of)|<)"
        r"|(?P<between>\b(?:(?:anywhere\s+)?(?:between|from)))"
        r"|(?P<about>\b(?:about|around|approx(?:imately)?\b\.?|roughly|nearly|almost|circa|some)|~|≈)"
        r"|(?P<exactly>\b(?:exactly|precisely)|(?<![<>])=)"
        r")(?:\s+(?:a|an|the))?\s*$",
        re.IGNORECASE,
    )


@cache
def _behind() -> re.Pattern[str]:
    """Words and signs that begin right behind an amount."""
    return re.compile(
        rf"\s{{0,3}}+(?P<from>\+(?!\w)|(?:plus|upwards?|minimum|and\s+up)\b|(?:or|and)\s+(?:{_GREATER}|above|over|up|upwards?|beyond)\b)"
        rf"|\s{{0,3}}+(?P<upto>(?:max(?:imum)?|at\s+(?:the\s+)?most|tops)\b|(?:or|and)\s+(?:{_SMALLER}|under|below)\b)",
        re.IGNORECASE,
    )
