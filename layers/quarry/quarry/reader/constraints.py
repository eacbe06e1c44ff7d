"""Hard constraints on readings, whatever the weights: types, units and currencies fit, and an unread value, number or
date vetoes a confident answer. The executor enforces scope and rights. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from quarry.language.tokens import phrase
from quarry.query.algebra import Scalar
from quarry.reader.names import FieldName
from quarry.reader.said import Place, Said, SaidNumber
from quarry.spans.quantities import converted, dimension_of

UNREAD_MAX = 6
"""Words that are named as not read."""


def may_hold(each: FieldName, said: SaidNumber) -> bool:
    """Whether a field can hold a number: keys are none, and money in another currency, or what is no money, is no amount."""
    if said.currency is None:
        return each.is_number
    return each.is_number and each.kind != "year" and each.currency in (None, said.currency)


def are_alike(unit: str | None, other: str | None) -> bool:
    """Whether two units measure the same."""
    return dimension_of(unit) is not None and dimension_of(unit) == dimension_of(other)


def in_unit(number: float | None, said: SaidNumber, each: FieldName) -> Scalar:
    """A number in the unit of a field, where it is said in another one of its kind."""
    return plain(converted(number, said.unit or "", each.unit or "") if are_alike(said.unit, each.unit) else number)


def plain(number: float | None) -> Scalar:
    """A number as JSON has it: whole ones without decimals."""
    value = number or 0.0
    return int(value) if float(value).is_integer() else value


def may_be_denied(said: Said, place: Place) -> bool:
    """Whether a value that stands at a place can be denied: a word has to do it, one before the value or the next one after it,
    that names and means nothing else.
    """
    return any(each < place.first or each == place.last for each in said.free)


def vetoes(said: Said, mask: int) -> list[str]:
    """What forbids to answer without doubt: values, numbers, times and quoted texts that no part reads."""
    unread = {(each.place.first, each.place.last) for each in said.spans if not each.place.mask & mask}
    return [phrase(said.text, said.tokens, first, last) for first, last in sorted(unread)]


def doubt(unread: Sequence[str]) -> str:
    """A sentence that says that an answer may be to another question, and which words were not understood."""
    named = ", ".join(f"“{word}”" for word in unread[:UNREAD_MAX])
    return f"This may not answer the question{f': {named} was not understood' if named else ''}."
