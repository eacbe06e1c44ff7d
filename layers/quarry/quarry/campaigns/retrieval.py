"""Reads campaigns from Postgres: one statement for each search, counts included."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, LiteralString

from psycopg.sql import SQL, Composable, Identifier

from quarry.campaigns.conditions import (
    AGGREGATED_VALUES_MAX,
    COUNTED_FIELDS,
    NAME,
    NO_DAY,
    SCHEMA,
    CampaignSet,
    KnownValues,
)
from quarry.campaigns.contract import AGGREGATED, FILTER_VALUES, Campaign, EmbeddingField
from quarry.campaigns.sources import CAMPAIGNS
from quarry.campaigns.tables import COLUMNS
from quarry.language.messages import gettext_noop
from quarry.platform.errors import NotFound
from quarry.postgres.pool import Database, half_vector
from quarry.query.execute import RowConditions
from quarry.schema.algebra import AnyOf, Comparison, Condition, Not, Words, conditions_of
from quarry.schema.matching import is_kept
from quarry.schema.source import Field

CAMPAIGNS_MAX = 200
"""How many campaigns of a set are returned. Its counts cover the whole set."""

TOTAL_MAX = 10_000
"""How many campaigns are counted exactly. A larger set has this as its lower bound."""

BESIDE_THEME_MAX = 2_000
"""If nothing is near a theme, how many campaigns are tested for conditions that no index serves."""

TEXT_MATCHES_MAX = 2_000
"""How many campaigns found by words have the values of their fields counted."""

SEMANTIC_MAX = 50
COUNTED_VALUES_MAX = 25
"""How many values of a field are counted one by one, most frequent first. Fields of the answer's aggregation, which must be
complete, have AGGREGATED_VALUES_MAX, and one more to tell that there are more.
"""

SCORE_MIN = 0.25
"""The least score of a campaign that counts as found."""
WORDS_WEIGHT = 0.1
"""Added to the cosine similarity if the copy has all words of the query."""

KNOWN_VALUES_MAX = 300
"""How many values of a facet are kept as known, most frequent first."""


async def filter_campaigns(
    database: Database,
    conditions: Sequence[Condition],
    preferred: Sequence[Condition] = (),
    *,
    tested_max: int = TOTAL_MAX,
    today: datetime.date = NO_DAY,
) -> CampaignSet:
    """The campaigns that meet all conditions, latest first; those that meet more `preferred` conditions come before others,
    here as in the other searches. Conditions that no index serves are tested on the latest `tested_max` campaigns that meet
    the others. Relative days count from `today`.
    """
    rows = RowConditions(NAME, SCHEMA, today, {})
    tested = [condition for condition in conditions if _is_tested(condition)]
    most = tested_max if tested else TOTAL_MAX
    source = SQL(
        "select case when l.is_met then l.id end as id, row_number() over () as place from ("
        " select t.id, {met} as is_met from campaigns t where {indexed}"
        " order by t.capture_date desc nulls last, t.id limit {limit}) l"
    ).format(
        met=rows.met(tested),
        indexed=_met(rows, [condition for condition in conditions if condition not in tested]),
        limit=most + 1,
    )
    return await _counted_set(database, source, {"total_max": most}, preferred, rows, size=_SIZE_BY_PROPERTIES)


def _is_tested(condition: Condition) -> bool:
    """Whether a condition is tested row by row: no index finds rows without a value, or with any value."""
    if isinstance(condition, Comparison):
        return condition.op in ("!=", "is_null", "not_null")
    return isinstance(condition, Not) or any(map(_is_tested, conditions_of(condition)))


async def find_by_meaning(
    database: Database,
    vector: Sequence[float],
    embedding_field: EmbeddingField,
    conditions: Sequence[Condition],
    preferred: Sequence[Condition] = (),
) -> CampaignSet:
    """The campaigns that meet all conditions, nearest to the vector first, at most SEMANTIC_MAX."""
    return await _counted_set(
        database,
        _in_order("search_campaigns(%(embedding)s, %(field)s, %(limit)s, p_filter => %(filter)s)"),
        {
            "embedding": half_vector(vector),
            "field": embedding_field,
            "limit": SEMANTIC_MAX,
            "filter": _filter(conditions),
        },
        preferred,
    )


async def find_by_text(
    database: Database, query: str, conditions: Sequence[Condition] = (), preferred: Sequence[Condition] = ()
) -> CampaignSet:
    """The campaigns whose copy contains every word of a query, best first; counted exactly up to TOTAL_MAX, or for phrases as far
    as campaigns are tested.
    """
    rows = RowConditions(NAME, SCHEMA, NO_DAY, {})
    served = _all_served(RowConditions(NAME, SCHEMA, NO_DAY, None), conditions)
    source = SQL(
        "select case when {} then s.id end as id, s.more, row_number() over (order by s.score desc, s.id) as place"
        " from search_campaigns_by_text(%(query)s, %(total_max)s, %(total_max)s, %(filter)s) s join campaigns t using (id)"
    ).format(rows.met(conditions))
    parameters = {
        "query": query,
        "filter": SQL(" and ").join(served).as_string(None) if served else None,
        "counted_max": TEXT_MATCHES_MAX,
        "total_max": TOTAL_MAX,
    }
    return await _counted_set(database, source, parameters, preferred, rows, size=_SIZE_BY_TEXT)


async def find_by_theme(
    database: Database,
    query: str,
    vector: Sequence[float] | None,
    conditions: Sequence[Condition],
    preferred: Sequence[Condition] = (),
    *,
    condition: str | None = None,
) -> CampaignSet:
    """The campaigns about a theme, by meaning and words, that meet all conditions and an SQL `condition` on a row `t`; at most
    SEMANTIC_MAX, nearest first. Without a vector, by words alone. `is_near_only` is set if no campaign contains a word of the
    theme.
    """
    excluded = [each.negated.words for each in conditions if isinstance(each, Not) and isinstance(each.negated, Words)]
    required = [each for each in conditions if not (isinstance(each, Not) and isinstance(each.negated, Words))]
    rows = await database.rows(
        "select id, coverage, similarity"
        " from search_campaigns_by_theme(%(query)s, %(embedding)s::halfvec, %(limit)s, %(filter)s, %(excluded)s::text[])",
        {
            "query": query,
            "embedding": half_vector(vector),
            "limit": 2 * SEMANTIC_MAX,
            "filter": " and ".join(filter(None, (_filter(required), condition))) or None,
            # each candidate is tested for these
            "excluded": excluded,
        },
    )
    coverage = scores = {row["id"]: row["coverage"] or 0.0 for row in rows}
    if vector is not None:
        scores = {
            row["id"]: row["similarity"] + WORDS_WEIGHT * scores[row["id"]]
            for row in rows
            if row["similarity"] is not None
        }
        scores = {id: score for id, score in scores.items() if score >= SCORE_MIN}
    best = sorted(scores, key=lambda row_id: (-scores[row_id], row_id))
    matches = await find_ids(database, best[:SEMANTIC_MAX], preferred)
    more = len(best) > SEMANTIC_MAX
    is_near_only = not any(coverage[id] for id in scores)
    return replace(matches, more=more, has_counts=not more, is_near_only=is_near_only)


def _in_order(function: LiteralString) -> Composable:
    """The rows of a function in its order, with their places."""
    return SQL("select *, row_number() over () as place from ") + SQL(function)


def _filter(conditions: Sequence[Condition]) -> str | None:
    """The conditions as SQL with quoted values; None if there are none."""
    rows = RowConditions(NAME, SCHEMA, NO_DAY, None)
    return _met(rows, conditions).as_string(None) if conditions else None


def _met(rows: RowConditions, conditions: Sequence[Condition]) -> Composable:
    """The SQL condition that a campaign meets all conditions, in a form that indexes serve."""
    return SQL(" and ").join([rows.met(conditions), *_all_served(rows, conditions)])


def _all_served(rows: RowConditions, conditions: Sequence[Condition]) -> list[Composable]:
    return [each for condition in conditions if (each := _served(rows, condition)) is not None]


def _served(rows: RowConditions, condition: Condition) -> Composable | None:
    """The part of a condition on values that an index serves; None if there is none. Values come in all their spellings."""
    if isinstance(condition, AnyOf):
        parts = [_served(rows, each) for each in condition.any_of]
        return None if None in parts else SQL("({})").format(SQL(" or ").join(filter(None, parts)))
    if not isinstance(condition, Comparison) or condition.op != "=" or condition.field not in FILTER_VALUES:
        return None
    values = [str(value) for value in condition.scalars]
    if not values or not all(map(is_kept, values)):
        return None
    facet = CAMPAIGNS.facets[condition.field]
    same = SQL("{} && {}::text[]" if facet.has_several else "{} = any({}::text[])")
    return same.format(SQL(facet.value), rows.parameter(values))


async def find_ids(database: Database, ids: Sequence[str], preferred: Sequence[Condition] = ()) -> CampaignSet:
    """The campaigns of these ids in this order."""
    source = SQL("select id, place from unnest(%(ids)s::text[]) with ordinality u (id, place)")
    return await _counted_set(database, source, {"ids": list(ids)}, preferred)


async def campaign_by_id(database: Database, id: str) -> Campaign:
    """One campaign. Raises NotFound."""
    for campaign in (await find_ids(database, [id])).campaigns:
        return campaign
    raise NotFound(gettext_noop("There is no campaign with this id."))


async def known_values(database: Database) -> KnownValues:
    """The most frequent values of each filter, and the first and latest capture."""
    rows = await database.rows(_KNOWN_VALUES, {"values_max": KNOWN_VALUES_MAX})
    days = next(row for row in rows if row["name"] is None)
    return KnownValues(
        {row["name"]: tuple(row["values"]) for row in rows if row["name"]}, days["earliest"], days["latest"]
    )


_COUNTED_SET = SQL(
    "with matched as materialized ({source}),"
    " size as materialized ({size}),"
    " found as materialized (select {counted_columns} from matched m join campaigns c using (id)"
    "  where (select is_counted from size)),"
    " counted as ({counted})"
    " select size.total, size.more, size.is_counted,"
    " (select coalesce(jsonb_agg(jsonb_build_array(name, value, n) order by name, place), '[]') from"
    "  (select name, case when is_listed then value end as value, sum(n)::bigint as n, min(place) as place from"
    "   (select *, value = '' or place <= case when name = any(%(aggregated)s) then %(aggregated_max)s"
    "    else %(values_max)s end as is_listed from counted) c group by 1, 2) listed) as counts,"
    " (select coalesce(jsonb_agg(to_jsonb(page) - 'place' order by place), '[]') from"
    "  (select {columns}, place from ({first} order by place limit %(campaigns_max)s) first"
    "   join campaigns using (id)) page) as campaigns"
    " from size"
)
"""The number of the campaigns in `matched`, the counts of their values, and the first campaigns."""


async def _counted_set(
    database: Database,
    source: Composable,
    parameters: dict[str, Any],
    preferred: Sequence[Condition] = (),
    rows: RowConditions | None = None,
    size: LiteralString = "select count(*) as total, false as more, true as is_counted from matched",
) -> CampaignSet:
    """The set of campaigns that `source` selects by id and place, with the parameters of `rows`. `size` selects their number from
    `matched`, and whether their values are counted.
    """
    rows = rows or RowConditions(NAME, SCHEMA, NO_DAY, {})
    row = await database.row(
        _COUNTED_SET.format(
            source=source,
            size=SQL(size),
            counted=_COUNTED_VALUES,
            counted_columns=_COUNTED_COLUMNS,
            columns=SQL(", ").join(map(Identifier, COLUMNS)),
            first=_preferred_first(preferred, rows),
        ),
        {
            **rows.parameters,
            **parameters,
            "campaigns_max": CAMPAIGNS_MAX,
            "values_max": COUNTED_VALUES_MAX,
            "aggregated": list(AGGREGATED),
            "aggregated_max": AGGREGATED_VALUES_MAX + 1,
        },
    )
    assert row is not None
    counts: dict[str, dict[str, int]] = {name: {} for name in COUNTED_FIELDS}
    others = dict[str, int]()
    for name, value, count in row["counts"]:
        if value is None:
            others[name] = count
        else:
            counts[name][value] = count
    campaigns = tuple(Campaign.model_validate(each) for each in row["campaigns"])
    return CampaignSet(
        row["total"], campaigns, counts, others, more=row["more"] and row["total"] > 0, has_counts=row["is_counted"]
    )


def _preferred_first(preferred: Sequence[Condition], rows: RowConditions) -> Composable:
    """The campaigns in `matched`, those that meet more preferred conditions first."""
    if not preferred:
        return SQL("select id, place from matched where id is not null")
    met = SQL(" + ").join(SQL("coalesce({}, false)::int").format(rows.met([each])) for each in preferred)
    return SQL(
        "select t.id, row_number() over (order by {} desc, m.place) as place from matched m join campaigns t using (id)"
    ).format(met)


# a row without an id was tested and does not meet the conditions
_SIZE_BY_PROPERTIES: LiteralString = (
    "select least(count(id), %(total_max)s) as total, count(*) > %(total_max)s as more, count(*) <= %(total_max)s as is_counted"
    " from matched"
)

# each row says whether there may be more
_SIZE_BY_TEXT: LiteralString = (
    "select count(id) as total, coalesce(bool_or(more), false) as more,"
    " count(id) <= %(counted_max)s and not coalesce(bool_or(more), false) as is_counted from matched"
)

# the set is held in memory: long texts are left out
_COUNTED_COLUMNS = SQL(", ").join(SQL(CAMPAIGNS.facets[name].column or "") for name in COUNTED_FIELDS)


def _values_of(facet: Field) -> Composable:
    """Selects the values of the campaigns found, each with its folded form; null for campaigns without a value."""
    column = SQL(facet.column or "")
    if not facet.has_several:
        return SQL("select f.{0} as value, folded_value(f.{0}) as folded from found f").format(column)
    return SQL(
        "select v.value, v.folded from found f left join lateral (select distinct on (a.folded) a.value, a.folded"
        " from (select u.value, folded_value(u.value) as folded from unnest(f.{}) u (value)) a"
        " where a.folded is not null order by a.folded, a.value) v on true"
    ).format(column)


# the empty value stands for none, and comes last
_COUNTED_VALUES = SQL(" union all ").join(
    SQL(
        "select {} as name, coalesce(btrim(mode() within group (order by value) filter (where folded is not null)), '') as value,"
        " count(*) as n, row_number() over (order by folded is null, count(*) desc, min(value)) as place"
        " from ({}) v group by folded"
    ).format(name, _values_of(CAMPAIGNS.facets[name]))
    for name in COUNTED_FIELDS
)

# a value may have several rows in the dictionary
_KNOWN_VALUES = (
    "select facet as name, array_agg(value order by n desc, value) as values, null::date as earliest, null::date as latest"
    " from (select facet, value, sum(row_count) as n,"
    "  row_number() over (partition by facet order by sum(row_count) desc, value) as place"
    "  from facet_values where table_name = 'campaigns' group by facet, value having sum(row_count) > 0) v"
    " where place <= %(values_max)s group by facet"
    " union all select null, null, min(capture_date), max(capture_date) from campaigns"
)
