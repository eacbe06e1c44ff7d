"""`make rehearse`: the deployed stack on this machine, at an address to open.

Builds the functions as `make build` does, for this machine, and starts each as Lambda does, on the database of DATABASE_URL or
the embedded one with the sample data. Before them stands an API Gateway with the template's routes and errors, which passes
streams on as they come, with a sign-in without passwords, and what `quarry --stack` asks of AWS. It needs no container.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from quarry.local.data import load_samples
from quarry.local.database import open_database
from quarry.platform.settings import Settings
from tools.gateway import SERVED, STREAMING
from tools.rehearsal.artifacts import Artifacts, CannotRun, build
from tools.rehearsal.emulated_stack import BESIDE_THE_API, emulated_stack
from tools.rehearsal.runtime_api import Installation, RuntimeApi, running_function

ENVIRONMENTS = {"search": 3, "console": 2, "profile": 2}
"""How many requests a function serves at once; one by default."""


def main() -> int:
    logging.getLogger("samtranslator").setLevel(logging.ERROR)
    parser = argparse.ArgumentParser(prog="make rehearse", description=__doc__)
    parser.add_argument("--port", type=int, default=8090, help="0 for any free port")
    try:
        artifacts = build()
    except CannotRun as reason:
        print(f"make rehearse: {reason}", file=sys.stderr)
        return 1
    with open_database() as database, tempfile.TemporaryDirectory() as logs:
        if not database.settings.database_url:
            asyncio.run(load_samples(database))
        with rehearsed(artifacts, {"DATABASE_URL": database.url}, Path(logs), parser.parse_args().port) as url:
            _tell(url, Path(logs))
            with suppress(EOFError, KeyboardInterrupt):
                input()
    return 0


@contextmanager
def rehearsed(artifacts: Artifacts, environment: Mapping[str, str], logs: Path, port: int = 0) -> Iterator[str]:
    """The address of the API, with a process for each of its functions. They write their logs into a folder."""
    given = {name: value for name in Settings.variables() if (value := os.environ.get(name))}
    with ExitStack() as running:
        functions: dict[str, RuntimeApi] = {}
        for name in (*SERVED, *BESIDE_THE_API):
            wrapper = artifacts.wrapper if name in {*STREAMING, *BESIDE_THE_API} else None
            built = Installation(
                artifacts.python, artifacts.function(name), tuple(artifacts.layers_of(name, embeds=True)), wrapper
            )
            settings = {**artifacts.environment(name), **given, **environment}
            function = running_function(built, settings, logs, processes=ENVIRONMENTS.get(name, 1))
            functions[name] = running.enter_context(function).api
        yield running.enter_context(emulated_stack(functions, port))


def _tell(url: str, logs: Path) -> None:
    print(
        f"The stack is at {url}/prod/\n\n"
        f'  curl -N -H "Authorization: Bearer demo" "{url}/prod/records/ask?q=Why+was+the+bridge+closed%3F"\n'
        f"  export AWS_ENDPOINT_URL={url} AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x\n"
        "  quarry --stack quarry doctor\n\n"
        f"A bearer token is the name of its user. Logs: {logs}\nEnter ends it."
    )


if __name__ == "__main__":
    raise SystemExit(main())
