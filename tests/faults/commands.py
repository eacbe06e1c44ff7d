"""Quarry's commands as processes that may be killed, with their output. See `nursery`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.waiting import PATIENCE_SECONDS, wait_until

ROOT = Path(__file__).resolve().parents[2]

NOTHING: Mapping[str, Any] = {}


def embedded_url(server: Path) -> str:
    """The URL of the embedded Postgres whose programs and data are in `server`."""
    cluster = server / "cluster"
    port = (cluster / "data" / "postmaster.pid").read_text().splitlines()[3]
    return f"postgresql://quarry:{(cluster / 'password').read_text()}@127.0.0.1:{port}/quarry"


class Nursery:
    """The process that forks the processes to kill. `environment` applies to all of them."""

    def __init__(self, directory: Path, **environment: str) -> None:
        self._directory = directory
        self._environment = {"PATH": os.environ["PATH"], "RATE_LIMIT_PER_MINUTE": "0"} | environment
        self._commands = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.nursery"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(
        self, *arguments: str | Path, environment: Mapping[str, str] = NOTHING, doom: Mapping[str, Any] = NOTHING
    ) -> Command:
        """Starts a command that kills itself as `doom` says: its point, and the text of the statement that counts first."""
        self._commands += 1
        output = self._directory / f"output-{self._commands}"
        output.touch()
        order = {
            "arguments": [str(argument) for argument in arguments],
            "environment": {**self._environment, **environment},
            "output": str(output),
        }
        return Command(self, self.order(**order, **doom), output)

    def run(
        self, *arguments: str | Path, environment: Mapping[str, str] = NOTHING, doom: Mapping[str, Any] = NOTHING
    ) -> tuple[int, str]:
        """The exit status of a command that has ended, or minus the number of the signal, and its output."""
        command = self.start(*arguments, environment=environment, doom=doom)
        return command.wait(), command.said()

    @contextmanager
    def serve(self, *, environment: Mapping[str, str] = NOTHING, doom: Mapping[str, Any] = NOTHING) -> Iterator[Served]:
        """A `quarry serve` that answers; killed at the end if it is still alive."""
        command = self.start("serve", "--port", "0", environment=environment, doom=doom)
        try:
            wait_until(lambda: "Ctrl-C ends it" in command.said())
            address = re.search(r"http://\S+:\d+", command.said())
            assert address, command.said()
            yield Served(command, address.group())
        finally:
            command.kill()

    def order(self, **order: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE_SECONDS)
        self._process.stdout.close()


@dataclass
class Command:
    """A started command."""

    nursery: Nursery
    pid: int
    output: Path
    status: int | None = None

    def said(self) -> str:
        return self.output.read_text()

    def wait(self) -> int:
        """The exit status, or minus the number of the signal that ended it."""
        if self.status is None:
            self.status = self.nursery.order(pid=self.pid)
        return self.status

    def kill(self) -> int:
        """Kills it as `kill -9` does."""
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    def end(self) -> int:
        os.kill(self.pid, signal.SIGTERM)
        return self.wait()


@dataclass(frozen=True)
class Served:
    """A `quarry serve` that answers at `url`."""

    command: Command
    url: str
