"""The tables of all domains: which can be loaded, embedded and cleaned up."""

from __future__ import annotations

from quarry.companies import tables as companies_tables
from quarry.core.cleanup import CORE_EXPIRING
from quarry.records import tables as records_tables

LOADABLE = {table.name: table for table in (*companies_tables.LOADABLE, *records_tables.LOADABLE)}
EMBEDDED = {table.name: table for table in (*companies_tables.EMBEDDED, *records_tables.EMBEDDED)}
EXPIRING = (*CORE_EXPIRING, *records_tables.EXPIRING)
