"""The sample city's promises: enough of everything, consistent with itself, and every line its own."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from quarry.local.sample import sample_directory
from quarry.records.searched_types import BUILT_IN

Line = dict[str, Any]
COUNTED = re.compile(r"(Carried|Defeated) (\d+)–(\d+)(?: \(tie\))?(?:, (one|\d+) (?:abstention|abstaining))?")
ABSTAINED = {None: 0, "one": 1}
GRADES = {1, 2, 3}


@cache
def lines(name: str) -> list[Line]:
    with (sample_directory() / "records" / f"{name}.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def votes_agree(motion: Line) -> bool:
    """Whether the names of a vote are as many as its result says."""
    votes = tuple(len(motion[field]) for field in ("votes_for", "votes_against", "abstained"))
    counted = COUNTED.fullmatch(motion["result"])
    if counted:
        abstained = ABSTAINED[counted[4]] if counted[4] in ABSTAINED else int(counted[4])
        carried = counted[1] == "Carried"
        return votes == (int(counted[2]), int(counted[3]), abstained) and carried == (votes[0] > votes[1])
    return votes == (0, 0, 0) if motion["result"] == "Withdrawn" else votes[0] > votes[1] == votes[2] == 0


def test_the_names_of_every_vote_agree_with_its_result() -> None:
    assert [motion["id"] for motion in lines("motions") if not votes_agree(motion)] == []


def test_every_relevant_record_of_a_judged_question_exists() -> None:
    known = {f"{type}:{line['id']}" for type in BUILT_IN for line in lines(BUILT_IN[type].rows)}
    for question in lines("judged"):
        assert set(question["relevant"]) <= known
        assert set(question["relevant"].values()) <= GRADES
        assert bool(question["relevant"]) == (question["kind"] != "no_answer")
