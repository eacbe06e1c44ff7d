"""Traces, as a collector of OpenTelemetry receives them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from quarry.platform import telemetry
from quarry.platform.settings import Settings
from tests.conftest import client_of, model_environment
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.records.asking import ANSWER, QUESTION, playing, read_events, types_of
from tests.waiting import PATIENCE_SECONDS

CALLER_TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER_SPAN = "b7ad6b7169203331"


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as receiver:
        yield receiver


def test_a_request_is_one_trace_of_steps_statements_and_calls_without_what_was_asked(
    shared_sample_url: str, model: FakeOpenAI, receiver: OtlpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "FLUSH_SECONDS", PATIENCE_SECONDS)
    model.respond = playing(followups=Reply.http_error(500))
    environment = model_environment(model.url) | {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}
    with client_of(shared_sample_url, **environment) as client:
        response = client.get(
            "/records/ask",
            params={"q": QUESTION},
            headers={"traceparent": f"00-{CALLER_TRACE}-{CALLER_SPAN}-01", "Authorization": "Bearer ada-lovelace"},
        )
        client.get("/answers/no-such-answer")
    events = read_events(response.text)
    spans = receiver.spans
    asked, opened = (span for span in spans if span.kind == "server")
    assert receiver.services == {"quarry"}

    # the requests
    assert (asked.name, asked.trace, asked.parent) == ("GET /records/ask", CALLER_TRACE, CALLER_SPAN)
    assert asked.attributes == {
        "http.request.method": "GET",
        "http.route": "/records/ask",
        "http.response.status_code": 200,
        "url.scheme": "http",
        "quarry.request_id": response.headers["x-request-id"],
    }
    assert (opened.name, opened.attributes["http.response.status_code"]) == ("GET /answers/{id}", 404)

    # what is beneath the first
    beneath = [span for span in spans if span.trace == CALLER_TRACE and span is not asked]
    by_id = {span.id: span for span in [asked, *beneath]}
    assert all(span.parent in by_id for span in beneath)
    steps = [span for span in beneath if span.kind == "internal"]
    assert {"records_answer", "records_followups"} <= {step.name for step in steps}
    assert {step.attributes["quarry.domain"] for step in steps} == {"records"}

    # calls of models, each beneath its step
    calls = [span for span in beneath if span.name == "chat gpt-4o-mini"]
    assert {call.attributes["gen_ai.provider.name"] for call in calls} == {"openai"}
    by_step = {by_id[call.parent].name: call for call in calls}
    answer, followups = by_step["records_answer"], by_step["records_followups"]
    assert (answer.kind, answer.attributes["gen_ai.operation.name"]) == ("client", "chat")
    assert (answer.attributes["gen_ai.usage.input_tokens"], answer.attributes["gen_ai.usage.output_tokens"]) == (20, 10)
    assert (followups.failed, followups.attributes["error.type"]) == (True, "ModelUnavailable")
    assert [by_id[span.parent].attributes["quarry.domain"] for span in beneath if span.name.startswith("embeddings")]

    # statements, by name; the writing of the run log is no part of a request
    statements = [span for span in beneath if "db.system.name" in span.attributes]
    assert all(span.attributes["db.system.name"] == "postgresql" for span in statements)
    names = {span.name for span in statements}
    assert "select embedding_model" in names
    assert not any("search_runs" in name or "run_events" in name for name in names)

    sent = b"".join(receiver.bodies)
    for secret in (QUESTION, "elm", ANSWER, "ada-lovelace", " from ", "no-such-answer", "postgresql://"):
        assert secret.encode() not in sent, secret
    assert types_of(events)[-1] == "done"


def test_a_collector_that_is_not_there_fails_no_request_and_holds_nothing_up(
    shared_sample_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "FLUSH_SECONDS", 0.3)
    with client_of(shared_sample_url, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="http://127.0.0.1:1/v1/traces") as client:
        assert client.get("/records/search", params={"q": "bridge"}).status_code == 200
        began = time.monotonic()
    # an exporter left to itself tries again for ten seconds, and complains of each
    assert time.monotonic() - began < 9
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("OtelBatch")]


@pytest.mark.parametrize(
    ("environment", "endpoint"),
    [
        ({}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/"}, "http://collector:4318/v1/traces"),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, None),
        (
            {
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://traces/here",
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://other:1",
            },
            "https://traces/here",
        ),
    ],
)
def test_traces_go_where_the_environments_convention_says(environment: dict[str, str], endpoint: str | None) -> None:
    assert Settings.from_environment(environment).traces_endpoint == endpoint
