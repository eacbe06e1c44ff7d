"""What retrieval finds, as typed values: no database in here, so that rules and texts may be written over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

MATCHED_CARDS_PER_PERSON = 3
"""Cards of a person that are shown."""


@dataclass(frozen=True)
class CardHit:
    """A card near the query, or a child of it. Similarity is 1 / (1 + cosine distance), 1/3 to 1. Where there is no vector yet,
    the words say it: from 1/2, as of a text about something else, to 2/3 with every word of the query.

    The other fields are the card's own, also in a child's hit, and speak of what was asked for, relaxed or not: whether its dates
    overlap the time (never, where it has none), whether they cover all of it, and whether its place is the one; true where no
    time or place was asked for.
    """

    card_id: str
    child_id: str | None
    similarity: float
    time_overlaps: bool
    time_covered: bool
    location_matches: bool


@dataclass(frozen=True)
class PersonEvidence:
    """What was found of one person: the nearest cards and children that the filters let through, nearest first.

    `tier` is the tier that they were found in, which has dropped what they do not meet: the cards are those that it lets through.
    `text_score` says how well the query's words are matched by the best of all the person's cards and children that the filters
    let through (ts_rank_cd); `should_hits` how many of the should terms are held by any of them.
    """

    person_id: str
    parents: tuple[CardHit, ...]
    children: tuple[CardHit, ...]
    text_score: float
    should_hits: int
    tier: int = 0

    @property
    def hits(self) -> tuple[CardHit, ...]:
        return self.parents + self.children


@dataclass(frozen=True)
class RankedPerson:
    """A person with the score that the place in the list follows from."""

    person_id: str
    score: float
    evidence: PersonEvidence

    @cached_property
    def matched_card_ids(self) -> tuple[str, ...]:
        """The cards to show, best first: a card is as good as the best of its own similarity and its children's."""
        best: dict[str, float] = {}
        for hit in self.evidence.hits:
            best[hit.card_id] = max(hit.similarity, best.get(hit.card_id, 0.0))
        return tuple(sorted(best, key=lambda card_id: (-best[card_id], card_id))[:MATCHED_CARDS_PER_PERSON])

    @cached_property
    def matched_child_ids(self) -> tuple[str, ...]:
        """The children that were found of the cards to show, best first."""
        found = (hit for hit in self.evidence.children if hit.card_id in self.matched_card_ids)
        return tuple(hit.child_id for hit in sorted(found, key=lambda hit: -hit.similarity) if hit.child_id)
