"""How a question is read by rule: the topic it is about, the tags of the taxonomy it names, and what it demands besides.

Pure. Demands on fields hold with and without a model; topic and tags are for planning without one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from quarry.companies.constraints import Constraints
from quarry.companies.contract import ChatMessage, Status
from quarry.companies.demands import (
    read_count,
    read_employees,
    read_founded,
    read_funding_stages,
    read_raised,
    read_statuses,
)
from quarry.companies.places import place_names, spelt_out
from quarry.companies.vocabulary import LOOSE_NAMES, Hit, Tag, taxonomy_names
from quarry.core.text import QUERY_MAX_CHARACTERS, STOP_WORDS, stem, words

_COMPANY_WORDS = frozenset(
    "company companies startup startups firm firms venture ventures one ones player players vendor vendors".split()
)
_SMALL_TALK = frozenset(
    """
    find finding show list give search searching look looking need want like help recommend suggest interested please any good
    great best cool interesting promising top leading building build builds make making makes made working works offer offers
    offering provide provides providing sell sells selling use uses using do does doing deal deals space sector industry field
    area market based located headquartered hq company's tech technology kind sort type types example examples exist exists
    existing country countries region
    """.split()
)
_FOR = frozenset("for to by with helping serving targeting among between".split())
_IN = frozenset("in from near at within across around outside".split())
EARLIER_QUESTIONS_MAX = 5
"""So many questions back a follow-up may go for its topic."""
NAMES_READ_MAX = 24
"""So many names of the taxonomy, and so many cities, are taken from one question."""
WORDS_BEFORE_COMPANIES_MAX = 4
"""So far before a word for companies a country's adjective still belongs to it."""
_NOT = frozenset("not no without except excluding non never neither nor but outside avoid".split())
_NARROWS = re.compile(
    r"\b(?:only|just|exactly|limit|narrow|restrict|filter|exclude|leave out|drop|which of|(?:the|which) ones?|these|those|"
    r"them)\b",
    re.IGNORECASE,
)
_CITY_NAME = r"[A-ZÀ-Þ][\w.'’-]+(?: [A-ZÀ-Þ][\w.'’-]+){0,2}"
_CITIES = re.compile(rf"\b(?:in|from|near|around|out of) ({_CITY_NAME}(?: or {_CITY_NAME})*)")


@dataclass(frozen=True)
class TagGroup:
    """What one name in the question may mean: any of `tags`. `demanded`: companies that have none of them are not meant."""

    tags: tuple[Tag, ...]
    name: str
    demanded: bool


@dataclass(frozen=True)
class Reading:
    """A question as rules read it.

    `topic`: what is left of it without demands and politeness, in lower case; empty where nothing is. `statuses` is empty where
    none is named. `narrows`: it speaks of companies that were shown before. `plain`: tags and nothing else make up the topic.
    """

    topic: str
    groups: tuple[TagGroup, ...]
    excluded: tuple[Tag, ...]
    statuses: tuple[Status, ...]
    count: int | None
    constraints: Constraints
    narrows: bool
    plain: bool

    @property
    def tags(self) -> tuple[Tag, ...]:
        return tuple(dict.fromkeys(tag for group in self.groups for tag in group.tags))


def read_question(question: str) -> Reading:
    """Read a question."""
    narrows = bool(_NARROWS.search(question))
    text = spelt_out(" ".join(question.split()))
    statuses, text = read_statuses(text)
    count, text = read_count(text)
    stages, text = read_funding_stages(text)
    founded, text = read_founded(text)
    employees, text = read_employees(text)
    raised, text = read_raised(text)
    tokens = words(text)
    constraints, places = _read_places(text, tokens)
    constraints = replace(constraints, funding_stages=stages, founded=founded, employees=employees, raised=raised)
    for start, end in places:
        tokens[start:end] = [""] * (end - start)
    tokens = [token for token in tokens if token]
    hits = taxonomy_names().find([stem(token) for token in tokens])
    excluded, hits = _split_excluded(tokens, hits)
    leftover = _leftover(tokens, hits)
    return Reading(
        topic=_topic(tokens),
        groups=tuple(dict.fromkeys(_group(tokens, hit, alone=not leftover) for hit in hits))[:NAMES_READ_MAX],
        excluded=excluded,
        statuses=statuses,
        count=count,
        constraints=constraints,
        narrows=narrows,
        plain=bool(hits) and not leftover,
    )


def read_follow_up(question: str, history: Sequence[ChatMessage]) -> Reading:
    """Read a question that may go on with an earlier one: without a topic of its own it has that of the latest that has one."""
    reading = read_question(question)
    if reading.topic:
        return reading
    earlier_questions = [message.content[:QUERY_MAX_CHARACTERS] for message in history if message.role == "user"]
    for question_before in reversed(earlier_questions[-EARLIER_QUESTIONS_MAX:]):
        if (earlier := read_question(question_before)).topic:
            return replace(reading, topic=earlier.topic, groups=earlier.groups, plain=earlier.plain)
    return reading


def _read_places(text: str, tokens: Sequence[str]) -> tuple[Constraints, list[tuple[int, int]]]:
    """The countries and cities that companies are to be in, and where the words stand that say so."""
    countries: set[str] = set()
    excluded: set[str] = set()
    named: list[str] = []
    spans: list[tuple[int, int]] = []
    for hit in place_names().find([stem(token) for token in tokens]):
        begin = hit.start - 1 if hit.start and tokens[hit.start - 1] == "the" else hit.start
        follows_another = bool(spans) and tokens[spans[-1][1] : begin] in (["or"], ["and"])
        if not (follows_another or _is_home(tokens, begin, hit.end)):
            continue
        # "all but France", yet "but in France"
        negated = bool(
            set(tokens[max(0, begin - 1) : begin]) & _NOT or set(tokens[max(0, begin - 2) : begin]) & (_NOT - {"but"})
        )
        (excluded if negated else countries).update(hit.values)
        if not negated:
            named.append(" ".join(tokens[begin : hit.end]))
        while begin and tokens[begin - 1] in _IN | _NOT | {"based", "located", "headquartered"}:
            begin -= 1
        spans.append((begin, hit.end))
    named_in = (name for match in _CITIES.finditer(text) for name in match[1].split(" or "))
    cities = [name for name in named_in if _may_be_a_city(name)]
    for city in dict.fromkeys(cities[:NAMES_READ_MAX]):
        spans += [(start - 1, start + size) for start, size in [_place_of(words(city), tokens)] if start > 0]
    return Constraints(
        countries=frozenset(countries),
        excluded_countries=frozenset(excluded),
        cities=frozenset(city.lower() for city in cities),
        place=_said(countries, [*named, *cities]),
    ), spans


def _is_home(tokens: Sequence[str], begin: int, end: int) -> bool:
    """Whether a place is where companies are ("in Germany", "German robotics companies"), not where their customers are."""
    previous = tokens[begin - 1] if begin else ""
    is_named_before = any(token in _COMPANY_WORDS for token in tokens[end : end + WORDS_BEFORE_COMPANIES_MAX])
    return previous in _IN or previous in _NOT or (previous not in _FOR and is_named_before)


def _may_be_a_city(name: str) -> bool:
    """Whether a capitalised name after "in" is neither a country nor a field."""
    stems = [stem(word) for word in words(name)]
    return not place_names().find(stems) and not taxonomy_names().find(stems)


def _place_of(name: Sequence[str], tokens: Sequence[str]) -> tuple[int, int]:
    """Where `name` stands in the tokens, and its length; -1 where it does not."""
    starts = (start for start in range(len(tokens)) if list(tokens[start : start + len(name)]) == list(name))
    return next(starts, -1), len(name)


def _said(countries: set[str], named: list[str]) -> str:
    return (
        next(iter(countries))
        if len(countries) == 1
        else " or ".join(_capitalised(name) for name in dict.fromkeys(named))
    )


def _capitalised(name: str) -> str:
    return " ".join(word if word == "the" else word.capitalize() for word in name.split())


def _split_excluded(tokens: Sequence[str], hits: Sequence[Hit[Tag]]) -> tuple[tuple[Tag, ...], list[Hit[Tag]]]:
    negated = [_is_negated(tokens[max(0, hit.start - 2) : hit.start]) for hit in hits]
    excluded = dict.fromkeys(
        tag for hit, is_negated in zip(hits, negated, strict=True) if is_negated for tag in hit.values
    )
    return tuple(excluded), [hit for hit, is_negated in zip(hits, negated, strict=True) if not is_negated]


def _is_negated(before: Sequence[str]) -> bool:
    """Whether two words say "not"; "not only" and "not just" do not."""
    return bool(set(before) & (_NOT - {"but"})) and not set(before) & {"only", "just"}


def _group(tokens: Sequence[str], hit: Hit[Tag], *, alone: bool) -> TagGroup:
    """A name demands its tags where it says what the companies are ("insurance startups"), not for whom they work."""
    before = tokens[hit.start - 1] if hit.start else ""
    behind = tokens[hit.end] if hit.end < len(tokens) else ""
    name = " ".join(tokens[hit.start : hit.end])
    demanded = before not in _FOR and (alone or behind in _COMPANY_WORDS) and name.removesuffix("s") not in LOOSE_NAMES
    return TagGroup(hit.values, name, demanded)


def _leftover(tokens: Sequence[str], hits: Sequence[Hit[Tag]]) -> list[str]:
    """The words that carry a topic and are no name of a tag."""
    named = {place for hit in hits for place in range(hit.start, hit.end)}
    return [token for place, token in enumerate(tokens) if place not in named and _is_topical(token)]


def _is_topical(token: str) -> bool:
    return token not in STOP_WORDS and token not in _COMPANY_WORDS and token not in _SMALL_TALK


def _topic(tokens: Sequence[str]) -> str:
    """The tokens from the first to the last that carries a topic, without the words for companies."""
    places = [place for place, token in enumerate(tokens) if _is_topical(token)]
    if not places:
        return ""
    return " ".join(token for token in tokens[places[0] : places[-1] + 1] if token not in _COMPANY_WORDS)
