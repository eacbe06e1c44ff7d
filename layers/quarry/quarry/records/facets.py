"""What civic records can be filtered, counted and grouped by, and which of their facets are read in ways of their own."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.records.types import TYPES, RecordType

VOTERS = frozenset(("mover", "seconder", "votes_for", "votes_against", "abstained"))
"""The facets of motions that name people."""

PEOPLE_FACETS = VOTERS | {"speaker", "sponsor"}

SAID_FACETS = frozenset(("speaker_role", "category", "stance", "matter_type", "document_type", "status"))
"""Facets whose values, said whole, are meant as such where records are counted, though elsewhere they are words like others."""

KIND_FACETS: Mapping[RecordType, str] = {"matter": "matter_type", "document_section": "document_type"}
"""The facets that say what kind of thing a record of the type is, as its noun does."""

SEARCHED = tuple(declared.table for declared in TYPES.values())

DECLARED_IN = ("collections",)
"""The table that says what else there is to search."""
