"""What retrieval finds in a workspace, as typed values: no database in here."""

from __future__ import annotations

from dataclasses import dataclass

from quarry.ontology.contract import EntityType


@dataclass(frozen=True)
class Candidate:
    """An entity of the caller's. `snippet` marks the matched words as `core.snippet` says; `is_match` means that it is a match:
    it holds every word of the query, or its title is similar to it. The others are merely the nearest.
    """

    type: EntityType
    id: str
    project_id: str
    project_name: str | None
    title: str
    snippet: str
    score: float
    is_match: bool


@dataclass(frozen=True)
class Candidates:
    """The best entities for a query, and how many there are in all; of `more` than could be counted, how many at least."""

    entities: tuple[Candidate, ...]
    total: int
    more: bool = False
