"""Where somebody works, worked or studied: companies, schools, teams, and whether still."""

from __future__ import annotations

import re
from dataclasses import replace

from quarry.people.query.draft import BOTH_REACH, ORGANISATIONS, Draft, facets_of, values_of
from quarry.spans.mention import Cue, FacetName, Known, Mention

FORMER_WORDS = 3
"""So many words before an organisation say that somebody is there no longer."""
BESIDE = 2
"""So many words from being open to work "now" is said of it."""
CURRENT_REACH = 5
"""So far before an organisation "currently" may stand."""

_RECRUITING = frozenset({"hiring", "recruiting", "hire", "recruit"})
_FORMER = frozenset("ex former formerly previously earlier left longer past was".split())
_ANY_MORE = re.compile(r"\s{1,3}(?:any\s?more|any longer)\b", re.IGNORECASE)
_EMPLOYED = frozenset({"employed", "in work"})
"""Where somebody is or was so, an organisation says."""


def take_organisation(draft: Draft, place: int, mention: Mention, value: Known) -> None:
    names = [name.lower() for name in values_of(value, ORGANISATIONS)]
    if mention.assertion == "negated" and _ANY_MORE.match(draft.parsed.text, mention.end):
        # "do not work at … anymore": there they were
        draft.put("company_norm", names, replace(mention, assertion="affirmed"))
        draft.constraints.must.is_current = False
    elif mention.assertion == "negated":
        draft.put("company_norm", names, mention)
    elif not _RECRUITING & draft.words_before(place, 2):  # else who is to be found is to go there
        is_school = ORGANISATIONS & facets_of(mention) == {"school"}
        must = draft.constraints.must
        beside = is_school and bool(must.company_norm)
        if must.company_norm and mention.joined_by == "and" and "both" in draft.words_before(place, BOTH_REACH):
            # one of the companies is enough for a card: of the person's words each must hold
            must.text += [must.company_norm[-1], names[0]]
        draft.put("school_norm" if beside else "company_norm", names, mention)
        mark_former(draft, place)


def mark_former(draft: Draft, place: int) -> None:
    """Notes where the words before an organisation say that somebody has left it."""
    cues = (mention.value for mention in draft.before(place, FORMER_WORDS))
    said = _FORMER & draft.words_before(place, FORMER_WORDS)
    if Cue("former") in cues or said or draft.is_of_the_past(draft.parsed.mentions[place]):
        draft.constraints.must.is_current = False
        should = draft.constraints.should
        should.keywords = [word for word in should.keywords if word not in said]


def take_team(draft: Draft, mention: Mention, value: Known) -> None:
    draft.is_team_required = draft.is_team_required or mention.assertion == "required"
    draft.put("team_norm", [name.lower() for name in values_of(value, {"team"})], mention)


def take_current(draft: Draft, place: int, mention: Mention) -> None:
    """Being there now is asked of the card that all else is asked of: only where nothing of the past is asked for beside it."""
    must = draft.constraints.must
    following = draft.parsed.mentions[place + 1 : place + 1 + CURRENT_REACH]
    if any("open_to_work" in facets_of(each) for each in (*draft.before(place, BESIDE), *following[:BESIDE])):
        return  # "not looking for a job right now"
    if mention.assertion == "negated":
        take_not_current(draft, mention)
        return
    said_of = next((each for each in following if not isinstance(each.value, Cue)), None)
    if said_of is not None and said_of.assertion == "negated":
        return  # "not currently at": what is ruled out there is enough
    is_deed = draft.text(mention).lower() in _EMPLOYED
    governs = any(isinstance(each.value, Known) and ORGANISATIONS & facets_of(each) for each in following) or (
        # "their current job"
        bool(following) and isinstance(following[0].value, FacetName) and "title" in facets_of(following[0])
    )
    if (governs and not is_deed) or draft.is_about_now_alone:
        must.is_current = None if must.is_current is False else True
        draft.note("must.is_current", "true", mention)


def take_not_current(draft: Draft, mention: Mention) -> None:
    """ "Not now" is said of the organisation before it, else of all work: "unemployed"."""
    if draft.constraints.must.company_norm:
        draft.constraints.must.is_current = False
    else:
        draft.constraints.exclude.is_current = True
        draft.note("exclude.is_current", "true", mention)
