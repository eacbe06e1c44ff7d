"""Hard constraints on readings, independent of the weights: types, units and currencies must fit, and an unread value, number
or date vetoes a confident answer. The executor enforces scope and rights. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from quarry.language.tokens import phrase
from quarry.query.algebra import Scalar
from quarry.reader.names import FieldName
from quarry.reader.said import Place, Said, SaidNumber
from quarry.spans.quantities import converted, dimension_of

UNREAD_MAX = 6
"""Most unread words to list in a message."""


def may_hold(each: FieldName, said: SaidNumber) -> bool:
    """Whether a number can be a value of a field. Keys hold no numbers; an amount of money needs a field in its currency."""
    if said.currency is None:
        return each.is_number
    return each.is_number and each.kind != "year" and each.currency in (None, said.currency)


def are_alike(unit: str | None, other: str | None) -> bool:
    """Whether two units measure the same quantity."""
    return dimension_of(unit) is not None and dimension_of(unit) == dimension_of(other)


def in_unit(number: float | None, said: SaidNumber, each: FieldName) -> Scalar:
    """A number converted to the unit of a field, if both units measure the same quantity."""
    return plain(converted(number, said.unit or "", each.unit or "") if are_alike(said.unit, each.unit) else number)


def plain(number: float | None) -> Scalar:
    """A number as in JSON: whole numbers without decimals."""
    value = number or 0.0
    return int(value) if float(value).is_integer() else value


def may_be_denied(said: Said, place: Place) -> bool:
    """Whether the value at a place can be negated. That takes a word without another meaning, anywhere before the value or
    right after it.
    """
    return any(each < place.first or each == place.last for each in said.free)


def vetoes(said: Said, mask: int) -> list[str]:
    """The reasons not to answer with confidence: values, numbers, times and quoted texts that no part reads."""
    unread = {(each.place.first, each.place.last) for each in said.spans if not each.place.mask & mask}
    return [phrase(said.text, said.tokens, first, last) for first, last in sorted(unread)]


def doubt(unread: Sequence[str]) -> str:
    """Warns that the answer may be to another question, and lists the words that were not understood."""
    named = ", ".join(f"“{word}”" for word in unread[:UNREAD_MAX])
    return f"This may not answer the question{f': {named} was not understood' if named else ''}."
