"""What is done with things that other rows refer to: halls are booked, products sold. Rows tell so by being there."""

from __future__ import annotations

from collections.abc import Set

from quarry.language.nouns import name_people
from quarry.language.stemming import stem_set
from quarry.language.tokens import keys
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.measures import QUANTITIES, SALES

SOLD = stem_set("sold selling bought purchased")
_SALES = stem_set(" ".join(SALES))
SELLING = SOLD | stem_set("ordered")
USING = SELLING | stem_set("used consumed")
"""What is done to so many at a time, where rows have a quantity."""
DEALING = USING | stem_set("booked rented hired borrowed reserved requested chosen visited popular")
"""What is done with whatever is referred to; which rows tell of what is sold is told by what these are called."""


def dealt_with(table: SearchTable, said: Set[str]) -> Facet | None:
    """The number of rows that refer to a row of the table by what is `said` to be done with it, by stems: of those that are
    called so ("booked": bookings), else of sales where something is sold, else of the only ones; None where that is not clear.
    """
    if table.united or not said & DEALING or (said & SOLD and name_people(table.nouns)):
        # what somebody sold most of is not said
        return None
    counts = [facet for facet in table.facets if facet.counts]
    called = [each for each in counts if said & _called(each)]
    sales = [each for each in counts if _SALES & _called(each)] if said & SELLING else []
    chosen = called or sales or ([] if said & SOLD else counts)
    return chosen[0] if len(chosen) == 1 else None


def referred_by(table: SearchTable, to: SearchTable, counted: Facet) -> tuple[SearchTable, Facet] | None:
    """Of the tables united, the one whose rows are counted so of rows of `to`, and its facet that tells to which of these each
    refers, and is called as they are.
    """
    rows = next((each for each in table.united if each.nouns[:1] == counted.counts[:1]), None)
    if rows is None or to.source is None:
        return None
    own = (each for each in rows.facets if each.via == (to.source,) and each.is_listed and each.label in to.nouns)
    return next(((rows, facet) for facet in own), None)


def quantity_of(table: SearchTable) -> Facet | None:
    """The only quantity that its rows have."""
    own = [facet for facet in table.facets if facet.kind == "number" and facet.steps == 0 and facet.is_measurable]
    found = [facet for facet in own if QUANTITIES & {*facet.name_words}]
    return found[0] if len(found) == 1 else None


def _called(counted: Facet) -> frozenset[str]:
    return stem_set(" ".join(key for noun in counted.counts for key in keys(noun)))
