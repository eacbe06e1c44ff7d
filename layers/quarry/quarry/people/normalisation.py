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
from typing import Any, TypeVar, get_args

from pydantic import BaseModel

from quarry.language.word_forms import Token, keys, stem, stems_of, tokenise, unique
from quarry.people.contract import Constraints, Must, PeopleQuery, Quote
from quarry.people.facets import OF_CONDITIONS, PEOPLE
from quarry.people.tables import EmploymentType, Intent, SeniorityLevel
from quarry.platform.contract import Assertion, Evidence
from quarry.platform.errors import FieldError, InvalidInput
from quarry.query.values import Interval, interval_of
from quarry.schema.source import NamedValue, UnknownValue, nearest
from quarry.spans.mention import PlaceKind, Span
from quarry.spans.places import alternatives_in, spellings, usual_name

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

Part = TypeVar("Part", bound=BaseModel)

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
    score = constraints.confidence_score
    return Constraints(
        query_original=constraints.query_original,
        query_cleaned=_text(constraints.query_cleaned) or _text(constraints.query_original),
        must=must,
        should=should.model_copy(update=_lists(should, ruled_out) | intents),
        exclude=exclude,
        like=_name(constraints.like),
        search_phrases=list(unique(map(_short, constraints.search_phrases), str.casefold))[:SEARCH_PHRASES_MAX],
        query_embedding_text=_text(constraints.query_embedding_text),
        confidence_score=min(1.0, max(0.0, score)) if math.isfinite(score) else 0.0,
        evidence=constraints.evidence[:EVIDENCE_MAX],
    )


def _required(must: Must, ruled_out: Set[str], left_over: list[str]) -> Must:
    """The required part without what is excluded. Impossible values go to `left_over`."""
    update = _lists(must, ruled_out) | _location(must, ruled_out)
    for name, first, last in (("time", "start", "end"), ("started", "from", "until"), ("ended", "from", "until")):
        update |= _dates(must, name, first, last, left_over)
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
    return _with_place(must.model_copy(update=update))


def _with_place(must: Must) -> Must:
    """The required part with a text for its place; without a place, no preferred location is an alternative to it."""
    if text := must.location_text or ", ".join(filter(None, (must.city, must.country))):
        return must.model_copy(update={"location_text": text})
    either = unique((*must.preferred_locations, *must.or_preferred_locations))
    return must.model_copy(update={"preferred_locations": list(either), "or_preferred_locations": []})


def _lists(part: BaseModel, ruled_out: Set[str] = frozenset()) -> dict[str, Any]:
    """The lists of a part as names, without excluded ones."""
    return {
        field: [name for name in _names(value) if name not in ruled_out]
        for field, value in part
        if isinstance(value, list)
    }


# ---- values of a request, and as the data spells them ----

EQUAL = ("company_norm", "school_norm", "team_norm", "domain", "sub_domain")
"""Fields that are compared for equality, so that they need the values of the data."""
NAMED = (*EQUAL, "name", "location", "city", "country", "location_text")
"""Fields whose values are looked up."""
TAXONOMIES = {"intent_primary": Intent, "employment_type": EmploymentType, "seniority_level": SeniorityLevel}
DATES = ("time_start", "time_end", "started_from", "started_until", "ended_from", "ended_until")
_ANYWHERE = frozenset({"remote", "anywhere", "any", "worldwide"})


def named_values(constraints: Constraints) -> list[NamedValue]:
    """The values that constraints name, each with the pointer of its field."""
    return [
        NamedValue(OF_CONDITIONS[field], value, f"/constraints/{name}/{field}")
        for name in ASSERTIONS
        for field in NAMED
        for value in _values(getattr(constraints, name), field)
        if value.lower() not in _ANYWHERE
    ]


def with_meanings(
    constraints: Constraints, values: Sequence[NamedValue], meanings: Sequence[Sequence[str]]
) -> Constraints:
    """The constraints with what each value means in the data, in fields compared for equality, and the evidence adapted. A value
    without a meaning stays.
    """
    fields: dict[str, list[str]] = {}
    by_value: dict[tuple[str, str], str] = {}
    for named, meaning in zip(values, meanings, strict=True):
        key = named.pointer.removeprefix("/constraints/").replace("/", ".")
        if key.partition(".")[2] in EQUAL and meaning:
            by_value[key, named.value.lower()] = OR.join(meaning)
        fields.setdefault(key, []).extend(meaning or [named.value])
    ruled_out = {name for key, names in fields.items() if key.startswith("exclude.") for name in _names(names)}
    parts = {}
    for name in ASSERTIONS:
        own = {field: fields[f"{name}.{field}"] for field in EQUAL if f"{name}.{field}" in fields}
        excluded = ruled_out if name != "exclude" else set[str]()
        lists = {field: [each for each in _names(names) if each not in excluded] for field, names in own.items()}
        parts[name] = getattr(constraints, name).model_copy(update=lists)
    evidence = [
        each.model_copy(update={"value": by_value.get((each.field, each.value.lower()), each.value)})
        for each in constraints.evidence
    ]
    return constraints.model_copy(update={**parts, "evidence": evidence})


def _values(part: BaseModel, field: str) -> Sequence[str]:
    value = getattr(part, field, None)
    if field == "location_text" and isinstance(value, str):
        # with a city or a country, it is only their spelling
        is_alone = not (getattr(part, "city", None) or getattr(part, "country", None))
        value = alternatives_in(value) if is_alone else None
    return [each for each in _as_list(value) if each.strip()]


def faults_of(constraints: Constraints) -> Iterator[FieldError]:
    """What is wrong with values of a request that no data has: those outside the taxonomy, and invalid dates."""
    for name in ASSERTIONS:
        part, pointer = getattr(constraints, name), f"/constraints/{name}"
        for field, taxonomy in TAXONOMIES.items():
            left_over: list[str] = []
            _taxonomy(_values(part, field), taxonomy, left_over)
            for value in left_over:
                near = nearest(value, get_args(taxonomy)) or get_args(taxonomy)
                label = PEOPLE.facets[OF_CONDITIONS[field][0]].label
                yield FieldError(f"{pointer}/{field}", str(UnknownValue(PEOPLE.nouns[0], label, value, near)))
        for field in DATES:
            left_over = []
            _period(getattr(part, field, None), left_over)
            if left_over:
                yield FieldError(f"{pointer}/{field}", "write the day as YYYY-MM-DD, YYYY-MM or YYYY")


# ---- a model's reading ----


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
    """City and country by their usual names, and the location text; None for what is excluded."""
    places: dict[PlaceKind, str | None] = {"city": must.city, "country": must.country}
    fields: dict[str, str | None] = {}
    for kind, value in places.items():
        name = _name(value)
        usual = usual_name(name, kind) if name else None
        fields[kind] = None if ruled_out & {name, usual} else usual
    text = _name(must.location_text)
    return {**fields, "location_text": None if text in ruled_out else text}


def _names(values: Iterable[str]) -> list[str]:
    """The names in lower case, trimmed, each once, within the limits."""
    return list(unique(name for value in values if (name := _name(value))))[:NAMES_MAX]


def _name(value: str | None) -> str | None:
    return _short(value.lower()) or None if value else None


def _short(value: str) -> str:
    return " ".join(value.split())[:NAME_CHARACTERS_MAX].strip()


def _text(value: str) -> str:
    return " ".join(value.split())[:TEXT_CHARACTERS_MAX].strip()


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


def validated(output: PeopleQuery, original: str, cleaned: str) -> tuple[Constraints, list[str]]:
    """The constraints of `output` that words of the query state, in normal form, with the characters that state them; and the
    required and excluded values that no words state.
    """
    whole = normalise(
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
    must = _with_evidence("must", whole.must, query_words, evidence)
    should = _with_evidence("should", whole.should, query_words, evidence)
    exclude = _with_evidence("exclude", whole.exclude, query_words, evidence)
    like = whole.like if whole.like and query_words.span("", "like", whole.like, ()) else None
    unstated = [*_lost("must", whole.must, must), *_lost("exclude", whole.exclude, exclude)]
    parts = {"must": _with_place(must), "should": should, "exclude": exclude, "like": like}
    stated = weakened(whole.model_copy(update={**parts, "evidence": evidence[:EVIDENCE_MAX]}))
    if not stated.query_embedding_text or _holds_excluded(stated):
        stated.query_embedding_text = about(stated) or (ANYBODY if stated.evidence else "")
    return stated, unstated


def _lost(name: str, whole: BaseModel, stated: BaseModel) -> Iterator[str]:
    """The values of a part that are not in the other."""
    for field, value in whole:
        values = _as_list(getattr(stated, field))
        # with a city, the text is only its spelling
        if field != "location_text" or not getattr(whole, "city", None):
            yield from (f"{name}.{field} {each!r}" for each in _as_list(value) if each not in values)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


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
            setattr(should, WEAK[name], list(unique((*getattr(should, WEAK[name]), *weak)))[:NAMES_MAX])
            each = each.model_copy(update={"field": f"should.{WEAK[name]}", "assertion": "preferred"})
        kept.append(each)
    return constraints.model_copy(update={"must": must, "should": should, "evidence": kept})


def _with_evidence(name: str, part: Part, query_words: QueryWords, evidence: list[Evidence]) -> Part:
    """The part with only the values that the query states. The words that state them go to `evidence`."""
    update: dict[str, Any] = {}
    for field, value in part:
        values = _as_list(value)
        spans = [(each, query_words.span(name, field, each, values)) for each in values]
        stated = [(each, span) for each, span in spans if span is not None]
        update[field] = [each for each, _ in stated] if isinstance(value, list) else stated[0][0] if stated else None
        evidence += (
            Evidence(
                field=f"{name}.{field}", value=str(each).lower(), start=span.start, end=span.end,
                assertion=ASSERTIONS[name],
            )
            for each, span in stated
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
