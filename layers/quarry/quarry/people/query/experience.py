"""For how long somebody has worked: "8 years of experience", "10+ yrs", "less than 3 years on the job"."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from itertools import pairwise, takewhile

from quarry.language.stemming import stem
from quarry.language.tokens import Token, keys
from quarry.people.query.draft import Draft
from quarry.spans.mention import Cue, Duration, Known, Mention, ParsedQuery, Word

MONTHS_A_YEAR = 12
_YEARS = frozenset(("year", "yr", "yrs", "yoe", "decad"))
AFTER_TOKENS = 4
BEFORE_TOKENS = 3
"""So near to a length of time stands what it is the length of."""

_WORKING = frozenset(
    stem(word)
    for word in "experience experienced exp work working worked career job practice practicing practising profession "
    "professional professionally industry field trade belt".split()
)
_OTHERWISE = frozenset(("ago", "old", "aged", "age", "notice", "within", "contract", "next", "last", "past"))
"""Beside a length of time they say that it is of something else."""
_ITSELF = frozenset(("experience", "exp", "experienced", "work", "worked", "working", "professional", "professionally"))
"""Words that say no more than that a length of time beside them is one of work."""
_JOINING = frozenset(("of", "for"))


def with_experience(parsed: ParsedQuery) -> ParsedQuery:
    """The same question where a length of work is one mention with the words beside it that say no more than that: of "at least 8
    years of experience", the last is no topic.
    """
    taken = {mention.start for mention in parsed.mentions if _says_something(mention)}
    mentions: list[Mention] = []
    for mention in parsed.mentions:
        if _is_of_work(parsed, mention):
            mention = _with_words_beside(parsed, mention, taken)
            while mentions and mentions[-1].start >= mention.start:
                mentions.pop()
        if not mentions or mention.start >= mentions[-1].end:
            mentions.append(mention)
    return replace(parsed, mentions=mentions)


def _says_something(mention: Mention) -> bool:
    if isinstance(mention.value, Known):
        return any(known.is_whole for known in mention.value.values)
    return not isinstance(mention.value, (Cue, Word))


def _with_words_beside(parsed: ParsedQuery, mention: Mention, taken: Set[int]) -> Mention:
    first, last = _tokens_of(parsed, mention)
    after = takewhile(lambda token: not token.ends_clause, parsed.tokens[last : last + AFTER_TOKENS])
    nearer = pairwise(reversed(parsed.tokens[max(0, first - BEFORE_TOKENS) : first + 1]))
    before = (token for _, token in takewhile(lambda each: not each[0].ends_clause, nearer))
    start = min((token.start for token in _saying_no_more(before, taken)), default=mention.start)
    end = max((token.end for token in _saying_no_more(after, taken)), default=mention.end)
    return replace(mention, start=start, end=end)


def _saying_no_more(tokens: Iterable[Token], taken: Set[int]) -> Iterator[Token]:
    """Of words from the nearest on those that only say what the length of time is of, up to one that says something else."""
    run = takewhile(lambda token: token.start not in taken and token.key in _ITSELF | _JOINING, tokens)
    return (token for token in run if token.key in _ITSELF)


def take_experience(draft: Draft, mention: Mention, value: Duration) -> None:
    """Who has done something for at least so long has worked for so long; that it is at most so long has to be said of work.

    A length that nothing compares ("6 years of experience") is the least.
    """
    if not _is_of_work(draft.parsed, mention):
        return
    must = draft.constraints.must
    most = None if value.most == value.least else value.most
    must.experience_years_min = None if value.least is None else round(value.least / MONTHS_A_YEAR, 2)
    must.experience_years_max = None if most is None else round(most / MONTHS_A_YEAR, 2)
    draft.note("must.experience_years", draft.text(mention), mention)


def _is_of_work(parsed: ParsedQuery, mention: Mention) -> bool:
    value = mention.value
    if not isinstance(value, Duration) or mention.assertion == "negated":
        return False
    after, before = _beside(parsed, mention)
    said = [*keys(parsed.said(mention))]
    if _OTHERWISE & {*said, *after[:1], *before[-2:]}:
        return False
    if value.unit == "yoe" or _WORKING & {stem(word) for word in (*before, *said, *after)}:
        return True
    return value.least is not None and value.most is None and value.unit in _YEARS


def _tokens_of(parsed: ParsedQuery, mention: Mention) -> tuple[int, int]:
    """The place of the first token of a mention, and the place behind its last one."""
    start, end = (bisect_left(parsed.tokens, at, key=lambda token: token.start) for at in (mention.start, mention.end))
    return start, end


def _beside(parsed: ParsedQuery, mention: Mention) -> tuple[list[str], list[str]]:
    """The words right behind and right before a mention, of its clause."""
    tokens, text = parsed.tokens, parsed.text
    first, last = _tokens_of(parsed, mention)
    after: list[str] = []
    end = mention.end
    for token in tokens[last : last + AFTER_TOKENS]:
        if "," in text[end : token.start] or ";" in text[end : token.start]:
            break
        after.append(token.key)
        end = token.end
    return after, [token.key for token in tokens[max(0, first - BEFORE_TOKENS) : first]]
