"""Is a query a keyword lookup or a question? By rule: a model would add its latency to every search and gain little.

An ambiguous query counts as a question, so that its reader gets an answer; the list is one tab away.
"""

from __future__ import annotations

from quarry.core.text import words
from quarry.records.contract import Intent

QUESTION_WORDS = frozenset(
    [
        "who",
        "what",
        "when",
        "where",
        "why",
        "how",
        "which",
        "whose",
        "whom",
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "can",
        "could",
        "will",
        "would",
        "should",
        "has",
        "have",
        "had",
        "explain",
        "describe",
        "compare",
        "summarize",
        "summarise",
        "list",
    ]
)
QUESTION_PHRASES = (("tell", "me"), ("show", "me"), ("give", "me"), ("find", "out"))
KEYWORD_WORDS_MAX = 3


def classify_intent(query: str) -> Intent:
    """`question` if it ends in a question mark, starts like a question, or has more than three words; else `keyword`."""
    if query.rstrip().endswith(("?", "？")):
        return "question"
    found = words(query)
    if len(found) > 1 and (found[0].split("'")[0] in QUESTION_WORDS or tuple(found[:2]) in QUESTION_PHRASES):
        return "question"
    if query.strip().startswith('"') and query.strip().endswith('"'):
        return "keyword"
    return "keyword" if len(found) <= KEYWORD_WORDS_MAX else "question"
