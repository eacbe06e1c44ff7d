"""Names of tables, and the nearest names that exist."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable

from quarry.language.writing import languages

_IDENTIFIER = re.compile(r'"((?:[^"]|"")+)"|([A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*)')


def table_name(name: str) -> tuple[str, str]:
    """Schema and name of a table, read as in SQL: `sales."Order Details"`. The default schema is `public`.

    Raises ValueError.
    """
    parts, place = [], 0
    while match := _IDENTIFIER.match(name, place):
        quoted, plain = match.groups()
        parts.append(quoted.replace('""', '"') if quoted is not None else plain.lower())
        place = match.end()
        if place == len(name):
            break
        if name[place] != ".":
            break
        place += 1
    if place != len(name) or not 1 <= len(parts) <= 2:
        raise ValueError(
            f"{name!r} is not a table name: write schema.table, with quotes around names that are not plain lower case"
        )
    return (parts[0], parts[1]) if len(parts) == 2 else ("public", parts[0])


def nearest(name: str, names: Iterable[str]) -> str:
    """ "; did you mean …?" where one of the names is spelt much like this one, else ""."""
    by_folded = {known.casefold(): known for known in names}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return f"; did you mean {by_folded[found[0]]!r}?" if found else ""


def nearest_language(name: str, configurations: Collection[str]) -> str:
    """Like `nearest`. For a code ("de", "de-AT") the configuration of its language, and `simple` where nothing is near."""
    code = re.split(r"[-_]", name.casefold())[0]
    meanings = [
        known for known, each in languages().items() if code in (each.code, *each.also) and known in configurations
    ]
    if meanings:
        return f"; did you mean {meanings[0]!r}?"
    return nearest(name, configurations) or "; use 'simple' for a language without one"
