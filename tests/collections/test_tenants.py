"""No value of a row that a caller cannot see is named, corrected to or used, and no score tells of its text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.collections.apply import read_collections
from quarry.postgres.pool import Database
from quarry.records.sources import searched_type
from quarry.retrieval.values import visible_values
from tests.collections.support import owner
from tests.collections.test_search import fill, filled
from tests.collections.yard import DECLARED, OF_ANN, OF_OTHERS, SCHEMA, SERVER
from tests.conftest import client_of
from tests.records.asking import Events, of_type, read_events, the

HAVING = {"sender": "letters", "dock": "visits", "authority": "permits", "lender": "tools", "payee": "bills"}
"""The type that has a facet, where it is not `jobs`."""


@pytest.fixture(scope="module")
def url(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with filled(server_url, migrated_template, tmp_path_factory.mktemp("yard"), DECLARED, SCHEMA, role=SERVER) as url:
        yield url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[TestClient]:
    with client_of(f"postgresql://{SERVER}:{SERVER}@{url.partition('@')[2]}") as client:
        yield client


def get(client: TestClient, path: str, parameters: Mapping[str, Any], user: str = "ann") -> str:
    return client.get(path, params=parameters, headers={"Authorization": f"Bearer {user}"}).text


def found(client: TestClient, **parameters: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(get(client, "/records/search", parameters))
    return body


def ask(client: TestClient, question: str, user: str = "ann", **body: Any) -> Events:
    answer = client.post(
        "/records/ask",
        json={"question": question, "fresh": True} | body,
        headers={"Authorization": f"Bearer {user}"},
    )
    return read_events(answer.text)


def call_tool(client: TestClient, name: str, **arguments: Any) -> str:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {"Authorization": "Bearer ann", "Accept": "application/json, text/event-stream"}
    answer = client.post("/mcp", json=message, headers=headers).text
    assert "There is no tool" not in answer, answer
    return answer


def misspelt(value: str) -> str:
    """With two letters of its longest word the wrong way round, all in capitals: no answer says that by itself."""
    word = max(value.split(), key=len)
    middle = len(word) // 2
    return value.replace(word, word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :]).upper()


def heard(client: TestClient, facet: str, values: Sequence[str]) -> Iterator[str]:
    """All that ann is answered who asks for values, written otherwise than they stand in the data."""
    type = HAVING.get(facet, "jobs")
    for said in [*map(misspelt, values), *(value.split()[0].upper() for value in values)]:
        yield str(ask(client, f"How many {type} have the {facet} {said}?"))
        yield get(client, "/records/search", {"q": f"stairs of {said}"})
        yield get(client, "/records/suggest", {"q": said})
        yield call_tool(client, "search", text=f"{type} of {said}")
    for given in ([*map(misspelt, values)], [value.upper() for value in values]):
        yield str(ask(client, "What was sent?", filters={"facets": {facet: given}}))
        yield get(client, "/records/search", {"q": "stairs", facet: given})
        yield get(client, "/records/search", {"q": "stairs", f"-{facet}": given})
        yield get(client, "/records/facets", {"by": facet, facet: given})
        yield get(client, "/records/facets", {"by": facet, f"-{facet}": given})
        yield call_tool(client, "query", source=type, group=facet, where={"field": facet, "values": given})
    yield get(client, "/records/facets", {"by": facet})


@pytest.mark.parametrize("facet", OF_OTHERS)
def test_a_hidden_value_is_named_by_no_answer(client: TestClient, facet: str) -> None:
    for answer in heard(client, facet, OF_OTHERS[facet][:1]):
        assert not [value for value in OF_OTHERS[facet] if value in answer], answer


def test_own_values_are_known_and_rows_without_an_owner_are_nobodys(client: TestClient) -> None:
    for facet, (value, *_) in OF_ANN.items():
        type = HAVING.get(facet, "jobs")
        counted = the(ask(client, f"How many {type} have the {facet} {value.upper()}?", types=[type]), "aggregation")
        assert (counted["total"], counted["filters"]["facets"]) == (1, {facet: [value]})
    # the firm of who asks is no branch, and who has no branch sees no bill
    assert not of_type(ask(client, "How many bills have the payee Lighthouse Trust?", "south"), "aggregation")
    for type in ("bills", "jobs"):
        assert found(client, q="lamp", type=type)["results"] == []


async def test_a_broken_source_leaves_the_values_of_others_known(url: str) -> None:
    database = Database(f"postgresql://{SERVER}:{SERVER}@{url.partition('@')[2]}", pool_size=1, timeout_seconds=10)
    try:
        collections = await read_collections(database)
        tables = {name: searched_type(each).table for name, each in collections.items()}
        proposed = [
            (tables["letters"].name, "sender", "Ministry of Works"),
            (tables["visits"].name, "dock", "Longwharf"),
            (tables["visits"].name, "dock", "Quarantine"),
        ]
        acting = database.acting({"app.firm": "ann"})
        assert await visible_values(acting, tables.values(), proposed) == {*proposed[:2]}
        owner(url, f"revoke select on yard.letters from {SERVER}")
        assert await visible_values(acting, tables.values(), proposed) == {proposed[1]}
    finally:
        owner(url, f"grant select on yard.letters to {SERVER}")
        await database.close()


def scores(client: TestClient, query: str) -> list[tuple[str, str, float]]:
    return [(each["type"], each["id"], each["score"]) for each in found(client, q=query)["results"]]


def test_what_others_write_changes_no_score_and_no_spelling(client: TestClient, url: str, tmp_path: Path) -> None:
    queries = ("a broken window on the stairs", "crane oiled", "please send the drawings", "the staira leak", "windwo")
    before = {query: scores(client, query) for query in queries}
    assert all(before.values())
    owner(
        url,
        "insert into yard.jobs select i, 'bo', 'Timbuktu', '{}', 2, 'Stairs and staira, windwo: ' || repeat('crane ', i % 9)"
        " from generate_series(100, 200) i",
        "insert into yard.letters select i, 'bo', 'Carborundum Trading', 'Please send drawings of the crane'"
        " from generate_series(100, 160) i",
    )
    fill(url, DECLARED, tmp_path)
    owner(
        url, "set search_path = quarry, public; select count_lexemes(oid) from pg_class where relname ~ '^rows_[0-9]+$'"
    )
    assert {query: scores(client, query) for query in queries} == before
