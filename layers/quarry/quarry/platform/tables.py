"""What a table is that files can be loaded into, what its rows may hold, and what a table is whose rows have vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, LiteralString

from pydantic import ConfigDict, Field, StringConstraints

from quarry.platform.lazy_model import LazyModel
from quarry.platform.text import Storable

KEEP: LiteralString = "select pg_advisory_xact_lock_shared(7305113)"
"""Said in a transaction, as a statement of its own, before it stores what was found in the data."""
FORGET: LiteralString = "select pg_advisory_xact_lock(7305113)"
"""Said by who forgets: waits for what is being stored, and holds up what would be."""


@dataclass(frozen=True)
class Forgettable:
    """A kind of record that can be forgotten, and our table of its rows.

    `names` selects lower-case `texts` that identify the row; `also` runs after its deletion. Both may use `%(id)s`, the latter
    also `%(quoted)s` (the id as JSON) and `%(texts)s`.
    """

    kind: str
    table: str
    names: LiteralString | None = None
    also: tuple[LiteralString, ...] = ()


@dataclass(frozen=True)
class ExpiringTable:
    """Rows of `table` for which `expired` (SQL; `%(run_log_days)s` may be used) holds are deleted and counted under `label`."""

    table: str
    label: str
    expired: LiteralString


Text = Annotated[str, StringConstraints(min_length=1, max_length=200_000), Storable]
Line = Annotated[str, StringConstraints(min_length=1, max_length=2000), Storable]
Names = Annotated[list[Line], Field(max_length=500)]

TITLE_WORDS_MAX = 24
"""So many words of a title stand before a window: a window must still be read whole."""

COLLECTION_WINDOWS = "collection_windows"
"""The table whose partitions hold the vectors of collections."""


class Row(LazyModel):
    """Base of the row types: what a line of a table's file may hold. Unknown fields are refused, so that a typo is seen."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


@dataclass(frozen=True)
class LoadableTable:
    """A table that files can be loaded into. `references` maps a column to the table whose id it holds, `inherits` a column to
    the (reference column, table, column) that fills it where a row leaves it out.
    """

    name: str
    row: type[Row]
    references: Mapping[str, str] = field(default_factory=dict)
    inherits: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        return list(self.row.model_fields)


BLANKS = " \t\r\n"
"""What a text may hold and still say nothing."""


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
    """Of text columns that stand in another table, what they are, as SQL over the row `t`."""
    declared_in: str | None = None
    """The table that `embeddings` is a partition of, if it is one."""

    def texts(self, row: Mapping[str, Any]) -> dict[str, str]:
        """The texts of a row that are embedded, by embedding type; the only one is under "" where there are no types."""
        kinds = self.embedding_types or {"": self.text_columns}
        texts = {name: _joined(row, columns) for name, columns in kinds.items()}
        return {name: text for name, text in texts.items() if text.strip(BLANKS)}

    def windows(self, row: Mapping[str, Any], split: Callable[[str], list[str]]) -> list[tuple[str, int, str]]:
        """What of a row is embedded: embedding type, number and text of each window that `split` makes."""
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
