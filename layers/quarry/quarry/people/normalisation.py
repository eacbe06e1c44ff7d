"""Normalises constraints from any source: names, dates and units. Impossible values and those outside the taxonomy become
keywords; only unknown kinds of experience are dropped.

A model's reading is checked against the query: values that no words state are dropped.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel

from quarry.language.word_forms import Token, keys, stem, stems_of, tokenise, unique
from quarry.people.contract import Constraints, Must, PeopleQuery, Quote
from quarry.people.facets import PEOPLE
from quarry.people.tables import EmploymentType, Intent, SeniorityLevel
from quarry.platform.contract import Assertion, Evidence
from quarry.platform.errors import InvalidInput
from quarry.query.values import Interval, interval_of
from quarry.spans.mention import PlaceKind, Span
from quarry.spans.places import spellings, usual_name

ANYBODY = "people"
"""The text to embed for a query of exclusions alone."""
OR = " or "
"""Separates the alternatives that the same words state, in the value of their evidence."""

NAME_CHARACTERS_MAX = 120
ROLE_CHARACTERS_MAX = 400
SALARY_MIN, SALARY_MAX = 10_000.0, 1e9
"""The bounds of a salary, in INR a year."""
YEARS_MAX = 100.0
"""The most years of experience."""
NAMES_MAX = 20
"""The most values in a list."""
SEARCH_PHRASES_MAX = 15
EVIDENCE_MAX = 60
TEXT_CHARACTERS_MAX = 2000
QUOTES_MAX = 100

_OPEN_END = frozenset({"present", "now", "today", "current", "currently", "ongoing", "date"})

ASSERTIONS: Mapping[str, Assertion] = {"must": "affirmed", "should": "preferred", "exclude": "negated"}
_PLACES = frozenset({"city", "country", "location", "location_text", "preferred_locations", "or_preferred_locations"})
_SWITCHES = {"open_to_work_only": "open_to_work", "open_to_work": "open_to_work", "is_current": "is_current"}
"""Conditions that are true or false, with the facet whose names state them."""


def normalise(constraints: Constraints) -> Constraints:
    """The constraints in normal form. Applying this twice changes nothing more."""
    exclude = constraints.exclude.model_copy(
        update=_lists(constraints.exclude) | _dates(constraints.exclude, "time", "start", "end", [])
    )
    ruled_out = {*exclude.company_norm, *exclude.keywords, *exclude.team_norm, *exclude.location}
    left_over: list[str] = []
    must = _required(constraints.must, ruled_out, left_over)
    # moved values come first, so that a full list does not lose them
    should = constraints.should
    should = should.model_copy(update={"keywords": [*left_over, *should.keywords]})
    intents = {"intent_secondary": _taxonomy(should.intent_secondary, Intent, [])}
    return Constraints(
        query_original=constraints.query_original,
        query_cleaned=_text(constraints.query_cleaned) or _text(constraints.query_original),
        must=must,
        should=should.model_copy(update=_lists(should, ruled_out) | intents),
        exclude=exclude,
        like=_name(constraints.like),
        search_phrases=list(unique(map(_short, constraints.search_phrases), str.casefold))[:SEARCH_PHRASES_MAX],
        query_embedding_text=_text(constraints.query_embedding_text),
        confidence_score=_share(constraints.confidence_score),
        evidence=constraints.evidence[:EVIDENCE_MAX],
    )


def _required(must: Must, ruled_out: Set[str], left_over: list[str]) -> Must:
    """The required part without what is excluded. Impossible values go to `left_over`."""
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
    """The lists of a part as names, without excluded ones."""
    return {
        field: [name for name in _names(value) if name not in ruled_out]
        for field, value in part
        if isinstance(value, list)
    }


def cleaned_query(original: str, answer: str) -> str:
    """The model's cleaned query, or the original if that is empty, much longer, or has other digits."""
    cleaned = _text(answer.strip().strip("\"'`"))
    same_figures = re.sub(r"\D", "", cleaned) == re.sub(r"\D", "", original)
    return cleaned if cleaned and same_figures and len(cleaned) <= 2 * len(original) + 40 else original


def _taxonomy(values: Iterable[str], taxonomy: object, left_over: list[str]) -> list[str]:
    """The values in the taxonomy. The others go to `left_over`."""
    kept: list[str] = []
    for value in _names(values):
        name = re.sub(r"[\s-]+", "_", value)
        (kept if name in get_args(taxonomy) else left_over).append(name if name in get_args(taxonomy) else value)
    return list(unique(kept))


def _roles(roles: Iterable[str], ruled_out: Set[str]) -> list[str]:
    """Each role by its names, without excluded ones."""
    kept = []
    for role in roles:
        names = [name for name in _names(role[:ROLE_CHARACTERS_MAX].split("|")) if name not in ruled_out]
        kept.append("|".join(names))
    return list(unique(kept))[:NAMES_MAX]


def is_date(text: str) -> bool:
    """Whether it is a day, a month, a year, or an open end."""
    left_over: list[str] = []
    _period(text, left_over)
    return not left_over


def _dates(part: BaseModel, name: str, start: str, end: str, left_over: list[str]) -> dict[str, str | None]:
    """The first and the last day as YYYY-MM-DD, in order. Texts that are no dates go to `left_over`."""
    fields = f"{name}_{start}", f"{name}_{end}"
    first, last = (_period(getattr(part, field), left_over) for field in fields)
    if first and last and first.first > last.last:
        first, last = last, first
    days = first.first.isoformat() if first else None, last.last.isoformat() if last else None
    return dict(zip(fields, days, strict=True))


def _period(date: str | None, left_over: list[str]) -> Interval | None:
    """The days of a day, a month or a year. A text that is no date goes to `left_over`."""
    text = _name(date)
    if text is None or text in _OPEN_END:
        return None
    try:
        return interval_of(text, "date", datetime.date.min, "")
    except InvalidInput:
        left_over.append(text)
        return None


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
    """City and country by their usual names, and the location text, made from these if it is missing."""
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
    """The names in lower case, trimmed, each once, within the limits."""
    return list(unique(name for value in values if (name := _name(value))))[:NAMES_MAX]


def _name(value: str | None) -> str | None:
    return _short(value.lower()) or None if value else None


def _short(value: str) -> str:
    return " ".join(value.split())[:NAME_CHARACTERS_MAX].strip()


def _text(value: str) -> str:
    return " ".join(value.split())[:TEXT_CHARACTERS_MAX].strip()


def _share(value: float) -> float:
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0


def edited(constraints: Constraints, query: str) -> Constraints:
    """The constraints of a request in normal form, with the text to embed made from them."""
    update = {
        "query_original": query,
        "query_cleaned": constraints.query_cleaned or query,
        "query_embedding_text": about(constraints),
    }
    return normalise(constraints.model_copy(update=update))


def about(constraints: Constraints) -> str:
    """The subject of constraints in few words."""
    must, should = constraints.must, constraints.should
    named = [
        *(role.partition("|")[0] for role in must.role), *should.skills_or_tools, *should.keywords, *must.company_norm,
        *must.school_norm, *must.team_norm, *should.company_norm, *should.team_norm, *should.location, *must.domain,
        *must.sub_domain, *must.text, *must.name,
        *filter(None, [must.location_text or must.city or must.country]),
    ]  # fmt: skip
    return " ".join(unique(named))


def validated(output: PeopleQuery, original: str, cleaned: str) -> Constraints:
    """The constraints of `output` that words of the query state, in normal form, with the characters that state them."""
    normalised = normalise(
        Constraints(
            query_original=original,
            query_cleaned=cleaned,
            must=output.must,
            should=output.should,
            exclude=output.exclude,
            like=output.like,
            query_embedding_text=output.query_embedding_text,
            confidence_score=output.confidence_score or 0.0,
        )
    )
    query_words = QueryWords(original, cleaned, output.quotes[:QUOTES_MAX])
    evidence: list[Evidence] = []
    parts: dict[str, Any] = {
        name: _with_evidence(name, getattr(normalised, name), query_words, evidence) for name in ASSERTIONS
    }
    parts["like"] = normalised.like if normalised.like and query_words.span("", "like", normalised.like, ()) else None
    kept = normalise(weakened(normalised.model_copy(update=parts | {"evidence": evidence})))
    if not kept.query_embedding_text or _holds_excluded(kept):
        kept.query_embedding_text = about(kept) or (ANYBODY if kept.evidence else "")
    return kept


def without_words(output: PeopleQuery, kept: Constraints) -> list[str]:
    """The required and excluded values of `output` that no words of the query state: those that were not `kept`."""
    stated = {(each.field.partition(".")[2], value) for each in kept.evidence for value in each.value.split(OR)}
    normalised = normalise(Constraints(query_original=kept.query_original, must=output.must, exclude=output.exclude))
    return [
        f"{name}.{field} {value!r}"
        for name, part in (("must", normalised.must), ("exclude", normalised.exclude))
        for field, held in part
        for value in (held if isinstance(held, list) else [] if held is None else [held])
        if (field, str(value).lower()) not in stated and not (field == "location_text" and normalised.must.city)
    ]


WEAK: Mapping[str, str] = {
    "company_norm": "company_norm", "team_norm": "team_norm", "domain": "keywords", "sub_domain": "keywords",
    "seniority_level": "keywords", "employment_type": "keywords", "intent_primary": "keywords",
}  # fmt: skip
"""The required fields that words of a role may seem to state, and the fields that are preferred instead."""


def weakened(constraints: Constraints) -> Constraints:
    """The constraints with what is only weakly required as preferred: a value whose words all state a required role already.
    "Accountants" asks for a role, and not for the team Accounting.
    """
    of_roles = [each for each in constraints.evidence if each.field == "must.role"]
    must, should, kept = constraints.must.model_copy(), constraints.should.model_copy(), []
    for each in constraints.evidence:
        part, _, name = each.field.partition(".")
        within = any(role.start <= each.start and each.end <= role.end for role in of_roles)
        values = getattr(must, name, []) if part == "must" and name in WEAK and within else []
        weak = [value for value in values if value.lower() in each.value.split(OR)]
        if weak:
            setattr(must, name, [value for value in values if value not in weak])
            setattr(should, WEAK[name], [*getattr(should, WEAK[name]), *weak])
            each = each.model_copy(update={"field": f"should.{WEAK[name]}", "assertion": "preferred"})
        kept.append(each)
    return constraints.model_copy(update={"must": must, "should": should, "evidence": kept})


def _with_evidence(name: str, part: BaseModel, query_words: QueryWords, evidence: list[Evidence]) -> BaseModel:
    """The part with only the values that the query states. The words that state them go to `evidence`."""
    update: dict[str, Any] = {}
    for field, value in part:
        values = value if isinstance(value, list) else [] if value is None else [value]
        spans = [(each, query_words.span(name, field, each, values)) for each in values]
        found = [(each, span) for each, span in spans if span is not None]
        update[field] = [each for each, _ in found] if isinstance(value, list) else found[0][0] if found else None
        evidence += (
            Evidence(
                field=f"{name}.{field}", value=str(each).lower(), start=span.start, end=span.end,
                assertion=ASSERTIONS[name],
            )
            for each, span in found
        )  # fmt: skip
    return part.model_copy(update=update)


def _holds_excluded(constraints: Constraints) -> bool:
    exclude = constraints.exclude
    text = set(stems_of(constraints.query_embedding_text))
    names = (*exclude.company_norm, *exclude.keywords, *exclude.team_norm, *exclude.location)
    return any(text.issuperset(stems_of(name)) for name in names if keys(name))


@dataclass(frozen=True)
class _Words:
    """The stems of a query's words, and the tokens of the original query that correspond to them, if any."""

    stems: Sequence[str]
    typed: Sequence[Token]

    def run(self, text: str) -> tuple[int, int] | None:
        """The first and the last word of a run that contains all words of a text."""
        wanted = set(stems_of(text))
        if not wanted or not wanted <= set(self.stems):
            return None
        last = max(self.stems.index(each) for each in wanted)
        first, missing = last, set(wanted)
        while missing := missing - {self.stems[first]}:
            first -= 1
        return first, last


class QueryWords:
    """The words of a query, original and cleaned, and the words that the model quotes from it."""

    def __init__(self, original: str, cleaned: str, quotes: Sequence[Quote]) -> None:
        self._original, self._quotes = original, quotes
        typed = tokenise(original)
        tidied = [stem(token.key) for token in tokenise(cleaned)]
        self._words = (
            _Words([stem(token.key) for token in typed], typed),
            _Words(tidied, typed if len(tidied) == len(typed) else ()),
        )

    def span(self, part: str, field: str, value: Any, beside: Iterable[Any]) -> Span | None:
        """The characters that state a value: its own words, else words quoted for it that state no other value of the list
        `beside` it.
        """
        own = self._own(field, value)
        if own is not None:
            return own
        others = [stems for each in beside if each != value and (stems := stems_of(str(each)))]
        for quote in self._quotes:
            quote_stems = set(stems_of(quote.words))
            # a flag says how the values of its part are meant: their words carry it
            is_for_it = quote.key in (f"{part}.{field}", field) or (
                field == "ever" and quote.key.startswith(f"{part}.")
            )
            if is_for_it and not any(quote_stems.issuperset(each) for each in others):
                start = self._original.lower().find(quote.words.lower())
                if start >= 0 and keys(quote.words):
                    return Span(start, start + len(quote.words))
        return None

    def _own(self, field: str, value: Any) -> Span | None:
        for words in self._words:
            if isinstance(value, float):
                runs = ((place, place) for place, each in enumerate(words.stems) if each[:1].isdigit())
            else:
                runs = (run for each in _ways_to_say(field, value) if (run := words.run(each)))
            for first, last in runs:
                if not words.typed:
                    return Span(0, len(self._original))
                return Span(words.typed[first].start, words.typed[last].end)
        return None


def _ways_to_say(field: str, value: Any) -> Iterator[str]:
    """The ways to state a value; any of them is enough."""
    if isinstance(value, bool):
        facet = PEOPLE.facets[_SWITCHES[field]] if field in _SWITCHES else None
        yield from (facet.label, *facet.words) if facet and value else ()
    elif field in _PLACES:
        yield from spellings(value)
    elif field == "role":
        yield from value.split("|")
    elif value[:4].isdigit() and value[4:5] == "-":
        yield value[:4]
    else:
        yield value.replace("_", " ")
