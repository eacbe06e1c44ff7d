"""Chat and embeddings from OpenAI, or from any server that speaks its Chat Completions and Embeddings.

The SDK connects, retries and streams. What comes back is read by our own small types, which hold what we use and accept
what laxer servers leave out. The SDK is imported on first use: that takes half a second of processor time, and a process
without a model need not pay it.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from quarry.core.errors import ConfigurationError, ModelError, ModelOutputInvalid, ModelRefused, ModelUnavailable
from quarry.core.model.interface import Message, Output, Structured, TextStream, ToolCall, ToolDefinition, Turn, Usage
from quarry.core.text import shorten

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream, OpenAIError
    from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

OPENAI_BASE_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 3.0

# OpenAI takes 2,048 texts and 300,000 tokens a request. Characters of dense scripts can be a token each.
BATCH_TEXTS = 256
BATCH_CHARACTERS = 200_000

# OpenAI's embedding models read 8,191 tokens. 2,000 English words are some 3,000 tokens, but 13,000 bytes of figures,
# Korean or Chinese can be 8,000.
WINDOW_WORDS = 2_000
WINDOW_STRIDE = 0.9
WINDOW_BYTES = 13_000
WORD_CHARACTERS = 200

MAX_PROBLEMS = 8
PROBLEM_CHARACTERS = 200

_DECLINED = "The model declined to answer."
_NOT_OPENAI = "The model's server sent an answer that is not in OpenAI's format."
_STATUS_MESSAGES = {
    400: "The model's server finds the request invalid; check the model's name and what it supports.",
    401: "The model's server does not accept the key; check OPENAI_API_KEY.",
    403: "The key may not use this model; check OPENAI_API_KEY and the model's name.",
    404: "The model's server does not know the model; check its name and OPENAI_BASE_URL.",
    429: "The model's rate limit or quota is used up; try again shortly.",
}

# Keywords that OpenAI refuses (`default is not permitted`), or that only repeat a name.
_NOT_STRICT = frozenset({"title", "default", "examples", "discriminator", "minLength", "maxLength", "uniqueItems"})

_FENCED = re.compile(r"```[\w-]*\s*\n(.*?)\n?\s*```", re.DOTALL)
_WORD = re.compile(rf"\S{{1,{WORD_CHARACTERS}}}")


class OpenAIChat:
    """A ChatModel over Chat Completions, the API that compatible servers share.

    No call takes longer than `timeout_seconds`, whatever `seconds` it is given. `max_retries` is for 429, 5xx and
    broken connections: the SDK waits longer each time, with jitter, or as Retry-After says; the call's end cuts it short.
    Raises ConfigurationError when there is neither a key nor a base URL.
    """

    def __init__(
        self, *, api_key: str | None, base_url: str | None, model: str, max_retries: int, timeout_seconds: float
    ) -> None:
        self._connection = _Connection(api_key, base_url, max_retries, timeout_seconds)
        self._model = model
        self._timeout_seconds = timeout_seconds

    @property
    def name(self) -> str:
        return self._model

    async def decide(
        self, messages: Sequence[Message], *, name: str, output_type: type[Output], seconds: float
    ) -> Structured[Output]:
        """A structured output. ModelOutputInvalid says what is wrong with it, fit for asking the model once more."""
        answer, usage = await self._complete(messages, seconds, response_format=_response_format(name, output_type))
        return Structured(_read_output(answer.content or "", name, output_type), usage)

    async def take_turn(self, messages: Sequence[Message], *, tools: Sequence[ToolDefinition], seconds: float) -> Turn:
        """One turn in which the model may call tools. ModelOutputInvalid if it neither writes nor calls."""
        # an empty list of tools is an error to OpenAI
        answer, usage = await self._complete(
            messages, seconds, **({"tools": [_wire_tool(tool) for tool in tools]} if tools else {})
        )
        calls = tuple(
            ToolCall(id=call.id or f"call_{number}", name=call.function.name, arguments=call.function.arguments or "{}")
            for number, call in enumerate(answer.tool_calls or (), start=1)
            if call.function
        )
        if not answer.content and not calls:
            raise ModelOutputInvalid("The model's answer is empty.")
        return Turn(text=answer.content or "", tool_calls=calls, usage=usage)

    def stream(self, messages: Sequence[Message], *, seconds: float) -> TextStream:
        """A text answer, piece by piece. `seconds` run from the first one asked for. Closing `pieces` ends the request."""

        def keep(usage: Usage) -> None:
            answer.usage = usage

        answer = TextStream(self._pieces(messages, seconds, keep))
        return answer

    async def close(self) -> None:
        await self._connection.close()

    async def _complete(
        self, messages: Sequence[Message], seconds: float, **options: Any
    ) -> tuple[_AnswerMessage, Usage]:
        """The model's message and what it cost. Raises when the model refused or was cut off."""
        with _translated():
            client = self._connection.open()
            async with asyncio.timeout(min(seconds, self._timeout_seconds)):
                response = await client.chat.completions.with_raw_response.create(
                    model=self._model, messages=[_wire_message(message) for message in messages], **options
                )
            completion = _Completion.model_validate_json(response.content)
        if not completion.choices:
            raise ModelOutputInvalid("The model's answer is empty.")
        choice = completion.choices[0]
        if choice.message.refusal:
            raise ModelRefused(_DECLINED)
        _check_ending(choice.finish_reason)
        return choice.message, _usage(completion.usage)

    async def _pieces(
        self, messages: Sequence[Message], seconds: float, keep: Callable[[Usage], None]
    ) -> AsyncIterator[str]:
        finish_reason: str | None = None
        empty = True
        with _translated():
            client = self._connection.open()
            deadline = asyncio.get_running_loop().time() + min(seconds, self._timeout_seconds)
            async with asyncio.timeout_at(deadline):
                chunks = await client.chat.completions.create(
                    model=self._model,
                    messages=[_wire_message(message) for message in messages],
                    stream=True,
                    stream_options={"include_usage": True},
                )
            async with chunks:
                while (chunk := await _next_chunk(chunks, deadline)) is not None:
                    if chunk.usage:
                        keep(_usage(chunk.usage))
                    for choice in (chunk.choices or ())[:1]:
                        finish_reason = choice.finish_reason or finish_reason
                        if choice.delta and choice.delta.refusal:
                            raise ModelRefused(_DECLINED)
                        if choice.delta and choice.delta.content:
                            empty = False
                            yield choice.delta.content
        if finish_reason is None:
            raise ModelUnavailable("The model's answer broke off.")
        _check_ending(finish_reason)
        if empty:
            raise ModelOutputInvalid("The model's answer is empty.")


class OpenAIEmbedding:
    """An EmbeddingModel. Each request, its retries included, takes at most `timeout_seconds`.

    Raises ConfigurationError when there is neither a key nor a base URL.
    """

    def __init__(
        self,
        *,
        api_key: str | None,
        base_url: str | None,
        model: str,
        dimensions: int,
        max_retries: int,
        timeout_seconds: float,
    ) -> None:
        self._connection = _Connection(api_key, base_url, max_retries, timeout_seconds)
        self._model = model
        self._dimensions = dimensions
        self._timeout_seconds = timeout_seconds

    @property
    def name(self) -> str:
        return self._model

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def windows(self, text: str) -> list[str]:
        """`text` whole if it has at most 2,000 words, else windows of 2,000 words that start every 1,800.

        Text that is dense in tokens, such as tables or Chinese, gets smaller windows with the same share of overlap.
        """
        words = list(_WORD.finditer(text))
        sizes = accumulate((len(word.group().encode(errors="replace")) + 1 for word in words), initial=0)
        spans = _window_spans(list(sizes))
        if len(spans) == 1:
            return [text]
        return [text[words[first].start() : words[last - 1].end()] for first, last in spans]

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector for each text, in order."""
        return [vector for batch in _batches(texts) for vector in await self._embed_batch(batch)]

    async def close(self) -> None:
        await self._connection.close()

    async def _embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        with _translated():
            client = self._connection.open()
            async with asyncio.timeout(self._timeout_seconds):
                response = await client.embeddings.with_raw_response.create(
                    model=self._model,
                    # OpenAI refuses empty inputs
                    input=[text if text.strip() else " " for text in texts],
                    dimensions=self._dimensions,
                    encoding_format="float",
                )
            embeddings = sorted(_Embeddings.model_validate_json(response.content).data, key=lambda each: each.index)
        if [each.index for each in embeddings] != list(range(len(texts))):
            raise ModelUnavailable("The embedding model's server did not send one vector for each text.")
        return [self._unit_vector(each.embedding) for each in embeddings]

    def _unit_vector(self, vector: list[float]) -> list[float]:
        if len(vector) != self._dimensions:
            raise ModelUnavailable(
                f"The embedding model's server ignored dimensions={self._dimensions}: its vectors have {len(vector)}. "
                f"Set EMBEDDING_DIMENSIONS={len(vector)}, or choose a model that can shorten its vectors."
            )
        length = math.hypot(*vector)
        if not 0 < length < math.inf:
            raise ModelUnavailable("The embedding model's server sent a vector that has no direction.")
        return [component / length for component in vector]


class _Connection:
    """The SDK's client, made on first use."""

    def __init__(self, api_key: str | None, base_url: str | None, max_retries: int, timeout_seconds: float) -> None:
        if not api_key and not base_url:
            raise ConfigurationError("Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.")
        self._api_key = api_key
        self._base_url = base_url
        self._max_retries = max_retries
        self._timeout_seconds = timeout_seconds
        self._client: AsyncOpenAI | None = None

    def open(self) -> AsyncOpenAI:
        if self._client is None:
            import openai

            self._client = openai.AsyncOpenAI(
                api_key=self._api_key or "local",
                # explicit, or the SDK would look into the environment, which only our settings read
                base_url=self._base_url or OPENAI_BASE_URL,
                max_retries=self._max_retries,
                timeout=openai.Timeout(self._timeout_seconds, connect=CONNECT_SECONDS),
            )
        return self._client

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()


@contextmanager
def _translated() -> Iterator[None]:
    """The one door by which errors of the SDK, the network and the wire format enter. Cancellation passes through."""
    import httpx2
    import openai

    try:
        yield
    except TimeoutError as error:
        raise ModelUnavailable("The model took too long to answer.") from error
    except openai.OpenAIError as error:
        raise _translate(error) from error
    except (ValidationError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelUnavailable(_NOT_OPENAI) from error
    except httpx2.InvalidURL as error:
        raise ModelUnavailable("OPENAI_BASE_URL is not a URL.") from error


def _translate(error: OpenAIError) -> ModelError:
    """Our error for one of the SDK's. The SDK's own words may quote the request, so none of them are kept."""
    import openai

    if isinstance(error, openai.APIError) and error.code == "content_filter":
        return ModelRefused(_DECLINED)
    if isinstance(error, openai.APITimeoutError):
        return ModelUnavailable("The model took too long to answer.")
    if isinstance(error, openai.APIConnectionError):
        return ModelUnavailable("The model's server cannot be reached, or broke the connection.")
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        return ModelUnavailable(_STATUS_MESSAGES.get(status, f"The model's server failed (HTTP {status})."))
    return ModelUnavailable("The model's server reported an error.")


class _Wire(BaseModel):
    """A part of an answer, read from JSON or from the SDK's unvalidated objects. What may be missing is optional."""

    model_config = ConfigDict(from_attributes=True)


class _WireUsage(_Wire):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _WireFunction(_Wire):
    name: str
    arguments: str | None = None


class _WireToolCall(_Wire):
    id: str | None = None
    function: _WireFunction | None = None


class _AnswerMessage(_Wire):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_WireToolCall] | None = None


class _Choice(_Wire):
    message: _AnswerMessage
    finish_reason: str | None = None


class _Completion(_Wire):
    choices: list[_Choice] | None
    usage: _WireUsage | None = None


class _ChunkChoice(_Wire):
    delta: _AnswerMessage | None = None
    finish_reason: str | None = None


class _Chunk(_Wire):
    choices: list[_ChunkChoice] | None = None
    usage: _WireUsage | None = None


class _Embedding(_Wire):
    index: int
    embedding: list[float]


class _Embeddings(_Wire):
    data: list[_Embedding]


async def _next_chunk(chunks: AsyncStream[ChatCompletionChunk], deadline: float) -> _Chunk | None:
    """The next chunk, None at the end. TimeoutError past `deadline`, a time of the event loop's clock."""
    # One timeout a chunk: if it stayed open while the caller works on a piece, it would cancel the caller's work.
    async with asyncio.timeout_at(deadline):
        chunk = await anext(chunks, None)
    return None if chunk is None else _Chunk.model_validate(chunk)


def _usage(usage: _WireUsage | None) -> Usage:
    return Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage else Usage()


def _check_ending(finish_reason: str | None) -> None:
    """Raise where the model did not come to the end of its answer."""
    if finish_reason == "length":
        raise ModelOutputInvalid("The model's answer was cut off at its length limit.")
    if finish_reason == "content_filter":
        raise ModelRefused(_DECLINED)


def _wire_message(message: Message) -> ChatCompletionMessageParam:
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        wire["content"] = message.content or None
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    return cast("ChatCompletionMessageParam", wire)


def _wire_tool(tool: ToolDefinition) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


@cache
def _response_format(name: str, output_type: type[BaseModel]) -> dict[str, Any]:
    schema = _strict(output_type.model_json_schema())
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    """A pydantic JSON schema in the form of strict structured outputs; pydantic still checks what this leaves out.

    The rules: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas. Raises TypeError for a
    mapping with free keys, which has no strict form.
    """
    strict = {keyword: value for keyword, value in schema.items() if keyword not in _NOT_STRICT}
    for keyword in strict.keys() & {"properties", "$defs"}:
        strict[keyword] = {name: _strict(part) for name, part in strict[keyword].items()}
    if "oneOf" in strict:
        strict["anyOf"] = strict.pop("oneOf")
    if "anyOf" in strict:
        strict["anyOf"] = [_strict(part) for part in strict["anyOf"]]
    if "items" in strict:
        strict["items"] = _strict(strict["items"])
    if strict.get("type") == "object":
        if isinstance(strict.get("additionalProperties"), dict):
            raise TypeError("a strict schema cannot hold a mapping with free keys; use a list of pairs")
        strict.setdefault("properties", {})
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    if "$ref" in strict and len(strict) > 1:
        # a reference may have no neighbours, such as a field's description
        strict["anyOf"] = [{"$ref": strict.pop("$ref")}]
    return strict


def _read_output(text: str, name: str, output_type: type[Output]) -> Output:
    """The structured output in a model's text. ModelOutputInvalid lists the problems, without the model's values."""
    try:
        return output_type.model_validate_json(_without_fence(text))
    except ValidationError as error:
        raise ModelOutputInvalid(f"The model's answer is not a valid {name}: {_problems(error)}") from error


def _problems(error: ValidationError) -> str:
    """The first problems on one line, such as `variants.0.text: Field required`."""
    found = error.errors(include_url=False, include_input=False, include_context=False)[:MAX_PROBLEMS]
    places = [".".join(str(part) for part in problem["loc"]) for problem in found]
    texts = [f"{place}: {each['msg']}" if place else each["msg"] for place, each in zip(places, found, strict=True)]
    return "; ".join(shorten(text, PROBLEM_CHARACTERS) for text in texts)


def _without_fence(text: str) -> str:
    """The JSON in `text`: servers that know no schemas let the model wrap it in a Markdown code fence."""
    fenced = None if text.lstrip().startswith("{") else _FENCED.search(text)
    return fenced[1] if fenced else text


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """`texts` in order, as many together as one request takes; a text that is too long for any goes alone."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == BATCH_TEXTS or characters + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def _window_spans(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """The windows over a text's words, as [first, last) word numbers. `sizes[n]` is the bytes of the first n words."""
    spans: list[tuple[int, int]] = []
    first = 0
    while not spans or spans[-1][1] < len(sizes) - 1:
        last = min(first + WINDOW_WORDS, bisect_right(sizes, sizes[first] + WINDOW_BYTES) - 1)
        spans.append((first, last))
        first += max(1, int((last - first) * WINDOW_STRIDE))
    return spans
