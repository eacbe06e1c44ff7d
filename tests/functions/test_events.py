"""Every recorded event, replayed in this process: what `sam local invoke -e events/….json` yields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from tests.conftest import clone_database
from tests.deployed.replay import (
    Answer,
    RecordedEvent,
    forget_vectors,
    function_of_route,
    pretty,
    recorded_events,
    scheduled_functions,
)
from tests.functions.conftest import Context
from tools.record_events import events

RECORDED = recorded_events()


@pytest.fixture(scope="module")
def sample_url(server_url: str, sample_template: str) -> Iterator[str]:
    """The sample data without vectors: for all events, as where they are deployed."""
    with clone_database(server_url, sample_template) as url:
        forget_vectors(url)
        yield url


def test_every_route_and_every_schedule_has_a_recorded_event() -> None:
    requests = [recorded.event for recorded in RECORDED if recorded.is_request]
    others = {recorded.function for recorded in RECORDED if not recorded.is_request}
    # a HEAD is answered as the GET beside it, without its body
    asked = {(method, path) for method, path in function_of_route() if method != "HEAD"}
    assert {(event["httpMethod"], event["resource"]) for event in requests} == asked
    assert scheduled_functions() <= others


def test_the_events_are_those_that_the_tool_makes() -> None:
    assert {recorded.name: recorded.event for recorded in RECORDED} == events()


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded.name)
def test_an_event_yields_what_was_recorded(
    load_on_sample: Callable[[str], ModuleType],
    lambda_environment: pytest.MonkeyPatch,
    sample_url: str,
    recorded: RecordedEvent,
) -> None:
    lambda_environment.setenv("AWS_SAM_LOCAL", "true")
    recorded.prepare(sample_url)
    result = load_on_sample(recorded.function).handler(recorded.event, Context(120_000))
    recorded.assert_yields(Answer.buffered(result).to_text() if recorded.is_request else pretty(result))
