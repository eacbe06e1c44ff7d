"""The measures of retrieval hold their laws, judged files are read strictly, and queries are summed up by kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarry.local.sample import sample_directory
from quarry.services.services import Caller, Services
from quarry_tools.demands import Facts
from quarry_tools.evaluable import EVALUABLE, EVALUATING_USER, Evaluable, Found
from quarry_tools.evaluation import run_queries
from quarry_tools.judged import JudgedFileError, JudgedQuery, read_judged
from quarry_tools.measures import DEPTH, ndcg, recall, reciprocal_rank, success
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

    def test_ndcg_by_hand(self) -> None:
        # gains 7 and 1 in places 2 and 3 (discounts log2 3 and 2), at best in places 1 and 2
        assert ndcg(["x", "a", "b"], {"a": 3, "b": 1}) == pytest.approx((7 / 1.584963 + 1 / 2) / (7 + 1 / 1.584963))


def line(**fields: object) -> str:
    return json.dumps({"id": "a", "domain": "records", "kind": "k", "query": "q", "relevant": {"x": 1}} | fields) + "\n"


class TestJudgedFile:
    @pytest.mark.parametrize(
        "path", sorted(sample_directory().glob("*/judged.jsonl")), ids=lambda path: path.parent.name
    )
    def test_the_sample_s_are_valid_and_of_their_domain(self, path: Path) -> None:
        assert {query.domain for query in read_judged(path)} == {path.parent.name}

    @pytest.mark.parametrize(
        ("wrong", "told"),
        [
            ("{", "line 1, line: Invalid JSON"),
            (line(relevant={"x": 4}), "line 1, relevant.x: should be less than or equal to 3"),
            (line(query="\x00"), "line 1, query: must not contain the NUL character"),
            (line(domain="weather"), "line 1, domain: is 'weather', not one of records"),
            (line() + "\n" + line(), "line 3, id: 'a' is also on line 1"),
            (line(must={"not_text": "("}), "line 1, must.not_text: is not a regular expression"),
            (line(expect={}), "line 1, expect: must hold exactly one of count"),
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

    def test_whoever_is_forbidden_or_of_hard_demands_not_relevant_breaks_them(self) -> None:
        assert outcome(Found(["a", "b"]), relevant={"b": 3}, forbidden=["a"]).broken == ["a"]
        assert outcome(Found(["a", "b", "c"]), relevant={"b": 3}, hard=True).broken == ["a", "c"]
        assert outcome(Found(["a"]), relevant={"b": 3}).broken is None

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
