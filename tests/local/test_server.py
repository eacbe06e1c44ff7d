"""`quarry serve` and `quarry demo` as processes: they start, answer, and end when they are told to."""

import json
import re
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from quarry.local.server import HEAD_MAX_BYTES
from tests.fakes.openai_server import Body, FakeOpenAI, Reply
from tests.local.test_cli import LAST_STATUS, QUARRY, QUESTION, environment, installed_quarry, value
from tests.local.test_connections import assert_problem, connected, read_to_the_end
from tests.waiting import PATIENCE_SECONDS

END_SECONDS = 20.0
"""Far less than an open stream would hold it up."""


@dataclass
class Served:
    """A server that answers, and what it has said so far."""

    process: subprocess.Popen[str]
    url: str
    said: str

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE_SECONDS) as response:
            assert response.headers["X-Request-Id"]
            return json.load(response)

    def end(self, number: signal.Signals = signal.SIGTERM) -> float:
        """Tell it to end; the seconds that it took."""
        began = time.monotonic()
        self.process.send_signal(number)
        assert self.process.wait(timeout=PATIENCE_SECONDS) == 0
        return time.monotonic() - began


def started(*arguments: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [QUARRY, *arguments], env=environment(**variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@contextmanager
def served(*arguments: str, **variables: str) -> Iterator[Served]:
    """A `quarry serve` or `quarry demo` on a free port."""
    with started(*arguments, "--port", "0", **variables) as process:
        try:
            assert process.stdout is not None
            said = ""
            while (found := re.search(r"http://\S+:\d+", said)) is None:
                line = process.stdout.readline()
                assert line, process.stderr and process.stderr.read()
                said += line
            server = Served(process, found.group(), said)
            assert server.get("/health")["status"] == "ok"
            yield server
        finally:
            process.kill()


def test_it_serves_the_api_over_bounded_connections_logs_no_request_and_ends_at_ctrl_c(sample_url: str) -> None:
    with served("serve", DATABASE_URL=sample_url, LOG_LEVEL="DEBUG") as server:
        assert server.get("/health")["embedding_model"] == "all-MiniLM-L6-v2"
        assert server.get("/records/search?q=bridge")["results"]
        assert "/records/ask" in server.get("/openapi.json")["paths"]
        with connected(server.url) as connection:
            connection.sendall(b"GET /".ljust(HEAD_MAX_BYTES + 1, b"x"))
            assert_problem(read_to_the_end(connection), 431, "headers-too-large")
        assert server.end(signal.SIGINT) < END_SECONDS
        assert server.process.stderr is not None
        log = server.process.stderr.read()
    password = urlsplit(sample_url).password
    assert password
    assert "DEBUG" in log
    assert not [each for each in (password, "/records/search", "Traceback") if each in log]


def test_an_open_stream_does_not_hold_it_up(sample_url: str, openai_server: FakeOpenAI) -> None:
    def respond(body: Body) -> Reply:
        return (
            Reply.hang(30, after_pieces=["Sources: 1\n\nThe elm was kept "])
            if body.get("stream")
            else Reply.text("Enough.")
        )

    openai_server.respond = respond
    with served("serve", DATABASE_URL=sample_url, OPENAI_BASE_URL=openai_server.url) as server:
        request = urllib.request.Request(
            server.url + "/records/ask",
            json.dumps({"question": QUESTION}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as stream:
            while b"final_answer_chunk" not in stream.readline():
                pass
            assert server.end() < END_SECONDS
        assert server.process.stderr is not None
        assert "Traceback" not in server.process.stderr.read()
    assert value(sample_url, LAST_STATUS) == "abandoned"


def test_a_taken_port_is_told_with_a_way_out(sample_url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = installed_quarry("serve", "--port", str(port), DATABASE_URL=sample_url)
    assert done.returncode == 1
    assert done.stderr == f"quarry: port {port} is in use: quarry serve --port {port + 1}\n"


def assert_stopped(folder: Path) -> None:
    server = (folder / ".quarry" / "postgres" / "server").resolve()
    assert list(server.rglob("PG_VERSION"))
    assert not list(server.rglob("postmaster.pid"))


def assert_a_demo_is_loaded_shared_and_found_again(folder: Path) -> None:
    """In the working directory `folder`, which is empty; the tests of the wheel have one."""
    with served("demo") as server:
        assert "Loaded the sample data: campaigns, companies, ontology, people, records." in server.said
        assert server.get("/records/search?q=bridge")["degraded"] == []
        # other commands share the folder with it
        assert json.loads(installed_quarry("doctor", "--json").stdout)["ok"]
        asked = installed_quarry("ask", "records", QUESTION)
        assert (asked.returncode, asked.stderr) == (0, "")
        assert len(json.loads(installed_quarry("runs", "--json").stdout)) == 2
        answer = re.search(r"/search\?id=(\S+)", asked.stdout)
        assert answer is not None
        assert server.get(f"/answers/{answer[1]}")["query"] == QUESTION
        assert server.end() < END_SECONDS
    assert_stopped(folder)

    at_once = [started("runs", "--json"), started("cleanup", "--json")]
    for process in at_once:
        _, complaint = process.communicate(timeout=PATIENCE_SECONDS)
        assert (process.returncode, complaint) == (0, "")
    assert_stopped(folder)

    with served("demo") as server:
        assert "already loaded" in server.said
        assert server.end() < END_SECONDS
        assert server.process.stdout is not None
        tips = server.process.stdout.read()
    assert f"curl -N --get {server.url}/records/ask" in tips
    assert f"curl --get {server.url}/records/search" in tips
    assert " ask records " in tips
