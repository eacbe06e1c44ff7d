"""`quarry tenant`, `quarry migrate` with tenants, and commands for one of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from quarry.local.cli import main
from quarry.postgres import tenants as module
from tests.conftest import clone_database
from tests.tenants.conftest import headers, run, tenants_client

CSV = "id,title,town\n1,Leaking tap,Hull\n2,Broken gate,York\n"


@pytest.fixture
def url(server_url: str, migrated_template: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        monkeypatch.setenv("DATABASE_URL", url)
        monkeypatch.setenv("TENANT_CLAIM", "org")
        monkeypatch.chdir(tmp_path)
        yield url


def quarry(*arguments: str) -> int:
    return main([*arguments])


def listed(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    capsys.readouterr()
    assert quarry("tenant", "list", "--json") == 0
    return {each["name"]: each for each in json.loads(capsys.readouterr().out)}


def test_a_tenant_is_added_listed_and_removed(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert quarry("tenant", "add", "Acme & Söhne") == 0
    assert quarry("tenant", "add", "acme_s_hne", "--schema", "acme") == 0
    tenants = listed(capsys)
    assert {each["state"] for each in tenants.values()} == {"up to date"}
    assert tenants["acme_s_hne"]["schema"] == "acme"
    assert quarry("tenant", "remove", "acme_s_hne", "--yes") == 0
    assert [*listed(capsys)] == ["Acme & Söhne"]
    assert run(url, "quarry", "select to_regnamespace('acme') is null and to_regnamespace('acme_data') is null") == [
        (True,)
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("add", "acme"), "exists"),
        (("add", "other", "--schema", "quarry"), "exists"),
        (("add", "other", "--schema", "pg_other"), "no schema for a tenant"),
        (("add", "other", "--schema", "public"), "no schema for a tenant"),
        (("add", "other", "--schema", 'x"; drop schema quarry'), "no schema for a tenant"),
        (("add", " "), "claim's value"),
        (("remove", "nobody", "--yes"), "no tenant"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    url: str, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    run(url, "quarry", "insert into tenants (name, schema_name, release) values ('acme', 'acme', 'x')")
    assert quarry("tenant", *arguments) == 1
    assert told in capsys.readouterr().err
    assert [*listed(capsys)] == ["acme"]


def test_migrating_names_the_tenant_that_fails_and_does_the_others(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        assert quarry("tenant", "add", name, "--schema", name) == 0
    run(url, "quarry", "update tenants set release = 'an earlier one'")
    run(url, "two", "drop table tuned_weights; delete from quarry_migrations where name >= '0098'")
    assert quarry("migrate") == 1
    told = capsys.readouterr()
    assert "two" in told.err
    assert "1 of 3 tenants" in told.err
    states = {name: each["state"] for name, each in listed(capsys).items()}
    assert states["one"] == states["three"] == "up to date"
    assert "0098" in str(states["two"]) or "0100" in str(states["two"])
    # only what is behind is tried again
    attempted: list[str] = []
    migrated = module._migrated

    def noting(url: str, tenant: module.TenantRow, dimensions: int) -> module.TenantMigrated:
        attempted.append(tenant.name)
        return migrated(url, tenant, dimensions)

    monkeypatch.setattr(module, "_migrated", noting)
    assert quarry("migrate") == 1
    assert attempted == ["two"]


def test_files_are_loaded_and_found_in_one_tenant(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("acme", "globex"):
        assert quarry("tenant", "add", name, "--schema", name) == 0
    (tmp_path / "tickets.csv").write_text(CSV)
    assert quarry("load", "tickets.csv", "--as", "tickets", "--tenant", "acme", "--no-embed") == 0, (
        capsys.readouterr().err
    )
    assert run(url, "acme_data", "select count(*) from tickets") == [(2,)]
    with tenants_client(url) as client:
        found = {
            name: client.get("/records/search", params={"q": "leaking"}, headers=headers(name)).text
            for name in ("acme", "globex")
        }
    assert "Leaking tap" in found["acme"]
    assert "Leaking" not in found["globex"]
    # the same declaration names acme's table, which no other tenant may search
    capsys.readouterr()
    assert quarry("--tenant", "globex", "apply", "--no-embed") == 1
    assert "another tenant" in capsys.readouterr().err
    assert quarry("apply", "--no-embed") == 1
    assert quarry("--tenant", "acme", "apply", "--no-embed") == 0
    with psycopg.connect(url) as connection:
        assert connection.execute("select to_regclass('public.tickets')").fetchone() == (None,)


def test_an_unknown_tenant_is_named(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["runs"], ["embed"], ["cleanup"], ["migrate"]):
        assert quarry("--tenant", "nobody", *command) == 1
        assert "no tenant 'nobody'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("uninstall", "--yes"),
        ("doctor",),
        ("tenant", "list"),
        ("psql",),
    ],
    ids=" ".join,
)
def test_a_command_of_the_installation_takes_no_tenant(
    url: str, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    assert quarry("--tenant", "acme", *arguments) == 2
    assert "leave --tenant out" in capsys.readouterr().err
    assert run(url, "quarry", "select count(*) from tenants") == [(0,)]


def test_a_command_after_one_for_a_tenant_is_for_the_installation(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert quarry("tenant", "add", "acme", "--schema", "acme") == 0
    assert quarry("--tenant", "acme", "credits", "grant", "ada", "5") == 0
    capsys.readouterr()
    for tenant, balance in ((["--tenant", "acme"], 15), ([], 10)):
        assert quarry(*tenant, "credits", "show", "ada", "--json") == 0
        assert json.loads(capsys.readouterr().out)["balance"] == balance


def test_an_installation_with_tenants_is_not_uninstalled(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(url, "quarry", "insert into tenants (name, schema_name) values ('acme', 'acme')")
    assert quarry("uninstall", "--yes") == 1
    assert "acme" in capsys.readouterr().err
    assert run(url, "quarry", "select count(*) from tenants") == [(1,)]
