"""What is searched of a table follows what is written to it, whoever writes and however."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import LiteralString

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.errors import InsufficientPrivilege

from quarry.collections.apply import read_collections
from quarry.collections.upkeep import compare, poll, refresh_rows
from quarry.services.services import Services
from tests.collections.support import HELP_DESK, TICKETS, apply_file, found, owner, refreshed, waiting


@pytest.fixture
async def desk(database_url: str, services: Services) -> str:
    """The URL of a database whose tickets are searched, and in step."""
    owner(database_url, HELP_DESK)
    apply_file(database_url, TICKETS)
    await refreshed(services.database)
    return database_url


WRITES: tuple[tuple[str, str, list[str]], ...] = (
    ("insert into support.tickets (subject) values ('A badger got in')", "badger", ["4"]),
    ("update support.tickets set body = 'A badger' where id in (1, 2)", "badger", ["1", "2", "4"]),
    ("delete from support.tickets where id = 4", "badger", ["1", "2"]),
    ("update support.tickets set id = 77 where id = 1", "printer", ["77"]),
    ("insert into support.tickets (id, subject) values (77, 'x') on conflict (id) do update set subject = 'otter'",
     "otter", ["77"]),
    (
        "merge into support.tickets t using (values (77, 'weasel'), (9, 'weasel')) v (id, s) on t.id = v.id"
        " when matched then update set subject = v.s when not matched then insert (id, subject) values (v.id, v.s)",
        "weasel",
        ["77", "9"],
    ),
    (
        "with gone as (delete from support.tickets where id = 2 returning id)"
        " insert into support.tickets (id, subject) values (5, 'lynx')",
        "lynx | invoice",
        ["5"],
    ),
    ("truncate support.tickets", "lynx | weasel | sign", []),
)  # fmt: skip


async def test_every_kind_of_write_is_followed(desk: str, services: Services) -> None:
    assert await waiting(services.database) == 0
    for written, word, keys in WRITES:
        owner(desk, written)
        assert await refreshed(services.database) == {"tickets": None}
        assert await found(services.database, word) == keys, written


async def test_what_is_rolled_back_is_not_found_and_what_is_committed_late_is(desk: str, services: Services) -> None:
    with psycopg.connect(desk) as late, psycopg.connect(desk) as undone:
        late.execute("insert into support.tickets (subject) values ('badger')")
        undone.execute("insert into support.tickets (subject) values ('weasel')")
        owner(desk, "insert into support.tickets (subject) values ('otter')")
        await refreshed(services.database)
        undone.rollback()
        late.commit()
    await refreshed(services.database)
    assert await found(services.database, "otter") == ["6"]
    assert await found(services.database, "badger") == ["4"]
    assert await found(services.database, "weasel") == []


CALLS: tuple[LiteralString, ...] = (
    "select refresh_rows_1(1)",
    "select queue_differences_1()",
    "select * from rows_1_values()",
)


@pytest.fixture
def stranger(desk: str) -> Iterator[str]:
    """The URL for a role that may use our schema, and nothing in it."""
    owner(desk, "create role stranger login password 'stranger'", "grant usage on schema quarry to stranger")
    yield make_conninfo(desk, user="stranger", password="stranger", options="-c search_path=quarry")
    owner(desk, "drop owned by stranger", "drop role stranger")


async def test_what_follows_tables_with_its_owners_rights_is_for_who_serves_and_loads(
    desk: str, services: Services, stranger: str
) -> None:
    owner(
        desk,
        "grant usage on schema support to stranger",
        "grant select, insert on support.tickets to stranger",
    )
    with psycopg.connect(stranger) as writer:
        writer.execute("insert into support.tickets (subject) values ('badger')")
    for call in CALLS:
        with psycopg.connect(stranger) as refused, pytest.raises(InsufficientPrivilege, match="function"):
            refused.execute(call)
    for role in ("quarry_serving", "quarry_loading"):
        owner(desk, f"grant {role} to stranger")
        with psycopg.connect(stranger) as member:
            for call in CALLS:
                member.execute(call)
            member.rollback()
        owner(desk, f"revoke {role} from stranger")
    public = await services.database.rows(
        "select proname from pg_proc where prosecdef and pronamespace = 'quarry'::regnamespace"
        " and has_function_privilege('public', oid, 'execute')"
    )
    assert public == []
    assert await refreshed(services.database) == {"tickets": None}
    assert await found(services.database, "badger") == ["4"]


@pytest.mark.parametrize(
    ("table", "values", "key"),
    [
        ("(a int, b text, note text, primary key (a, b))", "(1, 'x y', 'badger')", '[1, "x y"]'),
        ("(id text primary key, note json)", """('k', '{"n": "badger"}')""", "k"),
    ],
)  # fmt: skip
async def test_keys_and_texts_may_have_any_type(
    database_url: str, services: Services, table: str, values: str, key: str
) -> None:
    owner(database_url, f'create table "My Notes" {table}', f'insert into "My Notes" values {values}')
    apply_file(database_url, """[collections.notes]\nsource = 'public."My Notes"'\ntext = "note" """)
    await refreshed(services.database)
    assert await found(services.database, "badger", "notes") == [key]
    owner(database_url, 'update "My Notes" set note = null')
    await refreshed(services.database)
    assert await found(services.database, "badger", "notes") == []
    owner(database_url, 'delete from "My Notes"')
    await refreshed(services.database)
    assert await services.database.rows("select from rows_1") == []


async def test_a_column_that_goes_stops_no_writer_and_is_told(desk: str, services: Services) -> None:
    owner(
        desk, "alter table support.tickets drop column body", "insert into support.tickets (subject) values ('badger')"
    )
    assert "body" in ((await refreshed(services.database))["tickets"] or "")
    assert (await services.database.rows("select problem from collections"))[0]["problem"]
    apply_file(desk, TICKETS.replace(', body = "B"', ""))
    await refreshed(services.database)
    assert await found(services.database, "badger") == ["4"]
    assert (await services.database.rows("select problem from collections"))[0]["problem"] is None


async def test_a_view_is_followed_by_comparing_it(desk: str, services: Services) -> None:
    owner(desk, "create view support.open as select id, subject from support.tickets where status = 'open'")
    view = '[collections.unsolved]\nsource = "support.open"\nkey = "id"\ntext = "subject"\nsync = "sweep"\n'
    apply_file(desk, TICKETS + view)
    await refreshed(services.database)
    assert await found(services.database, "printer | invoice", "unsolved") == ["1"]
    owner(desk, "update support.tickets set status = 'open' where id = 2")
    await compare(services.database, (await read_collections(services.database))["unsolved"])
    await refreshed(services.database)
    assert await found(services.database, "printer | invoice", "unsolved") == ["1", "2"]


async def test_a_source_that_is_polled_is_read_where_it_was_raised(desk: str, services: Services) -> None:
    owner(desk, "alter table support.tickets add column changed_at timestamptz not null default '2020-01-01'")
    apply_file(
        desk,
        TICKETS.replace("[collections.tickets.facets]", 'sync = { poll = "changed_at" }\n[collections.tickets.facets]'),
    )
    collection = (await read_collections(services.database))["tickets"]
    await poll(services.database, collection)
    await refreshed(services.database)
    owner(
        desk,
        "update support.tickets set subject = 'badger', changed_at = now() where id = 1",
        "update support.tickets set subject = 'otter' where id = 2",
    )
    assert await waiting(services.database) == 0
    assert await poll(services.database, collection) == 1
    await refreshed(services.database)
    assert await found(services.database, "badger | otter") == ["1"]


async def test_policies_that_hide_rows_empty_nothing(desk: str, services: Services) -> None:
    owner(
        desk,
        "create role keeper login password 'keeper'",
        "grant select on support.agents to keeper",
        "alter schema support owner to keeper",
        "alter table support.tickets owner to keeper",
        "alter table support.tickets enable row level security, force row level security",
        "create policy mine on support.tickets using (account_id = 1)",
    )
    try:
        for function in ("refresh_rows_1(int)", "queue_differences_1(timestamptz)"):
            owner(desk, f"grant create, usage on schema quarry to keeper; grant all on all tables in schema quarry to keeper;"
                  f" alter function quarry.{function} owner to keeper")  # fmt: skip
        owner(desk, "insert into support.tickets (subject) values ('badger')")
        assert "policies hide rows" in ((await refreshed(services.database))["tickets"] or "")
        assert await found(services.database, "printer | invoice | sign") == ["1", "2", "3"]
        owner(desk, "create policy all_for_keeper on support.tickets for select to keeper using (true)")
        assert await refreshed(services.database) == {"tickets": None}
        assert await found(services.database, "badger") == ["4"]
    finally:
        owner(desk, "reassign owned by keeper to current_user", "drop owned by keeper", "drop role keeper")


async def test_two_refreshers_at_once_leave_the_latest_text(desk: str, services: Services) -> None:
    collection = (await read_collections(services.database))["tickets"]

    async def refresh() -> None:
        for _ in range(20):
            await refresh_rows(services.database, collection, 1)

    async def write(row: int) -> None:
        for turn in range(20):
            await asyncio.to_thread(owner, desk, f"update support.tickets set subject = 'turn {turn}' where id = {row}")

    await asyncio.gather(refresh(), refresh(), write(1), write(2), write(3))
    await refreshed(services.database)
    texts = await services.database.rows("select tsvector_to_array(text_search) as words from rows_1")
    assert all("19" in row["words"] for row in texts)
