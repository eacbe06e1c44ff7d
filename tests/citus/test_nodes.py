"""Tenants on several servers: each is served from its own, waits alone without it, and moves while it serves."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from quarry import catalog
from quarry.local.cli import main
from quarry.local.data import sample_directory
from quarry.platform.errors import DatabaseUnavailable
from quarry.postgres import tenant_move
from quarry.postgres.load import load_file
from quarry.postgres.tenants import DATA
from tests.citus.conftest import TENANTS, node_of_tenant
from tests.running import running_server
from tests.tenants.conftest import run
from tools.citus import Cluster, Node

MEETINGS = ["meetings", "matters", "agenda_items", "motions"]
SEARCH = "/records/search?q=bridge&type=motion"
FIRST_LOADED = 1_000
CSV = "id,title,town\n1,Leaking tap,Hull\n2,Broken gate,York\n"


@pytest.fixture(scope="module", autouse=True)
def loaded(nodes: Cluster) -> None:
    for name in TENANTS:
        for table in MEETINGS:
            load(nodes, name, table)


def load(nodes: Cluster, tenant: str, table: str) -> int:
    path = sample_directory() / "records" / f"{table}.jsonl"
    url = node_of_tenant(nodes, tenant).url
    return load_file(url, catalog.LOADABLE[table], path, schema=tenant).rows


@pytest.fixture
def cli(nodes: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """The command line on the installation."""
    for name, value in {"DATABASE_URL": nodes.coordinator.url, "TENANT_CLAIM": "org"}.items():
        monkeypatch.setenv(name, value)
    # of the servers' version
    monkeypatch.setenv("PATH", str(nodes.coordinator.programs), prepend=":")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(nodes.coordinator.programs.parent / "lib"))
    monkeypatch.setattr(tenant_move, "UNNOTICED_SECONDS", 2.0)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: main([*arguments])


@pytest.fixture
def client(nodes: Cluster) -> Iterator[httpx2.Client]:
    environment = {"TENANT_CLAIM": "org", "RATE_LIMIT_PER_MINUTE": "0", "EMBEDDINGS": "local"}
    with (
        running_server(nodes.coordinator.url, **environment) as address,
        httpx2.Client(base_url=address, timeout=30) as client,
    ):
        yield client


def user(tenant: str) -> dict[str, str]:
    return {"Authorization": f"Bearer ada@{tenant}"}


def schemas_at(node: Node) -> set[str]:
    with psycopg.connect(node.url) as connection:
        return {name for (name,) in connection.execute("select nspname from pg_namespace").fetchall()}


def test_each_tenant_is_on_its_own_server(nodes: Cluster, client: httpx2.Client) -> None:
    assert {node_of_tenant(nodes, name) for name in TENANTS} == {*nodes.nodes[-2:]}
    assert {name for node in nodes.nodes for name in schemas_at(node) & {*TENANTS}} == {*TENANTS}
    run(node_of_tenant(nodes, "acme").url, "acme", "update motions set plain_english_summary = 'Xyloquartz bridge'")
    found = {name: client.get(SEARCH, headers=user(name)) for name in TENANTS}
    assert {each.status_code for each in found.values()} == {200}
    assert "Xyloquartz" in found["acme"].text
    assert "Xyloquartz" not in found["globex"].text
    counted = client.post(
        "/query", json={"source": "motion", "aggregate": [{"fn": "count"}]}, headers=user("globex")
    ).json()["rows"]
    assert counted == [[len((sample_directory() / "records" / "motions.jsonl").read_text().splitlines())]]


def test_without_its_server_a_tenant_waits_and_the_others_notice_nothing(
    nodes: Cluster, client: httpx2.Client, capsys: pytest.CaptureFixture[str], cli: Callable[..., int]
) -> None:
    for name in TENANTS:
        assert client.get(SEARCH, headers=user(name)).status_code == 200
    stopped = node_of_tenant(nodes, "acme")
    stopped.stop()
    try:
        refused = [client.get(SEARCH, headers=user("acme")) for _ in range(2)]
        assert {each.status_code for each in refused} == {503}
        assert all(int(each.headers["retry-after"]) > 0 for each in refused)
        assert client.get(SEARCH, headers=user("globex")).status_code == 200
        capsys.readouterr()
        assert cli("tenant", "list", "--json") == 0
        sizes = {each["name"]: each["bytes"] for each in json.loads(capsys.readouterr().out)}
        assert sizes["acme"] is None
        assert sizes["globex"] > 0
        # what goes round the tenants does the others
        assert cli("cleanup") == 1
        assert "acme" in capsys.readouterr().err
        run(nodes.coordinator.url, "quarry", "update tenants set release = 'an earlier one'")
        assert cli("migrate") == 1
        assert "1 of 2 tenants were not migrated: acme" in capsys.readouterr().err
    finally:
        stopped.start()
    assert cli("migrate") == 0
    assert client.get(SEARCH, headers=user("acme")).status_code == 200


class Usage:
    """A tenant's users who search, save and load until they are told to stop."""

    def __init__(self, nodes: Cluster, client: httpx2.Client, tenant: str) -> None:
        self._nodes = nodes
        self._client = client
        self._tenant = tenant
        self._over = threading.Event()
        self.saved = list[str]()
        self.loaded = list[int]()
        self.searches = 0

    def run(self, work: Callable[[], object]) -> None:
        with ThreadPoolExecutor(3) as pool:
            running = [pool.submit(each) for each in (self._search, self._save, self._load)]
            try:
                work()
            finally:
                self._over.set()
            for each in running:
                each.result()

    def _search(self) -> None:
        while not self._over.is_set():
            answer = self._client.get(SEARCH, headers=user(self._tenant))
            assert answer.status_code == 200, answer.text
            assert answer.json()["results"]
            self.searches += 1

    def _save(self) -> None:
        number = 0
        while not self._over.is_set():
            name = f"search {number}"
            body = {"name": name, "domain": "records", "query": "bridge"}
            answer = self._client.post("/me/searches", json=body, headers=user(self._tenant))
            if answer.status_code == 201:
                self.saved.append(name)
                number += 1
            else:
                assert answer.status_code == 503, answer.text
                assert int(answer.headers["retry-after"]) > 0
            self._over.wait(0.25)

    def _load(self) -> None:
        """As a program of the tenant's own, which writes where it is told that the tenant is."""
        number = 0
        while not self._over.is_set():
            row = FIRST_LOADED + number
            try:
                with psycopg.connect(node_of_tenant(self._nodes, self._tenant).url) as connection:
                    connection.execute(
                        SQL("insert into {} (id, title, town) values (%s, 'Leaking tap', 'Hull')").format(
                            Identifier(self._tenant + DATA, "tickets")
                        ),
                        [row],
                    )
            except (psycopg.errors.ReadOnlySqlTransaction, psycopg.errors.UndefinedTable):
                self._over.wait(0.05)
            else:
                self.loaded.append(row)
                number += 1
            self._over.wait(0.02)


def test_a_tenant_moves_while_it_searches_and_loads(
    nodes: Cluster, client: httpx2.Client, cli: Callable[..., int], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "tickets.csv").write_text(CSV)
    assert cli("--tenant", "globex", "load", "tickets.csv", "--as", "tickets", "--no-embed") == 0
    old = node_of_tenant(nodes, "globex")
    before = contents(old, "globex")
    usage = Usage(nodes, client, "globex")
    usage.run(lambda: moved(cli, "globex", node_of_tenant(nodes, "acme")))
    new = node_of_tenant(nodes, "globex")
    assert new is node_of_tenant(nodes, "acme")
    assert not {"globex", "globex_data"} & schemas_at(old)
    assert usage.searches > 5
    assert len(usage.saved) > 5
    assert len(usage.loaded) > 5
    names = [each["name"] for each in client.get("/me/searches", headers=user("globex")).json()["searches"]]
    assert sorted(names) == sorted(usage.saved)
    found = run(new.url, "globex_data", "select id from tickets where id >= 1000")
    assert sorted(row for (row,) in found) == sorted(usage.loaded)
    # the tables that nobody wrote are the same, and writing goes on: triggers, sequences, own tables
    assert {table: contents(new, "globex")[table] for table in before} == before
    assert load(nodes, "globex", "motions") > 0
    assert cli("--tenant", "globex", "credits", "grant", "ada", "5") == 0
    assert cli("--tenant", "globex", "apply", "--no-embed") == 0
    assert "Leaking tap" in client.get("/records/search?q=leaking", headers=user("globex")).text
    for node in nodes.nodes:
        with psycopg.connect(node.url) as connection:
            for left in ("pg_replication_slots", "pg_subscription", "pg_publication"):
                assert connection.execute(f"select from {left}".encode()).fetchall() == []


def moved(cli: Callable[..., int], tenant: str, node: Node) -> None:
    assert cli("tenant", "move", tenant, node.name) == 0


def contents(node: Node, schema: str) -> dict[str, tuple[int, int]]:
    """The number of rows of tables that only loading writes, and a hash of them."""
    tables: Sequence[str] = [*MEETINGS, "facet_values", "facet_words", "lexeme_counts", "text_totals", "collections"]
    query = "select count(*), coalesce(sum(hashtextextended(t::text, 0)), 0) from {} t"
    return {table: run(node.url, schema, query.format(table))[0] for table in tables}


def test_a_move_that_fails_leaves_the_tenant_where_it_was(
    nodes: Cluster, client: httpx2.Client, cli: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = node_of_tenant(nodes, "acme")
    with monkeypatch.context() as broken:

        def fail(*_: object) -> None:
            raise DatabaseUnavailable

        broken.setattr(tenant_move, "_finish", fail)
        assert cli("tenant", "move", "acme", nodes.coordinator.name) == 1
    assert node_of_tenant(nodes, "acme") is here
    assert "acme" not in schemas_at(nodes.coordinator)
    save = {"name": "written after it", "domain": "records", "query": "bridge"}
    assert client.post("/me/searches", json=save, headers=user("acme")).status_code == 201
    moved(cli, "acme", nodes.coordinator)
    assert "written after it" in client.get("/me/searches", headers=user("acme")).text
    assert "acme" not in schemas_at(here)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("move", "nobody", "127.0.0.1:1"), "no tenant 'nobody'"),
        (("move", "acme", "two words"), "is no node"),
        (("move", "acme", "127.0.0.1:99999"), "is no node"),
        (("move", "acme", "HERE"), "is at 127.0.0.1"),
        (("move", "acme", "127.0.0.1:1"), "does not answer"),
        (("add", "other", "--node", "127.0.0.1:1"), "does not answer"),
        (("add", "other", "--node", "//other"), "is no node"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    nodes: Cluster, cli: Callable[..., int], capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    here = node_of_tenant(nodes, "acme")
    capsys.readouterr()
    assert cli("tenant", *(here.name if each == "HERE" else each for each in arguments)) == 1
    assert told in capsys.readouterr().err
    assert node_of_tenant(nodes, "acme") is here
    assert run(nodes.coordinator.url, "quarry", "select from tenants where name = 'other'") == []
