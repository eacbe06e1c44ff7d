"""Asking a question over HTTP and playing the model that answers it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg.rows import dict_row
from starlette.testclient import TestClient

from quarry.answering.answer import CORRECTION
from tests.fakes.openai_server import Body, Handler, Reply, schema_name
from tests.waiting import PATIENCE_SECONDS

QUESTION = "Why did the council keep the old elm in Quill Square?"
ANSWER = "The council keeps the elm [1], and the vote was 7–2 [4]."
FOLLOWUPS = ["What did the elm cables cost?", "Who voted against keeping the elm?"]

ORDER = "intent tool_call tool_observation sources final_answer_chunk citations followups done".split()
"""The types of an answer's events."""

_ID = re.compile(r"\Aid: [0-9a-f-]{36}/[0-9]+\n")

Events = list[dict[str, Any]]


def read_events(text: str) -> Events:
    """The events of an event stream; fails on anything that is neither an id with a `data:` line nor a comment."""
    blocks = text.removesuffix("\n\n").split("\n\n")
    return [json.loads(_ID.sub("", block).removeprefix("data: ")) for block in blocks if not block.startswith(":")]


def ask(client: TestClient, question: str = QUESTION, **body: Any) -> Events:
    """All events of one answer, made anew."""
    response = client.post("/records/ask", json={"question": question, "fresh": True} | body)
    assert response.status_code == 200
    return read_events(response.text)


def stored_answers(url: str) -> int:
    """How many answers are kept in a database."""
    with psycopg.connect(url) as connection:
        row = connection.execute("select count(*) from answer_cache").fetchone()
    assert row
    return int(row[0])


def of_type(events: Events, type: str) -> Events:
    return [event for event in events if event["type"] == type]


def the(events: Events, type: str) -> dict[str, Any]:
    """The only event of its type."""
    [event] = of_type(events, type)
    return event


def types_of(events: Events) -> list[str]:
    """The types of the events in order, a run of answer chunks once."""
    types = [event["type"] for event in events]
    return [
        type for type, before in zip(types, [None, *types], strict=False) if not type == before == "final_answer_chunk"
    ]


def answer_of(events: Events) -> str:
    return "".join(event["chunk"] for event in of_type(events, "final_answer_chunk"))


def cited(answer: str) -> set[int]:
    return {int(number) for number in re.findall(r"(?<!\\)\[(\d+)\]", answer)}


def playing(
    *,
    research: Sequence[Reply] = (),
    answer: Reply | None = None,
    followups: Reply | None = None,
) -> Handler:
    """A model that plays these parts: its research turn by turn while tools are offered, the answer, the follow-up questions."""
    turns = iter(research)

    def respond(body: Body) -> Reply:
        if schema_name(body) == "records_followups":
            return followups or Reply.json({"questions": FOLLOWUPS})
        research = next(turns, None) if "tools" in body else None
        return research or answer or Reply.text(ANSWER)

    return respond


def step_of(body: Body) -> str:
    """Which step of an answer a request to the model belongs to."""
    is_correction = str(body["messages"][0]["content"]) == CORRECTION
    return schema_name(body) or ("answer_correction" if is_correction else "answer")


def search(text: str, **arguments: Any) -> tuple[str, Mapping[str, Any]]:
    """A call of the search tool."""
    return "search", {"text": text} | arguments


def logged_run(url: str, request_id: str) -> dict[str, Any]:
    """The run of a request, once it is over and written: after the answer, by a task of its own."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        while True:
            row = connection.execute(
                """select r.*,
                     array(select s.name from search_run_steps s where s.run_id = r.id order by s.step_number) as steps,
                     array(select x.result_id from search_run_results x where x.run_id = r.id order by x.rank) as results
                   from search_runs r where r.request_id = %s and r.status <> 'running'""",
                [request_id],
            ).fetchone()
            if row is not None:
                return row
            if time.monotonic() > deadline:
                raise TimeoutError("the run was not recorded")
            time.sleep(0.01)
