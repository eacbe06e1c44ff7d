"""`/v1/`: each domain as a model of OpenAI's chat completions, for chat interfaces and programs that speak to such models."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Header, Request
from starlette.responses import JSONResponse, Response

from quarry.agent.completions import Chat, ChatAnswer, Sources, citations, listing
from quarry.domains import REMEMBERED_SECONDS, filled_domains, having, module
from quarry.platform.errors import Conflict, ModelNotFound, PaymentRequired
from quarry.runs.idempotency import KeyText
from quarry.runs.run_log import UsageRecorder
from quarry.streaming.events import Event
from quarry.streaming.runs import RunStreams
from quarry.web.openai_shapes import (
    CHUNK_SCHEMA,
    CHUNKS,
    DONE,
    Annotation,
    AssistantMessage,
    Choice,
    Completion,
    CompletionRequest,
    CompletionUsage,
    Model,
    ModelList,
    chunk,
    url_annotations,
)
from quarry.web.problems import OPENAI_PREFIX, documented, request_id_of
from quarry.web.requests import ModelCaller, PlainCaller, ServicesDependency
from quarry.web.streams import stream_response

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
    heard, run_id = UsageRecorder(services.run_log), uuid4()
    chat = Chat(
        body.question,
        body.before,
        caller,
        replace(services, run_log=heard),
        run_id,
        request_id_of(request),
        idempotency_key,
    )
    # imported with the first question
    answer = await module(MODELS[body.model], "agent_tools").complete(chat)
    reply = _Reply(f"chatcmpl-{run_id}", int(time.time()), body.model, answer, heard)
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
    heard: UsageRecorder
    citations: list[Annotation] = field(default_factory=list)
    """Set once the text has been read to its end."""

    async def whole(self) -> Completion:
        content = "".join([piece async for piece in self._text()])
        return Completion(
            id=self.id,
            created=self.created,
            model=self.model,
            choices=[Choice(message=AssistantMessage(content=content, annotations=self.citations))],
            usage=CompletionUsage.of(self.heard.usage),
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
            yield chunk(self.id, self.created, self.model, None, usage=self.heard.usage)
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
