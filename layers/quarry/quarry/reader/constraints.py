"""Hard constraints on readings, independent of the weights: types, units and currencies must fit, and an unread value, number
or date vetoes a confident answer. The executor enforces scope and rights. Pure.
"""

from __future__ import annotations

from quarry.language.word_forms import STOP_WORDS, phrase
from quarry.reader.mentions import Mentions, NumberMention, WordRun
from quarry.reader.names import FieldName, SourceName
from quarry.schema.algebra import Scalar
from quarry.spans.numbers import converted, dimension_of

NAMED_IN_FULL = 0.99
"""Likeness from which words are the whole of a name."""


def may_hold(each: FieldName, mention: NumberMention) -> bool:
    """Whether a number can be a value of a field. Keys hold no numbers; an amount of money needs a field in its currency."""
    if mention.currency is None:
        return each.is_number
    return each.is_number and each.kind != "year" and each.currency in (None, mention.currency)


def may_compare(each: FieldName, number: NumberMention, mentions: Mentions) -> bool:
    """Whether a question may compare a field with a number. "More than one payment" is a number of rows, and "in 2026" is a time,
    so a field must be named to be compared with them: the rows' field in full, the one with the year right beside it.
    """
    place, named = number.place, mentions.best(each)
    if number.op == "=" and any(day.days.grain == "year" and day.place.mask & place.mask for day in mentions.days):
        return each.kind == "year" or (named is not None and place.first in (named.last, named.first - 1))
    return not _counts_rows(number, mentions) or (named is not None and named.likeness >= NAMED_IN_FULL)


def _counts_rows(number: NumberMention, mentions: Mentions) -> bool:
    """Whether the name of a source follows a number, with at most one word between: "more than two late payments"."""
    if number.currency is not None or dimension_of(number.unit) is not None:
        return False
    named = (place for each, places in mentions.named.items() if isinstance(each, SourceName) for place in places)
    gaps = (
        mentions.tokens[number.place.last : place.first]
        for place in named
        if place.likeness >= NAMED_IN_FULL and 0 <= place.first - number.place.last <= 1
    )
    return any(all(token.key not in STOP_WORDS for token in gap) for gap in gaps)


def are_alike(unit: str | None, other: str | None) -> bool:
    """Whether two units measure the same quantity."""
    return dimension_of(unit) is not None and dimension_of(unit) == dimension_of(other)


def in_unit(number: float | None, mention: NumberMention, each: FieldName) -> Scalar:
    """A number converted to the unit of a field, if both units measure the same quantity."""
    return plain(
        converted(number, mention.unit or "", each.unit or "") if are_alike(mention.unit, each.unit) else number
    )


def plain(number: float | None) -> Scalar:
    """A number as in JSON: whole numbers without decimals."""
    value = number or 0.0
    return int(value) if float(value).is_integer() else value


def may_be_denied(mentions: Mentions, place: WordRun) -> bool:
    """Whether the value at a place can be negated. That takes a word without another meaning, anywhere before the value or
    right after it.
    """
    return any(each < place.first or each == place.last for each in mentions.free)


def vetoes(mentions: Mentions, mask: int) -> list[str]:
    """The reasons not to answer with confidence: values, numbers, times and quoted texts that no part reads."""
    unread = {(each.place.first, each.place.last) for each in mentions.spans if not each.place.mask & mask}
    return [phrase(mentions.text, mentions.tokens, first, last) for first, last in sorted(unread)]
