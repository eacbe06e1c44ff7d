"""People out of Postgres: typed rows in, nothing decided here."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import groupby
from typing import Any, NewType

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from quarry.language.tokens import stem
from quarry.people.candidates import MATCHED_CARDS_PER_PERSON, CardHit, PersonEvidence, RankedPerson
from quarry.people.clauses import Clause
from quarry.people.contract import PersonResult
from quarry.people.filters import CardFilters, HardConstraint, constraints_in_force, without
from quarry.people.ranking import similarity_percent
from quarry.platform.text import words
from quarry.postgres.adapters import half_vector
from quarry.postgres.call import call
from quarry.postgres.pool import Database

OVERFETCH_CARDS = 50
"""The people with the nearest cards, and those with the nearest children, that are candidates in a tier."""

TOP_K_CARDS = 5
"""The nearest cards, and the nearest children, that count as evidence for a person."""

_FIND = """
select * from find_people(
  p_embedding => %(embedding)s, p_query => %(query)s, p_should_terms => %(should_terms)s,
  p_filters => jsonb_populate_record(null::card_filters, %(filters)s),
  p_asked => jsonb_populate_record(null::card_filters, %(asked)s),
  p_excluded_people => %(excluded)s::text[], p_among => %(among)s::text[],
  p_overfetch => %(overfetch)s, p_top_k => %(top_k)s)
"""

_EXCLUDED = "select excluded_people(jsonb_populate_record(null::card_filters, %s))::text as ids"

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

_FITS = "select fits_one_card(jsonb_populate_record(null::card_filters, %s)) as fits"

_COUNT = """
select count_people(
  jsonb_populate_record(null::card_filters, %(filters)s),
  array(select w from jsonb_populate_recordset(null::card_filters, %(wider)s) w), %(excluded)s::text[]) as additional
"""

PersonIds = NewType("PersonIds", str)
"""Ids of people, as Postgres writes an array: they only go from one statement into others. None in place of those to leave out
where they are too many to be listed: then each candidate is tested."""

NOBODY = PersonIds("{}")


async def holds_cards(database: Database) -> bool:
    """Whether there is anybody to find."""
    return await database.row("select from experience_cards where visible limit 1") is not None


async def find_excluded(database: Database, filters: CardFilters) -> PersonIds | None:
    """Whom the filters rule out, in every tier: who has a visible card of an excluded company, place or the like, or with an
    excluded keyword in it or in a child of it. One round trip, none where nothing is excluded.
    """
    if not filters.excludes_anyone:
        return NOBODY
    row = await database.row(_EXCLUDED, [_card_filters(filters)])
    assert row is not None
    return PersonIds(row["ids"]) if row["ids"] is not None else None


async def find_never_said(database: Database, texts: Sequence[str]) -> frozenset[str]:
    """Those of the texts that nobody's visible cards and profile hold: whether somebody is one of these, the data do not say."""
    row = await database.row(_NEVER_SAID, [list(texts)]) if texts else None
    return frozenset(row["texts"]) if row else frozenset()


async def find_meeting(
    database: Database, *, names: Sequence[str] = (), texts: Sequence[str] = (), groups: Sequence[CardFilters] = ()
) -> PersonIds | None:
    """The people who have one of the names, for each text a card or profile that holds it, and for each group of filters a card
    that meets it; None, without a round trip, where nothing is asked.
    """
    if not (names or texts or groups):
        return None
    row = await database.row(
        _MEETING,
        {
            "names": list(names),
            "texts": list(texts),
            "groups": Jsonb([_fields(group) for group in groups]),
        },
    )
    return PersonIds(row["ids"]) if row and row["ids"] is not None else NOBODY


async def find_standings(database: Database, people: Sequence[str], clauses: Sequence[Clause]) -> dict[str, list[bool]]:
    """For each person, which of the clauses they meet, each by any of their cards; one round trip."""
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


async def fits_one_card(database: Database, filters: CardFilters) -> bool:
    """Whether there is a card that meets all of the filters."""
    row = await database.row(_FITS, [_card_filters(filters)])
    return bool(row and row["fits"])


async def find_candidates(
    database: Database,
    *,
    filters: CardFilters,
    asked: CardFilters | None = None,
    excluded: PersonIds | None,
    query_text: str,
    vector: Sequence[float] | None,
    tier: int,
    among: PersonIds | None = None,
) -> list[PersonEvidence]:
    """The people whose cards or children are nearest to the query in a tier, with their evidence, in one round trip.

    `filters` is what filters here; `asked` is what was asked for, where that is more. `excluded` are left out (find_excluded),
    and so is who is not `among` some people, where these are given. `query_text` is compared by its words, which alone count for
    cards without vectors; without `vector`, for all. Ordered by id.
    """
    rows = await database.rows(
        _FIND,
        {
            "embedding": half_vector(vector),
            "query": _searched_words(query_text, asked or filters, filters),
            "should_terms": list((asked or filters).should_terms),
            "filters": _card_filters(filters),
            "asked": _card_filters(asked or filters),
            "excluded": excluded,
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
    database: Database, filters: CardFilters, excluded: PersonIds | None
) -> list[tuple[HardConstraint, int]]:
    """For each hard constraint in force, how many more people there are without it alone; one statement. `excluded` are left out
    (find_excluded); where these are too many to be listed, nothing is counted.
    """
    names = constraints_in_force(filters)
    if not names or excluded is None:
        return []
    wider = [_fields(replace(without(filters, [name]), roles=())) for name in names]
    # what is only expected is no constraint that could be dropped
    filters = replace(filters, roles=())
    row = await database.row(_COUNT, {"filters": _card_filters(filters), "wider": Jsonb(wider), "excluded": excluded})
    return list(zip(names, row["additional"], strict=True)) if row else []


async def load_people(database: Database, people: Sequence[RankedPerson]) -> list[PersonResult]:
    """The people as an answer shows them, but for why, in the order of `people`, in one round trip; who is gone is left out.

    Each with the cards that matched; where none of those is visible any more, with the latest visible ones.
    """
    if not people:
        return []
    rows = await call(
        database,
        "describe_people",
        p_people=[person.person_id for person in people],
        p_cards=[card_id for person in people for card_id in person.matched_card_ids],
        p_children=[child_id for person in people for child_id in person.matched_child_ids],
        p_cards_max=MATCHED_CARDS_PER_PERSON,
    )
    found = {row["id"]: row for row in rows}
    return [_found_person(person, found[person.person_id]) for person in people if person.person_id in found]


def _searched_words(query_text: str, asked: CardFilters, filters: CardFilters) -> str:
    """The words of a query that texts are compared by: not those that name what it excludes, for "not from an agency" must not
    favour agencies; nor, where all that is asked filters, its places, which each card is in and may spell otherwise.
    """
    excluded = {stem(word) for name in asked.excluded_companies + asked.excluded_keywords for word in words(name)}
    text = " ".join(token for token in query_text.split() if not excluded.intersection(map(stem, words(token))))
    without_places = f" {text.lower()} "
    for name in (*filters.places, *filters.countries) if filters == asked else ():
        start = without_places.find(f" {name} ")
        if start >= 0:
            without_places = without_places[:start] + without_places[start + len(name) + 1 :]
    return without_places.strip() or text


_NO_FILTERS = frozenset({"should_terms", "names", "texts"})
"""What is said of the people by other means."""


def _card_filters(filters: CardFilters) -> Jsonb:
    return Jsonb(_fields(filters))


def _fields(filters: CardFilters) -> dict[str, Any]:
    """The filters that are set, as the SQL type card_filters reads them."""
    unset = vars(CardFilters())
    given = {name: value for name, value in vars(filters).items() if name not in _NO_FILTERS and value != unset[name]}
    if given.keys() & {"experience_least", "experience_most"}:
        given["experience_on"] = datetime.datetime.now(datetime.UTC).date()
    return {name: str(value) if isinstance(value, datetime.date) else value for name, value in given.items()}


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
