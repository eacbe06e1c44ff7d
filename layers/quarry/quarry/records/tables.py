"""The tables of civic records: what their files may hold, which of them have vectors, what expires. All but meetings follows from
the types of record.
"""

from __future__ import annotations

from quarry.core.cleanup import ExpiringTable
from quarry.core.forgettable import Forgettable
from quarry.core.tables import EmbeddedTable, LoadableTable
from quarry.records.meetings import MeetingRow
from quarry.records.types import TYPES, Declared

_REFERENCES = {"meeting_id": "meetings", "matter_id": "matters", "agenda_item_id": "agenda_items"}
_MEETING_DATE = {"date": ("meeting_id", "meetings", "date")}


def _loadable(declared: Declared) -> LoadableTable:
    references = {column: table for column, table in _REFERENCES.items() if column in declared.row.model_fields}
    return LoadableTable(declared.table.name, declared.row, references, _MEETING_DATE)


def _place(table: LoadableTable) -> int:
    """What is referred to is loaded first."""
    referred_to = [*_REFERENCES.values()]
    return referred_to.index(table.name) if table.name in referred_to else len(referred_to)


LOADABLE = (LoadableTable("meetings", MeetingRow), *sorted(map(_loadable, TYPES.values()), key=_place))

EMBEDDED = tuple(
    EmbeddedTable(declared.table.name, f"{name}_embeddings", declared.embedded, titles=declared.titles)
    for name, declared in TYPES.items()
)

EXPIRING = (ExpiringTable("answer_cache", "answers", "expires_at < now()"),)

FORGETTABLE = (
    Forgettable(
        "meeting",
        "meetings",
        also=(
            "delete from answer_cache where sources @> jsonb_build_array(jsonb_build_object('meeting_id', %(id)s::text))",
        ),
    ),
    *(Forgettable(name, declared.table.name) for name, declared in TYPES.items()),
)
