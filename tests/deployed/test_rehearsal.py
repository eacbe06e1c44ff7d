"""`make rehearse`: every built function behind one address, as a browser and the command line find a deployed stack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from tests.conftest import clone_database
from tests.deployed.conftest import require_artifacts
from tests.waiting import PATIENCE_SECONDS
from tools import gateway
from tools.rehearsal.__main__ import rehearsed


@pytest.fixture(scope="module")
def stack(server_url: str, sample_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    artifacts = require_artifacts()
    with (
        clone_database(server_url, sample_template) as url,
        rehearsed(artifacts, {"DATABASE_URL": url}, tmp_path_factory.mktemp("logs")) as address,
        httpx2.Client(base_url=f"{address}/prod", timeout=PATIENCE_SECONDS) as client,
    ):
        yield client


def test_every_function_behind_the_api_answers_and_streams_come_piece_by_piece(stack: httpx2.Client) -> None:
    signed_in = {"Authorization": "Bearer ada"}
    for path, function in (
        ("/records/search?q=bridge", "search"),
        ("/credits", "unlock"),
        ("/me/conversations", "profile"),
        ("/answers/none", "cache_lookup"),
        ("/config.json", "console"),
    ):
        assert gateway.SERVED[function]
        assert stack.get(path, headers=signed_in).status_code == (404 if path == "/answers/none" else 200), path
    assert stack.get("/credits").status_code == 401
    with stack.stream("GET", "/records/ask?q=elm&fresh=true", headers=signed_in) as answer:
        pieces = list(answer.iter_raw())
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert len(pieces) > 1


def test_a_browser_signs_in_and_is_let_in(stack: httpx2.Client) -> None:
    sign_in = stack.get("/config.json").json()["sign_in"]
    home = f"{stack.base_url}/"
    asked = {"redirect_uri": home, "state": "s1", "client_id": sign_in["client_id"]}
    form = httpx2.get(f"{sign_in['domain']}/oauth2/authorize", params=asked)
    assert "Who are you?" in form.text
    back = httpx2.get(f"{sign_in['domain']}/oauth2/authorize", params=asked | {"user": "ada"}).headers["location"]
    returned = parse_qs(urlsplit(back).query)
    assert (back.startswith(home), returned["state"]) == (True, ["s1"])
    tokens = httpx2.post(f"{sign_in['domain']}/oauth2/token", data={"code": returned["code"][0]}).json()
    credits = stack.get("/credits", headers={"Authorization": f"Bearer {tokens['access_token']}"})
    assert credits.json() == {"balance": 10}


def test_the_built_page_makes_four_requests(stack: httpx2.Client) -> None:
    html = stack.get("/").text
    files = re.findall(r'(?:href|src)="(assets/[^"]+)"', html)
    assert len(files) == 2
    assert all("immutable" in stack.get(f"/{file}").headers["cache-control"] for file in files)


def test_what_is_served_alone_is_gone_from_the_layer() -> None:
    pages = require_artifacts().shared_layer / "quarry" / "page"
    assert {path.name for path in Path(pages).iterdir()} == {"built.json", "examples.json"}
