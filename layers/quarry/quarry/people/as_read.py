"""Builds constraints from the segments of a query and their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from quarry.language.word_forms import keys, singular, unique
from quarry.people.contract import Constraints
from quarry.people.normalisation import ANYBODY, ASSERTIONS, SALARY_MAX, SALARY_MIN
from quarry.people.reading import KIND_OF_FACET, Cut, Read, Segment
from quarry.platform.contract import Evidence
from quarry.spans.mention import DateRange, Duration, MoneyRange, NumberRange, Place
from quarry.spans.places import country_of, country_of_region, known_place

MONTHS_A_YEAR = 12
PER_YEAR = {"year": 1, "month": 12, "week": 52, None: 1}
BARE_SALARY_MIN = 200_000.0
"""The least number without currency or period that is a yearly salary."""
NAMES_MAX = 12
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

    def put(self, part: str, name: str, values: Sequence[str], segment: Segment) -> None:
        """Add values to a field of must, should or exclude."""
        where = {"exclude": "exclude", "should": "should"}.get(part, "must")
        held: list[str] = getattr(getattr(self.constraints, where), name)
        held.extend(values)
        self.note(f"{where}.{name}", " or ".join(values), segment, part)


def constraints_of_segments(cut: Cut, read: Sequence[Read]) -> Constraints:
    """The constraints of a query, not yet normalised."""
    draft = _Draft(cut, Constraints(query_original=cut.text, query_cleaned=cut.text))
    draft.is_both = any(part == "both" for _, (_, part), _ in read)
    for segment, (kind, part), _ in read:
        if part != "ignore":
            _take(draft, segment, kind, part)
    _put_excluded_words(draft)
    _put_places(draft)
    _put_roles(draft)
    constraints = draft.constraints
    about = " ".join([*draft.about, *unique(draft.names, str.casefold)])
    constraints.query_embedding_text = about or (ANYBODY if constraints.evidence else "")
    constraints.confidence_score = _confidence(read)
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
            draft.put(part, "keywords" if part == "exclude" else "name", names, segment)
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
        draft.put(part, "text", [phrase], segment)
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
    draft.put(part, "school_norm" if beside else FIELDS[kind], values or [draft.cut.phrase(segment).lower()], segment)
    if part == "exclude" and not values:
        draft.put(part, "keywords", [draft.cut.phrase(segment).lower()], segment)
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
        draft.put(
            "must",
            "or_preferred_locations" if _is_alternative(draft, segment) else "preferred_locations",
            [name],
            segment,
        )
    elif part == "must":
        draft.places.append((segment, name))
        draft.note("must.location_text", name, segment, part)
    else:
        draft.put(part, "location", [name], segment)
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
    """What somebody is, does or knows. An exclusion covers only what was said."""
    phrase, constraints = draft.cut.phrase(segment), draft.constraints
    if part == "exclude":
        draft.put("exclude", "keywords", _called(phrase, segment), segment)
        return
    draft.about.append(phrase)
    skills = segment.of("skill")
    constraints.should.skills_or_tools += skills
    constraints.should.intent_secondary += segment.of("intent")
    hard = next((facet for facet in HARD_ROLES if segment.of(facet)), None)
    if part == "only" and hard is not None:
        draft.put("only", HARD_ROLES[hard], segment.of(hard), segment)
    elif part == "should":
        constraints.should.keywords += [] if skills else [phrase.lower()]
    elif skills and not _is_of_people(segment):
        # a skill may be mentioned anywhere in a profile
        names = [phrase] if any(keys(phrase) == keys(each) for each in skills) else skills[:1]
        draft.put(part, "text", names, segment)
    else:
        meanings = [each.value.lower().replace("_", " ") for each in segment.values if each.facet not in KIND_OF_FACET]
        names = list(unique((phrase.lower(), *meanings)))[:NAMES_MAX]
        draft.roles.append((segment, names))
        draft.note("must.role", "|".join(names), segment, part)


def _called(phrase: str, segment: Segment) -> list[str]:
    """The excluded words, and the data's values if nobody is called so: "physicists" also excludes "physics"."""
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
    joint = words[0] if words and len(words) <= NAMES_MAX // 4 else ""
    comma = draft.cut.tokens[other.first].ends_clause and not words
    return joint if joint in ("or", "and") else "," if comma else ""


def _is_of_people(segment: Segment) -> bool:
    """Whether it says what people are, not what they know."""
    return any(each.facet in ("title", "domain", "seniority", "employment", "intent") for each in segment.values)


def _put_places(draft: _Draft) -> None:
    """Put one city, country or both into their fields; alternatives, a region or an unknown place only into the text."""
    must, tokens = draft.constraints.must, draft.cut.tokens
    if not draft.places:
        return
    (first, name), *others = draft.places
    found, value = known_place(name), first.value
    within = value.within if isinstance(value, Place) else None
    if within is None and others and not tokens[first.last : others[0][0].first]:
        within, others = others[0][1], others[1:]  # "Leeds, England"
    if found is None and within and not others:
        found, name, within = known_place(within), within, None  # a part of that place
    if others:
        names = [each for _, each in draft.places]
        must.location_text = " or ".join(unique(names))
        must.text += names if draft.is_both else []
    elif found is not None and (found.kind == "city" or known_place(name, "city") is not None):
        region = known_place(within, "region") if within else None
        must.city, must.country = name, within if within and known_place(within, "country") else None
        needed = within if region and country_of_region(region) != country_of(name) else None
        must.location_text = ", ".join(filter(None, (name, must.country or needed)))
    elif found is not None and found.kind == "country":
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
        draft.put("exclude", "keywords", [draft.cut.phrase(phrase).lower()], phrase)


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
    bounds = ("time_start", "time_end") if name == "time" else (f"{name}_from", f"{name}_until")
    where = draft.constraints.exclude if part == "exclude" else draft.constraints.must
    held = [getattr(where, bound) for bound in bounds]
    # several times are alternatives, since an experience has one
    starts, ends = [first, held[0]], [last, held[1]]
    if any(held) and (all(starts) or all(ends)):
        first = min(filter(None, starts)) if all(starts) else None
        last = max(filter(None, ends)) if all(ends) else None
        held = [None, None]
    setattr(where, bounds[0], first or held[0])
    setattr(where, bounds[1], last or held[1])
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


def _confidence(read: Sequence[Read]) -> float:
    """The confidence: the mean chance of the segments; words that are only searched for count half."""
    chances = [
        (WORD_UNDERSTOOD if part == "text" else 1.0) * chance for _, (_, part), chance in read if part != "ignore"
    ]
    return round(min(CONFIDENCE_MAX, sum(chances) / len(chances)), 2) if chances else 0.0
