"""The name of a statement in a trace: its verb and its table, never a value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from psycopg.sql import SQL, Composable, Composed, Identifier

_VERB = re.compile(r"\s*(\w+)")
_TARGET = re.compile(r"\b(?:from|into|update)\s+([a-z_][\w.]*)")


def statement_name(query: str | Composable) -> str:
    """The verb and the first table or function of a statement: `select search_people`."""
    text = query if isinstance(query, str) else "".join(_words(query))
    found = (pattern.search(text) for pattern in (_VERB, _TARGET))
    return " ".join(match[1] for match in found if match)


def _words(query: Composable) -> Iterator[str]:
    match query:
        case Composed():
            for part in query:
                yield from _words(part)
        case SQL():
            yield query.as_string()
        case Identifier():
            yield query.as_string().replace('"', "")
        case _:
            yield "?"
