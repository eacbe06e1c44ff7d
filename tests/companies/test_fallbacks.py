"""What is decided without a model: plans, rankings, critiques, the text of an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.companies.fallback_ranking import rerank_by_rule
from quarry.companies.fallbacks import critique_by_rule, plan_by_rule, seed_variants
from quarry.companies.outputs import VARIANTS_PLANNED_MAX
from quarry.companies.prompts import CritiqueInputs, PlanInputs, RerankInputs, SummaryEntry, SummaryInputs
from quarry.companies.query import Sought
from quarry.companies.ranking import NEAR_SHARE, Entry
from quarry.companies.snippets import facts, inline_description, snippets
from quarry.companies.summary import nothing_found, portrait, summary_by_rule
from quarry.query.algebra import Comparison
from tests.companies.asking import seeking
from tests.companies.factories import company, entry, plan

QUESTIONS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=100)

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


INSURTECH = {"insurtech": ("sector", "Insurance")}
FARMING = {"farming": ("sector", "Food & Agriculture")}


def planned(sought: Sought, *, named: bool = False, **inputs: Any) -> Any:
    return plan_by_rule(PlanInputs(sought.question, **inputs), sought, named=named)


def ranked(sought: Sought | str, *entries: Entry, seed: Any = None) -> Any:
    sought = seeking(sought) if isinstance(sought, str) else sought
    return rerank_by_rule(RerankInputs(sought.question, plan(sought.question), entries, seed), sought)


class TestPlan:
    def test_a_field_is_looked_up_in_the_taxonomy_first(self) -> None:
        made = planned(replace(seeking("insurtech", tags=INSURTECH), count=3))
        assert (made.intent, made.target_result_count) == ("discover", 3)
        assert made.search_priority_order == ["taxonomy", "hybrid", "keyword"]
        assert made.filters.sectors == ["Insurance"]
        assert made.query_variants == ["insurtech", "Insurance"]

    def test_a_description_is_searched_for_in_its_own_words_and_without_the_small_ones(self) -> None:
        made = planned(seeking("pulls weeds out of the beets of a grower"))
        assert made.search_priority_order == ["hybrid", "keyword"]
        assert made.query_variants == ["pulls weeds out of the beets of a grower", "pulls weeds beets grower"]

    def test_a_tag_for_whom_companies_work_is_looked_up_behind_the_words(self) -> None:
        made = planned(seeking("herbicide for farming", tags=FARMING))
        assert made.filters.sectors == ["Food & Agriculture"]
        assert made.search_priority_order == ["hybrid", "keyword", "taxonomy"]

    def test_a_likely_name_is_looked_for(self) -> None:
        made = planned(seeking("Weedr"), named=True)
        assert (made.intent, made.search_priority_order[0]) == ("find_company", "exact_name")

    def test_a_seed_company_is_searched_for_by_its_profile_without_its_name(self) -> None:
        made = planned(seeking(), seed=WEEDER)
        assert made.query_variants == seed_variants(WEEDER)
        assert not any("Weeder" in variant for variant in made.query_variants)
        assert made.filters.niches == ["robotic weeding"]

    @given(QUESTIONS)
    def test_any_topic_has_a_plan(self, topic: str) -> None:
        made = planned(seeking(topic))
        assert 1 <= len(made.query_variants) <= VARIANTS_PLANNED_MAX
        assert 1 <= made.target_result_count <= 20


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

    def test_a_first_sector_counts_more_than_a_second(self) -> None:
        made = ranked(seeking("farming", tags=FARMING), entry(BANK, semantic=0.4), entry(MILKER, semantic=0.4))
        assert made.ranked_company_ids == ["c-milker", "c-bank"]

    def test_a_near_name_carries_its_company(self) -> None:
        made = ranked("Weedr", entry(WEEDER, name_score=0.7), entry(BANK))
        assert made.ranked_company_ids == ["c-weeder"]

    def test_others_like_a_seed_company_share_what_it_is_filed_under(self) -> None:
        seed = company(
            "c-seed",
            "Seed",
            categories=["Agricultural Robotics"],
            sectors=["Food & Agriculture"],
            niches=["weeding"],
        )
        made = ranked(
            "", entry(WEEDER, semantic=0.5), entry(MILKER, semantic=0.5), entry(BANK, semantic=0.5), seed=seed
        )
        assert made.ranked_company_ids[0] == "c-weeder"
        assert made.per_company[0].reason.startswith("Also in Agricultural Robotics: ")

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

    def test_where_nothing_is_known_nobody_is_likely(self) -> None:
        assert ranked("asteroids", entry(BANK)).confidence < 0.1
        empty = ranked("asteroids")
        assert (empty.ranked_company_ids, empty.confidence) == ([], 0.0)

    @given(
        QUESTIONS,
        st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1)), max_size=4),
    )
    def test_any_evidence_gives_a_ranking_in_order(
        self, question: str, signals: list[tuple[float, float, float]]
    ) -> None:
        companies = [WEEDER, MILKER, BANK, company("c-4")]
        entries = [
            entry(each, semantic=semantic, combined=combined, name_score=name)
            for each, (semantic, combined, name) in zip(companies, signals, strict=False)
        ]
        made = ranked(question, *entries)
        confidences = [each.confidence for each in made.per_company]
        assert confidences == sorted(confidences, reverse=True)
        assert all(NEAR_SHARE * made.confidence <= value + 0.001 <= 0.951 for value in confidences)
        assert [each.company_id for each in made.per_company] == made.ranked_company_ids
        assert len(set(made.ranked_company_ids)) == len(made.ranked_company_ids) <= len(entries)

    @given(st.floats(0, 0.9), st.floats(0, 0.9))
    def test_the_nearer_in_meaning_the_surer(self, one: float, other: float) -> None:
        def confidence(similarity: float) -> float:
            return float(ranked("pulling weeds from beets", entry(WEEDER, semantic=similarity)).confidence)

        assert (confidence(one) <= confidence(other)) or one >= other


class TestCritique:
    def inputs(self, question: str, confidence: float, tried: tuple[str, ...]) -> CritiqueInputs:
        return CritiqueInputs(
            question, plan(question), 1, 1, [entry(WEEDER)], confidence, 0.74, (), ["c-weeder"], tried
        )

    def test_it_stops_when_the_ranking_is_sure(self) -> None:
        made = critique_by_rule(self.inputs("weeds in insurance", 0.8, ()), seeking("weeds in insurance"))
        assert (made.decision, made.confidence_target_met, made.new_query_variants) == ("stop", True, [])

    def test_it_goes_on_with_what_was_not_tried_until_nothing_is_left(self) -> None:
        topic = "weeds in car insurance"
        sought = seeking(topic, tags={"car insurance": ("category", "Auto Insurance")})
        made = critique_by_rule(self.inputs(topic, 0.4, (topic,)), sought)
        assert (made.decision, made.new_query_variants) == ("continue", ["Auto Insurance"])
        made = critique_by_rule(self.inputs(topic, 0.4, (topic, "auto insurance")), sought)
        assert (made.decision, made.confidence_target_met) == ("stop", False)


class TestText:
    def text(self, *companies: Any, **inputs: Any) -> str:
        confidence = inputs.pop("confidence", 0.9)
        entries = [SummaryEntry(each, "Because.", confidence) for each in companies]
        return "".join(summary_by_rule(SummaryInputs("weeds", entries, **inputs)))

    def test_it_names_the_best_the_others_and_what_they_share(self) -> None:
        assert self.text(WEEDER, MILKER, BANK) == (
            "Weeder fits best: Weeds, pulled by robots. Milker and Bank fit too. All are in Food & Agriculture."
        )

    def test_it_counts_those_it_does_not_name(self) -> None:
        many = [company(f"c-{number}", f"Firm {number}") for number in range(9)]
        assert "and 5 more fit too." in self.text(WEEDER, *many)

    def test_it_says_when_the_match_is_not_sure_and_what_was_not_heard_of(self) -> None:
        text = self.text(WEEDER, confidence=0.4, unheard=["moon", "mars"])
        assert text.endswith("It is not a sure match: no profile here speaks of “moon” or “mars”.")
        assert "sure match" not in self.text(WEEDER)

    def test_it_says_what_the_best_is_like(self) -> None:
        assert self.text(WEEDER, seed=MILKER).startswith("Weeder is the most like Milker: ")

    def test_it_tells_companies_of_one_name_apart(self) -> None:
        text = self.text(WEEDER, BANK, exact=True, ambiguous=True)
        assert text.startswith("2 companies go by this name. Weeder is a startup, from Leeds, United Kingdom")

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"status": "acquired", "acquirer": "Big Co"}, "Name was acquired by Big Co."),
            ({"status": "closed", "closed_year": 2023}, "Name closed in 2023."),
            ({"status": "closed"}, "Name has closed."),
            ({"status": "public", "founded_year": 2001}, "Name is a public company, founded in 2001."),
            ({"founded_year": 2001, "founders": ["Ida Moe", "Ole Ra"]}, "founded in 2001 by Ida Moe and Ole Ra"),
            ({"founders": ["Ida Moe"]}, "founded by Ida Moe"),
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

    def test_where_nothing_fits_the_words_of_no_profile_are_named_and_what_is_near_in_meaning(self) -> None:
        assert nothing_found(SummaryInputs("moon weeds", [], unheard=["moon"], near=[(WEEDER, []), (MILKER, [])])) == (
            "No company here fits this question. No profile here speaks of “moon”. The nearest in meaning are Weeder; Milker."
        )


class TestSnippets:
    def test_the_sentences_that_speak_to_the_question_come_first(self) -> None:
        assert snippets(WEEDER, {"herbicid"}) == [
            "Weeder pulls weeds from beets without herbicide.",
            "Weeds, pulled by robots",
        ]
        assert snippets(WEEDER, set()) == [
            "Weeds, pulled by robots",
            "Weeder pulls weeds from beets without herbicide.",
        ]

    def test_they_are_short_and_few(self) -> None:
        long = company(description=" ".join(f"Sentence {number} {'word ' * 60}." for number in range(9)))
        assert len(snippets(long, {"word"})) == 2
        assert all(len(snippet) <= 220 for snippet in snippets(long, {"word"}))

    def test_a_company_without_texts_has_none(self) -> None:
        assert snippets(company(), {"word"}) == []
        assert inline_description(company()) == ""
        assert inline_description(company(niches=["a", "b"])) == "a, b"

    def test_only_what_is_known_is_a_fact(self) -> None:
        assert facts(company()) == {"status": "startup"}
        assert facts(WEEDER)["home"] == "Leeds, United Kingdom"
        assert facts(WEEDER)["fundingStage"] == "Seed"
