"""Reads companies from Postgres."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.sql import SQL, Literal
from psycopg.sql import Identifier as SqlIdentifier

from quarry.companies.candidates import CompanyCandidate, NameMatch, Variant
from quarry.companies.contract import STATUSES, Company
from quarry.companies.facets import COMPANIES, TAG_FACETS
from quarry.companies.sources import met
from quarry.platform.errors import NotFound
from quarry.platform.settings import Settings
from quarry.postgres.adapters import half_vectors
from quarry.postgres.pool import Database
from quarry.query.algebra import Comparison, Condition

TAGS_TOLD_MAX, NICHES_TOLD_MAX = 300, 40
"""How many tags of each kind, and how many niches, the model is given."""
LATEST_MAX = 10_000
"""How many of the newest companies are tested for conditions that no index serves."""
LOOKED_AT_MAX = 25_000
"""How many companies are tested for what is ruled out."""
SAMPLE_MAX = 10_000
"""The size of the sample by which the number of matches is estimated."""


_COMPANY_COLUMNS = SQL(", ").join(SqlIdentifier(name) for name in Company.model_fields)


async def find_names(
    database: Database,
    names: Sequence[str],
    settings: Settings,
) -> list[NameMatch]:
    """The companies with one of `names`, or a name at least as similar as `company_name_similarity_min`: each company once, with
    its best match, best first. Few for each name, in one round trip.
    """
    if not names:
        return []
    rows = await database.call(
        "search_exact_names",
        p_names=list(names),
        p_statuses=list(STATUSES),
        p_min_similarity=settings.company_name_similarity_min,
    )
    return [NameMatch(**row) for row in rows]


async def retrieve_variants(
    database: Database,
    variants: Sequence[Variant],
    settings: Settings,
    *,
    include_ids: Sequence[str] | None = None,
    exclude_ids: Sequence[str] = (),
    hybrid: bool = True,
    keyword: bool = True,
    limit: int = 120,
    min_semantic: float | None = None,
    filter: str | None = None,
    fitting: Sequence[str] | None = None,
    fits_many: bool = False,
) -> list[CompanyCandidate]:
    """The `limit` best companies for each variant by hybrid and keyword search, merged, best first; one round trip. `settings`
    has the weights, and the least cosine similarity of hybrid search, unless `min_semantic` is given.

    Only companies in `include_ids` (if given), not in `exclude_ids`, that meet `filter` (see `row_filter`). `fitting` are the ids
    that meet it, if known, up to one more than `compared_max`; `fits_many`: they are unknown, but more than that.
    """
    if not variants or not (hybrid or keyword):
        return []
    rows = await database.call(
        "search_company_variants",
        p_texts=[variant.text for variant in variants],
        p_embeddings=half_vectors([variant.vector for variant in variants]),
        p_statuses=None,
        p_include_ids=None if include_ids is None else list(include_ids),
        p_exclude_ids=list(exclude_ids),
        p_hybrid=hybrid,
        p_keyword=keyword,
        p_limit=limit,
        p_min_semantic=settings.company_semantic_min if min_semantic is None else min_semantic,
        p_hybrid_weights=[
            settings.company_semantic_weight,
            settings.company_keyword_weight,
            settings.company_niche_weight,
        ],
        p_keyword_weights=[settings.company_keyword_only_weight, settings.company_niche_only_weight],
        p_filter=filter,
        p_fitting=None if fitting is None else list(fitting),
        p_fits_many=fits_many,
    )
    scores = ("semantic", "keyword", "niche", "combined")
    return [
        CompanyCandidate(row["company_id"], **{name: row[name] for name in scores}, found_by=tuple(row["found_by"]))
        for row in rows
    ]


async def count_meeting(database: Database, conditions: Sequence[Condition]) -> int:
    """How many companies meet all conditions."""
    row = await database.row(SQL("select count(*) as found from companies t where {}").format(met(conditions)))
    return int(row["found"]) if row else 0


def compared_max(limit: int) -> int:
    """Up to so many companies are compared exactly with a phrasing for `limit` results (`max_few` in vector_candidates)."""
    return max(2000, 80 * limit)


async def find_by_taxonomy(
    database: Database,
    sectors: Sequence[str],
    categories: Sequence[str],
    business_models: Sequence[str],
    limit: int = 500,
    *,
    filter: str | None = None,
) -> list[CompanyCandidate]:
    """The companies with most of the given tags, then by name; `taxonomy` is the share of the tags."""
    tags_asked = len({*sectors}) + len({*categories}) + len({*business_models})
    if not tags_asked:
        return []
    rows = await database.call(
        "search_companies_by_taxonomy_v1",
        p_sectors=list(sectors),
        p_categories=list(categories),
        p_business_models=list(business_models),
        p_statuses=None,
        p_limit=limit,
        p_filter=filter,
    )
    return [
        CompanyCandidate(row["company_id"], taxonomy=row["tag_score"] / tags_asked, found_by=("taxonomy",))
        for row in rows
    ]


def row_filter(conditions: Sequence[Condition], excluded: Sequence[str] = ()) -> str:
    """The SQL condition that a row `t` of companies meets all conditions and contains none of the `excluded` words."""
    condition = met(conditions)
    if excluded:
        lexemes = SQL(" || ").join(SQL("phraseto_tsquery('english', {})").format(Literal(each)) for each in excluded)
        condition += SQL(" and not (t.text_search @@ ({0}) or t.niches_search @@ ({0}))").format(lexemes)
    return condition.as_string(None)  # each value quoted


async def fitting_ids(database: Database, filter: str, limit: int) -> list[str]:
    """The ids of at most `limit` companies that meet `filter`, in no order."""
    rows = await database.rows(
        SQL("select t.id from companies t where ") + SQL(filter) + SQL(" limit {}").format(Literal(limit))
    )
    return [row["id"] for row in rows]


async def are_expected(database: Database, filter: str, number: int) -> bool:
    """Whether more than `number` companies probably meet `filter`, by a sample of `SAMPLE_MAX`; false for smaller tables."""
    row = await database.row(
        SQL(
            "select count(*) = {most} and count(*) filter (where {met}) * c.rows / {most} > {number} as are_expected"
            " from (select * from companies limit {most}) t,"
            " (select reltuples as rows from pg_class where oid = 'companies'::regclass) c group by c.rows"
        ).format(met=SQL("({})").format(SQL(filter)), number=Literal(number), most=Literal(SAMPLE_MAX))
    )
    return bool(row and row["are_expected"])


async def few_fitting_ids(
    database: Database, conditions: Sequence[Condition], filter: str, limit: int, *, latest: bool
) -> tuple[list[str], bool]:
    """The ids of at most `limit` companies that meet `filter`, of which `conditions` are a part, and whether there may be more:
    only `LOOKED_AT_MAX` rows are tested for negated conditions. With `latest`, the newest first, and `LATEST_MAX` rows.
    """
    affirmed = [each for each in conditions if not isinstance(each, Comparison) or each.op != "!="]
    rows = await database.rows(
        SQL(
            "select case when l.place <= {most} then l.id end as id"
            " from (select t.id, row_number() over () as place, {met} as is_met from ("
            "  select t.* from companies t where {affirmed} {order} limit {most} + 1) t) l"
            " where l.is_met or l.place > {most} limit {limit}"
        ).format(
            most=Literal(LATEST_MAX if latest else LOOKED_AT_MAX),
            order=SQL("order by t.founded_year desc nulls last, t.id" if latest else ""),
            met=SQL("({})").format(SQL(filter)),
            affirmed=SQL(row_filter(affirmed)),
            limit=Literal(limit),
        )
    )
    ids = [row["id"] for row in rows if row["id"] is not None]
    return ids, len(ids) < len(rows)


async def taxonomy(database: Database) -> dict[str, list[str]]:
    """The tags of companies by the plural of their kind, most frequent first, up to a limit for each kind."""
    bounds = {facet: NICHES_TOLD_MAX if facet == "niche" else TAGS_TOLD_MAX for facet in TAG_FACETS}
    rows = await database.rows(
        SQL(
            "select f.facet, array(select v.value from facet_values v where v.table_name = %s and v.facet = f.facet"
            " and v.scope = '' order by v.row_count desc, v.value limit f.most) as values"
            " from unnest(%s::text[], %s::int[]) f (facet, most)"
        ),
        [COMPANIES.name, list(bounds), list(bounds.values())],
    )
    return {COMPANIES.facet(row["facet"]).plural: row["values"] for row in rows}


async def unspoken(database: Database, words: Sequence[str]) -> list[str]:
    """The words that no company's profile contains."""
    if not words:
        return []
    [row] = await database.call("unspoken_words", p_words=list(words))
    return list(row["unspoken_words"])


async def stored_vectors(database: Database, id: str) -> list[list[float]]:
    """The vectors of a company's profile; none if it is not embedded."""
    rows = await database.rows(
        "select embedding from company_embeddings where record_id = %s and embedding_type = 'searchable_profile'", [id]
    )
    return [row["embedding"].to_list() for row in rows]


async def companies_by_ids(database: Database, ids: Sequence[str]) -> list[Company]:
    """The companies of these ids in this order, each once; unknown ids are left out."""
    if not ids:
        return []
    rows = await database.rows(SQL("select {} from get_companies_by_ids_v1(%s)").format(_COMPANY_COLUMNS), [list(ids)])
    return [Company.model_validate(row) for row in rows]


async def company_by_id(database: Database, id: str) -> Company:
    """One company. Raises NotFound."""
    for company in await companies_by_ids(database, [id]):
        return company
    raise NotFound("There is no company with this id.")
