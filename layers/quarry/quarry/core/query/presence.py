"""That a row has a value of a facet, or none, whatever it is."""

from __future__ import annotations

from collections.abc import Set

from quarry.core.language.tokens import keys
from quarry.core.query.mention import Cue, FacetName, Known, ParsedQuery, Phrase, Word
from quarry.core.query.question import Condition
from quarry.core.retrieval.facets import Facet, SearchTable

_ARTICLES = frozenset(("a", "an", "any"))
_HAVING = frozenset("with have has had having make makes made making give gives giving gave".split())
_VERBS_BEFORE_MAX = 3


def presences(parsed: ParsedQuery, table: SearchTable, said_otherwise: Set[int]) -> list[tuple[int, Condition]]:
    """Conditions that a row has any value of a facet at all, or none ("with an offer", "that have no brand"), with the places
    of the mentions that say so; those at `said_otherwise` say something else.
    """
    found = []
    for place, mention in enumerate(parsed.mentions):
        value = mention.value
        if not isinstance(value, FacetName) or value.grain or place in said_otherwise:
            continue
        facet = table.facet(value.facets[0])
        if facet.kind not in ("boolean", "number") and not _leads_on(parsed, place) and _is_had(parsed, place, facet):
            found.append((place, Condition(facet.name, is_negated=mention.assertion == "negated")))
    return found


def _leads_on(parsed: ParsedQuery, place: int) -> bool:
    """Whether what stands right behind a facet's name is its value, or described by it ("not promising rest")."""
    following = parsed.mentions[place + 1] if place + 1 < len(parsed.mentions) else None
    return (
        following is not None
        and isinstance(following.value, (Word, Known, Phrase))
        and following.start - parsed.mentions[place].end == 1
    )


def _is_had(parsed: ParsedQuery, place: int, facet: Facet) -> bool:
    """Whether the words before a facet's name say that a row has one ("makes an", "with an"), or none ("without", "has no")."""
    mention = parsed.mentions[place]
    has_article = facet.kind == "text"
    for before in reversed(parsed.mentions[max(0, place - _VERBS_BEFORE_MAX) : place]):
        said = keys(parsed.said(before))
        if isinstance(before.value, Word) and mention.assertion == before.assertion == "negated":
            # "without venture funding"; but a "closing date" is no date of another name
            if facet.kind == "date":
                return False
            continue
        if not isinstance(before.value, Cue) or not said:
            return False
        if before.value.what.startswith("negates"):
            return mention.assertion == "negated"
        if said[-1] in _HAVING and mention.assertion == "affirmed":
            return has_article
        if said[-1] not in (_ARTICLES | _HAVING):
            return False
        has_article = has_article or said[-1] in _ARTICLES
    return False
