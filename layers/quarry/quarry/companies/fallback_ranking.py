"""The ranking without a model: by the evidence for each company. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from quarry.companies.contract import EVIDENCE_CHIPS_MAX, Company
from quarry.companies.outputs import (
    RankedCompany,
    Reranking,
)
from quarry.companies.prompts import RerankInputs
from quarry.companies.query import CompanyIntent, TagGroup
from quarry.companies.ranking import NEAR_SHARE, Entry
from quarry.companies.snippets import STAGE_LABELS, home, inline_description, profile_words, snippets
from quarry.platform.text import significant_words
from quarry.query.algebra import comparisons_of

SEMANTIC_RANGE = (0.25, 0.65)
"""The cosine similarities that count as 0 and as 1."""
SECOND_SECTOR = 0.6
"""The weight of a sector that is not the company's first."""

DEMANDED_MISSED = 1.5
"""How much the odds of a company drop for each demanded tag that it lacks."""


@dataclass(frozen=True)
class Odds:
    """The log odds that a company answers the question, from evidence between 0 and 1 each.

    The weights of `ODDS` are rounded from a logistic regression on the judged queries of the sample; the others are scaled to
    give comparable scores.
    """

    base: float
    weights: tuple[float, ...]

    def of(self, *evidence: float) -> float:
        return self.base + sum(weight * value for weight, value in zip(self.weights, evidence, strict=True))


ODDS = Odds(-3.0, (5.0, 3.2, 2.0))
"""Meaning, share of the words in the question, share of its tags."""
PLAIN_ODDS = Odds(-2.0, (2.0, 3.5))
"""For a question of tags alone: meaning, share of the tags."""
SEED_ODDS = Odds(-3.4, (4.0, 4.0, 1.5))
"""For companies like another: meaning, overlap of the tags, share of the other words in the question."""
DEMANDS_MET = 1.0
"""Added to the odds if the question has conditions, which all candidates meet."""
NOTHING_ASKED = 0.6
"""The score if the question has conditions alone."""
NAME_WEIGHT = 0.95


@dataclass(frozen=True)
class _Evidence:
    """The score of a company (0 to 1), and the words and tags of the question that it has."""

    score: float
    covered: frozenset[str]
    groups: tuple[TagGroup, ...]


def rerank_by_rule(inputs: RerankInputs, intent: CompanyIntent) -> Reranking:
    """The companies whose scores are near the best, best first. The caller decides whether that is enough."""
    words_of = {entry.company.id: _company_words(entry.company, intent) for entry in inputs.entries}
    weights = _word_weights(intent, words_of.values())
    rarity = _rarity(entry.company for entry in inputs.entries)
    judged = [
        (entry, _judge(entry, words_of[entry.company.id], inputs, intent, weights, rarity)) for entry in inputs.entries
    ]
    judged.sort(key=lambda pair: (-pair[1].score, -pair[0].score, pair[0].company.id))
    best = judged[0][1].score if judged else 0.0
    kept = [pair for pair in judged if pair[1].score >= NEAR_SHARE * best]
    filed = [pair for pair in kept if _is_filed_as_demanded(pair[0].company, intent)]
    if intent.is_plain and inputs.seed is None and len(filed) >= inputs.plan.target_result_count:
        kept = filed
    return Reranking(
        confidence=_confidence(best) if kept else 0.0,
        ranked_company_ids=[entry.company.id for entry, _ in kept],
        per_company=[_described(entry, evidence, inputs, intent) for entry, evidence in kept],
    )


def _confidence(score: float) -> float:
    return round(min(0.95, score), 3)


def _company_words(company: Company, intent: CompanyIntent) -> frozenset[str]:
    """The words of a profile, and the names of the tags that the company has."""
    names = (group.name for group in intent.tags if _filed(company, group))
    return profile_words(company).union(*(significant_words(name) for name in names))


def _word_weights(intent: CompanyIntent, company_words: Collection[frozenset[str]]) -> dict[str, float]:
    """The weight of each word of the topic: rare words among the candidates weigh more."""
    holders = Counter(word for held in company_words for word in held)
    return {word: math.log(1 + len(company_words) / (0.5 + holders[word])) for word in intent.words}


def _judge(
    entry: Entry,
    company_words: frozenset[str],
    inputs: RerankInputs,
    intent: CompanyIntent,
    weights: Mapping[str, float],
    rarity: Callable[[str], float],
) -> _Evidence:
    company = entry.company
    semantic = _scaled(entry.candidate.semantic)
    groups = tuple(group for group in intent.tags if _filed(company, group))
    covered = company_words & weights.keys()
    total = sum(weights.values())
    coverage = sum(weights[word] for word in covered) / total if total else 0.0
    tags = _tag_share(company, intent)
    if inputs.seed is not None:
        odds = SEED_ODDS.of(semantic, _overlap(company, inputs.seed, rarity), coverage)
    else:
        missed = sum(group.is_demanded and group not in groups for group in intent.tags)
        odds = ODDS.of(semantic, coverage, tags) + (DEMANDS_MET if intent.demands else 0.0) - DEMANDED_MISSED * missed
        if intent.is_plain:
            odds = max(odds, PLAIN_ODDS.of(semantic, tags)) if missed else PLAIN_ODDS.of(semantic, tags)
    score = 1 / (1 + math.exp(-odds)) if intent.topic or inputs.seed else NOTHING_ASKED
    return _Evidence(max(score, NAME_WEIGHT * entry.name_score), covered, groups)


def _is_filed_as_demanded(company: Company, intent: CompanyIntent) -> bool:
    """Whether a company has every demanded tag."""
    return all(_filed(company, group) for group in intent.tags if group.is_demanded)


def _tag_share(company: Company, intent: CompanyIntent) -> float:
    """The share of the named tags that a company has."""
    return sum(_filed(company, group) for group in intent.tags) / max(1, len(intent.tags))


def _filed(company: Company, group: TagGroup) -> float:
    """How well a company fits a group of tags: 1, less for a sector that is not its first, 0 if it has none."""
    held = {"category": company.categories, "business_model": company.business_models, "niche": company.niches}
    if any(group.values(facet) & {*values} for facet, values in held.items()):
        return 1.0
    sectors = group.values("sector")
    places = [place for place, sector in enumerate(company.sectors) if sector in sectors]
    return 0.0 if not places else 1.0 if places[0] == 0 else SECOND_SECTOR


def _scaled(similarity: float) -> float:
    low, high = SEMANTIC_RANGE
    return min(1.0, max(0.0, (similarity - low) / (high - low)))


def _rarity(companies: Iterable[Company]) -> Callable[[str], float]:
    """The weight of a tag or a word of a niche: rare ones among the companies weigh more."""
    held = [
        {*company.sectors, *company.categories, *significant_words(" ".join(company.niches))} for company in companies
    ]
    holders = Counter(name for names in held for name in names)
    return lambda name: math.log(1 + len(held) / (0.5 + holders[name]))


def _overlap(company: Company, seed: Company, rarity: Callable[[str], float]) -> float:
    """How much of the seed's tags and niches a company shares."""
    categories, sectors = (
        _share(company.categories, seed.categories, rarity),
        _share(company.sectors, seed.sectors, rarity),
    )
    words, of = significant_words(" ".join(company.niches)), significant_words(" ".join(seed.niches))
    return 0.6 * categories + 0.2 * sectors + 0.2 * min(1.0, 2 * _share(words, of, rarity))


def _share(values: Collection[str], of: Collection[str], rarity: Callable[[str], float]) -> float:
    whole = sum(rarity(name) for name in set(of))
    return sum(rarity(name) for name in set(values) & set(of)) / whole if whole else 0.0


def _described(entry: Entry, evidence: _Evidence, inputs: RerankInputs, intent: CompanyIntent) -> RankedCompany:
    company = entry.company
    return RankedCompany(
        company_id=company.id,
        reason=_reason(entry, evidence, inputs),
        inline_description=inline_description(company),
        evidence_chips=list(_chips(entry, evidence, inputs, intent))[:EVIDENCE_CHIPS_MAX],
        confidence=_confidence(evidence.score),
    )


def _reason(entry: Entry, evidence: _Evidence, inputs: RerankInputs) -> str:
    company = entry.company
    if inputs.seed is not None:
        shared = [name for name in company.categories if name in inputs.seed.categories]
        if shared:
            return f"Also in {' and '.join(shared)}: {snippets(company, significant_words(inputs.seed.tagline or ''), 1)[0]}"
    [best] = snippets(company, evidence.covered, 1) or [""]
    return best or f"Filed under {', '.join(company.categories)}."


def _chips(entry: Entry, evidence: _Evidence, inputs: RerankInputs, intent: CompanyIntent) -> Iterator[str]:
    """Short labels of what the company has of what the question asks."""
    company = entry.company
    filed = {*company.sectors, *company.categories, *company.business_models, *company.niches}
    named = (str(value) for group in evidence.groups for each in group.conditions for value in each.scalars)
    yield from dict.fromkeys(value for value in named if value in filed)
    fields = {each.field for each in comparisons_of(intent.demands)}
    if fields & {"city", "country"} and home(company):
        yield home(company)
    if "funding_stage" in fields and company.funding_stage:
        yield STAGE_LABELS[company.funding_stage]
    if "founded_year" in fields and company.founded_year:
        yield f"Founded {company.founded_year}"
    if "employees" in fields and company.employee_count:
        yield f"{company.employee_count:,} employees"
    yield from _near_niches(company, evidence.covered, inputs.seed)


def _near_niches(company: Company, covered: frozenset[str], seed: Company | None) -> Iterator[str]:
    """The niches that share a word with the question or the seed; else the first niche."""
    wanted = set(covered) | (set(significant_words(" ".join(seed.niches))) if seed else set())
    near = [niche for niche in company.niches if wanted & set(significant_words(niche))]
    yield from near or company.niches[:1]
