"""Names of columns as people write them in the head of a file, made into names of columns in SQL that need no quotes."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

IDENTIFIER_MAX_BYTES = 63

RESERVED = frozenset(
    """
    all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column
    concurrently constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp
    current_user default deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having
    ilike in initially inner intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not
    notnull null offset on only or order outer overlaps placing primary references returning right select session_user similar
    some symmetric system_user table tablesample then to trailing true union unique user using variadic verbose when where window
    with
    """.split()
)
"""The words that Postgres takes for no column's name without quotes."""

SYSTEM_COLUMNS = frozenset({"cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"})

_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ACCENTS = re.compile(r"(?<=[a-z])[\u0300-\u036f]+")


class Identifiers:
    """Identifiers of at most 63 bytes, each another, and the same whenever the names so far are the same.

    Letters and digits of any script stay, in lower case and, in Latin, without accents; all else becomes one underscore. A name
    that has none of them becomes `column_N`, a reserved word `order_`, and what stood there before `name_2`.
    """

    def __init__(self) -> None:
        self._found: dict[str, None] = {}
        self._copies = Counter[str]()

    def add(self, name: str) -> str:
        """The identifier of the next name."""
        identifier = plain = _plain(name) or f"column_{len(self._found) + 1}"
        while identifier in self._found:
            self._copies[plain] += 1
            suffix = f"_{self._copies[plain] + 1}"
            identifier = _cut(plain, IDENTIFIER_MAX_BYTES - len(suffix)) + suffix
        self._found[identifier] = None
        return identifier


def _plain(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", _CASE_CHANGE.sub("_", name)).casefold()
    folded = unicodedata.normalize("NFKC", _ACCENTS.sub("", decomposed)).lower()
    # marks belong to the letters of many scripts, as vowels do in Devanagari
    words = "".join(character if unicodedata.category(character)[0] in "LNM" else "_" for character in folded)
    plain = re.sub(r"__+", "_", words).strip("_")
    if plain and not plain[0].isalpha():
        plain = f"column_{plain}"
    return _cut(f"{plain}_" if plain in RESERVED | SYSTEM_COLUMNS else plain, IDENTIFIER_MAX_BYTES)


def _cut(name: str, max_bytes: int) -> str:
    return name.encode()[:max_bytes].decode(errors="ignore")
