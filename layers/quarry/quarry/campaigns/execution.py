"""A question executed as it was read: the search that fits it, what the whole of the data says to it, and, where nothing is
found, what its conditions cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quarry.campaigns import retrieval
from quarry.campaigns.contract import Campaign
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.reading import CampaignQuestion
from quarry.campaigns.results import NOTHING, CampaignSet, Outcome
from quarry.core.postgres.pool import Database
from quarry.core.query.question import Ask, Clause, Condition, Missing
from quarry.core.retrieval import questions
from quarry.core.retrieval.answers import Answer
from quarry.core.retrieval.filters import Among
from quarry.core.retrieval.grouping import kept_groups
from quarry.query.of_question import TableQuestion


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
    relaxations = (
        await questions.relaxations(database, CAMPAIGNS, asked.clauses) if len(asked.clauses) > 1 and not base else []
    )
    return replace(outcome, relaxations=tuple(each for each in relaxations if each.rows))


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
        ask = replace(ask, limit=outcome.answer.rows if outcome.answer and ask.kind == "extreme" else None)
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
        met = await questions.standings(database, CAMPAIGNS, clauses, ids)
        ids = [id for id in ids if id in met and not met[id].misses]
    answer = None
    if asked.ask.kind in ("distinct", "groups", "extreme"):
        ask = asked.ask if asked.ask.kind == "extreme" else replace(asked.ask, kind="groups", limit=None)
        answer = await questions.answer(database, CAMPAIGNS, ask, (), Among(keys=ids))
        ids = list(answer.keys) if asked.ask.kind == "extreme" else ids
    return Outcome(asked, await retrieval.find_ids(database, ids), clauses, answer, share_of=whole)


async def _outcome(
    database: Database, asked: CampaignQuestion, clauses: tuple[Clause, ...], vector: Sequence[float] | None
) -> Outcome:
    counts = asked.ask.kind not in ("rows", "exists")
    if asked.theme and not counts:
        found = await retrieval.find_by_theme(database, asked.theme, vector, clauses, asked.preferred)
        if not found.total and clauses:
            # what meets the conditions is better than nothing
            found = await retrieval.filter_campaigns(
                database, clauses, asked.preferred, looked_at_max=retrieval.BESIDE_THEME_MAX
            )
            return Outcome(asked, found, clauses, is_beside_theme=True)
        return Outcome(asked, found, clauses)
    if asked.says and not counts:
        found = await retrieval.find_by_text(database, asked.says, clauses, asked.preferred)
        return Outcome(asked, found, clauses)
    if words := asked.says or asked.theme:
        found = await retrieval.find_by_text(database, words, clauses, asked.preferred)
        clauses = (*clauses, *said_by_copy(words))
        if found.more or asked.ask.kind == "count":
            return Outcome(asked, found, clauses, is_by_words=bool(asked.theme))
    if asked.lacked:
        return await _lacking(database, asked, clauses[: len(clauses) - len(asked.clauses)])
    if asked.ask.kind == "extreme":
        answer = await questions.answer(database, CAMPAIGNS, asked.ask, clauses)
        found = await retrieval.find_ids(database, answer.keys[: retrieval.CAMPAIGNS_MAX])
        return Outcome(asked, found, clauses, answer, is_by_words=bool(asked.theme))
    found = await retrieval.filter_campaigns(database, clauses, asked.preferred)
    return Outcome(asked, found, clauses, await _groups(database, asked, clauses, found), is_by_words=bool(asked.theme))


async def _lacking(database: Database, asked: CampaignQuestion, base: Sequence[Clause]) -> Outcome:
    """The values that are asked for of which no campaign is what is lacked, and all campaigns that they are looked for among."""
    clauses = (*base, *asked.besides)
    ask = replace(asked.ask, kind="groups", limit=None)
    found = await retrieval.filter_campaigns(database, clauses, asked.preferred)
    every = await group(database, ask, clauses, found)
    having = await questions.answer(database, CAMPAIGNS, ask, (*clauses, *asked.lacked))
    if every is None:
        return Outcome(asked, found, clauses)
    had = {None, *(each.value for each in having.groups if each.rows)}
    without = tuple(each for each in every.groups if each.value not in had)
    return Outcome(asked, found, clauses, replace(every, groups=without, number=len(without)))


async def _whole(database: Database, asked: CampaignQuestion, base: Sequence[Clause]) -> int | None:
    if asked.share_of is None:
        return None
    return (await questions.answer(database, CAMPAIGNS, Ask("count"), (*base, *asked.share_of))).rows


async def _groups(
    database: Database, asked: CampaignQuestion, clauses: Sequence[Clause], found: CampaignSet
) -> Answer | None:
    """Groups are asked for as a whole: what comes behind the first ones is told too."""
    if asked.ask.kind not in ("distinct", "groups"):
        return None
    groups = await group(database, replace(asked.ask, kind="groups", limit=None), clauses, found)
    return groups and replace(groups, ask=asked.ask if asked.ask.kind == "distinct" else groups.ask)


async def group(database: Database, ask: Ask, clauses: Sequence[Clause], found: CampaignSet) -> Answer | None:
    """The groups, or the number of them, of the campaigns `found` under these clauses; None where there are `more` than are
    counted. Of all campaigns together values are told as they are counted by what is written.
    """
    if not found.more:
        return await questions.answer(database, CAMPAIGNS, ask, clauses)
    facet = CAMPAIGNS.facet(ask.facet) if ask.facet else None
    if clauses or ask.grain or facet is None or not facet.is_listed:
        return None
    return await kept_groups(database, CAMPAIGNS, ask)


def _unnamed(asked: CampaignQuestion) -> tuple[Missing, ...]:
    """Names that no campaign has, where a company or brand is meant; other words may stand in the copy."""
    return tuple(
        missing
        for missing in asked.question.missing
        if missing.facet is not None and CAMPAIGNS.facet(missing.facet).kind == "name"
    )
