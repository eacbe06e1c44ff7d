"""Replays every recorded event in this process: the output of `sam local invoke -e events/….json`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from quarry.models.local_embedding import LocalEmbedding
from quarry.reader.learned import pair_model
from quarry.records.passages import answer_model
from tests.conftest import clone_database
from tests.deployed.replay import (
    Answer,
    RecordedEvent,
    files_put,
    forget_vectors,
    function_of_route,
    pretty,
    queued_functions,
    recorded_events,
    scheduled_functions,
)
from tests.fakes.object_store import ObjectStore
from tests.functions.conftest import Context
from tools.record_events import events

RECORDED = recorded_events()


@pytest.fixture(scope="module")
def sample_url(server_url: str, sample_template: str) -> Iterator[str]:
    """The sample data without vectors: for all events, as where they are deployed."""
    with clone_database(server_url, sample_template) as url:
        forget_vectors(url)
        yield url


@pytest.fixture
def without_local_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Runs as in a function whose layer has no embedding model."""
    models = (pair_model, answer_model)
    monkeypatch.setattr(LocalEmbedding, "available", lambda: False)
    for model in models:
        model.cache_clear()
    yield
    for model in models:
        model.cache_clear()


@pytest.fixture(scope="module")
def files() -> Iterator[ObjectStore]:
    with files_put() as store:
        yield store


def test_every_route_schedule_and_rule_has_a_recorded_event() -> None:
    requests = [recorded.event for recorded in RECORDED if recorded.is_request]
    others = {recorded.function for recorded in RECORDED if not recorded.is_request}
    # a HEAD is answered as the GET beside it, without its body
    asked = {(method, path) for method, path in function_of_route() if method != "HEAD"}
    assert {(event["httpMethod"], event["resource"]) for event in requests} == asked
    assert scheduled_functions() | queued_functions() <= others


def test_the_events_are_those_that_the_tool_generates() -> None:
    assert {recorded.name: recorded.event for recorded in RECORDED} == events()


@pytest.mark.usefixtures("without_local_model")
@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded.name)
def test_an_event_gives_the_recorded_output(
    load_on_sample: Callable[[str], ModuleType],
    lambda_environment: pytest.MonkeyPatch,
    sample_url: str,
    files: ObjectStore,
    recorded: RecordedEvent,
) -> None:
    for name, value in {"AWS_SAM_LOCAL": "true", **files.environment}.items():
        lambda_environment.setenv(name, value)
    recorded.prepare(sample_url)
    result = load_on_sample(recorded.function).handler(recorded.event, Context(120_000))
    recorded.assert_yields(Answer.buffered(result).to_text() if recorded.is_request else pretty(result))
