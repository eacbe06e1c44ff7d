"""The order of the companies that fit: what a model ranked in the form of the answer, and without a model a fitted regression.
Pure.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from quarry.companies.contract import EVIDENCE_CHIPS_MAX, Company
from quarry.companies.prompts import RankedCompany, Reranking
from quarry.companies.state import (
    PREFERENCE_WEIGHT,
    STAGE_LABELS,
    CompanyIntent,
    Entry,
    TagGroup,
    distinct,
    home,
    inline_description,
    profile_words,
    snippets,
)
from quarry.language.messages import gettext, ngettext
from quarry.language.writing import listed_label
from quarry.platform.text import fence, plain_links, said_in, shorten, significant_words
from quarry.reader.features import chance_of
from quarry.schema.algebra import comparisons_of

ALWAYS_RANKED = 10
"""How many companies the model gets whatever their scores."""
REASON_CHARACTERS_MAX = 400
INLINE_CHARACTERS_MAX = 200
CHIP_CHARACTERS_MAX = 40


def worth_ranking(entries: Sequence[Entry], share: float) -> Sequence[Entry]:
    """The first entries, and the others with at least this share of the best score."""
    best = max((entry.score for entry in entries), default=0.0)
    return [entry for place, entry in enumerate(entries) if place < ALWAYS_RANKED or entry.score >= share * best]


def preferred_first(ranked: Sequence[RankedCompany], offered: Sequence[Entry]) -> list[RankedCompany]:
    """The same order, with companies that meet preferred conditions further in front."""
    preference = {entry.company.id: entry.preference for entry in offered}
    if not any(preference.values()):
        return list(ranked)
    return sorted(ranked, key=lambda each: -each.confidence - PREFERENCE_WEIGHT * preference[each.company_id])


def offered_only(ranking: Reranking, offered: Sequence[str]) -> list[RankedCompany]:
    """The ranked companies that were offered, each once, with the reasons."""
    ids = {fence(id): id for id in offered} | {id: id for id in offered}
    verdicts = {ids[each.company_id]: each for each in reversed(ranking.per_company) if each.company_id in ids}
    ranked = dict.fromkeys(ids[id] for id in ranking.ranked_company_ids if id in ids)
    return [
        verdicts[id].model_copy(update={"company_id": id})
        if id in verdicts
        else RankedCompany(company_id=id, confidence=ranking.confidence)
        for id in ranked
    ]


def presentable(company: Company, ranked: RankedCompany, seed: Company | None) -> RankedCompany:
    """The texts about a company, each on one line and bounded; missing ones are taken from its profile."""
    similar = [gettext("Similar to {name}", name=seed.company_name)] if seed else []
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


# ---- without a model ----

WEIGHTS_FILE = "ranking.json"
"""Written by `tools/fit/companies`."""
CONFIDENCE_MAX = 0.95
"""The confidence in a company that meets all that is asked."""


@dataclass(frozen=True)
class Fitted:
    """Logistic regressions: that a company is what a question seeks, and that any of those found is. Companies with `near_share`
    of the best chance are kept; where the second chance is below `refused_below`, none is.
    """

    fits: Mapping[str, float]
    answered: Mapping[str, float]
    near_share: float
    refused_below: float


class Scales(NamedTuple):
    """How what speaks for a company becomes values of the regression: the cosine similarities that count as 0 and as 1, the
    weight of a sector that is not the company's first, and those of the categories, sectors and niches shared with a seed.
    """

    meaning: Sequence[float]
    later_sector: float
    shared_tags: Sequence[float]


@cache
def _weights() -> Mapping[str, dict[str, Any]]:
    weights: dict[str, dict[str, Any]] = json.loads(
        (files("quarry.companies") / "weights" / WEIGHTS_FILE).read_text(encoding="utf-8")
    )
    return weights


@cache
def fitted_for(*, by_meaning: bool) -> Fitted:
    """The weights for candidates that were compared in meaning too, or by words alone."""
    return Fitted(**_weights()["meaning" if by_meaning else "words"])


@cache
def fitted_scales() -> Scales:
    return Scales(**_weights()["scales"])


@dataclass(frozen=True)
class Evidence:
    """What speaks for a company: the words and tags of the question that it has, and the values of the regression."""

    covered: frozenset[str]
    groups: tuple[TagGroup, ...]
    values: Mapping[str, float]


def evidence_for(
    entries: Sequence[Entry], intent: CompanyIntent, seed: Company | None, scales: Scales | None = None
) -> list[Evidence]:
    """What speaks for each candidate. Words that few of them have weigh more."""
    scales = scales or fitted_scales()
    filed = [[_filed(entry.company, group, scales) for group in intent.tags] for entry in entries]
    names = [significant_words(group.name) for group in intent.tags]
    # the words of each profile, and the names of the tags that the company has
    words_of = [
        profile_words(entry.company).union(*(name for name, share in zip(names, own, strict=True) if share))
        for entry, own in zip(entries, filed, strict=True)
    ]
    holders = Counter(word for own in words_of for word in own)
    weights = {word: math.log(1 + len(entries) / (0.5 + holders[word])) for word in intent.words}
    rarity = _rarity([entry.company for entry in entries if seed is not None])
    evidence: list[Evidence] = []
    for entry, own_words, shares in zip(entries, words_of, filed, strict=True):
        covered = own_words & weights.keys()
        groups = tuple(group for group, share in zip(intent.tags, shares, strict=True) if share)
        share = sum(weights[word] for word in covered) / sum(weights.values()) if weights else 0.0
        low, high = scales.meaning
        meaning = min(1.0, max(0.0, (entry.candidate.semantic - low) / (high - low)))
        values = {"name": entry.name_score}
        if seed is not None:
            overlap = _overlap(entry.company, seed, rarity, scales)
            values |= {"like": 1.0, "like words": share, "like tags": overlap, "like meaning": meaning}
        else:
            tags = sum(shares) / max(1, len(intent.tags))
            missed = sum(group.is_demanded and group not in groups for group in intent.tags)
            values |= {
                "always": 1.0,
                "meaning": meaning,
                "words": share,
                "tags": tags,
                "missed": float(missed),
                "conditions": float(bool(intent.demands)),
            }
            values |= {"plain": 1.0, "plain tags": tags, "plain meaning": meaning} if intent.is_plain else {}
        evidence.append(Evidence(covered, groups, values))
    return evidence


def evidence_of_all(evidence: Sequence[Mapping[str, float]], weights: Fitted, absent_share: float) -> dict[str, float]:
    """What speaks for any company found being what the question seeks. `absent_share`: the share of its words that no profile
    has.
    """
    best = max((chance_of(weights.fits, values) for values in evidence), default=0.0)
    meaning = max((values.get("meaning", values.get("like meaning", 0.0)) for values in evidence), default=0.0)
    return {
        "always": 1.0,
        "best": math.log((best + 1e-6) / (1 - best + 1e-6)),
        "meaning": meaning,
        "unheard": absent_share,
    }


def is_answered(
    entries: Sequence[Entry], intent: CompanyIntent, seed: Company | None, absent_share: float, *, by_meaning: bool
) -> bool:
    """Whether any of the companies found is likely what the question seeks. By words alone, none is that lacks one of them."""
    if not by_meaning:
        return not absent_share
    weights = fitted_for(by_meaning=True)
    evidence = [each.values for each in evidence_for(entries, intent, seed)]
    return chance_of(weights.answered, evidence_of_all(evidence, weights, absent_share)) >= weights.refused_below


def rerank_by_rule(
    entries: Sequence[Entry], intent: CompanyIntent, seed: Company | None, *, by_meaning: bool
) -> Reranking:
    """The companies whose chances are near the best, best first. The caller decides whether that is enough."""
    weights = fitted_for(by_meaning=by_meaning)
    # where nothing but conditions is asked, all candidates meet all
    is_open = bool(intent.topic or seed)
    judged = [
        (entry, each, min(CONFIDENCE_MAX, chance_of(weights.fits, each.values)) if is_open else CONFIDENCE_MAX)
        for entry, each in zip(entries, evidence_for(entries, intent, seed), strict=True)
    ]
    judged.sort(key=lambda each: (-each[2], -each[0].score, each[0].company.id))
    best = judged[0][2] if judged else 0.0
    near = [each for each in judged if each[2] >= weights.near_share * best]
    return Reranking(
        confidence=round(best, 3),
        ranked_company_ids=[entry.company.id for entry, *_ in near],
        per_company=[
            RankedCompany(
                company_id=entry.company.id,
                reason=_reason(entry.company, evidence, seed),
                inline_description=inline_description(entry.company),
                evidence_chips=list(_chips(entry.company, evidence, intent, seed))[:EVIDENCE_CHIPS_MAX],
                confidence=round(chance, 3),
            )
            for entry, evidence, chance in near
        ],
    )


def _filed(company: Company, group: TagGroup, scales: Scales) -> float:
    """How well a company fits a group of tags: 1, less for a sector that is not its first, 0 if it has none."""
    tags = {"category": company.categories, "business_model": company.business_models, "niche": company.niches}
    if any(group.values(facet) & {*values} for facet, values in tags.items()):
        return 1.0
    sectors = group.values("sector")
    places = [place for place, sector in enumerate(company.sectors) if sector in sectors]
    return 0.0 if not places else 1.0 if places[0] == 0 else scales.later_sector


def _rarity(companies: Iterable[Company]) -> Callable[[str], float]:
    """The weight of a tag or a word of a niche: rare ones among the companies weigh more."""
    tags = [{*each.sectors, *each.categories, *significant_words(" ".join(each.niches))} for each in companies]
    holders = Counter(name for names in tags for name in names)
    return lambda name: math.log(1 + len(tags) / (0.5 + holders[name]))


def _overlap(company: Company, seed: Company, rarity: Callable[[str], float], scales: Scales) -> float:
    """How much of the seed's tags and niches a company shares."""
    niches, seed_niches = (significant_words(" ".join(each.niches)) for each in (company, seed))
    shared = (
        _share(company.categories, seed.categories, rarity),
        _share(company.sectors, seed.sectors, rarity),
        _share(niches, seed_niches, rarity),
    )
    return sum(weight * share for weight, share in zip(scales.shared_tags, shared, strict=True))


def _share(values: Collection[str], of: Collection[str], rarity: Callable[[str], float]) -> float:
    whole = sum(rarity(name) for name in set(of))
    return sum(rarity(name) for name in set(values) & set(of)) / whole if whole else 0.0


def _reason(company: Company, evidence: Evidence, seed: Company | None) -> str:
    if seed is not None:
        shared = [name for name in company.categories if name in seed.categories]
        if shared:
            [best] = snippets(company, significant_words(seed.tagline or ""), 1)
            return gettext("Also in {names}: {text}", names=listed_label(shared, is_choice=False), text=best)
    [best] = snippets(company, evidence.covered, 1) or [""]
    return best or gettext("Filed under {names}.", names=", ".join(company.categories))


def _chips(company: Company, evidence: Evidence, intent: CompanyIntent, seed: Company | None) -> Iterator[str]:
    """Short labels of what the company has of what the question asks."""
    tags = {*company.sectors, *company.categories, *company.business_models, *company.niches}
    mentioned = (str(value) for group in evidence.groups for each in group.conditions for value in each.scalars)
    yield from dict.fromkeys(value for value in mentioned if value in tags)
    fields = {each.field for each in comparisons_of(intent.demands)}
    if fields & {"city", "country"} and home(company):
        yield home(company)
    if "funding_stage" in fields and company.funding_stage:
        yield gettext(STAGE_LABELS[company.funding_stage])
    if "founded_year" in fields and company.founded_year:
        yield gettext("Founded {year}", year=company.founded_year)
    if "employees" in fields and company.employee_count:
        yield ngettext("{number} employee", "{number} employees", company.employee_count)
    # the niches that share a word with the question or the seed; else the first niche
    stems = set(evidence.covered) | (set(significant_words(" ".join(seed.niches))) if seed else set())
    near = [niche for niche in company.niches if stems & set(significant_words(niche))]
    yield from near or company.niches[:1]
