"""The tables of records: which can be loaded, which have vectors, what expires."""

from __future__ import annotations

from quarry.civic.tables import COLLECTIONS, LOADABLE
from quarry.collections.facets import embedded_table
from quarry.platform.tables import ExpiringTable, Forgettable

__all__ = ["EMBEDDED", "EXPIRING", "FORGETTABLE", "LOADABLE"]

EMBEDDED = tuple(embedded_table(each) for each in COLLECTIONS if each.declaration.embedded)

EXPIRING = (ExpiringTable("answer_cache", "answers", "expires_at < now()"),)

_OF_ITS_PARTS = (
    "delete from answer_cache where sources @> jsonb_build_array(jsonb_build_object('meeting_id', %(id)s::text))",
)
"""What other records are part of goes out with these as `meeting_id`."""

FORGETTABLE = tuple(
    Forgettable(each.name, each.rows, also=() if each.declaration.text else _OF_ITS_PARTS) for each in COLLECTIONS
)
