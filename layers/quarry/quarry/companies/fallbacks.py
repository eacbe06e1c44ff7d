"""What stands in for a model, from the same inputs: the plan, the ranking, the critique and the text. Pure."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from quarry.companies.candidates import (
    STAGE_LABELS,
    Entry,
    distinct,
    home,
    inline_description,
    profile_words,
    snippets,
    with_former_names,
)
from quarry.companies.contract import EVIDENCE_CHIPS_MAX, Company
from quarry.companies.intent import CompanyIntent, TagGroup
from quarry.companies.prompts import (
    VARIANTS_PLANNED_MAX,
    CompanyPlan,
    PlanFilters,
    RankedCompany,
    Reranking,
    RerankInputs,
    Search,
    SummaryEntry,
    SummaryInputs,
)
from quarry.language.messages import gettext, gettext_noop, ngettext, pgettext
from quarry.language.writing import listed_label
from quarry.platform.text import significant_words, topic_text
from quarry.reader.features import chance_of
from quarry.schema.algebra import comparisons_of

TARGET_COUNT = 10
LONG_TOPIC = 240
"""Topics with more characters are searched for in one phrasing, since another would hardly differ."""


def plan_by_rule(question: str, intent: CompanyIntent, seed: Company | None, *, named: bool) -> CompanyPlan:
    """A plan from what the question seeks. `named`: the question is similar to the name of a company."""
    topic = intent.topic
    return CompanyPlan(
        intent="find_company" if named else "discover",
        target_result_count=intent.count or TARGET_COUNT,
        query_variants=_variants(intent, seed) or [question],
        search_priority_order=_searches(intent, named=named, has_tags=bool(intent.tags or seed)),
        filters=PlanFilters(
            sectors=_names(intent, "sector"),
            categories=_names(intent, "category"),
            business_models=_names(intent, "business_model"),
        ),
        success_criteria=f"Companies about: {topic}" if topic else "Companies that meet the demands",
    )


def _searches(intent: CompanyIntent, *, named: bool, has_tags: bool) -> list[Search]:
    searches: list[Search] = ["exact_name"] if named else []
    searches += ["taxonomy"] if intent.is_plain else []
    searches += ["hybrid", "keyword"]
    return searches + (["taxonomy"] if has_tags and not intent.is_plain else [])


def _variants(intent: CompanyIntent, seed: Company | None) -> list[str]:
    topic = intent.topic
    if seed is not None:
        wished = [f"{topic}: {', '.join(seed.niches)}"] if topic else []
        return [*wished, *seed_variants(seed)][:VARIANTS_PLANNED_MAX]
    tags = [str(value) for group in intent.tags for each in group.conditions for value in each.scalars]
    is_short = topic and len(topic) < LONG_TOPIC
    return distinct([topic, topic_text(topic) if is_short else "", ", ".join(tags) if intent.is_plain else ""])[
        :VARIANTS_PLANNED_MAX
    ]


def seed_variants(seed: Company) -> list[str]:
    """Phrasings of what a company does, from its profile, without its name."""
    texts = (", ".join(seed.niches), seed.tagline, seed.product_description, seed.problem_solved, seed.target_customer)
    return distinct(unnamed(text, seed) for text in texts if text)[:VARIANTS_PLANNED_MAX]


def unnamed(text: str, seed: Company) -> str:
    """`text` without the company's name."""
    for name in (seed.company_name, *seed.former_names):
        text = text.replace(name, " ")
    return " ".join(text.split())


def _names(intent: CompanyIntent, facet: str) -> list[str]:
    return list(dict.fromkeys(value for group in intent.tags for value in sorted(group.values(facet))))


# ---- the ranking ----

WEIGHTS_FILE = "ranking.json"
"""Written by `tools/fit/companies`."""
MEANING_RANGE = (0.25, 0.65)
"""The cosine similarities that count as 0 and as 1."""
SECOND_SECTOR = 0.6
"""The weight of a sector that is not the company's first."""
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


@cache
def _all_fitted() -> Mapping[bool, Fitted]:
    text = (files("quarry.companies") / "weights" / WEIGHTS_FILE).read_text(encoding="utf-8")
    read: dict[str, dict[str, Any]] = json.loads(text)
    return {name == "meaning": Fitted(**each) for name, each in read.items()}


def fitted_for(*, by_meaning: bool) -> Fitted:
    """The weights for candidates that were compared in meaning too, or by words alone."""
    return _all_fitted()[by_meaning]


@dataclass(frozen=True)
class Evidence:
    """What speaks for a company: the words and tags of the question that it has, and the values of the regression."""

    covered: frozenset[str]
    groups: tuple[TagGroup, ...]
    values: Mapping[str, float]


def evidence_for(entries: Sequence[Entry], intent: CompanyIntent, seed: Company | None) -> list[Evidence]:
    """What speaks for each candidate. Words that few of them have weigh more."""
    words_of = [_company_words(entry.company, intent) for entry in entries]
    holders = Counter(word for held in words_of for word in held)
    weights = {word: math.log(1 + len(entries) / (0.5 + holders[word])) for word in intent.words}
    rarity = _rarity(entry.company for entry in entries)
    found: list[Evidence] = []
    for entry, held in zip(entries, words_of, strict=True):
        covered = held & weights.keys()
        groups = tuple(group for group in intent.tags if _filed(entry.company, group))
        share = sum(weights[word] for word in covered) / sum(weights.values()) if weights else 0.0
        low, high = MEANING_RANGE
        meaning = min(1.0, max(0.0, (entry.candidate.semantic - low) / (high - low)))
        values = {"name": entry.name_score}
        if seed is not None:
            overlap = _overlap(entry.company, seed, rarity)
            values |= {"like": 1.0, "like words": share, "like tags": overlap, "like meaning": meaning}
        else:
            tags = sum(_filed(entry.company, group) for group in intent.tags) / max(1, len(intent.tags))
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
        found.append(Evidence(covered, groups, values))
    return found


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


def rerank_by_rule(inputs: RerankInputs, intent: CompanyIntent, *, by_meaning: bool) -> Reranking:
    """The companies whose chances are near the best, best first. The caller decides whether that is enough."""
    weights = fitted_for(by_meaning=by_meaning)
    # where nothing but conditions is asked, all candidates meet all
    is_open = bool(intent.topic or inputs.seed)
    judged = [
        (entry, each, min(CONFIDENCE_MAX, chance_of(weights.fits, each.values)) if is_open else CONFIDENCE_MAX)
        for entry, each in zip(inputs.entries, evidence_for(inputs.entries, intent, inputs.seed), strict=True)
    ]
    judged.sort(key=lambda each: (-each[2], -each[0].score, each[0].company.id))
    best = judged[0][2] if judged else 0.0
    kept = [each for each in judged if each[2] >= weights.near_share * best]
    return Reranking(
        confidence=round(best, 3),
        ranked_company_ids=[entry.company.id for entry, *_ in kept],
        per_company=[_described(entry, evidence, chance, inputs, intent) for entry, evidence, chance in kept],
    )


def _company_words(company: Company, intent: CompanyIntent) -> frozenset[str]:
    """The words of a profile, and the names of the tags that the company has."""
    names = (group.name for group in intent.tags if _filed(company, group))
    return profile_words(company).union(*(significant_words(name) for name in names))


def _filed(company: Company, group: TagGroup) -> float:
    """How well a company fits a group of tags: 1, less for a sector that is not its first, 0 if it has none."""
    held = {"category": company.categories, "business_model": company.business_models, "niche": company.niches}
    if any(group.values(facet) & {*values} for facet, values in held.items()):
        return 1.0
    sectors = group.values("sector")
    places = [place for place, sector in enumerate(company.sectors) if sector in sectors]
    return 0.0 if not places else 1.0 if places[0] == 0 else SECOND_SECTOR


def _rarity(companies: Iterable[Company]) -> Callable[[str], float]:
    """The weight of a tag or a word of a niche: rare ones among the companies weigh more."""
    held = [{*each.sectors, *each.categories, *significant_words(" ".join(each.niches))} for each in companies]
    holders = Counter(name for names in held for name in names)
    return lambda name: math.log(1 + len(held) / (0.5 + holders[name]))


def _overlap(company: Company, seed: Company, rarity: Callable[[str], float]) -> float:
    """How much of the seed's tags and niches a company shares."""
    words, of = significant_words(" ".join(company.niches)), significant_words(" ".join(seed.niches))
    categories = _share(company.categories, seed.categories, rarity)
    sectors = _share(company.sectors, seed.sectors, rarity)
    return 0.6 * categories + 0.2 * sectors + 0.2 * min(1.0, 2 * _share(words, of, rarity))


def _share(values: Collection[str], of: Collection[str], rarity: Callable[[str], float]) -> float:
    whole = sum(rarity(name) for name in set(of))
    return sum(rarity(name) for name in set(values) & set(of)) / whole if whole else 0.0


def _described(
    entry: Entry, evidence: Evidence, chance: float, inputs: RerankInputs, intent: CompanyIntent
) -> RankedCompany:
    company = entry.company
    return RankedCompany(
        company_id=company.id,
        reason=_reason(entry, evidence, inputs),
        inline_description=inline_description(company),
        evidence_chips=list(_chips(entry, evidence, inputs, intent))[:EVIDENCE_CHIPS_MAX],
        confidence=round(chance, 3),
    )


def _reason(entry: Entry, evidence: Evidence, inputs: RerankInputs) -> str:
    company = entry.company
    if inputs.seed is not None:
        shared = [name for name in company.categories if name in inputs.seed.categories]
        if shared:
            [said, *_] = snippets(company, significant_words(inputs.seed.tagline or ""), 1)
            return gettext("Also in {names}: {text}", names=listed_label(shared, is_choice=False), text=said)
    [best] = snippets(company, evidence.covered, 1) or [""]
    return best or gettext("Filed under {names}.", names=", ".join(company.categories))


def _chips(entry: Entry, evidence: Evidence, inputs: RerankInputs, intent: CompanyIntent) -> Iterator[str]:
    """Short labels of what the company has of what the question asks."""
    company = entry.company
    filed = {*company.sectors, *company.categories, *company.business_models, *company.niches}
    named = (str(value) for group in evidence.groups for each in group.conditions for value in each.scalars)
    yield from dict.fromkeys(value for value in named if value in filed)
    fields = {each.field for each in comparisons_of(intent.demands)}
    if fields & {"city", "country"} and home(company):
        yield home(company)
    if "funding_stage" in fields and company.funding_stage:
        yield gettext(STAGE_LABELS[company.funding_stage])
    if "founded_year" in fields and company.founded_year:
        yield gettext("Founded {year}", year=company.founded_year)
    if "employees" in fields and company.employee_count:
        yield ngettext("{number} employee", "{number} employees", company.employee_count)
    yield from _near_niches(company, evidence.covered, inputs.seed)


def _near_niches(company: Company, covered: frozenset[str], seed: Company | None) -> Iterator[str]:
    """The niches that share a word with the question or the seed; else the first niche."""
    wanted = set(covered) | (set(significant_words(" ".join(seed.niches))) if seed else set())
    near = [niche for niche in company.niches if wanted & set(significant_words(niche))]
    yield from near or company.niches[:1]


# ---- the text ----

NAMED_MAX = 4
SURE = 0.4
"""From this confidence on, the first company was right in 87 of 100 questions of sets that the weights were not fitted to."""
ABSENT_MAX = 3


def only_startups() -> str:
    """That no company of another status was searched."""
    return gettext("Only startups were searched.")


def cut_short() -> str:
    """What ends an answer of a search that its limits ended."""
    return "\n\n" + gettext("The search was cut short by its limits: there may be others that fit, or fit better.")


def broken_off() -> str:
    """What stands where a model's answer ends too early, before what the profiles say."""
    return "\n\n" + gettext("The answer broke off here. From the profiles themselves:") + " "


def summary_by_rule(inputs: SummaryInputs) -> Iterator[str]:
    """The sentences of the answer, one by one."""
    if not inputs.entries:
        yield nothing_found(inputs)
        return
    if inputs.exact:
        yield from _named_outright(inputs.entries, ambiguous=inputs.ambiguous)
        return
    for sentence in inputs.missing:
        yield f"{sentence[0].upper()}{sentence[1:]}. "
    best, *others = inputs.entries
    yield _lead(inputs, best)
    for sentence in _others(others):
        yield f" {sentence}"
    if shared := _shared(inputs.entries):
        yield f" {shared}"
    if not _fits(best):
        yield f" {_doubt(inputs)}"
    if inputs.only_startups:
        yield f" {only_startups()}"


def nothing_found(inputs: SummaryInputs) -> str:
    """Says that no company fits, what each condition rules out, and which companies come near."""
    # where a word alone rules them out, there may be companies that meet each condition
    demands = [] if inputs.absent_words else inputs.demands
    if demands:
        said = (
            gettext_noop("None of these companies fits this question and all that it demands: {demands}.")
            if inputs.cut_short
            else gettext_noop("No company here fits this question and all that it demands: {demands}.")
        )
        text = gettext(said, demands="; ".join(demands))
    elif inputs.cut_short:
        text = gettext("None of these companies fits this question.")
    else:
        text = gettext("No company here fits this question.")
    missing = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in inputs.missing]
    costs = [
        ngettext("“{label}”, {number} company is left", "“{label}”, {number} companies are left", rows, label=label)
        for label, rows in inputs.relaxations
        if rows
    ]
    if costs and demands:
        missing.append(gettext("Without {costs}.", costs=gettext("; without ").join(costs)))
    if inputs.absent_words:
        said = _no_profile_mentions(inputs.absent_words)
        missing.append(f"{said[:1].upper()}{said[1:]}.")
    text = " ".join([text, *missing, *([only_startups()] if inputs.only_startups else [])])
    if inputs.near:
        near = [
            f"{company.company_name} ({'; '.join(map(_unmet, unmet))})" if unmet else company.company_name
            for company, unmet in inputs.near
        ]
        nearest = gettext("The nearest are {names}.", names="; ".join(near))
        return f"{text} {nearest}"
    return " ".join([text, gettext("Other words, or fewer, may find one.")])


def _unmet(label: str) -> str:
    """The opposite of a label: "not in Germany" for "in Germany", and the reverse."""
    if label.startswith(gettext("“{text}”", text="")[:1]):
        return gettext("no word of {label}", label=label)
    denied = pgettext("not_said", "not {condition}", condition="")
    return label.removeprefix(denied) if label.startswith(denied) else f"{denied}{label}"


def _named_outright(entries: Sequence[SummaryEntry], *, ambiguous: bool) -> Iterator[str]:
    if ambiguous:
        text = ngettext("{number} company has this name.", "{number} companies have this name.", len(entries))
        yield f"{text} "
    for place, entry in enumerate(entries):
        yield f"{' ' if place else ''}{portrait(entry.company)}"


def portrait(company: Company) -> str:
    """A company in two or three sentences: status, place, what it does, and former names."""
    known = [
        _state(company),
        gettext("from {place}", place=home(company)) if home(company) else "",
        _founding(company),
        ngettext("with {number} employee", "with {number} employees", company.employee_count)
        if company.employee_count
        else "",
        gettext("at the stage {stage}", stage=gettext(STAGE_LABELS[company.funding_stage]))
        if company.funding_stage
        else "",
    ]
    sentences = [
        f"{company.company_name} {', '.join(part for part in known if part)}.",
        inline_description(company).rstrip("."),
    ]
    if sentences[1]:
        sentences[1] += "."
    former = (
        [gettext("Formerly {names}.", names=listed_label(company.former_names, is_choice=False))]
        if company.former_names
        else []
    )
    return " ".join(sentence for sentence in [*sentences, *former] if sentence)


def _founding(company: Company) -> str:
    names = listed_label(company.founders, is_choice=False)
    if company.founded_year and names:
        return gettext("founded in {year} by {names}", year=company.founded_year, names=names)
    if company.founded_year:
        return gettext("founded in {year}", year=company.founded_year)
    return gettext("founded by {names}", names=names) if names else ""


def _state(company: Company) -> str:
    match company.status:
        case "startup":
            return gettext("is a startup")
        case "public":
            return gettext("is a public company")
        case "acquired":
            if company.acquirer:
                return gettext("was acquired by {name}", name=company.acquirer)
            return gettext("was acquired")
        case "closed":
            if company.closed_year:
                return gettext("closed in {year}", year=company.closed_year)
            return gettext("has closed")


def _lead(inputs: SummaryInputs, best: SummaryEntry) -> str:
    company = best.company
    line = inline_description(company).rstrip(".")
    if inputs.seed:
        names = {"name": company.company_name, "seed": with_former_names(inputs.seed)}
        return gettext("{name} is the most like {seed}: {line}.", line=line, **names)
    if _fits(best):
        return gettext("{name} fits best: {line}.", name=company.company_name, line=line)
    return gettext("{name} comes nearest: {line}.", name=company.company_name, line=line)


def _fits(entry: SummaryEntry) -> bool:
    return entry.confidence >= SURE


def _doubt(inputs: SummaryInputs) -> str:
    """Says that the match is unsure, and which words of the question no profile contains."""
    text = gettext("None of them is a sure match") if len(inputs.entries) > 1 else gettext("It is not a sure match")
    if inputs.absent_words and not inputs.seed:
        return gettext("{text}: {reason}.", text=text, reason=_no_profile_mentions(inputs.absent_words))
    return gettext("{text}; other words may find a better one.", text=text)


def _no_profile_mentions(words: Sequence[str]) -> str:
    named = listed_label([gettext("“{text}”", text=word) for word in words[:ABSENT_MAX]])
    return gettext("no profile here mentions {words}", words=named)


def _others(others: Sequence[SummaryEntry]) -> Iterator[str]:
    """Names the others: those that fit, and those that only come near."""
    if names := [entry.company.company_name for entry in others if _fits(entry)]:
        yield ngettext("{names} fits too.", "{names} fit too.", len(names), names=_listed(names))
    if names := [entry.company.company_name for entry in others if not _fits(entry)]:
        yield ngettext("{names} comes near too.", "{names} come near too.", len(names), names=_listed(names))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED_MAX
    shown = [*names[:NAMED_MAX], *([gettext("{number} more", number=more)] if more > 0 else [])]
    return listed_label(shown, is_choice=False)


def _shared(entries: Sequence[SummaryEntry]) -> str:
    """The sector that most of the companies share; empty if there is none."""
    if len(entries) < 2:
        return ""
    [(sector, count), *_] = Counter(name for entry in entries for name in entry.company.sectors).most_common(1) or [
        ("", 0)
    ]
    if count == len(entries):
        return gettext("All are in {sector}.", sector=sector)
    if count <= len(entries) / 2:
        return ""
    return gettext("{number} of the {all} are in {sector}.", number=count, all=len(entries), sector=sector)
