"""What search reads is verified against what it is made of, and made anew beside its readers."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import psycopg
import pytest

from quarry import catalog
from quarry.postgres.migrate import connect
from quarry.postgres.schema import SyncConnection
from quarry_tools.derived import (
    Columns,
    Derived,
    Difference,
    Experience,
    Indexes,
    SearchEntries,
    Statistics,
    Values,
    Vectors,
    Words,
    derived_of,
)
from tests.waiting import PATIENCE_SECONDS, wait_until

MATTERS = (
    "insert into matters (id, title, status) values ('a', 'Oak', 'open'), ('b', 'Elm', 'open'), ('c', 'Ash', 'closed')"
)
TASK = """insert into onto_projects (id, name, created_by) values ('p', 'Roof', 'ada');
insert into onto_tasks (id, project_id, created_by, title) values ('t', 'p', 'ada', 'Nail the slates')"""


@pytest.fixture
def connection(database_url: str) -> Iterator[SyncConnection]:
    """A connection to a migrated database, where nothing is analysed but by a test."""
    with connect(database_url) as connection:
        connection.execute("alter table matters set (autovacuum_enabled = off)")
        yield connection


def differences(derived: Derived, connection: SyncConnection) -> dict[str, int]:
    return {each.detail: each.count for each in derived.verify(connection)}


def run(connection: SyncConnection, *statements: str) -> None:
    for statement in statements:
        connection.execute(statement.encode())


MANY = "insert into matters (id, title) select n::text, 'Yew' from generate_series(1, 200) n"
CLOSED_IS_LOST = {"values that are not held": 1, "words of values that no row has": 1}
OTHER_JOIN = """create or replace function joined_text(variadic parts text[]) returns text language sql immutable parallel safe
  return array_to_string(parts, ' and also the mayor ')"""
ENTRIES_ARE_OTHERS = {"rows whose search entries are missing or outdated": 1, "search entries of rows that are gone": 1}
OTHER_ENTRIES = """update onto_search_entries set created_by = 'bob'; insert into onto_search_entries
  select type, 'gone', project_id, created_by, title, search_vector, readable_text from onto_search_entries"""
PEOPLE = """insert into people (id, name) values ('ada', 'Ada'), ('bob', 'Bob'); insert into experience_cards (id,
  person_id, title, intent_primary, start_date, end_date) values ('c', 'ada', 'Roofer', 'work', '2020-01-01', '2020-01-31')"""
OTHER_YEARS = "update people set experience_days = 9000, experience_since = '2001-01-01'"
COMMON = MATTERS + "; insert into matters (id, title) select n::text, 'Yew ' || n from generate_series(1, 1001) n"
OTHER_BEST = """update matters set title = 'Yew' where id = '7'; delete from matters where id = '1';
  update lexeme_counts set best_rows = best_rows[3:]"""


@pytest.mark.parametrize(
    ("derived", "prepare", "spoil", "told"),
    [
        (Values("matters"), MATTERS, "delete from facet_values where value = 'closed'", CLOSED_IS_LOST),
        (Columns("matters"), MATTERS, OTHER_JOIN, {"rows whose text_search is not what it is made of": 3}),
        (SearchEntries("task", "onto_tasks"), TASK, OTHER_ENTRIES, ENTRIES_ARE_OTHERS),
        (Experience(), PEOPLE, OTHER_YEARS, {"people whose years of experience are others": 2}),
        (Indexes("matters"), MATTERS, "drop index matters_text_search", {"index matters_text_search is missing": 1}),
        (Words("matters"), COMMON, OTHER_BEST, {"common words whose best rows are others": 1}),
        (Statistics("matters"), MATTERS + "; analyze matters", MANY, {"rows that are estimated wrongly, as 3": 200}),
    ],
)  # fmt: skip
def test_what_differs_is_counted_and_a_rebuild_mends_it(
    connection: SyncConnection, derived: Derived, prepare: str, spoil: str, told: dict[str, int]
) -> None:
    run(connection, prepare)
    if isinstance(derived, Values | Words):
        derived.rebuild(connection)
    if not isinstance(derived, Statistics):
        assert differences(derived, connection) == {}
    run(connection, spoil)
    assert differences(derived, connection) == told
    derived.rebuild(connection)
    assert differences(derived, connection) == {}


def test_vectors_are_lost_stale_or_not_there_yet_and_lost_ones_are_marked_as_waiting(
    connection: SyncConnection,
) -> None:
    run(
        connection,
        MATTERS,
        "update matters set embedded_hash = content_hash where id <> 'c'",
        "insert into matter_embeddings (record_id, window_number, embedding)"
        " select 'a', 0, array_agg(0.5)::halfvec from generate_series(1, 384)",
        "update matters set title = 'Old oak' where id = 'a'",
    )
    derived = Vectors(catalog.EMBEDDED["matters"])
    assert differences(derived, connection) == {
        "rows that have no vectors yet": 1,
        "rows whose vectors are of an earlier text": 1,
        "rows whose vectors are lost": 1,
    }
    derived.rebuild(connection)
    assert differences(derived, connection) == {
        "rows that have no vectors yet": 2,
        "rows whose vectors are of an earlier text": 1,
    }


def test_readers_go_on_while_everything_of_a_table_is_rebuilt(database_url: str, connection: SyncConnection) -> None:
    run(connection, MATTERS)
    with psycopg.connect(database_url) as reader, connect(database_url) as rebuilding:
        # an index is exchanged only when nobody reads by the old one any more
        reader.execute("select * from matters").fetchall()
        worker = threading.Thread(target=_rebuild, args=(derived_of("matters"), rebuilding))
        worker.start()
        try:
            wait_until(lambda: _waits(connection, rebuilding.info.backend_pid))
            connection.execute("set lock_timeout = '1s'")
            assert connection.execute("select count(*) from matters where status = 'open'").fetchone() == (2,)
            assert worker.is_alive()
        finally:
            reader.rollback()
            worker.join(PATIENCE_SECONDS)
    assert not worker.is_alive()
    verified: list[Difference] = [each for kind in derived_of("matters") for each in kind.verify(connection)]
    assert {each.detail for each in verified} == {"rows that have no vectors yet"}


def _rebuild(derived: Sequence[Derived], connection: SyncConnection) -> None:
    for each in derived:
        each.rebuild(connection)


def _waits(connection: SyncConnection, pid: int) -> bool:
    row = connection.execute("select wait_event_type = 'Lock' from pg_stat_activity where pid = %s", [pid]).fetchone()
    return bool(row and row[0])
