"""The tables of all domains: which can be loaded, embedded and cleaned up."""

from __future__ import annotations

from quarry.companies import tables as companies_tables
from quarry.core.cleanup import CORE_EXPIRING
from quarry.people import tables as people_tables
from quarry.records import tables as records_tables

_DOMAINS = (companies_tables, people_tables, records_tables)

LOADABLE = {table.name: table for domain in _DOMAINS for table in domain.LOADABLE}
EMBEDDED = {table.name: table for domain in _DOMAINS for table in domain.EMBEDDED}
EXPIRING = (*CORE_EXPIRING, *people_tables.EXPIRING, *records_tables.EXPIRING)
