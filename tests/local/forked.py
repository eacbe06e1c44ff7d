"""Quarry's commands in processes forked from one that has imported all of it: what a command does without what its start costs.

`python -m tests.local.forked` reads an order a line from stdin, a JSON object of `arguments` and `environment`, runs that command
with stdin, stdout and stderr from and into the files so named, and answers with its exit status, or minus the number of the
signal that ended it.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import openai  # noqa: F401 -- else imported on first use, in each process anew

import quarry
from quarry.local import cli
from quarry.models.local_embedding import LocalEmbedding, MiniLM
from quarry.reader.learned import learned, pair_model
from quarry.records.passages import answer_model
from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
COMMAND_SECONDS = int(PATIENCE_SECONDS)


class ForkedCommands:
    """The process that forks commands."""

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="quarry-commands-")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.local.forked"],
            cwd=ROOT,
            # warnings are errors, and nothing of the tests' own that is read on the way in
            env={"PATH": os.environ["PATH"], "PYTHONWARNINGS": "error", "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, arguments: list[str], environment: Mapping[str, str], input: str = ""
    ) -> subprocess.CompletedProcess[str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        stdin, stdout, stderr = (Path(self._directory.name) / name for name in ("stdin", "stdout", "stderr"))
        stdin.write_text(input)
        files = {"stdin": str(stdin), "stdout": str(stdout), "stderr": str(stderr)}
        order = {"arguments": arguments, "environment": environment, **files}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        status = json.loads(self._process.stdout.readline())
        return subprocess.CompletedProcess(arguments, status, stdout.read_text(), stderr.read_text())

    def close(self) -> None:
        self._process.communicate()
        self._directory.cleanup()


@functools.cache
def forked_commands() -> ForkedCommands:
    """The one that all tests share, from the first that asks on."""
    return ForkedCommands()


def run(order: dict[str, Any]) -> int:
    """The exit status of the command of `order`, or minus the number of the signal."""
    if child := os.fork():
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
    signal.alarm(COMMAND_SECONDS)
    for number, name, mode in ((0, order["stdin"], "rb"), (1, order["stdout"], "wb"), (2, order["stderr"], "wb")):
        with Path(name).open(mode) as file:
            os.dup2(file.fileno(), number)
    os.environ.clear()
    os.environ.update(order["environment"])
    try:
        status = cli.main(order["arguments"])
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1
    # the end of a process without taking apart what it shares with the others
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()  # complains of what was left open
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main() -> None:
    for module in pkgutil.walk_packages(quarry.__path__, "quarry."):
        import_module(module.name)
    # read once for all
    MiniLM.from_folder = functools.cache(MiniLM.from_folder)  # type: ignore[method-assign]
    LocalEmbedding().load()
    learned()
    pair_model()
    answer_model()
    gc.freeze()  # a child that ends then looks through nothing of what it shares
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
