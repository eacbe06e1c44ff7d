"""Campaigns out of Postgres: one statement a search, its counts included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

from psycopg.sql import SQL, Composable, Identifier

from quarry.campaigns.contract import Campaign, EmbeddingField
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.results import CampaignSet, KnownValues
from quarry.campaigns.tables import COLUMNS
from quarry.core.errors import NotFound
from quarry.core.postgres.pool import Database
from quarry.core.postgres.vectors import half_vector
from quarry.core.query.question import Clause
from quarry.core.retrieval.filters import Arguments, Literals, where

CAMPAIGNS_MAX = 200
"""Campaigns of a set that are handed out; its counts are those of the whole."""

TEXT_MATCHES_MAX = 2_000
"""Campaigns that hold the words of a query and are counted; of more it is only said that there are more."""

SEMANTIC_MAX = 50
COUNTED_VALUES_MAX = 25
"""Values of a field that are counted one by one."""

SCORE_MIN = 0.25
"""A campaign less like the query than this was not found: something is always nearest."""
WORDS_WEIGHT = 0.1
"""What all words of the query in the copy add to the cosine similarity."""

KNOWN_VALUES_MAX = 300
"""Values of a facet that are known by heart, the most frequent ones."""


async def filter_campaigns(database: Database, clauses: Sequence[Clause]) -> CampaignSet:
    """The campaigns that meet every clause, latest first."""
    arguments = Arguments()
    source = SQL(
        "select t.id, row_number() over (order by t.capture_date desc nulls last, t.id) as place from campaigns t where "
    ) + where(CAMPAIGNS, clauses, arguments)
    return await _counted_set(database, source, arguments.values)


async def find_by_meaning(
    database: Database, vector: Sequence[float], embedding_field: EmbeddingField, clauses: Sequence[Clause]
) -> CampaignSet:
    """The campaigns nearest to a query's vector among those that meet every clause, nearest first, at most SEMANTIC_MAX."""
    return await _counted_set(
        database,
        _in_order("search_campaigns(%(embedding)s, %(field)s, %(limit)s, p_filter => %(filter)s)"),
        {
            "embedding": half_vector(vector),
            "field": embedding_field,
            "limit": SEMANTIC_MAX,
            "filter": _filter(clauses),
        },
    )


async def find_by_text(database: Database, query: str, clauses: Sequence[Clause] = ()) -> CampaignSet:
    """The campaigns whose copy holds every word of a query, best first; counted exactly up to TEXT_MATCHES_MAX, for phrases up to
    the number of campaigns that are looked at.
    """
    return await _counted_set(
        database,
        _in_order("search_campaigns_by_text(%(query)s, %(limit)s, %(filter)s)"),
        {"query": query, "limit": TEXT_MATCHES_MAX + 1, "filter": _filter(clauses)},
        counted_max=TEXT_MATCHES_MAX,
    )


async def find_by_theme(
    database: Database, query: str, vector: Sequence[float] | None, clauses: Sequence[Clause]
) -> CampaignSet:
    """The campaigns that are about something, by meaning and by words, among those that meet every clause; at most SEMANTIC_MAX.

    Without a vector, by words alone.
    """
    rows = await database.rows(
        "select id, coverage, similarity"
        " from search_campaigns_by_theme(%(query)s, %(embedding)s::halfvec, %(limit)s, %(filter)s)",
        {
            "query": query,
            "embedding": half_vector(vector),
            "limit": 2 * SEMANTIC_MAX,
            "filter": _filter(clauses),
        },
    )
    scores = {row["id"]: row["coverage"] or 0.0 for row in rows}
    if vector is not None:
        scores = {
            row["id"]: row["similarity"] + WORDS_WEIGHT * scores[row["id"]]
            for row in rows
            if row["similarity"] is not None
        }
        scores = {id: score for id, score in scores.items() if score >= SCORE_MIN}
    best = sorted(scores, key=lambda found: (-scores[found], found))
    return await find_ids(database, best[:SEMANTIC_MAX])


def _in_order(function: LiteralString) -> Composable:
    """The rows of a function that gives them in order."""
    return SQL("select id, row_number() over () as place from ") + SQL(function)


def _filter(clauses: Sequence[Clause]) -> str | None:
    """The condition that a campaign meets every clause; None, which is every campaign, where there is none."""
    return where(CAMPAIGNS, clauses, Literals()).as_string(None) if clauses else None


async def find_ids(database: Database, ids: Sequence[str]) -> CampaignSet:
    """The campaigns of these ids, in this order."""
    source = SQL("select id, place from unnest(%(ids)s::text[]) with ordinality u (id, place)")
    return await _counted_set(database, source, {"ids": list(ids)})


async def campaign_by_id(database: Database, id: str) -> Campaign:
    """One whole campaign. Raises NotFound."""
    for campaign in (await find_ids(database, [id])).campaigns:
        return campaign
    raise NotFound("There is no campaign with this id.")


async def known_values(database: Database) -> KnownValues:
    """Which values there are to filter by, the most frequent ones, and when campaigns were captured."""
    rows = await database.rows(_KNOWN_VALUES, {"values_max": KNOWN_VALUES_MAX})
    days = next(row for row in rows if row["name"] is None)
    return KnownValues(
        {row["name"]: tuple(row["values"]) for row in rows if row["name"]}, days["earliest"], days["latest"]
    )


async def existing_values(database: Database, asked: Sequence[tuple[str, str]]) -> list[list[str]]:
    """For each facet and value as somebody wrote it, the values of the data that are meant: what is the same but for case,
    punctuation and inflection, else those that hold all of its words.
    """
    arguments = {"facets": [facet for facet, _ in asked], "values": [value for _, value in asked]}
    found: list[dict[bool, list[str]]] = [{} for _ in asked]
    for row in await database.rows(_EXISTING_VALUES, arguments) if asked else []:
        found[row["place"] - 1].setdefault(row["is_whole"], []).append(row["value"])
    return [list(dict.fromkeys(matches.get(True) or matches.get(False) or ())) for matches in found]


async def _counted_set(
    database: Database, source: Composable, parameters: dict[str, Any], counted_max: int | None = None
) -> CampaignSet:
    """The set of the campaigns that `source` gives by id and place; of more than `counted_max`, or where a row without an id says
    that there are more, nothing is counted.
    """
    row = await database.row(
        SQL(
            "with matched as materialized ({source}),"
            " size as materialized (select least(count(id), %(counted_max)s) as total,"
            "  count(*) > count(id) or coalesce(count(id) > %(counted_max)s, false) as more from matched),"
            " found as materialized (select {counted_columns} from matched m join campaigns c using (id)"
            "  where not (select more from size)),"
            " counted as ({counted})"
            " select size.total, size.more,"
            " (select coalesce(jsonb_agg(jsonb_build_array(name, value, n) order by name, place), '[]') from counted"
            "  where place <= %(values_max)s) as counts,"
            " (select coalesce(jsonb_agg(to_jsonb(page) - 'place' order by place), '[]') from"
            "  (select {columns}, place from (select id, place from matched order by place limit %(campaigns_max)s) first"
            "   join campaigns using (id)) page) as campaigns"
            " from size"
        ).format(
            source=source,
            counted=_COUNTED_VALUES,
            counted_columns=_COUNTED_COLUMNS,
            columns=SQL(", ").join(map(Identifier, COLUMNS)),
        ),
        parameters | {"counted_max": counted_max, "campaigns_max": CAMPAIGNS_MAX, "values_max": COUNTED_VALUES_MAX},
    )
    assert row is not None
    counts: dict[str, dict[str, int]] = {name: {} for name in _VALUES}
    for name, value, count in row["counts"]:
        counts[name][value] = count
    campaigns = tuple(Campaign.model_validate(each) for each in row["campaigns"])
    return CampaignSet(row["total"], campaigns, counts, more=row["more"] and row["total"] > 0)


# What is counted, by the filter that it answers to.
_VALUES = {
    "channel": SQL("channel"),
    "company": SQL("company"),
    "brand": SQL("brand"),
    "sentiment": SQL("imagery_sentiment"),
    "visual_style": SQL("imagery_visual_style"),
    "offer": SQL("offer"),
    "value_prop": SQL("unnest(key_value_props)"),
}

# What is counted is held in memory: the long texts are left out.
_COUNTED_COLUMNS = SQL("channel, company, brand, imagery_sentiment, imagery_visual_style, offer, key_value_props")

_COUNTED_VALUES = SQL(" union all ").join(
    SQL(
        "select {} as name, value, count(*) as n, row_number() over (order by count(*) desc, value) as place"
        " from (select {} as value from found) v where value is not null group by value"
    ).format(name, value)
    for name, value in _VALUES.items()
)

# A value may stand in several rows of the dictionary, whose counts add up.
_KNOWN_VALUES = (
    "select facet as name, array_agg(value order by n desc, value) as values, null::date as earliest, null::date as latest"
    " from (select facet, value, sum(row_count) as n,"
    "  row_number() over (partition by facet order by sum(row_count) desc, value) as place"
    "  from facet_values where table_name = 'campaigns' group by facet, value having sum(row_count) > 0) v"
    " where place <= %(values_max)s group by facet"
    " union all select null, null, min(capture_date), max(capture_date) from campaigns"
)

_EXISTING_VALUES = (
    "select a.place, f.value, f.is_whole from ("
    "  select place, facet, phrase_key(folded_words(value)) as phrase, word_stems(folded_words(value)) as stems"
    "  from unnest(%(facets)s::text[], %(values)s::text[]) with ordinality g (facet, value, place)"
    ") a, lateral ("
    "  (select v.value, true as is_whole from facet_values v"
    "   where v.phrase = a.phrase and v.table_name = 'campaigns' and v.facet = a.facet limit 60)"
    "  union all"
    "  (select v.value, false from facet_values v where v.stems @> a.stems and cardinality(v.stems) > 1"
    "   and v.table_name = 'campaigns' and v.facet = a.facet order by v.row_count desc, v.value limit 60)"
    ") f"
)
