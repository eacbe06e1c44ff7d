"""The output of commands: lines for people, or one JSON object with `--json`."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# a context variable: the code that reports is far below the command that knows the format
_facts: ContextVar[dict[str, Any] | None] = ContextVar("facts", default=None)


def write_json(value: object) -> None:
    """Print a value as indented JSON; times are in UTC."""
    print(json.dumps(value, default=_as_json, ensure_ascii=False, indent=2))


def note(line: str) -> None:
    """Print a line on stderr."""
    print(line, file=sys.stderr)


def _as_json(value: object) -> str:
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")


@contextmanager
def telling(as_json: bool, **nothing: Any) -> Iterator[None]:
    """With `as_json`, collect facts instead of printing lines, and print them as one object at the end of the block.

    `nothing` holds their values if nothing is reported.
    """
    if not as_json:
        yield
        return
    facts = dict(nothing)
    token = _facts.set(facts)
    try:
        yield
        print(json.dumps(facts, ensure_ascii=False))
    finally:
        _facts.reset(token)


def tell(line: str | None = None, **facts: Any) -> None:
    """Print a line, or collect facts for JSON output; lists are extended."""
    told = _facts.get()
    if told is None:
        if line is not None:
            print(line)
        return
    for name, fact in facts.items():
        told[name] = [*told.get(name, []), *fact] if isinstance(fact, list) else fact


def is_for_programs() -> bool:
    """Whether the output is JSON, so that lines are not printed."""
    return _facts.get() is not None
