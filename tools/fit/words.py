"""The words that the reader knows from questions which their database answers: those that frame a question and state no condition
("altogether" in "how many are there altogether"), and those that name nothing but can tell what is asked for.

Words that frame a question are read off statements without a condition: nothing that such a question says can state one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from quarry.language.word_forms import STOP_WORDS, stem, stems_of, tokenise
from quarry.reader.learned import ANYTHING, COUNT, KnownWords
from quarry.reader.names import FieldName, names_of
from quarry.schema.algebra import Direction
from tools.fit.pairs import Pair
from tools.fit.training import Fit

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
GROUPING_SHARE = 0.88
"""The share of the questions with a word that asks for groups which do, by Laplace's rule of succession."""
ANY = "any"
"""Stands for every kind of answer."""


_ORDERED = re.compile(
    r'\border\s+by\s+(?:"?\w+"?\.)?"?(?P<by>\w+)"?(?P<of>\s*\([^)]*\))?\s*(?P<way>asc|desc)?(?:\s+nulls\s+\w+)?\s+limit\s+\d'
    r'|\b(?P<fn>max|min)\s*\(\s*(?:"?\w+"?\.)?"?(?P<field>\w+)"?\s*\)',
    re.IGNORECASE,
)
ORDERS_SHARE = 0.6
"""The share of the questions with a word for the most or least that ask for one."""
ASKING_SHARE = 0.8
"""A word that begins this share of its questions says how they ask: "welcher"."""
ONE_WAY_SHARE = 0.8
"""How often such a word means the same direction of the same things."""
SAID_MIN = 2
"""A word is said of something that it orders in this many databases."""
ANYTHING_MIN = 3
ANYTHING_SHARE = 0.45
"""A word is said of numbers of any kind if it orders plain ones of so many names, and these are so many of all that it orders."""


class Extreme(NamedTuple):
    """The words of a question, and what it asks for the most or least of, if it does: what that `measures`."""

    database: str
    begins: str
    words: frozenset[str]
    way: Direction | None = None
    measures: frozenset[str] = frozenset()
    is_plain: bool = False
    """Whether it is a number without a unit, which only its name tells from others."""


def extreme_of(fit: Fit, pair: Pair) -> Extreme | None:
    """What a question asks for the most or least of. What the question names is none of its words. None if no number or time is
    called that.
    """
    tokens = tokenise(pair.question)
    words = {token.key for token in tokens if token.key.isalpha() and token.key not in STOP_WORDS}
    begins = tokens[0].key if tokens else ""
    found = _ORDERED.search(pair.sql or "")
    if found is None:
        return Extreme(pair.database, begins, frozenset(words))
    name, is_count = found["by"] or found["field"], (found["by"] or "").lower() == COUNT
    way: Direction = "desc" if (found["way"] or found["fn"] or "").lower() in ("desc", "max") else "asc"
    every = names_of(fit.world.database(pair.database).schema).sources.values()
    fields = [each for of in every for each in of.columns if each.name.lower() == name.lower()]
    fields = [each for each in fields if each.is_amount or each.is_date]
    if not (is_count or fields):
        return None
    measures = frozenset({COUNT}) if is_count else fields[0].measures
    unnamed = {word for word in words if stem(word) not in stems_of(name.replace("_", " "))}
    return Extreme(pair.database, begins, frozenset(unnamed), way, measures, not is_count and _is_plain(fields[0]))


def _is_plain(each: FieldName) -> bool:
    return each.kind == "number" and each.unit is None


def ordering_of(extremes: Sequence[Extreme]) -> dict[str, dict[str, frozenset[str]]]:
    """The words for the most or least, by direction, each with what it is said of."""
    asked = Counter(word for each in extremes for word in each.words)
    begun = Counter(each.begins for each in extremes)
    about: defaultdict[str, list[Extreme]] = defaultdict(list)
    for each in extremes:
        for word in each.words if each.way else ():
            about[word].append(each)
    found: dict[str, dict[str, frozenset[str]]] = {"asc": {}, "desc": {}}
    for word, said in about.items():
        is_known = len({each.database for each in said}) >= DATABASES_MIN
        is_asking = begun[word] >= ASKING_SHARE * asked[word]
        if is_known and not is_asking and len(said) >= ORDERS_SHARE * asked[word] and _is_one_way(said):
            for way, words in found.items():
                words[word] = _said_of([each for each in said if each.way == way])
    return found


def _is_one_way(said: Sequence[Extreme]) -> bool:
    ways = Counter((each.measures, each.way) for each in said)
    most: Counter[frozenset[str]] = Counter()
    for (measures, _), number in ways.items():
        most[measures] = max(most[measures], number)
    return most.total() >= ONE_WAY_SHARE * len(said)


def _said_of(said: Sequence[Extreme]) -> frozenset[str]:
    """What a word is said of, in one direction."""
    databases: defaultdict[str, set[str]] = defaultdict(set)
    for each in said:
        for what in each.measures:
            databases[what].add(each.database)
    plain = {each.measures for each in said if each.is_plain}
    every = {each.measures for each in said if each.measures != {COUNT}}
    is_of_any = len(plain) >= max(ANYTHING_MIN, ANYTHING_SHARE * len(every))
    known = {what for what, names in databases.items() if len(names) >= SAID_MIN}
    return frozenset({*known, ANYTHING} if is_of_any else known)


def words_of(pairs: Iterable[Pair], ordering: Mapping[str, Mapping[str, frozenset[str]]]) -> KnownWords:
    """The known words of questions. Those for the most or least are known before."""
    about: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    asked, grouped = Counter[str](), Counter[str]()
    for pair in pairs:
        if pair.sql is None or pair.previous is not None:
            continue
        kinds = (ANY,) if _CONDITION.search(pair.sql) else (ANY, _kind_of(pair.sql))
        unnamed = {*_unnamed(pair.question, pair.sql)}
        asked.update(unnamed)
        grouped.update(unnamed if _GROUPED.search(pair.sql) else ())
        for word in unnamed:
            for kind in kinds:
                about[kind][word].add(pair.database)
    known = {
        kind: frozenset(word for word, databases in words.items() if len(databases) >= DATABASES_MIN)
        for kind, words in about.items()
    }
    telling = known.pop(ANY, frozenset())
    framing = {word for words in known.values() for word in words}
    grouping = {word for word in framing if (grouped[word] + 1) / (asked[word] + 2) >= GROUPING_SHARE}
    return KnownWords(known, telling, frozenset(grouping), ordering)


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
