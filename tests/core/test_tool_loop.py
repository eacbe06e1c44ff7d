"""The tool loop against a server that speaks OpenAI's wire format."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field
from quarry.core.model.tool_loop import Tool, ToolFinished, ToolResult, ToolStarted, call_tools

from quarry.core.budget import Budget
from quarry.core.errors import DatabaseUnavailable
from quarry.core.model.interface import Message, Usage
from quarry.core.model.openai_model import OpenAIChat
from quarry.core.run_log import Run
from tests.fakes.openai_server import Body, FakeOpenAI, Reply

MESSAGES = [Message("system", "Search until you know."), Message("user", "Which parks are new?")]
DONE = Reply.text("I know enough.")


class SearchArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1)
    limit: int = Field(default=10, le=50)


class Desk:
    """A tool that notes what it is asked for."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[SearchArguments] = []
        self._error = error
        self.tools = [Tool("search", "Search the records.", SearchArguments, self._search)]

    async def _search(self, arguments: SearchArguments) -> ToolResult:
        self.asked.append(arguments)
        if self._error:
            raise self._error
        return ToolResult(3, f"3 found for {arguments.query}", f"Rows about {arguments.query}")


@pytest.fixture
def run(chat: OpenAIChat) -> Run:
    return Run("records", "demo", "q", Budget(max_turns=10, max_calls=10, max_seconds=30, max_tokens=10_000), chat)


async def loop(run: Run, desk: Desk, *, max_turns: int = 6) -> list[ToolStarted | ToolFinished]:
    assert run.chat is not None
    calls = call_tools(MESSAGES, desk.tools, run, step_name="research", max_turns=max_turns)
    return [event async for event in calls]


def search(*queries: str) -> Reply:
    return Reply.tool_calls([("search", {"query": query}) for query in queries])


def tool_messages(request: Body) -> list[dict[str, Any]]:
    return [message for message in request["messages"] if message["role"] == "tool"]


async def test_the_model_calls_tools_and_reads_their_results(server: FakeOpenAI, run: Run) -> None:
    server.enqueue(search("new parks"), DONE)
    desk = Desk()
    assert await loop(run, desk) == [
        ToolStarted("call_1", "search", {"query": "new parks", "limit": 10}),
        ToolFinished("call_1", "search", ToolResult(3, "3 found for new parks", "Rows about new parks")),
    ]
    [first, second] = server.requests
    assert first["tools"][0]["function"]["parameters"]["required"] == ["query"]
    assert second["messages"][-2]["tool_calls"][0]["id"] == "call_1"
    assert second["messages"][-1] == {"role": "tool", "content": "Rows about new parks", "tool_call_id": "call_1"}


async def test_every_turn_is_a_step_with_its_tokens_and_its_count_of_calls(server: FakeOpenAI, run: Run) -> None:
    server.enqueue(search("a", "b"), DONE)
    await loop(run, Desk())
    assert [(step.name, step.counts["tool_calls"], step.usage) for step in run.steps] == [
        ("research", 2, Usage(20, 10)),
        ("research", 0, Usage(20, 10)),
    ]
    assert (run.budget.turns, run.budget.calls, run.budget.tokens) == (2, 2, 60)
    assert run.degraded == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ('{"query": "parks"', "Invalid JSON"),
        ("parks", "Invalid JSON"),
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
async def test_wrong_arguments_go_back_to_the_model(server: FakeOpenAI, run: Run, arguments: str, problem: str) -> None:
    server.enqueue(Reply.tool_calls([("search", arguments)]), search("parks"), DONE)
    desk = Desk()
    [started, finished, *others] = await loop(run, desk)
    assert started == ToolStarted("call_1", "search", {})
    assert isinstance(finished, ToolFinished)
    assert finished.result.count == 0
    assert problem in tool_messages(server.requests[1])[0]["content"]
    assert [asked.query for asked in desk.asked] == ["parks"]
    assert len(others) == 2


async def test_a_tool_that_does_not_exist_is_not_called(server: FakeOpenAI, run: Run) -> None:
    server.enqueue(Reply.tool_calls([("drop_tables", {}), ("search", {"query": "parks"})]), DONE)
    desk = Desk()
    await loop(run, desk)
    [unknown, known] = tool_messages(server.requests[1])
    assert unknown["content"] == "There is no tool 'drop_tables'; the tools are search."
    assert known["content"] == "Rows about parks"
    assert len(desk.asked) == 1


async def test_a_model_that_answers_without_having_looked_is_asked_once_to_look(server: FakeOpenAI, run: Run) -> None:
    assert run.chat is not None
    broken = Reply.tool_calls([("search", {"query": ""})])
    server.enqueue(Reply.text("Two."), broken, Reply.text("Three."))
    said: list[Message] = []
    calls = call_tools(
        MESSAGES, Desk().tools, run, step_name="research", max_turns=6, said=said, look_first="Look it up."
    )
    assert len([event async for event in calls]) == 2
    assert [message.content for message in said if message.role == "user"] == ["Look it up."]
    assert said[-1].content == "Three."
    server.enqueue(search("parks"), DONE)
    await loop(run, Desk())
    assert len(server.requests) == 5


async def test_a_repeated_call_is_answered_from_memory(server: FakeOpenAI, run: Run) -> None:
    reordered = json.dumps({"limit": 10, "query": "parks"})
    server.enqueue(search("parks", "parks"), Reply.tool_calls([("search", reordered)]), search("roads"), DONE)
    desk = Desk()
    events = await loop(run, desk)
    assert [asked.query for asked in desk.asked] == ["parks", "roads"]
    results = [event.result for event in events if isinstance(event, ToolFinished)]
    assert [result.text_for_model for result in results] == ["Rows about parks"] * 3 + ["Rows about roads"]
    assert run.budget.calls == 4


async def test_a_turn_gets_no_more_calls_than_the_budget_has_left(server: FakeOpenAI, run: Run) -> None:
    run.budget.max_calls = 2
    server.enqueue(search("a", "b", "c"), DONE)
    desk = Desk()
    assert len(await loop(run, desk)) == 4
    assert [asked.query for asked in desk.asked] == ["a", "b"]
    assert len(server.requests) == 1
    assert run.steps[0].counts["tool_calls"] == 3


async def test_every_call_in_the_conversation_has_its_result(server: FakeOpenAI, run: Run) -> None:
    server.enqueue(search("a", "b"), search("c"), DONE)
    await loop(run, Desk())
    messages = server.requests[-1]["messages"]
    called = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == called


async def test_turns_end_with_the_loop_s_limit(server: FakeOpenAI, run: Run) -> None:
    numbers = iter(range(100))
    server.respond = lambda body: search(f"query {next(numbers)}")
    await loop(run, Desk(), max_turns=3)
    assert len(server.requests) == 3
    assert run.degraded == []


@pytest.mark.parametrize("limits", [{"max_turns": 2}, {"max_tokens": 60}, {"max_calls": 2}])
async def test_turns_end_with_the_budget(server: FakeOpenAI, run: Run, limits: dict[str, int]) -> None:
    numbers = iter(range(100))
    server.respond = lambda body: search(f"query {next(numbers)}")
    for name, value in limits.items():
        setattr(run.budget, name, value)
    await loop(run, Desk())
    assert len(server.requests) == 2


async def test_a_turn_ends_in_time_for_the_answer(server: FakeOpenAI, run: Run) -> None:
    run.budget.max_seconds, run.budget.reserved_seconds = 10.3, 10.0
    server.enqueue(Reply.hang(5))
    assert await loop(run, Desk()) == []
    assert run.degraded == ["research"]
    assert run.budget.seconds_left > 9


@pytest.mark.parametrize("failure", [Reply.http_error(500), Reply.refusal(), Reply.text(""), Reply.malformed()])
async def test_a_model_that_fails_midway_leaves_what_was_found(server: FakeOpenAI, run: Run, failure: Reply) -> None:
    server.enqueue(search("parks"), failure)
    assert len(await loop(run, Desk())) == 2
    assert run.degraded == ["research"]
    assert [step.status for step in run.steps] == ["completed", "degraded"]


async def test_a_tool_s_own_failure_ends_the_loop(server: FakeOpenAI, run: Run) -> None:
    server.enqueue(search("parks"), DONE)
    with pytest.raises(DatabaseUnavailable):
        await loop(run, Desk(DatabaseUnavailable()))
    assert len(server.requests) == 1


async def test_a_tool_at_work_when_the_time_is_up_is_stopped_and_the_rest_not_begun(
    server: FakeOpenAI, run: Run
) -> None:
    class SlowDesk(Desk):
        async def _search(self, arguments: SearchArguments) -> ToolResult:
            self.asked.append(arguments)
            await asyncio.sleep(60)
            raise AssertionError

    assert run.chat is not None
    server.enqueue(search("parks", "roads"))
    desk, results, left = SlowDesk(), list[ToolResult](), iter([0.02, 0.0])
    run.budget.clock = lambda: run.budget._started
    async for event in call_tools(MESSAGES, desk.tools, run, step_name="research", max_turns=6):
        if isinstance(event, ToolStarted):
            run.budget.max_seconds = next(left)
        else:
            results.append(event.result)
    assert [result.count for result in results] == [0, 0]
    assert [arguments.query for arguments in desk.asked] == ["parks"]
    assert run.degraded == ["research"]
    assert len(server.requests) == 1
