"""What the candidates of a reading agree on, each counting by its probability. Pure."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from quarry.language.tokens import phrase, tokenise
from quarry.platform.contract import Assertion, Evidence
from quarry.platform.text import STOP_WORDS
from quarry.query.algebra import Comparison, Condition
from quarry.query.paths import MONTH
from quarry.reader.candidates import Candidate
from quarry.reader.names import FieldName
from quarry.reader.reading import Reading
from quarry.reader.said import Place, Said, SaidDays, SaidValue

NOT_EQUAL = "!="
NEAR_MAX = 2
"""So many words may stand between a value and the name of its field."""
_CONDITION: TypeAdapter[Condition] = TypeAdapter(Condition)


@dataclass(frozen=True)
class LikelyCondition:
    """A condition that a question may state: how likely it does, which fields it compares, and the words that say it, as bits.
    `said` is how much of its values was said, 1 where all was.
    """

    condition: Condition
    chance: float
    fields: frozenset[str]
    ops: frozenset[str]
    mask: int
    is_denied: bool
    said: float


def likely_conditions(reading: Reading) -> list[LikelyCondition]:
    """The conditions of the candidates, the likeliest first: the chances of candidates with the same condition add up."""
    chances: defaultdict[str, float] = defaultdict(float)
    said: dict[str, tuple[Mapping[str, Any], int]] = {}
    for candidate, chance in reading.shares:
        for each in candidate.query.get("where", ()):
            key = json.dumps(each, sort_keys=True)
            chances[key] += chance
            said.setdefault(key, (each, candidate.mask))
    found = [_likely(reading.said, *said[key], chance) for key, chance in chances.items()]
    return sorted(filter(None, found), key=lambda each: -each.chance)


def _likely(said: Said, condition: Mapping[str, Any], mask: int, chance: float) -> LikelyCondition | None:
    compared = list(comparisons([condition]))
    try:
        read = _CONDITION.validate_python(condition)
    except ValidationError:
        return None
    if not compared:
        return None
    words, share = 0, 1.0
    for field, _, values, _ in compared:
        words |= _words_of(said, field, values)
        share = min(share, *(_share_said(said, str(value)) for value in values), 1.0)
    fields = frozenset(field for field, *_ in compared)
    ops = frozenset(op for _, op, *_ in compared)
    is_denied = all(denied for *_, denied in compared)
    return LikelyCondition(in_any_year(read, said), chance, fields, ops, words & mask, is_denied, share)


def _words_of(said: Said, field: str, values: Sequence[Any]) -> int:
    """The words that mean one of these values, with those near them that name the field; of none that name it at all."""
    texts = {str(value) for value in values}
    numbers = {float(value) for value in values if isinstance(value, int | float)}
    places = [
        *(each.place for each in said.values if any(link.value in texts for link in each.links)),
        *(each.place for each in said.numbers if numbers & {each.least, each.most}),
        *(each.place for each in said.days if texts & {*_said_days(each)} or _is_month_of(each, values)),
    ] or [each.place for each in said.lengths if values]
    mask = 0
    for place in places:
        mask |= place.mask
    for named, names in said.named.items():
        for name in names if isinstance(named, FieldName) and named.name == field else ():
            if not places or any(_are_near(name, place) for place in places):
                mask |= name.mask
    return mask


def _share_said(said: Said, value: str) -> float:
    """How many of the words of a value were said; 1 of one that was not looked up."""
    shares = [
        1.0 if link.is_whole else (each.place.last - each.place.first) / max(1, len(tokenise(value)))
        for each in said.values
        for link in each.links
        if link.value == value
    ]
    return max(shares, default=1.0)


def _said_days(said: SaidDays) -> Iterator[str]:
    """The days of a time, as conditions have them: dates and years."""
    for day in (said.days.first, said.days.last):
        if day is not None:
            yield day.isoformat()
            yield str(day.year)


def _are_near(one: Place, other: Place) -> bool:
    return one.first - other.last <= NEAR_MAX and other.first - one.last <= NEAR_MAX


def in_any_year(condition: Condition, said: Said) -> Condition:
    """A condition that compares a date with a month that is said without a year, as one on that month of any year."""
    if isinstance(condition, Comparison) and condition.op == "between":
        for each in said.days:
            if _is_month_of(each, condition.scalars):
                return Comparison(field=f"{MONTH}({condition.field})", values=tuple(sorted(each.days.months)))
    return condition


def _is_month_of(said: SaidDays, values: Sequence[Any]) -> bool:
    """Whether months without a year are those of two days."""
    months = said.days.months
    return bool(months) and [str(value)[5:7] for value in values] == [
        f"{each:02}" for each in (min(months), max(months))
    ]


def words_left(said: Said, mask: int) -> str:
    """The words that are not in `mask`, as they stand, without small words at either end."""
    kept = [place for place in range(len(said.tokens)) if not mask >> place & 1]
    while kept and said.tokens[kept[0]].key in STOP_WORDS:
        kept.pop(0)
    while kept and said.tokens[kept[-1]].key in STOP_WORDS:
        kept.pop()
    return " ".join(said.tokens[place].text for place in kept)


def evidence(said: Said, first: int, last: int, field: str, assertion: Assertion, value: str = "") -> Evidence:
    """The words `first` to before `last` as what says the value of a field; without a value they are it."""
    return Evidence(
        field=field,
        value=value or phrase(said.text, said.tokens, first, last),
        start=said.tokens[first].start,
        end=said.tokens[last - 1].end,
        assertion=assertion,
    )


def ruled_out(reading: Reading, least: float) -> list[SaidValue]:
    """The values that a question rules out, with at least this probability, and more likely than it asks for them."""
    found: list[SaidValue] = []
    for value in reading.said.values:
        chances = chances_of(value, reading.shares)
        if chances.denied >= max(least, chances.asked_for):
            found.append(value)
    return found


@dataclass(frozen=True)
class ValueChances:
    """How likely a value is asked for and how likely it is ruled out, in all and by field, and how likely each field is compared
    with it.
    """

    asked_for: float
    denied: float
    of_field: Mapping[str, float]
    asked_of: Mapping[str, float]
    denied_of: Mapping[str, float]


def chances_of(value: SaidValue, candidates: Iterable[tuple[Candidate, float]]) -> ValueChances:
    """What candidates, each with its probability, make of a value."""
    meant = {link.value for link in value.links}
    asked_for = denied = 0.0
    of_field: defaultdict[str, float] = defaultdict(float)
    asked_of: defaultdict[str, float] = defaultdict(float)
    denied_of: defaultdict[str, float] = defaultdict(float)
    for candidate, chance in candidates:
        said = [each for each in comparisons(candidate.query.get("where", ())) if meant & set(map(str, each[2]))]
        asked_for += chance * any(not each[3] for each in said)
        denied += chance * any(each[3] for each in said)
        for name in {each[0] for each in said}:
            of_field[name] += chance
        for name, is_denied in {(each[0], each[3]) for each in said}:
            (denied_of if is_denied else asked_of)[name] += chance
    return ValueChances(asked_for, denied, of_field, asked_of, denied_of)


def comparisons(
    where: Sequence[Mapping[str, Any]], *, is_denied: bool = False
) -> Iterator[tuple[str, str, tuple[Any, ...], bool]]:
    """All comparisons: of each the field, the operator, the values, and whether it must not hold."""
    for each in where:
        if "not" in each:
            yield from comparisons([each["not"]], is_denied=not is_denied)
        elif "field" in each:
            values = each.get("values", [each["value"]] if "value" in each else [])
            if not any(isinstance(value, Mapping) for value in values):
                op = each.get("op", "=")
                yield each["field"], op, tuple(values), is_denied != (op == NOT_EQUAL)
        else:
            yield from comparisons(each.get("where") or each.get("any_of") or (), is_denied=is_denied)
