"""What civic records can be filtered, counted and grouped by, and which of their facets are read in ways of their own."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.core.retrieval.facets import SearchTable
from quarry.records.meetings import MATTER, MEETING, MEETINGS
from quarry.records.types import SEARCHED_BY_TYPE, RecordType

VOTERS = frozenset(("mover", "seconder", "votes_for", "votes_against", "abstained"))
"""The facets of motions that name people."""

PEOPLE_FACETS = VOTERS | {"speaker", "sponsor"}

SAID_FACETS = frozenset(("speaker_role", "category", "stance", "matter_type", "document_type", "status"))
"""Facets whose values, said whole, are meant as such where records are counted, though elsewhere they are words like others."""

KIND_FACETS: Mapping[RecordType, str] = {"matter": "matter_type", "document_section": "document_type"}
"""The facets that say what kind of thing a record of the type is, as its noun does."""

SEARCHED = tuple(SEARCHED_BY_TYPE.values())

RECORDS = SearchTable(
    "records",
    nouns=tuple(dict.fromkeys(noun for table in (*SEARCHED, MEETINGS) for noun in table.nouns)),
    facets=tuple({facet.name: facet for table in SEARCHED for facet in table.facets}.values()),
    date="date",
    related=(MEETING, MATTER),
    united=SEARCHED,
)
"""All types together, as a question is read that names none of them."""
