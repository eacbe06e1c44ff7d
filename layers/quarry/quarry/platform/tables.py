"""Descriptions of tables: those that files can be loaded into, and those whose rows have vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, LiteralString, NamedTuple

from pydantic import ConfigDict, Field, StringConstraints

from quarry.platform.contract import LazyModel
from quarry.platform.text import Storable

KEEP: LiteralString = "select pg_advisory_xact_lock_shared(7305113)"
"""Run it as a separate statement in a transaction before storing anything found in the data."""
FORGET: LiteralString = "select pg_advisory_xact_lock(7305113)"
"""Run it before forgetting: it waits for transactions that store, and blocks new ones."""


class Forgettable(NamedTuple):
    """A kind of record that can be forgotten, and our table of its rows.

    `names` selects lower-case `texts` that identify the row; `also` runs after its deletion. Both may use `%(id)s`, the latter
    also `%(quoted)s` (the id as JSON) and `%(texts)s`.
    """

    kind: str
    table: str
    names: LiteralString | None = None
    also: tuple[LiteralString, ...] = ()


class ExpiringTable(NamedTuple):
    """Rows of `table` for which `expired` (SQL; `%(run_log_days)s` may be used) holds are deleted and counted under `label`."""

    table: str
    label: str
    expired: LiteralString


Text = Annotated[str, StringConstraints(min_length=1, max_length=200_000), Storable]
Line = Annotated[str, StringConstraints(min_length=1, max_length=2000), Storable]
Names = Annotated[list[Line], Field(max_length=500)]

TITLE_WORDS_MAX = 24
"""How many words of the title precede a window, which the model must still read whole."""

COLLECTION_WINDOWS = "collection_windows"
"""The table whose partitions hold the vectors of collections."""


class Row(LazyModel):
    """Base of the row types: a line of a file for a table. Unknown fields are refused, so that typos are noticed."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


@dataclass(frozen=True)
class LoadableTable:
    """A table that files can be loaded into. `references` maps a column to the table whose id it holds. `inherits` maps a column
    to the (reference column, table, column) that fills it if a row omits it.
    """

    name: str
    row: type[Row]
    references: Mapping[str, str] = field(default_factory=dict)
    inherits: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        return list(self.row.model_fields)


BLANKS = " \t\r\n"
"""Characters that make a text blank."""


@dataclass(frozen=True)
class EmbeddedTable:
    """A table whose rows have vectors in the table `embeddings`, made of `text_columns` in order of importance.

    The first of these, `titles`, precede each window of a long text. With `embedding_types` a row has a vector of each type,
    made of that type's columns. Blank columns make none.
    """

    name: str
    embeddings: str
    text_columns: tuple[str, ...]
    embedding_types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    titles: tuple[str, ...] = ()
    expressions: Mapping[str, LiteralString] = field(default_factory=dict)
    """SQL over the row `t` for text columns from another table."""
    declared_in: str | None = None
    """The table that `embeddings` is a partition of, if it is one."""

    def texts(self, row: Mapping[str, Any]) -> dict[str, str]:
        """The texts of a row to embed, by embedding type; without types the only text is under ""."""
        kinds = self.embedding_types or {"": self.text_columns}
        texts = {name: _joined(row, columns) for name, columns in kinds.items()}
        return {name: text for name, text in texts.items() if text.strip(BLANKS)}

    def windows(self, row: Mapping[str, Any], split: Callable[[str], list[str]]) -> list[tuple[str, int, str]]:
        """The windows of a row to embed, made by `split`: embedding type, number and text of each."""
        body = _joined(row, self.text_columns[len(self.titles) :])
        if self.titles and body.strip(BLANKS):
            title = " ".join(_joined(row, self.titles).split()[:TITLE_WORDS_MAX])
            return [("", number, f"{title}\n{window}".strip()) for number, window in enumerate(split(body))]
        return [
            (type_, number, window)
            for type_, text in self.texts(row).items()
            for number, window in enumerate(split(text))
        ]


def _joined(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    values = (row[column] for column in columns)
    return "\n".join(", ".join(value) if isinstance(value, list) else value for value in values if value)
