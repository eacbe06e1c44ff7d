"""Which names a local server answers to, and that no page of another site gets past them."""

from __future__ import annotations

import pytest
from fastapi import APIRouter
from starlette.testclient import TestClient

from quarry.api.routers import EVERYTHING
from quarry.platform.settings import Settings
from quarry.services.services import build_services
from quarry.web.admission import is_public
from quarry.web.app import create_app
from quarry.web.middleware import SINGLE
from tests.conftest import local_client

router = APIRouter()


@router.get("/mine")
async def mine() -> str:
    return "mine"


def client_with(**environment: str) -> TestClient:
    """A client of a local application that needs no database."""
    services = build_services(Settings.from_environment(environment), "postgresql://127.0.0.1:1/none")
    return local_client(create_app(services, [router]))


def status(client: TestClient, host: str, **headers: str) -> int:
    return client.get("/mine", headers={"Host": host} | headers).status_code


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8080", "localhost.", "127.0.0.1:8080", "127.1.2.3:1", "[::1]:8080"]
)
def test_a_loopback_name_is_answered_on_any_port(host: str) -> None:
    assert status(client_with(), host) == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example",
        "10.0.0.1", "0.0.0.0", "[::]", "[::1", "::1", "localhost:port", "localhost, evil.example", "", " ", "[fe80::1]",
    ],
)  # fmt: skip
def test_any_other_name_is_a_421(host: str) -> None:
    response = client_with().get("/mine", headers={"Host": host})
    assert response.status_code == 421
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["type"] == "urn:quarry:problem:misdirected-request"
    assert "QUARRY_ALLOWED_HOSTS" in response.json()["detail"]
    assert response.headers["x-request-id"] == response.json()["request_id"]


async def test_a_request_without_a_host_or_with_two_is_a_421() -> None:
    app = client_with().app
    for hosts in ([], [b"localhost", b"evil.example"]):
        sent: list[dict[str, object]] = []

        async def send(message: dict[str, object], sent: list[dict[str, object]] = sent) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/mine", "headers": [(b"host", host) for host in hosts]}
        await app(scope, None, send)  # type: ignore[arg-type]
        assert sent[0]["status"] == 421


def test_an_origin_must_be_one_of_the_same_names() -> None:
    client = client_with(QUARRY_ALLOWED_HOSTS="quarry.lan")
    for origin in ("http://127.0.0.1:8080", "https://localhost", "http://[::1]:3000", "http://quarry.lan:1"):
        assert status(client, "localhost", Origin=origin) == 200, origin
    for origin in ("http://evil.example", "null", "file://", "ftp://localhost", "localhost", "http://localhost/", ""):
        assert status(client, "localhost", Origin=origin) == 421, origin


@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin, cross-site", "", "none of these"])
def test_a_page_of_another_site_or_port_may_ask_nothing(site: str) -> None:
    response = client_with().get("/mine", headers={"Host": "localhost", "Sec-Fetch-Site": site})
    assert response.status_code == 403
    assert response.json()["type"] == "urn:quarry:problem:not-allowed"
    assert "ALLOWED_ORIGIN" in response.json()["detail"]


def test_a_page_that_the_settings_name_may_ask_and_no_other_port_of_this_machine() -> None:
    for environment, origin, expected in (
        ({}, "http://localhost:3000", 403),
        ({"ALLOWED_ORIGIN": "http://localhost:3000"}, "http://localhost:3000", 200),
        ({"ALLOWED_ORIGIN": "http://localhost:3000"}, "http://localhost:4000", 403),
        ({"ALLOWED_ORIGIN": "*"}, "https://any.example", 200),
        ({"QUARRY_ALLOWED_HOSTS": "quarry.lan"}, "https://quarry.lan", 200),
    ):
        headers = {"Origin": origin, "Sec-Fetch-Site": "same-site"}
        assert status(client_with(**environment), "localhost", **headers) == expected, (environment, origin)
    # without its origin it could be any page
    assert status(client_with(ALLOWED_ORIGIN="*"), "localhost", **{"Sec-Fetch-Site": "cross-site"}) == 403


@pytest.mark.usefixtures("impatient")
def test_every_route_of_a_local_server_is_closed_to_other_sites_but_the_public_ones() -> None:
    services = build_services(Settings.from_environment({}), "postgresql://127.0.0.1:1/none")
    client = local_client(create_app(services, EVERYTHING))
    other = {"Sec-Fetch-Site": "cross-site", "Content-Type": "application/json"}
    for route in client.app.routes:  # type: ignore[attr-defined]
        for method in route.methods:
            path = route.path_format.replace("{", "").replace("}", "")
            answer = client.request(method, path, headers=other, content=b"{", follow_redirects=False)
            assert (answer.status_code == 403) is not is_public(route.endpoint), (method, path, answer.status_code)


def test_deployed_a_token_protects_and_other_sites_may_ask() -> None:
    assert status(client_with(IDENTITY="gateway"), "api.city.example", **{"Sec-Fetch-Site": "cross-site"}) == 200


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("identity", ["local", "gateway"])
def test_a_header_that_counts_once_is_refused_twice(name: str, identity: str) -> None:
    client = client_with(IDENTITY=identity)
    response = client.get("/mine", headers=[("Host", "localhost"), (name, "1"), (name, "1")])
    assert response.status_code == 400
    assert name in response.json()["detail"]
