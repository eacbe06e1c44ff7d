"""The recorded events of `events/`, and their expected output.

Next to `events/<domain>/<name>.json` is its output on the sample data, without vectors and without a model:
`<name>.response.json`, or `<name>.stream.txt` for a stream of events. `python -m tools.record_events` records both again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, LiteralString

import psycopg

from quarry.web.page_routes import page
from tests.fakes.object_store import ObjectStore
from tools import gateway
from tools.rehearsal.template import ROOT, read_template

EVENTS = ROOT / "events"

RESPONSE = ".response.json"
STREAM = ".stream.txt"

SHARED_ANSWER = "records/answer"
"""The event that opens the answer which `records/ask` yields: on the sample data alone there would be none."""

OBJECT_CREATED = "load/object_created"
PUT_FILE = ROOT / "sql" / "sample" / "records" / "matters.jsonl"
"""The file that it tells of. Its rows are in the sample data already, so that loading it changes nothing for other events."""

OPENAPI = ROOT / "docs" / "api" / "openapi.json"
PAGES = ROOT / "layers" / "quarry" / "quarry" / "page"

STREAM_DELIMITER = b"\0" * 8
"""Between the head of a streamed response and its body."""

_PASSING_HEADERS = {"content-length", "etag", "x-request-id", "seq"}
_PASSING_FIELDS = {
    *(
        "answer_id",
        "search_id",
        "run_id",
        "sessionId",
        "request_id",
        "created_at",
        "expires_at",
        "updated_at",
        "opened_at",
        "opened_before",
    ),
    *("durationMs", "runId", "created"),
}
_SIGNIFICANT_DIGITS = 4

Event = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What API Gateway gets from a function, in either mode."""

    status: int
    headers: dict[str, str]
    body: str

    @classmethod
    def buffered(cls, response: dict[str, Any]) -> Answer:
        """From the proxy integration's response object."""
        assert response["isBase64Encoded"] is False
        return cls(response["statusCode"], response["headers"], response["body"])

    @classmethod
    def streamed(cls, wire: bytes) -> Answer:
        """From what a streaming function sends: its head as JSON, eight NUL bytes, its body."""
        head_text, delimiter, body = wire.partition(STREAM_DELIMITER)
        assert delimiter, "the head has no end"
        head = json.loads(head_text)
        return cls(head["statusCode"], head["headers"], body.decode())

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type", "").startswith(("text/event-stream", "application/x-ndjson"))

    def to_text(self) -> str:
        """As it is kept in a file, its JSON body spelt out; the OpenAPI description and the page are only named."""
        if self.is_stream:
            return self.body
        return pretty({"statusCode": self.status, "headers": self.headers, "body": self._body()})

    def _body(self) -> Any:
        if not self.body:
            return self.body
        media_type = self.headers["content-type"]
        if media_type.startswith("text/html"):
            served = page()
            [name] = (
                name
                for name, file in (("index", served.html["english"]), ("reference", served.reference))
                if file.body == self.body.encode()
            )
            return {"$ref": str((PAGES / f"{name}.html").relative_to(ROOT))}
        if "json" not in media_type:
            return self.body
        body = json.loads(self.body)
        if "openapi" in body:
            assert body == json.loads(OPENAPI.read_text())
            return {"$ref": str(OPENAPI.relative_to(ROOT))}
        return body


@dataclass(frozen=True)
class RecordedEvent:
    """One event, and the folder of the function that it invokes."""

    path: Path
    function: str

    @property
    def name(self) -> str:
        return str(self.path.relative_to(EVENTS).with_suffix(""))

    @property
    def event(self) -> Event:
        event: Event = json.loads(self.path.read_text())
        return event

    @property
    def is_request(self) -> bool:
        return "httpMethod" in self.event

    @property
    def expected_path(self) -> Path:
        [path] = (path for end in (RESPONSE, STREAM) if (path := self.path.with_suffix(end)).exists())
        return path

    def prepare(self, database_url: str) -> None:
        """Store what the event asks for where the sample data does not hold it."""
        if self.name.startswith("me/"):
            keep_recorded(database_url)
        elif prepare := _PREPARATIONS.get(self.name):
            prepare(database_url)

    def assert_yields(self, text: str) -> None:
        """`text`, as `Answer.to_text` gives it, says the same as what was recorded."""
        assert comparable(text) == comparable(self.expected_path.read_text())


def recorded_events() -> list[RecordedEvent]:
    """Every recorded event: a request with the function of its route in the template, any other with that of its folder."""
    return [
        RecordedEvent(path, _function_of(path))
        for path in sorted(EVENTS.glob("*/*.json"))
        if not path.name.endswith(RESPONSE)
    ]


def _function_of(path: Path) -> str:
    event = json.loads(path.read_text())
    if "httpMethod" not in event:
        return path.parent.name
    return function_of_route()[event["httpMethod"], event["resource"]]


@cache
def function_of_route() -> dict[tuple[str, str], str]:
    """The folder of the function behind each method and path of the template."""
    return {(route.method, route.path): route.function for route in gateway.routes()}


@cache
def scheduled_functions() -> set[str]:
    """The folders of the functions that the template runs on a schedule."""
    return {folder for folder, event in _function_events() if event["Type"] == "ScheduleV2"}


@cache
def queued_functions() -> set[str]:
    """The folders of the functions that a queue invokes."""
    return {folder for folder, event in _function_events() if event["Type"] == "SQS"}


def _function_events() -> Iterator[tuple[str, dict[str, Any]]]:
    for resource in read_template()["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            properties = resource["Properties"]
            for event in properties.get("Events", {}).values():
                yield Path(properties["CodeUri"]).name, event


@contextmanager
def files_put() -> Iterator[ObjectStore]:
    """An object store with the sample file of the event `load/object_created`."""
    [message] = json.loads((EVENTS / f"{OBJECT_CREATED}.json").read_text())["Records"]
    told = json.loads(message["body"])["detail"]
    with ObjectStore() as store:
        store.objects[f"{told['bucket']['name']}/{told['object']['key']}"] = PUT_FILE.read_bytes()
        yield store


def forget_vectors(database_url: str) -> None:
    """Leaves the sample data as it is without an embedding model, which the layer does not contain: found only by words."""
    with psycopg.connect(database_url) as connection:
        connection.execute("delete from embedding_model")


def store_recorded_answer(database_url: str) -> None:
    """Stores the answer of `records/ask` under the id that `records/answer` requests."""
    events = comparable((EVENTS / "records" / f"ask{STREAM}").read_text())
    last = {event["type"]: event for event in events}
    request = json.loads((EVENTS / "records" / "ask.json").read_text())
    shared = json.loads((EVENTS / "records" / "answer.json").read_text())
    cited = last["citations"]["citations"]
    with psycopg.connect(database_url) as connection:
        connection.execute(
            """insert into answer_cache
                 (id, query, answer, sources, suggested_followups, source_count, confidence, expires_at,
                  citations)
               values (%s, %s, %s, %s::jsonb, %s, %s, %s, now() + interval '30 days', %s::jsonb)
               on conflict do nothing""",
            [
                shared["pathParameters"]["id"],
                json.loads(request["body"])["question"],
                "".join(event["chunk"] for event in events if event["type"] == "final_answer_chunk"),
                json.dumps(last["sources"]["sources"]),
                last["followups"]["questions"],
                len({each["n"] for each in cited}),
                last["confidence"]["level"] if "confidence" in last else None,  # passages have none
                json.dumps(cited),
            ],
        )


def store_recorded_search(database_url: str) -> None:
    """Stores a search with which the caller of `people/person` found that person, and gives the caller ten credits."""
    event = json.loads((EVENTS / "people" / "person.json").read_text())
    given = {
        "search_id": event["queryStringParameters"]["search_id"],
        "person_id": event["pathParameters"]["id"],
        "user_id": event["requestContext"]["authorizer"]["claims"]["sub"],
    }
    _execute(
        database_url,
        given,
        "delete from contact_unlocks where user_id = %(user_id)s",
        "delete from credit_ledger where user_id = %(user_id)s",
        "delete from credit_accounts where user_id = %(user_id)s",
        "insert into credit_accounts (user_id, balance) values (%(user_id)s, 10)",
        """insert into credit_ledger (user_id, amount, reason, reference)
           values (%(user_id)s, 10, 'initial', %(user_id)s)""",
        """insert into people_searches (id, user_id, query_text, parsed_constraints, filters, fallback_tier, expires_at)
           values (%(search_id)s, %(user_id)s, 'a Go engineer', '{}', '{}', 0, now() + interval '1 day')
           on conflict do nothing""",
        """insert into people_search_results (search_id, person_id, rank, score, extra)
           values (%(search_id)s, %(person_id)s, 1, 1, '{"why_matched": ["Go and Kafka at work"]}')
           on conflict do nothing""",
    )


def store_recorded_run(database_url: str) -> None:
    """Stores a run, and an answer, of the user of the recorded events."""
    run = json.loads((EVENTS / "runs" / "cancel.json").read_text())
    answer = json.loads((EVENTS / "records" / "revoke.json").read_text())
    given = {
        "run_id": run["pathParameters"]["id"],
        "answer_id": answer["pathParameters"]["id"],
        "caller": run["requestContext"]["authorizer"]["claims"]["sub"],
    }
    _execute(
        database_url,
        given,
        "insert into run_streams (run_id, caller) values (%(run_id)s, %(caller)s) on conflict do nothing",
        """insert into search_runs (id, domain, caller, query, status, started_at, duration_ms)
           values (%(run_id)s, 'records', %(caller)s, 'bridge', 'completed', now(), 1) on conflict do nothing""",
        """insert into answer_cache (id, query, answer, sources, source_count, confidence, expires_at, owner)
           values (%(answer_id)s, 'bridge', 'None.', '[]', 0, 'low', now() + interval '1 day', %(caller)s)
           on conflict do nothing""",
    )


def keep_recorded(database_url: str) -> None:
    """Stores one conversation and one search of the user of the recorded events, and no others."""
    conversation = json.loads((EVENTS / "me" / "conversation.json").read_text())
    search = json.loads((EVENTS / "me" / "open_search.json").read_text())
    given = {
        "conversation_id": conversation["pathParameters"]["id"],
        "search_id": search["pathParameters"]["id"],
        "caller": conversation["requestContext"]["authorizer"]["claims"]["sub"],
    }
    _execute(
        database_url,
        given,
        "delete from conversations where user_id = %(caller)s",
        "delete from saved_searches where user_id = %(caller)s",
        """insert into conversations (id, user_id, domain, title, turns)
           values (%(conversation_id)s, %(caller)s, 'records', 'Trucks', '[{"question": "Trucks?", "answer": {}}]')""",
        """insert into saved_searches (id, user_id, domain, name, query)
           values (%(search_id)s, %(caller)s, 'records', 'The bridge', 'Sable River Bridge')""",
    )


def _execute(database_url: str, given: dict[str, str], *statements: LiteralString) -> None:
    """Runs statements with the same values, all or none."""
    with psycopg.connect(database_url) as connection:
        for statement in statements:
            connection.execute(statement, given)


_PREPARATIONS = {
    "records/revoke": store_recorded_run,
    "records/share": store_recorded_run,
    "records/own_answer": store_recorded_run,
    "runs/cancel": store_recorded_run,
    "runs/feedback": store_recorded_run,
    SHARED_ANSWER: store_recorded_answer,
    "people/person": store_recorded_search,
    "people/unlock": store_recorded_search,
    "people/credits": store_recorded_search,
}


def pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def comparable(text: str) -> Any:
    """A response or stream without parts that differ between runs: ids, times, the last digits of floats."""
    if text.startswith("{\n"):
        return _steady(json.loads(text))
    lines = (line for line in text.splitlines() if line and not line.startswith((":", "id: ", "data: [DONE]")))
    return [_steady(json.loads(line.removeprefix("data: "))) for line in lines]


def _is_made(name: str, value: Any) -> bool:
    """Whether it is a generated id."""
    return (
        name == "id" and re.fullmatch(r"chatcmpl-.*|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", str(value)) is not None
    )


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: type(each).__name__ if name in _PASSING_FIELDS or _is_made(name, each) else _steady(each)
            for name, each in value.items()
            if name not in _PASSING_HEADERS
        }
    if isinstance(value, list):
        return [_steady(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{_SIGNIFICANT_DIGITS}g}")
    return value
