"""What the draft of a table is made of, and what is called how in it."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, field
from itertools import count

from quarry.collections.guessing import words
from quarry.collections.table_guess import TableGuess
from quarry.language.word_forms import singular
from quarry.platform.contract import NAME_PATTERN

SHORTENED_MIN = 3
"""So many letters of a table's name tell which one a column refers to."""
_KEY_ENDINGS = frozenset(
    {"id", "fk", "ref", "code", "no", "nr", "num", "number", "key", "uuid", "sku", "isbn", "ean", "barcode"}
)


@dataclass
class TableDraft:
    """A collection's declaration: its settings and facets, and by their names why they were guessed.

    `fields` are the columns that are asked about and nothing else, `links` what rows refer to that gives them no name.
    `remarks` are whole lines of comment.
    """

    settings: dict[str, object] = field(default_factory=dict)
    facets: dict[str, object] = field(default_factory=dict)
    links: dict[str, object] = field(default_factory=dict)
    fields: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    @property
    def named(self) -> list[str]:
        """What facets and links are called."""
        return [*self.facets, *self.links]

    def set(self, name: str, value: object, reason: str | None = None) -> None:
        """Set what has a value."""
        if value:
            self.settings[name] = value
            if reason:
                self.reasons[name] = reason


def name_by_reference(column: str, other: TableGuess) -> str:
    """What a facet is called whose column refers to a table: `support_agent` of `support_agent_id`."""
    said = words(column)
    called = "_".join(said[:-1] if said[-1] in _KEY_ENDINGS else said)
    own = singular("_".join(words(other.relation.name)))
    if not called or (len(called) >= SHORTENED_MIN and own.startswith(called)):
        # `isbn`, `prod_id`: of books, of products
        return own
    # of what is run together, the table's name tells where a word begins
    return f"{called.removesuffix(own)}_{own}" if re.search(rf"[^_]{re.escape(own)}$", called) else called


def slug(name: str, otherwise: str) -> str:
    """A name as collections and facets may have it; `otherwise` stands for what cannot be kept."""
    if re.fullmatch(NAME_PATTERN, name):
        return name
    called = re.sub(r"[^a-z0-9]+", "_", "_".join(words(name))).strip("_")
    return (called if called[:1].isalpha() else f"{otherwise}_{called}")[:48].rstrip("_")


def unique(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it where it is taken."""
    if name not in taken:
        return name
    return next(each for number in count(2) if (each := f"{name[:44]}_{number}") not in taken)
