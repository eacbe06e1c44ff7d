"""What search reads is verified against what it is made of, and made anew beside its readers."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import psycopg
import pytest

from quarry import catalog
from quarry.postgres.migrate import connect
from quarry.postgres.schema import SyncConnection
from quarry_tools.derived import Columns, Experience, SearchEntries, Statistics, Values, Vectors, Words, derived_of
from quarry_tools.difference import Derived, Difference
from quarry_tools.schema_indexes import Indexes, expected_indexes
from tests.waiting import PATIENCE_SECONDS, wait_until

MATTERS = (
    "insert into matters (id, title, status) values ('a', 'Oak', 'open'), ('b', 'Elm', 'open'), ('c', 'Ash', 'closed')"
)
TASK = """insert into onto_projects (id, name, created_by) values ('p', 'Roof', 'ada');
insert into onto_tasks (id, project_id, created_by, title) values ('t', 'p', 'ada', 'Nail the slates')"""
TREES = "insert into matters (id, title) select n::text, 'Yew grove' || n % 100 from generate_series(1, 1000) n"
"""A word that all rows hold, and 100 words of ten rows each."""
DEFINITIONS = """select indexname, indexdef from pg_indexes where schemaname = current_schema()"""


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


@pytest.mark.parametrize(
    ("derived", "prepare", "spoil", "told"),
    [
        (
            Values("matters"),
            MATTERS,
            "update facet_values set row_count = row_count + 1 where value = 'closed'",
            {"values that are miscounted": 1},
        ),
        (
            Values("matters"),
            MATTERS,
            "delete from facet_values where value = 'closed'",
            {"values that are not held": 1, "words of values that no row has": 1},
        ),
        (
            Values("matters"),
            MATTERS,
            "insert into facet_values (table_name, facet, scope, value) values ('matters', 'status', '', 'closed')",
            {"values that are miscounted": 1, "words of values that are miscounted": 1},
        ),
        (
            Values("matters"),
            MATTERS,
            "insert into facet_words (table_name, stem) select table_name, stem from facet_words where stem = 'oak'",
            {"words of values that are miscounted": 1},
        ),
        (
            Columns("matters"),
            MATTERS,
            "create or replace function joined_text(variadic parts text[]) returns text language sql immutable"
            " parallel safe return array_to_string(parts, ' and also the mayor ')",
            {
                "rows whose text_search is not what it is made of": 3,
            },
        ),
        (
            SearchEntries("task", "onto_tasks"),
            TASK,
            "delete from onto_search_entries",
            {"rows whose search entries are missing or outdated": 1},
        ),
        (
            SearchEntries("task", "onto_tasks"),
            TASK,
            "update onto_search_entries set created_by = 'bob'; insert into onto_search_entries"
            " select type, 'gone', project_id, created_by, title, search_vector, readable_text from onto_search_entries",
            {"rows whose search entries are missing or outdated": 1, "search entries of rows that are gone": 1},
        ),
        (
            SearchEntries("task", "onto_tasks"),
            TASK,
            "update onto_search_entries set title = 'Paint the door'",
            {"rows whose search entries are missing or outdated": 1},
        ),
        (
            SearchEntries("task", "onto_tasks"),
            TASK,
            "update onto_search_entries set readable_text = 'Paint the door'",
            {"rows whose search entries are missing or outdated": 1},
        ),
        (
            Experience(),
            "insert into people (id, name) values ('ada', 'Ada'), ('bob', 'Bob'); insert into experience_cards"
            " (id, person_id, title, intent_primary, start_date, end_date) values"
            " ('c', 'ada', 'Roofer', 'work', '2020-01-01', '2020-01-31')",
            "update people set experience_days = 9000, experience_since = '2001-01-01'",
            {"people whose years of experience are others": 2},
        ),
        (
            Indexes("matters"),
            MATTERS,
            "drop index matters_text_search",
            {"index matters_text_search is missing": 1},
        ),
        (
            Indexes("matters"),
            MATTERS,
            "update pg_index set indisvalid = false where indexrelid = 'matters_date'::regclass",
            {"index matters_date is invalid": 1},
        ),
        (
            Words("matters"),
            MATTERS,
            "insert into matters (id, title) select n::text, 'Yew' from generate_series(1, 200) n",
            {"rows more or fewer than the 3 whose words are counted": 200},
        ),
        (
            Words("matters"),
            MATTERS + "; insert into matters (id, title) values ('d', 'Oak'); select count_lexemes('matters')",
            "delete from lexeme_counts",
            {"words that are in more or fewer rows than were counted": 2},
        ),
        (
            Words("matters"),
            TREES,
            "update lexeme_counts set rows = 2 * rows where lexeme = 'yew'",
            {"words that are in more or fewer rows than were counted": 1},
        ),
        (
            Words("matters"),
            TREES,
            "update lexeme_counts set rows = 2 * rows where lexeme <> 'yew'",
            {"words that are in more or fewer rows than were counted": 100},
        ),
        (
            Words("matters"),
            TREES,
            "update matters set title = replace(title, 'Yew', 'Larch')",
            {"words that are in more or fewer rows than were counted": 2},
        ),
        (
            Words("matters"),
            MATTERS + "; insert into matters (id, title) select n::text, 'Yew ' || n from generate_series(1, 1001) n",
            "update matters set title = 'Yew' where id = '7'; delete from matters where id = '1';"
            " update lexeme_counts set best_rows = best_rows[3:]",
            {"common words whose best rows are others": 1},
        ),
        (Statistics("matters"), "select", MATTERS, {"rows that there are no statistics of": 3}),
        (
            Statistics("matters"),
            MATTERS + "; analyze matters",
            "insert into matters (id, title) select n::text, 'Yew' from generate_series(1, 200) n",
            {"rows that are estimated wrongly, as 3": 200},
        ),
    ],
)
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


def test_words_that_few_new_rows_hold_are_no_difference(connection: SyncConnection) -> None:
    run(connection, TREES)
    Words("matters").rebuild(connection)
    run(
        connection,
        "insert into matters (id, title) select 'new' || n, 'Rowan' from generate_series(1, 50) n",
        "update matters set title = 'Yew grove7' where id in ('1', '2', '3')",
    )
    assert differences(Words("matters"), connection) == {}


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


def test_a_row_without_any_text_has_no_vectors_to_lose(connection: SyncConnection) -> None:
    run(
        connection,
        "insert into motions (id, text_content) values ('a', ''), ('b', ' \n')",
        "update motions set embedded_hash = content_hash",
    )
    assert differences(Vectors(catalog.EMBEDDED["motions"]), connection) == {}


def test_the_schema_names_every_index_but_those_of_constraints_and_partitioned_tables(
    connection: SyncConnection,
) -> None:
    found = connection.execute(
        "select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid"
        " where c.relnamespace = current_schema()::regnamespace and c.relkind = 'i' and not exists"
        " (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))"
    ).fetchall()
    assert {index.name for index in expected_indexes()} == {name for (name,) in found}


def test_an_index_that_is_made_anew_is_the_one_that_was_there(connection: SyncConnection) -> None:
    before: dict[str, str] = dict(connection.execute(DEFINITIONS).fetchall())
    for index in expected_indexes():
        run(connection, f"drop index {index.name}")
        connection.execute(index.create())
    assert dict(connection.execute(DEFINITIONS).fetchall()) == before


def test_what_was_left_of_building_an_index_beside_its_predecessor_is_removed(connection: SyncConnection) -> None:
    run(
        connection,
        "create index matters_date_ccnew on matters (date)",
        "update pg_index set indisvalid = false where indexrelid = 'matters_date_ccnew'::regclass",
    )
    assert differences(Indexes("matters"), connection) == {"index matters_date_ccnew is invalid": 1}
    Indexes("matters").rebuild(connection)
    assert differences(Indexes("matters"), connection) == {}


def test_a_table_has_its_own_checks_and_those_of_its_vectors() -> None:
    names = {type(each).__name__ for each in derived_of("matters")}
    assert names == {"Columns", "Values", "Words", "Vectors", "Indexes", "Statistics"}
    assert {type(each).__name__ for each in derived_of("onto_tasks")} >= {"SearchEntries"}
    assert {each.table for each in derived_of("matters") if isinstance(each, Indexes)} == {
        "matters",
        "matter_embeddings",
    }
    assert {each.table for each in derived_of() if isinstance(each, Values)} == {*catalog.SEARCHED}


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
