"""A collection that has those rows of its table which meet a condition: every door honours it, and each write is followed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.collections.declaration import DeclarationError
from quarry.local.apply import apply_file as declare
from quarry.services.services import Services
from tests.collections.support import HELP_DESK, TICKETS, apply_file, found, owner, refreshed, waiting
from tests.collections.test_search import SCOPED, filled
from tests.collections.test_tenants import call_tool
from tests.conftest import client_of

WITH_DELETED = """
alter table support.tickets add deleted_at timestamptz, add closed boolean,
  add number int generated always as (price::int) stored;
alter table support.agents add left_on date;
update support.tickets set deleted_at = now() where id = 2;
update support.agents set left_on = '2024-01-01' where id = 1;
create table support.visits (ticket_id int references support.tickets (id), way text, is_void boolean);
insert into support.visits values (1, 'phone', false), (1, 'phone', true), (3, 'mail', false), (2, 'mail', true);
"""
WHERE = TICKETS.replace("title = ", 'where = "deleted_at is null"\ntitle = ', 1)
AGENTS = """
[collections.agents]
source = "support.agents"
where = "left_on is null"
title = "name"
text = "name"
embed = []
"""
VISITS = """
[collections.visits]
source = "support.visits"
where = "not is_void"
facets = { way = "value" }
links = { ticket = "ticket_id" }
"""


@pytest.fixture(scope="module")
def client(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("desk")
    with filled(server_url, migrated_template, folder, WHERE + AGENTS + VISITS, HELP_DESK, WITH_DELETED) as url:
        with client_of(url) as client:
            yield client


def rows(client: TestClient, source: str = "tickets", **query: Any) -> list[list[Any]]:
    response = client.post("/query", json={"source": source, **query})
    assert response.status_code == 200, response.text
    listed: list[list[Any]] = response.json()["rows"]
    return listed


def test_a_row_that_does_not_meet_it_comes_through_no_door(client: TestClient) -> None:
    assert rows(client, select=["id"], order=[{"by": "id"}]) == [[1], [3]]
    assert rows(client, aggregate=[{"fn": "sum", "field": "price"}]) == [[12.5]]
    assert client.get("/records/search", params={"q": "invoice", "type": "tickets"}).json()["results"] == []
    counted = client.get("/records/facets", params={"type": "tickets", "by": "status"}).json()
    assert (counted["total"], counted["groups"]) == (2, [{"value": "open", "count": 2}])
    assert client.get("/records/tickets/2").status_code == 404
    assert client.get("/records/tickets/1").status_code == 200
    assert "Invoice is wrong" not in call_tool(client, "get", source="tickets", id="2")
    assert "closed" not in call_tool(client, "values", source="tickets", field="status")


def test_rows_without_a_key_or_text_are_counted_by_the_same_condition(client: TestClient) -> None:
    assert rows(client, "visits", select=["way"], order=[{"by": "way"}]) == [["mail"], ["phone"]]
    counted = client.get("/records/facets", params={"type": "visits", "by": "way"}).json()
    assert {each["value"]: each["count"] for each in counted["groups"]} == {"mail": 1, "phone": 1}


def test_policies_hold_for_the_rows_that_are_left(server_url: str, migrated_template: str, tmp_path: Path) -> None:
    with filled(
        server_url, migrated_template, tmp_path, SCOPED.replace("title = ", 'where = "price is null or price < 50"\ntitle = ', 1),
        HELP_DESK,
        "create role chosen_server login password 'chosen_server' in role quarry_serving, quarry_loading",
        "alter table support.tickets enable row level security",
        "create policy own on support.tickets using (account_id::text = current_setting('app.account', true))",
        "grant usage on schema support to chosen_server",
        "grant select on all tables in schema support to chosen_server",
        role="chosen_server",
    ) as url, client_of("postgresql://chosen_server:chosen_server@" + url.partition("@")[2]) as client:  # fmt: skip
        for user, ids in (("1", [[1]]), ("2", [[3]]), ("3", [])):
            client.headers["Authorization"] = f"Bearer {user}"
            assert rows(client, select=["id"]) == ids
            counted = client.get("/records/facets", params={"type": "tickets"}).json()
            assert counted["total"] == len(ids)
            assert client.get("/records/tickets/1").status_code == (200 if user == "1" else 404)


@pytest.fixture
async def desk(database_url: str, services: Services) -> str:
    """The URL of a database whose tickets are searched but for deleted ones, and in step."""
    owner(database_url, HELP_DESK, WITH_DELETED)
    apply_file(database_url, WHERE)
    await refreshed(services.database)
    return database_url


async def test_rows_leave_and_enter_as_they_are_written(desk: str, services: Services) -> None:
    assert await found(services.database, "printer | invoice") == ["1"]
    owner(desk, "update support.tickets set deleted_at = case when deleted_at is null then now() end where id < 3")
    assert await refreshed(services.database) == {"tickets": None}
    assert await found(services.database, "printer | invoice") == ["2"]
    owner(desk, "insert into support.tickets (subject, deleted_at) values ('A badger', now()), ('A weasel', null)")
    await refreshed(services.database)
    assert await found(services.database, "badger | weasel") == ["5"]
    apply_file(desk, TICKETS.replace("title = ", 'where = "deleted_at is not null"\ntitle = ', 1))
    await refreshed(services.database)
    assert await found(services.database, "printer | invoice | badger | weasel") == ["1", "4"]


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        ("subject like '%printer%' or subject ~ '^.{0,3}$'", ["1"]),
        ('"closed" is not true and lower(status) = $$closed$$', ["2"]),
    ],
)
async def test_any_expression_on_a_row_that_stays_true_without_a_write_is_one(
    database_url: str, services: Services, where: str, keys: list[str]
) -> None:
    owner(database_url, HELP_DESK, WITH_DELETED)
    apply_file(database_url, TICKETS.replace("title = ", f"where = '''{where}'''\ntitle = ", 1))
    assert await refreshed(services.database) == {"tickets": None}
    assert await found(services.database, "printer | invoice") == keys
    with client_of(database_url) as client:
        assert [[int(key)] for key in keys] == rows(client, select=["id"], order=[{"by": "id"}])[: len(keys)]
    assert await waiting(services.database) == 0


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("deleted is null", 'is not a condition on a row: column "deleted" does not exist'),
        ("opened_at > now() - interval '1 year'", "depends on the time, on settings"),
        ("status is null); drop table support.tickets; --", "is not a condition on a row"),
    ],
)
def test_what_is_no_condition_on_a_row_is_refused_and_told(
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    told: str,
) -> None:
    owner(database_url, HELP_DESK)
    (tmp_path / "quarry.toml").write_text(TICKETS.replace("title = ", f"where = '''{where}'''\ntitle = ", 1))
    monkeypatch.setenv("DATABASE_URL", database_url)
    with pytest.raises(DeclarationError) as refused:
        declare(tmp_path / "quarry.toml", only_plan=True, embed=False)
    [problem] = refused.value.problems
    assert told in problem
    assert "quarry.toml:4: collections.tickets.where: " in problem
