"""Makes the headers of a file into column names that need no quotes in SQL."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Set

IDENTIFIER_MAX_BYTES = 63

_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ACCENTS = re.compile(r"(?<=[a-z])[\u0300-\u036f]+")


class Identifiers:
    """Different identifiers of at most 63 bytes each. The same names in the same order give the same identifiers.

    Letters and digits of any script are kept, in lower case and, in Latin, without accents; anything else becomes one
    underscore. A name without letters or digits becomes `column_N`, a `reserved` word `order_`, and a repeated name `name_2`.
    """

    def __init__(self, reserved: Set[str] = frozenset()) -> None:
        self._reserved = reserved
        self._found: dict[str, None] = {}
        self._copies = Counter[str]()

    def add(self, name: str) -> str:
        """The identifier for the next name."""
        identifier = plain = self._plain(name) or f"column_{len(self._found) + 1}"
        while identifier in self._found:
            self._copies[plain] += 1
            suffix = f"_{self._copies[plain] + 1}"
            identifier = _cut(plain, IDENTIFIER_MAX_BYTES - len(suffix)) + suffix
        self._found[identifier] = None
        return identifier

    def _plain(self, name: str) -> str:
        decomposed = unicodedata.normalize("NFKD", _CASE_CHANGE.sub("_", name)).casefold()
        folded = unicodedata.normalize("NFKC", _ACCENTS.sub("", decomposed)).lower()
        # marks are parts of letters in many scripts, such as vowels in Devanagari
        words = "".join(character if unicodedata.category(character)[0] in "LNM" else "_" for character in folded)
        plain = re.sub(r"__+", "_", words).strip("_")
        if plain and not plain[0].isalpha():
            plain = f"column_{plain}"
        return _cut(f"{plain}_" if plain in self._reserved else plain, IDENTIFIER_MAX_BYTES)


def _cut(name: str, max_bytes: int) -> str:
    return name.encode()[:max_bytes].decode(errors="ignore")
