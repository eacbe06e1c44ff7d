"""`quarry --stack NAME COMMAND`: the command runs inside a deployed stack, by its function `admin`, and prints here."""

from __future__ import annotations

import json
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quarry.local.cli.command import FAILED, Arguments, WrongUsage
from quarry.platform.errors import ConfigurationError, QuarryError

OUTPUT = "AdminFunction"
"""The stack's output that names the function."""

FILES_BYTES_MAX = 4_000_000
"""Of files; an invocation's event may have 6 MB, and files are sent as base64."""

DECLARATIONS = "quarry.toml"

REFUSED = {
    "serve": "a stack serves already",
    "demo": "a stack serves already, and has no sample data",
    "sample": "a stack has no sample data",
    "mcp": "a stack serves agents at /mcp",
    "tools": "it needs no database: run it without --stack",
    "psql": "it opens a terminal: run it where the database can be reached",
    "completion": "it needs no database: run it without --stack",
    "uninstall": "it would take the schema from a stack that serves it: delete the stack first, then run it with DATABASE_URL",
    "eval": "your judged files are not in the stack: run it with DATABASE_URL",
    "tune": "your judged files are not in the stack: run it with DATABASE_URL",
    "tenant move": "it needs pg_dump, which the function lacks: run it with DATABASE_URL where the Postgres client is installed",
    "runs replay": "it repeats a run with this machine's code: run it with DATABASE_URL",
}
"""The commands that no stack runs, and why."""

_FILES = ("path", "file", "files", "output")
"""Arguments that name files; `load` has one more."""


def check_fit(arguments: Arguments) -> None:
    """Raises WrongUsage for a command that no stack runs."""
    if why := REFUSED.get(arguments.full_name):
        raise WrongUsage(f"`quarry {arguments.full_name}` does not run in a stack: {why}")


@dataclass
class _Files:
    """Files that go with a command, each by the name that it has there and its path here."""

    paths: dict[str, Path] = field(default_factory=dict)
    stdin: bytes = b""

    def add(self, text: str) -> str:
        """Send a file if there is one; the argument that names it there. Raises WrongUsage."""
        path = Path(text)
        if path.is_dir():
            raise WrongUsage(f"{text} is a folder: name its files, or put them into the stack's bucket")
        name = path.name
        while self.paths.get(name, path) != path:
            name = f"_{name}"
        self.paths[name] = path
        return name

    def contents(self) -> dict[str, bytes]:
        by_name = {name: path.read_bytes() for name, path in self.paths.items() if path.is_file()}
        if sum(map(len, [*by_name.values(), self.stdin])) > FILES_BYTES_MAX:
            raise WrongUsage(
                f"the files have more than {FILES_BYTES_MAX // 1_000_000} MB: put them into the stack's bucket, and name them s3://…"
            )
        return by_name


def run_in_stack(arguments: Arguments) -> int:
    """Run the command in the stack, print what it prints, and keep the files that it writes; its exit status.

    Raises WrongUsage, OSError, and QuarryError if the stack cannot be reached.
    """
    check_fit(arguments)
    argv, files = _forwarded(arguments)
    contents = files.contents()
    status = FAILED
    encoded = {name: b64encode(content).decode() for name, content in contents.items()}
    stdin = b64encode(files.stdin).decode()
    for frame in _frames(arguments.stack, {"argv": argv, "files": encoded, "stdin": stdin, "principal": None}):
        if "file" in frame:
            if frame["file"] in files.paths:  # nothing else is written here, whatever the stack says
                files.paths[frame["file"]].write_bytes(b64decode(frame["content"]))
        elif "exit" in frame:
            status = frame["exit"]
        else:
            print(frame.get("out", ""), end="", flush=True)
            print(frame.get("err", ""), end="", file=sys.stderr, flush=True)
    return status


def _forwarded(arguments: Arguments) -> tuple[list[str], _Files]:
    """The command's own arguments, and its files."""
    argv: list[str] = [*arguments.argv]
    while argv and argv[0].startswith("-"):  # options of `quarry` itself
        argv = argv[1 if "=" in argv[0] else 2 :]
    if arguments.tenant is not None:
        argv = ["--tenant", arguments.tenant, *argv]
    makes_table = getattr(arguments, "collection", None) is not None
    values = [getattr(arguments, each, None) for each in (*_FILES, *(["table"] if makes_table else []))]
    names = [
        str(text) for value in values for text in (value if isinstance(value, list) else [value]) if text is not None
    ]
    files = _Files()
    if "-" in names:
        files.stdin = sys.stdin.buffer.read()
    there = {text: files.add(text) for text in names if text != "-" and not text.startswith("s3:")}
    if makes_table:
        files.add(DECLARATIONS)
    return [there.get(each, each) for each in argv], files


def _frames(stack: str, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The function's response, line by line. Raises QuarryError."""
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError:
        raise ConfigurationError("--stack needs boto3, which is not installed: pip install boto3") from None
    try:
        function = _find_function(boto3.client("cloudformation"), stack)
        request["principal"] = boto3.client("sts").get_caller_identity()["Arn"]
        # never twice: the command may have begun
        client = boto3.client("lambda", config=Config(retries={"total_max_attempts": 1}))
        response = client.invoke_with_response_stream(FunctionName=function, Payload=json.dumps(request))
        yield from _read(response["EventStream"])
    except (BotoCoreError, ClientError) as error:
        raise QuarryError(f"The stack {stack} cannot be asked: {error}") from error


def _find_function(client: Any, stack: str) -> str:
    [described] = client.describe_stacks(StackName=stack)["Stacks"]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", [])}
    if OUTPUT not in outputs:
        raise QuarryError(f"The stack {stack} has no output {OUTPUT}: is it Quarry's, and deployed with this release?")
    return str(outputs[OUTPUT])


def _read(events: Any) -> Iterator[dict[str, Any]]:
    rest = b""
    for event in events:
        *lines, rest = (rest + event.get("PayloadChunk", {}).get("Payload", b"")).split(b"\n")
        yield from (json.loads(line) for line in lines if line)
        if error := event.get("InvokeComplete", {}).get("ErrorCode"):
            detail = event["InvokeComplete"].get("ErrorDetails", "")
            raise QuarryError(f"The function failed: {error} {detail}".strip())
