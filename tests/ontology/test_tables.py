"""Loading a workspace: the format of its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quarry import catalog
from quarry.ontology.tables import PROPS_MAX_BYTES, PROPS_MAX_DEPTH
from quarry.postgres.load import Loaded, LoadError, load_file
from tests.ontology.conftest import Connection, found, one

TASK = {"id": "t1", "project_id": "ours", "title": "Oak door"}


def load(url: str, path: Path, table: str, *rows: dict[str, Any] | str, **options: Any) -> Loaded:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return load_file(url, catalog.LOADABLE[table], path, **options)


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def test_a_loaded_entity_is_found_and_belongs_to_its_projects_owner_unless_it_names_one(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    props = {"status": "open", "n": 1.5, "tags": ["ü", None], "deep": {"text": "brass handle"}}
    row = TASK | {"props": props, "updated_at": "2026-11-03T10:00:00+01:00"}
    assert load(database_url, tmp_path / "tasks.jsonl", "onto_tasks", row).changed == 1
    stored = one(connection, "select * from onto_tasks")
    assert stored.props == props
    assert stored.updated_at.isoformat() == "2026-11-03T09:00:00+00:00"
    assert [entity.id for entity in found(connection, "brass handle")] == ["t1"]
    load(database_url, tmp_path / "tasks.jsonl", "onto_tasks", TASK | {"id": "t2", "created_by": "eve"})
    owners = {row.id: row.created_by for row in connection.execute("select id, created_by from onto_tasks")}
    assert owners == {"t1": "ada", "t2": "eve"}


def test_wrong_rows_are_reported_by_line_and_field_and_nothing_is_stored(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    changes: list[dict[str, Any]] = [
        {"project_id": "none"},
        {"title": " "},
        {"created_by": ""},
        {"props": None},
        {"props": {"a": ["\ud800"]}},
        {"props": {"nul \x00": 1}},
        {"props": {"a": [float("inf")]}},
        {"props": nested(PROPS_MAX_DEPTH + 1)},
        {"props": {"a": "é" * (PROPS_MAX_BYTES // 2)}},
        {"updated_at": "2026-11-03T10:00:00"},
    ]
    for change in changes:
        with pytest.raises(LoadError) as caught:
            load(database_url, tmp_path / "tasks.jsonl", "onto_tasks", TASK | {"id": "t0"}, TASK | change)
        assert [(problem.line, problem.field) for problem in caught.value.problems] == [(2, next(iter(change)))]
    assert connection.execute("select id from onto_tasks").fetchall() == []


def test_props_may_be_as_deep_and_long_as_documented(database_url: str, connection: Connection, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [TASK | {"props": nested(PROPS_MAX_DEPTH)}]
    # every word another one, and each a host, a path and an address: the largest vector that so many bytes can make
    addresses = " ".join(f"{number:x}.example/{number:x}" for number in range(PROPS_MAX_BYTES // 16))
    rows.append(TASK | {"id": "t2", "props": {"a": addresses[: PROPS_MAX_BYTES - 10]}})
    assert load(database_url, tmp_path / "tasks.jsonl", "onto_tasks", *rows).changed == 2
