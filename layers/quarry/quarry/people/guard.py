"""A model's reading of a query held to what the query says: what it invents is dropped, what it misses is added."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from quarry.core.language.stemming import stem
from quarry.core.language.tokens import keys, unique
from quarry.people.contract import Constraints, Exclude, Must, Should
from quarry.people.normalisation import normalise
from quarry.people.outputs import PeopleQuery
from quarry.people.places import spellings

_SOFT = ("domain", "sub_domain", "employment_type", "seniority_level", "intent_primary")
"""Hard only where the query insists, which the reading says."""
_LISTS = ("company_norm", "school_norm", "team_norm", *_SOFT)
_PERIODS = ("started_from", "started_until", "ended_from", "ended_until")
_ALONE = ("role", "name", "text", "preferred_locations", "experience_years_min", "experience_years_max", *_PERIODS)
"""What only the reading holds."""


def guarded(output: PeopleQuery, read: Constraints) -> Constraints:
    """The constraints of `output` that the query bears out, with those of `read` that it lacks, in their one form."""
    given = normalise(
        Constraints.model_validate(
            output.model_dump()
            | {
                "query_original": read.query_original,
                "query_cleaned": read.query_cleaned,
                "confidence_score": output.confidence_score or 0.0,
            }
        )
    )
    said = frozenset(stem(key) for key in keys(f"{read.query_original} {read.query_cleaned}"))
    exclude = _exclude(given.exclude, read.exclude, said)
    must, weak = _must(given.must, read.must, said)
    text = given.query_embedding_text
    ruled_out = {
        stem(key) for name in (*exclude.company_norm, *exclude.keywords, *exclude.location) for key in keys(name)
    }
    if not text or ruled_out & {stem(key) for key in keys(text)}:
        text = read.query_embedding_text
    return normalise(
        given.model_copy(
            update={
                "must": must,
                "should": _should(given.should, read.should, weak),
                "exclude": exclude,
                "query_embedding_text": text,
                "evidence": read.evidence,
            }
        )
    )


def _must(given: Must, read: Must, said: Collection[str]) -> tuple[Must, list[str]]:
    """The hard constraints, and words for those that are hard without a reason."""
    weak: list[str] = []
    kept: dict[str, object] = {name: getattr(read, name) for name in _ALONE}
    for name in _LISTS:
        values, own = getattr(given, name), getattr(read, name)
        held = [value for value in values if value in own or (name not in _SOFT and _is_said(value, said))]
        weak += [value.replace("_", " ") for value in values if value not in held and _is_said(value, said)]
        kept[name] = list(unique((*own, *held)))
    if kept["school_norm"]:
        kept["company_norm"] = [each for each in given.company_norm if each in read.company_norm] or read.company_norm
    if given.team_norm and not (kept["company_norm"] or read.team_norm):
        weak += given.team_norm
        kept["team_norm"] = []
    kept |= _place(given, read, said)
    dates_said = (read.time_start, read.time_end) != (None, None) or any(kept[name] for name in _PERIODS)
    kept["time_start"] = read.time_start if dates_said else _said_date(given.time_start, said)
    kept["time_end"] = read.time_end if dates_said else _said_date(given.time_end, said)
    kept["is_current"] = given.is_current if read.is_current is None else read.is_current
    kept["open_to_work_only"] = read.open_to_work_only
    has_figures = any(key[:1].isdigit() for key in said)
    kept["offer_salary_inr_per_year"] = read.offer_salary_inr_per_year or (
        given.offer_salary_inr_per_year if has_figures else None
    )
    return Must.model_validate(kept), weak


def _place(given: Must, read: Must, said: Collection[str]) -> dict[str, str | None]:
    """The place that was read; where none was, the model's, as far as the query names it."""
    if read.location_text:
        return {"city": read.city, "country": read.country, "location_text": read.location_text}
    city = given.city if given.city and _is_place_said(given.city, said) else None
    country = given.country if given.country and _is_place_said(given.country, said) else None
    text = given.location_text if given.location_text and _is_said(given.location_text, said) else None
    return {"city": city, "country": country, "location_text": text}


def _should(given: Should, read: Should, weak: Iterable[str]) -> Should:
    return Should(
        skills_or_tools=list(unique((*given.skills_or_tools, *read.skills_or_tools))),
        keywords=list(unique((*weak, *given.keywords, *read.keywords))),
        intent_secondary=list(unique((*given.intent_secondary, *read.intent_secondary))),
    )


def _exclude(given: Exclude, read: Exclude, said: Collection[str]) -> Exclude:
    """What either rules out, the model only by words of the query."""
    return read.model_copy(
        update={
            name: list(unique((*getattr(read, name), *(v for v in getattr(given, name) if _is_said(v, said)))))
            for name in ("company_norm", "keywords")
        }
    )


def _is_said(value: str, said: Collection[str]) -> bool:
    """Whether all words of a value are words of the query."""
    words = keys(value.replace("_", " "))
    return bool(words) and all(stem(word) in said for word in words)


def _is_place_said(name: str, said: Collection[str]) -> bool:
    return any(_is_said(spelling, said) for spelling in spellings(name))


def _said_date(date: str | None, said: Collection[str]) -> str | None:
    """A date whose year the query names."""
    return date if date and (date[:4] in said or f"{date[2:4]}" in said) else None
