"""Constraints put in order, whoever made them: the same names, dates and units. What is outside the taxonomy or impossible is
kept as a keyword, not lost; only a kind of experience that there is not is dropped.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Set
from typing import Any, get_args

from pydantic import BaseModel

from quarry.language.tokens import unique
from quarry.people.contract import Constraints, EmploymentType, Intent, Must, SeniorityLevel
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
    exclude = constraints.exclude.model_copy(
        update=_lists(constraints.exclude) | _dates(constraints.exclude, "time", "start", "end", [])
    )
    ruled_out = {*exclude.company_norm, *exclude.keywords, *exclude.team_norm, *exclude.location}
    left_over: list[str] = []
    must = _required(constraints.must, ruled_out, left_over)
    # what was moved to the keywords comes first, so that a full list does not lose it
    should = constraints.should
    should = should.model_copy(update={"keywords": [*left_over, *should.keywords]})
    intents = {"intent_secondary": _taxonomy(should.intent_secondary, Intent, [])}
    return Constraints(
        query_original=constraints.query_original,
        query_cleaned=_text(constraints.query_cleaned) or _text(constraints.query_original),
        must=must,
        should=should.model_copy(update=_lists(should, ruled_out) | intents),
        exclude=exclude,
        search_phrases=list(unique(map(_short, constraints.search_phrases), str.casefold))[:SEARCH_PHRASES_MAX],
        query_embedding_text=_text(constraints.query_embedding_text),
        confidence_score=_share(constraints.confidence_score),
        evidence=constraints.evidence[:EVIDENCE_MAX],
    )


def _required(must: Must, ruled_out: Set[str], left_over: list[str]) -> Must:
    """What must hold, but for what is ruled out; what it cannot be goes to `left_over`."""
    update = _lists(must, ruled_out) | _location(must, ruled_out)
    for name, first, last in (("time", "start", "end"), ("started", "from", "until"), ("ended", "from", "until")):
        update |= _dates(must, name, first, last, left_over)
    if not any(update[name] for name in ("city", "country", "location_text")):
        either = (*update["preferred_locations"], *update["or_preferred_locations"])
        update |= {"preferred_locations": list(unique(either)), "or_preferred_locations": []}
    least, most = _years(must.experience_years_min), _years(must.experience_years_max)
    if least is not None and most is not None:
        least, most = sorted((least, most))
    update |= {
        "intent_primary": _taxonomy(must.intent_primary, Intent, []),
        "employment_type": _taxonomy(must.employment_type, EmploymentType, left_over),
        "seniority_level": _taxonomy(must.seniority_level, SeniorityLevel, left_over),
        "offer_salary_inr_per_year": _salary(must.offer_salary_inr_per_year, left_over),
        "experience_years_min": least,
        "experience_years_max": most,
        "role": _roles(must.role, ruled_out),
        "text": list(unique(map(_short, must.text), str.casefold))[:NAMES_MAX],
    }
    return must.model_copy(update=update)


def _lists(part: BaseModel, ruled_out: Set[str] = frozenset()) -> dict[str, Any]:
    """The lists of a part as names, without those that are ruled out."""
    return {
        field: [name for name in _names(value) if name not in ruled_out]
        for field, value in part
        if isinstance(value, list)
    }


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


def _roles(roles: Iterable[str], ruled_out: Set[str]) -> list[str]:
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


def _dates(part: BaseModel, name: str, start: str, end: str, left_over: list[str]) -> dict[str, str | None]:
    """The first and the last day as YYYY-MM-DD, exchanged where they were swapped; what is no date goes to `left_over`."""
    fields = f"{name}_{start}", f"{name}_{end}"
    first, last = (_period(getattr(part, field), left_over) for field in fields)
    if first and last and first[0] > last[1]:
        first, last = last, first
    days = first[0].isoformat() if first else None, last[1].isoformat() if last else None
    return dict(zip(fields, days, strict=True))


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


def _location(must: Must, ruled_out: Set[str]) -> dict[str, str | None]:
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
