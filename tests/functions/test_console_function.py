"""The page's requests before sign-in."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable
from types import ModuleType
from typing import Any

import psycopg
import pytest

from quarry.local.data import sample_domains
from quarry.web import page_routes
from tests.functions.conftest import Context, Event, recorded

Load = Callable[[str], ModuleType]

STAGE = {"signInDomain": "https://quarry-1.auth.us-east-1.amazoncognito.com", "signInClientId": "4vq8exampleclient0"}


def config_event(stage: str = "/prod", variables: dict[str, str] | None = None) -> Event:
    event = recorded("records/search.json")
    del event["requestContext"]["authorizer"]
    event["requestContext"] |= {"path": f"{stage}/config.json", "resourcePath": "/config.json"}
    return event | {
        "path": "/config.json",
        "resource": "/config.json",
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "stageVariables": variables,
    }


def config_of(response: dict[str, Any]) -> dict[str, Any]:
    assert response["statusCode"] == 200
    body: dict[str, Any] = json.loads(response["body"])
    return body


def test_the_page_learns_what_it_needs_without_a_user(load_on_sample: Load) -> None:
    response = load_on_sample("console").handler(config_event(variables=STAGE), Context())
    assert config_of(response) == {
        "domains": sorted(sample_domains()),
        "sign_in": {
            "domain": STAGE["signInDomain"],
            "client_id": STAGE["signInClientId"],
            "scopes": ["openid", "email"],
        },
        "prefix": "/prod",
        "examples": json.loads(page_routes.EXAMPLES.read_text()),
    }
    assert response["headers"]["cache-control"] == "public, max-age=60"
    scoped = config_event(variables=STAGE | {"accessTokenScope": "quarry/search"})
    sign_in = config_of(load_on_sample("console").handler(scoped, Context()))["sign_in"]
    assert sign_in["scopes"] == ["openid", "email", "quarry/search"]
    half = config_event(variables={"signInDomain": STAGE["signInDomain"]})
    assert config_of(load_on_sample("console").handler(half, Context()))["sign_in"] is None


def test_domains_without_data_are_left_out_and_checked_again_later(
    load_function: Load,
    lambda_environment: pytest.MonkeyPatch,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lambda_environment.setenv("DATABASE_URL", database_url)
    handler = load_function("console").handler

    def domains() -> list[str]:
        found: list[str] = config_of(handler(config_event(), Context()))["domains"]
        return found

    assert domains() == []
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("insert into matters (id, title) values ('a', 'A matter')")
    assert domains() == []
    monkeypatch.setattr(page_routes, "REMEMBERED_SECONDS", 0.0)
    assert domains() == ["records"]


def test_a_page_of_an_allowed_origin_may_read_the_answer(
    load_on_sample: Load, lambda_environment: pytest.MonkeyPatch
) -> None:
    event = config_event()
    for headers in (event["headers"], event["multiValueHeaders"]):
        headers["Origin"] = (
            ["https://city.example"] if headers is event["multiValueHeaders"] else "https://city.example"
        )
    assert "access-control-allow-origin" not in load_on_sample("console").handler(event, Context())["headers"]
    lambda_environment.setenv("ALLOWED_ORIGIN", "https://city.example")
    headers = load_on_sample("console").handler(event, Context())["headers"]
    assert headers["access-control-allow-origin"] == "https://city.example"
    assert "access-control-allow-credentials" not in headers


def page_event(path: str = "/", *, whole: str | None = None, **headers: str) -> Event:
    event = recorded("console/page.json")
    event["requestContext"] |= {"path": f"/prod{path}" if whole is None else whole}
    event["headers"] |= headers
    event["multiValueHeaders"] |= {name: [value] for name, value in headers.items()}
    return event | {"path": path, "resource": path}


@pytest.fixture
def without_database(load_function: Load, lambda_environment: pytest.MonkeyPatch) -> ModuleType:
    """The function where no database answers: the page itself needs none."""
    lambda_environment.setenv("DATABASE_URL", "postgresql://127.0.0.1:1/quarry")
    return load_function("console")


def test_the_page_is_served_with_its_assets_under_its_stage_and_can_sign_in(without_database: ModuleType) -> None:
    response = without_database.handler(page_event(), Context())
    html, headers = response["body"], response["headers"]
    assert headers["content-type"] == "text/html; charset=utf-8"
    signing_in = "https://quarry-4f2a61d80c35.auth.us-east-1.amazoncognito.com"
    assert f"connect-src 'self' {signing_in};" in headers["content-security-policy"]
    bare = without_database.handler(page_event(whole="/prod"), Context())
    assert (bare["statusCode"], bare["headers"]["location"]) == (308, "/prod/")
    addresses = re.findall(r'(?:href|src)="(assets/[^"]+)"', html)
    assert addresses
    for address in addresses:
        response = without_database.handler(page_event(f"/{address}", **{"Accept-Encoding": "gzip"}), Context())
        assert (response["statusCode"], response["isBase64Encoded"]) == (200, False), address
        # API Gateway hands on no bytes as they are
        assert "content-encoding" not in response["headers"]
        assert "immutable" in response["headers"]["cache-control"]


def test_examples_match_the_loaded_sample_data(load_on_sample: Load, sample_url: str) -> None:
    examples = config_of(load_on_sample("console").handler(config_event(), Context()))["examples"]
    assert len(examples["records"]) >= 3
    with psycopg.connect(sample_url) as connection:
        connection.execute("delete from loaded_samples")
    assert config_of(load_on_sample("console").handler(config_event(), Context()))["examples"] == {}


@pytest.mark.parametrize(
    ("function", "path"),
    [
        ("console", "/"),
        ("search", "/openapi.json"),
    ],
)
def test_a_public_route_that_needs_no_database_does_not_wake_it(
    load_function: Load, lambda_environment: pytest.MonkeyPatch, function: str, path: str
) -> None:
    asleep = socket.create_server(("127.0.0.1", 0))
    lambda_environment.setenv("DATABASE_URL", f"postgresql://127.0.0.1:{asleep.getsockname()[1]}/quarry")
    lambda_environment.setenv("AWS_SAM_LOCAL", "true")  # `search` answers whole
    event = config_event() | {"path": path, "resource": path}
    event["requestContext"] |= {"path": f"/prod{path}", "resourcePath": path}
    with asleep:
        assert load_function(function).handler(event, Context())["statusCode"] == 200
        asleep.setblocking(False)
        with pytest.raises(BlockingIOError):
            asleep.accept()
