"""JSON as it leaves the service: what is shown to readers is without invisible characters, and what comes back is unchanged.

An id, a value to filter by or a cursor is sent back by clients, and must then be found: such texts keep every character. On the
wire none of the invisible ones stands as it is, there either: JSON has an escape for each.
"""

from __future__ import annotations

import json
import re
from typing import Any

from quarry.platform.text import INVISIBLE_CHARACTERS, visible

_INVISIBLE = re.compile(f"[{INVISIBLE_CHARACTERS}]")
_SENT_BACK = re.compile(r"(?:id|ids|.*_ids?|.*Ids?|values?|facets|filters|.*Filters|arguments|request|.*[cC]ursor)")
"""The names of fields whose texts clients send back."""


def shown(value: Any) -> Any:
    """What JSON can hold, its texts as readers see them, but for those that clients send back."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {name: each if _SENT_BACK.fullmatch(name) else shown(each) for name, each in value.items()}
    return [shown(each) for each in value] if isinstance(value, list) else value


def shown_json(text: str) -> str:
    """The same for JSON that is written already."""
    if visible(text) == text:
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return escaped(text)
    return escaped(json.dumps(shown(value), ensure_ascii=False, separators=(",", ":")))


def escaped(text: str) -> str:
    """JSON with its invisible characters written as escapes."""
    return text if text.isascii() else _INVISIBLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match.group())[1:-1]
