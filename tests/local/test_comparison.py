"""Two runs of judged queries side by side: what is paired, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from quarry.platform.errors import QuarryError
from quarry_tools.comparison import Earlier, compare, read_earlier, read_earlier_queries, verdicts
from quarry_tools.evaluable import Found
from quarry_tools.evaluation import report, unpaired
from quarry_tools.judged import JudgedQuery
from quarry_tools.outcomes import ALL, Outcome, summarise

QUERIES = [
    JudgedQuery(
        id=f"q{number}", domain="records", kind="even" if number % 2 == 0 else "odd", query="q", relevant={"a": 3}
    )
    for number in range(12)
]
FIRST, SECOND, NOTHING = ["a", "b"], ["b", "a"], list[str]()


def outcomes(found: Sequence[list[str]], queries: Sequence[JudgedQuery] = QUERIES) -> list[Outcome]:
    return [Outcome(query, Found(keys), 1.0) for query, keys in zip(queries, found, strict=True)]


def written(path: Path, run: Sequence[Outcome]) -> Path:
    """A report of a run in a file, as the command writes it."""
    path.write_text(json.dumps(report(run, summarise(run))))
    return path


def earlier(tmp_path: Path, run: Sequence[Outcome]) -> Earlier:
    return read_earlier_queries(written(tmp_path / "earlier.json", run))


def test_a_run_that_ranks_every_answer_higher_is_better_and_the_other_way_round_worse(tmp_path: Path) -> None:
    low, high = outcomes([SECOND] * 12), outcomes([FIRST] * 12)
    [better] = verdicts(compare(high, earlier(tmp_path, low)))
    [worse] = verdicts(compare(low, earlier(tmp_path, high)))
    assert (better.verdict, worse.verdict) == ("better", "worse")
    assert better.difference == pytest.approx(-worse.difference)
    assert better.p == worse.p == 2 / 2**12
    assert better.in_words == "records: better by nDCG@10: +0.369 on average over 12 queries, p < 0.001"


def test_what_was_not_asked_or_judged_in_the_same_way_is_left_out_and_said(tmp_path: Path) -> None:
    judged_otherwise = QUERIES[0].model_copy(update={"relevant": {"b": 3}})
    before = earlier(tmp_path, outcomes([FIRST] * 3, [judged_otherwise, *QUERIES[1:3]]))
    now = outcomes([FIRST] * 4, QUERIES[:4])
    assert {each.queries for each in compare(now, before) if each.kind == ALL} == {2}
    assert list(unpaired(now, before)) == [
        "2 of 4 queries are not compared: the earlier run lacks them, or judged them otherwise"
    ]


@pytest.mark.parametrize("text", ["{", "[]x", "{}", '{"queries": [{"id": 1}]}', "\x00"])
def test_what_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(QuarryError, match=r"other\.json is not what"):
        read_earlier(path)
