"""Forgetting a record with all that is kept of it, whatever goes on meanwhile."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import AsyncConnection

from quarry.catalog import FORGETTABLE
from quarry.collections.apply import read_collections
from quarry.collections.collection import Collection
from quarry.kept.contract import ConversationChange, NewConversation, NewSavedSearch, ResultKey, Turn
from quarry.kept.storage import (
    change_conversation,
    keep_conversation,
    open_search,
    read_conversation,
    save_search,
)
from quarry.local.users import Forgotten, forget, forget_row
from quarry.people import search as people_search
from quarry.people.access import grant, hold_people, unlock_contact
from quarry.people.contract import PeopleSearchRequest, PeopleSearchResponse
from quarry.people.search import search_people
from quarry.platform.budget import Budget
from quarry.platform.errors import Conflict, NotFound
from quarry.postgres.pool import Database
from quarry.records import answer_cache as records_answers
from quarry.records.answer import answer_question
from quarry.records.answer_cache import store_answer
from quarry.records.contract import AskRequest, DoneEvent, SourcesEvent
from quarry.runs.run_log import ResultRecord, Run
from quarry.services.services import Caller, Services
from tests.collections.support import HELP_DESK, TICKETS, apply_file, found, owner, refreshed
from tests.conftest import clone_database
from tests.records.asking import QUESTION
from tests.waiting import PATIENCE_SECONDS

ANN = "ann"
QUERY = "Python engineers in Bengaluru"


@pytest.fixture
def url(server_url: str, sample_template: str) -> Iterator[str]:
    with clone_database(server_url, sample_template) as url:
        yield url


@pytest.fixture
def services(url: str, make_services: Callable[..., Services]) -> Services:
    return make_services(url)


async def forgotten(services: Services, kind: str, id: str) -> Forgotten:
    domain, forgettable = FORGETTABLE[kind]
    return await forget(services.database, forgettable, domain, id)


async def find_people(services: Services, key: str | None = None, query: str = QUERY) -> PeopleSearchResponse:
    await grant(services.database, services.settings, ANN, 10)
    return await search_people(PeopleSearchRequest(query=query), Caller(ANN), services, idempotency_key=key)


async def ask(services: Services, *, fresh: bool = False) -> tuple[SourcesEvent, DoneEvent]:
    request = AskRequest(question=QUESTION, fresh=fresh)
    events = [event async for event in answer_question(request, Caller(ANN), services)]
    [sources] = [event for event in events if isinstance(event, SourcesEvent)]
    [done] = [event for event in events if isinstance(event, DoneEvent)]
    return sources, done


def whole_database(url: str) -> str:
    """Every row of every table of ours, as text."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "select c.oid::regclass::text from pg_class c where c.relnamespace = 'quarry'::regnamespace and c.relkind = 'r'"
        ).fetchall()
        rows = [
            str(row) for (table,) in tables for row in connection.execute(f"select t::text from {table} t").fetchall()
        ]
    return "\n".join(rows)


async def test_nothing_of_a_forgotten_person_is_left(services: Services, url: str) -> None:
    found = await find_people(services, "key")
    who = next(each for each in found.people if each.name and " " in each.name)
    assert who.name
    contact = await services.database.row("select email from people where id = %s", [who.id])
    assert contact
    await services.database.execute("update people set open_to_contact = true where id = %s", [who.id])
    await unlock_contact(who.id, found.search_id, Caller(ANN), services)
    await find_people(services, "named", f"somebody like {who.name}")
    turns = [
        Turn(question=QUERY, answer={"people": [{"id": who.id}]}),
        Turn(question="Who else?", answer={"people": [{"id": "p-other"}]}),
        Turn(question=f"And {who.name}?"),
    ]
    kept = await keep_conversation(services.database, ANN, NewConversation(domain="people", turns=turns))
    results = [ResultKey(type="person", id=each.id) for each in found.people]
    saved = await save_search(services.database, ANN, NewSavedSearch(domain="people", query=QUERY, results=results))
    elsewhere = [Turn(question="Who else?")]
    await keep_conversation(
        services.database, ANN, NewConversation(domain="people", title=f"On {who.name}", turns=elsewhere)
    )
    await save_search(services.database, ANN, NewSavedSearch(domain="people", query=f"people like {who.name}"))
    await services.run_log.drain()

    gone = await forgotten(services, "person", who.id)

    text = whole_database(url)
    assert who.id not in text
    assert who.name not in text
    assert contact["email"] not in text
    assert gone.rows["people"] == gone.rows["contact_unlocks"] == gone.rows["credit_ledger"] == 1
    assert gone.rows["experience_cards"] >= 1
    assert gone.rows["experience_card_embeddings"] >= 1
    [turn] = (await read_conversation(services.database, ANN, UUID(kept.id))).turns
    assert turn.question == "Who else?"
    # what was paid for is still there, without the person, and the books are right
    again = await find_people(services, "key")
    assert [each.id for each in again.people] == [each.id for each in found.people if each.id != who.id]
    balance = await services.database.row(
        """select a.balance = (select sum(amount) from credit_ledger where user_id = a.user_id) as is_right
           from credit_accounts a where user_id = %s""",
        [ANN],
    )
    assert balance == {"is_right": True}
    told = await services.database.rows("select kind, id_hash, rows from forgotten")
    assert [(row["kind"], row["rows"]) for row in told] == [("person", gone.rows)]
    opened = await open_search(services.database, ANN, UUID(saved.id), results)
    assert opened.new == []
    assert who.id not in whole_database(url)


async def test_a_forgotten_record_leaves_every_answer_run_and_stream_that_quotes_it(
    services: Services, url: str
) -> None:
    sources, done = await ask(services)
    source = sources.sources[0]
    run, ended = uuid4(), uuid4()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "update lexeme_counts set best_rows = array['another', %s] where of_table = %s",
            [source.id, FORGETTABLE[source.type][1].table],
        )
        for id, is_over in ((run, False), (ended, True)):
            connection.execute(
                "insert into run_streams (run_id, caller, is_over) values (%s, 'ann', %s)", [id, is_over]
            )
            event = json.dumps({"type": "sources", "sources": [{"id": source.id}]})
            connection.execute("insert into run_events values (%s, 1, %s)", [id, event])
    await services.run_log.drain()
    assert done.answer_id

    await forgotten(services, source.type, source.id)

    text = whole_database(url)
    assert not re.search(rf"\b{re.escape(source.id)}\b(?!-)", text)
    row = await services.database.row("select cancelled_at from run_streams where run_id = %s", [run])
    assert row
    assert row["cancelled_at"] is not None
    fresh, done = await ask(services)
    assert not done.cached
    assert source.id not in [each.id for each in fresh.sources]


async def test_every_kind_of_record_can_be_forgotten(services: Services) -> None:
    await services.database.execute(
        "insert into onto_projects (id, created_by, name) values ('aa-empty', 'ann', 'Empty')"
    )
    for kind, (_, forgettable) in FORGETTABLE.items():
        row = await services.database.row(f"select id from {forgettable.table} order by id limit 1")
        assert row, kind
        gone = await forgotten(services, kind, row["id"])
        assert gone.rows[forgettable.table] >= 1
        with pytest.raises(NotFound):
            await forgotten(services, kind, row["id"])


async def test_what_others_cannot_be_without_is_kept(services: Services) -> None:
    row = await services.database.row("select project_id from onto_tasks limit 1")
    assert row
    with pytest.raises(Conflict, match="belong to this record"):
        await forgotten(services, "project", row["project_id"])
    assert await services.database.row("select from onto_projects where id = %s", [row["project_id"]]) is not None
    assert await services.database.rows("select from forgotten") == []


@pytest.fixture
async def holding(url: str) -> AsyncIterator[AsyncConnection[Any]]:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        yield connection


async def until_waiting(url: str, count: int = 1) -> None:
    """Until that many sessions wait for a lock."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            while True:
                cursor = await connection.execute(
                    "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
                )
                row = await cursor.fetchone()
                if row and row[0] >= count:
                    return
                await asyncio.sleep(0.01)


async def test_a_people_search_that_runs_meanwhile_does_not_bring_the_person_back(
    services: Services, url: str, holding: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await find_people(services)
    who = found.people[0]
    reached, go_on = asyncio.Event(), asyncio.Event()
    hold = hold_people

    async def paused(*arguments: Any) -> set[str]:
        reached.set()
        await go_on.wait()
        return await hold(*arguments)

    monkeypatch.setattr(people_search, "hold_people", paused)
    searching = asyncio.create_task(find_people(services, "key"))
    await reached.wait()
    await forgotten(services, "person", who.id)
    go_on.set()
    after = await searching
    await services.run_log.drain()
    assert [each.id for each in after.people] == [each.id for each in found.people if each.id != who.id]
    assert who.id not in whole_database(url)


async def test_what_is_kept_while_something_is_forgotten_does_not_hold_it(
    services: Services, url: str, holding: AsyncConnection[Any], make_services: Callable[..., Services]
) -> None:
    sources, _ = await ask(services)
    await services.run_log.drain()
    source = sources.sources[0]
    # whoever stores waits until a forgetting has ended
    await holding.execute("select pg_advisory_xact_lock(7305113)")
    answering = asyncio.create_task(ask(services, fresh=True))
    turn = Turn(question="why", answer={"id": source.id})
    keeping = asyncio.create_task(
        keep_conversation(services.database, ANN, NewConversation(domain="records", turns=[turn]))
    )
    await until_waiting(url, 2)
    await holding.commit()
    await asyncio.gather(answering, keeping)
    await forgotten(services, source.type, source.id)
    run = Run("records", ANN, "elm", Budget.without_model(1.0), chat=None)
    with services.run_log.record(run):
        run.results = [ResultRecord(source.type, source.id, 1.0), ResultRecord("motion", "another", 1.0)]
    await services.run_log.drain()
    results = await services.database.rows("select result_id from search_run_results where run_id = %s", [run.id])
    assert [row["result_id"] for row in results] == ["another"]
    kept = await keep_conversation(services.database, ANN, NewConversation(domain="records", turns=[turn]))
    assert kept.turns == []
    changed = await change_conversation(
        services.database, ANN, UUID(kept.id), ConversationChange(turns=[turn, Turn(question="else")])
    )
    assert changed.turn_count == 1
    assert not re.search(rf"\b{re.escape(source.id)}\b(?!-)", whole_database(url))


async def test_an_answer_that_was_begun_before_is_not_stored(
    services: Services, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_answer
    quoted: list[Any] = []

    async def forgotten_first(database: Database, **given: Any) -> str | None:
        quoted.append(given["finished"].sources[0])
        await forgotten(services, quoted[0].type, quoted[0].id)
        return await store(database, **given)

    monkeypatch.setattr(records_answers, "store_answer", forgotten_first)
    _, done = await ask(services)
    await services.run_log.drain()
    assert done.answer_id is None
    assert await services.database.rows("select from answer_cache") == []
    assert not re.search(rf"\b{re.escape(quoted[0].id)}\b(?!-)", whole_database(url))


async def test_a_row_of_the_owners_table_is_the_owners_to_delete(
    database_url: str, make_services: Callable[..., Services]
) -> None:
    owner(database_url, HELP_DESK)
    apply_file(database_url, TICKETS)
    database = make_services(database_url).database
    await refreshed(database)
    collection = (await read_collections(database))["tickets"]
    with pytest.raises(Conflict, match=r"your table support\.tickets: delete it there"):
        await forget_row(database, collection, "1")
    assert await found(database, "printer") == ["1"]
    owner(database_url, "delete from support.tickets where id = 1")
    await database.execute(
        """insert into answer_cache (id, query, answer, sources, source_count, confidence, expires_at)
           values ('a', 'q', 'Smokes [1].', '[{"type": "tickets", "id": "1"}]', 1, 'low', now() + interval '1 day')"""
    )
    gone = await forget_row(database, collection, "1")
    assert gone.rows == {collection.rows: 1, "answer_cache": 1, "collection_changes": 1}
    assert await found(database, "printer") == []
    for id in ("1", "no key of this table"):
        with pytest.raises(NotFound):
            await forget_row(database, collection, id)


TICKET = {"type": "tickets", "id": "1", "title": "The printer smokes"}
ORDER = {"type": "orders", "id": "1", "title": "Toner"}
QUOTING: tuple[dict[str, Any], ...] = (
    {"sources": [ORDER | {"id": "2"}, TICKET]},
    {"opened": "1"},
    {"ids": ["7", "1"]},
    {"notes": {"1": "smokes"}},
    {"result": {"id": "1", "title": "The printer smokes"}},
    {"sources": [ORDER | {"id": "2", "tickets_id": "1"}]},
    {"applied": {"filters": {"facets": {}, "tickets_id": ["1"]}}},
)
"""What may be ticket 1, or is."""
ELSE: tuple[dict[str, Any], ...] = (
    {"sources": [ORDER]},
    {"sources": [TICKET | {"id": "2", "title": "1"}]},
    {"sources": [TICKET | {"id": "2", "meeting_id": "1"}]},
    {"applied": {"types": ["tickets"], "filters": {"facets": {"priority": ["1"]}}}},
    {"count": {"type": "aggregation", "groups": [{"value": "1", "count": 3}], "filters": {"priority": ["1"]}}},
    {"text": "There is 1.", "n": 1},
)
"""What holds the text "1" and is no ticket."""


@pytest.fixture
async def help_desk(database_url: str, make_services: Callable[..., Services]) -> tuple[Database, Collection]:
    """A database whose owner has tickets, the first of which is gone."""
    owner(database_url, HELP_DESK)
    apply_file(database_url, TICKETS)
    database = make_services(database_url).database
    await refreshed(database)
    owner(database_url, "delete from support.tickets where id = 1")
    return database, (await read_collections(database))["tickets"]


async def turns_left(database: Database, *, domain: str = "records") -> list[dict[str, Any]]:
    rows = await database.rows(
        "select t.turn -> 'answer' as answer from conversations c, jsonb_array_elements(c.turns) t (turn) where domain = %s",
        [domain],
    )
    return [row["answer"] for row in rows]


def asked(*answers: dict[str, Any], domain: Any = "records") -> NewConversation:
    return NewConversation(domain=domain, turns=[Turn(question="why", answer=answer) for answer in answers])


async def test_a_short_id_is_forgotten_of_its_type_alone(help_desk: tuple[Database, Collection]) -> None:
    database, tickets = help_desk
    for answers, domain in (
        ((*QUOTING, *ELSE), "records"),
        (({"companies": [{"id": "1"}]}, {"opened": TICKET}), "companies"),
    ):
        await keep_conversation(database, ANN, asked(*answers, domain=domain))
    await forget_row(database, tickets, "1")
    assert await turns_left(database) == [*ELSE]
    assert await turns_left(database, domain="companies") == [{"companies": [{"id": "1"}]}]
    # and so for a day
    await database.execute("delete from conversations")
    await keep_conversation(database, ANN, asked(*QUOTING, *ELSE))
    await keep_conversation(database, ANN, asked({"opened": "1"}, domain="companies"))
    assert await turns_left(database) == [*ELSE]
    assert await turns_left(database, domain="companies") == [{"opened": "1"}]
