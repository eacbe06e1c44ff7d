"""Finds people: by name, then those who meet every condition, then, if they are too few, those who miss least.

One experience must meet all conditions; if none does, several of a person may. After that, people may miss either roles and
words, or what the tiers drop: time, place, company and team.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from quarry.language.messages import gettext
from quarry.people.contract import FALLBACK_TIERS, PersonResult
from quarry.people.filters import (
    FALLBACK_TIER_COMPANY_TEAM_SOFT,
    FALLBACK_TIER_STRICT,
    CardFilters,
    relaxed,
)
from quarry.people.ranking import (
    MIN_RESULTS,
    TOP_PEOPLE,
    Clause,
    MeetsAndMisses,
    PersonEvidence,
    RankedPerson,
    apart,
    break_ties,
    naming_alternatives,
    rank_people,
    standing,
)
from quarry.people.retrieval import (
    NOBODY,
    PersonIds,
    find_candidates,
    find_meeting,
    find_never_said,
    find_standings,
    load_people,
)
from quarry.postgres.pool import Database
from quarry.runs.run_log import Run

NAMED_FIRST = -1.0
"""The misses of people asked for by name."""
EXCLUDED_ELSEWHERE = 0.1
"""The misses of people with an excluded experience that is not asked for."""


@dataclass(frozen=True)
class Finding:
    """The people found, best first, still without reasons, and their tier. `is_ruled_out`: the exclusions leave nobody."""

    tier: int = FALLBACK_TIER_STRICT
    ranked: Sequence[RankedPerson] = ()
    people: Sequence[PersonResult] = ()
    named: frozenset[str] = frozenset()
    """Those who are asked for by name."""
    is_ruled_out: bool = False

    def only(self, ids: Container[str]) -> Finding:
        """The same with only these people."""
        ranked = [each for each in self.ranked if each.person_id in ids]
        return replace(self, ranked=ranked, people=[each for each in self.people if each.id in ids])

    def in_order(self, people: Sequence[PersonResult]) -> Finding:
        """The same with these people in this order, at most TOP_PEOPLE. Who is named, and then who misses less, comes first."""
        first = sorted(people, key=lambda each: (each.id not in self.named, len(each.misses)))[:TOP_PEOPLE]
        ranked = {each.person_id: each for each in self.ranked}
        return replace(self, ranked=[ranked[each.id] for each in first], people=first)


@dataclass(frozen=True)
class CandidateQuery:
    """A search: text, vector, filters, and the people to exclude. `clauses` are its conditions, and `exclusions` what shows that
    somebody is excluded. `preferred` clauses are shown for people who meet them; `soft_terms` ones are shown as missed if nobody
    has them. `excluded_terms` are the excluded words, in groups. `limit` is how many people are needed. `like` are the people
    whom others should resemble: they are not shown.
    """

    filters: CardFilters
    text: str
    vector: Sequence[float] | None
    excluded: PersonIds | None
    clauses: Sequence[Clause] = ()
    exclusions: Sequence[Clause] = ()
    preferred: Sequence[Clause] = ()
    soft_terms: Sequence[Clause] = ()
    excluded_terms: Sequence[Sequence[str]] = ()
    limit: int = TOP_PEOPLE
    like: frozenset[str] = frozenset()


EvidenceByPerson = Mapping[str, PersonEvidence]


async def find_people(query: CandidateQuery, database: Database, run: Run) -> Finding:
    """The best people, from the strictest tier that finds enough. People found in a stricter tier keep it."""
    return await _TieredSearch(query, database, run).find()


@dataclass(frozen=True)
class _TieredSearch:
    """The statements of one search, one after the other."""

    query: CandidateQuery
    database: Database
    run: Run

    async def find(self) -> Finding:
        filters = self.query.filters
        named = await self._by_name()
        if named and not self.query.clauses:  # the query only gives names
            return await self._shown(named, named, frozenset(), FALLBACK_TIER_STRICT)
        among = await find_meeting(self.database, texts=filters.texts)
        whole, together = await self._meeting_all(among)
        by_one = frozenset(whole) if together else frozenset[str]()
        hard = replace(filters, roles=(), texts=())
        tier, found = await self._relaxing(hard, None, {**whole, **named})
        if len(by_one) >= TOP_PEOPLE:
            found = {**whole, **named}  # enough: nobody else is shown
        elif filters.roles or filters.texts:
            _, as_expected = await self._relaxing(filters, among, {})
            if not as_expected and not whole and await self._are_ruled_out(among):
                return await self._ruled_out(among, named, tier)
            found = {**as_expected, **found}
        elif not found:
            return Finding(tier, is_ruled_out=await self._are_ruled_out(among))
        return await self._shown(found, named, by_one, tier)

    async def _by_name(self) -> EvidenceByPerson:
        """The people with the names asked for."""
        if not self.query.filters.names:
            return {}
        among = await find_meeting(self.database, names=self.query.filters.names)
        return await self._look(CardFilters(), FALLBACK_TIER_STRICT, among)

    async def _meeting_all(self, among: PersonIds | None) -> tuple[EvidenceByPerson, bool]:
        """The people who meet all conditions by one experience, or, if nobody does, by several; and whether by one. `among` are
        the people whose profiles contain the required words.
        """
        filters = self.query.filters
        by_one = await self._look(filters, FALLBACK_TIER_STRICT, among)
        if by_one:
            return by_one, True
        person, groups = apart(filters)
        if not groups:
            return {}, False
        among = await find_meeting(self.database, texts=filters.texts, groups=groups)
        return await self._look(person, FALLBACK_TIER_STRICT, among), False

    async def _ruled_out(self, among: PersonIds | None, named: EvidenceByPerson, tier: int) -> Finding:
        """The people who meet the conditions by an experience that is not excluded, though another one excludes them: they miss
        that. Without any, nobody but those asked for by name.
        """
        everybody = replace(self, query=replace(self.query, excluded=NOBODY))
        near = await everybody._look(self.query.filters, FALLBACK_TIER_STRICT, among)
        finding = await self._shown({**near, **named}, named, frozenset(near), tier, excludes=False)
        return replace(finding, is_ruled_out=not near)

    async def _are_ruled_out(self, among: PersonIds | None) -> bool:
        """Whether the exclusions leave nobody of those who meet the conditions. Others are not shown in their place."""
        if not self.query.filters.excludes_anyone:
            return False
        everybody = replace(self, query=replace(self.query, excluded=NOBODY, filters=self.query.filters.unexcluded))
        widest = relaxed(everybody.query.filters, FALLBACK_TIER_COMPANY_TEAM_SOFT)
        return bool(await everybody._look(widest, FALLBACK_TIER_COMPANY_TEAM_SOFT, among))

    async def _relaxing(
        self, filters: CardFilters, among: PersonIds | None, found: EvidenceByPerson
    ) -> tuple[int, EvidenceByPerson]:
        """The people found, with the filters relaxed tier by tier until there are enough; and the last tier."""
        tier = FALLBACK_TIER_STRICT
        for next_tier, relaxed_filters in _tiers(filters):
            if len(found) >= MIN_RESULTS:
                break
            tier = next_tier
            if relaxed_filters != self.query.filters:  # those were searched already
                found = {**await self._look(relaxed_filters, tier, among), **found}
        return tier, found

    async def _look(self, filters: CardFilters, tier: int, among: PersonIds | None) -> EvidenceByPerson:
        with self.run.step("retrieve") as record:
            evidence = await find_candidates(
                self.database,
                filters=filters,
                filters_asked=self.query.filters,
                excluded=self.query.excluded,
                query_text=self.query.text,
                vector=self.query.vector,
                tier=tier,
                among=among,
            )
            record.counts |= {"tier": tier, "people": len(evidence)}
        return {person.person_id: person for person in evidence if person.person_id not in self.query.like}

    async def _shown(
        self,
        found: EvidenceByPerson,
        named: EvidenceByPerson,
        by_one: frozenset[str],
        tier: int,
        *,
        excludes: bool = True,
    ) -> Finding:
        """The best of the people found. Unless the search `excludes`, an excluded experience is a condition that is missed."""
        standings, doubts = await self._standings(found, by_one)
        misses = {id: each.missed + doubts.get(id, 0.0) for id, each in standings.items()}
        misses |= dict.fromkeys(named, NAMED_FIRST)
        best = rank_people(list(found.values()), self.query.filters, misses)[: self.query.limit]
        with self.run.step("describe") as record:
            people = {person.id: person for person in await load_people(self.database, best)}
            record.counts["people"] = len(people)
        ranked = [
            person for person in break_ties(best, people, self.query.filters, misses) if person.person_id in people
        ]
        tier = max([tier, *(person.evidence.tier for person in ranked)])
        stands = {person.person_id: standings[person.person_id] for person in ranked}
        labels = await self._in_full(stands, excludes=excludes)
        full = [self._without_unstated_pay(people[id].model_copy(update=each)) for id, each in labels.items()]
        return Finding(tier, ranked, full, frozenset(named))

    async def _in_full(self, shown: Mapping[str, MeetsAndMisses], *, excludes: bool) -> dict[str, dict[str, list[str]]]:
        """What the people shown meet and miss, with the alternatives that each meets, the preferred clauses, and the named ones
        that none of them has. Who has an excluded experience elsewhere does not meet that exclusion. An excluded word that no
        profile contains is shown as unchecked.
        """
        clauses = self.query.clauses
        alternatives = [each for clause in clauses for each in clause.alternatives]
        forms = [form for clause in self.query.soft_terms for form in clause.alternatives]
        terms = [word for group in self.query.excluded_terms for word in group]
        never_said = await find_never_said(self.database, terms if shown else ())
        unchecked = [group for group in self.query.excluded_terms if never_said.issuperset(group)]
        unsaid = {word for group in unchecked for word in group}
        excluded = [each for each in self.query.exclusions if each.terms.isdisjoint(unsaid)]
        parts = (alternatives, self.query.preferred, excluded, forms)
        met = await find_standings(self.database, [*shown], [each for part in parts for each in part])
        own = {id: _in_parts(each, parts) for id, each in met.items()}
        heard = {form for each in own.values() for form, is_met in zip(forms, each[3], strict=False) if is_met}
        lacking = [clause.label for clause in self.query.soft_terms if heard.isdisjoint(clause.alternatives)]
        lacking += [gettext("not {label}: no profile says who is", label=group[0]) for group in unchecked]
        full: dict[str, dict[str, list[str]]] = {}
        for id, stands in shown.items():
            alternative, preferred, shows, _ = own.get(id, ([], [], [], []))
            named = naming_alternatives(stands, clauses, alternative)
            elsewhere = {each.label for each, is_met in zip(excluded, shows, strict=False) if is_met}
            without = [label for label in dict.fromkeys(each.label for each in excluded) if label not in elsewhere]
            liked = [each.label for each, is_met in zip(self.query.preferred, preferred, strict=False) if is_met]
            missed = [] if excludes else sorted(elsewhere)
            full[id] = {"meets": [*named.meets, *without, *liked], "misses": [*stands.misses, *missed, *lacking]}
        return full

    async def _standings(
        self, found: EvidenceByPerson, by_one: frozenset[str]
    ) -> tuple[dict[str, MeetsAndMisses], dict[str, float]]:
        """What each person meets and misses, and the doubts, less than any miss: excluded experiences elsewhere. If some meet all
        conditions by one experience, people who need several miss that.
        """
        clauses, excluded = self.query.clauses, self.query.exclusions
        ids = [id for id in found if excluded or id not in by_one]
        met = await find_standings(self.database, ids, [*clauses, *excluded])
        all_met = [True] * len(clauses)
        standings = {
            id: standing(
                clauses,
                all_met if id in by_one else met.get(id, all_met)[: len(clauses)],
                together=id in by_one or not by_one,
            )
            for id in found
        }
        doubts = {id: EXCLUDED_ELSEWHERE * any(own[len(clauses) :]) for id, own in met.items()}
        return standings, doubts

    def _without_unstated_pay(self, person: PersonResult) -> PersonResult:
        """The person without a tick for an expectation that they do not state."""
        if person.work_preferred_salary_min is not None:
            return person
        labels = {each.label for each in self.query.clauses if each.filters and each.filters.offer_salary is not None}
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
