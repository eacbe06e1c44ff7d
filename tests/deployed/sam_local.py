"""`sam local start-api` without a container: SAM's own API service and its own environment for each function, before the built
functions under AWS's emulator.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
from samcli.commands.local.lib.local_lambda import LocalLambdaRunner  # type: ignore[import-untyped]
from samcli.lib.providers.api_provider import ApiProvider  # type: ignore[import-untyped]
from samcli.lib.providers.sam_function_provider import SamFunctionProvider  # type: ignore[import-untyped]
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider  # type: ignore[import-untyped]
from samcli.lib.utils.stream_writer import StreamWriter  # type: ignore[import-untyped]
from samcli.local.apigw.local_apigw_service import LocalApigwService  # type: ignore[import-untyped]
from samcli.local.lambdafn.config import FunctionConfig  # type: ignore[import-untyped]
from werkzeug.serving import make_server

from tests.deployed.rie import EmulatedFunction, emulated
from tools.rehearsal.artifacts import ARCHITECTURE, ROOT, Artifacts

ENVIRONMENT_FILE = ROOT / "events" / "sam-local.json"
WRAPPER = "/opt/python/exec-wrapper"


class _Emulators:
    """Replaces SAM's containers: each function is started once, with the environment that SAM gives it."""

    def __init__(self, artifacts: Artifacts, running: ExitStack) -> None:
        self._artifacts = artifacts
        self._running = running
        self._started: dict[str, EmulatedFunction] = {}
        self._starting = threading.Lock()

    def invoke(self, config: FunctionConfig, event: str, *_: object, stdout: StreamWriter, **__: object) -> None:
        with self._starting:
            if config.name not in self._started:
                self._started[config.name] = self._running.enter_context(self._start(config))
        stdout.write_str(self._started[config.name].invoke(json.loads(event)).decode())

    @contextmanager
    def _start(self, config: FunctionConfig) -> Iterator[EmulatedFunction]:
        artifacts, built = self._artifacts, Path(config.code_abs_path)
        [name] = (each for each in artifacts.function_names() if artifacts.function(each) == built)
        environment = config.env_vars.resolve()
        wrapped = environment.get("AWS_LAMBDA_EXEC_WRAPPER") == WRAPPER
        command = [str(artifacts.wrapper), str(artifacts.python)] if wrapped else None
        with emulated(artifacts, name, environment, command) as function:
            yield function


@contextmanager
def local_api(artifacts: Artifacts, database_url: str) -> Iterator[httpx2.Client]:
    """A client of the API that `sam local start-api` serves with our environment file, whose database is this one."""
    parameters = {"Architecture": ARCHITECTURE}
    template = str(artifacts.directory / "template.yaml")
    stacks, _ = SamLocalStackProvider.get_stacks(template, parameter_overrides=parameters)
    given: dict[str, Any] = json.loads(ENVIRONMENT_FILE.read_text())
    given["Parameters"]["DATABASE_URL"] = database_url
    with ExitStack() as running:
        runner = _runner(_Emulators(artifacts, running), SamFunctionProvider(stacks), artifacts.directory, given)
        service = LocalApigwService(ApiProvider(stacks, cwd=str(ROOT)).api, runner, port=0, host="127.0.0.1")
        service.create()
        server = make_server("127.0.0.1", 0, service._app, threaded=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield running.enter_context(httpx2.Client(base_url=f"http://127.0.0.1:{server.server_port}", timeout=60))
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def _runner(
    runtime: _Emulators, functions: SamFunctionProvider, directory: Path, environment: Mapping[str, Any]
) -> LocalLambdaRunner:
    return LocalLambdaRunner(
        local_runtime=runtime,
        function_provider=functions,
        cwd=str(directory),
        real_path=str(directory),
        aws_profile=None,
        aws_region="us-east-1",
        env_vars_values=environment,
        debug_context=None,
        container_host=None,
        container_host_interface=None,
    )
