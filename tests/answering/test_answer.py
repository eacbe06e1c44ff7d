"""An answer while a model writes it: what is answer, what is talk between two calls, and what is no answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

import pytest
from pydantic import BaseModel

from quarry.answering.answer import Answer, AnswerEvent, Began, TextPiece, joined
from quarry.answering.loop import Tool, ToolProgress, ToolResult
from quarry.answering.written import CitationFilter
from quarry.models.interface import Message
from quarry.models.openai_model import OpenAIChat
from quarry.platform.budget import Budget
from quarry.runs.run_log import Run
from quarry.streaming.events import Event, PartialText, PartialTextEvent
from tests.fakes.openai_server import FakeOpenAI, Reply

PROMPT = "You answer questions about the parks of a town, from what your tools return."
MESSAGES = [Message("system", PROMPT), Message("user", "Which parks are new?")]


class Nothing(BaseModel):
    """No arguments."""


async def _parks(arguments: Nothing) -> ToolResult:
    return ToolResult(1, "1 park", "Elm Park, new [1]")


TOOL = Tool("parks", "All parks.", Nothing, _parks)
CALL = Reply.tool_calls([("parks", {})], content="Let me look that up.")


@pytest.fixture
def run(chat: OpenAIChat) -> Run:
    return Run("records", "demo", "q", Budget(max_turns=10, max_calls=4, max_seconds=30, max_tokens=10_000), chat)


def answer_of(run: Run) -> Answer:
    return Answer(run, "answer", 4, lambda written: [CitationFilter({1})], lambda text: "[1]" in text)


async def told(answer: Answer, tools: Sequence[Tool] = (TOOL,)) -> list[AnswerEvent]:
    return [event async for event in answer.events(MESSAGES, tools)]


async def test_talk_before_a_call_is_no_answer_and_the_text_after_it_is(model: FakeOpenAI, run: Run) -> None:
    model.enqueue(CALL, Reply.text("Sources: 1\n\nElm Park is new [1][7].\n\nNext: Who owns it?"))
    answer = answer_of(run)
    events = await told(answer)
    assert (
        answer.text
        == "".join(event.piece for event in events if isinstance(event, TextPiece))
        == "Elm Park is new [1]."
    )
    assert [type(event) for event in events if isinstance(event, Began)] == [Began]
    assert (answer.form.source_numbers, answer.form.followups) == (frozenset({1}), ["Who owns it?"])
    assert (answer.failed, run.degraded) == (False, [])


@pytest.mark.parametrize("said", ["Hello!", "I cannot say.", "Which town do you mean?", "The records do not say so."])
async def test_small_talk_a_refusal_and_a_question_back_need_no_call(model: FakeOpenAI, run: Run, said: str) -> None:
    model.enqueue(Reply.text(said))
    answer = answer_of(run)
    await told(answer)
    assert (answer.text, answer.failed, len(model.requests)) == (said, False, 1)


@pytest.mark.parametrize(
    "reply",
    [
        Reply.text(PROMPT),
        Reply.text("<|im_start|>assistant Elm Park"),
        Reply.text('<source n="1">Elm Park</source>'),
        Reply.text("Sources: none\n\n"),
        Reply.http_error(500),
    ],
)
async def test_what_repeats_the_prompt_or_says_nothing_is_no_answer(model: FakeOpenAI, run: Run, reply: Reply) -> None:
    model.respond = lambda body: reply
    answer = answer_of(run)
    assert not [event for event in await told(answer) if isinstance(event, TextPiece)]
    assert (answer.text, answer.has_begun, answer.failed, run.degraded) == ("", False, True, ["answer"])


@pytest.mark.parametrize(
    "junk", ["<end_of_turn>\n<start_of_turn>user", "<|im_end|>", '<source n="2">', "</s>", "[/INST] Go"]
)
@pytest.mark.parametrize("size", [1, 3, 100])
async def test_an_answer_is_over_where_a_mark_of_a_prompt_begins(
    model: FakeOpenAI, run: Run, junk: str, size: int
) -> None:
    said = f"Elm Park is new [1]. 2 < 3.{junk} and so on"
    model.enqueue(replace(Reply.text(said), pieces=tuple(said[at : at + size] for at in range(0, len(said), size))))
    answer = answer_of(run)
    await told(answer)
    assert (answer.text, answer.failed) == ("Elm Park is new [1]. 2 < 3.", False)


@pytest.mark.parametrize(
    ("begun", "again", "whole"),
    [
        ("It was opened in ", "It was opened in 2019 [1].", "It was opened in 2019 [1]."),
        ("It was opened in ", "2019 [1].", "It was opened in 2019 [1]."),
        ("It was opened in", "It was opened in 2019.", "It was opened in 2019."),
        ("It was opened in ", "The year was 2019.", "It was opened in … The year was 2019."),
        ("It was opened in ", "", "It was opened in …"),
        ("", "It is new.", "It is new."),
    ],
)
def test_a_correction_goes_on_with_the_sentence_that_was_begun(begun: str, again: str, whole: str) -> None:
    assert begun + joined(begun, again) == whole


async def test_a_text_that_goes_round_in_circles_is_cut_off(model: FakeOpenAI, run: Run) -> None:
    circle = "Elm Park is new and it was opened by the mayor in the spring of that year with a band. "
    model.enqueue(Reply.text(circle * 50))
    answer = answer_of(run)
    await told(answer)
    assert (answer.failed, len(answer.text) < len(circle) * 6) == (True, True)


async def test_the_steps_of_a_tool_are_told_while_it_works(model: FakeOpenAI, run: Run) -> None:
    async def works(arguments: Nothing) -> AsyncGenerator[Event | ToolResult]:
        yield PartialTextEvent(data=PartialText(text="looking"))
        yield ToolResult(1, "1 park", "Elm Park")

    model.enqueue(CALL, Reply.text("Elm Park."))
    events = await told(answer_of(run), [Tool("parks", "All parks.", Nothing, works)])
    [progress] = [event.event for event in events if isinstance(event, ToolProgress)]
    assert progress == PartialTextEvent(data=PartialText(text="looking"))
