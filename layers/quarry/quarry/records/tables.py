"""The tables of records: which can be loaded, which have vectors, what expires."""

from __future__ import annotations

from quarry.civic.collections import COLLECTIONS
from quarry.civic.tables import LOADABLE
from quarry.core.cleanup import ExpiringTable
from quarry.core.collections.search_table import embedded_table

__all__ = ["EMBEDDED", "EXPIRING", "LOADABLE"]

EMBEDDED = tuple(embedded_table(each) for each in COLLECTIONS if each.declaration.embedded)

EXPIRING = (ExpiringTable("answer_cache", "answers", "expires_at < now()"),)
