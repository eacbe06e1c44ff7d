from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncGenerator, AsyncIterator
from uuid import UUID

import pytest

from quarry.platform.errors import UNFORESEEN_MESSAGE, ConfigurationError, Unavailable
from quarry.streaming.events import LATE_MESSAGE, NDJSON, Event
from quarry.streaming.runs import RunStreams

QUIET = 60.0
"""A heartbeat interval that no test reaches."""
RUN = UUID("6d0f6d2e-0a5c-4f0b-9a52-6a3c8f0e1b77")


def encode(events: AsyncGenerator[Event], deadline: float = math.inf) -> AsyncGenerator[bytes]:
    return RunStreams().live(RUN, "someone", events, NDJSON, heartbeat_seconds=QUIET, deadline=deadline)


class Said(Event):
    type: str = "said"
    text: str


class Source:
    """A search that plays `script`: seconds to wait, or texts to say. It notes how it ended."""

    def __init__(self, *script: float | str) -> None:
        self._script = script
        self.ended_by: type[BaseException] | None = None

    async def events(self) -> AsyncGenerator[Event]:
        try:
            for act in self._script:
                if isinstance(act, str):
                    yield Said(text=act)
                else:
                    await asyncio.sleep(act)
        except BaseException as error:
            self.ended_by = type(error)
            raise


async def failing(*texts: str, error: Exception) -> AsyncGenerator[Event]:
    for text in texts:
        yield Said(text=text)
    raise error


async def joined(stream: AsyncIterator[bytes]) -> str:
    return b"".join([chunk async for chunk in stream]).decode()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Unavailable("The model is down."), "The model is down."),
        (ConfigurationError("OPENAI_API_KEY is sk-secret"), UNFORESEEN_MESSAGE),
        (ValueError("select secret from people"), UNFORESEEN_MESSAGE),
        (ExceptionGroup("all of it", [KeyError("secret")]), UNFORESEEN_MESSAGE),
    ],
)
async def test_a_failure_is_the_last_event_with_a_public_message(error: Exception, message: str) -> None:
    stream = encode(failing("one", error=error))
    [first, last] = (await joined(stream)).splitlines()
    assert json.loads(first)["text"] == "one"
    assert json.loads(last) == {"type": "error", "data": {"message": message}, "seq": f"{RUN}/2"}


@pytest.mark.parametrize("script", [("one", 60.0, "two"), ("one", *["more"] * 10_000)])
async def test_at_its_deadline_a_stream_ends_with_an_error_and_its_search_has_ended(script: tuple[float | str]) -> None:
    source = Source(*script)
    deadline = asyncio.get_running_loop().time() + 1
    stream = encode(source.events(), deadline=deadline)
    received = []
    async for line in stream:
        received.append(json.loads(line))
        ended_before = source.ended_by
        await asyncio.sleep(0.001)
    assert received[0]["text"] == "one"
    assert received[-1] | {"seq": ""} == {"type": "error", "data": {"message": LATE_MESSAGE}, "seq": ""}
    assert ended_before is not None
