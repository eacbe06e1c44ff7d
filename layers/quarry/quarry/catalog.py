"""The tables of all domains: which can be loaded, embedded and cleaned up."""

from __future__ import annotations

from quarry.campaigns import tables as campaigns_tables
from quarry.core.cleanup import CORE_EXPIRING
from quarry.ontology import tables as ontology_tables
from quarry.records import tables as records_tables

LOADABLE = {
    table.name: table for table in (*records_tables.LOADABLE, *ontology_tables.LOADABLE, *campaigns_tables.LOADABLE)
}
EMBEDDED = {table.name: table for table in (*records_tables.EMBEDDED, *campaigns_tables.EMBEDDED)}
EXPIRING = (*CORE_EXPIRING, *records_tables.EXPIRING)
