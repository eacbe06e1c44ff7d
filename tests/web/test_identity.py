from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from quarry.platform.errors import ConfigurationError
from quarry.platform.settings import Settings
from quarry.services.services import Caller, build_services
from quarry.web.app import create_app
from quarry.web.requests import verified_caller
from tests.conftest import local_client

router = APIRouter()


@router.get("/me")
async def me(caller: Annotated[Caller, Depends(verified_caller)]) -> str:
    return caller.user_id


class Gateway:
    """An application behind API Gateway: each request carries `event`, as the Lambda adapter puts it into the scope."""

    def __init__(self, identity: str) -> None:
        services = build_services(Settings.from_environment({"IDENTITY": identity}), "postgresql://127.0.0.1:1/none")
        self._app = create_app(services, [router], [])
        self.event: Any = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope if self.event is None else {**scope, "aws.event": self.event}, receive, send)


def event(claims: object) -> dict[str, object]:
    return {"requestContext": {"authorizer": {"claims": claims}}}


@pytest.fixture(scope="module")
def local() -> Iterator[TestClient]:
    with local_client(Gateway("local")) as client:
        yield client


@pytest.fixture
def gateway() -> Gateway:
    return Gateway("gateway")


def test_locally_the_user_is_demo_without_a_header(local: TestClient) -> None:
    assert local.get("/me").json() == "demo"


@pytest.mark.parametrize(
    ("header", "user"),
    [
        ("Bearer ada", "ada"),
        ("Bearer  ada@example.org ", "ada@example.org"),
        ("Bearer " + "x" * 64, "x" * 64),
    ],
)
def test_locally_the_bearer_token_is_the_user(local: TestClient, header: str, user: str) -> None:
    assert local.get("/me", headers={"Authorization": header}).json() == user


def test_deployed_the_user_is_the_verified_subject(gateway: Gateway) -> None:
    gateway.event = event({"sub": "cognito-1", "email": "ada@example.org"})
    response = local_client(gateway).get("/me", headers={"Authorization": "Bearer mayor"})
    assert response.json() == "cognito-1"


@pytest.mark.parametrize(
    "unverified",
    [
        None,
        {},
        {"requestContext": {"authorizer": None}},
        event({}),
        event({"sub": ""}),
        event({"sub": {"a": 1}}),
        event({"username": "ada"}),
        "event",
    ],
)
def test_deployed_an_event_without_a_verified_subject_is_refused(gateway: Gateway, unverified: object) -> None:
    gateway.event = unverified
    assert local_client(gateway).get("/me").status_code == 401


@pytest.mark.parametrize(
    "header",
    [
        "Authorization", "X-User-Id", "X-Forwarded-User", "X-Amzn-Oidc-Identity", "X-Amzn-Request-Context",
        "X-Amzn-Lambda-Context", "X-Apigateway-Event", "sub", "aws.event",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "value", ["Bearer mayor", "mayor", '{"requestContext":{"authorizer":{"claims":{"sub":"mayor"}}}}']
)
def test_deployed_no_header_stands_in_for_the_verified_subject(gateway: Gateway, header: str, value: str) -> None:
    assert local_client(gateway).get("/me", headers={header: value}).status_code == 401


def test_inside_lambda_identity_is_the_gateway_s_and_local_is_refused() -> None:
    inside = {"AWS_LAMBDA_FUNCTION_NAME": "quarry-search"}
    assert Settings.from_environment(inside).identity == "gateway"
    with pytest.raises(ConfigurationError, match="refused inside Lambda"):
        Settings.from_environment(inside | {"IDENTITY": "local"})
