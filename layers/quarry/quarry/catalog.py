"""The tables of all domains: which can be loaded, embedded, searched and cleaned up."""

from __future__ import annotations

from quarry.campaigns import facets as campaigns_facets
from quarry.campaigns import tables as campaigns_tables
from quarry.companies import facets as companies_facets
from quarry.companies import tables as companies_tables
from quarry.core.cleanup import CORE_EXPIRING
from quarry.ontology import facets as ontology_facets
from quarry.ontology import tables as ontology_tables
from quarry.people import facets as people_facets
from quarry.people import tables as people_tables
from quarry.records import facets as records_facets
from quarry.records import tables as records_tables

LOADABLE = {
    table.name: table
    for domain in (companies_tables, people_tables, records_tables, ontology_tables, campaigns_tables)
    for table in domain.LOADABLE
}
EMBEDDED = {
    table.name: table
    for domain in (companies_tables, people_tables, records_tables, campaigns_tables)
    for table in domain.EMBEDDED
}
SEARCHED = {
    table.name: table
    for domain in (companies_facets, people_facets, records_facets, ontology_facets, campaigns_facets)
    for table in domain.SEARCHED
}
EXPIRING = (*CORE_EXPIRING, *people_tables.EXPIRING, *records_tables.EXPIRING)
