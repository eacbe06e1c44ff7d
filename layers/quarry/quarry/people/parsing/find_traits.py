"""What a query says of people besides names: salaries, times, being available, seniority, employment, skills and fields."""

from __future__ import annotations

import re

from quarry.people.parsing.periods import TimeMention, find_times, relative_times
from quarry.people.parsing.phrases import Found
from quarry.people.parsing.reading import Reading
from quarry.people.parsing.salaries import SalaryMention, find_salaries
from quarry.people.parsing.terms import (
    FILLERS,
    ROLES,
    domain_book,
    employment_book,
    intent_book,
    seniority_book,
)

_JOB = r"(?:jobs?|work|roles?|positions?|opportunit(?:y|ies)|employment|change|switch|openings?)"
_OPEN_TO_WORK = re.compile(
    rf"#?\bopen\s*+to\s*+work(?:ing)?\b(?!\s++(?:in|on|with|from)\b)(?:\s++only)?|\bopen\s++(?:to|for)\s++(?:new\s++|other\s++)?{_JOB}\b"
    rf"|\b(?:actively\s++|currently\s++|now\s++){{0,3}}(?:looking|seeking|searching|hunting)\s++(?:for\s++)?(?:an?\s++|their\s++next\s++|new\s++|other\s++|their\s++){{0,4}}{_JOB}\b"
    r"|\bavailable\s++(?:for\s++(?:hire|work|employment|a\s++job|new\s++\w+)|immediately|now|to\s++(?:start|join|hire))\b|\bimmediately\s++available\b"
    r"|\b(?:who\s++(?:is|are)|who's|that\s++(?:is|are)|currently)\s++available\b"
    r"|\bimmediate\s++(?:joiners?|joining|start(?:ers?)?)\b|\bjob\s*+-?\s*+(?:seekers?|seeking|hunting)\b|\bon\s++the\s++job\s++market\b"
    r"|\b(?:can|ready\s++to|able\s++to)\s++(?:join|start)(?:\s++(?:immediately|now|at\s++once))?\b|\bbetween\s++jobs\b",
    re.IGNORECASE,
)
_NOT_THEY = re.compile(r"\b(?:not|n[o']t|we|we\s++are|we're|i|i\s++am|i'm|am)\s++(?:\w+ly\s++)?$", re.IGNORECASE)

_NOW = frozenset({"currently", "now", "presently", "current", "present", "still"})
_BEHIND_NOW = frozenset(
    "at in with for as a an the working works work employed based living leads leading runs running serving heading".split()
)
_GO = frozenset("and or with know knows knowing in using use write writes writing ,".split())
_LANGUAGES = frozenset(
    {"programming", "language", "lang", "code", "codebase", "developer", "developers", "engineer", "engineers"}
)


def find_amounts_and_times(reading: Reading) -> tuple[list[SalaryMention], list[TimeMention]]:
    """Salaries, then times that no salary is; what is said relative to today, and lengths of time, become "relative" spans."""
    salaries, times = [], []
    for salary in find_salaries(reading.text):
        first, last = reading.within(salary.start, salary.end)
        # "at Tarang Pay under 20 LPA": the words before an amount may be a name's
        while first < last and not reading.is_free(first, first + 1):
            first += 1
        if first < last and reading.is_free(first, last):
            reading.add("salary", reading.text[salary.start : salary.end].strip().lower(), first, last)
            salaries.append(salary)
    for start, end in relative_times(reading.text):
        reading.add("relative", reading.text[start:end].lower(), *reading.within(start, end))
    for time in find_times(reading.text):
        first, last = reading.within(time.start, time.end)
        if reading.is_free(first, last):
            reading.add("time", reading.text[time.start : time.end].lower(), first, last)
            times.append(time)
    return salaries, times


def find_availability(reading: Reading) -> None:
    for match in _OPEN_TO_WORK.finditer(reading.text):
        value = "no" if _NOT_THEY.search(reading.text[max(0, match.start() - 20) : match.start()]) else "yes"
        reading.add("open_to_work", value, *reading.within(match.start(), match.end()))


def find_current(reading: Reading) -> None:
    """ "Currently at", "now leading", "current employees": that people are there now. The value says whether a place or company
    follows.
    """
    for place in list(reading.free()):
        if reading.key(place) not in _NOW:
            continue
        after = place + 1
        if reading.key(place) in ("current", "present") or reading.key(after) in _BEHIND_NOW:
            reading.add("current", "now", place, after)


def find_taxonomy(reading: Reading) -> None:
    """Seniority and kinds of employment."""
    for place in list(reading.free()):
        level = seniority_book().longest_at(reading.tokens, place)
        if level and (level.length > 1 or _stands_for_a_level(reading, place)):
            reading.add("seniority", level.value, place, place + level.length)
            continue
        kind = employment_book().longest_at(reading.tokens, place)
        if kind:
            reading.add("employment", kind.value, place, place + kind.length)


def find_topics(reading: Reading) -> None:
    """Skills and tools, and the names of fields that the data or the taxonomy has."""
    for place in list(reading.free()):
        skill = reading.names.skill_at(reading.tokens, place)
        if skill and skill.length == 1 and not _stands_for_a_skill(reading, place):
            skill = None
        books = (reading.names.domains, reading.names.sub_domains, domain_book())
        topics = [book.longest_at(reading.tokens, place) for book in books]
        kind = intent_book().longest_at(reading.tokens, place)
        # a kind of experience in one word ("taught") is a word like others
        topics.append(kind if kind and kind.length > 1 else None)
        longest = max((topic for topic in topics if topic), key=lambda topic: topic.length, default=None)
        if skill and (longest is None or skill.length >= longest.length):
            _add_phrase(reading, "skill", place, skill)
        elif longest:
            _add_phrase(reading, "topic", place, longest)


def _add_phrase(reading: Reading, kind: str, place: int, found: Found) -> None:
    """A phrase does not reach across punctuation."""
    if not any(reading.starts_clause(n) for n in range(place + 1, place + found.length)):
        if kind == "skill":
            reading.add("skill", found.value, place, place + found.length)
        else:
            reading.add("topic", found.value, place, place + found.length)


def _stands_for_a_level(reading: Reading, place: int) -> bool:
    """ "Lead engineer" and "managers only", but neither "lead generation" nor "product manager"."""
    word, after = reading.key(place), reading.key(place + 1)
    if word in ("lead", "leads"):
        return after in ROLES or after in ("level", "role", "roles")
    if word in ("manager", "managers"):
        return (
            reading.starts_clause(place)
            or not reading.is_free(place - 1, place)
            or reading.key(place - 1) in ("only", "senior")
        )
    if word in ("principal", "director", "directors", "senior", "seniors"):
        return after not in ("citizens", "citizen", "care", "living", "amount", "photography")
    return True


def _stands_for_a_skill(reading: Reading, place: int) -> bool:
    """Whether the word is a skill here: not if it is small talk; one of one or two letters only where it looks like one."""
    token = reading.tokens[place]
    if len(token.key) > 2 or not token.key.isalpha():
        return token.key not in FILLERS
    if reading.key(place + 1) in _LANGUAGES:
        return True
    if reading.has_case or token.key != "go":
        return token.text.isupper() or (token.key == "go" and token.is_capital)
    return reading.key(place - 1) in _GO or reading.kind_at(place - 1) == "skill"
