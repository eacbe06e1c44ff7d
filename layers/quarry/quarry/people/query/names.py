"""Who is asked for by name; and names that are no values of the data, of an employer, a place or something else."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace

from quarry.language.tokens import keys
from quarry.people.query.draft import ORGANISATIONS, PLACES, Draft, facets_of, values_of
from quarry.people.query.organisations import mark_former
from quarry.people.query.places import name_with_place, take_place_text
from quarry.spans.mention import Known, Mention, Word

NAMES_IN_PARTS_MAX = 6

_EMPLOYER_LEADS = frozenset({"at", "from", "for", "with", "@", "ex", "joined"})


def take_name(draft: Draft, mention: Mention, value: Known) -> None:
    field = "keywords" if mention.assertion == "negated" else "name"
    draft.put(field, values_of(value, {"name"}), mention)


def take_names_in_parts(draft: Draft) -> None:
    """Somebody of whose name several words are said, each of which by itself may mean others."""
    said: dict[str, list[Mention]] = {}
    for mention in draft.parsed.mentions:
        if isinstance(mention.value, Known) and mention.is_latent and mention.assertion == "affirmed":
            for name in values_of(mention.value, {"name"}):
                said.setdefault(name, []).append(mention)
    for name, mentions in said.items():
        if len(mentions) > 1 or _has_more_of(draft, name, mentions[0]):
            draft.put("name", [name], replace(mentions[0], end=mentions[-1].end))
    for name, mentions in said.items() if draft.constraints.must.name else ():
        # "Ada Moreau and Grace"
        if mentions[0].joined_by and len(said) <= NAMES_IN_PARTS_MAX and draft.text(mentions[0])[:1].isupper():
            draft.put("name", [name], mentions[0])


def _has_more_of(draft: Draft, name: str, mention: Mention) -> bool:
    """Whether a word beside a part of a name is of that name too."""
    tokens = draft.parsed.tokens
    first = bisect_left(tokens, mention.start, key=lambda token: token.start)
    last = bisect_left(tokens, mention.end, key=lambda token: token.start)
    beside = {token.key for token in (*tokens[max(0, first - 1) : first], *tokens[last : last + 1])}
    return bool(beside & set(keys(name)))


def take_unknown_names(draft: Draft) -> None:
    """Names that are no values of the data: an employer or a place that nobody has, or words of some text."""
    leads: dict[int, str] = {}
    for place, mention in enumerate(draft.parsed.mentions):
        if not (isinstance(mention.value, Word) and mention.value.is_name):
            continue
        leads[place] = lead = _lead_of(draft, place, leads)
        if mention.assertion in ("doubtful", "preferred"):
            continue
        text = name_with_place(draft, place)
        if lead == "company":
            draft.put("company_norm", [text.lower()], mention)
            if mention.assertion != "negated":
                mark_former(draft, place)
        elif lead == "place":
            take_place_text(draft, mention, text.lower())
        elif mention.assertion != "negated":
            draft.put("text", [text], mention)


def _lead_of(draft: Draft, place: int, leads: Mapping[int, str]) -> str:
    """What leads to a name: of a list, what leads to its first."""
    mentions = draft.parsed.mentions
    if mentions[place].joined_by is not None:
        for before in range(place - 1, max(-1, place - 3), -1):
            if before in leads:
                return leads[before]
            if isinstance(mentions[before].value, Known) and ORGANISATIONS & facets_of(mentions[before]):
                return "company"
    words = keys(draft.text(mentions[place - 1])) if place else ()
    if words and words[-1] in _EMPLOYER_LEADS:
        return "company"
    names = facets_of(mentions[place - 2]) if place > 1 else frozenset()
    return "place" if words and words[-1] == "in" and names & PLACES else "text"
