"""Campaigns out of Postgres: one statement a search, its counts included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg.sql import SQL, Composable, Identifier

from quarry.campaigns.contract import Campaign, EmbeddingField
from quarry.campaigns.filters import AppliedFilters
from quarry.campaigns.found import CampaignSet, KnownValues
from quarry.campaigns.tables import COLUMNS
from quarry.core.postgres.call import function_call, vector_literal
from quarry.core.postgres.pool import Database

CAMPAIGNS_MAX = 200
"""Campaigns of a set that are handed out; its counts are those of the whole."""

TEXT_MATCHES_MAX = 2_000
"""Campaigns that hold the words of a query and are counted; of more it is only said that there are more."""

SEMANTIC_MAX = 50
COUNTED_VALUES_MAX = 25
"""Values of a field that are counted one by one."""


async def filter_campaigns(database: Database, filters: AppliedFilters) -> CampaignSet:
    """The campaigns that pass the filters, latest first."""
    return await _found_by(database, "filter_campaigns", filters.arguments())


async def find_by_meaning(
    database: Database, vector: Sequence[float], embedding_field: EmbeddingField, filters: AppliedFilters
) -> CampaignSet:
    """The campaigns nearest to a query's vector among those that pass the filters, nearest first, at most SEMANTIC_MAX."""
    arguments = {"p_query_embedding": vector_literal(vector), "p_field": embedding_field, "p_limit": SEMANTIC_MAX}
    return await _found_by(database, "search_campaigns", arguments | filters.arguments())


async def find_by_text(database: Database, query: str, filters: AppliedFilters) -> CampaignSet:
    """The campaigns whose copy holds every word of a query, best first; counted exactly up to TEXT_MATCHES_MAX, for phrases up to
    the number of campaigns that are looked at.
    """
    arguments = {"p_query": query, "p_limit": TEXT_MATCHES_MAX + 1}
    return await _found_by(
        database, "search_campaigns_by_text", arguments | filters.arguments(), counted_max=TEXT_MATCHES_MAX
    )


async def find_ids(database: Database, ids: Sequence[str]) -> CampaignSet:
    """The campaigns of these ids, in this order."""
    source = SQL("select id, place from unnest(%(ids)s::text[]) with ordinality u (id, place)")
    return await _counted_set(database, source, {"ids": list(ids)})


async def known_values(database: Database) -> KnownValues:
    """Which values there are to filter by."""
    rows = await database.rows(_KNOWN_VALUES)
    days = next(row for row in rows if row["name"] is None)
    return KnownValues(
        {row["name"]: tuple(row["values"]) for row in rows if row["name"]}, days["earliest"], days["latest"]
    )


async def _found_by(
    database: Database, function: str, arguments: dict[str, Any], counted_max: int | None = None
) -> CampaignSet:
    # the functions give their rows in order
    source = SQL("select id, row_number() over () as place from {}").format(function_call(function, list(arguments)))
    return await _counted_set(database, source, arguments, counted_max)


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

_KNOWN_VALUES = SQL(
    "select name, array_agg(value order by n desc, value) as values, null::date as earliest, null::date as latest"
    " from (select name, value, count(*) as n from ({}) v where value is not null group by name, value) c group by name"
    " union all select null, null, min(capture_date), max(capture_date) from campaigns"
).format(
    SQL(" union all ").join(
        SQL("select {} as name, {} as value from campaigns").format(name, value)
        for name, value in _VALUES.items()
        if name != "offer"
    )
)
