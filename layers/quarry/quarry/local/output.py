"""The output of commands: lines for people, or one JSON object with `--json`."""

from __future__ import annotations

import csv
import datetime
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

selected_tenant: ContextVar[str | None] = ContextVar("selected_tenant", default=None)
"""The name after `--tenant`; None: the installation's own schema."""

OF_INSTALLATION = "completion config demo doctor eval map psql tenant tools tune uninstall".split()
"""Commands that know of no tenant."""


Format = Literal["table", "csv", "json"]

# a context variable: the code that reports is far below the command that knows the format
_facts: ContextVar[dict[str, Any] | None] = ContextVar("facts", default=None)


def quantity(number: int, noun: str) -> str:
    """The number of things: "1 row", "2,000 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def write_json(value: object) -> None:
    """Print a value as indented JSON; times are in UTC."""
    print(json.dumps(value, default=_as_json, ensure_ascii=False, indent=2))


def write_csv(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table as CSV: missing values are empty, lists are JSON, times are in UTC."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows([_in_csv(cell) for cell in row] for row in rows)


def _in_csv(value: object) -> object:
    if isinstance(value, list | dict):
        return json.dumps(value, default=_as_json, ensure_ascii=False)
    return _as_json(value) if isinstance(value, datetime.datetime) else value


def note(line: str) -> None:
    """Print a line on stderr."""
    print(line, file=sys.stderr)


def _as_json(value: object) -> str:
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")


@contextmanager
def json_output(as_json: bool, **nothing: Any) -> Iterator[None]:
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
    collected = _facts.get()
    if collected is None:
        if line is not None:
            print(line)
        return
    for name, fact in facts.items():
        collected[name] = [*collected.get(name, []), *fact] if isinstance(fact, list) else fact


def is_for_programs() -> bool:
    """Whether the output is JSON, so that lines are not printed."""
    return _facts.get() is not None
