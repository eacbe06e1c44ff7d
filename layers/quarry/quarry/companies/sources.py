"""Companies as a source."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.companies.facets import COMPANIES
from quarry.core.services import Caller, Services
from quarry.query.of_table import source_of
from quarry.query.schema import Source

_SOURCES = {
    "companies": source_of(
        COMPANIES,
        "companies",
        title="t.company_name",
        description="Companies: what they do, where, since when, and their funding",
    )
}


async def sources_for(caller: Caller, services: Services) -> tuple[Mapping[str, Source], Mapping[str, str]]:
    """The sources by name; no setting of the database is needed."""
    return _SOURCES, {}
