"""What pydantic finds wrong, in the words of who wrote it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_WORDS = {"missing": "is missing", "extra_forbidden": "is no field here", "string_unicode": "is not valid Unicode"}
_SUBJECT = re.compile(r"^\w+ should")
_ABOUT_PARSING = (", unable to ", ", input ", ", got ")


def plain_words(detail: Mapping[str, Any]) -> str:
    """One of a ValidationError's `errors()`, as what follows the name of the field."""
    message = str(detail["msg"])
    if told := _WORDS.get(str(detail["type"])):
        return told
    if detail["type"] == "value_error":
        return message.removeprefix("Value error, ")
    for mark in _ABOUT_PARSING:
        message = message.partition(mark)[0]
    return _SUBJECT.sub("should", message).replace("a valid dictionary", "an object")
