"""An OpenAI-compatible server for tests: real HTTP and the real wire format, with the answers that the test asks for.

    with FakeOpenAI() as server:
        server.enqueue(Reply.http_error(429, retry_after=0.01), Reply.text("Hello."))
        ...  # point a client at server.url
        assert server.requests[0]["model"] == "gpt-4o-mini"

Chat requests take their replies from the queue, in order; when it is empty, `server.respond` (request body -> Reply)
answers. A service with several model steps is played by one such function:

    def respond(body: Body) -> Reply:
        if schema_name(body) == "company_plan":
            return Reply.json({"variants": []})
        return Reply.text("A summary.")

    server.respond = respond

One reply serves a plain and a streamed request alike. Embedding requests have a queue of their own; when it is empty
`server.embed` answers: with `embedding(text, dimensions)` for each text, so texts that share words are near each other.

Starting and stopping takes a quarter of a second: share one server among a module's tests and `reset()` it for each.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import itertools
import json
import math
import re
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tests.waiting import PATIENCE_SECONDS, PAUSE_SECONDS, wait_until

Body = dict[str, Any]
"""A request's JSON body."""

EMBEDDING_DIMENSIONS = 1536
"""Length of a vector when the request does not name one."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The server's answer to one request. Create one with the class methods, and only set what the test is about."""

    message: Mapping[str, Any] = field(default_factory=dict)
    """The assistant's message in wire form: content, refusal, tool_calls."""
    pieces: tuple[str, ...] = ()
    """The content as a streamed reply cuts it."""
    finish_reason: str | None = "stop"
    usage: tuple[int, int] | None = (20, 10)
    """Prompt and completion tokens; None: the server does not say."""
    delay: float = 0.0
    """Seconds before each piece of a stream; before the answer if it is not streamed."""
    permits: threading.Semaphore | None = None
    """One is taken where `delay` is waited for: the test says when the next piece, or the answer, may come."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    payloads: tuple[str, ...] = ()
    """Sent as they are in place of a message: the first is the whole body, or each an event of a stream."""
    silence: float = 0.0
    """Seconds of silence after the last piece."""
    ending: Literal["complete", "cut", "drop", "flood"] = "complete"
    """cut: the stream ends in good order, but before its last events; drop: the connection breaks; flood: the last piece, or the
    body, comes again and again until the client leaves."""

    @classmethod
    def text(
        cls,
        content: str,
        *,
        pieces: Sequence[str] | None = None,
        delay: float = 0.0,
        permits: threading.Semaphore | None = None,
        finish_reason: str | None = "stop",
        usage: tuple[int, int] | None = (20, 10),
    ) -> Self:
        """A text. Streamed, it comes in `pieces`, or else word by word."""
        return cls(
            message={"content": content},
            pieces=tuple(re.findall(r"\s*\S+\s*$|\s*\S+", content) if pieces is None else pieces),
            delay=delay,
            permits=permits,
            finish_reason=finish_reason,
            usage=usage,
        )

    @classmethod
    def json(cls, value: object, *, delay: float = 0.0, permits: threading.Semaphore | None = None) -> Self:
        """A structured output: `value` as JSON text."""
        return cls.text(json.dumps(value), delay=delay, permits=permits)

    @classmethod
    def tool_calls(cls, calls: Sequence[tuple[str, Mapping[str, Any] | str]], *, content: str | None = None) -> Self:
        """Calls of tools: names and arguments (a mapping, or the text that the model wrote). Ids: call_1, call_2 …"""
        wire = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for number, (name, given) in enumerate(calls, start=1)
        ]
        pieces = () if content is None else tuple(re.findall(r"\s*\S+\s*$|\s*\S+", content))
        return cls(message={"content": content, "tool_calls": wire}, pieces=pieces, finish_reason="tool_calls")

    @classmethod
    def refusal(cls, why: str = "I cannot help with that.") -> Self:
        """The model declines, as OpenAI models do under a JSON schema."""
        return cls(message={"content": None, "refusal": why})

    @classmethod
    def http_error(
        cls, status: int, *, retry_after: float | None = None, code: str | None = None, message: str = "No."
    ) -> Self:
        """An error response. `retry_after` is in seconds."""
        error = {"error": {"message": message, "type": "error", "param": None, "code": code}}
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        return cls(status=status, headers=headers, payloads=(json.dumps(error),))

    @classmethod
    def raw(cls, *payloads: object) -> Self:
        """Any JSON or text in place of a good answer: the first is the whole body, or each an event of a stream."""
        return cls(payloads=tuple(each if isinstance(each, str) else json.dumps(each) for each in payloads))

    @classmethod
    def malformed(cls) -> Self:
        """A body, or an event of a stream, that is not JSON."""
        return cls.raw('{"id": "chatcmpl-fake", "choices": [{')

    @classmethod
    def truncated_stream(cls, after_pieces: Sequence[str]) -> Self:
        """A stream that ends after these pieces, in good order but with neither finish_reason nor [DONE]."""
        return cls(pieces=tuple(after_pieces), ending="cut")

    @classmethod
    def hang(cls, seconds: float, *, after_pieces: Sequence[str] = ()) -> Self:
        """Silence, then a broken connection. Without pieces not even the response's headers come."""
        return cls(pieces=tuple(after_pieces), silence=seconds, ending="drop")

    @classmethod
    def flood(cls, piece: str) -> Self:
        """An answer without end: `piece` again and again. Not streamed, a body of it that is not closed."""
        return cls(pieces=(piece,), ending="flood")

    @classmethod
    def drop_connection(cls, *, after_pieces: Sequence[str] = ()) -> Self:
        """The connection breaks in the middle of the response."""
        return cls(pieces=tuple(after_pieces), ending="drop")


Handler = Callable[[Body], Reply]
"""Answers a request when no reply is queued. Runs in the server's thread; `reset` and `stop` raise an error of it."""


def schema_name(body: Body) -> str | None:
    """The name of the JSON schema that the request asks for: the model step's name. None if it asks for free text."""
    name = body.get("response_format", {}).get("json_schema", {}).get("name")
    return None if name is None else str(name)


def prompt_text(body: Body) -> str:
    """Everything in a request that the model reads, except the system message."""
    return "\n".join(message["content"] or "" for message in body["messages"] if message["role"] != "system")


def embedding(text: str, dimensions: int = EMBEDDING_DIMENSIONS) -> list[float]:
    """A unit vector made only from the words of `text`: each word counts in one component, chosen by its hash."""
    counts = Counter(
        int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big") % dimensions
        for word in re.findall(r"\w+", text.lower()) or [""]
    )
    length = math.hypot(*counts.values())
    return [counts[component] / length for component in range(dimensions)]


class FakeOpenAI:
    """A running server on a free port of 127.0.0.1; it starts when made. A context manager: the end stops it."""

    def __init__(self, respond: Handler | None = None) -> None:
        self._default = respond or (lambda body: Reply.text("An answer of the fake model."))
        self._failures: list[Exception] = []
        # never listened at: nobody else gets the port while the server is away
        self._kept = _bound_socket(0)
        self._port = self._kept.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}/v1"
        """The base URL to give to a client."""
        self._forget()
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def enqueue(self, *replies: Reply) -> None:
        """Answer the next chat requests with `replies`, one each, in order."""
        self._chat_replies.extend(replies)

    def enqueue_embeddings(self, *replies: Reply) -> None:
        """Answer the next embedding requests with `replies` (errors, `Reply.raw`), one each, in order."""
        self._embedding_replies.extend(replies)

    @property
    def chat_requests(self) -> list[Body]:
        return [body for body in self.requests if "messages" in body]

    async def wait_for_request(self) -> None:
        """Return once a request has come; TimeoutError if none does."""
        await _happened(self._request_came)

    async def wait_for_disconnect(self) -> None:
        """Return once a client has left before its reply was complete; TimeoutError if none does."""
        await _happened(self._client_left)

    def reset(self) -> None:
        """Make the server as new. Raises the first error of a handler, if there was one."""
        self._forget()
        self._raise_failure()

    def stop(self) -> None:
        """Close every connection and end the server. Raises the first error of a handler, if there was one."""
        self._end()
        self._kept.close()
        self._raise_failure()

    def _start(self) -> None:
        self._server = uvicorn.Server(
            uvicorn.Config(
                Starlette(
                    routes=[
                        Route("/v1/chat/completions", self._chat, methods=["POST"]),
                        Route("/v1/embeddings", self._embeddings, methods=["POST"]),
                    ]
                ),
                http="h11",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                log_level="critical",
                timeout_graceful_shutdown=0,
            )
        )
        self._socket = _bound_socket(self._port)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()
        wait_until(lambda: self._server.started)

    def _end(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def _forget(self) -> None:
        self.respond = self._default
        self.embed: Handler = self._embed
        self.requests: list[Body] = []
        """The bodies of all requests, in the order of their arrival."""
        self.headers: list[dict[str, str]] = []
        """The headers of the same requests, names in lower case."""
        self._request_came = threading.Event()
        self._client_left = threading.Event()
        self._clients: set[tuple[str, int]] = set()
        self._chat_replies: deque[Reply] = deque()
        self._embedding_replies: deque[Reply] = deque()

    def _raise_failure(self) -> None:
        if self._failures:
            failure, self._failures = self._failures[0], []
            raise failure

    async def _chat(self, request: Request) -> _Performance:
        return await self._perform(request, self._chat_replies, lambda body: self.respond(body))

    async def _embeddings(self, request: Request) -> _Performance:
        return await self._perform(request, self._embedding_replies, lambda body: self.embed(body))

    async def _perform(self, request: Request, queue: deque[Reply], respond: Handler) -> _Performance:
        body: Body = await request.json()
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        if request.client:
            self._clients.add((request.client.host, request.client.port))
        try:
            reply = queue.popleft() if queue else respond(body)
        except Exception as failure:
            self._failures.append(failure)
            reply = Reply.http_error(500, message="The test's handler failed.")
        self._request_came.set()
        return _Performance(reply, body, self._client_left)

    def _embed(self, body: Body) -> Reply:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if not all(texts):
            return Reply.http_error(400, message="'$.input' is invalid: an input cannot be an empty string.")
        size = body.get("dimensions", EMBEDDING_DIMENSIONS)
        as_numbers = body.get("encoding_format") == "float"
        vectors = [embedding(text, size) for text in texts]
        data = [
            {"object": "embedding", "index": index, "embedding": vector if as_numbers else _base64(vector)}
            for index, vector in enumerate(vectors)
        ]
        tokens = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return Reply.raw({"object": "list", "model": body["model"], "data": data, "usage": usage})


class _Performance:
    """Plays one reply as an ASGI response, and stops when the client leaves."""

    def __init__(self, reply: Reply, request: Body, client_left: threading.Event) -> None:
        self._reply = reply
        self._request = request
        self._client_left = client_left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        streamed = self._request.get("stream") and self._reply.status == 200
        playing = asyncio.ensure_future(self._play_stream(send) if streamed else self._play_plain(send))
        leaving = asyncio.ensure_future(_disconnected(receive))
        await asyncio.wait({playing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not playing.done():
            self._client_left.set()
        for task in (playing, leaving):
            task.cancel()
        await asyncio.gather(playing, leaving, return_exceptions=True)

    async def _play_plain(self, send: Send) -> None:
        reply = self._reply
        await self._pause()
        await asyncio.sleep(reply.silence)
        body = reply.payloads[0] if reply.payloads else json.dumps(_completion(self._request, reply))
        await self._start(send, "application/json")
        while reply.ending == "flood":
            await asyncio.sleep(0)
            await send({"type": "http.response.body", "body": reply.pieces[0].encode(), "more_body": True})
        if reply.ending == "complete":
            await send({"type": "http.response.body", "body": body.encode()})
        else:
            await send({"type": "http.response.body", "body": body[: len(body) // 2].encode(), "more_body": True})

    async def _play_stream(self, send: Send) -> None:
        reply = self._reply
        if not reply.pieces:
            await asyncio.sleep(reply.silence)
        await self._start(send, "text/event-stream; charset=utf-8")
        for waits, event in _events(self._request, reply):
            if waits:
                await self._pause()
            await send({"type": "http.response.body", "body": f"data: {event}\n\n".encode(), "more_body": True})
        if reply.pieces:
            await asyncio.sleep(reply.silence)
        if reply.ending != "drop":  # uvicorn closes the connection when a response is left unfinished
            await send({"type": "http.response.body", "body": b""})

    async def _pause(self) -> None:
        await asyncio.sleep(self._reply.delay)
        permits = self._reply.permits
        while permits and not permits.acquire(blocking=False):  # noqa: ASYNC110 - it is another thread that gives them
            await asyncio.sleep(PAUSE_SECONDS)

    async def _start(self, send: Send, content_type: str) -> None:
        headers = {"content-type": content_type, **self._reply.headers}
        wire = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": self._reply.status, "headers": wire})


def _completion(request: Body, reply: Reply) -> Body:
    """The body of a plain chat completion."""
    message = {"role": "assistant", "content": None, "refusal": None, **reply.message}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}
    return _envelope("chat.completion", request, [choice], _usage(reply))


def _events(request: Body, reply: Reply) -> Iterator[tuple[bool, str]]:
    """The events of a streamed chat completion, and whether each comes only after the reply's pause."""

    def event(choices: Sequence[Body], usage: Body | None = None) -> str:
        return json.dumps(_envelope("chat.completion.chunk", request, choices, usage))

    if reply.payloads:
        yield from ((True, payload) for payload in reply.payloads)
        return
    yield False, event([_delta({"role": "assistant", "content": ""})])
    for piece in itertools.repeat(reply.pieces[0]) if reply.ending == "flood" else reply.pieces:
        yield True, event([_delta({"content": piece})])
    if reply.ending != "complete":
        return
    if refusal := reply.message.get("refusal"):
        yield True, event([_delta({"refusal": refusal})])
    for index, call in enumerate(reply.message.get("tool_calls", ())):
        # as OpenAI sends them: the name first, then the arguments in pieces
        function = call["function"]
        begun = {"index": index, **call, "function": {**function, "arguments": ""}}
        yield True, event([_delta({"tool_calls": [begun]})])
        for part in re.findall(r".{1,12}", function["arguments"], re.DOTALL):
            yield False, event([_delta({"tool_calls": [{"index": index, "function": {"arguments": part}}]})])
    yield False, event([_delta({}, reply.finish_reason)])
    if reply.usage and request.get("stream_options", {}).get("include_usage"):
        yield False, event([], _usage(reply))
    yield False, "[DONE]"


def _envelope(kind: str, request: Body, choices: Sequence[Body], usage: Body | None) -> Body:
    head = {"id": "chatcmpl-fake", "object": kind, "created": int(time.time()), "model": request["model"]}
    return {**head, "choices": list(choices), "usage": usage}


def _delta(delta: Body, finish_reason: str | None = None) -> Body:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}


def _usage(reply: Reply) -> Body | None:
    if reply.usage is None:
        return None
    prompt, completion = reply.usage
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _base64(vector: Sequence[float]) -> str:
    """The wire's other form of a vector: little-endian float32, the SDK's default."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _bound_socket(port: int) -> socket.socket:
    # asyncio turns Nagle's algorithm off, which costs 40 ms a response here, only where the protocol is given
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    return bound


async def _disconnected(receive: Receive) -> None:
    """Returns when the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _happened(event: threading.Event) -> None:
    """Waits for something in the server's thread, without blocking the event loop."""
    if not await asyncio.to_thread(event.wait, PATIENCE_SECONDS):
        raise TimeoutError
