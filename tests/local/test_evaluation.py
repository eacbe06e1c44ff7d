"""The measures of retrieval hold their laws, judged files are read strictly, and queries are summed up by kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarry.domains import DOMAINS
from quarry.local.sample import sample_directory
from quarry.records.contract import SearchRequest
from quarry.records.search import search_records
from quarry.services.services import Caller, Services
from quarry_tools.demands import Facts
from quarry_tools.evaluable import EVALUABLE, EVALUATING_USER, Evaluable, Found
from quarry_tools.evaluation import run_queries
from quarry_tools.judged import JudgedFileError, JudgedQuery, read_judged
from quarry_tools.measures import DEEP, DEPTH, FIRST, mentioned, ndcg, percentile, recall, reciprocal_rank, success
from quarry_tools.outcomes import ALL, Outcome, Part, summarise

KEYS = st.sampled_from([f"k{number}" for number in range(16)])
FOUND = st.lists(KEYS, unique=True, max_size=16)
JUDGED = st.dictionaries(KEYS, st.integers(1, 3), max_size=12)
Measure = Callable[[Sequence[str], Mapping[str, int]], float]
MEASURES: list[Measure] = [ndcg, recall, reciprocal_rank, success]

laws = settings(max_examples=80)


def best_first(relevant: Mapping[str, int]) -> list[str]:
    return sorted(relevant, key=lambda key: -relevant[key])


class TestMeasures:
    @pytest.mark.parametrize("measure", MEASURES)
    @laws
    @given(found=FOUND, relevant=JUDGED)
    def test_each_is_a_share_and_twice_the_same_key_counts_once(
        self, measure: Measure, found: list[str], relevant: dict[str, int]
    ) -> None:
        value = measure(found, relevant)
        assert 0 <= value <= 1 + 1e-12
        assert measure([key for key in found for _ in range(2)], relevant) == value

    @laws
    @given(JUDGED, FOUND)
    def test_the_best_order_of_all_that_is_relevant_is_perfect(
        self, relevant: dict[str, int], noise: list[str]
    ) -> None:
        behind = [key for key in noise if key not in relevant]
        found = best_first(relevant) + (behind if relevant else [])
        assert ndcg(found, relevant) == pytest.approx(1)
        assert reciprocal_rank(found, relevant) == success(found, relevant) == 1
        assert recall(found, relevant) == min(1, DEPTH / len(relevant) if relevant else 1)

    @laws
    @given(FOUND, JUDGED, st.data())
    def test_a_better_key_moved_forward_never_lowers_ndcg(
        self, found: list[str], relevant: dict[str, int], data: st.DataObject
    ) -> None:
        if len(found) < 2:
            return
        later = data.draw(st.integers(1, len(found) - 1))
        earlier = data.draw(st.integers(0, later - 1))
        if relevant.get(found[later], 0) >= relevant.get(found[earlier], 0):
            swapped = list(found)
            swapped[earlier], swapped[later] = swapped[later], swapped[earlier]
            assert ndcg(swapped, relevant) >= ndcg(found, relevant) - 1e-12

    @laws
    @given(st.lists(KEYS, min_size=1))
    def test_where_nothing_is_relevant_only_silence_is_right(self, found: list[str]) -> None:
        assert {measure(found, {}) for measure in MEASURES} == {0}
        assert {measure([], {}) for measure in MEASURES} == {1}

    def test_ndcg_by_hand(self) -> None:
        # gains 7 and 1 in places 2 and 3 (discounts log2 3 and 2), at best in places 1 and 2
        assert ndcg(["x", "a", "b"], {"a": 3, "b": 1}) == pytest.approx((7 / 1.584963 + 1 / 2) / (7 + 1 / 1.584963))

    def test_what_lies_beyond_the_depth_is_not_seen(self) -> None:
        found = [f"x{number}" for number in range(DEPTH)] + ["a"]
        assert [measure(found, {"a": 3}) for measure in MEASURES] == [0, 0, 0, 0]
        assert reciprocal_rank(found[1:], {"a": 3}) == 1 / DEPTH
        assert [success(found[DEPTH - place :], {"a": 3}) for place in (FIRST - 1, FIRST)] == [1, 0]

    def test_percentiles_are_values_that_occurred(self) -> None:
        assert [percentile([4, 1, 3, 2], share) for share in (0, 0.25, 0.5, 0.95, 1)] == [1, 1, 2, 4, 4]

    def test_markup_does_not_hide_a_fact(self) -> None:
        assert mentioned("It passed **7-2**.", ["7–2", "$5"]) == 0.5


def line(**fields: object) -> str:
    return json.dumps({"id": "a", "domain": "records", "kind": "k", "query": "q", "relevant": {"x": 1}} | fields) + "\n"


class TestJudgedFile:
    @pytest.mark.parametrize(
        "path", sorted(sample_directory().glob("*/judged.jsonl")), ids=lambda path: path.parent.name
    )
    def test_the_sample_s_are_valid_and_of_their_domain(self, path: Path) -> None:
        assert {query.domain for query in read_judged(path)} == {path.parent.name}

    def test_what_only_a_domain_s_tests_need_is_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "judged.jsonl"
        path.write_text(line(expect_tier_above=0) + "\n")
        [query] = read_judged(path)
        assert query.model_extra == {"expect_tier_above": 0}

    def test_beside_what_is_expected_nothing_need_be_relevant(self, tmp_path: Path) -> None:
        path = tmp_path / "judged.jsonl"
        path.write_text(
            '{"id": "a", "domain": "campaigns", "kind": "k", "query": "q", "expect": {"date": "2020-01-31"}}'
        )
        [query] = read_judged(path)
        assert (query.relevant, query.has_answer, query.has_results) == ({}, True, False)

    @pytest.mark.parametrize(
        ("wrong", "told"),
        [
            ("{", "line 1, line: Invalid JSON"),
            (line(relevant={"x": 4}), "line 1, relevant.x: should be less than or equal to 3"),
            (line(relevant={"x": "3"}), "line 1, relevant.x: should be a valid integer"),
            (line(query=" "), "line 1, query: should have at least 1 character"),
            (line(query="\x00"), "line 1, query: must not contain the NUL character"),
            (line(domain="weather"), "line 1, domain: is 'weather', not one of records"),
            (line() + "\n" + line(), "line 3, id: 'a' is also on line 1"),
            ('{"id": "a"}', "line 1, relevant: is missing"),
            (line(must={"country": "Norland"}), "line 1, must.country: should be a valid array"),
            (line(must={"not_text": "("}), "line 1, must.not_text: is not a regular expression"),
            (line(expect={}), "line 1, expect: must hold exactly one of count"),
            ("\n", "line 1, line: the file holds no query"),
        ],
    )
    def test_wrong_lines_are_named(self, tmp_path: Path, wrong: str, told: str) -> None:
        path = tmp_path / "judged.jsonl"
        path.write_text(wrong)
        with pytest.raises(JudgedFileError) as raised:
            read_judged(path, ["records"])
        assert told in str(raised.value)


def judged(id: str, kind: str, relevant: Mapping[str, int]) -> JudgedQuery:
    return JudgedQuery(id=id, domain="records", kind=kind, query=id, relevant=dict(relevant))


async def test_queries_are_run_in_turn_as_a_user_of_their_own_and_summed_up_by_kind(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    async def prepare(caller: Caller, services: Services) -> None:
        asked.append((caller.user_id, "prepare"))

    async def find(query: JudgedQuery, caller: Caller, services: Services) -> Found:
        asked.append((caller.user_id, query.id))
        return Found([] if query.id == "silent" else ["x", "a"])

    async def find_deeper(
        query: JudgedQuery, found: Sequence[str], caller: Caller, services: Services
    ) -> Sequence[str]:
        return ["y"] if query.id == "second" else []

    monkeypatch.setitem(EVALUABLE, "records", lambda: Evaluable(find, prepare, find_deeper))
    first, second = judged("first", "hit", {"x": 3}), judged("second", "hit", {"a": 3, "y": 1})
    queries = [first, second, judged("silent", "no_answer", {})]
    outcomes = await run_queries(queries, services)
    assert asked == [(EVALUATING_USER, step) for step in ("prepare", "first", "second", "silent")]
    hit, silent, everything = summarise(outcomes)
    assert (hit.kind, hit.queries, hit.mrr, hit.recall, hit.measures["recall_deep"]) == ("hit", 2, 0.75, 0.75, 1)
    assert (silent.kind, silent.ndcg, silent.recall, silent.mrr) == ("no_answer", 1, 1, 1)
    assert (everything.kind, everything.queries, everything.mrr) == (ALL, 2, 0.75)


async def test_the_pages_of_records_behind_the_first_go_on_where_it_ends(sample_services: Services) -> None:
    evaluable, caller = EVALUABLE["records"](), Caller(EVALUATING_USER)
    for text in ("elm", "bridge", "zzz"):
        query = judged(text, "k", {"x": 1})
        found = await evaluable.find(query, caller, sample_services)
        assert evaluable.find_deeper is not None
        deeper = await evaluable.find_deeper(query, found.keys, caller, sample_services)
        whole = await search_records(SearchRequest(q=text, limit=DEEP), caller, sample_services)
        assert [*found.keys, *deeper] == [f"{result.type}:{result.id}" for result in whole.results]


def outcome(found: Found, answer: str | None = None, shown: int | None = None, **fields: Any) -> Outcome:
    line = {"id": "a", "domain": "records", "kind": "k", "query": "q", "relevant": {}} | fields
    return Outcome(JudgedQuery.model_validate(line), found, 1, answer, shown=shown)


class TestOutcomes:
    def test_violations_are_a_share_of_all_that_is_shown(self) -> None:
        facts = {"a": Facts(country="Norland"), "b": Facts(country="Sudland"), "c": Facts()}
        must = {"country": ["Norland"], "status": ["startup"]}
        negated = outcome(Found(["a", "b", "c"], facts=facts), must={"not_country": ["Sudland"]}, any_status=True)
        strict = outcome(Found(["a"], facts=facts), must=must)
        none = outcome(Found([]), must=must)
        assert [each.broken for each in (negated, strict, none)] == [["b"], ["a"], []]
        [summary, _] = summarise([negated, strict, none, outcome(Found(["a"]), relevant={"a": 1})])
        assert summary.measures["violations"] == 2 / 4

    def test_a_company_query_that_names_no_status_demands_startups(self) -> None:
        facts = {"a": Facts(status="closed")}
        assert outcome(Found(["a"], facts=facts), must={"staff_min": 0}).broken == ["a"]
        assert outcome(Found(["a"], facts=facts), must={"not_tag": ["x"]}).broken == ["a"]
        assert outcome(Found(["a"], facts=facts), must={"not_tag": ["x"]}, any_status=True).broken == []

    def test_whoever_is_forbidden_or_of_hard_demands_not_relevant_breaks_them(self) -> None:
        assert outcome(Found(["a", "b"]), relevant={"b": 3}, forbidden=["a"]).broken == ["a"]
        assert outcome(Found(["a", "b", "c"]), relevant={"b": 3}, hard=True).broken == ["a", "c"]
        assert outcome(Found(["a"]), relevant={"b": 3}).broken is None

    def test_violations_among_those_that_are_said_to_miss_nothing(self) -> None:
        found = Found(["a", "b", "c"], misses={"a": ["city"], "b": []})
        parts = outcome(found, relevant={"c": 3}, hard=True).parts
        assert (parts["violations"], parts["violations_unmissed"]) == (Part(2, 3), Part(1, 2))
        assert "violations_unmissed" not in outcome(Found(["a"]), relevant={}, hard=True).parts

    def test_empty_is_measured_where_something_is_to_be_found(self) -> None:
        assert outcome(Found([]), relevant={"a": 1}).parts["empty"] == Part(1)
        assert outcome(Found([]), expect={"ids": ["a"]}).parts["empty"] == Part(1)
        assert "empty" not in outcome(Found([])).parts
        assert "empty" not in outcome(Found([]), expect={"count": 2}).parts

    def test_precision_is_of_what_can_be_shown(self) -> None:
        assert outcome(Found(["a", "x"]), shown=5, relevant={"a": 1, "b": 1}).parts["precision"] == Part(0.5)
        assert "precision" not in outcome(Found(["a"]), relevant={"a": 1}).parts

    def test_an_expected_answer_is_measured_by_its_words_and_not_by_a_ranking(self) -> None:
        parts = outcome(Found(["a"]), "There are 3.", expect={"count": 4}).parts
        assert (parts["exact"], parts["confidently_wrong"]) == (Part(0), Part(1))
        assert "ndcg" not in parts

    def test_records_are_measured_by_types_numbers_and_what_is_not_known(self) -> None:
        found = Found(["motion:a"])
        parts = outcome(found, "The council voted 4 times.", types=["motion"], number=4, answerable=True).parts
        assert (parts["types"], parts["number"], parts["unknown_told_wrongly"]) == (Part(1), Part(1), Part(0))
        silent = outcome(found, "The records hold nothing that answers this.", types=["matter"], answerable=False).parts
        assert (silent["types"], silent["unknown_told"]) == (Part(0), Part(1))

    def test_the_last_line_ranks_what_has_an_answer_and_measures_the_rest_over_all(self) -> None:
        hit = outcome(Found(["a"]), relevant={"a": 3}, hard=True)
        impossible = outcome(Found(["b"]), relevant={}, hard=True, kind="impossible")
        *_, everything = summarise([hit, impossible])
        assert (everything.queries, everything.ndcg, everything.measures["violations"]) == (1, 1, 0.5)


def test_the_command_offers_every_domain_that_can_be_evaluated() -> None:
    assert {*EVALUABLE} <= {*DOMAINS}
