"""A question executed as it was read: the search that fits it, what the whole of the data says to it, and, where nothing is
found, what its conditions cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quarry.campaigns import retrieval
from quarry.campaigns.conditions import NAME, NO_DAY, PHRASES, SCHEMA, SOURCE, conditions_of, label_of
from quarry.campaigns.contract import Campaign
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.reading import CampaignQuestion
from quarry.campaigns.results import NOTHING, CampaignSet, Group, Groups, Outcome, Relaxation
from quarry.postgres.pool import Database
from quarry.query import algebra
from quarry.query.algebra import Aggregate, Comparison, Order, Query
from quarry.query.execute import execute as execute_query
from quarry.query.of_question import TableQuestion, query_of
from quarry.query.result import Result
from quarry.spans.question import Ask, Clause, Condition, Missing

RELAXED_MAX = 10
"""Of more clauses it is not told what each one costs."""
GROUPS_MAX = 10_000
"""So many groups are told at most."""


async def execute(
    database: Database, asked: CampaignQuestion, base: Sequence[Clause], vector: Sequence[float] | None
) -> Outcome:
    """What the campaigns say to a question, among those that meet `base`. `vector` is that of its theme.

    Raises DatabaseUnavailable.
    """
    unnamed = _unnamed(asked)
    if asked.asks_nothing or unnamed or (asked.question.unanswerable and not asked.clauses):
        return Outcome(asked, NOTHING, unnamed=unnamed)
    clauses = (*base, *asked.clauses)
    outcome = await _outcome(database, asked, clauses, vector)
    if outcome.found.total:
        return replace(outcome, share_of=await _whole(database, asked, base))
    dropped = tuple(clause for clause in asked.clauses if any(each.strength == "inferred" for each in clause))
    if dropped:
        kept = tuple(clause for clause in clauses if clause not in dropped)
        relaxed = await _outcome(database, asked, kept, vector)
        if relaxed.found.total:
            return replace(relaxed, dropped=dropped)
    return replace(outcome, relaxations=() if base else await _relaxations(database, asked.clauses))


def as_asked(outcome: Outcome, base: Sequence[Clause]) -> TableQuestion | None:
    """What was found, as it is asked of the table, groups as a whole; None where it was found by its meaning, among what an
    earlier answer showed, or by what values lack.
    """
    asked, ask, clauses = outcome.asked, outcome.asked.ask, outcome.clauses
    is_near = bool(asked.theme) and ask.kind in ("rows", "exists") and not outcome.is_beside_theme
    if is_near or asked.lacked or (asked.picks and asked.earlier):
        return None
    if asked.says and ask.kind in ("rows", "exists"):
        clauses = (*clauses, *said_by_copy(asked.says))
    if ask.kind in ("groups", "extreme"):
        ask = replace(ask, limit=outcome.found.total if ask.kind == "extreme" else None)
    share = None if asked.share_of is None else (*base, *asked.share_of)
    return TableQuestion(CAMPAIGNS, replace(ask, lacks=False), clauses, base=share)


def said_by_copy(words: str) -> tuple[Clause, ...]:
    """That the copy says these words; nothing of none."""
    return ((Condition("copy", (words,)),),) if words else ()


async def confirmed(database: Database, asked: CampaignQuestion) -> CampaignQuestion:
    """The question with names that no campaign has as what it is about, where the words before them do not say that somebody's
    campaigns are meant ("for", "in"); where they are counted, only if copy holds them.
    """
    for missing in asked.question.missing:
        before = asked.question.text[: missing.evidence.start].split()[-1:]
        if before and before[0].lower() in _OF_ANYTHING:
            words = f'"{missing.text}"'
            if asked.ask.kind == "rows" or (await retrieval.find_by_text(database, words)).total:
                asked = _about(asked, missing)
    return asked


_OF_ANYTHING = frozenset(("for", "of", "in", "with", "on", "at"))


def _about(asked: CampaignQuestion, missing: Missing) -> CampaignQuestion:
    is_said = missing.text in asked.theme or missing.text in asked.says
    return replace(
        asked,
        question=replace(asked.question, missing=tuple(each for each in asked.question.missing if each is not missing)),
        clauses=tuple(
            clause
            for clause in asked.clauses
            if not any(missing.evidence in condition.evidence for condition in clause)
        ),
        theme=asked.theme if is_said else f"{asked.theme} {missing.text}".strip(),
    )


async def pick(database: Database, asked: CampaignQuestion, shown: Sequence[Campaign]) -> Outcome:
    """What the campaigns that an earlier answer showed say to the question, which refers to them by their places or to all."""
    places = [place - 1 if place > 0 else len(shown) + place for place in asked.question.references]
    ids = [shown[place].id for place in places or range(len(shown)) if 0 <= place < len(shown)]
    whole, clauses = len(ids), asked.own_clauses
    if clauses:
        met = await retrieval.standings(database, conditions_of(clauses), ids)
        ids = [id for id in ids if all(met.get(id, [False]))]
    among = (Comparison(field="id", values=tuple(ids)),) if ids else ()
    groups = None
    if among and asked.ask.kind == "extreme":
        ids = await _extreme(database, asked.ask, among)
    elif among and asked.ask.kind in ("distinct", "groups"):
        groups = await _groups_of(database, asked.ask, among)
    return Outcome(asked, await retrieval.find_ids(database, ids), clauses, groups, share_of=whole)


async def _outcome(
    database: Database, asked: CampaignQuestion, clauses: tuple[Clause, ...], vector: Sequence[float] | None
) -> Outcome:
    counts, conditions = asked.ask.kind not in ("rows", "exists"), conditions_of(clauses)
    preferred = conditions_of(asked.preferred)
    if asked.theme and not counts:
        found = await retrieval.find_by_theme(database, asked.theme, vector, conditions, preferred)
        if not found.total and clauses:
            # what meets the conditions is better than nothing
            found = await retrieval.filter_campaigns(
                database, conditions, preferred, looked_at_max=retrieval.BESIDE_THEME_MAX
            )
            return Outcome(asked, found, clauses, is_beside_theme=True)
        return Outcome(asked, found, clauses)
    if asked.says and not counts:
        found = await retrieval.find_by_text(database, asked.says, conditions, preferred)
        return Outcome(asked, found, clauses)
    if words := asked.says or asked.theme:
        found = await retrieval.find_by_text(database, words, conditions, preferred)
        clauses = (*clauses, *said_by_copy(words))
        if found.more or asked.ask.kind == "count":
            return Outcome(asked, found, clauses, is_by_words=bool(asked.theme))
        conditions = conditions_of(clauses)
    if asked.lacked:
        return await _lacking(database, asked, clauses[: len(clauses) - len(asked.clauses)])
    if asked.ask.kind == "extreme":
        ids = await _extreme(database, asked.ask, conditions)
        return Outcome(asked, await retrieval.find_ids(database, ids), clauses, is_by_words=bool(asked.theme))
    found = await retrieval.filter_campaigns(database, conditions, preferred)
    groups = await group(database, asked.ask, conditions, found) if asked.ask.kind in ("distinct", "groups") else None
    return Outcome(asked, found, clauses, groups, is_by_words=bool(asked.theme))


async def _lacking(database: Database, asked: CampaignQuestion, base: Sequence[Clause]) -> Outcome:
    """The values that are asked for of which no campaign is what is lacked, and all campaigns that they are looked for among."""
    clauses = (*base, *asked.besides)
    conditions = conditions_of(clauses)
    found = await retrieval.filter_campaigns(database, conditions, conditions_of(asked.preferred))
    every = await group(database, asked.ask, conditions, found)
    if every is None:
        return Outcome(asked, found, clauses)
    having = await _groups_of(database, asked.ask, (*conditions, *conditions_of(asked.lacked)))
    had = {None, *(each.value for each in having.groups if each.campaigns)}
    return Outcome(
        asked, found, clauses, replace(every, groups=[each for each in every.groups if each.value not in had])
    )


async def _whole(database: Database, asked: CampaignQuestion, base: Sequence[Clause]) -> int | None:
    if asked.share_of is None:
        return None
    return await _count(database, conditions_of((*base, *asked.share_of)))


async def _relaxations(database: Database, clauses: Sequence[Clause]) -> tuple[Relaxation, ...]:
    """How many campaigns there would be without each clause alone, where there would be any, most first."""
    conditions = conditions_of(clauses)
    if not 1 < len(conditions) <= RELAXED_MAX:
        return ()
    found = [
        Relaxation(label_of(clause), await _count(database, conditions[:place] + conditions[place + 1 :]))
        for place, clause in enumerate(clauses)
    ]
    return tuple(sorted((each for each in found if each.campaigns), key=lambda each: -each.campaigns))


# ---- queries ----


async def _run(database: Database, query: Query) -> Result:
    return await execute_query(database, query, SCHEMA, NO_DAY)


async def _count(database: Database, conditions: Sequence[algebra.Condition]) -> int:
    query = Query(source=NAME, where=tuple(conditions), aggregate=(Aggregate(fn="count"),))
    return (await _run(database, query)).total


async def _extreme(database: Database, ask: Ask, conditions: Sequence[algebra.Condition]) -> list[str]:
    """The first or latest campaigns, by id: as many as are asked for, and those that tie with the last of them."""
    field, order = ask.facet or CAMPAIGNS.date or "", "asc" if ask.ascending else "desc"
    rows = Query(
        source=NAME,
        where=(*conditions, Comparison(field=field, op="not_null")),
        select=("id", field),
        order=(Order.model_validate({"by": field, "direction": order}),),
        limit=ask.limit or 1,
    )
    first = (await _run(database, rows)).rows
    if not first:
        return []
    last = Comparison.model_validate({"field": field, "op": "<=" if ask.ascending else ">=", "value": first[-1][1]})
    with_ties = rows.model_copy(update={"where": (*rows.where, last), "limit": retrieval.CAMPAIGNS_MAX})
    return [str(row[0]) for row in (await _run(database, with_ties)).rows]


async def group(
    database: Database, ask: Ask, conditions: Sequence[algebra.Condition], found: CampaignSet
) -> Groups | None:
    """All groups of the campaigns `found` under these conditions; None where there are more campaigns than are counted, unless
    they are all and have a listed value each.
    """
    facet = CAMPAIGNS.facet(ask.facet) if ask.facet else None
    if found.more:
        if conditions or ask.grain or facet is None or not facet.is_listed:
            return None
        if (kept := await retrieval.kept_groups(database, facet)) is not None:
            return kept
    return await _groups_of(database, ask, conditions)


async def _groups_of(database: Database, ask: Ask, conditions: Sequence[algebra.Condition]) -> Groups:
    query = query_of(TableQuestion(CAMPAIGNS, Ask("groups", ask.facet, ask.grain)), SOURCE)
    assert query is not None
    query = query.model_copy(update={"where": tuple(conditions), "limit": algebra.LIMIT_MAX})
    groups: list[Group] = []
    while True:
        result = await _run(database, query.model_copy(update={"offset": len(groups)}))
        column, period = result.columns[0], query.group[0].period
        groups += [
            Group(None if value is None else str(value), count, PHRASES.cell(column, value, period))
            for value, count in result.rows
            if isinstance(count, int)
        ]
        if not result.truncated or len(groups) >= GROUPS_MAX:
            return Groups(groups, result.total)


def _unnamed(asked: CampaignQuestion) -> tuple[Missing, ...]:
    """Names that no campaign has, where a company or brand is meant; other words may stand in the copy."""
    return tuple(
        missing
        for missing in asked.question.missing
        if missing.facet is not None and CAMPAIGNS.facet(missing.facet).kind == "name"
    )
