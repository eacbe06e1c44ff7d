"""A folder of data sets is loaded, each into a database of its own that the next run finds again, and measured in one table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from quarry.local.embedded_postgres import EmbeddedPostgres
from tools import evaluate_sets

CAMPAIGNS: list[dict[str, object]] = [
    {"id": "k-1", "company": "Crumb", "channel": "Radio", "campaign_text": "Bread by post"},
    {"id": "k-2", "company": "Crumb", "channel": "Email", "campaign_text": "Rye on Fridays"},
    {"id": "k-3", "company": "Oven", "channel": "Radio", "campaign_text": "Warm rolls"},
]
JUDGED: list[dict[str, object]] = [
    {
        "id": "a",
        "domain": "campaigns",
        "kind": "count",
        "query": "How many campaigns are there?",
        "expect": {"count": 3},
    },
    {
        "id": "b",
        "domain": "campaigns",
        "kind": "count",
        "query": "How many campaigns by Crumb?",
        "expect": {"count": 4},
    },
]


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "sets" / "bakeries" / "campaigns.jsonl", CAMPAIGNS)
    write(tmp_path / "sets" / "bakeries" / "judged.jsonl", JUDGED)
    return tmp_path / "sets"


@pytest.fixture
def shared_server(server_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The tests' own server in the place of one that would be started for the sets."""
    monkeypatch.setattr(EmbeddedPostgres, "start", lambda server: server_url)
    monkeypatch.setattr(EmbeddedPostgres, "url", lambda server: server_url)
    monkeypatch.setattr(EmbeddedPostgres, "release", lambda server: None)
    yield server_url
    with psycopg.connect(server_url, autocommit=True) as connection:
        for (name,) in connection.execute("select datname from pg_database where datname like 'bakeries%'").fetchall():
            connection.execute(SQL("drop database {} with (force)").format(Identifier(name)))


def test_a_set_is_loaded_once_measured_and_told(
    folder: Path, shared_server: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(folder), "--cache", str(tmp_path / "cache"), "--json", str(tmp_path / "told.json")]
    assert evaluate_sets.main(arguments) == 0
    first = capfd.readouterr()
    heading, count, everything = first.out.splitlines()
    assert "exact" in heading
    assert "nDCG" not in heading
    assert count.split()[:2] == ["count", "2"]
    assert everything.startswith("all with an answer")
    [told] = json.loads((tmp_path / "told.json").read_text())
    assert told["set"] == "bakeries"
    assert [query["verdict"] for query in told["queries"]] == ["right", "confidently wrong"]
    assert "loading campaigns.jsonl" in first.err

    earlier = (tmp_path / "told.json").rename(tmp_path / "earlier.json")
    assert evaluate_sets.main([*arguments, "--against", str(earlier)]) == 0
    second = capfd.readouterr()
    assert "loading" not in second.err
    assert second.out.splitlines()[-1] == (
        "bakeries: no difference shown by exact: +0.000 on average over 2 queries, p = 1.000"
    )
