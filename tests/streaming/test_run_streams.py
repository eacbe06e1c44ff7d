"""Streams of runs in the database: read on from any process, cancelled, ended when nobody comes back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import pytest

from quarry.platform.errors import Gone, NotFound
from quarry.postgres.pool import Database
from quarry.services.services import Services
from quarry.streaming.events import NDJSON, Event, StreamPosition
from quarry.streaming.runs import BROKEN_OFF_MESSAGE, CANCELLED_MESSAGE, NO_READER_MESSAGE, RunStore, RunStreams
from tests.waiting import PATIENCE_SECONDS

QUIET = 60.0


class Said(Event):
    type: str = "said"
    text: str


class Speaker:
    """A search that says a line whenever the test lets it."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[str | None] = asyncio.Queue()
        self.ended_by: type[BaseException] | None = None
        self.ended = asyncio.Event()

    def say(self, *texts: str) -> None:
        for text in texts:
            self.lines.put_nowait(text)

    def finish(self) -> None:
        self.lines.put_nowait(None)

    async def search(self) -> AsyncGenerator[Event]:
        try:
            while (text := await self.lines.get()) is not None:
                yield Said(text=text)
        except BaseException as error:
            self.ended_by = type(error)
            raise
        finally:
            self.ended.set()


@pytest.fixture
def other(make_services: Callable[..., Services], database_url: str) -> RunStreams:
    """What another process on the same database has."""
    return RunStreams(RunStore(make_services(database_url).database))


@pytest.fixture
async def streams(services: Services) -> AsyncIterator[RunStreams]:
    streams = RunStreams(RunStore(services.database), grace_seconds=QUIET, unattended_max=2)
    yield streams
    await streams.close()


@asynccontextmanager
async def listening(streams: RunStreams, speaker: Speaker, run_id: UUID) -> AsyncIterator[AsyncGenerator[bytes]]:
    stream = streams.live(run_id, "ann", speaker.search(), NDJSON, heartbeat_seconds=QUIET)
    try:
        yield stream
    finally:
        await stream.aclose()


def read(lines: list[bytes]) -> list[tuple[str, str]]:
    """Of each event its number, and what it says."""
    events = [json.loads(line) for line in lines]
    return [(event["seq"].rsplit("/")[1], event.get("text") or event["data"]["message"]) for event in events]


async def rest(streams: RunStreams, place: StreamPosition) -> list[tuple[str, str]]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return read([line async for line in streams.behind(place, "ann", NDJSON, heartbeat_seconds=QUIET)])


async def stored(database: Database, run_id: UUID, events: int) -> None:
    """Wait until so many events of a run are stored."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            row = await database.row("select count(*) as stored from run_events where run_id = %s", [run_id])
            if row and row["stored"] >= events:
                return
            await asyncio.sleep(0.02)


async def test_who_lost_the_connection_reads_on_in_another_process(
    streams: RunStreams, other: RunStreams, services: Services
) -> None:
    speaker, run_id = Speaker(), uuid4()
    async with listening(streams, speaker, run_id) as stream:
        speaker.say("one", "two")
        assert read([await anext(stream), await anext(stream)]) == [("1", "one"), ("2", "two")]
        await stored(services.database, run_id, 2)
    going_on = asyncio.create_task(rest(other, StreamPosition(run_id, 1)))
    speaker.say("three")
    speaker.finish()
    assert await going_on == [("2", "two"), ("3", "three")]


async def test_a_run_is_found_by_whose_it_is_for_ten_minutes(
    streams: RunStreams, other: RunStreams, services: Services
) -> None:
    speaker, run_id = Speaker(), uuid4()
    speaker.finish()
    async with listening(streams, speaker, run_id) as stream:
        assert [line async for line in stream] == []
    await other.check(StreamPosition(run_id), "ann")
    for place, caller in ((StreamPosition(run_id), "bob"), (StreamPosition(uuid4()), "ann")):
        with pytest.raises(NotFound):
            await other.check(place, caller)
        with pytest.raises(NotFound):
            await other.cancel(place.run_id, caller)
    await services.database.execute("update run_streams set started_at = now() - interval '601 seconds'")
    with pytest.raises(Gone):
        await other.check(StreamPosition(run_id), "ann")


async def test_a_run_is_cancelled_from_another_process(
    streams: RunStreams, other: RunStreams, services: Services
) -> None:
    speaker, run_id = Speaker(), uuid4()
    speaker.say("one")
    async with listening(streams, speaker, run_id) as stream:
        assert read([await anext(stream)]) == [("1", "one")]
        await stored(services.database, run_id, 1)
        await other.cancel(run_id, "ann")
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert read([line async for line in stream]) == [("2", CANCELLED_MESSAGE)]
    assert speaker.ended_by is asyncio.CancelledError
    assert await rest(other, StreamPosition(run_id, 1)) == [("2", CANCELLED_MESSAGE)]


async def test_a_run_that_nobody_comes_back_to_ends(services: Services, other: RunStreams) -> None:
    streams = RunStreams(RunStore(services.database), grace_seconds=1.0, unattended_max=2)
    speaker, run_id = Speaker(), uuid4()
    speaker.say("one")
    async with listening(streams, speaker, run_id) as stream:
        await anext(stream)
    assert not speaker.ended.is_set()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await speaker.ended.wait()
    assert await rest(other, StreamPosition(run_id, 1)) == [("2", NO_READER_MESSAGE)]
    await streams.close()


async def test_a_run_whose_process_is_gone_is_told(other: RunStreams, services: Services) -> None:
    run_id = uuid4()
    await RunStore(services.database).write(
        StreamPosition(run_id), "ann", None, ['{"type":"said","text":"one"}'], is_over=False
    )
    await services.database.execute("update run_streams set written_at = now() - interval '16 seconds'")
    assert await rest(other, StreamPosition(run_id)) == [("1", "one"), ("2", BROKEN_OFF_MESSAGE)]
