"""Constraints from the segments of a query and their parts, and from what a model read, checked against the query: values that no
words state are dropped. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from quarry.language.word_forms import Token, keys, singular, stem, stems_of, tokenise, unique
from quarry.people.constraints import (
    ASSERTIONS,
    NAMES_MAX,
    OR,
    SALARY_MAX,
    SALARY_MIN,
    about,
    normalise,
    trimmed_text,
    with_place,
)
from quarry.people.contract import Constraints, PeopleQuery, Quote, as_list
from quarry.people.facets import OF_CONDITIONS, PEOPLE
from quarry.people.reading import KIND_OF_FACET, Cut, Decision, Segment
from quarry.platform.contract import EVIDENCE_MAX, Evidence
from quarry.spans.mention import DateRange, Duration, MoneyRange, NumberRange, Place, Span
from quarry.spans.places import country_of, country_of_region, known_place, spellings

MONTHS_A_YEAR = 12
PER_YEAR = {"year": 1, "month": 12, "week": 52, None: 1}
BARE_SALARY_MIN = 200_000.0
"""The least number without currency or period that is a yearly salary."""
ROLE_NAMES_MAX = 12
WORD_UNDERSTOOD = 0.5
"""The weight of a word that is only searched for, compared with a segment that has a field."""
CONFIDENCE_MAX = 0.95
HARD_ROLES = {
    "domain": "domain", "sub_domain": "sub_domain", "seniority": "seniority_level", "employment": "employment_type",
    "intent": "intent_primary",
}  # fmt: skip
"""The facets of roles with a field of their own, for queries that insist on them."""
FIELDS = {"company": "company_norm", "school": "company_norm", "team": "team_norm"}


@dataclass
class _Draft:
    """The constraints so far. Places and roles are added last, when all are known."""

    cut: Cut
    constraints: Constraints
    places: list[tuple[Segment, str]] = field(default_factory=list)
    roles: list[tuple[Segment, list[str]]] = field(default_factory=list)
    about: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    excluded: list[Segment] = field(default_factory=list)
    is_both: bool = False

    def note(self, name: str, value: str, segment: Segment, part: str) -> None:
        self.constraints.evidence.append(
            Evidence(
                field=name, value=value, start=self.cut.start(segment), end=self.cut.end(segment),
                assertion="required" if part == "only" else ASSERTIONS.get(part, "affirmed"),
            )
        )  # fmt: skip

    def add(self, part: str, name: str, values: Sequence[str], segment: Segment) -> None:
        """Add values to a field of must, should or exclude."""
        where = {"exclude": "exclude", "should": "should"}.get(part, "must")
        stored: list[str] = getattr(getattr(self.constraints, where), name)
        stored.extend(values)
        self.note(f"{where}.{name}", " or ".join(values), segment, part)


def constraints_of_segments(cut: Cut, decisions: Sequence[Decision]) -> Constraints:
    """The constraints of a query, not yet normalised."""
    draft = _Draft(cut, Constraints(query_original=cut.text, query_cleaned=cut.text))
    draft.is_both = any(part == "both" for _, (_, part), _ in decisions)
    for segment, (kind, part), _ in decisions:
        if part != "ignore":
            _take(draft, segment, kind, part)
    _put_excluded_words(draft)
    _put_places(draft)
    _put_roles(draft)
    constraints = draft.constraints
    about = " ".join([*draft.about, *unique(draft.names, str.casefold)])
    constraints.query_embedding_text = about or (ANYBODY if constraints.evidence else "")
    constraints.confidence_score = _confidence(decisions)
    return constraints


def _take(draft: _Draft, segment: Segment, kind: str, part: str) -> None:
    phrase = draft.cut.phrase(segment)
    match kind:
        case "company" | "school" | "team":
            _take_organisation(draft, segment, kind, part)
        case "name" if part == "like":
            _take_like(draft, segment, segment.of("name")[0])
        case "name":
            names = segment.of("name")
            draft.add(part, "keywords" if part == "exclude" else "name", names, segment)
            draft.names += [] if part == "exclude" else [phrase]
        case "place" | "wish":
            _take_place(draft, segment, part)
        case "role":
            _take_role(draft, segment, part)
        case "open":
            name = "exclude.open_to_work" if part == "exclude" else "must.open_to_work_only"
            _set(draft, name, True, segment, part)
        case "now":
            name = "exclude.is_current" if part == "exclude" else "must.is_current"
            _set(draft, name, part != "former", segment, part)
        case "date" | "money" | "number" | "length":
            if not (part != "should" and _take_measured(draft, segment, part)):
                draft.constraints.should.keywords.append(phrase.lower())
        case _:
            _take_word(draft, segment, part)


def _take_word(draft: _Draft, segment: Segment, part: str) -> None:
    phrase = draft.cut.phrase(segment)
    if part == "text":
        draft.constraints.should.keywords.append(phrase.lower())
        draft.about.append(phrase)
    elif part == "must":
        draft.add(part, "text", [phrase], segment)
        draft.about.append(phrase)
    elif part == "like":
        _take_like(draft, segment, phrase)
    elif part == "exclude":
        draft.excluded.append(segment)
    elif part == "never":
        draft.constraints.exclude.ever = True
    elif part == "idle":
        _set(draft, "exclude.is_current", True, segment, "exclude")
    elif part in ("former", "current"):
        _set(draft, "must.is_current", part == "current", segment, part)


def _take_like(draft: _Draft, segment: Segment, name: str) -> None:
    draft.constraints.like = name
    draft.note("like", name, segment, "should")


def _set(draft: _Draft, name: str, value: bool, segment: Segment, part: str) -> None:
    where, _, switch = name.partition(".")
    setattr(getattr(draft.constraints, where), switch, value)
    draft.note(name, str(value).lower(), segment, part)


def _take_organisation(draft: _Draft, segment: Segment, kind: str, part: str) -> None:
    """A company, school or team. An unknown name is kept as it is."""
    values = segment.of(kind)
    if kind != "team" and (part == "exclude" or not values):
        values = segment.of("company", "school")  # an exclusion covers all organisations of that name
    must = draft.constraints.must
    beside = kind == "school" and part == "must" and bool(must.company_norm)
    draft.add(part, "school_norm" if beside else FIELDS[kind], values or [draft.cut.phrase(segment).lower()], segment)
    if part == "exclude" and not values:
        draft.add(part, "keywords", [draft.cut.phrase(segment).lower()], segment)
    if draft.is_both and part == "must":
        must.text += values[:1]
    if part != "exclude":
        draft.names.append(draft.cut.phrase(segment))


def _take_place(draft: _Draft, segment: Segment, part: str) -> None:
    """A place by its usual name, or as the data or the query spells it."""
    spelt = segment.of("workplace", "home", "preferred_place")
    name = segment.value.name if isinstance(segment.value, Place) else next(iter(spelt), None)
    name = name or draft.cut.phrase(segment).lower()
    if part == "prefers":
        draft.add(
            "must",
            "or_preferred_locations" if _is_alternative(draft, segment) else "preferred_locations",
            [name],
            segment,
        )
    elif part == "must":
        draft.places.append((segment, name))
        draft.note("must.location_text", name, segment, part)
    else:
        draft.add(part, "location", [name], segment)
    if part != "exclude":
        draft.names.append(draft.cut.phrase(segment))


def _is_alternative(draft: _Draft, segment: Segment) -> bool:
    """Whether "or" stands directly before or after it."""
    beside = (
        *draft.cut.tokens[max(0, segment.first - 1) : segment.first],
        *draft.cut.tokens[segment.last : segment.last + 1],
    )
    return any(token.key == "or" for token in beside)


def _take_role(draft: _Draft, segment: Segment, part: str) -> None:
    """What somebody is, does or knows. An exclusion covers only the words of the query."""
    phrase, constraints = draft.cut.phrase(segment), draft.constraints
    if part == "exclude":
        draft.add("exclude", "keywords", _excluded_names(phrase, segment), segment)
        return
    draft.about.append(phrase)
    skills = segment.of("skill")
    constraints.should.skills_or_tools += skills
    constraints.should.intent_secondary += segment.of("intent")
    hard = next((facet for facet in HARD_ROLES if segment.of(facet)), None)
    if part == "only" and hard is not None:
        draft.add("only", HARD_ROLES[hard], segment.of(hard), segment)
    elif part == "should":
        constraints.should.keywords += [] if skills else [phrase.lower()]
    elif skills and not _is_of_people(segment):
        # a skill may be mentioned anywhere in a profile
        names = [phrase] if any(keys(phrase) == keys(each) for each in skills) else skills[:1]
        draft.add(part, "text", names, segment)
    else:
        meanings = [each.value.lower().replace("_", " ") for each in segment.values if each.facet not in KIND_OF_FACET]
        names = list(unique((phrase.lower(), *meanings)))[:ROLE_NAMES_MAX]
        draft.roles.append((segment, names))
        draft.note("must.role", "|".join(names), segment, part)


def _excluded_names(phrase: str, segment: Segment) -> list[str]:
    """The excluded words. If no value is called so, also the values that they stand for: "physicists" excludes "physics" too."""
    values = [each.value for each in segment.values if each.facet not in KIND_OF_FACET]
    is_own = any(list(map(singular, keys(each))) == list(map(singular, keys(phrase))) for each in values)
    return list(unique((phrase.lower(), *(() if is_own else [each.lower() for each in values]))))


def _put_roles(draft: _Draft) -> None:
    """Require each role; one of those joined by "or", or by "and" between kinds of people, is enough."""
    groups: list[list[str]] = []
    joints = [_joint(draft, one, other) for (one, _), (other, _) in zip(draft.roles, draft.roles[1:], strict=False)]
    for place, (segment, names) in enumerate(draft.roles):
        joint = next((each for each in joints[place - 1 :] if each != ","), "") if place else ""
        before = draft.roles[place - 1][0] if place else segment
        is_either = joint == "or" or (
            joint == "and" and not draft.is_both and all(map(_is_of_people, (before, segment)))
        )
        if is_either and groups:
            groups[-1] = list(unique((*groups[-1], *names)))
        else:
            groups.append(names)
    draft.constraints.must.role = ["|".join(names) for names in groups]


def _joint(draft: _Draft, one: Segment, other: Segment) -> str:
    """What joins two segments: "or", "and", "," or ""."""
    words = [token.key for token in draft.cut.tokens[one.last : other.first]]
    joint = words[0] if words and len(words) <= ROLE_NAMES_MAX // 4 else ""
    comma = draft.cut.tokens[other.first].ends_clause and not words
    return joint if joint in ("or", "and") else "," if comma else ""


def _is_of_people(segment: Segment) -> bool:
    """Whether it is about what people are, not what they know."""
    return any(each.facet in ("title", "domain", "seniority", "employment", "intent") for each in segment.values)


def _put_places(draft: _Draft) -> None:
    """Put one city, country or both into their fields; alternatives, a region or an unknown place only into the text."""
    must, tokens = draft.constraints.must, draft.cut.tokens
    if not draft.places:
        return
    (first, name), *others = draft.places
    place, value = known_place(name), first.value
    within = value.within if isinstance(value, Place) else None
    if within is None and others and not tokens[first.last : others[0][0].first]:
        within, others = others[0][1], others[1:]  # "Leeds, England"
    if place is None and within and not others:
        place, name, within = known_place(within), within, None  # a part of that place
    if others:
        names = [each for _, each in draft.places]
        must.location_text = " or ".join(unique(names))
        must.text += names if draft.is_both else []
    elif place is not None and (place.kind == "city" or known_place(name, "city") is not None):
        region = known_place(within, "region") if within else None
        must.city, must.country = name, within if within and known_place(within, "country") else None
        needed = within if region and country_of_region(region) != country_of(name) else None
        must.location_text = ", ".join(filter(None, (name, must.country or needed)))
    elif place is not None and place.kind == "country":
        must.country = must.location_text = name
    else:
        must.location_text = name


def _put_excluded_words(draft: _Draft) -> None:
    """Exclude words; adjacent ones are one phrase."""
    run: list[Segment] = []
    for segment in draft.excluded:
        if run and run[-1].last == segment.first and not draft.cut.tokens[segment.first].ends_clause:
            run[-1] = Segment(run[-1].first, segment.last, ("word",))
        else:
            run.append(segment)
    for phrase in run:
        draft.add("exclude", "keywords", [draft.cut.phrase(phrase).lower()], phrase)


def _take_measured(draft: _Draft, segment: Segment, part: str) -> bool:
    """A time, a salary or a length of experience. False if no field takes it."""
    match segment.value:
        case DateRange() as days:
            return not segment.is_relative and _take_days(draft, segment, part, days)
        case Duration(least, most):
            return _take_length(draft, segment, least, most)
        case MoneyRange() | NumberRange() as amount:
            return _take_salary(draft, segment, amount)
        case _:
            return False


def _take_days(draft: _Draft, segment: Segment, part: str, days: DateRange) -> bool:
    first, last = (day.isoformat() if day else None for day in (days.first, days.last))
    name = {"started": "started", "ended": "ended"}.get(part, "time")
    fields = ("time_start", "time_end") if name == "time" else (f"{name}_from", f"{name}_until")
    where = draft.constraints.exclude if part == "exclude" else draft.constraints.must
    earlier = [getattr(where, each) for each in fields]
    # several times are alternatives, since an experience has one
    starts, ends = [first, earlier[0]], [last, earlier[1]]
    if any(earlier) and (all(starts) or all(ends)):
        first = min(filter(None, starts)) if all(starts) else None
        last = max(filter(None, ends)) if all(ends) else None
        earlier = [None, None]
    setattr(where, fields[0], first or earlier[0])
    setattr(where, fields[1], last or earlier[1])
    draft.note(f"{'exclude' if part == 'exclude' else 'must'}.{name}", draft.cut.phrase(segment), segment, part)
    return True


def _take_length(draft: _Draft, segment: Segment, least: float | None, most: float | None) -> bool:
    must = draft.constraints.must
    must.experience_years_min = None if least is None else round(least / MONTHS_A_YEAR, 2)
    must.experience_years_max = None if most is None or most == least else round(most / MONTHS_A_YEAR, 2)
    draft.note("must.experience_years", draft.cut.phrase(segment), segment, "must")
    return True


def _take_salary(draft: _Draft, segment: Segment, amount: MoneyRange | NumberRange) -> bool:
    """The most that is offered, in INR a year. False if it is no salary."""
    if isinstance(amount, NumberRange):
        times = 1 if amount.unit is None and (amount.most or 0) >= BARE_SALARY_MIN else None
    else:
        times = PER_YEAR.get(amount.per) if amount.currency in (None, "INR") else None
    offered = amount.most * times if times and amount.most is not None else 0.0
    if not SALARY_MIN <= offered <= SALARY_MAX:
        return False
    draft.constraints.must.offer_salary_inr_per_year = round(offered, 2)
    draft.note("must.offer_salary_inr_per_year", f"{offered:.12g}", segment, "must")
    return True


def _confidence(decisions: Sequence[Decision]) -> float:
    """The confidence: the mean chance of the segments; words that are only searched for count half."""
    chances = [
        (WORD_UNDERSTOOD if part == "text" else 1.0) * chance for _, (_, part), chance in decisions if part != "ignore"
    ]
    return round(min(CONFIDENCE_MAX, sum(chances) / len(chances)), 2) if chances else 0.0


# ---- what a model read ----

ANYBODY = "people"
"""The text to embed for a query of exclusions alone."""
QUOTES_MAX = 100
_PLACES = frozenset({"city", "country", "location", "location_text", "preferred_locations", "or_preferred_locations"})
Part = TypeVar("Part", bound=BaseModel)
WEAK: Mapping[str, str] = {
    "company_norm": "company_norm", "team_norm": "team_norm", "domain": "keywords", "sub_domain": "keywords",
    "seniority_level": "keywords", "employment_type": "keywords", "intent_primary": "keywords",
}  # fmt: skip
"""The required fields that words of a role may seem to state, and the fields that are preferred instead."""


def cleaned_query(original: str, answer: str) -> str:
    """The model's cleaned query, or the original if that is empty, much longer, or has other digits."""
    cleaned = trimmed_text(answer.strip().strip("\"'`"))
    same_figures = re.sub(r"\D", "", cleaned) == re.sub(r"\D", "", original)
    return cleaned if cleaned and same_figures and len(cleaned) <= 2 * len(original) + 40 else original


def check_against_query(output: PeopleQuery, original: str, cleaned: str) -> tuple[Constraints, list[str]]:
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
    parts = {"must": with_place(must), "should": should, "exclude": exclude, "like": like}
    stated = with_weak_preferred(whole.model_copy(update={**parts, "evidence": evidence[:EVIDENCE_MAX]}))
    if not stated.query_embedding_text or _holds_excluded(stated):
        stated.query_embedding_text = about(stated) or (ANYBODY if stated.evidence else "")
    return stated, unstated


def _lost(name: str, whole: BaseModel, stated: BaseModel) -> Iterator[str]:
    """The values of a part that are not in the other."""
    for key, value in whole:
        values = as_list(getattr(stated, key))
        # with a city, the text is only its spelling
        if key != "location_text" or not getattr(whole, "city", None):
            yield from (f"{name}.{key} {each!r}" for each in as_list(value) if each not in values)


def _with_evidence(name: str, part: Part, query_words: QueryWords, evidence: list[Evidence]) -> Part:
    """The part with only the values that the query states. The words that state them go to `evidence`."""
    update: dict[str, Any] = {}
    for key, value in part:
        values = as_list(value)
        spans = [(each, query_words.span(name, key, each, values)) for each in values]
        stated = [(each, span) for each, span in spans if span is not None]
        update[key] = [each for each, _ in stated] if isinstance(value, list) else stated[0][0] if stated else None
        evidence += (
            Evidence(
                field=f"{name}.{key}", value=str(each).lower(), start=span.start, end=span.end,
                assertion=ASSERTIONS[name],
            )
            for each, span in stated
        )  # fmt: skip
    return part.model_copy(update=update)


def with_weak_preferred(constraints: Constraints) -> Constraints:
    """The constraints with what is only weakly required as preferred: a value whose words all state a required role already.
    "Accountants" asks for a role, and not for the team Accounting.
    """
    of_roles = [each for each in constraints.evidence if each.field == "must.role"]
    must, should, evidence = constraints.must.model_copy(), constraints.should.model_copy(), []
    for each in constraints.evidence:
        part, _, name = each.field.partition(".")
        within = any(role.start <= each.start and each.end <= role.end for role in of_roles)
        values = getattr(must, name, []) if part == "must" and name in WEAK and within else []
        weak = [value for value in values if value.lower() in each.value.split(OR)]
        if weak:
            setattr(must, name, [value for value in values if value not in weak])
            setattr(should, WEAK[name], list(unique((*getattr(should, WEAK[name]), *weak)))[:NAMES_MAX])
            each = each.model_copy(update={"field": f"should.{WEAK[name]}", "assertion": "preferred"})
        evidence.append(each)
    return constraints.model_copy(update={"must": must, "should": should, "evidence": evidence})


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
        required = set(stems_of(text))
        if not required or not required <= set(self.stems):
            return None
        last = max(self.stems.index(each) for each in required)
        first, missing = last, set(required)
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
        # no words state "never" itself
        facets = [PEOPLE.facets[name] for name in OF_CONDITIONS.get(field, ()) if value]
        yield from (word for facet in facets for word in (facet.label, *facet.words))
    elif field in _PLACES:
        yield from spellings(value)
    elif field == "role":
        yield from value.split("|")
    elif value[:4].isdigit() and value[4:5] == "-":
        yield value[:4]
    else:
        yield value.replace("_", " ")
