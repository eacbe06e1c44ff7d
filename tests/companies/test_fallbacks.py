"""What is decided without a model: plans, rankings, critiques, the text of an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.companies.fallback_ranking import rerank_by_rule
from quarry.companies.prompts import RerankInputs, SummaryEntry, SummaryInputs
from quarry.companies.query import Sought
from quarry.companies.ranking import NEAR_SHARE, Entry
from quarry.companies.summary import nothing_found, portrait, summary_by_rule
from quarry.query.algebra import Comparison
from tests.companies.asking import seeking
from tests.companies.factories import company, entry, plan

WEEDER = company(
    "c-weeder", "Weeder", tagline="Weeds, pulled by robots", description="Weeder pulls weeds from beets without herbicide.",
    sectors=["Food & Agriculture"], categories=["Agricultural Robotics"], niches=["robotic weeding"], founded_year=2019,
    hq_city="Leeds", hq_country="United Kingdom", employee_count=40, funding_stage="seed",
)  # fmt: skip
MILKER = company(
    "c-milker", "Milker", tagline="Milk, drawn by robots", description="Milker milks cows.", sectors=["Food & Agriculture"],
    categories=["Livestock Technology"], niches=["milking robots"],
)  # fmt: skip
BANK = company(
    "c-bank",
    "Bank",
    tagline="Money, kept",
    description="A bank.",
    sectors=["Fintech", "Food & Agriculture"],
    categories=["Lending"],
)


def ranked(sought: Sought | str, *entries: Entry, seed: Any = None) -> Any:
    sought = seeking(sought) if isinstance(sought, str) else sought
    return rerank_by_rule(RerankInputs(sought.topic, plan(sought.topic), entries, seed), sought)


class TestRanking:
    def test_what_is_meant_and_said_comes_first_and_what_is_neither_is_left_out(self) -> None:
        question = "pulling weeds from beets without herbicide"
        made = ranked(question, entry(BANK, semantic=0.2), entry(MILKER, semantic=0.45), entry(WEEDER, semantic=0.6))
        assert made.ranked_company_ids[0] == "c-weeder"
        assert "c-bank" not in made.ranked_company_ids
        best = made.per_company[0]
        assert made.confidence == best.confidence > 0.74
        assert best.reason == "Weeder pulls weeds from beets without herbicide."
        assert "robotic weeding" in best.evidence_chips

    def test_chips_say_which_demands_are_met(self) -> None:
        demands = (
            Comparison(field="city", values=("Leeds",)),
            Comparison(field="founded_year", op=">", value=2010),
            Comparison(field="employees", op=">=", value=10),
            Comparison(field="funding_stage", values=("seed",)),
        )
        [said] = ranked(seeking("weeding", *demands), entry(WEEDER, semantic=0.5)).per_company
        assert {"Leeds, United Kingdom", "Seed", "Founded 2019", "40 employees"} <= set(said.evidence_chips)
        assert len(said.evidence_chips) == 5

    @given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1)), max_size=4))
    def test_any_evidence_gives_a_ranking_in_order(self, signals: list[tuple[float, float, float]]) -> None:
        companies = [WEEDER, MILKER, BANK, company("c-4")]
        entries = [
            entry(each, semantic=semantic, combined=combined, name_score=name)
            for each, (semantic, combined, name) in zip(companies, signals, strict=False)
        ]
        made = ranked("pulling weeds from beets", *entries)
        confidences = [each.confidence for each in made.per_company]
        assert confidences == sorted(confidences, reverse=True)
        assert all(NEAR_SHARE * made.confidence <= value + 0.001 <= 0.951 for value in confidences)
        assert [each.company_id for each in made.per_company] == made.ranked_company_ids
        assert len(set(made.ranked_company_ids)) == len(made.ranked_company_ids) <= len(entries)


class TestText:
    def text(self, *companies: Any, **inputs: Any) -> str:
        confidence = inputs.pop("confidence", 0.9)
        entries = [SummaryEntry(each, "Because.", confidence) for each in companies]
        return "".join(summary_by_rule(SummaryInputs("weeds", entries, **inputs)))

    def test_it_names_the_best_the_others_and_what_they_share(self) -> None:
        assert self.text(WEEDER, MILKER, BANK) == (
            "Weeder fits best: Weeds, pulled by robots. Milker and Bank fit too. All are in Food & Agriculture."
        )

    def test_it_says_when_the_match_is_not_sure_and_what_was_not_heard_of(self) -> None:
        text = self.text(WEEDER, confidence=0.4, unheard=["moon", "mars"])
        assert text.endswith("It is not a sure match: no profile here speaks of “moon” or “mars”.")
        assert "sure match" not in self.text(WEEDER)

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"status": "acquired", "acquirer": "Big Co"}, "Name was acquired by Big Co."),
            ({"status": "closed"}, "Name has closed."),
            ({"founded_year": 2001, "founders": ["Ida Moe", "Ole Ra"]}, "founded in 2001 by Ida Moe and Ole Ra"),
            ({"former_names": ["Old", "Older"]}, "Formerly Old and Older."),
        ],
    )
    def test_a_portrait_says_what_became_of_a_company(self, fields: dict[str, Any], said: str) -> None:
        assert said in portrait(company(**fields))

    def test_where_nothing_fits_demands_and_near_misses_are_named(self) -> None:
        inputs = SummaryInputs("weeds", [], demands=["in Spain", "Seed"], near=[(WEEDER, ["in Spain"])])
        text = nothing_found(inputs)
        assert text == (
            "No company here fits this question and all that it demands: in Spain; Seed. The nearest are Weeder (not in Spain)."
        )
        inputs = replace(inputs, near=[(WEEDER, ["not in Spain", "Seed"])])
        assert nothing_found(inputs).endswith(" Weeder (in Spain; not Seed).")
        assert nothing_found(SummaryInputs("weeds", [])).startswith("No company here fits this question. ")
