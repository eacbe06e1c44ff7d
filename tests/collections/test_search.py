"""A collection is searched, filtered, counted and answered from through the same doors as any record."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from quarry.agent.service import Filter
from quarry.local.apply import apply_file
from quarry.query import execute
from quarry.records.sources import BUILT_IN
from tests.collections.support import HELP_DESK, TICKETS, owner
from tests.conftest import client_of, clone_database, local_client
from tests.records.asking import ask, the

MORE = """
insert into support.tickets (account_id, agent_id, status, subject, body, price, tags, opened_at)
select 1 + i % 3, 1 + i % 2, case when i % 4 = 0 then 'closed' else 'open' end, 'Parcel ' || i || ' is late',
  'The courier left the parcel at depot ' || i || '.', i, array['parcel'],
  timestamptz '2024-05-01 08:00+00' + i * interval '1 day'
from generate_series(1, 40) i
"""
SCOPED = TICKETS.replace(
    "[collections.tickets.facets]",
    'scope = "account_id"\nscope_setting = "app.account"\nurl = "https://desk.example/t/{id}"\n'
    "[collections.tickets.facets]",
)
SERVER = "postgresql://desk_server:desk_server@"


def fill(url: str, text: str, path: Path) -> None:
    """Declare, fill and embed."""
    (path / "quarry.toml").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", url)
        # in a thread: where a browser is driven, this one's event loop is taken
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(apply_file, path / "quarry.toml", only_plan=False, embed=True).result()


@contextmanager
def filled(
    server_url: str, template: str, folder: Path, declared: str, *statements: str, role: str = ""
) -> Iterator[str]:
    """A database of its own, after these statements, with these collections filled; a `role` that they make is dropped too."""
    with clone_database(server_url, template) as url:
        owner(url, *statements)
        fill(url, declared, folder)
        yield url
        if role:
            owner(url, f"drop owned by {role}", f"drop role {role}")


@contextmanager
def served(url: str, tables: str, declared: str, folder: Path) -> Iterator[TestClient]:
    """A client of a database that these tables are made in, declared so."""
    owner(url, tables)
    fill(url, declared, folder)
    with client_of(url) as client:
        yield client


@pytest.fixture(scope="module")
def desk(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with filled(server_url, migrated_template, tmp_path_factory.mktemp("desk"), TICKETS, HELP_DESK, MORE) as url:
        yield url


@pytest.fixture(scope="module")
def client(desk: str) -> Iterator[TestClient]:
    with client_of(desk) as client:
        yield client


@pytest.fixture(scope="module")
def tenants(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The same for a server whose role sees what policies let the caller's account see."""
    with filled(
        server_url, migrated_template, tmp_path_factory.mktemp("tenants"), SCOPED, HELP_DESK, MORE,
        "create role desk_server login password 'desk_server' in role quarry_serving, quarry_loading",
        "alter table support.tickets enable row level security",
        "create policy own on support.tickets using (account_id::text = current_setting('app.account', true))",
        "grant usage on schema support to desk_server",
        "grant select on all tables in schema support to desk_server",
        role="desk_server",
    ) as url, client_of(SERVER + url.partition("@")[2]) as client:  # fmt: skip
        yield client


def search(client: TestClient, user: str = "demo", **parameters: Any) -> dict[str, Any]:
    response = client.get("/records/search", params=parameters, headers={"Authorization": f"Bearer {user}"})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def test_rows_are_described_found_by_words_and_meaning_and_counted_as_they_are_written(
    client: TestClient, desk: str
) -> None:
    [told] = client.get("/collections").json()["collections"]
    assert (told["name"], told["description"], told["date"]) == ("tickets", "Customers' questions", "date")
    assert [(facet["name"], facet["kind"]) for facet in told["facets"]] == [
        ("status", "value"), ("price", "money"), ("tags", "array"), ("agent", "name"), ("date", "date"),
    ]  # fmt: skip
    first, *_ = search(client, q="printer toner")["results"]
    assert (first["type"], first["id"], first["title"]) == ("tickets", "1", "The printer smokes")
    assert "<mark>toner</mark>" in first["snippet"]
    assert search(client, q="login does not work")["results"][0]["title"] == "Cannot sign in"
    assert the(ask(client, "How many tickets are closed?"), "aggregation")["total"] == 11
    owner(desk, "insert into support.tickets (id, subject) values (900, 'A badger sits in the server room')")
    try:
        assert [result["id"] for result in search(client, q="badger")["results"]][:1] == ["900"]
    finally:
        owner(desk, "delete from support.tickets where id = 900")
    assert "900" not in [result["id"] for result in search(client, q="badger")["results"]]


BOATS = """
create table boats (id int primary key, name text, hull text, is_afloat boolean, note text);
insert into boats values (1, 'Alder', 'Oak', true, 'The lamp flickers at night'), (2, ' ', 'oak', false, null),
  (3, null, 'Épicéa', true, 'Lamp oil in the bilge'), (4, 'Dogwood', 'Oaks', null, null);
"""
DECLARED_BOATS = """
[collections.boats]
source = "boats"
title = "name"
text = ["name", "note"]
facets = { hull = "value", is_afloat = "boolean" }
"""


def test_values_are_compared_by_kind_and_rows_without_a_title_are_called_by_their_text_or_key(
    shared_url: str, tmp_path: Path
) -> None:
    with served(shared_url, BOATS, DECLARED_BOATS, tmp_path) as client:
        for said, number in {"Oak": 2, "OAK": 2, "epicea": 1, "oaks": 1, "fir": 0, "": 0}.items():
            counted = client.get("/records/facets", params={"hull": said, "by": "hull"}).json()
            assert counted["total"] == number, said
            assert sum(group["count"] for group in counted["groups"]) == number
        for said, number in {"true": 2, "FALSE": 1, "yes": 2, "N": 1}.items():
            assert client.get("/records/facets", params={"is_afloat": said}).json()["total"] == number
        refused = client.get("/records/facets", params={"is_afloat": "perhaps"})
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/is_afloat")
        assert {each["title"] for each in search(client, q="lamp")["results"]} >= {"Alder", "Lamp oil in the bilge"}
        titles = client.post("/query", json={"source": "boats", "select": ["title"], "order": [{"by": "id"}]}).json()
        assert [row[0] for row in titles["rows"]] == ["Alder", "2", "Lamp oil in the bilge", "Dogwood"]


def test_the_rows_of_the_table_itself_are_counted_and_summed(client: TestClient) -> None:
    counted = client.get("/records/facets", params={"by": "status"}).json()
    assert (counted["total"], counted["exact"], counted["truncated"]) == (43, True, False)
    assert counted["groups"] == [{"value": "open", "count": 32}, {"value": "closed", "count": 11}]
    by_month = client.get("/records/facets", params={"by": "month", "q": "parcel"}).json()
    assert by_month["groups"] == [{"value": "2024-05-01", "count": 30}, {"value": "2024-06-01", "count": 10}]

    counted = client.get(
        "/records/facets", params={"by": "status", "of": ["sum:price", "max:price"], "q": "parcel"}
    ).json()
    assert (counted["total"], counted["sum:price"], counted["max:price"]) == (40, 820, 40)
    assert [(group["value"], group["count"], group["sum:price"]) for group in counted["groups"]] == [
        ("open", 30, 600), ("closed", 10, 220),
    ]  # fmt: skip
    assert client.get("/records/facets", params={"of": "sum:price", "q": "password"}).json()["sum:price"] is None
    wrong = client.get("/records/facets", params={"of": "sum:prize"})
    assert wrong.status_code == 422
    assert "did you mean 'price'" in wrong.json()["errors"][0]["message"]


@pytest.mark.parametrize(("user", "typed", "found"), [
    ("1", "printer smo", ["The printer smokes"]), ("1", "pritner", ["The printer smokes"]), ("2", "printer", []),
    ("2", "pritner", []), ("2", "cannot si", ["Cannot sign in"]), ("1", "cannot", []), ("", "printer", []),
])  # fmt: skip
def test_titles_are_suggested_of_a_callers_own_rows_alone(
    tenants: TestClient, user: str, typed: str, found: list[str]
) -> None:
    headers = {"Authorization": f"Bearer {user}"} if user else {}
    told = tenants.get("/records/suggest", params={"q": typed, "type": "tickets"}, headers=headers).json()
    assert [each["title"] for each in told["suggestions"]] == found


def test_a_title_that_is_no_text_is_suggested_as_it_is_now(
    server_url: str, migrated_template: str, tmp_path: Path
) -> None:
    declared = TICKETS.replace('text = { subject = "A", body = "B" }', 'text = ["body"]')
    with filled(server_url, migrated_template, tmp_path, declared, HELP_DESK) as url, client_of(url) as client:
        owner(url, "update support.tickets set subject = 'Thermostat whistles' where subject = 'Invoice is wrong'")
        found = [
            [each["title"] for each in client.get("/records/suggest", params={"q": q}).json()["suggestions"]]
            for q in ("thermo", "invoi")
        ]
    assert found == [["Thermostat whistles"], []]


def test_what_a_callers_account_does_not_own_shows_nowhere(tenants: TestClient) -> None:
    for user, rows in (("1", 13), ("2", 14), ("3", 13), ("4", 0)):
        found = search(tenants, user, q="parcel", limit=50)
        assert found["counts"]["tickets"] == len(found["results"]) == rows
        assert all(result["url"] == f"https://desk.example/t/{result['id']}" for result in found["results"])
    meant = [search(tenants, user, q="login does not work")["results"] for user in "12"]
    assert ["Cannot sign in" in [each["title"] for each in found] for found in meant] == [False, True]
    headers = {"Authorization": "Bearer 2"}
    assert tenants.get("/records/facets", headers=headers).json()["total"] == 15
    events = tenants.post("/records/ask", json={"question": "How many tickets are open?"}, headers=headers).text
    assert '"total":11' in events, events
    mine = tenants.get("/records/tickets/1", headers={"Authorization": "Bearer 1"})
    theirs, nobodys = (tenants.get(f"/records/tickets/{id}", headers=headers) for id in (1, 9999))
    assert (mine.status_code, theirs.status_code) == (200, 404)
    assert theirs.json()["detail"] == nobodys.json()["detail"]


def test_a_kept_answer_is_found_again_by_the_claims_that_collections_name(
    server_url: str, migrated_template: str, tmp_path: Path
) -> None:
    declared = SCOPED.replace("scope_setting", 'scope_claim = "custom:account"\nscope_setting')

    claims: dict[str, str] = {}
    times = itertools.count()

    def is_kept(client: TestClient, **others: str) -> bool:
        own = {"sub": "ann", "custom:account": "1", "iat": str(next(times)), "exp": "9", "jti": str(next(times))}
        claims.update(own | others)
        kept: bool = the(ask(client, "When did the printer begin to smoke?", fresh=False), "done")["cached"]
        return kept

    with clone_database(server_url, migrated_template) as url:
        owner(url, HELP_DESK)
        fill(url, declared, tmp_path)
        app = client_of(url, IDENTITY="gateway").app
        with local_client(_with_claims(app, claims)) as client:
            assert [is_kept(client), is_kept(client), is_kept(client, email="ann@desk.example")] == [False, True, True]
            for others in ({"sub": "bob"}, {"custom:account": "2"}, {"custom:account": ""}):
                assert [is_kept(client, **others), is_kept(client, **others)] == [False, True]


def _with_claims(app: ASGIApp, claims: dict[str, str]) -> ASGIApp:
    """The application as API Gateway calls it for who has these claims."""

    async def called(scope: Scope, receive: Receive, send: Send) -> None:
        event = {"requestContext": {"authorizer": {"claims": claims}}}
        await app({**scope, "aws.event": event}, receive, send)

    return called


@pytest.mark.parametrize("most", [10_000, 11], ids=["few", "many"])
def test_agents_find_the_rows_that_meet_conditions_and_how_many_there_are(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(execute, "KEYS_MAX", most)
    monkeypatch.setattr(execute, "KEYS_ACROSS_MAX", most)
    where = [{"field": "agent", "value": "ada palmer"}, {"field": "status", "value": "open"}]
    asked = {
        "text": "late parcel at depot 6",
        "source": "tickets",
        "where": where,
        "select": ["agent", "status"],
        "limit": 20,
    }
    found = _searched(client, asked)
    assert [each["fields"] for each in found["results"]] == [{"agent": "Ada Palmer", "status": "open"}] * 12
    assert found["results"][0]["title"] == "Parcel 6 is late"
    assert (found["meeting"], found.get("more")) == ((12, None) if most > 12 else (11, True))


def _searched(client: TestClient, asked: dict[str, Any]) -> dict[str, Any]:
    """What an agent's search gives."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": asked}}
    answer = client.post("/mcp", json=message, headers={"accept": "application/json, text/event-stream"})
    found: dict[str, Any] = json.loads(answer.text.partition("data: ")[2] or answer.text)["result"]["structuredContent"]
    return found


SPELT = """
alter table support.tickets add site text;
alter table support.agents add home text;
update support.agents set home = case id when 1 then 'FRANCE' else 'Oslo, Norway' end;
insert into support.tickets (id, agent_id, status, subject, tags, site) values
  (11, 1, 'waiting', 'Parcel', '{Red}', 'Lyon, France'), (12, 2, 'WAITING', 'Parcel', '{RED,blue}', 'FRANCE'),
  (13, 2, ' Waiting ', 'Parcel', '{red}', 'Paris - France / Europe'),
  (14, 1, 'waiting here', 'Parcel', '{reddish}', 'New France'),
  (15, 2, 'done', 'Parcel', '{}', 'Oslo, Norway'), (16, 1, null, 'Parcel', '{}', null)
"""


@pytest.fixture(scope="module")
def spelt(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A help desk whose tickets spell one value in several ways."""
    declared = (
        TICKETS + 'site = "place"\nhome = { kind = "place", by = "agent_id", of = "support.agents", title = "home" }\n'
    )
    folder = tmp_path_factory.mktemp("spelt")
    statements = (HELP_DESK, "alter table support.tickets alter status drop not null", SPELT)
    with (
        filled(server_url, migrated_template, folder, declared, *statements) as url,
        local_client(client_of(url).app) as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("field", "value", "rows"),
    [
        ("status", "waiting", {11, 12, 13}),
        ("tags", "red", {11, 12, 13}),
        ("site", "France", {11, 12, 13}),
        ("home", "France", {11, 14, 16}),
        ("agent", "ada palmer", {11, 14, 16}),
    ],
)
def test_agents_find_rows_by_a_value_in_every_spelling_and_no_other(
    spelt: TestClient, field: str, value: str, rows: set[int]
) -> None:
    def found(op: str) -> set[int]:
        where = [{"field": field, "op": op, "value": value}, {"field": "title", "value": "Parcel"}]
        results = _searched(spelt, {"text": "parcel", "source": "tickets", "where": where, "limit": 20})["results"]
        return {int(each["id"]) for each in results}

    assert (found("="), found("!=")) == (rows, {11, 12, 13, 14, 15, 16} - rows)


def test_a_filter_of_rows_does_not_change_how_words_are_weighed() -> None:
    motion = BUILT_IN["motion"]
    narrowed = motion.narrowed(Filter("t.mover = 'Ada'", None, 10_000))
    assert narrowed.condition(()) is not None
    assert narrowed.visible is motion.visible is None
