"""A company in a few words: the sentences of its profile that match a question, and its facts. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from quarry.companies.contract import Company, FundingStage
from quarry.language.word_forms import sentences
from quarry.platform.text import shorten, significant_words

STAGE_LABELS: dict[FundingStage, str] = {
    "bootstrapped": "Bootstrapped",
    "pre_seed": "Pre-seed",
    "seed": "Seed",
    "series_a": "Series A",
    "series_b": "Series B",
    "series_c": "Series C",
    "growth": "Growth",
    "public": "Public",
}

SNIPPETS_MAX = 2
SNIPPET_CHARACTERS_MAX = 220
INLINE_CHARACTERS_MAX = 140
TEXT_CHARACTERS_MAX = 8_000
"""Characters of each profile text that are compared."""


def snippets(company: Company, question_words: Collection[str], limit: int = SNIPPETS_MAX) -> list[str]:
    """The sentences of the profile with most of the stems `question_words`; its first ones if none has any."""
    pool = list(profile_sentences(company))
    scored = sorted(
        ((-len(set(significant_words(sentence)) & set(question_words)), place) for place, sentence in enumerate(pool)),
    )
    return [shorten(pool[place], SNIPPET_CHARACTERS_MAX) for _, place in scored[:limit]]


def inline_description(company: Company) -> str:
    """What a company does, in one line."""
    text = company.tagline or next(profile_sentences(company), "") or ", ".join(company.niches)
    return shorten(text, INLINE_CHARACTERS_MAX)


def home(company: Company) -> str:
    """The city and country of a company, as far as known."""
    return ", ".join(part for part in (company.hq_city, company.hq_country) if part)


def facts(company: Company) -> dict[str, object]:
    """The known facts about a company, apart from its texts."""
    known = {
        "status": company.status,
        "sectors": company.sectors,
        "categories": company.categories,
        "businessModels": company.business_models,
        "niches": company.niches,
        "home": home(company),
        "founded": company.founded_year,
        "employees": company.employee_count,
        "fundingStage": STAGE_LABELS[company.funding_stage] if company.funding_stage else None,
        "raisedUsd": company.total_funding_usd,
        "founders": company.founders,
        "formerNames": company.former_names,
        "acquirer": company.acquirer,
        "closed": company.closed_year,
    }
    return {name: value for name, value in known.items() if value}


def with_former_names(company: Company) -> str:
    """The present and former names of a company: "Re:Charge (formerly Voltwell)"."""
    former = f" (formerly {' and '.join(company.former_names)})" if company.former_names else ""
    return f"{company.company_name}{former}"


def profile_text(company: Company) -> str:
    """The whole profile as one text, to look words up in."""
    tags: Sequence[str] = (*company.niches, *company.categories, *company.sectors, *company.business_models)
    return " . ".join([company.company_name, *company.former_names, *_texts(company), *tags])


def profile_words(company: Company) -> frozenset[str]:
    """The stems of the significant words in a profile."""
    return _stems(profile_text(company))


# every round, and often the next search, looks at the same companies
@lru_cache(maxsize=512)
def _stems(text: str) -> frozenset[str]:
    return frozenset(significant_words(text))


def _texts(company: Company) -> Iterator[str]:
    for text in (
        company.tagline,
        company.description,
        company.product_description,
        company.problem_solved,
        company.target_customer,
        company.differentiator,
    ):
        if text:
            yield text[:TEXT_CHARACTERS_MAX]


def profile_sentences(company: Company) -> Iterator[str]:
    """The sentences of the texts of a profile."""
    for text in _texts(company):
        yield from sentences(text)
