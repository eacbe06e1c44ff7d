"""Is a query a keyword lookup or a question? By rule: a model would add its latency to every search and gain little.

An ambiguous query counts as a question, so that its reader gets an answer; the list is one tab away.
"""

from __future__ import annotations

import re

from quarry.language.tokens import codes_in
from quarry.platform.text import STOP_WORDS, placed_words, words
from quarry.records.contract import Intent
from quarry.spans.mention import Span

QUESTION_WORDS = frozenset(
    """
    who what when where why how which whose whom is are was were do does did can could will would should has have had explain
    describe compare summarize summarise
    """.split()
)
QUESTION_PHRASES = (("tell", "me"), ("show", "me"), ("give", "me"), ("find", "out"))
KEYWORD_WORDS_MAX = 3

_OPERATORS = re.compile(r'"|(?:^|\s)-\S|\bOR\b')
_TYPED = re.compile(r'(-*+)("[^"]*"?|[^\s"]+)')
"""A word or phrase, and the dashes before it: an odd number of them excludes it, as the SQL function `read_query` has it."""

_SET_QUOTES = re.compile(r'“([^“”„"]*)”|„([^“”„"]*)[“”]|«([^«»"]*)»')
"""Quotes as keyboards set them, which `read_query` takes for plain ones."""


def classify_intent(query: str) -> Intent:
    """`question` if it is asked as one, or has more than three words; else `keyword`."""
    if is_asked(query):
        return "question"
    typed = _plainly_quoted(query.strip())
    if typed.startswith('"') and typed.endswith('"'):
        return "keyword"
    return "keyword" if len(query.split()) <= KEYWORD_WORDS_MAX else "question"


def is_asked(query: str) -> bool:
    """Whether it ends in a question mark or starts like a question."""
    if query.rstrip().endswith(("?", "？")):
        return True
    found = words(query)
    return bool(found) and (found[0].split("'")[0] in QUESTION_WORDS or tuple(found[:2]) in QUESTION_PHRASES)


def exclusions_in(query: str) -> list[Span]:
    """Where the words and phrases stand that a dash excludes ("-parks", '-"bike lanes"')."""
    return [Span(*typed.span()) for typed in _TYPED.finditer(_plainly_quoted(query)) if len(typed[1]) % 2]


def without_exclusions(query: str) -> str:
    """What a query asks for, without what it excludes; as it stands where it excludes nothing."""
    excluded = exclusions_in(query)
    if not excluded:
        return query
    starts, ends = [0, *(each.end for each in excluded)], [*(each.start for each in excluded), len(query)]
    kept = (query[start:end].strip() for start, end in zip(starts, ends, strict=True))
    return " ".join(filter(None, kept))


def words_to_look_up(query: str) -> str:
    """What the text half of the search is given: a question without its small talk, anything else as it stands.

    "How much did the bridge go up" is about the bridge; its "much" and "go" are rare in records and would count for more. A code
    is a phrase, which lifts what holds it.
    """
    if _OPERATORS.search(_plainly_quoted(query)):
        return query
    codes = codes_in(query)
    others = " ".join(word for word in query.split() if not codes_in(word))
    if others and classify_intent(query) != "keyword":
        # as they were written: a refusal repeats them
        others = (
            " ".join(others[start:end] for word, start, end in placed_words(others) if word not in STOP_WORDS) or others
        )
    return " ".join([*([others] if others else []), *(f'"{code}"' for code in codes)])


def _plainly_quoted(query: str) -> str:
    """The query with every phrase in plain quotes, its letters where they were."""
    return _SET_QUOTES.sub(lambda quoted: f'"{quoted[0][1:-1]}"', query)
