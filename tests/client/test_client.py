"""The Python client against a running service: every route, by its own types, and errors as exceptions."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from quarry.campaigns.contract import FinalAnswerEvent as CampaignsAnswer
from quarry.client import (
    AsyncClient,
    CampaignsEvent,
    Client,
    CompaniesEvent,
    InvalidInput,
    NotEnoughCredits,
    NotFound,
    RecordsEvent,
)
from quarry.client.calls import Route, StreamedRoute
from quarry.client.routes import Routes
from quarry.companies.contract import FinalAnswerEvent as CompaniesAnswer
from quarry.kept.contract import ResultKey, Turn
from quarry.records.contract import AnswerChunkEvent, DoneEvent, SourcesEvent

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "Why did the council keep the old elm in Quill Square?"
PEOPLE_QUERY = "backend engineers who know Kafka"

OF_OTHER_CLIENTS = {"POST /mcp", "GET /v1/models", "POST /v1/chat/completions", "GET /records/ask"}
"""Served to clients of the protocols, and to EventSource."""


def test_every_route_of_the_description_is_a_method_and_every_event_has_its_type() -> None:
    paths = json.loads((ROOT / "docs/api/openapi.json").read_text())["paths"]
    described = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    routes = [
        each for kind in Routes.__mro__ for each in vars(kind).values() if isinstance(each, Route | StreamedRoute)
    ]
    assert {route.address for route in routes} == described - OF_OTHER_CLIENTS
    assert all(route.__doc__ for route in routes)
    streams = {route.address: route.events for route in routes if isinstance(route, StreamedRoute)}
    for domain, address, union in (
        ("records", "POST /records/ask", RecordsEvent),
        ("companies", "POST /companies/chat", CompaniesEvent),
        ("campaigns", "POST /campaigns/chat", CampaignsEvent),
    ):
        schema = json.loads((ROOT / f"docs/api/{domain}-events.json").read_text())
        names = {one["$ref"].rpartition("/")[2] for one in schema["anyOf"]} - {"ErrorEvent", "EnvelopedErrorEvent"}
        assert {model.__name__ for model in streams[address].models} == names
        assert {model.__name__ for model in get_args(union)} == names


def test_importing_it_imports_no_database_no_web_framework_and_no_search() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "import quarry.client, sys; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert not {"psycopg", "fastapi", "starlette", "openai", "numpy", "mcp", "rich"} & {*told}
    assert [name for name in told if name.endswith((".search", ".answer", ".retrieval", ".routes", ".services"))] == [
        "quarry.client.routes"
    ]


def test_records_are_asked_searched_counted_and_read(base: str) -> None:
    with Client(base, token="ann") as client:
        with client.ask_records(QUESTION, fresh=True) as events:
            said = [*events]
        assert isinstance(said[-1], DoneEvent)
        assert events.run_id is not None
        client.give_feedback(events.run_id, helpful=True, reason="It cites the vote.")
        answer_id = said[-1].answer_id
        assert answer_id is not None
        text = "".join(event.chunk for event in said if isinstance(event, AnswerChunkEvent))
        answer = client.answer(answer_id)
        assert (answer.query, answer.answer) == (QUESTION, text)
        assert client.own_answer(answer_id).revocable
        client.revoke_answer(answer_id)
        with pytest.raises(NotFound) as revoked:
            client.answer(answer_id)
        assert revoked.value.status == 404
        assert revoked.value.type == "urn:quarry:problem:not-found"
        assert revoked.value.request_id

        [first, *_] = client.search_records("old elm", types=["motion"], limit=3).results
        assert first.type == "motion"
        assert client.record(first.type, first.id).title == first.title
        motions = client.count_records(by="result", types=["motion"])
        [group, *_] = motions.groups
        assert client.count_records(types=["motion"], facets={"result": str(group.value)}).total == group.count
        assert client.count_records(types=["motion"], facets={"-result": [str(group.value)]}).total < motions.total
        assert client.search_records("elm", from_date="2024-01-01", to_date="2024-12-31").results
        assert "motion" in {collection.name for collection in client.collections().collections}


def test_people_are_paid_for_once(base: str) -> None:
    with Client(base, token="bea") as client:
        found = client.search_people(PEOPLE_QUERY, idempotency_key="one")
        assert client.search_people(PEOPLE_QUERY, idempotency_key="one") == found
        assert client.search_people(PEOPLE_QUERY, idempotency_key="one", only_kept=True) == found
        for never_kept in ("two", None):
            with pytest.raises(NotFound):
                client.search_people(PEOPLE_QUERY, idempotency_key=never_kept, only_kept=True)
        assert client.credits().balance == 1
        person = next(each for each in found.people if each.open_to_work or each.open_to_contact)
        assert client.person(person.id, search_id=found.search_id).contact is None
        first, again = (client.unlock_contact(person.id, search_id=found.search_id) for _ in range(2))
        assert (first.charged, again.charged, again.balance) == (True, False, 0)
        assert client.person(person.id, search_id=found.search_id).contact == first.contact
        assert client.profile(person.id).name == person.name
        with pytest.raises(NotEnoughCredits) as refused:
            client.search_people(PEOPLE_QUERY)
        assert (refused.value.status, str(refused.value)) == (402, refused.value.detail)
        page = client.people(limit=2)
        assert page.next_cursor is not None
        assert client.people(limit=2, cursor=page.next_cursor).people[0].id not in {each.id for each in page.people}


def test_companies_campaigns_and_the_workspace_answer(base: str) -> None:
    with Client(base) as client:
        *_, last = client.ask_companies("robots that can be leased")
        assert isinstance(last, CompaniesAnswer)
        assert last.data.references[0].company_id in last.data.companies_by_id
        *_, end = client.ask_companies("robots that can be leased", constraints=last.data.constraints)
        assert isinstance(end, CompaniesAnswer)
        *_, told = client.ask_campaigns("How many campaigns ran by email?")
        assert isinstance(told, CampaignsAnswer)
        assert client.chat_about_campaigns("How many campaigns ran by email?").total == told.data.total
        [entity, *_] = client.search_ontology("launch plan", types=["plan"]).results
        assert client.entity(entity.type, entity.id).title == entity.title
        assert client.health().status == "ok"
        assert {"records", "people"} <= {*client.config().domains}


def test_what_is_kept_is_listed_changed_and_deleted(base: str) -> None:
    with Client(base, token="cy") as client:
        kept = client.keep_conversation("records", [Turn(question=QUESTION)])
        assert client.change_conversation(kept.id, title="Elm").title == "Elm"
        assert [each.title for each in client.conversations().conversations] == ["Elm"]
        assert client.conversation(kept.id).turns == [Turn(question=QUESTION)]
        client.delete_conversation(kept.id)
        assert client.conversations().conversations == []
        saved = client.save_search("records", "elm", parameters={"type": "motion"})
        assert client.rename_search(saved.id, "Trees").name == "Trees"
        assert client.open_search(saved.id, [ResultKey(type="motion", id="m1")]).new == [
            ResultKey(type="motion", id="m1")
        ]
        assert [each.id for each in client.saved_searches().searches] == [saved.id]
        client.delete_search(saved.id)
        assert client.saved_searches().searches == []


def test_what_is_not_valid_is_told_by_its_field_before_or_after_it_is_sent(base: str) -> None:
    with Client(base) as client:
        with pytest.raises(InvalidInput) as here:
            client.search_records("elm", limit=1000)
        assert [field.pointer for field in here.value.errors] == ["/limit"]
        assert "pydantic" not in str(here.value)
        with pytest.raises(InvalidInput) as there:
            client.count_records(by="no_such_facet")
        assert there.value.status == 422
        assert there.value.request_id


async def test_the_same_is_awaited(base: str) -> None:
    async with AsyncClient(base, token=lambda: "dan") as client:
        balance, found = await asyncio.gather(client.credits(), client.search_records("old elm"))
        assert (balance.balance, bool(found.results)) == (2, True)
        async with client.ask_records(QUESTION) as events:
            said = [event async for event in events]
        assert isinstance(said[-1], DoneEvent)
        assert any(isinstance(event, SourcesEvent) for event in said)
        with pytest.raises(NotFound):
            await client.search_people(PEOPLE_QUERY, idempotency_key="one", only_kept=True)
        assert (await client.credits()).balance == 2
        with pytest.raises(NotFound):
            await client.cancel_run("6d0f6d2e-0a5c-4f0b-9a52-6a3c8f0e1b77")
