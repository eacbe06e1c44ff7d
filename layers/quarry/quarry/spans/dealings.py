"""What is done with things that other rows refer to: halls are booked, products sold. Rows tell so by being there."""

from __future__ import annotations

from quarry.language.stemming import stem_set
from quarry.language.tokens import keys
from quarry.retrieval.facets import Facet
from quarry.spans.measures import SALES

SOLD = stem_set("sold selling bought purchased")
_SALES = stem_set(" ".join(SALES))
SELLING = SOLD | stem_set("ordered")
USING = SELLING | stem_set("used consumed")
"""What is done to so many at a time, where rows have a quantity."""


def _called(counted: Facet) -> frozenset[str]:
    return stem_set(" ".join(key for noun in counted.counts for key in keys(noun)))
