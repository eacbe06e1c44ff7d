"""What is decided when no model decides: the plan by the rules of reading, the ranking by evidence, the critique by coverage.

Pure: the same inputs give the same decisions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from quarry.companies.constraints import STAGE_LABELS
from quarry.companies.contract import EVIDENCE_CHIPS_MAX, STATUSES, Company
from quarry.companies.decisions import (
    VARIANTS_ADDED_MAX,
    VARIANTS_PLANNED_MAX,
    CompanyPlan,
    Critique,
    PlanFilters,
    RankedCompany,
    Reranking,
    Search,
)
from quarry.companies.prompts import CritiqueInputs, PlanInputs, RerankInputs
from quarry.companies.ranking import Entry, distinct
from quarry.companies.reading import Reading, TagGroup
from quarry.companies.snippets import home, inline_description, profile_words, snippets
from quarry.companies.vocabulary import Tag
from quarry.core.text import significant_words, topic_text

TARGET_COUNT = 10
NICHE_WORDS_MAX = 6

SEMANTIC_RANGE = (0.25, 0.65)
"""Cosine similarities that count as nothing and as all there is to be had."""
SECOND_SECTOR = 0.6
"""What a sector counts that a company has, but not as its first one."""

MODEL_WORTH = 0.5
"""What the name of a business model counts beside that of a sector or category."""


@dataclass(frozen=True)
class Odds:
    """The log odds that a company answers the question, from evidence between 0 and 1 each.

    The weights of `ODDS` follow a logistic regression on the judged queries of the sample, rounded; the others stand beside it so
    that their scores mean the same.
    """

    base: float
    weights: tuple[float, ...]

    def of(self, *evidence: float) -> float:
        return self.base + sum(weight * value for weight, value in zip(self.weights, evidence, strict=True))


ODDS = Odds(-3.4, (5.0, 3.2, 2.0))
"""Meaning, share of the question's words, share of its tags."""
PLAIN_ODDS = Odds(-2.0, (2.0, 3.5))
"""Where the question is tags and nothing else: meaning, share of the tags."""
ANCHOR_ODDS = Odds(-4.0, (4.0, 4.0, 1.5))
"""Where others like a company are wanted: meaning, overlap of what they are filed under, share of the words said besides."""
DEMANDS_MET = 1.0
"""What meeting the demands on its fields adds to a company's odds: only those that meet them are judged."""
NOTHING_ASKED = 0.6
"""The score of a company of which nothing was asked but what it was filtered by."""
NAME_WEIGHT = 0.95

ACCEPTED_MIN = 0.2
"""A company that scores less does not answer the question."""
ACCEPTED_SHARE = 0.3
"""Nor does one that scores less than this share of the best."""


def plan_by_rule(inputs: PlanInputs, reading: Reading, *, named: bool) -> CompanyPlan:
    """A plan from how the question reads. `named`: its words are near the name of a company."""
    narrows = reading.narrows and bool(inputs.previous_ids)
    demanded = [tag for group in reading.groups if group.demanded for tag in group.tags]
    topic = reading.topic
    statuses = reading.statuses or (STATUSES if narrows else ("startup",))
    return CompanyPlan(
        intent="narrow" if narrows else "find_company" if named else "discover",
        target_result_count=reading.count or TARGET_COUNT,
        query_variants=_variants(inputs, reading, topic) or [inputs.question],
        search_priority_order=_searches(reading, named=named),
        filters=PlanFilters(
            statuses=list(statuses),
            sectors=_names(demanded, "sector"),
            categories=_names(demanded, "category"),
            business_models=_names(demanded, "business_model"),
            niches=_niches(inputs, reading),
            niche_mode="boost",
        ),
        success_criteria=f"Companies about: {topic}" if topic else "Companies that meet the demands",
    )


def _niches(inputs: PlanInputs, reading: Reading) -> list[str]:
    """The anchor's niches, or the topic where it is short enough to be one."""
    if inputs.anchor is not None:
        return list(inputs.anchor.niches)
    is_niche = reading.topic and not reading.plain and len(reading.topic.split()) <= NICHE_WORDS_MAX
    return [reading.topic] if is_niche else []


def _searches(reading: Reading, *, named: bool) -> list[Search]:
    searches: list[Search] = ["exact_name"] if named else []
    searches += ["taxonomy"] if reading.plain else []
    searches += ["hybrid", "keyword"]
    return searches + (["taxonomy"] if reading.groups and not reading.plain else [])


def _variants(inputs: PlanInputs, reading: Reading, topic: str) -> list[str]:
    if inputs.anchor is not None:
        wished = [f"{topic}: {', '.join(inputs.anchor.niches)}"] if topic else []
        return [*wished, *anchor_variants(inputs.anchor)][:VARIANTS_PLANNED_MAX]
    tags = [tag.name for tag in reading.tags]
    return distinct([topic, topic_text(topic) if topic else "", ", ".join(tags) if reading.plain else ""])[
        :VARIANTS_PLANNED_MAX
    ]


def anchor_variants(anchor: Company) -> list[str]:
    """Phrasings of what a company does, from its own profile and never with its name."""
    texts = (
        ", ".join(anchor.niches),
        anchor.tagline,
        anchor.product_description,
        anchor.problem_solved,
        anchor.target_customer,
        ", ".join([*anchor.categories, *anchor.sectors]),
    )
    return distinct(unnamed(text, anchor) for text in texts if text)[:VARIANTS_PLANNED_MAX]


def unnamed(text: str, anchor: Company) -> str:
    """`text` without the company's name."""
    for name in (anchor.company_name, *anchor.former_names):
        text = text.replace(name, " ")
    return " ".join(text.split())


def _names(tags: Sequence[Tag], family: str) -> list[str]:
    return list(dict.fromkeys(tag.name for tag in tags if tag.family == family))


# --- ranking


@dataclass(frozen=True)
class _Evidence:
    """What speaks for a company, each from 0 to 1, and the words of the question that it holds."""

    score: float
    coverage: float
    covered: frozenset[str]
    groups: tuple[TagGroup, ...]


def rerank_by_rule(inputs: RerankInputs, reading: Reading) -> Reranking:
    """The companies whose evidence is good enough, best first."""
    said = {entry.company.id: _said(entry.company, reading) for entry in inputs.entries}
    weights = _word_weights(reading, said.values())
    judged = [(entry, _judge(entry, said[entry.company.id], inputs, reading, weights)) for entry in inputs.entries]
    judged.sort(key=lambda pair: (-pair[1].score, -pair[0].score, pair[0].company.id))
    best = judged[0][1].score if judged else 0.0
    kept = [pair for pair in judged if pair[1].score >= max(ACCEPTED_MIN, ACCEPTED_SHARE * best)]
    return Reranking(
        confidence=_confidence(best) if kept else 0.0,
        ranked_company_ids=[entry.company.id for entry, _ in kept],
        per_company=[_described(entry, evidence, inputs, reading) for entry, evidence in kept],
    )


def _confidence(score: float) -> float:
    return round(min(0.95, score), 3)


def _said(company: Company, reading: Reading) -> frozenset[str]:
    """The words of a profile; a name of a tag is as good as said where the company has the tag."""
    names = (group.name for group in reading.groups if _filed(company, group.tags))
    return profile_words(company).union(*(significant_words(name) for name in names))


def _word_weights(reading: Reading, said: Collection[frozenset[str]]) -> dict[str, float]:
    """How much each word of the topic says: the rarer among the candidates, the more."""
    holders = Counter(word for held in said for word in held)
    return {word: math.log(1 + len(said) / (0.5 + holders[word])) for word in significant_words(reading.topic)}


def _judge(
    entry: Entry, said: frozenset[str], inputs: RerankInputs, reading: Reading, weights: Mapping[str, float]
) -> _Evidence:
    company = entry.company
    semantic = _scaled(entry.candidate.semantic)
    groups = tuple(group for group in reading.groups if _filed(company, group.tags))
    covered = said & weights.keys()
    total = sum(weights.values())
    coverage = sum(weights[word] for word in covered) / total if total else 0.0
    tags = _tag_share(company, reading)
    if inputs.anchor is not None:
        odds = ANCHOR_ODDS.of(semantic, _overlap(company, inputs.anchor), coverage)
    elif reading.plain and any(group.demanded for group in reading.groups):
        odds = PLAIN_ODDS.of(semantic, tags)
    else:
        odds = ODDS.of(semantic, coverage, tags) + (DEMANDS_MET if reading.constraints else 0.0)
    score = 1 / (1 + math.exp(-odds)) if reading.topic or inputs.anchor else NOTHING_ASKED
    return _Evidence(max(score, NAME_WEIGHT * entry.name_score), coverage, covered, groups)


def _tag_share(company: Company, reading: Reading) -> float:
    """The share of the tags named that a company has. How it earns its money says less than what it does."""
    worth = [
        MODEL_WORTH if all(tag.family == "business_model" for tag in group.tags) else 1.0 for group in reading.groups
    ]
    had = sum(_filed(company, group.tags) * value for group, value in zip(reading.groups, worth, strict=True))
    return had / max(1.0, sum(worth))


def _filed(company: Company, tags: Collection[Tag]) -> float:
    """How well a company is filed under one of `tags`: 1, or less under a sector that is not its first; 0 under none."""
    held = {"category": company.categories, "business_model": company.business_models}
    if any(tag.name in held.get(tag.family, ()) for tag in tags):
        return 1.0
    sectors = [tag.name for tag in tags if tag.family == "sector"]
    places = [place for place, sector in enumerate(company.sectors) if sector in sectors]
    return 0.0 if not places else 1.0 if places[0] == 0 else SECOND_SECTOR


def _scaled(similarity: float) -> float:
    low, high = SEMANTIC_RANGE
    return min(1.0, max(0.0, (similarity - low) / (high - low)))


def _overlap(company: Company, anchor: Company) -> float:
    """How much of what the anchor is filed under and says of its niches a company shares."""
    categories = _share(company.categories, anchor.categories)
    niches = _share(significant_words(" ".join(company.niches)), significant_words(" ".join(anchor.niches)))
    return 0.6 * categories + 0.2 * _share(company.sectors, anchor.sectors) + 0.2 * min(1.0, 2 * niches)


def _share(values: Collection[str], of: Collection[str]) -> float:
    return len(set(values) & set(of)) / len(set(of)) if of else 0.0


def _described(entry: Entry, evidence: _Evidence, inputs: RerankInputs, reading: Reading) -> RankedCompany:
    company = entry.company
    return RankedCompany(
        company_id=company.id,
        reason=_reason(entry, evidence, inputs, reading),
        inline_description=inline_description(company),
        evidence_chips=list(_chips(entry, evidence, inputs, reading))[:EVIDENCE_CHIPS_MAX],
        confidence=_confidence(evidence.score),
    )


def _reason(entry: Entry, evidence: _Evidence, inputs: RerankInputs, reading: Reading) -> str:
    company = entry.company
    if inputs.anchor is not None:
        shared = [name for name in company.categories if name in inputs.anchor.categories]
        if shared:
            return f"Also in {' and '.join(shared)}: {snippets(company, significant_words(inputs.anchor.tagline or ''), 1)[0]}"
    [best] = snippets(company, evidence.covered, 1) or [""]
    return best or f"Filed under {', '.join(company.categories)}."


def _chips(entry: Entry, evidence: _Evidence, inputs: RerankInputs, reading: Reading) -> Iterator[str]:
    """What speaks for a company in a few words: what it has of what was asked for."""
    company, constraints = entry.company, reading.constraints
    yield from dict.fromkeys(tag.name for group in evidence.groups for tag in group.tags if _filed(company, (tag,)))
    if constraints.countries or constraints.cities:
        yield home(company)
    if constraints.funding_stages and company.funding_stage:
        yield STAGE_LABELS[company.funding_stage]
    if constraints.founded and company.founded_year:
        yield f"Founded {company.founded_year}"
    if constraints.employees and company.employee_count:
        yield f"{company.employee_count:,} employees"
    yield from _near_niches(company, evidence.covered, inputs.anchor)


def _near_niches(company: Company, covered: frozenset[str], anchor: Company | None) -> Iterator[str]:
    """The niches that share a word with the question or with the anchor; the first one where none does."""
    wanted = set(covered) | (set(significant_words(" ".join(anchor.niches))) if anchor else set())
    near = [niche for niche in company.niches if wanted & set(significant_words(niche))]
    yield from near or company.niches[:1]


# --- critique


def critique_by_rule(inputs: CritiqueInputs, reading: Reading) -> Critique:
    """Stop when the ranking is sure or nothing new is left to try; else search for what the best companies do not cover."""
    met = inputs.confidence >= inputs.target
    if met:
        return Critique(decision="stop", why="The best companies meet the question.", confidence_target_met=True)
    tried = {variant.casefold() for variant in inputs.tried}
    fresh = [variant for variant in _new_variants(reading) if variant.casefold() not in tried][:VARIANTS_ADDED_MAX]
    return Critique(
        decision="continue" if fresh else "stop",
        why="Other words may find more." if fresh else "Nothing is left to try.",
        should_expand_queries=bool(fresh),
        new_query_variants=fresh,
    )


def _new_variants(reading: Reading) -> list[str]:
    """The topic as it is understood now that companies were found, and the tags that it names."""
    return distinct([reading.topic, ", ".join(tag.name for tag in reading.tags)])
