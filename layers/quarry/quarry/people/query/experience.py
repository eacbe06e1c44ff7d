"""For how long somebody has worked: "8 years of experience", "10+ yrs", "less than 3 years on the job"."""

from __future__ import annotations

from bisect import bisect_left

from quarry.core.language.stemming import stem
from quarry.core.language.tokens import keys
from quarry.core.query.mention import Duration, Mention
from quarry.people.query.draft import Draft

MONTHS_A_YEAR = 12
_YEARS = frozenset(("year", "yr", "yrs", "yoe", "decad"))
AFTER_TOKENS = 4
BEFORE_TOKENS = 3
"""So near to a length of time stands what it is the length of."""

_WORKING = frozenset(
    stem(word)
    for word in "experience experienced work working worked career job practice practicing practising profession "
    "professional professionally industry field trade belt".split()
)
_OTHERWISE = frozenset(("ago", "old", "aged", "age", "notice", "within", "contract", "next", "last", "past"))
"""Beside a length of time they say that it is of something else."""


def take_experience(draft: Draft, mention: Mention, value: Duration) -> None:
    """Who has done something for at least so long has worked for so long; that it is at most so long has to be said of work.

    A length that nothing compares ("6 years of experience") is the least.
    """
    after, before = _beside(draft, mention)
    if mention.assertion == "negated" or _OTHERWISE & {*keys(draft.text(mention)), *after[:1], *before[-2:]}:
        return
    is_of_work = value.unit == "yoe" or bool(_WORKING & {stem(word) for word in (*before, *after)})
    if not is_of_work and not (value.least is not None and value.most is None and value.unit in _YEARS):
        return
    must = draft.constraints.must
    most = None if value.most == value.least else value.most
    must.experience_years_min = None if value.least is None else round(value.least / MONTHS_A_YEAR, 2)
    must.experience_years_max = None if most is None else round(most / MONTHS_A_YEAR, 2)
    draft.note("must.experience_years", draft.text(mention), mention)


def _beside(draft: Draft, mention: Mention) -> tuple[list[str], list[str]]:
    """The words right behind and right before a mention, of its clause."""
    tokens, text = draft.parsed.tokens, draft.parsed.text
    first = bisect_left(tokens, mention.start, key=lambda token: token.start)
    last = bisect_left(tokens, mention.end, key=lambda token: token.start)
    after: list[str] = []
    end = mention.end
    for token in tokens[last : last + AFTER_TOKENS]:
        if "," in text[end : token.start] or ";" in text[end : token.start]:
            break
        after.append(token.key)
        end = token.end
    return after, [token.key for token in tokens[max(0, first - BEFORE_TOKENS) : first]]
