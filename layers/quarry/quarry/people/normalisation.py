"""Constraints put in order, whoever read the query: the same names, dates and units, and nothing hard without a reason.

A MUST without support in the query's own words is weak and becomes a SHOULD, since a hard constraint that nobody asked for hides
people: domain and sub-domain unless the query insists ("only", "must", …); seniority, employment type and kind of experience
unless the query holds a word for them; a team without a company unless the query insists. Companies, places, dates, salary and
"open to work" stay. What is outside the taxonomy or impossible is kept as a keyword, not lost.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import get_args

from quarry.people.contract import Constraints, EmploymentType, Exclude, Intent, Must, SeniorityLevel, Should
from quarry.people.parsing.known import KnownNames
from quarry.people.parsing.periods import Period, parse_period
from quarry.people.parsing.phrases import PhraseBook
from quarry.people.parsing.places import PlaceKind, usual_name
from quarry.people.parsing.salaries import SALARY_MAX, SALARY_MIN, offered_salary
from quarry.people.parsing.terms import employment_book, intent_book, seniority_book
from quarry.people.parsing.tokens import tokenise, unique

NAME_CHARACTERS_MAX = 120
NAMES_MAX = 20
"""Values in one list."""
SEARCH_PHRASES_MAX = 15
TEXT_CHARACTERS_MAX = 2000

_INSISTS = re.compile(
    r"\b(?:only|must|strictly|mandatory|required|exclusively|compulsory|essential|non[- ]negotiable|(?:need|has|have)s? to be)\b",
    re.IGNORECASE,
)
_NO_PLACE = frozenset({"remote", "anywhere", "any", "worldwide", "global", "hybrid", "wfh", "work from home"})
_OPEN_END = frozenset({"present", "now", "today", "current", "currently", "ongoing", "date"})


def normalise(constraints: Constraints, names: KnownNames | None = None) -> Constraints:
    """The constraints in their one form; applying this twice changes nothing more.

    Companies that can only mean one of the data's, in `names`, get its name.
    """
    query, must, should = constraints.query_original, constraints.must, constraints.should
    known = names or KnownNames()
    exclude = Exclude(
        company_norm=_names(known.company(name) for name in _names(constraints.exclude.company_norm)),
        keywords=_names(constraints.exclude.keywords),
    )
    ruled_out = {*exclude.company_norm, *exclude.keywords}

    def allowed(values: Iterable[str]) -> list[str]:
        return [name for name in _names(values) if name not in ruled_out]

    left_over: list[str] = []
    time_start, time_end = _dates(must.time_start, must.time_end, left_over)
    strict = Must(
        company_norm=allowed(known.company(name) for name in _names(must.company_norm)),
        team_norm=allowed(must.team_norm),
        intent_primary=_taxonomy(must.intent_primary, Intent, intent_book(), left_over),
        domain=allowed(must.domain),
        sub_domain=allowed(must.sub_domain),
        employment_type=_taxonomy(must.employment_type, EmploymentType, employment_book(), left_over),
        seniority_level=_taxonomy(must.seniority_level, SeniorityLevel, seniority_book(), left_over),
        **_location(must, ruled_out, left_over),
        time_start=time_start,
        time_end=time_end,
        is_current=must.is_current,
        open_to_work_only=must.open_to_work_only,
        offer_salary_inr_per_year=_salary(must.offer_salary_inr_per_year, query, left_over),
    )
    intents = _taxonomy(should.intent_secondary, Intent, intent_book(), left_over)
    strict, weak_intents, weak_words = _without_weak(strict, query)
    return Constraints(
        query_original=query,
        query_cleaned=_text(constraints.query_cleaned) or _text(query),
        must=strict,
        should=Should(
            skills_or_tools=allowed(should.skills_or_tools),
            # what was moved here comes first, so that a full list does not lose it
            keywords=allowed([*weak_words, *left_over, *should.keywords]),
            intent_secondary=list(unique([*intents, *weak_intents])),
        ),
        exclude=exclude,
        search_phrases=list(unique(map(_short, constraints.search_phrases), str.casefold))[:SEARCH_PHRASES_MAX],
        query_embedding_text=_text(constraints.query_embedding_text),
        confidence_score=_share(constraints.confidence_score),
    )


def cleaned_query(original: str, answer: str) -> str:
    """A model's cleaned form of the query, or the original where that is none: empty, much longer, or other figures in it."""
    cleaned = _text(answer.strip().strip("\"'`"))
    same_figures = re.sub(r"\D", "", cleaned) == re.sub(r"\D", "", original)
    return cleaned if cleaned and same_figures and len(cleaned) <= 2 * len(original) + 40 else original


def _without_weak(must: Must, query: str) -> tuple[Must, list[str], list[str]]:
    """The constraints without the weak ones, and these: kinds of experience, and words for the others."""
    strong: dict[str, list[str]] = {}
    words: list[str] = []
    insists = bool(_INSISTS.search(query))
    for field, kept in (
        ("domain", insists),
        ("sub_domain", insists),
        ("team_norm", insists or bool(must.company_norm)),
    ):
        if not kept:
            words += getattr(must, field)
            strong[field] = []
    weak: dict[str, list[str]] = {}
    for field, book in (
        ("employment_type", employment_book()),
        ("seniority_level", seniority_book()),
        ("intent_primary", intent_book()),
    ):
        said = book.all_in(tokenise(query))
        strong[field] = [value for value in getattr(must, field) if value in said]
        weak[field] = [value for value in getattr(must, field) if value not in said]
    intents = weak.pop("intent_primary")
    words += [value.replace("_", " ") for values in weak.values() for value in values]
    return must.model_copy(update=strong), intents, words


def _taxonomy(values: Iterable[str], taxonomy: object, book: PhraseBook, left_over: list[str]) -> list[str]:
    """The values of the taxonomy, or known words for one; the others go to `left_over`."""
    kept: list[str] = []
    for value in _names(values):
        name = re.sub(r"[\s-]+", "_", value)
        meant = name if name in get_args(taxonomy) else book.get(value)
        if meant is None:
            left_over.append(value)
        else:
            kept.append(meant)
    return list(unique(kept))


def _dates(start: str | None, end: str | None, left_over: list[str]) -> tuple[str | None, str | None]:
    """The first and the last day as YYYY-MM-DD, exchanged where they were swapped; what is no date goes to `left_over`."""
    first, last = _period(start, left_over), _period(end, left_over)
    if first and last and first.first > last.last:
        first, last = last, first
    return first.first.isoformat() if first else None, last.last.isoformat() if last else None


def _period(date: str | None, left_over: list[str]) -> Period | None:
    text = _name(date)
    if text is None or text in _OPEN_END:
        return None
    period = parse_period(text)
    if period is None:
        left_over.append(text)
    return period


def _salary(salary: float | None, query: str, left_over: list[str]) -> float | None:
    """INR a year. What the query clearly says is counted again here, since models err in months and lakhs."""
    if salary is None:
        return None
    said = offered_salary(query)
    if said is not None:
        return said
    if math.isfinite(salary) and SALARY_MIN <= salary <= SALARY_MAX:
        return salary
    if math.isfinite(salary) and salary > 0:
        left_over.append(f"salary {salary:g}")
    return None


def _location(must: Must, ruled_out: set[str], left_over: list[str]) -> dict[str, str | None]:
    """City and country by their usual names, and the text that names the place, made of these where there is none."""
    elsewhere = [name for name in (_name(must.city), _name(must.location_text)) if name in _NO_PLACE]
    left_over += elsewhere
    ruled_out = ruled_out.union(elsewhere)
    places: dict[PlaceKind, str | None] = {"city": must.city, "country": must.country}
    kept: dict[str, str | None] = {}
    for kind, written in places.items():
        name = _name(written)
        usual = usual_name(name, kind) if name else None
        kept[kind] = None if ruled_out & {name, usual} else usual
    text = _name(must.location_text)
    made = ", ".join(name for name in kept.values() if name) or None
    return {**kept, "location_text": made if text in ruled_out else text or made}


def _names(values: Iterable[str]) -> list[str]:
    """Lower case, trimmed, each once, not too long and not too many."""
    return list(unique(name for value in values if (name := _name(value))))[:NAMES_MAX]


def _name(value: str | None) -> str | None:
    return _short(value.lower()) or None if value else None


def _short(value: str) -> str:
    return " ".join(value.split())[:NAME_CHARACTERS_MAX].strip()


def _text(value: str) -> str:
    return " ".join(value.split())[:TEXT_CHARACTERS_MAX].strip()


def _share(value: float) -> float:
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0
