"""Chatting about companies over HTTP and playing the model that helps."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import psycopg
from psycopg.rows import dict_row
from starlette.testclient import TestClient

from tests.fakes.openai_server import Body, FakeOpenAI, Handler, Reply, prompt_text, schema_name
from tests.waiting import PATIENCE_SECONDS

QUESTION = "Something that helps a small restaurant cope with orders from delivery apps"
SUMMARY = "Two companies line up delivery orders: one for chains, one for takeaways."
LED = "companies_answer"
"""The step of a model that leads."""

Events = list[dict[str, Any]]


def read_events(text: str) -> Events:
    """The events of an NDJSON stream; empty lines are heartbeats."""
    return [json.loads(line) for line in text.splitlines() if line]


def chat(client: TestClient, question: str | Sequence[str] = QUESTION, **body: Any) -> Events:
    """All events of one chat. Of several questions the last is asked, the others went before."""
    *earlier, last = [question] if isinstance(question, str) else question
    messages = [
        message
        for text in earlier
        for message in ({"role": "user", "content": text}, {"role": "assistant", "content": "These fit."})
    ]
    response = client.post("/companies/chat", json={"messages": [*messages, {"role": "user", "content": last}]} | body)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/x-ndjson; charset=utf-8"
    return read_events(response.text)


def final(events: Events) -> dict[str, Any]:
    """The answer, which must be the last event and the only one of its kind."""
    assert [event["type"] for event in events].count("final_answer") == 1
    assert events[-1]["type"] == "final_answer"
    answer: dict[str, Any] = events[-1]["data"]
    return answer


def found(events: Events) -> list[str]:
    """The ids of the companies that the answer refers to."""
    return [reference["companyId"] for reference in final(events)["references"]]


def end_reason(events: Events) -> str:
    return str(final(events)["telemetry"]["endReason"])


def degraded(events: Events) -> list[str]:
    steps: list[str] = final(events)["telemetry"]["degradedSteps"]
    return steps


def text_of(events: Events) -> str:
    return "".join(event["data"]["text"] for event in events if event["type"] == "partial_text")


def activities(events: Events) -> list[dict[str, Any]]:
    return [event["data"] for event in events if event["type"] == "activity"]


def ended(events: Events) -> dict[str, dict[str, Any]]:
    """The steps as they ended, by their ids."""
    return {activity["id"]: activity for activity in activities(events) if activity["status"] != "running"}


def call(*variants: str, **arguments: Any) -> Body:
    """The arguments of the search that a model calls."""
    return {
        "need": QUESTION,
        "variants": list(variants or ("software that lines up restaurant delivery orders",)),
        "limit": 5,
    } | arguments


def plan(*variants: str, **changes: Any) -> Body:
    """A plan of a later round as a model writes it; `filters` are added to empty ones."""
    filters = {
        "statuses": ["startup"],
        "sectors": [],
        "categories": [],
        "businessModels": [],
        "niches": [],
        "nicheMode": "boost",
    }
    filters |= changes.pop("filters", {})
    return {
        "intent": "discover",
        "targetResultCount": 5,
        "queryVariants": list(variants or ("software that lines up restaurant delivery orders",)),
        "searchPriorityOrder": ["hybrid", "keyword", "taxonomy"],
        "filters": filters,
        "successCriteria": "They handle delivery orders.",
    } | changes


UNSURE = 0.7
"""The confidence of a ranking that a critique is asked about."""


def ranking(*ids: str, confidence: float = 0.9, **said: Any) -> Body:
    """A ranking as a model writes it."""
    about = {
        "reason": "It says so.",
        "inlineDescription": "Does it.",
        "evidenceChips": ["delivery"],
        "confidence": confidence,
    }
    return {
        "confidence": confidence,
        "rankedCompanyIds": list(ids),
        "perCompany": [{"companyId": id} | about | said for id in ids],
    }


def critique(*new_variants: str, decision: str = "stop") -> Body:
    """A critique as a model writes it."""
    return {"decision": decision, "why": "Because.", "newQueryVariants": list(new_variants)}


Part = Body | Reply | Callable[[Body], Body | Reply]


def playing(
    *,
    calls: Any = None,
    plans: Part | Iterable[Part] = (),
    rankings: Part | Iterable[Part] = (),
    critiques: Part | Iterable[Part] = (),
    summary: Reply | None = None,
) -> Handler:
    """A model that plays these parts, each turn by turn, the last of a part for good; left out, a usual one. It leads with the
    tools that it `calls`, names with arguments or those of the search for a need, and then writes the `summary`.
    """
    confidence = UNSURE if critiques else 0.9
    called = [("find_companies", calls or call())] if calls is None or isinstance(calls, dict) else calls
    parts = {
        "company_plan": _turns(plans, plan()),
        "company_rerank": _turns(rankings, lambda body: ranking(*offered(body)[:2], confidence=confidence)),
        "company_critique": _turns(critiques, critique()),
    }

    def respond(body: Body) -> Reply:
        name = schema_name(body)
        if name is None:
            is_first = bool(body.get("tools")) and body["messages"][-1]["role"] == "user"
            return Reply.tool_calls(called) if is_first and called else summary or Reply.text(SUMMARY)
        turns = parts[name]
        part = turns.pop(0) if len(turns) > 1 else turns[0]
        made = part(body) if callable(part) else part
        return made if isinstance(made, Reply) else Reply.json(made)

    return respond


def _turns(parts: Part | Iterable[Part], usual: Part) -> list[Part]:
    if isinstance(parts, dict | Reply) or callable(parts):
        return [parts]
    return list(parts) or [usual]


def block(body: Body, name: str) -> str:
    """What stands in the block of this name of a request."""
    _, _, rest = prompt_text(body).partition(f"<{name}>\n")
    text, closed, _ = rest.partition(f"\n</{name}>")
    assert closed
    return text


def candidates(body: Body) -> list[dict[str, Any]]:
    """The candidates that a ranking is asked for, as they are told to the model."""
    return [json.loads(line) for line in block(body, "candidates").splitlines()]


def offered(body: Body) -> list[str]:
    return [candidate["companyId"] for candidate in candidates(body)]


def step_of(body: Body) -> str:
    """The step that asks: one with tools, or whose conversation has their results, leads."""
    is_led = bool(body.get("tools")) or any(message["role"] == "tool" for message in body["messages"])
    return schema_name(body) or (LED if is_led else "company_summary")


def asked_for(requests: Sequence[Body], step: str) -> list[Body]:
    """The requests for one step."""
    return [body for body in requests if step_of(body) == step]


def steps_asked(model: FakeOpenAI) -> list[str]:
    """The steps that asked the model, in order."""
    return [step_of(body) for body in model.chat_requests]


def logged_run(url: str, run_id: str) -> dict[str, Any]:
    """A run with its steps in order, once it is over and written: after the answer, by a task of its own."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        while True:
            row = connection.execute(
                """select r.*,
                     array(select x.result_id from search_run_results x where x.run_id = r.id order by x.rank) as results
                   from search_runs r where (r.id::text = %(id)s or r.request_id = %(id)s) and r.status <> 'running'""",
                {"id": run_id},
            ).fetchone()
            if row is not None:
                steps = connection.execute(
                    "select * from search_run_steps where run_id = %s order by step_number", [row["id"]]
                ).fetchall()
                return row | {"steps": steps}
            if time.monotonic() > deadline:
                raise TimeoutError("the run was not recorded")
            time.sleep(0.01)


def run_of(url: str, events: Events) -> dict[str, Any]:
    return logged_run(url, final(events)["telemetry"]["runId"])


def step_names(run: Mapping[str, Any]) -> list[str]:
    return [step["name"] for step in run["steps"]]


def counts_of(run: Mapping[str, Any], name: str) -> list[dict[str, int]]:
    """The counts of each step of this name."""
    return [step["counts"] for step in run["steps"] if step["name"] == name]
