"""A server that speaks Amazon Bedrock's HTTP and event-stream wire: real sockets, with the answers that the test asks for.

    with FakeBedrock() as server:
        server.enqueue(BedrockReply.text("Hello."))
        ...  # point a client at server.url
        assert server.requests[0].body["inferenceConfig"] == {"maxTokens": 3000}

Chat requests take their replies from the queue, in order; a request with none left gets a 500. Embedding requests get vectors of
the length that they ask for.
"""

from __future__ import annotations

import json
import struct
import time
import zlib
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Self
from urllib.parse import unquote

from tests.fakes.http_fake import HttpFake

Body = dict[str, Any]
COHERE_3_DIMENSIONS = 1024


@dataclass(frozen=True)
class BedrockRequest:
    model: str
    operation: str
    headers: Mapping[str, str]
    body: Body


@dataclass(frozen=True, kw_only=True)
class BedrockReply:
    """The server's answer to one request."""

    content: list[Body] = field(default_factory=list)
    stop_reason: str = "end_turn"
    status: int = 200
    error: str = ""
    """The name of an exception: the whole answer, or what ends a stream after its content."""
    silence: float = 0.0
    """Seconds before the answer, or before a stream's last events."""
    is_cut: bool = False
    """The stream ends without its last events."""

    @classmethod
    def text(cls, content: str, **more: Any) -> Self:
        return cls(content=[{"text": content}], **more)

    @classmethod
    def tool_use(cls, name: str, given: Any, **more: Any) -> Self:
        use = {"toolUse": {"toolUseId": "tooluse_1", "name": name, "input": given}}
        return cls(content=[use], stop_reason="tool_use", **more)

    @classmethod
    def http_error(cls, status: int, error: str) -> Self:
        return cls(status=status, error=error)

    def events(self) -> Iterator[tuple[str, Body]]:
        """The events of a streamed turn: a text word by word, the arguments of a tool in two halves."""
        yield "messageStart", {"role": "assistant"}
        for number, block in enumerate(self.content):
            if use := block.get("toolUse"):
                start = {name: use[name] for name in ("toolUseId", "name")}
                yield "contentBlockStart", {"contentBlockIndex": number, "start": {"toolUse": start}}
            pieces = block["text"].split(" ") if "text" in block else []
            deltas = [{"text": f"{piece} "} for piece in pieces]
            for delta in (
                [{"toolUse": {"input": part}} for part in _halves(json.dumps(use["input"]))] if use else deltas
            ):
                yield "contentBlockDelta", {"contentBlockIndex": number, "delta": delta}
            yield "contentBlockStop", {"contentBlockIndex": number}
        if not (self.is_cut or self.error):
            yield "messageStop", {"stopReason": self.stop_reason}
            usage = {"inputTokens": 20, "outputTokens": 10, "totalTokens": 30}
            yield "metadata", {"usage": usage, "metrics": {"latencyMs": 1}}


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def event_message(headers: Mapping[str, str], payload: bytes) -> bytes:
    """A message of `application/vnd.amazon.eventstream`, with its two checksums."""
    head = b"".join(
        struct.pack(">B", len(name)) + name.encode() + struct.pack(">BH", 7, len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", len(head) + len(payload) + 16, len(head))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + head + payload
    return message + struct.pack(">I", zlib.crc32(message))


class FakeBedrock(HttpFake):
    def __init__(self) -> None:
        super().__init__(_Handler)
        self.requests: list[BedrockRequest] = []
        self.replies: deque[BedrockReply] = deque()

    def enqueue(self, *replies: BedrockReply) -> None:
        self.replies.extend(replies)


class _Handler(BaseHTTPRequestHandler):
    fake: FakeBedrock

    def do_POST(self) -> None:
        _, _, model, operation = self.path.split("/")
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.fake.requests.append(BedrockRequest(unquote(model), operation, dict(self.headers), body))
        if operation == "invoke":
            self._send(200, _embeddings(body))
            return
        reply = (
            self.fake.replies.popleft()
            if self.fake.replies
            else BedrockReply.http_error(500, "InternalServerException")
        )
        if reply.status != 200:
            self._send(reply.status, {"message": "very-secret"}, reply.error)
        elif operation == "converse-stream":
            self._stream(reply)
        else:
            time.sleep(reply.silence)
            message = {"role": "assistant", "content": reply.content}
            usage = {"inputTokens": 20, "outputTokens": 10, "totalTokens": 30}
            self._send(200, {"output": {"message": message}, "stopReason": reply.stop_reason, "usage": usage})

    def _send(self, status: int, body: Body, error: str = "") -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if error:
            self.send_header("x-amzn-ErrorType", error)
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, reply: BedrockReply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.amazon.eventstream")
        self.end_headers()
        for name, body in reply.events():
            if name == "contentBlockStop":
                time.sleep(reply.silence)
            headers = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
            self._write(headers, body)
        if reply.error:
            self._write({":exception-type": reply.error, ":message-type": "exception"}, {"message": "very-secret"})

    def _write(self, headers: Mapping[str, str], body: Body) -> None:
        try:
            self.wfile.write(event_message(headers, json.dumps(body).encode()))
        except OSError:
            self.close_connection = True  # the client has left

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _embeddings(body: Body) -> Body:
    """Titan's answer or Cohere's: for each text a vector made of its number of letters and its length."""
    texts = body.get("texts", [body.get("inputText")])
    dimensions = body.get("dimensions") or body.get("output_dimension") or COHERE_3_DIMENSIONS
    vectors = [[float(sum(map(str.isalpha, text))), float(len(text)), *[0.0] * (dimensions - 2)] for text in texts]
    return {"embeddings": {"float": vectors}} if "texts" in body else {"embedding": vectors[0]}
