"""Finds people: by name, then all who meet every condition, then, if these are too few, those who miss least.

All that is asked is asked of one experience; where no experience meets it, of the person, experience by experience. Then either
what is expected of people (roles, words) may be missed, or what the tiers drop: time, place, company and team.
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
"""What counts for misses of those who were asked for by name."""
NOT_CALLED = 0.25
"""What counts for misses of those who are what is asked for without being called so: less than any condition that is missed."""


@dataclass(frozen=True)
class Finding:
    """Whom a search found: the best in order, as they are shown but for why, and the tier they were found in."""

    tier: int = FALLBACK_TIER_STRICT
    ranked: Sequence[RankedPerson] = ()
    people: Sequence[PersonResult] = ()

    def only(self, ids: Container[str]) -> Finding:
        """The same without other people than these."""
        ranked = [each for each in self.ranked if each.person_id in ids]
        return replace(self, ranked=ranked, people=[each for each in self.people if each.id in ids])


@dataclass(frozen=True)
class Wanted:
    """What is looked for: `text` and its vector, filters, and who is left out; `preferred` is told of those who meet it, and
    what is `named` of all, where none of them has it. `ruled_out` are the words that are, by what says them.
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
    """The best people, from the strictest tier that finds enough of them; who was found in a stricter one stays in it."""
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
        if named and not clauses_of(filters):  # people are asked for by name alone
            return await self._shown(named, named, frozenset(), FALLBACK_TIER_STRICT)
        among = await find_meeting(self.database, texts=filters.texts)
        whole, together = await self._meeting_all(among)
        by_one = frozenset(whole) if together else frozenset[str]()
        hard = replace(filters, roles=(), texts=())  # without what people are expected to be or to say
        tier, found = await self._relaxing(hard, None, {**whole, **named})
        if len(by_one) >= TOP_PEOPLE:
            found = {**whole, **named}  # nobody else is shown
        elif filters.expects_more:
            _, as_expected = await self._relaxing(filters, among, {})
            is_left = as_expected or whole or not await self._are_ruled_out(among)
            found = {**as_expected, **found} if is_left else named
        return await self._shown(found, named, by_one, tier)

    async def _named(self) -> Found:
        """Those who are called what is asked for."""
        if not self.wanted.filters.names:
            return {}
        among = await find_meeting(self.database, names=self.wanted.filters.names)
        return await self._look(CardFilters(), FALLBACK_TIER_STRICT, among)

    async def _meeting_all(self, among: PersonIds | None) -> tuple[Found, bool]:
        """Those who meet all that is asked, by one experience or, where nobody does, by several; and whether by one. `among` are
        those who say the words that are asked for.
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
        """The conditions on the person, and those on experiences, of these together what one experience can meet.

        What is said of another condition (where, when) must go with one of them: where it does not, there are no groups.
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
        """The place of the first group that some card meets together with the clause."""
        for place, group in enumerate(groups):
            if await fits_one_card(self.database, merged(group, clause)):
                return place
        return None

    async def _are_ruled_out(self, among: PersonIds | None) -> bool:
        """Whether people are what is expected, and the exclusion leaves none of them: others do not stand in for them."""
        if not self.wanted.filters.excludes_anyone:
            return False
        everybody = replace(self, wanted=replace(self.wanted, excluded=NOBODY))
        widest = relaxed(self.wanted.filters, FALLBACK_TIER_COMPANY_TEAM_SOFT)
        return bool(await everybody._look(widest, FALLBACK_TIER_COMPANY_TEAM_SOFT, among))

    async def _relaxing(self, filters: CardFilters, among: PersonIds | None, found: Found) -> tuple[int, Found]:
        """Who is found by the filters, relaxed tier by tier until they are enough, beside those who were; and the last tier."""
        tier = FALLBACK_TIER_STRICT
        for next_tier, relaxed_filters in _tiers(filters):
            if len(found) >= MIN_RESULTS:
                break
            tier = next_tier
            if relaxed_filters != self.wanted.filters:  # which was searched already
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
        """How those shown stand, with the alternatives that each meets by name, what they have of what is preferred, and what is
        named of which none of them has anything. An exclusion that nobody's data speak of is told too: nobody was checked by it.
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
        """How each stands, and for each person the share of the roles asked for that nothing of theirs says in just these words:
        they meet them by their field or by other forms of the words. Where some meet all by one experience, who meets it by
        several misses that.
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
    """The tiers with what filters in them, strictest first, but for those that would drop a constraint that the query does not
    hold.
    """
    searched = None
    for tier in FALLBACK_TIERS:
        if relaxed(filters, tier) != searched:
            searched = relaxed(filters, tier)
            yield tier, searched
