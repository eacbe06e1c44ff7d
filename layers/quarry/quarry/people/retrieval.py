"""Reads people from Postgres, and checks the values that a request names: an unknown value is refused, with the nearest ones."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import fields
from itertools import groupby
from typing import Any, NewType

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from quarry.people.contract import Constraints, PersonResult
from quarry.people.facets import PEOPLE
from quarry.people.filters import CardFilters, HardConstraint, constraints_in_force, set_fields, without
from quarry.people.normalisation import faults_of, named_values, with_meanings
from quarry.people.ranking import (
    MATCHED_CARDS_PER_PERSON,
    CardHit,
    Clause,
    PersonEvidence,
    RankedPerson,
    similarity_percent,
)
from quarry.people.reasons import CardWithPhrases
from quarry.platform.errors import InvalidInput
from quarry.postgres.pool import Database, half_vector
from quarry.retrieval.known_values import existing_values, values_meant

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

_NEVER_SAID = "select never_said(%s::text[]) as texts"

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
    """Whether there are any people to find."""
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


async def find_never_said(database: Database, texts: Sequence[str]) -> frozenset[str]:
    """The texts that no visible card or profile contains."""
    row = await database.row(_NEVER_SAID, [list(texts)]) if texts else None
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
    filters_asked: CardFilters | None = None,
    excluded: PersonIds | None,
    query_text: str,
    vector: Sequence[float] | None,
    tier: int,
    among: PersonIds | None = None,
) -> list[PersonEvidence]:
    """The people whose cards or children are nearest to the query in a tier, with their evidence, by id; one round trip.

    `filters` apply in this tier; `filters_asked` are those of the search, if there are more. People in `excluded`
    (find_excluded) and, if `among` is given, those not in it are left out. `query_text` is compared by words; for cards
    without vectors, or without `vector`, only words count.
    """
    rows = await database.rows(
        _FIND,
        {
            "embedding": half_vector(vector),
            "query": query_text,
            "should_terms": list((filters_asked or filters).should_terms),
            "filters": _card_filters(filters),
            "asked": _card_filters(filters_asked or filters),
            "excluded": excluded,
            "within": _card_filters((filters_asked or filters).excluding),
            "profiles": (filters_asked or filters).excluded_ever,
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
    counted = []
    for name, each in zip(names, wider, strict=True):
        # a wider search may exclude more
        others = await find_excluded(database, each)
        if others is not None:
            counted.append((name, (await _count_more(database, filters, [each], others, among))[0]))
    return counted


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
    found = {row["id"]: row for row in rows}
    return [_found_person(person, found[person.person_id]) for person in people if person.person_id in found]


async def load_cards(database: Database, people: Sequence[str]) -> dict[str, list[CardWithPhrases]]:
    """All visible cards of these people, without children, latest first; one round trip."""
    found: dict[str, list[CardWithPhrases]] = {}
    for row in await database.rows(_CARDS, [list(people)]):
        found.setdefault(row["person_id"], []).append(CardWithPhrases(**row["family"]))
    return found


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


def _found_person(person: RankedPerson, row: DictRow) -> PersonResult:
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
