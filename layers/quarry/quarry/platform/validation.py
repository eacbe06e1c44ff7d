"""Pydantic's validation errors in terms of the input: plain words and the place in what was given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_WORDS = {"missing": "is missing", "extra_forbidden": "is not a known field", "string_unicode": "is not valid Unicode"}
_SUBJECT = re.compile(r"^\w+ should")
_ABOUT_PARSING = (", unable to ", ", input ", ", got ")


def plain_words(detail: Mapping[str, Any]) -> str:
    """The message for one of a ValidationError's `errors()`, to follow the name of the field."""
    message = str(detail["msg"])
    if words := _WORDS.get(str(detail["type"])):
        return words
    if detail["type"] == "value_error":
        return message.removeprefix("Value error, ")
    for mark in _ABOUT_PARSING:
        message = message.partition(mark)[0]
    return _SUBJECT.sub("should", message).replace("a valid dictionary", "an object")


def pointer_to(parts: Iterable[str | int]) -> str:
    """The JSON pointer (RFC 6901) with these parts."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def place_in(value: Any, detail: Mapping[str, Any]) -> list[str | int]:
    """Where one of a ValidationError's `errors()` is in what was given. The error's own location also names branches of unions
    and fields that validators added, which the input does not have.
    """
    place: list[str | int] = []
    location: Sequence[str | int] = detail["loc"]
    for number, part in enumerate(location, 1):
        is_there = (isinstance(value, Mapping) and part in value) or (
            isinstance(value, Sequence) and not isinstance(value, str) and isinstance(part, int) and part < len(value)
        )
        if is_there:
            place.append(part)
            value = value[part]
        elif detail["type"] == "missing" and number == len(location) and isinstance(value, Mapping):
            place.append(part)
    return place
