"""Connections that are really cut in the middle of a stream, and servers that are away."""

from __future__ import annotations

import pytest

from quarry.client import AsyncClient, Client, ConnectionFailed
from quarry.client.exchange import Patience
from quarry.records.contract import AnswerChunkEvent, DoneEvent
from tests.client.cutting import cutting
from tests.client.test_client import QUESTION

FIRST = b'"type":"tool_call"'
SOURCES = b'"type":"sources"'
LATER = b"final_answer_chunk"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Patience, "own_pause", staticmethod(lambda failures: 0.3))


def test_a_stream_that_was_cut_is_read_on(base: str) -> None:
    with cutting(base, SOURCES, LATER) as door, Client(door.url, token="eve", retries=5) as client:
        with client.ask_records(QUESTION, fresh=True) as events:
            first = next(events)
            run, said = events.run_id, [first, *events]
        assert door.made == 3
        assert events.run_id == run  # the same run: nothing was asked anew
        assert events.place == f"{run}/{len(said)}"  # and no event is missing or there twice
        done = said[-1]
        assert isinstance(done, DoneEvent)
        assert done.answer_id is not None
        text = "".join(event.chunk for event in said if isinstance(event, AnswerChunkEvent))
        assert client.answer(done.answer_id).answer == text


async def test_an_awaited_one_is_read_on_too(base: str) -> None:
    with cutting(base, FIRST, b'"type":"tool_obs') as door:
        async with AsyncClient(door.url, token="eve", retries=5) as client:
            stream = client.ask_campaigns("How many campaigns ran by email?")
            said = [event.type async for event in stream]
        assert said[-1] == "final_answer"
        assert stream.place == f"{stream.run_id}/{len(said)}"
        assert door.made == 3


def test_one_that_is_cut_again_and_again_is_given_up(base: str) -> None:
    with cutting(base, FIRST, *[b"HTTP/1.1"] * 9) as door, Client(door.url, retries=2) as client:
        with pytest.raises(ConnectionFailed):
            list(client.ask_records(QUESTION, fresh=True))
        assert door.made == 1 + 3


def test_a_server_that_is_away_is_named() -> None:
    with Client("http://127.0.0.1:1/prod", retries=1) as client, pytest.raises(ConnectionFailed) as away:
        client.credits()
    assert not away.value.was_sent
    assert "http://127.0.0.1:1/prod/credits cannot be reached" in str(away.value)
