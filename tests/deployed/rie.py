"""AWS's Runtime Interface Emulator from the SAM CLI, running a built function.

The function's interpreter sees the function's built layers, its own folder and its standard library, and nothing of this
checkout. The emulator returns a response in one piece, even a streamed one.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import samcli  # type: ignore[import-untyped]

from tests.waiting import PATIENCE_SECONDS
from tools.rehearsal.artifacts import ARCHITECTURE, Artifacts

EMULATOR = Path(samcli.__file__).parent / "local" / "rapid" / f"aws-lambda-rie-{ARCHITECTURE}"

START_SECONDS = PATIENCE_SECONDS
TIMEOUT_SECONDS = 60

RUNTIME_CLIENT = ("-m", "awslambdaric")


@dataclass(frozen=True)
class EmulatedFunction:
    """A function that answers invocations."""

    url: str
    log: Path

    def invoke(self, event: object) -> bytes:
        """What the function answers, as it gave it to the runtime."""
        response = httpx2.post(self.url, content=json.dumps(event), timeout=TIMEOUT_SECONDS)
        assert response.status_code == 200, self.log.read_text()
        return response.content

    def invoke_json(self, event: object) -> Any:
        """What a buffered function answers."""
        return json.loads(self.invoke(event))


@contextmanager
def emulated(
    artifacts: Artifacts, name: str, environment: Mapping[str, str], command: Sequence[str] | None = None
) -> Iterator[EmulatedFunction]:
    """The built function `name` under the emulator. `environment` adds to what the template gives it as plain text.

    `command` starts the runtime; the emulator appends nothing to it but reads the handler's name from its end.
    """
    directory = artifacts.function(name)
    front, runtime_api = _free_ports(2)
    command = command or [str(artifacts.python), "-S", *RUNTIME_CLIENT]
    with tempfile.TemporaryDirectory(prefix="quarry-rie-") as home:
        log = Path(home) / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [
                    EMULATOR,
                    *("--runtime-interface-emulator-address", f"127.0.0.1:{front}"),
                    *("--runtime-api-address", f"127.0.0.1:{runtime_api}"),
                    *command,
                    "app.handler",
                ],
                cwd=directory,
                env={
                    "PATH": os.defpath,
                    "HOME": home,
                    "PYTHONPATH": os.pathsep.join(map(str, [directory, *artifacts.layers_of(name)])),
                    "LAMBDA_TASK_ROOT": str(directory),
                    # in Lambda the function's folder cannot be written
                    "PYTHONDONTWRITEBYTECODE": "1",
                    "AWS_REGION": "us-east-1",
                    "AWS_LAMBDA_FUNCTION_NAME": name,
                    "AWS_LAMBDA_FUNCTION_TIMEOUT": str(TIMEOUT_SECONDS),
                    **artifacts.environment(name),
                    **environment,
                },
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            _wait_for(front, process, log)
            yield EmulatedFunction(f"http://127.0.0.1:{front}/2015-03-31/functions/function/invocations", log)
        finally:
            # the emulator and the runtime that it started
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _free_ports(count: int) -> list[int]:
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, "the emulator did not start"
            time.sleep(0.01)
        else:
            return
