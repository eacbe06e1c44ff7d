"""What can be forgotten, and how whoever keeps something of the data stays clear of a forgetting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import LiteralString

KEEP: LiteralString = "select pg_advisory_xact_lock_shared(7305113)"
"""Said in a transaction, as a statement of its own, before it stores what was found in the data."""
FORGET: LiteralString = "select pg_advisory_xact_lock(7305113)"
"""Said by who forgets: waits for what is being stored, and holds up what would be."""


@dataclass(frozen=True)
class Forgettable:
    """A kind of record that can be forgotten, and the table of ours with its rows.

    `names` selects `texts`, in lower case, that tell whose the row is; `also` is done once it is gone. Both may use `%(id)s`,
    the latter `%(quoted)s`, the id as JSON has it, and `%(texts)s`.
    """

    kind: str
    table: str
    names: LiteralString | None = None
    also: tuple[LiteralString, ...] = ()
