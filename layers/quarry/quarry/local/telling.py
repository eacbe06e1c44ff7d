"""The output of commands: lines for people, or one JSON object with `--json`."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# of the one command that the process runs: what tells is far below where it is known how
_facts: ContextVar[dict[str, Any] | None] = ContextVar("facts", default=None)


def write_json(value: object) -> None:
    """Print a value as JSON to be read; times are in UTC."""
    print(json.dumps(value, default=_as_json, ensure_ascii=False, indent=2))


def note(line: str) -> None:
    """Say a line beside the output, on stderr."""
    print(line, file=sys.stderr)


def _as_json(value: object) -> str:
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")


@contextmanager
def telling(as_json: bool, **nothing: Any) -> Iterator[None]:
    """Until the end of the block, gather what programs are told, if it is them; `nothing` is what they are told of nothing."""
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
    """Say a line to people, or facts to programs, of whom lists gather what is told one by one."""
    told = _facts.get()
    if told is None:
        if line is not None:
            print(line)
        return
    for name, fact in facts.items():
        told[name] = [*told.get(name, []), *fact] if isinstance(fact, list) else fact


def is_for_programs() -> bool:
    """Whether lines are said to nobody."""
    return _facts.get() is not None
