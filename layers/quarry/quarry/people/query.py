"""What a question asks of people: its mentions as the constraints of a search, each with the characters that say it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from quarry.core.contract import Evidence
from quarry.core.language.tokens import keys, tokenise, unique
from quarry.core.language.word_forms import fields_of_worker
from quarry.core.query.mention import (
    Cue,
    DateRange,
    FacetName,
    Known,
    KnownValue,
    Mention,
    MoneyRange,
    NumberRange,
    ParsedQuery,
    Phrase,
    Place,
    Word,
)
from quarry.core.query.question import Condition, Question
from quarry.people.contract import Constraints
from quarry.people.embedding_text import confidence, embedding_text_of, search_phrases
from quarry.people.places import country_of, country_of_region, known_place

ORGANISATIONS = frozenset({"company", "school"})
PLACES = frozenset({"workplace", "home", "preferred_place"})
ROLES = frozenset(
    {"title", "domain", "sub_domain", "skill", "degree", "seniority", "employment", "intent", "headline", "bio"}
)
ONE_OF_MANY = frozenset({"title", "domain", "sub_domain", "seniority", "employment", "intent"})
"""Of these one experience has a single value: two of them that "and" joins are alternatives."""

TAXONOMY = {"seniority": "seniority_level", "employment": "employment_type", "intent": "intent_primary"}
HARD_INTENTS = frozenset({"education", "project", "community", "certification", "career_break"})
"""Kinds of experience that are made hard where the query insists; people work, teach and do research under other headings too."""

ROLE_NAMES_MAX = 12
SALARY_MIN, SALARY_MAX = 10_000.0, 1e9
"""What is less or more a year is no salary."""
BARE_SALARY_MIN = 200_000.0
"""A number without a currency or a period is a year's salary from here on."""
FORMER_WORDS = 3
"""So many words before an organisation say that somebody is there no longer."""

_RECRUITING = frozenset({"hiring", "recruiting", "hire", "recruit"})
_FORMER = frozenset("ex former formerly previously earlier left longer past was used".split())
_PER_YEAR = {"year": 1, "month": 12, "week": 52, None: 1}
_COMPOUND = re.compile(r"[-‑/]\w{1,20}+")
_GRADUATED = re.compile(r"\b(?:graduates|graduate|alumni|class|batch)\s+of\b", re.IGNORECASE)
_OF = re.compile(r"\b(?:of|class of|group of|batch of)\s+$", re.IGNORECASE)
LEAD_CHARACTERS_MAX = 12
BESIDE_CHARACTERS = 48
"""So near to a date a word such as "joined" says what began then."""


@dataclass
class _Read:
    """Constraints while they are made."""

    parsed: ParsedQuery
    question: Question
    constraints: Constraints
    roles: list[list[str]] = field(default_factory=list)
    role_facets: frozenset[str] = frozenset()
    places: list[Place] = field(default_factory=list)
    place_texts: list[str] = field(default_factory=list)
    is_team_required: bool = False

    @cached_property
    def beginnings(self) -> list[int]:
        """Where words say that something began."""
        return [mention.start for mention in self.parsed.mentions if "start" in _facets(mention)]

    @cached_property
    def is_about_now_alone(self) -> bool:
        """Whether neither an organisation nor a time is asked for."""
        clauses = (condition for clause in self.question.clauses for condition in clause)
        return not any(each.facet in ORGANISATIONS or isinstance(each.range, DateRange) for each in clauses)

    def text(self, mention: Mention) -> str:
        return self.parsed.text[mention.start : mention.end]

    def note(self, field: str, value: str, mention: Mention) -> None:
        self.constraints.evidence.append(
            Evidence(field=field, value=value, start=mention.start, end=mention.end, assertion=mention.assertion)
        )


def constraints_of(parsed: ParsedQuery, question: Question) -> Constraints:
    """The constraints that a question holds, not yet normalised."""
    text = parsed.text
    read = _Read(parsed, question, Constraints(query_original=text, query_cleaned=text))
    for place, mention in enumerate(parsed.mentions):
        if mention.assertion != "doubtful" or _is_left(read, place):
            _take(read, place, mention)
    _take_names_in_parts(read)
    _take_ranges(read)
    _take_amounts(read)
    _take_unknown(read)
    _take_excluded_words(read)
    _put_places(read)
    _put_roles(read)
    read.constraints.query_embedding_text = embedding_text_of(parsed)
    read.constraints.search_phrases = search_phrases(parsed, read.constraints)
    read.constraints.confidence_score = confidence(parsed)
    return read.constraints


def _is_left(read: _Read, place: int) -> bool:
    """Whether it is said that somebody is there no longer."""
    before = read.parsed.mentions[place - 1].value if place else None
    return isinstance(before, Cue) and before.what == "former"


def _take(read: _Read, place: int, mention: Mention) -> None:
    value = mention.value
    if isinstance(value, Known):
        _take_known(read, place, mention, value)
    elif isinstance(value, Place):
        if not _is_part_of_name(read, place) and not _is_destination(read, place):
            _take_place(read, mention, value)
    elif isinstance(value, (Word, Phrase)) and mention.assertion != "negated":
        _take_word(read, mention)
    elif isinstance(value, FacetName):
        _take_facet_name(read, place, mention, value)


# ---- values of the data ----


def _take_known(read: _Read, place: int, mention: Mention, value: Known) -> None:
    facets = {known.facet for known in value.values}
    said = read.text(mention).lower()
    if mention.assertion == "preferred" or (mention.is_latent and mention.assertion != "negated"):
        read.constraints.should.keywords.append(said)
        return
    if facets & ROLES - {"title", "degree"} or not facets & (ORGANISATIONS | PLACES | {"name", "team"}):
        _take_role(read, place, mention, value)
    elif facets & ORGANISATIONS:
        _take_organisation(read, place, mention, value)
    elif "team" in facets:
        _take_team(read, mention, value)
    elif facets & PLACES:
        first = next((known.value for known in value.values if known.facet in PLACES and known.is_whole), None)
        if first is None:
            read.constraints.should.keywords += said.split()
            return
        known_as = known_place(first)
        if known_as is not None:
            _take_place(read, mention, known_as)
        else:
            _take_place_text(read, mention, first.lower())
    elif "name" in facets:
        names = _values(value, {"name"})
        if mention.assertion == "negated":
            return
        read.constraints.must.name += names
        read.note("must.name", " or ".join(names), mention)


def _take_organisation(read: _Read, place: int, mention: Mention, value: Known) -> None:
    names = [name.lower() for name in _values(value, ORGANISATIONS)]
    if mention.assertion == "negated":
        read.constraints.exclude.company_norm += names
        read.note("exclude.company_norm", " or ".join(names), mention)
        return
    if _RECRUITING & {key for each in read.parsed.mentions[max(0, place - 2) : place] for key in keys(read.text(each))}:
        return  # who is to be found is to go there
    must = read.constraints.must
    is_school = all(known.facet == "school" for known in value.values if known.facet in ORGANISATIONS)
    beside = is_school and bool(must.company_norm)
    (must.school_norm if beside else must.company_norm).extend(names)
    read.note("must.school_norm" if beside else "must.company_norm", " or ".join(names), mention)
    if _is_former(read, place):
        must.is_current = False


def _is_former(read: _Read, place: int) -> bool:
    """Whether the words before an organisation say that somebody has left it."""
    before = read.parsed.mentions[max(0, place - FORMER_WORDS) : place]
    return any(
        (isinstance(mention.value, Cue) and mention.value.what == "former") or _FORMER & set(keys(read.text(mention)))
        for mention in before
    )


def _take_team(read: _Read, mention: Mention, value: Known) -> None:
    names = [name.lower() for name in _values(value, {"team"})]
    to = read.constraints.exclude if mention.assertion == "negated" else read.constraints.must
    read.is_team_required = read.is_team_required or mention.assertion == "required"
    to.team_norm += names
    read.note("exclude.team_norm" if mention.assertion == "negated" else "must.team_norm", " or ".join(names), mention)


def _take_role(read: _Read, place: int, mention: Mention, value: Known) -> None:
    """What somebody is or does: a role, a field, a skill, a rank, a kind of work."""
    said, constraints = read.text(mention).lower(), read.constraints
    facets = {known.facet for known in value.values}
    names = unique(
        (said, *(known.value.lower().replace("_", " ") for known in value.values if known.facet in ROLES | {"team"}))
    )
    meant = [known for known in value.values if known.facet in ROLES | {"team"} and _is_meant(said, known)]
    if mention.assertion == "negated":
        constraints.exclude.keywords += names
        read.note("exclude.keywords", " or ".join(names), mention)
        return
    skills = [name.lower() for name in _values(value, {"skill"})]
    constraints.should.skills_or_tools += skills
    if not skills:
        constraints.should.keywords += [*names, *said.split()]
    elif said not in skills:
        constraints.should.keywords.append(said)
    constraints.should.intent_secondary += [name for name in _values(value, {"intent"}) if name != "work"]
    if _is_required(read, place) and _take_required(read, mention, value):
        return
    if facets == {"intent"} and _values(value, {"intent"}) == ["work"]:
        return
    if meant:
        names = unique((said, *(known.value.lower().replace("_", " ") for known in meant)))
        _add_role(read, place, mention, names[:ROLE_NAMES_MAX], frozenset(known.facet for known in meant))


def _is_required(read: _Read, place: int) -> bool:
    """Whether the question insists on it, or on the noun that it describes ("healthcare experience is a must")."""
    mention, *following = read.parsed.mentions[place : place + 2]
    return mention.assertion == "required" or any(
        each.assertion == "required" and isinstance(each.value, Word) and each.start == mention.end + 1
        for each in following
    )


def _is_meant(said: str, known: KnownValue) -> bool:
    """Whether words say a value as it stands, but for the plural, or by who does it ("chemists" for chemistry): "price" is no
    pricing, and "trains" no trainer.
    """
    if known.likeness < 1:
        return known.facet in ("title", "domain") and known.is_whole
    words, value = [_singular(key) for key in keys(said)], [_singular(key) for key in keys(known.value)]
    if not known.is_whole or not words or not value:
        return True
    if "".join(words) == "".join(value):
        return True
    of_worker = {_singular(form) for form in fields_of_worker(words[-1])}
    return words[:-1] == value[:-1] and value[-1] in of_worker


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > len("ties"):
        return word.removesuffix("ies") + "y"
    return word if word.endswith(("ss", "ics")) else word.removesuffix("s")


def _add_role(read: _Read, place: int, mention: Mention, names: Sequence[str], facets: frozenset[str]) -> None:
    """Another role that must hold; an alternative to the one before where "or" joins them, or nobody can be both at once."""
    is_alternative = mention.joined_by == "or" or (
        mention.joined_by == "and"
        and bool(facets & read.role_facets & ONE_OF_MANY)
        and "skill" not in facets & read.role_facets
    )
    if is_alternative and read.roles:
        read.roles[-1] = list(unique((*read.roles[-1], *names)))
    else:
        read.roles.append(list(names))
    read.role_facets = facets
    read.note("must.role", "|".join(names), mention)


def _take_required(read: _Read, mention: Mention, value: Known) -> bool:
    """Make hard what the question insists on. False where there is no field for it."""
    must = read.constraints.must
    for facet, name in (("domain", "domain"), ("sub_domain", "sub_domain"), *TAXONOMY.items()):
        values = [each.lower() for each in _values(value, {facet})]
        if facet == "intent":
            values = [each for each in values if each in HARD_INTENTS]
        if values:
            getattr(must, name).extend(values)
            read.note(f"must.{name}", " or ".join(values), mention)
            return True
    return False


def _values(value: Known, facets: Iterable[str]) -> list[str]:
    return list(unique(known.value for known in value.values if known.facet in facets))


def _take_names_in_parts(read: _Read) -> None:
    """Somebody of whose name several words are said, each of which by itself may mean others."""
    said: dict[str, list[Mention]] = {}
    for mention in read.parsed.mentions:
        if isinstance(mention.value, Known) and mention.is_latent and mention.assertion == "affirmed":
            for name in _values(mention.value, {"name"}):
                said.setdefault(name, []).append(mention)
    is_asked_by_name = bool(read.constraints.must.name)
    for name, mentions in said.items():
        if len(mentions) > 1 or _has_more_of(read, name, mentions[0]):
            read.constraints.must.name.append(name)
            read.note("must.name", name, replace(mentions[0], end=mentions[-1].end))
            is_asked_by_name = True
    for name, mentions in said.items() if is_asked_by_name else ():
        # "Ada Moreau and Grace"
        if mentions[0].joined_by and len(said) <= NAMES_IN_PARTS_MAX and read.text(mentions[0])[:1].isupper():
            read.constraints.must.name.append(name)
            read.note("must.name", name, mentions[0])


NAMES_IN_PARTS_MAX = 6


def _has_more_of(read: _Read, name: str, mention: Mention) -> bool:
    """Whether a word beside a part of a name is of that name too."""
    tokens = read.parsed.tokens
    first = bisect_left(tokens, mention.start, key=lambda token: token.start)
    last = bisect_left(tokens, mention.end, key=lambda token: token.start)
    beside = {token.key for token in (*tokens[max(0, first - 1) : first], *tokens[last : last + 1])}
    return bool(beside & set(keys(name)))


# ---- places ----


def _take_place(read: _Read, mention: Mention, place: Place) -> None:
    if mention.assertion == "negated":
        read.constraints.exclude.location.append(place.name)
        read.note("exclude.location", place.name, mention)
    elif mention.assertion == "preferred":
        read.constraints.should.keywords.append(place.name)
    else:
        read.places.append(place)
        read.note("must.location_text", place.name, mention)


def _take_place_text(read: _Read, mention: Mention, text: str) -> None:
    if mention.assertion == "negated":
        read.constraints.exclude.location.append(text)
        read.note("exclude.location", text, mention)
    else:
        read.place_texts.append(text)
        read.note("must.location_text", text, mention)


def _state_needed(city: str, within: str | None) -> str | None:
    """The state that a city is put in, unless it goes without saying: the largest city of the name lies in its country."""
    state = known_place(within, "region") if within else None
    return within if state is not None and country_of_region(state) != country_of(city) else None


def _is_city(place: Place) -> bool:
    """Whether it is a city, as a country may be that is one."""
    return place.kind == "city" or (place.kind == "country" and known_place(place.name, "city") is not None)


def _is_part_of_name(read: _Read, place: int) -> bool:
    """Whether a place is the end of a name that the data does not hold: "Hill School Leeds"."""
    before = read.parsed.mentions[place - 1] if place else None
    is_name = before is not None and isinstance(before.value, Word) and before.value.is_name
    return is_name and before is not None and read.parsed.text[before.end : read.parsed.mentions[place].start] == " "


_DESTINATION = frozenset({"relocate", "relocating", "move", "moving", "shift", "shifting"})


def _is_destination(read: _Read, place: int) -> bool:
    """Whether somebody is to go there, which is no place of their experience."""
    before = read.parsed.mentions[max(0, place - 2) : place]
    if not any(_DESTINATION & set(keys(read.text(mention))) for mention in before):
        return False
    read.constraints.should.keywords.append(read.text(read.parsed.mentions[place]).lower())
    return True


def _put_places(read: _Read) -> None:
    """One city, country or both go to their fields; several alternatives, a region or an unknown place to the text alone."""
    must = read.constraints.must
    cities = unique(place.name for place in read.places if _is_city(place))
    if cities:
        read.place_texts = []  # a part of the city, mostly
    countries = unique(place.name for place in read.places if place.kind == "country" and not _is_city(place))
    regions = unique(place.name for place in read.places if place.kind not in ("city", "country"))
    if len(cities) == 1 and not regions and len(countries) <= 1 and not read.place_texts:
        within = next((place.within for place in read.places if place.kind == "city"), None)
        is_country = within is not None and known_place(within, "country") is not None
        country = within if is_country and not countries else next(iter(countries), None)
        must.city, must.country = cities[0], country
        must.location_text = ", ".join(filter(None, (cities[0], country or _state_needed(cities[0], within))))
    elif not cities and not regions and len(countries) == 1 and not read.place_texts:
        must.country = must.location_text = countries[0]
    else:
        must.location_text = " or ".join((*cities, *regions, *countries, *unique(read.place_texts))) or None


# ---- dates, amounts, what holds or not ----


def _take_ranges(read: _Read) -> None:
    """Dates and amounts, and being open to work, by the conditions that they make."""
    spans = {(mention.start, mention.end): mention for mention in read.parsed.mentions}
    for clause in read.question.clauses:
        for condition in _each_said(clause):
            mention = next(
                (spans[each.start, each.end] for each in condition.evidence if (each.start, each.end) in spans), None
            )
            if mention is None:
                continue
            if isinstance(condition.range, DateRange):
                _take_dates(read, mention, condition, condition.range)
            elif condition.facet == "salary" and isinstance(condition.range, (MoneyRange, NumberRange)):
                _take_salary(read, mention, condition.range)
            elif condition.facet == "open_to_work" and not condition.is_negated:
                read.constraints.must.open_to_work_only = True
                read.note("must.open_to_work_only", "true", mention)


def _take_amounts(read: _Read) -> None:
    """Amounts that are no conditions of the data: nobody says in rupees what a salary is."""
    spans = {(mention.start, mention.end): mention for mention in read.parsed.mentions}
    for place, mention in enumerate(read.parsed.mentions):
        if isinstance(mention.value, NumberRange) and mention.value.unit is None and _stands_alone(read, place):
            _take_bare_salary(read, mention, mention.value)
    for missing in read.question.unanswerable:
        said = spans.get((missing.evidence.start, missing.evidence.end))
        if said is not None and isinstance(said.value, (NumberRange, MoneyRange)):
            _take_salary(read, said, said.value)


def _stands_alone(read: _Read, place: int) -> bool:
    """Whether a number counts nothing: no word follows it in its clause."""
    following = read.parsed.mentions[place + 1 : place + 2]
    gap = read.parsed.text[read.parsed.mentions[place].end : following[0].start] if following else ""
    return not following or bool(gap.strip()) or isinstance(following[0].value, Cue)


def _take_bare_salary(read: _Read, mention: Mention, range: NumberRange) -> None:
    if (
        range.most is not None
        and range.most >= BARE_SALARY_MIN
        and read.constraints.must.offer_salary_inr_per_year is None
    ):
        _take_salary(read, mention, range)


def _each_said(clause: Sequence[Condition]) -> Sequence[Condition]:
    """The conditions of a clause, of alternative periods one that holds them all: an experience has one time."""
    dated = [condition for condition in clause if isinstance(condition.range, DateRange)]
    if len(dated) < 2:
        return clause[:1]
    ranges = [condition.range for condition in dated if isinstance(condition.range, DateRange)]
    firsts, lasts = [each.first for each in ranges], [each.last for each in ranges]
    whole = DateRange(
        None if None in firsts else min(first for first in firsts if first),
        None if None in lasts else max(last for last in lasts if last),
    )
    return [replace(dated[0], range=whole)]


def _take_dates(read: _Read, mention: Mention, condition: Condition, range: DateRange) -> None:
    """A time goes on in an experience, unless the words say that it began ("joined", "of 1996") or ended ("left") then."""
    first = range.first.isoformat() if range.first else None
    last = range.last.isoformat() if range.last else None
    must, exclude = read.constraints.must, read.constraints.exclude
    if not _is_explicit(read.text(mention), range):
        read.constraints.should.keywords.append(read.text(mention).lower())
        return
    if mention.assertion == "negated" or condition.is_negated:
        exclude.time_start, exclude.time_end = first, last
        read.note("exclude.time", read.text(mention), mention)
        return
    which = _bound_of(read, mention, condition)
    if which == "started":
        must.started_from, must.started_until = first or must.started_from, last or must.started_until
    elif which == "ended":
        must.ended_from, must.ended_until = first or must.ended_from, last or must.ended_until
    elif (first and must.time_start) or (last and must.time_end):
        read.constraints.should.keywords.append(read.text(mention).lower())
        return
    else:
        must.time_start, must.time_end = first or must.time_start, last or must.time_end
    read.note(f"must.{which}", read.text(mention), mention)


def _is_explicit(said: str, range: DateRange) -> bool:
    """Whether a period names its years, and does not depend on today."""
    years = [day.year for day in (range.first, range.last) if day]
    named = re.findall(r"\d{2,4}", said)
    return any(
        len(name) != 3 and str(year + by).endswith(name) for year in years for by in (-1, 0, 1) for name in named
    )


def _bound_of(read: _Read, mention: Mention, condition: Condition) -> str:
    if condition.facet in ("end", "graduation"):
        return "ended"
    if _GRADUATED.search(read.parsed.text[max(0, mention.start - 2 * LEAD_CHARACTERS_MAX) : mention.start + 3]):
        return "ended"
    beside = bisect_left(read.beginnings, mention.start - BESIDE_CHARACTERS)
    begins = beside < len(read.beginnings) and read.beginnings[beside] <= mention.start + BESIDE_CHARACTERS
    before = read.parsed.text[max(0, mention.start - LEAD_CHARACTERS_MAX) : mention.start]
    return "started" if begins or _OF.search(before) or _OF.match(read.text(mention)[:3] + " ") else "time"


def _take_salary(read: _Read, mention: Mention, range: MoneyRange | NumberRange) -> None:
    """What is offered at most, INR a year; what is not clear is kept as words."""
    must = read.constraints.must
    amount = range.most if range.most is not None else None
    if isinstance(range, MoneyRange):
        times = _PER_YEAR.get(range.per) if range.currency in (None, "INR") else None
        amount = amount * times if amount is not None and times else None
    elif amount is not None and amount < BARE_SALARY_MIN:
        amount = None
    if amount is None or not SALARY_MIN <= amount <= SALARY_MAX or must.offer_salary_inr_per_year is not None:
        read.constraints.should.keywords.append(read.text(mention).lower())
        return
    must.offer_salary_inr_per_year = round(amount, 2)
    read.note("must.offer_salary_inr_per_year", f"{amount:g}", mention)


def _take_facet_name(read: _Read, place: int, mention: Mention, value: FacetName) -> None:
    """ "Currently at …", "now", "active"; a kind of thing that is ruled out ("not at a university")."""
    if "is_current" in value.facets:
        _take_current(read, place, mention)
    elif mention.assertion == "required" and {"degree", "school"} & set(value.facets):
        read.constraints.must.intent_primary.append("education")
        read.note("must.intent_primary", "education", mention)
    elif mention.assertion == "negated" and not {"open_to_work", "open_to_contact"} & set(value.facets):
        read.constraints.exclude.keywords.append(read.text(mention).lower())
        read.note("exclude.keywords", read.text(mention).lower(), mention)


CURRENT_REACH = 5


def _take_current(read: _Read, place: int, mention: Mention) -> None:
    """Being there now is asked of the card that all else is asked of: only where nothing of the past is asked for beside it."""
    must = read.constraints.must
    if mention.assertion == "negated":
        must.is_current = False
        return
    following = read.parsed.mentions[place + 1 : place + 1 + CURRENT_REACH]
    governs = any(
        isinstance(each.value, Known) and ORGANISATIONS & {k.facet for k in each.value.values} for each in following
    )
    if governs or read.is_about_now_alone:
        must.is_current = None if must.is_current is False else True
        read.note("must.is_current", "true", mention)


# ---- words ----


def _take_word(read: _Read, mention: Mention) -> None:
    """A word that the data has no value for raises the rank of who says it."""
    read.constraints.should.keywords += [token.text.lower() for token in tokenise(read.text(mention))]


def _take_unknown(read: _Read) -> None:
    """Names that are no values of the data: an employer or a place that nobody has, or words of some text."""
    leads: dict[int, str] = {}
    for place, mention in enumerate(read.parsed.mentions):
        if not (isinstance(mention.value, Word) and mention.value.is_name):
            continue
        leads[place] = lead = _lead_of(read, place, leads)
        if mention.assertion in ("doubtful", "preferred"):
            continue
        text = _whole_name(read, place)
        out = mention.assertion == "negated"
        if lead == "company":
            (read.constraints.exclude if out else read.constraints.must).company_norm.append(text.lower())
            read.note("exclude.company_norm" if out else "must.company_norm", text.lower(), mention)
            if not out and _is_former(read, place):
                read.constraints.must.is_current = False
        elif lead == "place":
            _take_place_text(read, mention, text.lower())
        elif not out:
            read.constraints.must.text.append(text)
            read.note("must.text", text, mention)


_EMPLOYER_LEADS = frozenset({"at", "from", "for", "with", "@", "ex", "joined"})


def _lead_of(read: _Read, place: int, leads: Mapping[int, str]) -> str:
    """What leads to a name: of a list, what leads to its first."""
    mentions = read.parsed.mentions
    if mentions[place].joined_by is not None:
        for before in range(place - 1, max(-1, place - 3), -1):
            if before in leads:
                return leads[before]
            if isinstance(mentions[before].value, Known) and ORGANISATIONS & _facets(mentions[before]):
                return "company"
    words = keys(read.text(mentions[place - 1])) if place else ()
    if words and words[-1] in _EMPLOYER_LEADS:
        return "company"
    names = _facets(mentions[place - 2]) if place > 1 else frozenset()
    return "place" if words and words[-1] == "in" and names & PLACES else "text"


def _facets(mention: Mention) -> frozenset[str]:
    if isinstance(mention.value, FacetName):
        return frozenset(mention.value.facets)
    return frozenset(known.facet for known in mention.value.values) if isinstance(mention.value, Known) else frozenset()


def _whole_name(read: _Read, place: int) -> str:
    """A name with the place that is its end, or the number."""
    mention, *following = read.parsed.mentions[place : place + 2]
    if following and isinstance(following[0].value, Place) and _is_part_of_name(read, place + 1):
        return read.parsed.text[mention.start : following[0].end]
    more = _COMPOUND.match(read.parsed.text, mention.end)
    return read.text(mention) + (more.group() if more else "")


def _take_excluded_words(read: _Read) -> None:
    """Words that are ruled out and are no values, nor names of employers; of a phrase with a value in it, the value is enough."""
    exclude = read.constraints.exclude
    values = [
        read.text(mention).lower()
        for mention in read.parsed.mentions
        if mention.assertion == "negated" and isinstance(mention.value, Known)
    ]
    held = {*exclude.keywords, *exclude.company_norm}
    for text in read.question.excluded_words:
        words = text.lower()
        if words not in held and not any(value in words for value in values):
            exclude.keywords.append(words)


def _put_roles(read: _Read) -> None:
    """The roles; so is a team where nothing says of which company."""
    must = read.constraints.must
    must.role = ["|".join(names) for names in read.roles]
    if must.team_norm and not must.company_norm and not read.is_team_required:
        must.role.append("|".join(must.team_norm))
        read.constraints.should.keywords += must.team_norm
        must.team_norm = []
