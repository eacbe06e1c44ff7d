"""Companies as a source."""

from __future__ import annotations

from quarry.companies.facets import COMPANIES
from quarry.query.of_table import source_of

SOURCES = {
    "companies": source_of(
        COMPANIES,
        "companies",
        title="t.company_name",
        description="Companies: what they do, where, since when, and their funding",
    )
}
