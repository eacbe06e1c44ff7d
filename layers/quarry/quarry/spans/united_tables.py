"""Which of several tables that are read as one a question is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from itertools import pairwise

from quarry.language.nouns import name_people, singular
from quarry.language.stemming import stems_of
from quarry.language.tokens import keys
from quarry.language.writing import ENGLISH
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.date_verbs import is_verb
from quarry.spans.mention import Cue, FacetName, Known, Mention, ParsedQuery, Place


def meant_table(
    parsed: ParsedQuery, table: SearchTable, suits: Callable[[SearchTable], bool] = lambda _: True
) -> SearchTable:
    """Of several tables that are read as one, and that suit, the one whose rows are named first, else the nearest that tells all
    that is named; all of them where that is not clear.
    """
    if not table.united:
        return table
    tables = [each for each in table.united if suits(each) and not is_misnamed(parsed, each, table)]
    for mention in parsed.mentions:
        if mention.value == Cue("noun"):
            said = stems_of(parsed.said(mention))
            called = [each for each in tables if any(stems_of(noun) == said for noun in each.nouns)]
            if len(called) == 1:
                return called[0]
    told = nearest(tables, named(parsed.mentions)) if named(parsed.mentions) else []
    return told[0] if len(told) == 1 else table


def is_misnamed(parsed: ParsedQuery, own: SearchTable, table: SearchTable) -> bool:
    """Whether a number of `own` has the name of what a question says, but is not called so: of `amount`, which is the revenue of
    payments, "revenue" says nothing where it is what was spent.
    """
    for mention in parsed.mentions:
        if not isinstance(mention.value, FacetName) or mention.value.grain or mention.source == "rule":
            continue
        facets = [facet for facet in own.facets if facet.name in mention.value.facets and facet.is_measurable]
        said = stems_of(parsed.said(mention))
        if not facets or any(_is_called(facet, said) for facet in facets):
            continue
        others = (facet for each in table.united for facet in each.facets if facet.name in mention.value.facets)
        if any(_is_called(facet, said) for facet in others):
            return True
    return False


def _is_called(facet: Facet, said: tuple[str, ...]) -> bool:
    return any(stems_of(name) == said for name in (facet.label, facet.plural, *facet.words, *facet.units))


def named(mentions: Iterable[Mention]) -> list[frozenset[str]]:
    """The facets that each of the mentions may be of: names of facets, and values."""
    found: list[frozenset[str]] = []
    for mention in mentions:
        value = mention.value
        if isinstance(value, FacetName):
            found.append(frozenset(value.facets))
        elif isinstance(value, Known) and not mention.is_latent:
            found.append(frozenset(each.facet for each in value.values))
        elif isinstance(value, Place) and value.known:
            found.append(frozenset(each.facet for each in value.known))
    return found


def nearest(tables: Iterable[SearchTable], needed: Sequence[Set[str]]) -> list[SearchTable]:
    """The tables that have one of each of these facets: those from whose rows the fewest references lead to them."""
    steps = [(table, _steps(table, needed)) for table in tables]
    told = [(table, far) for table, far in steps if far is not None]
    least = min((far for _, far in told), default=0)
    near = [table for table, far in told if far == least]
    # of lines and the bill that they are on, the bill
    whole = [each for each in near if all(each is other or _leads_to(other, each) for other in near)]
    return whole if len(whole) == 1 else near


def _leads_to(table: SearchTable, other: SearchTable) -> bool:
    return other.source is not None and any(other.source in facet.via for facet in table.facets)


def _steps(table: SearchTable, needed: Sequence[Set[str]]) -> int | None:
    far = {facet.name: facet.steps for facet in table.facets}
    found = [min((far[name] for name in names if name in far), default=None) for names in needed]
    return None if None in found else sum(each for each in found if each is not None)


_MORE = frozenset("more fewer less".split())
_OPENING_WORDS_MAX = 4
"""So many words into a question it says "more", where it asks of what there is more."""


def compared_values(parsed: ParsedQuery) -> frozenset[str]:
    """The facets of which two values are asked which more rows have ("are there more sloops or ketches", "do more people live in
    Ay than in Oe"); empty where a question asks no such thing.
    """
    words = [token.key for token in parsed.tokens]
    opening = next((place for place, word in enumerate(words[:_OPENING_WORDS_MAX]) if word in _MORE), len(words))
    if opening + 1 >= len(words) or words[opening + 1] == "than":
        return frozenset()
    valued = [place for place, each in enumerate(parsed.mentions) if isinstance(each.value, Known | Place)]
    for one, other in pairwise(valued):
        between = parsed.mentions[one + 1 : other]
        said = [parsed.said(each).lower() for each in between]
        is_joined = said[:1] in (["or"], ["than"]) and all(isinstance(each.value, Cue) for each in between)
        first, second = (
            facets[0] if (facets := named([parsed.mentions[each]])) else frozenset() for each in (one, other)
        )
        if is_joined and first & second and parsed.tokens[opening].end <= parsed.mentions[one].start:
            is_plain = {parsed.mentions[each].assertion for each in (one, other)} == {"affirmed"}
            # "more open bugs than features" may be more than all of these
            is_alone = len(valued) == 2 or said[0] == "or"
            return first & second if is_plain and is_alone else frozenset()
    return frozenset()


def nearest_people(facets: Iterable[Facet]) -> list[Facet]:
    """Those of some facets that tell of people by the fewest references."""
    people = [facet for facet in facets if are_people(facet)]
    least = min((facet.steps for facet in people), default=0)
    return [facet for facet in people if facet.steps == least]


def are_called_people(table: SearchTable) -> bool:
    """Whether a table's rows are called what people are."""
    return table.language == ENGLISH and name_people(table.nouns)


def are_people(facet: Facet) -> bool:
    """Whether a facet's values are people: declared so, or called by what people do ("reviewer", "assignee")."""
    *before, last = keys(facet.label) or ("",)
    is_doer = (
        name_people((singular(last),))
        or (last == "by" and len(before) == 1 and is_verb(before[0]))
        or before == ["assigned"]
    )
    return facet.is_people or facet.kind == "name" or (facet.kind == "value" and is_doer)
