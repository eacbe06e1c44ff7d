"""What others' rows hold changes no answer that a caller gets, by whichever door a question comes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.collections.support import owner
from tests.collections.test_search import fill, filled
from tests.collections.test_tenants import HAVING, ask, call_tool, misspelt
from tests.collections.yard import DECLARED, OF_ANN, OF_OTHERS, SCHEMA, SERVER
from tests.conftest import client_of, model_environment
from tests.fakes.openai_server import FakeOpenAI, Reply, prompt_text
from tests.records.asking import playing

ANN = {"Authorization": "Bearer ann"}
OPERATORS = ("=", "!=", "contains")
HIDDEN = [value for values in OF_OTHERS.values() for value in values]
NAMED = {facet: values if facet == "town" else values[:1] for facet, values in OF_OTHERS.items()}
"""Values that are asked for: of each kind of facet one, and of each kind of owner."""


@pytest.fixture(scope="module")
def url(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with filled(server_url, migrated_template, tmp_path_factory.mktemp("yard"), DECLARED, SCHEMA, role=SERVER) as url:
        yield url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[TestClient]:
    with client_of(f"postgresql://{SERVER}:{SERVER}@{url.partition('@')[2]}") as client:
        yield client


def query(client: TestClient, **query: Any) -> dict[str, Any]:
    body: dict[str, Any] = client.post("/query", json=query, headers=ANN).json()
    body.pop("request_id", None)
    return body


def described(client: TestClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/collections", headers=ANN).json()["collections"]
    return found


def paths(sources: list[dict[str, Any]], source: dict[str, Any], depth: int) -> Iterator[str]:
    """Every field that can be named from a source, over up to two links."""
    yield from (field["name"] for field in source["fields"])
    if not depth:
        return
    by_name = {each["name"]: each for each in sources}
    for link in source["related"]:
        to = by_name.get(link.get("references"))
        inner = paths(sources, to, depth - 1) if to else iter(link.get("fields", ()))
        yield from (f"{link['name']}.{path}" for path in inner)


def everything(client: TestClient) -> dict[str, Any]:
    """What can be asked of each source without naming a value."""
    answers: dict[str, Any] = {}
    sources = described(client)
    answers["collections"] = sources
    for source in sources:
        name = source["name"]
        answers[name] = query(client, source=name, limit=100)
        for link in source["related"]:
            counted = f"count({link['name']})" if link["many"] else None
            exists = {"exists": link["name"]}
            answers[f"{name} {exists}"] = query(client, source=name, where=exists, select="id")
            if counted:
                answers[f"{name} {counted}"] = query(client, source=name, select=["id", counted], order=counted)
        for path in paths(sources, source, depth=2 if name == "jobs" else 1):
            answers[f"{name} by {path}"] = query(client, source=name, group=path, aggregate="count")
            answers[f"{name} with {path}"] = query(client, source=name, select=["id", path], order="id")
            answers[f"{name} least {path}"] = query(
                client, source=name, aggregate=[f"min({path})", f"count_distinct({path})"]
            )
            answers[f"values of {name} {path}"] = call_tool(client, "values", source=name, field=path)
        answers[f"described {name}"] = call_tool(client, "describe_collections", source=name)
    return answers


def naming(client: TestClient, facet: str, value: str) -> dict[str, Any]:
    """What can be asked with a value, in capitals, misspelt and in part."""
    type = HAVING.get(facet, "jobs")
    answers: dict[str, Any] = {}
    for place, said in enumerate((value.upper(), misspelt(value), value.split()[0][:4])):
        wheres = {op: {"field": facet, "op": op, "value": said} for op in OPERATORS}
        for op, where in wheres.items():
            answers[f"{op} {said}"] = query(client, source=type, where=where, aggregate="count")
        # each of these with each operator, by turns
        inner, listed, searched = (OPERATORS[(place + turn) % len(OPERATORS)] for turn in range(3))
        nested = {"field": "id", "value": {"source": type, "select": ["id"], "where": wheres[inner]}}
        answers[f"nested {inner} {said}"] = query(client, source=type, where={"not": nested}, aggregate="count")
        answers[f"rows {listed} {said}"] = query(client, source=type, where=wheres[listed])
        answers[f"search {searched} {said}"] = call_tool(
            client, "search", text="stairs crane", source=type, where=wheres[searched]
        )
        answers[f"values {said}"] = call_tool(client, "values", source=type, field=facet, like=said)
        answers[f"text {said}"] = query(client, source=type, text=said)
    return answers


@pytest.fixture(scope="module")
def named(client: TestClient) -> dict[tuple[str, str], dict[str, Any]]:
    """What is answered where others' values are named, before others write."""
    return naming_all(client)


def naming_all(client: TestClient) -> dict[tuple[str, str], dict[str, Any]]:
    return {(facet, value): naming(client, facet, value) for facet, values in NAMED.items() for value in values}


def test_no_answer_names_a_hidden_value(named: dict[tuple[str, str], dict[str, Any]]) -> None:
    for (facet, value), answers in named.items():
        for asked, answer in answers.items():
            if value in asked:
                continue  # it may be repeated as it was written
            assert not [each for each in OF_OTHERS[facet] if each in json.dumps(answer)], (asked, answer)


def test_a_model_is_told_no_hidden_value(url: str, model: FakeOpenAI) -> None:
    environment = model_environment(model.url)
    with client_of(f"postgresql://{SERVER}:{SERVER}@{url.partition('@')[2]}", **environment) as client:
        for facet, values in NAMED.items():
            type = HAVING.get(facet, "jobs")
            calls: list[tuple[str, dict[str, Any]]] = [
                ("query", {"source": type, "group": facet, "aggregate": "count"}),
                ("describe_collections", {"source": type}),
            ]
            for value in values:
                said = misspelt(value)
                where = {"field": facet, "value": said}
                calls += [
                    ("query", {"source": type, "where": where, "aggregate": "count"}),
                    ("search", {"text": said, "source": type, "where": where}),
                    ("search", {"text": value.upper()}),
                    ("values", {"source": type, "field": facet, "like": said}),
                ]
                model.respond = playing(research=[Reply.tool_calls(calls)], answer=Reply.text("It is not known."))
                calls = []
                ask(client, f"How many {type} have the {facet} {value.upper()}?")
    told = "\n".join(map(prompt_text, model.chat_requests))
    assert "Trondheim" in told
    assert not [value for value in HIDDEN if value in told]


def test_what_others_write_changes_no_answer(
    client: TestClient, named: dict[tuple[str, str], dict[str, Any]], url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    before = everything(client)
    assert "Trondheim" in str(before)
    for hidden in HIDDEN:
        assert hidden not in json.dumps(before)
    owner(
        url,
        "update yard.clients set client_name = 'Anon ' || id where firm is distinct from 'ann'",
        "update yard.tags set tag = 'anon' || id where firm is distinct from 'ann'",
        "update yard.jobs set town = 'Anontown', crew = '{anoncrew}', client_id = 1, note = 'Anon'"
        " where firm is distinct from 'ann'",
        "insert into yard.jobs select i, 'bo', 'Anonville', '{anonymi}', 1, 'Stairs' from generate_series(100, 140) i",
        "insert into yard.job_tags select i, 1 from generate_series(100, 140) i",
        "update yard.letters set sender = 'Anon', body = 'Anon' where firm is distinct from 'ann'",
        "insert into yard.letters select i, 'bo', 'Anon ' || i % 20, 'Please' from generate_series(100, 140) i",
        "update yard.visits set dock = 'Anon', remark = 'Anon' where firm is distinct from 'ann'",
        "update yard.bills set payee = 'Anon', about = 'Anon'",
    )
    fill(url, DECLARED, tmp_path_factory.mktemp("again"))
    after = everything(client)
    differing = [key for key in before if before[key] != after[key]]
    assert not differing, [(key, before[key], after[key]) for key in differing[:3]]
    again = naming_all(client)
    changed = [(value, what) for value in named for what in named[value] if named[value][what] != again[value][what]]
    assert not changed, [(what, named[value][what], again[value][what]) for value, what in changed[:3]]


def test_own_values_are_answered(client: TestClient) -> None:
    for facet, values in OF_ANN.items():
        for value in values:
            type = HAVING.get(facet, "jobs")
            counted = query(client, source=type, where={"field": facet, "value": value.upper()}, aggregate="count")
            assert counted["rows"] == [[1]], counted
