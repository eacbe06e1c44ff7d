"""`/v1/`: each domain as a model of OpenAI's chat completions, for chat interfaces and programs that speak to such models."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, Self
from uuid import uuid4

from fastapi import APIRouter, Header, Request
from pydantic import BeforeValidator, Field, StrictBool, StrictInt, field_validator
from starlette.responses import JSONResponse, Response

from quarry.agent.completions import Chat, ChatAnswer, Sources, Turn, UrlCitation, citations, listing
from quarry.domains import REMEMBERED_SECONDS, filled_domains, having, module
from quarry.models.interface import Usage
from quarry.platform.contract import LazyModel
from quarry.platform.errors import Conflict, ModelNotFound, PaymentRequired
from quarry.platform.text import QUERY_MAX_CHARACTERS, CleanText, Storable
from quarry.runs.idempotency import KeyText
from quarry.runs.run_log import UsageRecorder
from quarry.streaming.events import Event, Form
from quarry.streaming.runs import RunStreams
from quarry.web.problems import OPENAI_PREFIX, documented, request_id_of, stream_error
from quarry.web.requests import ModelCaller, PlainCaller, ServicesDependency
from quarry.web.streams import stream_response

MESSAGES_MAX = 1000

_Text = Annotated[str, Storable]


class TextPart(LazyModel):
    """A part of a message; only text is accepted."""

    type: Literal["text"]
    text: _Text


def _as_parts(content: Any) -> Any:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


class RequestMessage(LazyModel):
    """A message of the conversation. Those of systems, developers and tools are ignored."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[
        list[TextPart], BeforeValidator(_as_parts, json_schema_input_type=_Text | list[TextPart] | None)
    ] = []

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content).strip()


class StreamOptions(LazyModel):
    include_usage: StrictBool | None = None


class TextFormat(LazyModel):
    type: Literal["text"]


class CompletionRequest(LazyModel):
    """`POST /v1/chat/completions`: the user's last message is the question, earlier messages are the conversation.

    `tools` are ignored, as `tool_choice` `auto` permits; a choice that requires a call is refused, as is any format but text.
    Sampling parameters and token limits are ignored.
    """

    model: _Text = Field(examples=["quarry-records"])
    messages: list[RequestMessage] = Field(
        min_length=1, max_length=MESSAGES_MAX, examples=[[{"role": "user", "content": "Why was the old elm kept?"}]]
    )
    stream: StrictBool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[StrictInt, Field(ge=1, le=1)] | None = None
    tool_choice: Literal["auto", "none"] | None = None
    function_call: Literal["auto", "none"] | None = None
    response_format: TextFormat | None = None

    @field_validator("messages")
    @classmethod
    def _ask_something(cls, messages: list[RequestMessage]) -> list[RequestMessage]:
        place = _question_place(messages)
        question = "" if place is None else messages[place].text
        if not question:
            raise ValueError("there must be a message of the user with text")
        if len(question) > QUERY_MAX_CHARACTERS:
            raise ValueError(f"the last message of the user must have at most {QUERY_MAX_CHARACTERS} characters")
        return messages

    @property
    def question(self) -> str:
        return self.messages[self._place].text

    @property
    def before(self) -> list[Turn]:
        """The messages of the user and the assistant before the question."""
        return [
            Turn(message.role, message.text)
            for message in self.messages[: self._place]
            if message.role in ("user", "assistant") and message.text
        ]

    @property
    def _place(self) -> int:
        place = _question_place(self.messages)
        assert place is not None
        return place


def _question_place(messages: Sequence[RequestMessage]) -> int | None:
    """The index of the user's last message with text."""
    places = (
        place for place in reversed(range(len(messages))) if messages[place].role == "user" and messages[place].text
    )
    return next(places, None)


class CitedUrl(LazyModel):
    """The characters of `content`, from `start_index` to before `end_index`, that cite a web page."""

    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(LazyModel):
    type: Literal["url_citation"] = "url_citation"
    url_citation: CitedUrl


class AssistantMessage(LazyModel):
    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    annotations: list[Annotation]


class Choice(LazyModel):
    index: Literal[0] = 0
    message: AssistantMessage
    logprobs: None = None
    finish_reason: Literal["stop"] = "stop"


class CompletionUsage(LazyModel):
    """Tokens of the chat model over all steps of the answer; 0 without a model."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, usage: Usage) -> Self:
        return cls(
            prompt_tokens=usage.prompt_tokens, completion_tokens=usage.completion_tokens, total_tokens=usage.total
        )


class Completion(LazyModel):
    """A whole answer. `id` ends in the id of its run."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: CompletionUsage


class Model(LazyModel):
    id: CleanText
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: Literal["quarry"] = "quarry"


class ModelList(LazyModel):
    """`GET /v1/models`: one for each domain that holds data."""

    object: Literal["list"] = "list"
    data: list[Model]


class _RawEvent(Event):
    """An event that is sent as its text."""

    type: str = "written"
    text: str

    def to_json(self) -> str:
        return self.text


DONE: Event = _RawEvent.model_construct(text="[DONE]")
"""The last event of a stream that did not fail."""

CHUNKS = Form(
    "text/event-stream; charset=utf-8",
    lambda event, place: f"data: {event}\n\n",
    heartbeat=b": still here\n\n",
    error=lambda message: _RawEvent(text=json.dumps(stream_error(message))),
)
"""OpenAI's server-sent events."""

CHUNK_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"data": {"type": "string", "description": "A `chat.completion.chunk`; the last event is `[DONE]`."}},
    "required": ["data"],
}


def url_annotations(citations: Sequence[UrlCitation]) -> list[Annotation]:
    return [
        Annotation(url_citation=CitedUrl(start_index=each.start, end_index=each.end, title=each.title, url=each.url))
        for each in citations
    ]


def chunk(
    id: str,
    created: int,
    model: str,
    delta: dict[str, Any] | None,
    *,
    is_last: bool = False,
    usage: Usage | None = None,
) -> Event:
    """A piece of an answer; without a `delta` it carries only the usage."""
    choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": "stop" if is_last else None}]
    body = {
        "id": id,
        "object": "chat.completion.chunk",
        "created": created,
        "model": model,
        "choices": [] if delta is None else choices,
    }
    if usage is not None:
        body["usage"] = CompletionUsage.of(usage).model_dump()
    return _RawEvent(text=json.dumps(body, ensure_ascii=False))


_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Completion,
        "description": "The answer; where `stream` is true, as OpenAI's server-sent events, the last one `[DONE]`.",
        "content": {"text/event-stream": {"itemSchema": CHUNK_SCHEMA}},
    }
}


Key = Annotated[
    KeyText | None,
    Header(
        alias="Idempotency-Key",
        description="For `quarry-people`, where an answer costs a credit: the same question under the same key is "
        "answered as before, for nothing.",
    ),
]


router = APIRouter(tags=["agents"])
MODELS = {f"quarry-{domain}": domain for domain in having("agent_tools")}
"""The domain of each model."""


@router.get("/v1/models")
async def list_models(caller: PlainCaller, services: ServicesDependency) -> ModelList:
    """The models: one for each domain that holds data."""
    filled = await filled_domains(services, services.database, seconds=REMEMBERED_SECONDS)
    return ModelList(data=[Model(id=model) for model in sorted(MODELS) if MODELS[model] in filled])


@router.post(
    "/v1/chat/completions",
    response_class=JSONResponse,
    responses=_ANSWER | documented(ModelNotFound, PaymentRequired, Conflict, path=OPENAI_PREFIX),
)
async def complete(
    request: Request,
    body: CompletionRequest,
    caller: ModelCaller,
    services: ServicesDependency,
    idempotency_key: Key = None,
) -> Response:
    """An answer to the user's last message, in the shape of OpenAI's chat completions."""
    if body.model not in MODELS:
        raise ModelNotFound(f"There is no such model. The models are {', '.join(MODELS)}.")
    usage_log, run_id = UsageRecorder(services.run_log), uuid4()
    chat = Chat(
        body.question,
        body.before,
        caller,
        replace(services, run_log=usage_log),
        run_id,
        request_id_of(request),
        idempotency_key,
    )
    # imported with the first question
    answer = await module(MODELS[body.model], "agent_tools").complete(chat)
    reply = _Reply(f"chatcmpl-{run_id}", int(time.time()), body.model, answer, usage_log)
    if not body.stream:
        return JSONResponse((await reply.whole()).model_dump())
    with_usage = bool(body.stream_options and body.stream_options.include_usage)
    # nobody resumes such a stream, so nothing of it is stored, and the search ends when its reader leaves
    alone = replace(services, streams=RunStreams())
    return stream_response(request, lambda _: reply.chunks(with_usage=with_usage), caller, alone, CHUNKS)


@dataclass
class _Reply:
    """A domain's answer to one request, on its way into OpenAI's shapes."""

    id: str
    created: int
    model: str
    answer: ChatAnswer
    usage_log: UsageRecorder
    citations: list[Annotation] = field(default_factory=list)
    """Set once the text has been read to its end."""

    async def whole(self) -> Completion:
        content = "".join([piece async for piece in self._text()])
        return Completion(
            id=self.id,
            created=self.created,
            model=self.model,
            choices=[Choice(message=AssistantMessage(content=content, annotations=self.citations))],
            usage=CompletionUsage.of(self.usage_log.usage),
        )

    async def chunks(self, *, with_usage: bool) -> AsyncGenerator[Event]:
        yield self._chunk({"role": "assistant", "content": ""})
        async with aclosing(self._text()) as pieces:
            async for piece in pieces:
                yield self._chunk({"content": piece})
        if self.citations:
            yield self._chunk({"annotations": [each.model_dump() for each in self.citations]})
        yield self._chunk({}, is_last=True)
        if with_usage:
            yield chunk(self.id, self.created, self.model, None, usage=self.usage_log.usage)
        yield DONE

    async def _text(self) -> AsyncGenerator[str]:
        """The pieces of the text, the list of its sources last."""
        text, sources = "", Sources("", ())
        async with aclosing(self.answer):
            async for piece in self.answer:
                if isinstance(piece, Sources):
                    sources = piece
                elif piece:
                    text += piece
                    yield piece
        if listed := listing(sources):
            yield listed
        self.citations = url_annotations(citations(text, sources))

    def _chunk(self, delta: dict[str, Any], *, is_last: bool = False) -> Event:
        return chunk(self.id, self.created, self.model, delta, is_last=is_last)
