"""The Lambda function `admin`: runs one of this package's commands inside the stack, for whoever IAM allows to invoke it.

A command is a process of its own, in a folder with the files of its request. Lines of JSON tell what it does: `out` and `err` are
pieces of its two outputs, `file` and `content` a file that it wrote, `exit` its status. Blank lines keep a quiet connection open.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import logging
import os
import sys
import time
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from quarry.platform.contract import place_in, plain_words
from quarry.platform.text import without_credentials
from quarry.web.lambda_app import ExecutionEnvironment, LambdaContext
from quarry.web.streamed_response import StreamedResponse

HEARTBEAT_SECONDS = 10.0
RESERVE_SECONDS = 15.0
"""How long before the end of the invocation a command is ended, so that its end is reported and logged."""
KILL_SECONDS = 5.0
READ_BYTES = 1 << 16

OUT_OF_TIME = 124
"""The exit status of a command that was ended, as `timeout` has it."""

RUN = "import sys; from quarry.local.cli import main; sys.exit(main(sys.argv[1:], in_stack=True))"

FileName = Annotated[str, StringConstraints(pattern=r"^[^./\\\x00][^/\\\x00]*$", max_length=255)]

audit = logging.getLogger("quarry.audit")
audit.setLevel(logging.INFO)

Frame = dict[str, Any]


class CommandRequest(BaseModel):
    """A command and its files. `principal` is who the caller claims to be: IAM admits callers without telling who they are."""

    model_config = ConfigDict(extra="forbid")

    argv: list[str] = Field(min_length=1)
    files: dict[FileName, Base64Bytes] = {}
    stdin: Base64Bytes = b""
    principal: str | None = None


def administer(environment: ExecutionEnvironment, event: Mapping[str, Any], context: LambdaContext) -> StreamedResponse:
    """The response to an invocation: the output of its command, as it comes. Raises ConfigurationError for invalid settings."""
    environment.telemetry.begin(context)
    return environment.run(_respond(event, context.get_remaining_time_in_millis() / 1000))


async def _respond(event: Mapping[str, Any], seconds: float) -> StreamedResponse:
    frames = _frames(event, seconds - RESERVE_SECONDS)
    latest = asyncio.get_running_loop().time() + seconds
    return StreamedResponse(_lines(frames), latest, media_type="application/x-ndjson")


async def _lines(frames: AsyncGenerator[Frame | None]) -> AsyncGenerator[bytes]:
    try:
        async for frame in frames:
            yield (json.dumps(frame, ensure_ascii=False) if frame else "").encode() + b"\n"
    finally:
        await frames.aclose()


async def _frames(event: Mapping[str, Any], seconds: float) -> AsyncGenerator[Frame | None]:
    """What is sent for a request; None keeps the connection open. Every request has its line in the log, refused ones too."""
    began, status = time.monotonic(), OUT_OF_TIME
    try:
        request = CommandRequest.model_validate(event)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, place_in(event, e))) or 'the event'} {plain_words(e)}" for e in error.errors()
        )
        audit.warning("refused a request that is not a command: %s", wrong)
        yield {"err": f"quarry: the request is not a command: {wrong}\n"}
        yield {"exit": 2}
        return
    try:
        async for frame in _run(request, seconds):
            if frame and "exit" in frame:
                status = frame["exit"]
            yield frame
    finally:
        masked = [without_credentials(each) for each in request.argv]
        facts = {
            "argv": masked,
            "stated_principal": request.principal,
            "exit_status": status,
            "seconds": round(time.monotonic() - began, 3),
            "files": {name: len(content) for name, content in request.files.items()},
        }
        audit.info("quarry %s", " ".join(masked), extra=facts)


async def _run(request: CommandRequest, seconds: float) -> AsyncGenerator[Frame | None]:
    with TemporaryDirectory(prefix="quarry-") as name:
        folder = Path(name)
        for file, content in request.files.items():
            (folder / file).write_bytes(content)
        frames: asyncio.Queue[Frame | None] = asyncio.Queue()
        async with _started(request, folder) as process:
            ending = asyncio.create_task(_stream_outputs(process, request.stdin, frames, seconds))
            try:
                while not ending.done() or not frames.empty():
                    try:
                        async with asyncio.timeout(HEARTBEAT_SECONDS):
                            frame = await frames.get()
                    except TimeoutError:
                        yield None
                        continue
                    if frame is not None:
                        yield frame
                status = await ending
            finally:
                ending.cancel()
        for frame in _changed_files(folder, request.files):
            yield frame
        yield {"exit": status}


def _changed_files(folder: Path, originals: Mapping[str, bytes]) -> Iterator[Frame]:
    """The files of the folder that are new or changed."""
    for path in sorted(each for each in folder.iterdir() if each.is_file()):
        if (content := path.read_bytes()) != originals.get(path.name):
            yield {"file": path.name, "content": b64encode(content).decode()}


@asynccontextmanager
async def _started(request: CommandRequest, folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """The command's process, which is ended with the block."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", RUN, *request.argv),
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # the runtime has put the layers on its own path only
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _stream_outputs(
    process: asyncio.subprocess.Process, stdin: bytes, frames: asyncio.Queue[Frame | None], seconds: float
) -> int:
    """Put the process' outputs into the queue as they come, and None at their end; its exit status."""
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with asyncio.timeout(seconds):
            await asyncio.gather(
                _write(process, stdin), _pass_on(process.stdout, "out", frames), _pass_on(process.stderr, "err", frames)
            )
            code = await process.wait()
            # as a shell gives it, for a process that a signal ended too: 137 where the memory did not suffice
            return 128 - code if code < 0 else code
    except TimeoutError:
        process.terminate()
        frames.put_nowait({"err": "quarry: ended, since a function runs at most 15 minutes; see docs/deploy.md\n"})
        try:
            async with asyncio.timeout(KILL_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
        return OUT_OF_TIME
    finally:
        frames.put_nowait(None)


async def _write(process: asyncio.subprocess.Process, stdin: bytes) -> None:
    assert process.stdin
    process.stdin.write(stdin)
    with suppress(BrokenPipeError, ConnectionResetError):  # it may not read its input
        await process.stdin.drain()
    process.stdin.close()


async def _pass_on(output: asyncio.StreamReader, name: str, frames: asyncio.Queue[Frame | None]) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while piece := await output.read(READ_BYTES):
        if text := decoder.decode(piece):
            frames.put_nowait({name: text})
