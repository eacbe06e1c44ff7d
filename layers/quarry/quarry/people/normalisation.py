"""Constraints put in order, whoever made them: the same names, dates and units. What is outside the taxonomy or impossible is
kept as a keyword, not lost; only a kind of experience that there is not is dropped.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable
from typing import get_args

from quarry.language.tokens import unique
from quarry.people.contract import Constraints, EmploymentType, Exclude, Intent, Must, SeniorityLevel, Should
from quarry.people.places import usual_name
from quarry.spans.mention import PlaceKind

NAME_CHARACTERS_MAX = 120
ROLE_CHARACTERS_MAX = 400
SALARY_MIN, SALARY_MAX = 10_000.0, 1e9
"""What is less or more a year, in INR, is no salary."""
YEARS_MAX = 100.0
"""Nobody has worked for longer."""
NAMES_MAX = 20
"""Values in one list."""
SEARCH_PHRASES_MAX = 15
EVIDENCE_MAX = 60
TEXT_CHARACTERS_MAX = 2000

_OPEN_END = frozenset({"present", "now", "today", "current", "currently", "ongoing", "date"})


def normalise(constraints: Constraints) -> Constraints:
    """The constraints in their one form; applying this twice changes nothing more."""
    should, exclude = constraints.should, _excluded(constraints.exclude)
    ruled_out = {*exclude.company_norm, *exclude.keywords, *exclude.team_norm, *exclude.location}
    left_over: list[str] = []
    must = _required(constraints.must, ruled_out, left_over)
    intents = _taxonomy(should.intent_secondary, Intent, [])
    return Constraints(
        query_original=constraints.query_original,
        query_cleaned=_text(constraints.query_cleaned) or _text(constraints.query_original),
        must=must,
        should=Should(
            skills_or_tools=_allowed(should.skills_or_tools, ruled_out),
            # what was moved here comes first, so that a full list does not lose it
            keywords=_allowed([*left_over, *should.keywords], ruled_out),
            intent_secondary=intents,
            company_norm=_allowed(should.company_norm, ruled_out),
            team_norm=_allowed(should.team_norm, ruled_out),
            location=_allowed(should.location, ruled_out),
        ),
        exclude=exclude,
        search_phrases=list(unique(map(_short, constraints.search_phrases), str.casefold))[:SEARCH_PHRASES_MAX],
        query_embedding_text=_text(constraints.query_embedding_text),
        confidence_score=_share(constraints.confidence_score),
        evidence=constraints.evidence[:EVIDENCE_MAX],
    )


def _excluded(exclude: Exclude) -> Exclude:
    start, end = _dates(exclude.time_start, exclude.time_end, [])
    return Exclude(
        company_norm=_names(exclude.company_norm),
        keywords=_names(exclude.keywords),
        team_norm=_names(exclude.team_norm),
        location=_names(exclude.location),
        is_current=exclude.is_current,
        open_to_work=exclude.open_to_work,
        time_start=start,
        time_end=end,
    )


def _required(must: Must, ruled_out: set[str], left_over: list[str]) -> Must:
    """What must hold, but for what is ruled out; what it cannot be goes to `left_over`."""
    time_start, time_end = _dates(must.time_start, must.time_end, left_over)
    started_from, started_until = _dates(must.started_from, must.started_until, left_over)
    ended_from, ended_until = _dates(must.ended_from, must.ended_until, left_over)
    location = _location(must, ruled_out)
    has_place = any(location.values())
    preferred, alternative = (
        _allowed(places, ruled_out) for places in (must.preferred_locations, must.or_preferred_locations)
    )
    least, most = _years(must.experience_years_min), _years(must.experience_years_max)
    if least is not None and most is not None:
        least, most = sorted((least, most))
    return Must(
        company_norm=_allowed(must.company_norm, ruled_out),
        school_norm=_allowed(must.school_norm, ruled_out),
        team_norm=_allowed(must.team_norm, ruled_out),
        intent_primary=_taxonomy(must.intent_primary, Intent, []),
        domain=_allowed(must.domain, ruled_out),
        sub_domain=_allowed(must.sub_domain, ruled_out),
        employment_type=_taxonomy(must.employment_type, EmploymentType, left_over),
        seniority_level=_taxonomy(must.seniority_level, SeniorityLevel, left_over),
        city=location["city"],
        country=location["country"],
        location_text=location["location_text"],
        time_start=time_start,
        time_end=time_end,
        started_from=started_from,
        started_until=started_until,
        ended_from=ended_from,
        ended_until=ended_until,
        is_current=must.is_current,
        open_to_work_only=must.open_to_work_only,
        preferred_locations=preferred if has_place else list(unique((*preferred, *alternative))),
        or_preferred_locations=alternative if has_place else [],
        offer_salary_inr_per_year=_salary(must.offer_salary_inr_per_year, left_over),
        experience_years_min=least,
        experience_years_max=most,
        role=_roles(must.role, ruled_out),
        name=_names(must.name),
        text=list(unique(map(_short, must.text), str.casefold))[:NAMES_MAX],
    )


def _allowed(values: Iterable[str], ruled_out: set[str]) -> list[str]:
    return [name for name in _names(values) if name not in ruled_out]


def cleaned_query(original: str, answer: str) -> str:
    """A model's cleaned form of the query, or the original where that is none: empty, much longer, or other figures in it."""
    cleaned = _text(answer.strip().strip("\"'`"))
    same_figures = re.sub(r"\D", "", cleaned) == re.sub(r"\D", "", original)
    return cleaned if cleaned and same_figures and len(cleaned) <= 2 * len(original) + 40 else original


def _taxonomy(values: Iterable[str], taxonomy: object, left_over: list[str]) -> list[str]:
    """The values of the taxonomy; the others go to `left_over`."""
    kept: list[str] = []
    for value in _names(values):
        name = re.sub(r"[\s-]+", "_", value)
        (kept if name in get_args(taxonomy) else left_over).append(name if name in get_args(taxonomy) else value)
    return list(unique(kept))


def _roles(roles: Iterable[str], ruled_out: set[str]) -> list[str]:
    """Each role by its names, without those that are ruled out."""
    kept = []
    for role in roles:
        names = [name for name in _names(role[:ROLE_CHARACTERS_MAX].split("|")) if name not in ruled_out]
        kept.append("|".join(names))
    return list(unique(kept))[:NAMES_MAX]


def is_date(text: str) -> bool:
    """Whether it is a day, a month or a year, or says that there is no end."""
    left_over: list[str] = []
    _period(text, left_over)
    return not left_over


def _dates(start: str | None, end: str | None, left_over: list[str]) -> tuple[str | None, str | None]:
    """The first and the last day as YYYY-MM-DD, exchanged where they were swapped; what is no date goes to `left_over`."""
    first, last = _period(start, left_over), _period(end, left_over)
    if first and last and first[0] > last[1]:
        first, last = last, first
    return first[0].isoformat() if first else None, last[1].isoformat() if last else None


_DATE = re.compile(r"([12]\d{3})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")


def _period(date: str | None, left_over: list[str]) -> tuple[datetime.date, datetime.date] | None:
    """The first and the last day of a day, a month or a year."""
    text = _name(date)
    if text is None or text in _OPEN_END:
        return None
    match = _DATE.fullmatch(text)
    try:
        if match:
            return _days(int(match[1]), match[2] and int(match[2]), match[3] and int(match[3]))
    except ValueError:
        pass
    left_over.append(text)
    return None


def _days(year: int, month: int | str | None, day: int | str | None) -> tuple[datetime.date, datetime.date]:
    if month and day:
        exact = datetime.date(year, int(month), int(day))
        return exact, exact
    if month:
        following = datetime.date(year + int(month) // 12, int(month) % 12 + 1, 1)
        return datetime.date(year, int(month), 1), following - datetime.timedelta(days=1)
    return datetime.date(year, 1, 1), datetime.date(year, 12, 31)


def _salary(salary: float | None, left_over: list[str]) -> float | None:
    """INR a year."""
    if salary is None:
        return None
    if math.isfinite(salary) and SALARY_MIN <= salary <= SALARY_MAX:
        return salary
    if math.isfinite(salary) and salary > 0:
        left_over.append(f"salary {salary:g}")
    return None


def _years(years: float | None) -> float | None:
    return years if years is not None and 0 < years <= YEARS_MAX else None


def _location(must: Must, ruled_out: set[str]) -> dict[str, str | None]:
    """City and country by their usual names, and the text that names the place, made of these where there is none."""
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
