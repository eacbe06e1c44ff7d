"""A searched table breaks: its collection is left out and named, the others answer, and it returns after the repair."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.records import sources
from tests.collections.support import HELP_DESK, TICKETS, owner
from tests.collections.test_search import SERVER, fill
from tests.conftest import client_of, clone_database
from tests.records.asking import ask, of_type

NOTES = """
create table support.notes (id int primary key, subject text not null, body text not null, written_on date not null);
insert into support.notes values
  (1, 'Who mends the printer', 'The printer is mended by the caretaker on Mondays.', '2024-03-02'),
  (2, 'Parking', 'Guests park behind the depot.', '2024-03-05');
"""
BOTH = (
    TICKETS
    + """
[collections.notes]
source = "support.notes"
title = "subject"
text = { subject = "A", body = "B" }
date = "written_on"
"""
)
RAISES = """
create function support.raises(int) returns boolean language plpgsql as $$
begin raise exception 'account % is locked by kestrel', $1; end $$
"""
BROKEN = {
    "renamed column": (
        "alter table support.tickets rename body to message", "alter table support.tickets rename message to body",
    ),
    "revoked grant": (
        "revoke select on support.tickets from desk_server", "grant select on support.tickets to desk_server",
    ),
    "raising policy": (
        "create policy broken on support.tickets using (support.raises(account_id));"
        " alter table support.tickets enable row level security",
        "alter table support.tickets disable row level security; drop policy broken on support.tickets",
    ),
}  # fmt: skip
"""Each fault, and what mends it."""


@pytest.fixture(scope="module")
def url(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        owner(
            url, HELP_DESK, NOTES, RAISES,
            "create role desk_server login password 'desk_server' in role quarry_serving, quarry_loading",
            "grant usage on schema support to desk_server",
            "grant usage on schema public to desk_server",
            "grant select on all tables in schema support to desk_server",
        )  # fmt: skip
        fill(url, BOTH, tmp_path_factory.mktemp("broken"))
        yield url
        owner(url, "drop owned by desk_server", "drop role desk_server")


@pytest.fixture
def client(url: str) -> Iterator[TestClient]:
    with client_of(SERVER + url.partition("@")[2]) as client:
        yield client


@pytest.fixture(params=BROKEN)
def broken(
    request: pytest.FixtureRequest, url: str, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """What mends it. The process has seen the collection in order, and looks again at once which there are."""
    monkeypatch.setattr(sources, "REMEMBERED_SECONDS", 0.0)
    breaks, mends = BROKEN[request.param]
    assert found(client) == {"tickets": ["1"], "notes": ["1"]}
    owner(url, breaks)
    yield mends
    monkeypatch.setattr(sources, "LEFT_OUT_SECONDS", 0.0)
    owner(url, mends)
    assert found(client) == {"tickets": ["1"], "notes": ["1"]}


def searched(client: TestClient, **parameters: Any) -> dict[str, Any]:
    response = client.get("/records/search", params={"q": "printer", **parameters})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def found(client: TestClient) -> dict[str, list[str]]:
    """The ids found of each type; nothing may be degraded."""
    body = searched(client)
    assert body["degraded"] == []
    ids: dict[str, list[str]] = {}
    for each in body["results"]:
        if each["matched"].get("text_rank"):
            ids.setdefault(each["type"], []).append(each["id"])
    return ids


def test_only_the_broken_collection_is_refused_and_it_is_named_everywhere(
    broken: str, client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "quarry"):
        body = searched(client)
    assert body["degraded"] == ["collection:tickets"]
    assert {each["type"] for each in body["results"]} == {"notes"}
    assert [*body["counts"]] == ["notes"]
    [line] = {record.getMessage() for record in caplog.records}
    assert "collection tickets is left out" in line
    assert "quarry doctor" in line
    assert not {"kestrel", "select"} & {*line.lower().split()}

    counted = client.get("/records/facets", params={"by": "year"}).json()
    assert (counted["total"], counted["degraded"]) == (2, ["collection:tickets"])
    collections = client.get("/collections").json()
    assert [each["name"] for each in collections["collections"]] == ["notes"]
    assert collections["degraded"] == ["collection:tickets"]

    events = ask(client, "Who mends the printer?")
    [done] = of_type(events, "done")
    assert done["degraded"] == ["collection:tickets"]
    answer = "".join(each["chunk"] for each in of_type(events, "final_answer_chunk"))
    assert "caretaker" in answer
    assert "tickets" in answer
    assert all(each["level"] != "high" for each in of_type(events, "confidence"))

    for path in ("search?q=printer&type=tickets", "ask?q=printer&type=tickets", "tickets/1"):
        response = client.get(f"/records/{path}")
        assert response.status_code == 503, response.text
        problem = response.json()
        assert "tickets" in problem["detail"]
        assert "Retry-After" in response.headers
        assert not {"support", "kestrel", "select"} & {*json.dumps(problem).lower().replace('"', " ").split()}
