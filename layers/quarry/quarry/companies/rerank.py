"""The ranking of what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quarry.companies.context import Context, Ranking, Round, conditions_in_words
from quarry.companies.contract import EVIDENCE_CHIPS_MAX, Company
from quarry.companies.fallback_ranking import rerank_by_rule
from quarry.companies.outputs import RankedCompany, Reranking
from quarry.companies.prompts import RerankInputs, rerank_messages
from quarry.companies.ranking import NEAR_SHARE, PREFERENCE_WEIGHT, Entry, distinct
from quarry.companies.snippets import inline_description
from quarry.models.step import ModelStep, decide
from quarry.platform.links import plain_links, said_in
from quarry.platform.off_loop import off_loop
from quarry.platform.text import fence, shorten

ALWAYS_RANKED = 10
"""How many companies the model gets whatever their scores."""
REASON_CHARACTERS_MAX = 400
INLINE_CHARACTERS_MAX = 200
CHIP_CHARACTERS_MAX = 40


async def rerank(context: Context, now: Round) -> tuple[Round, str]:
    """Rank the companies that fit. Companies that the model was not given are dropped from its answer."""
    inquiry, found, before = now.inquiry, now.found, now.ranking
    offered = found.fitting[: context.settings.company_reranked_max]
    inputs = RerankInputs(
        context.question, now.planned.output, offered, inquiry.seed, conditions_in_words(inquiry.intent)
    )
    if context.run.chat is not None:
        inputs = replace(inputs, entries=worth_ranking(offered, context.settings.company_reranked_share_min))

    def by_rule(inputs_: RerankInputs) -> Reranking:
        return rerank_by_rule(replace(inputs_, entries=offered), inquiry.intent)

    decided = await decide(ModelStep("company_rerank", rerank_messages, Reranking, by_rule), inputs, context.run)
    if context.is_late(bool(before.ranked)):
        return now, before.detail
    ranked = _offered_only(decided, offered_ids := [entry.company.id for entry in offered])
    if decided.ranked_company_ids and not ranked:
        context.run.degrade("company_rerank", context.run.steps[-1])
        decided = await off_loop(by_rule, inputs)
        ranked = _offered_only(decided, offered_ids)
    ranked = _preferred_first(ranked, offered)
    ranked = await off_loop(
        lambda: [_presentable(found.companies[each.company_id], each, inquiry.seed) for each in ranked]
    )
    answering = likely(ranked, context.settings.company_accepted_confidence_min)
    context.note(before=len(offered), after=len(answering))
    by_rule_alone = context.run.chat is None or "company_rerank" in context.run.degraded
    ranking = Ranking(
        answering,
        by_meaning(ranked, offered) if by_rule_alone and not answering else (),
        decided.confidence if answering else 0.0,
        before.before,
        detail=f"{len(answering)} of {len(offered)} answer the question",
    )
    return replace(now, ranking=ranking), ranking.detail


def worth_ranking(entries: Sequence[Entry], share: float) -> Sequence[Entry]:
    """The first entries, and the others with at least this share of the best score."""
    best = max((entry.score for entry in entries), default=0.0)
    return [entry for place, entry in enumerate(entries) if place < ALWAYS_RANKED or entry.score >= share * best]


def _preferred_first(ranked: Sequence[RankedCompany], offered: Sequence[Entry]) -> list[RankedCompany]:
    """The same order, with companies that meet preferred conditions further in front."""
    preference = {entry.company.id: entry.preference for entry in offered}
    if not any(preference.values()):
        return list(ranked)
    return sorted(ranked, key=lambda each: -each.confidence - PREFERENCE_WEIGHT * preference[each.company_id])


def by_meaning(ranked: Sequence[RankedCompany], offered: Sequence[Entry]) -> list[RankedCompany]:
    """The companies nearest in meaning first."""
    meaning = {entry.company.id: entry.candidate.semantic for entry in offered}
    return sorted(ranked, key=lambda each: -meaning[each.company_id])


def likely(ranked: Sequence[RankedCompany], least: float) -> list[RankedCompany]:
    """The companies with at least this confidence, and those near the best one; none if the best one has less."""
    best = max((each.confidence for each in ranked), default=0.0)
    return [each for each in ranked if each.confidence >= min(least, NEAR_SHARE * best)] if best >= least else []


def _offered_only(decided: Reranking, offered: Sequence[str]) -> list[RankedCompany]:
    """The ranked companies that were offered, each once, with the reasons."""
    ids = {fence(id): id for id in offered} | {id: id for id in offered}
    verdicts = {ids[each.company_id]: each for each in reversed(decided.per_company) if each.company_id in ids}
    ranked = dict.fromkeys(ids[id] for id in decided.ranked_company_ids if id in ids)
    return [
        verdicts[id].model_copy(update={"company_id": id})
        if id in verdicts
        else RankedCompany(company_id=id, confidence=decided.confidence)
        for id in ranked
    ]


def _presentable(company: Company, ranked: RankedCompany, seed: Company | None) -> RankedCompany:
    """The texts about a company, each on one line and bounded; missing ones are taken from its profile."""
    similar = [f"Similar to {seed.company_name}"] if seed else []
    profile = said_in(company.model_dump())
    chips = [
        plain_links(shorten(chip, CHIP_CHARACTERS_MAX), profile)
        for chip in distinct([*similar, *ranked.evidence_chips])
    ]
    return ranked.model_copy(
        update={
            "reason": plain_links(shorten(ranked.reason, REASON_CHARACTERS_MAX), profile)
            or inline_description(company),
            "inline_description": plain_links(shorten(ranked.inline_description, INLINE_CHARACTERS_MAX), profile)
            or inline_description(company),
            "evidence_chips": (chips or list(company.niches))[:EVIDENCE_CHIPS_MAX],
        }
    )
