"""The plan and the critique of a search without a model. Pure."""

from __future__ import annotations

from quarry.companies.contract import Company
from quarry.companies.outputs import (
    VARIANTS_PLANNED_MAX,
    CompanyPlan,
    Critique,
    PlanFilters,
    Search,
)
from quarry.companies.prompts import CritiqueInputs, PlanInputs
from quarry.companies.query import CompanyIntent
from quarry.companies.ranking import distinct
from quarry.platform.text import topic_text

TARGET_COUNT = 10
LONG_TOPIC = 240
"""Topics with more characters are searched for in one phrasing, since another would hardly differ."""


def plan_by_rule(inputs: PlanInputs, intent: CompanyIntent, *, named: bool) -> CompanyPlan:
    """A plan from what the question seeks. `named`: the question is similar to the name of a company."""
    topic = intent.topic
    return CompanyPlan(
        intent="find_company" if named else "discover",
        target_result_count=intent.count or TARGET_COUNT,
        query_variants=_variants(inputs, intent) or [inputs.question],
        search_priority_order=_searches(intent, named=named, has_tags=bool(intent.tags or inputs.seed)),
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


def _variants(inputs: PlanInputs, intent: CompanyIntent) -> list[str]:
    topic = intent.topic
    if inputs.seed is not None:
        wished = [f"{topic}: {', '.join(inputs.seed.niches)}"] if topic else []
        return [*wished, *seed_variants(inputs.seed)][:VARIANTS_PLANNED_MAX]
    tags = _tags(intent)
    is_short = topic and len(topic) < LONG_TOPIC
    return distinct([topic, topic_text(topic) if is_short else "", ", ".join(tags) if intent.is_plain else ""])[
        :VARIANTS_PLANNED_MAX
    ]


def seed_variants(seed: Company) -> list[str]:
    """Phrasings of what a company does, from its profile, without its name."""
    texts = (
        ", ".join(seed.niches),
        seed.tagline,
        seed.product_description,
        seed.problem_solved,
        seed.target_customer,
    )
    return distinct(unnamed(text, seed) for text in texts if text)[:VARIANTS_PLANNED_MAX]


def unnamed(text: str, seed: Company) -> str:
    """`text` without the company's name."""
    for name in (seed.company_name, *seed.former_names):
        text = text.replace(name, " ")
    return " ".join(text.split())


def _names(intent: CompanyIntent, facet: str) -> list[str]:
    return list(dict.fromkeys(value for group in intent.tags for value in sorted(group.values(facet))))


def critique_by_rule(inputs: CritiqueInputs) -> Critique:
    """Stop: the plan by rule has searched for all that the question says."""
    is_sure = inputs.confidence >= inputs.target
    return Critique(
        decision="stop", why="The best companies meet the question." if is_sure else "Nothing is left to try."
    )


def _tags(intent: CompanyIntent) -> list[str]:
    return [str(value) for group in intent.tags for each in group.conditions for value in each.scalars]
