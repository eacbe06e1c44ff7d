"""`make local-api`: every route of the template through SAM's own local API service, with nothing edited but the database's name;
and that what makes it possible is refused where a stack is deployed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quarry.platform.errors import ConfigurationError
from quarry.platform.settings import EMULATED_LOG_STREAM, Settings
from tests.conftest import clone_database
from tests.deployed.conftest import require_artifacts
from tests.deployed.replay import forget_vectors, function_of_route, recorded_events
from tools.rehearsal.artifacts import ROOT

ENVIRONMENT_FILE = ROOT / "events" / "sam-local.json"

EMULATED = {
    "AWS_LAMBDA_FUNCTION_NAME": "SearchFunction",
    "AWS_SAM_LOCAL": "true",
    "AWS_LAMBDA_LOG_STREAM_NAME": EMULATED_LOG_STREAM,
    "IDENTITY": "local",
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # SAM's own
def test_sam_local_answers_every_route_of_the_template(
    server_url: str, sample_template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifacts = require_artifacts()
    # SAM would look for credentials beyond this machine, and tell what was done with it
    for name, value in {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "SAM_CLI_TELEMETRY": "0"}.items():
        monkeypatch.setenv(name, value)
    # here, since every process that shares the tests reads this module
    from tests.deployed.sam_local import local_api

    requests = [recorded for recorded in recorded_events() if recorded.is_request]
    wrong, asked = [], set()
    with clone_database(server_url, sample_template) as database_url:
        forget_vectors(database_url)
        with local_api(artifacts, database_url) as client:
            for recorded in requests:
                event = recorded.event
                expected = expected_status(recorded.expected_path)
                for method in [event["httpMethod"], *(["HEAD"] if event["httpMethod"] == "GET" else [])]:
                    recorded.prepare(database_url)
                    response = client.request(
                        method,
                        event["path"],
                        params=event["multiValueQueryStringParameters"],
                        content=event["body"],
                        headers={
                            "Authorization": f"Bearer {user_of(event)}",
                            "Content-Type": "application/json",
                        },
                    )
                    asked.add((method, event["resource"]))
                    if response.status_code != expected:
                        wrong.append((method, event["path"], response.status_code, response.text))
    assert wrong == []
    assert asked == function_of_route().keys()


def expected_status(recorded: Path) -> int:
    return int(json.loads(recorded.read_text())["statusCode"]) if recorded.suffix == ".json" else 200


def user_of(event: dict[str, Any]) -> str:
    authorizer = event["requestContext"].get("authorizer")
    return str(authorizer["claims"]["sub"]) if authorizer else "anybody"


def test_a_function_may_trust_its_client_only_under_the_emulator() -> None:
    assert Settings.from_environment(EMULATED).identity == "local"


@pytest.mark.parametrize(
    "environment",
    [
        EMULATED | {"AWS_LAMBDA_LOG_STREAM_NAME": "2026/11/23/[7]0b4e2a1c9d3f4e5a8b7c6d5e4f3a2b1c"},
        {name: value for name, value in EMULATED.items() if name != "AWS_LAMBDA_LOG_STREAM_NAME"},
        {name: value for name, value in EMULATED.items() if name != "AWS_SAM_LOCAL"},
    ],
    ids=["deployed", "deployed with SnapStart", "not said"],
)
def test_a_deployed_function_never_trusts_its_client(environment: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="refused inside Lambda"):
        Settings.from_environment(environment)
