"""Finds people in Postgres, and checks the values that a request names: an unknown value is refused, with the nearest ones.

People are found by name, then those who meet every condition, then, if they are too few, those who miss least. One experience
must meet all conditions; if none does, several of a person may. After that, people may miss either roles and words, or what the
tiers drop: time, place, company and team.
"""

from __future__ import annotations

import datetime
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate, groupby
from typing import Any, NewType

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from quarry.language.messages import gettext
from quarry.people.constraints import faults_of, named_values, with_meanings
from quarry.people.contract import FALLBACK_TIERS, Constraints, PersonResult
from quarry.people.facets import PEOPLE
from quarry.people.filters import (
    FALLBACK_TIER_COMPANY_TEAM_SOFT,
    FALLBACK_TIER_STRICT,
    CardFilters,
    Clause,
    HardConstraint,
    MeetsAndMisses,
    constraints_in_force,
    meets_and_misses,
    naming_alternatives,
    relaxed,
    set_fields,
    split_by_condition,
    without,
)
from quarry.people.ranking import (
    MATCHED_CARDS_PER_PERSON,
    MIN_RESULTS,
    TOP_PEOPLE,
    CardHit,
    CardWithPhrases,
    PersonEvidence,
    RankedPerson,
    break_ties,
    rank_people,
    similarity_percent,
)
from quarry.platform.errors import InvalidInput
from quarry.postgres.pool import Database, half_vector
from quarry.retrieval.known_values import existing_values, values_meant
from quarry.runs.run_log import Run

OVERFETCH_CARDS = 50
"""How many people with the nearest cards, and with the nearest children, are candidates in a tier."""

TOP_K_CARDS = 5
"""How many of the nearest cards, and of the nearest children, are evidence for a person."""

_FIND = """
select * from find_people(
  p_embedding => %(embedding)s, p_query => %(query)s, p_should_terms => %(should_terms)s,
  p_filters => jsonb_populate_record(null::card_filters, %(filters)s),
  p_asked => jsonb_populate_record(null::card_filters, %(asked)s),
  p_excluded_people => %(excluded)s::text[], p_within => jsonb_populate_record(null::card_filters, %(within)s),
  p_profiles => %(profiles)s, p_among => %(among)s::text[],
  p_overfetch => %(overfetch)s, p_top_k => %(top_k)s)
"""

_EXCLUDED = """
select excluded_people(
  jsonb_populate_record(null::card_filters, %s), jsonb_populate_record(null::card_filters, %s), %s)::text as ids
"""

_ABSENT = "select never_said(%s::text[]) as texts"

_MEETING = """
select people_meeting(
  %(names)s::text[], %(texts)s::text[],
  array(select g from jsonb_populate_recordset(null::card_filters, %(groups)s) g))::text as ids
"""

_STANDINGS = """
select * from people_standings(
  %(people)s::text[], array(select c from jsonb_populate_recordset(null::card_filters, %(clauses)s) c), %(texts)s::text[])
"""

_COUNT = """
select count_people(
  jsonb_populate_record(null::card_filters, %(filters)s),
  array(select w from jsonb_populate_recordset(null::card_filters, %(wider)s) w), %(excluded)s::text[],
  %(among)s::text[]) as additional
"""

_CARDS = """
select c.person_id, card_family(c, '{}') as family from experience_cards c
where c.person_id = any(%s::text[]) and c.visible
order by c.end_date desc nulls first, c.start_date desc nulls last, c.id
"""

_PROFILES = """
select p.id, concat_ws('. ', p.headline, (
  select string_agg(concat_ws(', ', c.title, c.domain, c.sub_domain, joined_names(c.skills), left(c.summary, 160)), '. ') from (
    select * from experience_cards c where c.person_id = p.id and c.visible
    order by c.end_date desc nulls first, c.start_date desc nulls last, c.id limit 3) c)) as profile
from people p
where lower(btrim(p.name)) = %s and exists (select from experience_cards c where c.person_id = p.id and c.visible)
order by p.id limit 3
"""

PersonIds = NewType("PersonIds", str)
"""Ids of people as a Postgres array in text form, passed from one statement to others. As people to exclude, None means that they
are too many to list: then each candidate is tested."""

NOBODY = PersonIds("{}")

_NO_FILTERS = frozenset({"should_terms", "names", "texts", "excluded_ever"})
"""Filters that statements take as separate arguments."""


async def holds_cards(database: Database) -> bool:
    """Whether there is any visible card."""
    return await database.row("select from experience_cards where visible limit 1") is not None


async def find_excluded(database: Database, filters: CardFilters) -> PersonIds | None:
    """The people whom the filters exclude in every tier: by a visible card that is asked for (`excluding`) and is of an excluded
    company, place or similar, or has an excluded keyword, also in a child. One round trip, none if nothing is excluded.
    """
    if not filters.excludes_anyone:
        return NOBODY
    row = await database.row(
        _EXCLUDED, [_card_filters(filters), _card_filters(filters.excluding), filters.excluded_ever]
    )
    assert row is not None
    return PersonIds(row["ids"]) if row["ids"] is not None else None


async def find_absent_texts(database: Database, texts: Sequence[str]) -> frozenset[str]:
    """The texts that no visible card or profile contains."""
    row = await database.row(_ABSENT, [list(texts)]) if texts else None
    return frozenset(row["texts"]) if row else frozenset()


async def find_meeting(
    database: Database, *, names: Sequence[str] = (), texts: Sequence[str] = (), groups: Sequence[CardFilters] = ()
) -> PersonIds | None:
    """The people who have one of the names, a card or profile with each text, and a card for each group of filters; None, without
    a round trip, if nothing is given.
    """
    if not (names or texts or groups):
        return None
    row = await database.row(
        _MEETING, {"names": list(names), "texts": list(texts), "groups": Jsonb([_fields(group) for group in groups])}
    )
    return PersonIds(row["ids"]) if row and row["ids"] is not None else NOBODY


async def find_standings(database: Database, people: Sequence[str], clauses: Sequence[Clause]) -> dict[str, list[bool]]:
    """For each person, whether they meet each clause by any of their cards; one round trip."""
    if not (people and clauses):
        return {person_id: [] for person_id in people}
    filters = [(place, clause.filters) for place, clause in enumerate(clauses) if clause.filters is not None]
    texts = [(place, clause.text) for place, clause in enumerate(clauses) if clause.filters is None]
    rows = await database.rows(
        _STANDINGS,
        {
            "people": list(people),
            "clauses": Jsonb([_fields(each) for _, each in filters]),
            "texts": [text for _, text in texts],
        },
    )
    order = [place for place, _ in (*filters, *texts)]
    return {row["person_id"]: [bool(met) for _, met in sorted(zip(order, row["met"], strict=True))] for row in rows}


async def find_candidates(
    database: Database,
    *,
    filters: CardFilters,
    all_filters: CardFilters | None = None,
    excluded: PersonIds | None,
    query_text: str,
    vector: Sequence[float] | None,
    tier: int,
    among: PersonIds | None = None,
) -> list[PersonEvidence]:
    """The people whose cards or children are nearest to the query in a tier, with their evidence, by id; one round trip.

    `filters` apply in this tier; `all_filters` are those of the search, if there are more. People in `excluded`
    (find_excluded) and, if `among` is given, those not in it are left out. `query_text` is compared by words; for cards
    without vectors, or without `vector`, only words count.
    """
    rows = await database.rows(
        _FIND,
        {
            "embedding": half_vector(vector),
            "query": query_text,
            "should_terms": list((all_filters or filters).should_terms),
            "filters": _card_filters(filters),
            "asked": _card_filters(all_filters or filters),
            "excluded": excluded,
            "within": _card_filters((all_filters or filters).excluding),
            "profiles": (all_filters or filters).excluded_ever,
            "among": among,
            "overfetch": OVERFETCH_CARDS,
            "top_k": TOP_K_CARDS,
        },
    )
    return [
        _evidence(person_id, list(hits), tier)
        for person_id, hits in groupby(rows, key=lambda row: str(row["person_id"]))
    ]


async def count_relaxations(
    database: Database, filters: CardFilters, excluded: PersonIds | None, among: PersonIds | None = None
) -> list[tuple[HardConstraint, int]]:
    """For each hard constraint, how many more people meet the rest by one experience without it, of those in `among`, if given;
    one statement. People in `excluded` (find_excluded) are left out; if these are too many to list, nothing is counted.
    """
    names = constraints_in_force(filters)
    if not names or excluded is None:
        return []
    wider = [without(filters, [name]) for name in names]
    if all(each.excluding == filters.excluding for each in wider) or not filters.excludes_anyone:
        return list(zip(names, await _count_more(database, filters, wider, excluded, among), strict=True))
    counts = []
    for name, each in zip(names, wider, strict=True):
        # a wider search may exclude more
        others = await find_excluded(database, each)
        if others is not None:
            counts.append((name, (await _count_more(database, filters, [each], others, among))[0]))
    return counts


async def _count_more(
    database: Database, filters: CardFilters, wider: Sequence[CardFilters], excluded: PersonIds, among: PersonIds | None
) -> list[int]:
    parameters = {"filters": _card_filters(filters), "wider": Jsonb([_fields(each) for each in wider])}
    row = await database.row(_COUNT, {**parameters, "excluded": excluded, "among": among})
    return list(row["additional"]) if row else []


async def load_people(database: Database, people: Sequence[RankedPerson]) -> list[PersonResult]:
    """The people as shown in an answer, without reasons, in the order of `people`; one round trip. Deleted people are left out.

    Each has the cards that matched, or the latest visible ones if none of those is visible any more.
    """
    if not people:
        return []
    rows = await database.call(
        "describe_people",
        p_people=[person.person_id for person in people],
        p_cards=[card_id for person in people for card_id in person.matched_card_ids],
        p_children=[child_id for person in people for child_id in person.matched_child_ids],
        p_cards_max=MATCHED_CARDS_PER_PERSON,
    )
    by_id = {row["id"]: row for row in rows}
    return [_person_result(person, by_id[person.person_id]) for person in people if person.person_id in by_id]


async def load_cards(database: Database, people: Sequence[str]) -> dict[str, list[CardWithPhrases]]:
    """All visible cards of these people, without children, latest first; one round trip."""
    cards: dict[str, list[CardWithPhrases]] = {}
    for row in await database.rows(_CARDS, [list(people)]):
        cards.setdefault(row["person_id"], []).append(CardWithPhrases(**row["family"]))
    return cards


async def load_profiles(database: Database, name: str) -> dict[str, str]:
    """What the people of this name do, in a few words, by id: their headline, and the roles and skills of their latest cards."""
    rows = await database.rows(_PROFILES, [name.lower()])
    return {row["id"]: row["profile"] for row in rows}


def _card_filters(filters: CardFilters) -> Jsonb:
    return Jsonb(_fields(filters))


def _fields(filters: CardFilters) -> dict[str, Any]:
    """The filters that are set, in the form of the SQL type card_filters."""
    fields = {name: value for name, value in set_fields(filters).items() if name not in _NO_FILTERS}
    if fields.keys() & {"experience_least", "experience_most"}:
        fields["experience_on"] = datetime.datetime.now(datetime.UTC).date()
    return {name: str(value) if isinstance(value, datetime.date) else value for name, value in fields.items()}


def _evidence(person_id: str, rows: list[DictRow], tier: int) -> PersonEvidence:
    hits = [CardHit(**{field.name: row[field.name] for field in fields(CardHit)}) for row in rows]
    return PersonEvidence(
        person_id,
        tuple(hit for hit in hits if hit.child_id is None),
        tuple(hit for hit in hits if hit.child_id is not None),
        rows[0]["text_score"],
        rows[0]["should_hits"],
        tier,
    )


def _person_result(person: RankedPerson, row: DictRow) -> PersonResult:
    hits = {hit.child_id or hit.card_id: hit.similarity for hit in person.evidence.hits}
    places = {card_id: place for place, card_id in enumerate(person.matched_card_ids)}
    families = sorted(row.pop("cards"), key=lambda card: places.get(card["id"], len(places)))
    for card in families:
        card["children"].sort(key=lambda child: -hits.get(child["id"], 0.0))
    percent = similarity_percent(person.score)
    return PersonResult(**row, similarity_percent=percent, why_matched=[], matched_cards=families)


async def check_constraints(
    constraints: Constraints, query: str, database: Database, *, keeps_places: bool = True
) -> Constraints:
    """The constraints of a request with the values as the data spells them. Unknown values that the `query` itself has stay and,
    with `keeps_places`, places that are known though nobody here was there. Raises InvalidInput and DatabaseUnavailable.
    """
    if errors := [*faults_of(constraints)]:
        raise InvalidInput(errors)
    values = named_values(constraints)
    meanings = await values_meant(database, PEOPLE, values, query, keeps_places=keeps_places)
    return with_meanings(constraints, values, meanings)


async def as_in_data(constraints: Constraints, database: Database) -> Constraints:
    """The constraints with the values as the data spells them; unknown values stay. Raises DatabaseUnavailable."""
    values = named_values(constraints)
    return with_meanings(constraints, values, await existing_values(database, [PEOPLE], values))


# ---- the search, tier by tier ----

NAME_MATCH_MISSES = -1.0
"""The misses of people asked for by name."""
EXCLUDED_ELSEWHERE = 0.1
"""The misses of people with an excluded experience that is not asked for."""


@dataclass(frozen=True)
class Finding:
    """The people found, best first, still without reasons, and their tier. `is_ruled_out`: the exclusions leave nobody."""

    tier: int = FALLBACK_TIER_STRICT
    ranked: Sequence[RankedPerson] = ()
    people: Sequence[PersonResult] = ()
    by_name: frozenset[str] = frozenset()
    """Those who are asked for by name."""
    is_ruled_out: bool = False

    def only(self, ids: Container[str]) -> Finding:
        """The same with only these people."""
        ranked = [each for each in self.ranked if each.person_id in ids]
        return replace(self, ranked=ranked, people=[each for each in self.people if each.id in ids])

    def in_order(self, people: Sequence[PersonResult]) -> Finding:
        """The same with these people in this order, at most TOP_PEOPLE. Who is named, and then who misses less, comes first."""
        first = sorted(people, key=lambda each: (each.id not in self.by_name, len(each.misses)))[:TOP_PEOPLE]
        ranked = {each.person_id: each for each in self.ranked}
        return replace(self, ranked=[ranked[each.id] for each in first], people=first)


EvidenceByPerson = Mapping[str, PersonEvidence]


@dataclass(frozen=True, kw_only=True)
class TieredSearch:
    """A search: text, vector, filters, and the people to exclude. `clauses` are its conditions, and `exclusions` what shows that
    somebody is excluded. `preferred` clauses are shown for people who meet them; `soft_terms` ones are shown as missed if nobody
    has them. `excluded_terms` are the excluded words, in groups. `limit` is how many people are needed. `like` are the people
    whom others should resemble: they are not shown. Its statements run one after the other.
    """

    database: Database
    run: Run
    filters: CardFilters
    text: str
    vector: Sequence[float] | None
    excluded: PersonIds | None
    clauses: Sequence[Clause]
    exclusions: Sequence[Clause]
    preferred: Sequence[Clause]
    soft_terms: Sequence[Clause]
    excluded_terms: Sequence[Sequence[str]]
    limit: int
    like: frozenset[str]

    async def find(self) -> Finding:
        """The best people, from the strictest tier that finds enough. People found in a stricter tier keep it."""
        filters = self.filters
        by_name = await self._by_name()
        if by_name and not self.clauses:  # the query only gives names
            return await self._finding_of(by_name, by_name, frozenset(), FALLBACK_TIER_STRICT)
        among = await find_meeting(self.database, texts=filters.texts)
        whole, together = await self._meet_all(among)
        by_one = frozenset(whole) if together else frozenset[str]()
        hard = replace(filters, roles=(), texts=())
        tier, candidates = await self._relax(hard, None, {**whole, **by_name})
        if len(by_one) >= TOP_PEOPLE:
            candidates = {**whole, **by_name}  # enough: nobody else is shown
        elif filters.roles or filters.texts:
            _, as_expected = await self._relax(filters, among, {})
            if not as_expected and not whole and await self._are_ruled_out(among):
                return await self._ruled_out(among, by_name, tier)
            candidates = {**as_expected, **candidates}
        elif not candidates:
            return Finding(tier, is_ruled_out=await self._are_ruled_out(among))
        return await self._finding_of(candidates, by_name, by_one, tier)

    async def _by_name(self) -> EvidenceByPerson:
        """The people with the names asked for."""
        if not self.filters.names:
            return {}
        among = await find_meeting(self.database, names=self.filters.names)
        return await self._candidates(CardFilters(), FALLBACK_TIER_STRICT, among)

    async def _meet_all(self, among: PersonIds | None) -> tuple[EvidenceByPerson, bool]:
        """The people who meet all conditions by one experience, or, if nobody does, by several; and whether by one. `among` are
        the people whose profiles contain the required words.
        """
        filters = self.filters
        by_one = await self._candidates(filters, FALLBACK_TIER_STRICT, among)
        if by_one:
            return by_one, True
        person, groups = split_by_condition(filters)
        if not groups:
            return {}, False
        among = await find_meeting(self.database, texts=filters.texts, groups=groups)
        return await self._candidates(person, FALLBACK_TIER_STRICT, among), False

    async def _ruled_out(self, among: PersonIds | None, by_name: EvidenceByPerson, tier: int) -> Finding:
        """The people who meet the conditions by an experience that is not excluded, though another one excludes them: they miss
        that. Without any, nobody but those asked for by name.
        """
        everybody = replace(self, excluded=NOBODY)
        near = await everybody._candidates(self.filters, FALLBACK_TIER_STRICT, among)
        finding = await self._finding_of({**near, **by_name}, by_name, frozenset(near), tier, excludes=False)
        return replace(finding, is_ruled_out=not near)

    async def _are_ruled_out(self, among: PersonIds | None) -> bool:
        """Whether the exclusions rule out everybody who meets the conditions. Then nobody else is shown instead."""
        if not self.filters.excludes_anyone:
            return False
        everybody = replace(self, excluded=NOBODY, filters=self.filters.unexcluded)
        widest = relaxed(everybody.filters, FALLBACK_TIER_COMPANY_TEAM_SOFT)
        return bool(await everybody._candidates(widest, FALLBACK_TIER_COMPANY_TEAM_SOFT, among))

    async def _relax(
        self, filters: CardFilters, among: PersonIds | None, candidates: EvidenceByPerson
    ) -> tuple[int, EvidenceByPerson]:
        """The people found, with the filters relaxed tier by tier until there are enough; and the last tier."""
        tier = FALLBACK_TIER_STRICT
        for next_tier, relaxed_filters in _tiers(filters):
            if len(candidates) >= MIN_RESULTS:
                break
            tier = next_tier
            if relaxed_filters != self.filters:  # those were searched already
                candidates = {**await self._candidates(relaxed_filters, tier, among), **candidates}
        return tier, candidates

    async def _candidates(self, filters: CardFilters, tier: int, among: PersonIds | None) -> EvidenceByPerson:
        with self.run.step("retrieve") as record:
            evidence = await find_candidates(
                self.database,
                filters=filters,
                all_filters=self.filters,
                excluded=self.excluded,
                query_text=self.text,
                vector=self.vector,
                tier=tier,
                among=among,
            )
            record.counts |= {"tier": tier, "people": len(evidence)}
        return {person.person_id: person for person in evidence if person.person_id not in self.like}

    async def _finding_of(
        self,
        candidates: EvidenceByPerson,
        by_name: EvidenceByPerson,
        by_one: frozenset[str],
        tier: int,
        *,
        excludes: bool = True,
    ) -> Finding:
        """The best candidates, described. Unless the search `excludes`, an excluded experience is a condition that they miss."""
        standings, doubts = await self._standings(candidates, by_one)
        misses = {id: each.missed + doubts.get(id, 0.0) for id, each in standings.items()}
        misses |= dict.fromkeys(by_name, NAME_MATCH_MISSES)
        best = rank_people(list(candidates.values()), self.filters, misses)[: self.limit]
        with self.run.step("describe") as record:
            people = {person.id: person for person in await load_people(self.database, best)}
            record.counts["people"] = len(people)
        ranked = [person for person in break_ties(best, people, self.filters, misses) if person.person_id in people]
        tier = max([tier, *(person.evidence.tier for person in ranked)])
        stands = {person.person_id: standings[person.person_id] for person in ranked}
        labels = await self._in_full(stands, excludes=excludes)
        full = [self._without_unstated_pay(people[id].model_copy(update=each)) for id, each in labels.items()]
        return Finding(tier, ranked, full, frozenset(by_name))

    async def _in_full(
        self, standings: Mapping[str, MeetsAndMisses], *, excludes: bool
    ) -> dict[str, dict[str, list[str]]]:
        """What the people shown meet and miss, with the alternatives that each meets, the preferred clauses, and the named ones
        that none of them has. Who has an excluded experience elsewhere does not meet that exclusion. An excluded word that no
        profile contains is shown as unchecked.
        """
        clauses = self.clauses
        alternatives = [each for clause in clauses for each in clause.alternatives]
        forms = [form for clause in self.soft_terms for form in clause.alternatives]
        terms = [word for group in self.excluded_terms for word in group]
        absent = await find_absent_texts(self.database, terms if standings else ())
        unchecked = [group for group in self.excluded_terms if absent.issuperset(group)]
        unsaid = {word for group in unchecked for word in group}
        excluded = [each for each in self.exclusions if each.terms.isdisjoint(unsaid)]
        parts = (alternatives, self.preferred, excluded, forms)
        met = await find_standings(self.database, [*standings], [each for part in parts for each in part])
        own = {id: _in_parts(each, parts) for id, each in met.items()}
        present = {form for each in own.values() for form, is_met in zip(forms, each[3], strict=False) if is_met}
        lacking = [clause.label for clause in self.soft_terms if present.isdisjoint(clause.alternatives)]
        lacking += [gettext("not {label}: no profile says who is", label=group[0]) for group in unchecked]
        full: dict[str, dict[str, list[str]]] = {}
        for id, stands in standings.items():
            alternative, preferred, shows, _ = own.get(id, ([], [], [], []))
            labels = naming_alternatives(stands, clauses, alternative)
            elsewhere = {each.label for each, is_met in zip(excluded, shows, strict=False) if is_met}
            without = [label for label in dict.fromkeys(each.label for each in excluded) if label not in elsewhere]
            liked = [each.label for each, is_met in zip(self.preferred, preferred, strict=False) if is_met]
            missed = [] if excludes else sorted(elsewhere)
            full[id] = {"meets": [*labels.meets, *without, *liked], "misses": [*stands.misses, *missed, *lacking]}
        return full

    async def _standings(
        self, candidates: EvidenceByPerson, by_one: frozenset[str]
    ) -> tuple[dict[str, MeetsAndMisses], dict[str, float]]:
        """What each person meets and misses, and the doubts, less than any miss: excluded experiences elsewhere. If some meet all
        conditions by one experience, people who need several miss that.
        """
        clauses, excluded = self.clauses, self.exclusions
        ids = [id for id in candidates if excluded or id not in by_one]
        met = await find_standings(self.database, ids, [*clauses, *excluded])
        all_met = [True] * len(clauses)
        standings = {
            id: meets_and_misses(
                clauses,
                all_met if id in by_one else met.get(id, all_met)[: len(clauses)],
                together=id in by_one or not by_one,
            )
            for id in candidates
        }
        doubts = {id: EXCLUDED_ELSEWHERE * any(own[len(clauses) :]) for id, own in met.items()}
        return standings, doubts

    def _without_unstated_pay(self, person: PersonResult) -> PersonResult:
        """The person without a tick for an expectation that they do not state."""
        if person.work_preferred_salary_min is not None:
            return person
        labels = {each.label for each in self.clauses if each.filters and each.filters.offer_salary is not None}
        return person.model_copy(update={"meets": [each for each in person.meets if each not in labels]})


def _in_parts(met: Sequence[bool], parts: Sequence[Sequence[Clause]]) -> list[Sequence[bool]]:
    """Which clauses of each part are met, from those of all parts in one list."""
    ends = [*accumulate(map(len, parts))]
    return [met[end - len(part) : end] for part, end in zip(parts, ends, strict=True)]


def _tiers(filters: CardFilters) -> Iterator[tuple[int, CardFilters]]:
    """The tiers with their filters, strictest first, without those that change nothing."""
    searched = None
    for tier in FALLBACK_TIERS:
        if relaxed(filters, tier) != searched:
            searched = relaxed(filters, tier)
            yield tier, searched
