"""That a row has a value of a facet, or none, whatever it is; that what a yes or no tells is so, or is not."""

from __future__ import annotations

from collections.abc import Iterator, Set

from quarry.language.nouns import is_plural
from quarry.language.stemming import stem
from quarry.language.tokens import keys
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.date_verbs import facet_called, is_participle
from quarry.spans.mention import Cue, FacetName, Known, Mention, NumberRange, ParsedQuery, Phrase, Word
from quarry.spans.question import Condition
from quarry.spans.united_tables import meant_table

_ARTICLES = frozenset(("a", "an", "any"))
_HAVING = frozenset(
    "with have has had having make makes made making give gives giving gave take takes took taken taking".split()
)
_HAD = (("with",), ("have",), ("has",), ("had",))
_SAID_SO = ("affirmed", "required")
_VERBS_BEFORE_MAX = 3
PARTS_MIN = 2
"""A yes or no that is called by fewer words is said by its name alone."""


def presences(parsed: ParsedQuery, table: SearchTable, said_otherwise: Set[int]) -> list[tuple[int, Condition]]:
    """Conditions that a row has any value of a facet at all, or none ("with an offer", "that have no brand"), with the places
    of the mentions that say so; those at `said_otherwise` say something else.
    """
    found = []
    own = meant_table(parsed, table).by_name
    for place, mention in enumerate(parsed.mentions):
        value = mention.value
        if not isinstance(value, FacetName) or value.grain or place in said_otherwise:
            continue
        facet = table.facet(facet_called(value, None, own))
        if facet.kind == "number" and is_plural(facet.label) and _is_counted(parsed, place):
            # "with dogs" of a number of them
            found.append((place, Condition(facet.name, range=NumberRange(1.0, None))))
        is_blank = facet.kind == "text" and table.reckons and mention.assertion == "negated"
        is_said = is_blank or (not _leads_on(parsed, place) and _is_had(parsed, place, facet))
        if facet.kind not in ("boolean", "number") and is_said:
            found.append((place, Condition(facet.name, is_negated=mention.assertion == "negated")))
    return found


def truths(parsed: ParsedQuery, table: SearchTable) -> Iterator[tuple[tuple[int, ...], Condition]]:
    """The words that say what a yes or no is called as a verb with its object ("paid the deposit", of `deposit_paid`): the places
    of the mentions, each with its condition.
    """
    own = meant_table(parsed, table)
    if own.united or not own.reckons:
        return
    said = {place: stem(key) for place, each in enumerate(parsed.mentions) if (key := _verb_or_object(parsed, each))}
    yield from _done_or_never(parsed, own)
    for facet in own.facets:
        wanted = frozenset(map(stem, keys(facet.label))) if facet.kind == "boolean" else frozenset[str]()
        if len(wanted) < PARTS_MIN:
            continue
        places = tuple(place for place, key in said.items() if key in wanted)
        if {said[place] for place in places} != wanted:
            continue
        between = (parsed.mentions[place].value for place in range(places[0], places[-1]) if place not in places)
        if all(each == Cue("filler") for each in between):
            is_negated = any(parsed.mentions[place].assertion == "negated" for place in places)
            evidence = tuple(parsed.mentions[place].span for place in places)
            yield places, Condition(facet.name, ("true",), is_negated=is_negated, evidence=evidence)


def counted_deed(facet: Facet) -> str | None:
    """The stem of the verb of which a number of a row says how often it was done: "renew" of `renewals`."""
    is_own = facet.kind == "number" and facet.steps == 0 and facet.related is None and facet.unit is None
    return stem(facet.label.lower()) if is_own and facet.label.isalpha() and is_plural(facet.label.lower()) else None


def _done_or_never(parsed: ParsedQuery, own: SearchTable) -> Iterator[tuple[tuple[int, ...], Condition]]:
    """ "Renewed", "never renewed", where rows tell how often they were; how often is not said."""
    numbers = {deed: facet for facet in own.facets if (deed := counted_deed(facet))}
    if any(isinstance(each.value, NumberRange) for each in parsed.mentions):
        return
    for place, mention in enumerate(parsed.mentions):
        word = parsed.said(mention).lower()
        facet = numbers.get(stem(word)) if isinstance(mention.value, Word) and is_participle(word) else None
        if facet is not None:
            times = NumberRange(0.0, 0.0) if mention.assertion == "negated" else NumberRange(1.0, None)
            yield (place,), Condition(facet.name, range=times, evidence=(mention.span,))


def _verb_or_object(parsed: ParsedQuery, mention: Mention) -> str | None:
    """The word of a mention that may be a part of what a yes or no is called."""
    said = keys(parsed.said(mention))
    is_free = isinstance(mention.value, (Word, FacetName)) or mention.value == Cue("light")
    return said[0] if is_free and len(said) == 1 else None


def _is_counted(parsed: ParsedQuery, place: int) -> bool:
    """Whether "with" or "have" stands right before it, and no number."""
    before = parsed.mentions[place - 1] if place else parsed.mentions[place]
    return parsed.mentions[place].assertion in _SAID_SO and keys(parsed.said(before))[-1:] in _HAD


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
        if said[-1] in _HAVING and mention.assertion in _SAID_SO:
            return has_article
        if said[-1] not in (_ARTICLES | _HAVING):
            return False
        has_article = has_article or said[-1] in _ARTICLES
    return False
