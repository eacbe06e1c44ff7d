"""Finds people: by name, then those who meet every condition, then, if they are too few, those who miss least.

One experience must meet all conditions; if none does, several of a person may. After that, people may miss either roles and
words, or what the tiers drop: time, place, company and team.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from quarry.people.contract import FALLBACK_TIERS, PersonResult
from quarry.people.filters import (
    FALLBACK_TIER_COMPANY_TEAM_SOFT,
    FALLBACK_TIER_STRICT,
    CardFilters,
    exclusion_labels,
    relaxed,
)
from quarry.people.ranking import (
    CLAUSES_MAX,
    MIN_RESULTS,
    TOP_PEOPLE,
    Clause,
    PersonEvidence,
    RankedPerson,
    Standing,
    apart,
    break_ties,
    clauses_of,
    merged,
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
    fits_one_card,
    load_people,
)
from quarry.postgres.pool import Database
from quarry.runs.run_log import Run

NAMED_FIRST = -1.0
"""The misses of people asked for by name."""
NOT_CALLED = 0.25
"""The misses of people who have a role under other words: less than any missed condition."""


@dataclass(frozen=True)
class Finding:
    """The people found, best first, still without reasons, and their tier."""

    tier: int = FALLBACK_TIER_STRICT
    ranked: Sequence[RankedPerson] = ()
    people: Sequence[PersonResult] = ()

    def only(self, ids: Container[str]) -> Finding:
        """The same with only these people."""
        ranked = [each for each in self.ranked if each.person_id in ids]
        return replace(self, ranked=ranked, people=[each for each in self.people if each.id in ids])


@dataclass(frozen=True)
class Wanted:
    """A search: text, vector, filters, and the people to exclude. `preferred` clauses are shown for people who meet them;
    `named` ones are shown as missed if nobody has them. `ruled_out` are the excluded words, grouped by what states them.
    """

    filters: CardFilters
    text: str
    vector: Sequence[float] | None
    excluded: PersonIds | None
    preferred: Sequence[Clause] = ()
    named: Sequence[Clause] = ()
    ruled_out: Sequence[Sequence[str]] = ()


Found = Mapping[str, PersonEvidence]


async def find_people(wanted: Wanted, database: Database, run: Run) -> Finding:
    """The best people, from the strictest tier that finds enough. People found in a stricter tier keep it."""
    return await _Search(wanted, database, run).find()


@dataclass(frozen=True)
class _Search:
    """The statements of one search, one after the other."""

    wanted: Wanted
    database: Database
    run: Run

    async def find(self) -> Finding:
        filters = self.wanted.filters
        named = await self._named()
        if named and not clauses_of(filters):  # the query only gives names
            return await self._shown(named, named, frozenset(), FALLBACK_TIER_STRICT)
        among = await find_meeting(self.database, texts=filters.texts)
        whole, together = await self._meeting_all(among)
        by_one = frozenset(whole) if together else frozenset[str]()
        hard = replace(filters, roles=(), texts=())
        tier, found = await self._relaxing(hard, None, {**whole, **named})
        if len(by_one) >= TOP_PEOPLE:
            found = {**whole, **named}  # enough: nobody else is shown
        elif filters.expects_more:
            _, as_expected = await self._relaxing(filters, among, {})
            is_left = as_expected or whole or not await self._are_ruled_out(among)
            found = {**as_expected, **found} if is_left else named
        return await self._shown(found, named, by_one, tier)

    async def _named(self) -> Found:
        """The people with the names asked for."""
        if not self.wanted.filters.names:
            return {}
        among = await find_meeting(self.database, names=self.wanted.filters.names)
        return await self._look(CardFilters(), FALLBACK_TIER_STRICT, among)

    async def _meeting_all(self, among: PersonIds | None) -> tuple[Found, bool]:
        """The people who meet all conditions by one experience, or, if nobody does, by several; and whether by one. `among` are
        the people whose profiles contain the required words.
        """
        filters = self.wanted.filters
        by_one = await self._look(filters, FALLBACK_TIER_STRICT, among)
        if by_one:
            return by_one, True
        person, groups = await self._groups()
        if len(groups) < 2:
            return {}, False
        among = await find_meeting(self.database, texts=filters.texts, groups=groups)
        return await self._look(person, FALLBACK_TIER_STRICT, among), False

    async def _groups(self) -> tuple[CardFilters, list[CardFilters]]:
        """The conditions on the person, and groups of those on experiences that one experience can meet together.

        Place and time must join a group; if they cannot, there are no groups.
        """
        person, own, rest = apart(self.wanted.filters)
        if len(own) < 2 or len(own) + len(rest) > CLAUSES_MAX:
            return person, []
        groups: list[CardFilters] = []
        for clause in own:
            place = await self._fitting(groups, clause)
            if place is None:
                groups.append(clause)
            else:
                groups[place] = merged(groups[place], clause)
        for clause in rest:
            place = await self._fitting(groups, clause)
            if place is None:
                return person, []
            groups[place] = merged(groups[place], clause)
        return person, groups

    async def _fitting(self, groups: Sequence[CardFilters], clause: CardFilters) -> int | None:
        """The position of the first group that some card meets together with the clause."""
        for place, group in enumerate(groups):
            if await fits_one_card(self.database, merged(group, clause)):
                return place
        return None

    async def _are_ruled_out(self, among: PersonIds | None) -> bool:
        """Whether the exclusions leave nobody of those who meet the conditions. Others are not shown in their place."""
        if not self.wanted.filters.excludes_anyone:
            return False
        everybody = replace(self, wanted=replace(self.wanted, excluded=NOBODY))
        widest = relaxed(self.wanted.filters, FALLBACK_TIER_COMPANY_TEAM_SOFT)
        return bool(await everybody._look(widest, FALLBACK_TIER_COMPANY_TEAM_SOFT, among))

    async def _relaxing(self, filters: CardFilters, among: PersonIds | None, found: Found) -> tuple[int, Found]:
        """The people found, with the filters relaxed tier by tier until there are enough; and the last tier."""
        tier = FALLBACK_TIER_STRICT
        for next_tier, relaxed_filters in _tiers(filters):
            if len(found) >= MIN_RESULTS:
                break
            tier = next_tier
            if relaxed_filters != self.wanted.filters:  # those were searched already
                found = {**await self._look(relaxed_filters, tier, among), **found}
        return tier, found

    async def _look(self, filters: CardFilters, tier: int, among: PersonIds | None) -> Found:
        with self.run.step("retrieve") as record:
            evidence = await find_candidates(
                self.database,
                filters=filters,
                asked=self.wanted.filters,
                excluded=self.wanted.excluded,
                query_text=self.wanted.text,
                vector=self.wanted.vector,
                tier=tier,
                among=among,
            )
            record.counts |= {"tier": tier, "people": len(evidence)}
        return {person.person_id: person for person in evidence}

    async def _shown(self, found: Found, named: Found, by_one: frozenset[str], tier: int) -> Finding:
        clauses = clauses_of(self.wanted.filters)
        standings, not_called = await self._standings(found, by_one, clauses)
        misses = {id: each.missed + NOT_CALLED * not_called.get(id, 0.0) for id, each in standings.items()}
        misses |= dict.fromkeys(named, NAMED_FIRST)
        best = rank_people(list(found.values()), self.wanted.filters, misses)[:TOP_PEOPLE]
        with self.run.step("describe") as record:
            people = {person.id: person for person in await load_people(self.database, best)}
            record.counts["people"] = len(people)
        ranked = [
            person for person in break_ties(best, people, self.wanted.filters, misses) if person.person_id in people
        ]
        tier = max([tier, *(person.evidence.tier for person in ranked)])
        told = await self._in_full({person.person_id: standings[person.person_id] for person in ranked}, clauses)
        return Finding(tier, ranked, [people[id].model_copy(update=stands) for id, stands in told.items()])

    async def _in_full(
        self, shown: Mapping[str, Standing], clauses: Sequence[Clause]
    ) -> dict[str, dict[str, list[str]]]:
        """What the people shown meet and miss, with the alternatives that each meets, the preferred clauses, and the named ones
        that none of them has. An excluded word that no profile contains is shown as unchecked.
        """
        filters = self.wanted.filters
        alternatives = [each for clause in clauses for each in clause.alternatives]
        forms = [form for clause in self.wanted.named for form in clause.alternatives]
        more = [*alternatives, *self.wanted.preferred, *forms]
        met = await find_standings(self.database, [*shown] if more else [], more)
        heard = {
            form for own in met.values() for form, is_met in zip(forms, own[-len(forms) :], strict=False) if is_met
        }
        lacking = [clause.label for clause in self.wanted.named if heard.isdisjoint(clause.alternatives)]
        words = [word for group in self.wanted.ruled_out for word in group]
        never_said = await find_never_said(self.database, words if shown else ())
        unchecked = [group for group in self.wanted.ruled_out if never_said.issuperset(group)]
        lacking += [f"not {group[0]}: no profile says who is" for group in unchecked]
        excluded = exclusion_labels(filters, {word for group in unchecked for word in group})
        full: dict[str, dict[str, list[str]]] = {}
        for id, stands in shown.items():
            own = met.get(id, [])
            named = naming_alternatives(stands, clauses, own[: len(alternatives)])
            had = zip(self.wanted.preferred, own[len(alternatives) :], strict=False)
            meets = [*named.meets, *excluded, *(each.label for each, is_met in had if is_met)]
            full[id] = {"meets": meets, "misses": [*stands.misses, *lacking]}
        return full

    async def _standings(
        self, found: Found, by_one: frozenset[str], clauses: Sequence[Clause]
    ) -> tuple[dict[str, Standing], dict[str, float]]:
        """What each person meets and misses, and the share of the roles that their profile states only in other words. If some
        meet all conditions by one experience, people who need several miss that.
        """
        called = [Clause(name, text=name) for name in (role.partition("|")[0] for role in self.wanted.filters.roles)]
        asked = [id for id in found if called or id not in by_one]
        met = await find_standings(self.database, asked, [*clauses, *called])
        all_met = [True] * len(clauses)
        standings = {
            id: standing(
                clauses,
                all_met if id in by_one else met.get(id, all_met)[: len(clauses)],
                together=id in by_one or not by_one,
            )
            for id in found
        }
        return standings, {id: 1 - sum(own[len(clauses) :]) / len(called) for id, own in met.items() if called}


def _tiers(filters: CardFilters) -> Iterator[tuple[int, CardFilters]]:
    """The tiers with their filters, strictest first, without those that change nothing."""
    searched = None
    for tier in FALLBACK_TIERS:
        if relaxed(filters, tier) != searched:
            searched = relaxed(filters, tier)
            yield tier, searched
