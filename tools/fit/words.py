"""The words that the reader knows from questions which their database answers: those that frame a question and state no condition
("altogether" in "how many are there altogether"), and those that name nothing but can tell what is asked for.

Words that frame a question are read off statements without a condition: nothing that such a question says can state one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from quarry.language.word_forms import STOP_WORDS, stem, stems_of, tokenise
from quarry.reader.learned import KnownWords
from tools.fit.pairs import Pair

DATABASES_MIN = 3
"""Words must be known from questions about this many databases."""
_CONDITION = re.compile(r"\b(?:where|having|limit|intersect|except|filter|case|join)\b|\(\s*select\b", re.IGNORECASE)
_SYNTAX = re.compile(
    r"\b(?:select|distinct|count|sum|avg|min|max|from|as|join|on|where|and|or|not|in|like|between|is|null|exists|group|order|by"
    r"|having|limit|asc|desc|union|intersect|except|date|interval|case|when|then|else|end|filter|true|false)\b",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"\bgroup\s+by\b", re.IGNORECASE)
_COUNTED = re.compile(r"\s*select\s+count\s*\(", re.IGNORECASE)
_MEASURED = re.compile(r"\s*select\s+(?:round\s*\(\s*)?(?:avg|sum|min|max)\s*\(", re.IGNORECASE)
ANY = "any"
"""Stands for every kind of answer."""


def words_of(pairs: Iterable[Pair]) -> KnownWords:
    """The known words of questions."""
    about: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for pair in pairs:
        if pair.sql is None or pair.previous is not None:
            continue
        kinds = (ANY,) if _CONDITION.search(pair.sql) else (ANY, _kind_of(pair.sql))
        for word in _unnamed(pair.question, pair.sql):
            for kind in kinds:
                about[kind][word].add(pair.database)
    known = {
        kind: frozenset(word for word, databases in words.items() if len(databases) >= DATABASES_MIN)
        for kind, words in about.items()
    }
    return KnownWords(telling=known.pop(ANY, frozenset()), framing=known)


def _unnamed(question: str, sql: str) -> Iterator[str]:
    """The words of a question that are no name or value in its statement."""
    named = {*stems_of(_SYNTAX.sub(" ", sql).replace("_", " "))}
    for token in tokenise(question):
        if token.key.isalpha() and token.key not in STOP_WORDS and stem(token.key) not in named:
            yield token.key


def _kind_of(sql: str) -> str:
    """The kind of answer that a statement without conditions gives, as candidates name it."""
    if _GROUPED.search(sql):
        return "groups"
    return "count" if _COUNTED.match(sql) else "numbers" if _MEASURED.match(sql) else "rows"
