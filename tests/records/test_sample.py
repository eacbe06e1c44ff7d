"""The sample city's promises: enough of everything, consistent with itself, and every line its own."""

from __future__ import annotations

import datetime
import json
import re
from functools import cache
from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.catalog import LOADABLE
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


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("meetings", 24),
        ("motions", 160),
        ("agenda_items", 220),
        ("matters", 40),
        ("key_statements", 120),
        ("document_sections", 90),
        ("transcript_segments", 1000),
        ("judged", 40),
    ],
)
def test_there_is_enough(name: str, least: int) -> None:
    assert len(lines(name)) >= least


def test_the_meetings_are_of_three_years() -> None:
    dates = [datetime.date.fromisoformat(meeting["date"]) for meeting in lines("meetings")]
    first, last = min(dates), max(dates)
    assert (last.year - first.year) * 12 + last.month - first.month + 1 >= 36


@pytest.mark.parametrize("name", [*(each.rows for each in BUILT_IN.values()), "meetings", "judged"])
def test_ids_are_unique(name: str) -> None:
    ids = [line["id"] for line in lines(name)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("motions", "text_content"),
        ("motions", "plain_english_summary"),
        ("key_statements", "statement_text"),
        ("transcript_segments", "text_content"),
        ("document_sections", "body"),
        ("agenda_items", "description"),
        ("judged", "query"),
    ],
)
def test_no_text_occurs_twice(name: str, field: str) -> None:
    texts = [" ".join(line[field].casefold().split()) for line in lines(name)]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("name", [each.rows for each in BUILT_IN.values()])
def test_every_reference_leads_somewhere(name: str) -> None:
    for field, target in LOADABLE[name].references.items():
        known = {line["id"] for line in lines(target)}
        assert {line[field] for line in lines(name) if line.get(field)} <= known


def test_every_motion_that_was_put_has_a_vote_count_or_was_unanimous() -> None:
    results = {motion["result"] for motion in lines("motions") if not COUNTED.fullmatch(motion["result"])}
    assert results == {"Carried unanimously", "Withdrawn"}


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


def test_nobody_votes_twice_or_without_being_there() -> None:
    present = {meeting["id"]: set(meeting["attendees"]) for meeting in lines("meetings")}
    for motion in lines("motions"):
        voters = motion["votes_for"] + motion["votes_against"] + motion["abstained"]
        assert len(set(voters)) == len(voters)
        assert set(voters) <= present[motion["meeting_id"]]


def test_transcripts_go_forward_in_time() -> None:
    latest: dict[str, float] = {}
    for segment in lines("transcript_segments"):
        assert latest.get(segment["meeting_id"], 0) <= segment["start_seconds"] <= segment["end_seconds"]
        latest[segment["meeting_id"]] = segment["start_seconds"]


def test_every_relevant_record_of_a_judged_question_exists() -> None:
    known = {f"{type}:{line['id']}" for type in BUILT_IN for line in lines(BUILT_IN[type].rows)}
    for question in lines("judged"):
        assert set(question["relevant"]) <= known
        assert set(question["relevant"].values()) <= GRADES
        assert bool(question["relevant"]) == (question["kind"] != "no_answer")


def test_all_of_it_is_loaded(client: TestClient) -> None:
    for type in BUILT_IN:
        last = lines(BUILT_IN[type].rows)[-1]
        body = client.get(f"/records/{type}/{last['id']}").json()
        given = {field: value for field, value in last.items() if value is not None}
        assert given.items() <= body["fields"].items()
        assert body["date"]
