"""The right answer in words, and the judgement of an answer. Pure: the same words get the same verdict."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Collection, Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from quarry.language.writing import ENGLISH, number_words, writing_of

Value = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Count = Annotated[int, Field(ge=0)]
Day = Annotated[datetime.date, Field(strict=False)]

Verdict = Literal["right", "wrong", "confidently wrong"]
"""An answer that says it found or knows nothing is at most wrong; one that asserts something else is worse."""

LISTED = 10
RELEVANT_SHARE = 0.7
"""The least share of relevant results among the first ones."""

_KINDS = ("count", "value", "values", "date", "ids", "relevant", "unanswerable")


class Expectation(BaseModel):
    """The right answer: exactly one of these, and the fields that belong to it.

    `count` is right if it is the answer's first number, or one of `also`, other readings of the question; `value` and `values`
    if the answer mentions them before any other value of `field` in the data; `date` if the answer names the day; `ids` if
    exactly these are found, and the total is their number; `relevant` if 7 of the first 10 results are among these, or 70 per
    cent of fewer; `unanswerable` if the answer says that this is not known.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    count: Count | None = None
    also: list[Count] = []
    value: Value | None = None
    values: Annotated[list[Value], Field(min_length=1, max_length=100)] | None = None
    field: Value | None = None
    date: Day | None = None
    ids: Annotated[list[Key], Field(min_length=1)] | None = None
    relevant: Annotated[list[Key], Field(min_length=1)] | None = None
    unanswerable: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        kinds = [name for name in _KINDS if getattr(self, name) is not None]
        if len(kinds) != 1:
            raise ValueError(f"must hold exactly one of {', '.join(_KINDS)}")
        if (self.field is not None) != (kinds[0] in ("value", "values")):
            raise ValueError("`field` belongs to `value` and `values`, and to nothing else")
        if self.also and self.count is None:
            raise ValueError("`also` belongs to `count`")
        return self

    @property
    def mentions(self) -> list[str]:
        """The values that a right answer mentions."""
        return self.values or ([self.value] if self.value else [])


def judge(
    expected: Expectation,
    question: str,
    answer: str,
    *,
    keys: Sequence[str],
    total: int | None,
    field_values: Collection[str] = (),
) -> Verdict:
    """The verdict on an answer. `keys` are its results, `total` counts all matches if the search reports it.

    `field_values` are all values of the expectation's field in the data.
    """
    if _is_right(expected, question, answer, keys, total, field_values):
        return "right"
    # a list by relevance makes no claim
    abstains = expected.relevant is not None or says_unknown(answer) or says_nothing_found(answer)
    return "wrong" if abstains else "confidently wrong"


def first_number(answer: str, question: str = "") -> int | None:
    """The first number in an answer, ignoring days, percentages, and numbers from the question next to another one.

    0 if nothing was found. None if the answer has no number.
    """
    if says_nothing_found(answer):
        return 0
    numbers, in_question = _numbers(answer), set(_numbers(question))
    return next((number for number in numbers if number not in in_question), numbers[0] if numbers else None)


def values_mentioned(answer: str, question: str, values: Collection[str]) -> list[str]:
    """The `values` that an answer mentions, in lower case, each once, in order, without those in the question."""
    in_question = set(_mentions(question, values))
    return [value for value in _mentions(answer, values) if value not in in_question]


def names_day(answer: str, day: datetime.date) -> bool:
    """Whether an answer names the day: 2021-09-12, 12 September 2021, September 12th, 2021, 12 Sep 2021."""
    month = rf"{day:%B}|{day:%b}\.?|Sept\.?" if day.month == 9 else rf"{day:%B}|{day:%b}\.?"
    number = rf"0?{day.day}(?:st|nd|rd|th)?"
    forms = rf"{day.isoformat()}|{number} (?:of )?(?:{month}),? {day.year}|(?:{month}) {number},? {day.year}"
    return re.search(rf"(?<!\w)(?:{forms})(?!\w)", _plain(answer), re.IGNORECASE) is not None


def says_unknown(answer: str) -> bool:
    """Whether an answer says, before any number, that the data does not contain this."""
    return _UNKNOWN.search(_opening(answer)) is not None


def says_nothing_found(answer: str) -> bool:
    """Whether an answer says, before any number, that nothing was found."""
    return not _plain(answer) or _NOTHING.search(_opening(answer)) is not None


# Common English phrases, since any model may have written the answer.
_NOT = r"(?: not|n['’]t)(?: \w+)?"
_DATA = (
    r"\b(?:data(?:base| ?set)?|records?|information|tables?|rows?|columns?|fields?"
    r"|catalog(?:ue)?|sources?|minutes|transcripts?)\b"
)
_UNKNOWN = re.compile(
    r"\b(?:cannot|can['’]t|can not|could(?: not|n['’]t)|unable to)(?: be)? "
    r"(?:tell|told|say|said|know|known|answer|answered|determined?|judged?)\b"
    rf"|\b(?:do|does|did){_NOT} (?:know|tell)\b"
    rf"|{_DATA}.{{0,60}}?\b(?:do|does|did){_NOT} (?:say|speak|hold|contain|record|include|have|cover|mention|show|state|answer)\b"
    rf"|\b(?:is|are|was|were){_NOT} (?:known|recorded|stated|given|available|told|held|kept|stored|tracked)\b"
    rf"|\b(?:is|are|was|were){_NOT} (?:part of|in) (?:the|this) {_DATA}"
    r"|\b(?:unknown|unrecorded)\b"
    rf"|{_DATA}.{{0,60}}?\b(?:holds?|has|have|tells?) (?:nothing|no)\b"
    rf"|\b(?:no|nothing in the) {_DATA}.{{0,60}}?\b(?:on|about|of|for|that|which|says?|tells?|answers?)\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"^(?:sorry, |in \d{4},? )?(?:no|none|nobody|nothing|no one|not one|zero)\b(?!,)"
    r"|\b(?:there (?:is|are|was|were|have been|has been)|found|find|finds|ran|made|aired) (?:no|none|nobody|nothing|zero)\b"
    r"|\bthere (?:isn|aren|wasn|weren)['’]t any\b"
    r"|\b(?:was|were|is|are|could)(?: not|n['’]t)(?: be)? found\b"
    r"|\b(?:did|do|does|could)(?: not|n['’]t) find\b",
    re.IGNORECASE,
)

_MONTHS = f"(?:{'|'.join(writing_of(ENGLISH).months)})"
_DAYS = re.compile(
    rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}} {_MONTHS}(?: \d{{4}})?\b"
    rf"|\b{_MONTHS} (?:\d{{4}}\b|\d{{1,2}}(?:, \d{{4}}|\b(?! ?\d)))"
)
_NUMBER_WORDS = number_words(1, 12)
_NUMBER = re.compile(
    rf"(?<![\w.,/-])(?<![Nn]o )(?:(\d{{1,3}}(?:,\d{{3}})+|\d{{1,15}})(?![\w%]|[.,]\d|-\w)|({'|'.join(_NUMBER_WORDS)})(?![\w-]))",
    re.IGNORECASE,
)
_OPENING_END = re.compile(r"[.!?](?=\s|$)|\n")


def _is_right(
    expected: Expectation,
    question: str,
    answer: str,
    keys: Sequence[str],
    total: int | None,
    field_values: Collection[str],
) -> bool:
    if expected.count is not None:
        return first_number(answer, question) in (expected.count, *expected.also)
    if expected.date is not None:
        return names_day(answer, expected.date)
    if expected.ids is not None:
        return set(keys) == set(expected.ids) and total in (None, len(set(expected.ids)))
    if expected.relevant is not None:
        listed, relevant = {*list(dict.fromkeys(keys))[:LISTED]}, {*expected.relevant}
        return len(listed & relevant) >= math.ceil(RELEVANT_SHARE * min(LISTED, len(relevant)))
    if expected.unanswerable:
        return says_unknown(answer)
    expected_values = {value.casefold() for value in expected.mentions}
    mentioned = values_mentioned(answer, _without(question, expected.mentions), {*field_values, *expected_values})
    return set(mentioned[: len(expected_values)]) == expected_values


def _numbers(text: str) -> list[int]:
    return [
        int(digits.replace(",", "")) if digits else _NUMBER_WORDS[word.lower()]
        for digits, word in _NUMBER.findall(_without_days(_plain(text)))
    ]


def _mentions(text: str, values: Collection[str]) -> list[str]:
    """The values in a text as whole words, in order, each once; the longest of those that start at the same place."""
    longest_first = sorted({value.casefold() for value in values if value}, key=lambda value: (-len(value), value))
    if not longest_first:
        return []
    pattern = "|".join(re.escape(value) for value in longest_first)
    return list(dict.fromkeys(re.findall(rf"(?<!\w)(?:{pattern})(?!\w)", _plain(text).casefold())))


def _without(text: str, values: Sequence[str]) -> str:
    """A text without the values: wanted values count even if the question names them."""
    for value in values:
        text = re.sub(re.escape(value), " ", text, flags=re.IGNORECASE)
    return text


def _opening(answer: str) -> str:
    """The first sentence up to its first number or line break."""
    text = _plain(answer)
    ends = [end.start() for end in (_OPENING_END.search(text), _NUMBER.search(_without_days(text))) if end]
    return text[: min(ends)].strip() if ends else text


def _without_days(text: str) -> str:
    """The text with days and months of a year replaced by blanks, at the same length."""
    return _DAYS.sub(lambda day: " " * len(day.group()), text)


def _plain(text: str) -> str:
    """Text without Markdown emphasis and escapes."""
    return re.sub(r"[*`\\]", "", text).strip()
