"""The loop in which a model calls tools and answers, against a server that speaks OpenAI's wire format."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

import pytest
from pydantic import BaseModel, ConfigDict, Field

from quarry.answering.loop import Text, Tool, ToolFinished, ToolResult, ToolStarted, TurnEnded, TurnEvent, converse
from quarry.models.interface import Message, Usage
from quarry.models.openai_model import OpenAIChat
from quarry.platform.budget import Budget
from quarry.platform.errors import DatabaseUnavailable, ModelError
from quarry.runs.run_log import Run
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.waiting import PATIENCE_SECONDS

MESSAGES = [Message("system", "Search until you know."), Message("user", "Which parks are new?")]


class SearchArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1)
    limit: int = Field(default=10, le=50)


class Desk:
    """A search tool; every search waits until as many as `together` have begun."""

    def __init__(self, together: int = 1, *, error: Exception | None = None) -> None:
        self._error = error
        self.asked: list[str] = []
        self.ended = 0
        self._all_begun = asyncio.Event()
        self._together = together
        self.tools = [Tool("search", "Search the records.", SearchArguments, self._search)]

    async def _search(self, arguments: SearchArguments) -> ToolResult:
        self.asked.append(arguments.query)
        if self._error:
            raise self._error
        if len(self.asked) >= self._together:
            self._all_begun.set()
        try:
            await asyncio.wait_for(self._all_begun.wait(), PATIENCE_SECONDS)
        finally:
            self.ended += 1
        return ToolResult(1, f"found {arguments.query}", f"rows of {arguments.query}")


@pytest.fixture
def run(chat: OpenAIChat) -> Run:
    return Run("records", "demo", "q", Budget(max_turns=10, max_calls=4, max_seconds=30, max_tokens=10_000), chat)


async def happened(run: Run, desk: Desk, *, max_turns: int = 6) -> list[TurnEvent]:
    conversation = converse(MESSAGES, desk.tools, run, step_name="research", max_turns=max_turns)
    return [event async for event in conversation]


def search(*queries: str, content: str | None = None) -> Reply:
    return Reply.tool_calls([("search", {"query": query}) for query in queries], content=content)


def text_of(events: Sequence[TurnEvent]) -> str:
    return "".join(event.piece for event in events if isinstance(event, Text))


async def test_two_calls_of_the_model_search_and_answer(model: FakeOpenAI, run: Run) -> None:
    model.enqueue(search("parks"), Reply.text("Elm Park is new."))
    events = await happened(run, Desk())
    assert events[:4] == [
        TurnEnded(has_calls=True),
        ToolStarted("call_1", "search", {"query": "parks"}),
        ToolFinished("call_1", "search", ToolResult(1, "found parks", "rows of parks")),
        Text("Elm"),
    ]
    assert (text_of(events), events[-1]) == ("Elm Park is new.", TurnEnded(has_calls=False))
    [_, second] = model.requests
    assert second["messages"][-1] == {"role": "tool", "content": "rows of parks", "tool_call_id": "call_1"}
    assert (run.budget.turns, run.budget.calls, run.degraded) == (2, 1, [])


async def test_the_calls_of_one_turn_run_side_by_side(model: FakeOpenAI, run: Run) -> None:
    model.enqueue(search("a", "b", "c"), Reply.text("Done."))
    desk = Desk(together=3)
    finished = [event for event in await happened(run, desk) if isinstance(event, ToolFinished)]
    assert (len(finished), desk.asked) == (3, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ('{"query": "parks"', "Invalid JSON"),
        ("[" * 100_000, "Invalid JSON"),
        ('{"query": "parks", "limit": ' + "9" * 5000 + "}", "Invalid JSON"),
        ('{"query": "\\ud800"}', "Invalid JSON"),
        ('["parks"]', "should be an object"),
        ("", "query: Field required"),
        ('{"query": ""}', "query: String should have at least 1 character"),
        ('{"query": "parks", "limit": 51}', "limit: Input should be less than or equal to 50"),
        (
            '{"query": "parks", "user_id": "mayor"}',
            "user_id: Extra inputs are not permitted; the arguments of search are query, limit",
        ),
    ],
    ids=lambda value: value[:24],
)
async def test_wrong_arguments_go_back_to_the_model_and_the_conversation_goes_on(
    model: FakeOpenAI, run: Run, arguments: str, problem: str
) -> None:
    model.enqueue(Reply.tool_calls([("search", arguments)]), search("parks"), Reply.text("Elm Park."))
    desk = Desk()
    assert text_of(await happened(run, desk)) == "Elm Park."
    assert problem in model.requests[1]["messages"][-1]["content"]
    assert desk.asked == ["parks"]


async def test_the_same_call_again_is_answered_from_memory(model: FakeOpenAI, run: Run) -> None:
    reordered = Reply.tool_calls([("search", '{"limit": 10, "query": "parks"}')])
    model.enqueue(search("parks"), reordered, Reply.text("Elm Park."))
    desk = Desk()
    await happened(run, desk)
    assert desk.asked == ["parks"]


async def test_every_turn_is_a_step_with_its_tokens_and_its_count_of_calls(model: FakeOpenAI, run: Run) -> None:
    model.enqueue(search("a", "b"), Reply.text("Done."))
    await happened(run, Desk())
    assert [(step.name, step.counts["tool_calls"], step.usage) for step in run.steps] == [
        ("research", 2, Usage(20, 10)),
        ("research", 0, Usage(20, 10)),
    ]
    assert run.budget.tokens == 60


@pytest.mark.parametrize("limits", [{"max_turns": 2}, {"max_tokens": 30}, {"max_calls": 1}])
async def test_tools_are_offered_while_the_budget_lasts(model: FakeOpenAI, run: Run, limits: dict[str, int]) -> None:
    for name, value in limits.items():
        setattr(run.budget, name, value)
    model.respond = lambda body: search(f"query {len(body['messages'])}") if "tools" in body else Reply.text("So far.")
    assert text_of(await happened(run, Desk())) == "So far."
    assert len(model.requests) <= 3


async def test_a_tools_own_failure_ends_the_conversation(model: FakeOpenAI, run: Run) -> None:
    model.enqueue(search("parks"), Reply.text("Never."))
    with pytest.raises(DatabaseUnavailable):
        await happened(run, Desk(error=DatabaseUnavailable()))
    assert len(model.requests) == 1


async def test_a_tool_at_work_when_the_time_for_work_is_up_is_stopped(model: FakeOpenAI, run: Run) -> None:
    model.enqueue(search("parks"), Reply.text("In time."))
    run.budget.max_seconds, run.budget.reserved_seconds = 20.0, 19.7
    desk = Desk(together=2)
    events = await happened(run, desk)
    assert (text_of(events), desk.ended, run.degraded) == ("In time.", 1, ["research"])
    assert "time for searching is up" in model.requests[1]["messages"][-1]["content"]


async def test_calls_beyond_the_budget_are_not_run_and_the_model_is_told(model: FakeOpenAI, run: Run) -> None:
    model.enqueue(search("a", "b", "c", "d", "e"), Reply.text("Four."))
    desk = Desk()
    await happened(run, desk)
    assert desk.asked == ["a", "b", "c", "d"]
    assert "No tool calls are left" in model.requests[1]["messages"][-1]["content"]
    assert "tools" not in model.requests[1]


async def test_a_failing_model_raises_and_degrades_the_step(model: FakeOpenAI, run: Run) -> None:
    model.enqueue(search("a"), Reply.http_error(400))
    with pytest.raises(ModelError):
        await happened(run, Desk())
    assert run.degraded == ["research"]


async def test_who_leaves_stops_the_tools_that_are_at_work(model: FakeOpenAI, run: Run) -> None:
    model.enqueue(search("a", "b"))
    desk = Desk(together=3)
    async with aclosing(converse(MESSAGES, desk.tools, run, step_name="research", max_turns=3)) as events:
        async for event in events:
            if isinstance(event, ToolStarted) and event.id == "call_2":
                await asyncio.sleep(0)
                break
    assert desk.ended == len(desk.asked)
