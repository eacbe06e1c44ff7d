"""The tables of all domains: which can be loaded, embedded and cleaned up."""

from __future__ import annotations

from quarry.core.cleanup import CORE_EXPIRING
from quarry.people import tables as people_tables
from quarry.records import tables as records_tables

LOADABLE = {table.name: table for table in (*records_tables.LOADABLE, *people_tables.LOADABLE)}
EMBEDDED = {table.name: table for table in (*records_tables.EMBEDDED, *people_tables.EMBEDDED)}
EXPIRING = (*CORE_EXPIRING, *records_tables.EXPIRING, *people_tables.EXPIRING)
