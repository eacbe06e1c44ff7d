"""Lambda's Runtime API on a loopback port, with a function's own process.

Unlike AWS's emulator it passes a response on as it comes, simulates SnapStart's snapshot and restore, and can break the
connection of a response.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
WRAPPER = ROOT / "layers" / "quarry" / "exec-wrapper"

WAIT_SECONDS = PATIENCE_SECONDS

HANDLER = "app.handler"
VERSION = "7"
"""Of the functions that are started."""
PRELUDE_END = b"\0" * 8
PRELUDE_BYTES_MAX = 16 * 1024

Event = dict[str, Any]


@dataclass
class Invocation:
    """One invocation, and its response as it comes."""

    event: Event
    deadline: float
    """Seconds since the epoch."""
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    headers: Message = field(default_factory=Message)
    """Of the runtime's request that brought the response."""
    trailers: dict[str, str] = field(default_factory=dict)
    failure: dict[str, Any] | None = None
    """What the runtime reported in place of a response."""
    taken: bool = True
    _pieces: queue.Queue[tuple[float, bytes] | None] = field(default_factory=queue.Queue)

    def hang_up(self) -> None:
        """Break the connection at the next piece of the response."""
        self.taken = False

    def pieces(self) -> Iterator[tuple[float, bytes]]:
        """The pieces of the response as they come, each with its moment by the monotonic clock."""
        while (piece := self._pieces.get(timeout=WAIT_SECONDS)) is not None:
            yield piece

    def response(self) -> bytes:
        """The whole response, once it has ended."""
        return b"".join(piece for _, piece in self.pieces())

    @property
    def stream_error(self) -> dict[str, Any]:
        """What the runtime says broke the response off."""
        body: dict[str, Any] = json.loads(base64.b64decode(self.trailers["lambda-runtime-function-error-body"]))
        return body

    def add(self, piece: bytes) -> None:
        self._pieces.put((time.monotonic(), piece))

    def end(self) -> None:
        self._pieces.put(None)


def split_prelude(response: bytes) -> tuple[dict[str, Any], bytes]:
    """What API Gateway reads from the beginning of a streamed response, and the rest, which it sends on."""
    end = response.index(PRELUDE_END, 0, PRELUDE_BYTES_MAX)
    return json.loads(response[:end]), response[end + len(PRELUDE_END) :]


class RuntimeApi(ThreadingHTTPServer):
    """The API for one process of a function, which handles one invocation after another."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.invocations: queue.Queue[Invocation] = queue.Queue()
        self.running: dict[str, Invocation] = {}
        self.snapshot_taken = threading.Event()
        self.restored = threading.Event()
        self.init_errors: queue.Queue[dict[str, Any]] = queue.Queue()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def invoke(self, event: Event, *, seconds: float = 60.0) -> Invocation:
        """Begin an invocation of a function whose timeout is `seconds`."""
        invocation = Invocation(event, time.time() + seconds)
        self.running[invocation.id] = invocation
        self.invocations.put(invocation)
        return invocation

    def init_error(self) -> dict[str, Any]:
        """What the runtime reports in place of its first request for an invocation."""
        return self.init_errors.get(timeout=WAIT_SECONDS)

    def handle_error(self, request: object, client_address: object) -> None:
        """A function's process that is ended breaks its connections; what else fails here, the test sees."""

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: RuntimeApi

    def do_GET(self) -> None:
        if self.path.endswith("/runtime/restore/next"):
            self.server.snapshot_taken.set()
            self.server.restored.wait(WAIT_SECONDS)
            self._answer(200)
        elif self.path.endswith("/runtime/invocation/next"):
            invocation = self.server.invocations.get()
            headers = {
                "Lambda-Runtime-Aws-Request-Id": invocation.id,
                "Lambda-Runtime-Deadline-Ms": str(int(invocation.deadline * 1000)),
                "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:us-east-1:123456789012:function:search",
            }
            self._answer(200, json.dumps(invocation.event).encode(), headers)

    def do_POST(self) -> None:
        if self.path.endswith("/runtime/init/error"):
            self.server.init_errors.put(json.loads(self._body()))
            self._answer(202)
            return
        *_, invocation_id, action = self.path.split("/")
        invocation = self.server.running[invocation_id]
        invocation.headers = self.headers
        if action == "error":
            invocation.failure = json.loads(self._body())
        elif self.headers["Transfer-Encoding"] != "chunked":
            invocation.add(self._body())
        elif not self._read_chunks(invocation):
            self.close_connection = True
            invocation.end()
            return
        self._answer(202)
        invocation.end()

    def _read_chunks(self, invocation: Invocation) -> bool:
        """Hand the chunks over until they end, False if before that nobody takes them any more."""
        while size := int(self.rfile.readline(), 16):
            invocation.add(self.rfile.read(size))
            assert self.rfile.readline() == b"\r\n"
            if not invocation.taken:
                return False
        while line := self.rfile.readline().decode().strip():
            name, _, value = line.partition(": ")
            invocation.trailers[name.lower()] = value
        return True

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def _answer(self, status: int, body: bytes = b"{}", headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (
            {"Content-Type": "application/json", "Content-Length": str(len(body))} | dict(headers or {})
        ).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the tests speak."""


@dataclass(frozen=True)
class Installation:
    """The parts of a function's process: an interpreter, the folder of the function, and its imports."""

    python: Path
    function: Path
    packages: tuple[Path, ...]
    wrapper: Path | None = WRAPPER
    """What starts the runtime that streams; None for the managed one."""

    @property
    def command(self) -> list[str | Path]:
        if self.wrapper is None:
            return [self.python, "-S", "-m", "awslambdaric", HANDLER]
        return [self.wrapper, self.python, "/var/runtime/bootstrap.py"]


@dataclass(frozen=True)
class FunctionProcess:
    """A function's process, as Lambda starts it, and the API that it takes its invocations from."""

    api: RuntimeApi
    log_file: Path

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    def log_lines(self) -> list[dict[str, Any]]:
        """Each line of the log that is JSON."""
        return [json.loads(line) for line in self.log.splitlines() if line.startswith("{")]


@contextmanager
def running_function(
    installation: Installation, environment: Mapping[str, str], directory: Path, *, processes: int = 1
) -> Iterator[FunctionProcess]:
    """Start the function as Lambda does, with nothing in its environment but what Lambda sets and `environment`; end it with the
    block. `directory` is for its log. Each of its processes serves one invocation after another.
    """
    log_file = directory / f"{installation.function.name}-{uuid.uuid4()}.log"
    with RuntimeApi() as api, log_file.open("wb") as log:
        running = [
            subprocess.Popen(
                installation.command,
                cwd=installation.function,
                env={**_environment(installation, api.address), **environment},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            for _ in range(processes)
        ]
        try:
            yield FunctionProcess(api, log_file)
        finally:
            for process in running:
                process.kill()
                process.wait()


def _environment(installation: Installation, address: str) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join(map(str, [installation.function, *installation.packages])),
        # in Lambda the function's folder cannot be written
        "PYTHONDONTWRITEBYTECODE": "1",
        "LAMBDA_TASK_ROOT": str(installation.function),
        "AWS_LAMBDA_RUNTIME_API": address,
        "AWS_LAMBDA_FUNCTION_NAME": "quarry-search",
        "AWS_LAMBDA_FUNCTION_VERSION": VERSION,
        "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
        "AWS_LAMBDA_LOG_FORMAT": "JSON",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "_HANDLER": HANDLER,
    }
