"""Loading a workspace: what its files may hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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


def test_an_entity_is_loaded_and_found(database_url: str, connection: Connection, tmp_path: Path) -> None:
    props = {"status": "open", "n": 1.5, "tags": ["ü", None], "deep": {"text": "brass handle"}}
    row = TASK | {"props": props, "updated_at": "2026-11-03T10:00:00+01:00"}
    assert load(database_url, tmp_path / "tasks.jsonl", "onto_tasks", row).changed == 1
    stored = one(connection, "select * from onto_tasks")
    assert stored.props == props
    assert stored.updated_at.isoformat() == "2026-11-03T09:00:00+00:00"
    assert [entity.id for entity in found(connection, "brass handle")] == ["t1"]


def test_an_entity_without_an_owner_is_its_projects_owners(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    given_one = TASK | {"id": "t2", "created_by": "eve"}
    load(database_url, tmp_path / "tasks.jsonl", "onto_tasks", TASK, given_one)
    owners = {row.id: row.created_by for row in connection.execute("select id, created_by from onto_tasks")}
    assert owners == {"t1": "ada", "t2": "eve"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"project_id": "none"}, "project_id"),
        ({"title": " "}, "title"),
        ({"created_by": ""}, "created_by"),
        ({"props": None}, "props"),
        ({"props": {"a": ["\ud800"]}}, "props"),
        ({"props": {"nul \x00": 1}}, "props"),
        ({"props": {"a": [float("inf")]}}, "props"),
        ({"props": nested(PROPS_MAX_DEPTH + 1)}, "props"),
        ({"props": {"a": "é" * (PROPS_MAX_BYTES // 2)}}, "props"),
        ({"updated_at": "2026-11-03T10:00:00"}, "updated_at"),
    ],
)
def test_a_wrong_row_is_named_by_line_and_field(
    database_url: str, connection: Connection, tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    with pytest.raises(LoadError) as caught:
        load(database_url, tmp_path / "tasks.jsonl", "onto_tasks", TASK | {"id": "t0"}, TASK | change)
    assert [(problem.line, problem.field) for problem in caught.value.problems] == [(2, field)]
    assert connection.execute("select id from onto_tasks").fetchall() == []


def test_props_may_be_as_deep_and_as_long_as_promised(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = [TASK | {"props": nested(PROPS_MAX_DEPTH)}]
    # every word another one, and each a host, a path and an address: the largest vector that so many bytes can make
    addresses = " ".join(f"{number:x}.example/{number:x}" for number in range(PROPS_MAX_BYTES // 16))
    rows.append(TASK | {"id": "t2", "props": {"a": addresses[: PROPS_MAX_BYTES - 10]}})
    assert load(database_url, tmp_path / "tasks.jsonl", "onto_tasks", *rows).changed == 2


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)


@pytest.fixture(scope="module")
def plain(server_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server_url) as connection:
        yield connection


@given(props=st.dictionaries(st.text(max_size=8), values, max_size=4))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_props_that_are_taken_are_what_postgres_can_hold(plain: psycopg.Connection[Any], props: dict[str, Any]) -> None:
    given_text = json.dumps(props)
    try:
        row = catalog.LOADABLE["onto_tasks"].row.model_validate(TASK | {"props": props})
    except ValueError:
        assert "\\u0000" in given_text or "\\ud" in given_text
        return
    stored = json.dumps(row.model_dump()["props"])
    assert plain.execute("select %s::jsonb = %s::jsonb", [stored, given_text]).fetchone() == (True,)
