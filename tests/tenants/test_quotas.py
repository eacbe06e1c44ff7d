"""What all users of a tenant may use together: requests, rows and credits. One tenant's quota concerns no other."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry import catalog
from quarry.collections.apply import check_rows
from quarry.local.cli import main as quarry
from quarry.platform.errors import Forbidden
from quarry.postgres.load import load_file
from quarry.postgres.migrate import connect
from quarry.postgres.tenants import USE_SETTING, add_tenant, set_quotas
from quarry.services import tenants as served
from quarry.web import requests
from tests.conftest import clone_database
from tests.tenants.conftest import headers, run, tenants_client
from tests.tenants.test_apart import ATTEMPTS

MOMENT = "timestamptz '2024-03-05 18:30:20+00'"
SetQuota = Callable[..., None]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is always the same minute, and quotas are read for each request."""
    monkeypatch.setattr(requests, "_COUNT", requests._COUNT.replace("now()", MOMENT))
    monkeypatch.setattr(served, "KNOWN_SECONDS", 0.0)


@pytest.fixture
def quota(tenants_url: str) -> Iterator[SetQuota]:
    """Sets quotas of a tenant; all are gone after the test, with what was counted."""

    def set_quota(tenant: str, **quotas: int) -> None:
        with connect(tenants_url, "quarry") as connection:
            set_quotas(connection, tenant, quotas)

    yield set_quota
    run(tenants_url, "quarry", "update tenants set requests_per_minute = null, rows_max = null, credits_max = null")
    for schema in ("acme", "globex"):
        run(tenants_url, schema, "truncate rate_windows, credits_spent")


def statuses(client: TestClient, tenant: str, *users: str) -> list[int]:
    return [client.get("/credits", headers=headers(tenant, sub=user)).status_code for user in users]


# --- requests


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=str)
def test_every_door_refuses_a_tenant_that_has_used_up_its_requests_and_serves_the_other(
    tenants: TestClient, quota: SetQuota, attempt: str
) -> None:
    method, path, more = ATTEMPTS[attempt]
    quota("acme", requests_per_minute=1)
    assert statuses(tenants, "acme", "ada") == [200]
    answers = {
        tenant: tenants.request(method, path, **{**more, "headers": headers(tenant) | more.get("headers", {})})
        for tenant in ("acme", "globex")
    }
    refusal = answers["acme"]
    assert (refusal.status_code, refusal.headers["retry-after"]) == (429, "40"), refusal.text
    assert "1 requests of your organization in a minute" in refusal.text
    assert "acme" not in refusal.text.replace(path, "")
    assert answers["globex"].status_code != 429


def test_what_a_users_own_limit_refuses_takes_nothing_from_the_tenant(tenants_url: str, quota: SetQuota) -> None:
    quota("acme", requests_per_minute=4)
    with tenants_client(tenants_url, RATE_LIMIT_PER_MINUTE="2") as client:
        assert statuses(client, "acme", *["hasty"] * 5) == [200, 200, 429, 429, 429]
        assert statuses(client, "acme", "ada", "ada", "grace") == [200, 200, 429]
        assert statuses(client, "globex", "ada", "grace", "hasty") == [200, 200, 200]


def test_instances_and_users_at_once_share_the_tenants_requests(tenants_url: str, quota: SetQuota) -> None:
    quota("acme", requests_per_minute=7)
    with tenants_client(tenants_url) as one, tenants_client(tenants_url) as other, ThreadPoolExecutor(8) as threads:
        done = threads.map(
            lambda number: statuses((one, other)[number % 2], "acme", f"user {number % 5}")[0], range(24)
        )
        assert Counter(done) == {200: 7, 429: 17}


def test_a_quota_of_the_settings_holds_for_every_tenant_without_its_own(tenants_url: str, quota: SetQuota) -> None:
    quota("acme", requests_per_minute=0)
    with tenants_client(tenants_url, TENANT_REQUESTS_PER_MINUTE="1") as client:
        assert statuses(client, "globex", "ada", "grace") == [200, 429]
        assert statuses(client, "acme", "ada", "grace", "ada") == [200, 200, 200]
        quota("acme", requests_per_minute=USE_SETTING)
        assert statuses(client, "acme", "ada", "grace") == [200, 429]


def test_no_tenant_reads_a_quota(tenants: TestClient, tenants_url: str, quota: SetQuota) -> None:
    quota("acme", requests_per_minute=987_654, rows_max=987_654, credits_max=987_654)
    assert run(tenants_url, "globex", "select count(*) from tenants") == [(0,)]
    for path in ("/credits", "/health/deep", "/records/collections"):
        assert "987" not in tenants.get(path, headers=headers("globex")).text


# --- credits


def test_users_at_once_spend_no_more_credits_than_their_tenant_has(
    tenants: TestClient, tenants_url: str, quota: SetQuota
) -> None:
    quota("acme", credits_max=3)
    body = {"query": "backend engineer in Bengaluru"}

    def search(number: int) -> int:
        sent = headers("acme", sub=f"spender {number}")
        return tenants.post("/people/search", json=body, headers=sent).status_code

    with ThreadPoolExecutor(8) as threads:
        assert Counter(threads.map(search, range(8))) == {200: 3, 402: 5}
    spent = "select -sum(amount) from credit_ledger where amount < 0 and user_id like 'spender %'"
    assert run(tenants_url, "acme", spent) == run(tenants_url, "acme", "select credits from credits_spent") == [(3,)]
    refusal = tenants.post("/people/search", json=body, headers=headers("acme", sub="spender 9"))
    assert "Your organization has no credits left" in refusal.text
    assert tenants.post("/people/search", json=body, headers=headers("globex")).status_code == 200
    quota("acme", credits_max=4)
    assert [search(9), search(10)] == [200, 402]


def test_a_contact_is_not_unlocked_beyond_the_tenants_credits(tenants: TestClient, quota: SetQuota) -> None:
    user = headers("acme", sub="unlocker")
    found = tenants.post("/people/search", json={"query": "backend engineer in Bengaluru"}, headers=user).json()
    person = next(each["id"] for each in found["people"] if each["open_to_work"] or each["open_to_contact"])
    unlock = f"/people/{person}/unlock-contact"
    quota("acme", credits_max=1)  # which the search has taken
    refused = tenants.post(unlock, json={"search_id": found["search_id"]}, headers=user)
    assert refused.status_code == 402, refused.text
    assert tenants.get("/credits", headers=user).json()["balance"] == 9
    quota("acme", credits_max=2)
    unlocked = tenants.post(unlock, json={"search_id": found["search_id"]}, headers=user)
    assert unlocked.json()["charged"], unlocked.text
    again = tenants.post(unlock, json={"search_id": found["search_id"]}, headers=user)
    assert (again.status_code, again.json()["charged"]) == (200, False)


# --- rows


@pytest.fixture(scope="module")
def loaded_url(server_url: str, migrated_template: str) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        for name in ("acme", "globex"):
            add_tenant(url, name, name, own_schema="quarry", embedding_dimensions=384)
        yield url


@pytest.fixture
def url(loaded_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """A database with two tenants, without rows, for commands."""
    monkeypatch.setenv("DATABASE_URL", loaded_url)
    monkeypatch.setenv("TENANT_CLAIM", "org")
    monkeypatch.chdir(tmp_path)
    yield loaded_url
    run(loaded_url, "quarry", "update tenants set requests_per_minute = null, rows_max = null, credits_max = null")
    for schema in ("acme", "globex"):
        run(loaded_url, schema, "truncate meetings cascade")
    (tmp_path / "quarry.toml").write_text("")
    for name in ("acme", "globex"):
        assert quarry(["--tenant", name, "apply", "--no-embed"]) == 0
        run(loaded_url, f"{name}_data", "drop table if exists tickets")


def meetings(path: Path, first: int, rows: int) -> str:
    """A file of meetings."""
    common = {"body": "Council", "title": "Meeting", "date": "2024-03-05"}
    lines = [json.dumps(common | {"id": f"m{number}"}) for number in range(first, first + rows)]
    path.write_text("\n".join(lines))
    return str(path)


def held(url: str, schema: str) -> int:
    [(rows,)] = run(url, schema, "select rows_held()")
    return int(rows)


def test_all_rows_that_are_loaded_count(tenants_url: str) -> None:
    counted = {name for (name,) in run(tenants_url, "acme", "select rows_counted()::text")}
    assert {*catalog.LOADABLE} == {each for each in counted if not re.fullmatch(r"rows_\d+", each)}


def test_a_file_that_would_go_over_is_not_loaded(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert quarry(["tenant", "quota", "acme", "--rows", "4"]) == 0
    load = ["load", "meetings", "--no-embed"]
    assert quarry(["--tenant", "acme", *load, meetings(tmp_path / "three.jsonl", 1, 3)]) == 0
    two_more = meetings(tmp_path / "two.jsonl", 4, 2)
    capsys.readouterr()
    assert quarry(["--tenant", "acme", *load, two_more]) == 1
    told = capsys.readouterr().err
    assert "may hold 4 rows and would hold 5" in told
    assert "quarry tenant quota" in told
    assert held(url, "acme") == 3
    assert quarry(["--tenant", "globex", *load, two_more]) == 0
    # what is there already may be loaded again
    assert quarry(["tenant", "quota", "acme", "--rows", "3"]) == 0
    assert quarry(["--tenant", "acme", *load, meetings(tmp_path / "three.jsonl", 1, 3)]) == 0
    assert quarry(["tenant", "quota", "acme", "--rows", "0"]) == 0
    assert quarry(["--tenant", "acme", *load, two_more]) == 0
    assert held(url, "acme") == 5


def test_loads_at_once_do_not_go_over_together(url: str, tmp_path: Path) -> None:
    def load(number: int) -> bool:
        path = tmp_path / f"{number}.jsonl"
        meetings(path, 10 * number, 3)
        try:
            load_file(url, catalog.LOADABLE["meetings"], path, schema="acme", check=partial(check_rows, rows_max=8))
        except Forbidden:
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        assert Counter(threads.map(load, range(6))) == {True: 2, False: 4}
    assert held(url, "acme") == 6


CSV = "id,title\n1,Leaking tap\n2,Broken gate\n3,Loose tile\n"


def test_a_table_made_of_a_file_that_would_go_over_is_not_made(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tickets.csv").write_text(CSV)
    load = ["load", "tickets.csv", "--as", "tickets", "--no-embed", "--tenant"]
    monkeypatch.setenv("TENANT_ROWS", "2")
    assert quarry([*load, "acme"]) == 1
    assert "may hold 2 rows and would hold 3" in capsys.readouterr().err
    assert run(url, "acme_data", "select to_regclass('tickets')") == [(None,)]
    assert run(url, "acme", "select count(*) from collections") == [(0,)]
    assert not (tmp_path / "quarry.toml").exists()
    monkeypatch.setenv("TENANT_ROWS", "3")
    assert quarry([*load, "acme"]) == 0
    assert held(url, "acme") == 3
    # the same rows again, and fewer in their place
    (tmp_path / "tickets.csv").write_text(CSV.replace("tap", "pipe"))
    assert quarry([*load, "acme"]) == 0
    (tmp_path / "tickets.csv").write_text("id,title\n4,Flat tyre\n5,Lost key\n")
    capsys.readouterr()
    assert quarry([*load, "acme"]) == 1
    assert "would hold 5" in capsys.readouterr().err
    assert quarry([*load, "acme", "--replace"]) == 0
    assert held(url, "acme") == 2


DECLARED = '[collections.tickets]\nsource = "{0}_data.tickets"\ntitle = "title"\ntext = ["title"]\n'


def test_a_declaration_that_would_go_over_is_not_applied(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(url, "acme_data", "create table tickets as select n as id, 'gate ' || n as title from generate_series(1, 5) n")
    run(url, "acme_data", "alter table tickets add primary key (id)")
    (tmp_path / "quarry.toml").write_text(DECLARED.format("acme"))
    apply = ["--tenant", "acme", "apply", "--no-embed"]
    assert quarry(["tenant", "quota", "acme", "--rows", "4"]) == 0
    capsys.readouterr()
    assert quarry(apply) == 1
    assert "may hold 4 rows and would hold 5" in capsys.readouterr().err
    assert run(url, "acme", "select count(*) from collections") == [(0,)]
    assert quarry(["tenant", "quota", "acme", "--rows", "5"]) == 0
    assert quarry(apply) == 0
    assert held(url, "acme") == 5


def found(client: TestClient, text: str) -> bool:
    answer = client.get("/records/search", params={"q": text}, headers=headers("acme"))
    assert answer.status_code == 200, answer.text
    return text in str(answer.json()["results"])


def test_rows_that_an_application_adds_beyond_the_quota_are_not_searched_until_there_is_room(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tickets.csv").write_text(CSV)
    assert quarry(["load", "tickets.csv", "--as", "tickets", "--no-embed", "--tenant", "acme"]) == 0
    assert quarry(["tenant", "quota", "acme", "--rows", "3"]) == 0
    run(url, "acme_data", "insert into tickets (id, title) values (7, 'Xanthic door')")
    with tenants_client(url) as client:
        assert not found(client, "Xanthic door")
        assert found(client, "Leaking tap")
        capsys.readouterr()
        assert quarry(["--tenant", "acme", "reconcile"]) == 1
        assert "may hold 3 rows and would hold 4" in capsys.readouterr().err
        # a change of a row that is searched already is taken in as always, where nothing is added with it
        run(url, "acme_data", "delete from tickets where id = 1")
        assert quarry(["--tenant", "acme", "reconcile"]) == 0
        assert found(client, "Xanthic door")
        assert not found(client, "Leaking tap")


# --- commands


def limits(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, tuple[int, int | None]]:
    """What is used, and the limit, of each quota."""
    capsys.readouterr()
    assert quarry(["tenant", "quota", *arguments, "--json"]) == 0
    return {each["quota"]: (each["used"], each["limit"]) for each in json.loads(capsys.readouterr().out)}


def test_quotas_are_set_and_shown(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENANT_CREDITS", "50")
    assert quarry(["--tenant", "acme", "load", "meetings", "--no-embed", meetings(tmp_path / "m.jsonl", 1, 2)]) == 0
    unlimited = {"requests in this minute": (0, None), "rows": (2, None), "credits spent": (0, 50)}
    assert limits(capsys, "acme") == unlimited
    changed = limits(capsys, "acme", "--rows", "1200", "--credits", "0", "--requests-per-minute", "60")
    assert changed == {"requests in this minute": (0, 60), "rows": (2, 1200), "credits spent": (0, None)}
    assert limits(capsys, "acme", "--rows", "default")["rows"] == (2, None)
    assert limits(capsys, "globex")["requests in this minute"] == (0, None)
    assert quarry(["tenant", "list", "--json"]) == 0
    listed: dict[str, dict[str, Any]] = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert [listed["acme"][name] for name in ("requests_per_minute", "rows", "credits")] == [60, None, None]
    assert [listed["globex"][name] for name in ("requests_per_minute", "rows", "credits")] == [None, None, 50]
    assert quarry(["tenant", "list"]) == 0
    assert re.search(r"acme .* 60", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (["tenant", "quota", "acme", "--rows", "-1"], 2, "-1"),
        (["tenant", "quota", "acme", "--rows", "many"], 2, "many"),
        (["tenant", "quota", "acme", "--credits", "1.5"], 2, "1.5"),
        (["tenant", "quota", "nobody", "--rows", "1"], 1, "no tenant 'nobody'"),
        (["--tenant", "globex", "tenant", "quota", "acme"], 2, "leave --tenant out"),
    ],
)
def test_a_wrong_quota_is_refused(
    url: str, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, told: str
) -> None:
    assert quarry(arguments) == status
    assert told in capsys.readouterr().err
    assert run(url, "quarry", "select count(*) from tenants where rows_max is not null") == [(0,)]
