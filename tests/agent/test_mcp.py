"""`POST /mcp` by the SDK's own client, over real HTTP: the tools, their results, whose they are, and what they refuse."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import INVALID_PARAMS, CallToolResult

from quarry.agent.domain_tools import RESULT_CHARACTERS_MAX, bounded, openai_format
from quarry.agent.server import SHORT_CHARACTERS_MAX, offer
from quarry.agent.tools import CELL_CHARACTERS_MAX
from quarry.web.problems import BODY_MAX_BYTES
from tests.conftest import create_database
from tests.running import running_server
from tests.waiting import PATIENCE_SECONDS

FIVE = {"describe_collections", "search", "query", "get", "values"}
TOOLS = FIVE | {"search_ontology", "find_companies"}
PAID_TOOLS = {"find_people"}


@pytest.fixture(scope="module")
def agents_url(server_url: str, sample_template: str) -> str:
    """A database with the sample data."""
    return create_database(server_url, "agents_sample", template=sample_template)


@pytest.fixture(scope="module")
def base(agents_url: str) -> Iterator[str]:
    """A running service over the sample data, without limits."""
    with running_server(agents_url, RATE_LIMIT_PER_MINUTE="0") as base:
        yield base


async def call(base: str, name: str, **arguments: Any) -> dict[str, Any]:
    """What a tool found for the local user."""
    async with Client(f"{base}/mcp") as client:
        return read(await client.call_tool(name, arguments))


def read(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    found: dict[str, Any] | None = result.structured_content
    assert found is not None
    assert len(json.dumps(found, ensure_ascii=False)) <= RESULT_CHARACTERS_MAX
    # the data travel once
    assert 0 < len(text_of(result)) <= SHORT_CHARACTERS_MAX
    return found


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert content.type == "text"
    return content.text


async def test_the_tools_are_listed_with_their_arguments_and_small(base: str) -> None:
    async with Client(f"{base}/mcp") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert client.instructions
    assert set(tools) == TOOLS
    for tool in tools.values():
        assert tool.description
        assert tool.input_schema["type"] == "object"
        assert all("description" in schema for schema in tool.input_schema["properties"].values())
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        assert tool.title
        assert tool.annotations is not None
        assert (tool.annotations.title, tool.annotations.read_only_hint) == (tool.title, True)
    offered = {tool.name: tool for tool in offer().tools}
    assert len(json.dumps([tool.listing for tool in offered.values() if not tool.is_former])) < 10_000
    assert len(json.dumps(openai_format([offered[name] for name in FIVE]))) < 7_000
    functions = [tool["function"] for tool in openai_format(offer().tools)]
    assert {function["name"] for function in functions} == TOOLS | PAID_TOOLS
    assert all(function["parameters"] == offered[function["name"]].parameters for function in functions)


async def test_a_client_that_shows_texts_alone_gets_the_result_as_text(base: str) -> None:
    async with Client(f"{base}/mcp?results=text") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        counted = await client.call_tool("query", {"source": "motion", "aggregate": "count"})
    assert tools["query"].output_schema is None
    assert counted.structured_content is None
    assert json.loads(text_of(counted))["total"] > 0


async def test_a_search_says_how_many_rows_meet_its_conditions_and_gives_them_behind_the_near_ones(base: str) -> None:
    where = [{"field": "mover", "value": "Leland Frost"}]
    asked = {"source": "motion", "where": where, "limit": 20}
    found = await call(base, "search", text="elm", select=["mover", "text_content"], **asked)
    counted = await call(base, "query", source="motion", where=where, aggregate="count")
    assert found["meeting"] == counted["total"] == len(found["results"]) == 7
    assert {each["fields"]["mover"] for each in found["results"]} == {"Leland Frost"}
    assert all(0 < len(each["fields"]["text_content"]) <= CELL_CHARACTERS_MAX for each in found["results"])
    rest = await call(base, "search", text="elm", offset=5, **asked)
    assert [each["id"] for each in rest["results"]] == [each["id"] for each in found["results"]][5:]


async def test_rows_are_found_like_another_and_by_several_wordings(base: str) -> None:
    [elm] = (await call(base, "search", text="old elm in Quill Square", source="motion", limit=1))["results"]
    like = (await call(base, "search", like={"source": "motion", "id": elm["id"]}, source="matter"))["results"]
    assert any("Elm" in each["title"] or "elm" in each["text"] for each in like)
    itself = (await call(base, "search", like={"source": "motion", "id": elm["id"]}, source="motion"))["results"]
    assert itself
    assert elm["id"] not in {each["id"] for each in itself}
    both = (await call(base, "search", text="the old elm", texts=["ferry timetable"], source="motion"))["results"]
    said = " ".join(each["title"] + each["text"] for each in both).lower()
    assert ("elm" in said, "ferry" in said) == (True, True)


async def test_several_rows_and_a_profile_are_read_whole(base: str, agents_url: str) -> None:
    motions = (await call(base, "search", text="elm", source="motion", limit=2))["results"]
    rows = (await call(base, "get", source="motion", id=[each["id"] for each in motions]))["rows"]
    assert len(rows) == 2
    with psycopg.connect(agents_url) as connection:
        [id] = connection.execute("select id from people order by id limit 1").fetchone() or [""]
    assert (await call(base, "get", source="people", id=id))["cards"]


async def test_sources_are_described_with_their_extent_and_the_words_of_a_query(base: str) -> None:
    described = await call(base, "describe_collections", source=["motion", "companies"])
    [motion, companies] = described["sources"]
    assert "210 rows, from 2023-" in motion
    assert "description" in companies
    assert "2026-Q3" in " ".join(described["query_words"])


@pytest.mark.parametrize(
    ("field", "like", "first"),
    [
        ("result", "Defeated", "Defeated"),
        ("result", "voted down", "Defeated"),
        ("mover", "Lelan Forst", "Leland Frost"),
    ],
)
async def test_values_are_found_by_name_meaning_and_spelling(base: str, field: str, like: str, first: str) -> None:
    values = (await call(base, "values", source="motion", field=field, like=like))["values"]
    assert values[0][0] == first


async def test_a_plain_query_can_be_compared_with(base: str) -> None:
    meetings = {"source": "meeting", "where": [{"field": "date", "value": "2024-02-13"}]}
    found = await call(
        base,
        "query",
        source="motion",
        where=[{"field": "meeting_id", "value": meetings}],
        select=["date", "text_content"],
    )
    assert {row[0] for row in found["rows"]} == {"2024-02-13"}


@pytest.mark.parametrize(
    ("source", "text"), [("motion", "the old elm"), ("companies", "robots that can be leased"), ("task", "launch plan")]
)
async def test_each_kind_of_source_is_described_searched_and_read(base: str, source: str, text: str) -> None:
    listed = await call(base, "describe_collections")
    assert len(json.dumps(listed)) < 8_000
    assert source in {line.split(" ")[0].rstrip(":") for line in listed["sources"]}
    results = (await call(base, "search", text=text, source=source))["results"]
    assert {each["source"] for each in results} == {source}
    assert await call(base, "get", source=source, id=results[0]["id"])


async def test_conditions_hold_in_a_search_and_values_are_listed_by_their_numbers(base: str) -> None:
    where = [{"field": "mover", "value": "leland frost"}, {"field": "date", "op": ">=", "value": "2024-01-01"}]
    found = (await call(base, "search", text="park", source="motion", where=where))["results"]
    assert found
    for each in found:
        whole = await call(base, "get", source="motion", id=each["id"])
        assert (whole["fields"]["mover"], whole["date"] >= "2024-01-01") == ("Leland Frost", True)
    movers = (await call(base, "values", source="motion", field="mover"))["values"]
    assert [count for _, count in movers] == sorted((count for _, count in movers), reverse=True)
    near = (await call(base, "values", source="motion", field="mover", like="Lelan Forst"))["values"]
    assert near[0][0] == "Leland Frost"


async def test_companies_come_with_reasons_and_a_person_without_contact(base: str, agents_url: str) -> None:
    where = [{"field": "country", "value": "germany"}]
    found = await call(base, "find_companies", need="insurance", where=where, limit=2)
    assert {each["hq_country"] for each in found["fits"]} == {"Germany"}
    assert all(each["reason"] and "in Germany" in each["meets"] for each in found["fits"])
    assert (found["assumed"], found["meeting"] > len(found["fits"])) == (["status: startup"], True)
    # its earlier name still works
    found = await call(base, "search_companies", question="robots that can be leased", limit=2)
    assert len(found["companies"]) == 2 <= found["total"]
    assert all(company["reason"] and company["description"] for company in found["companies"])
    with psycopg.connect(agents_url) as connection:
        query = "select id, email from people where email is not null order by id limit 1"
        [id, email] = connection.execute(query).fetchone() or ["", ""]
    profile = await call(base, "get_person", id=id)
    assert profile["cards"]
    assert email not in json.dumps(profile)


async def test_a_query_is_answered_exactly(base: str, agents_url: str) -> None:
    where = [{"field": "mover", "value": "leland frost"}, {"field": "date", "op": ">=", "value": "2024"}]
    asked = {"source": "motion", "where": where, "group": "result", "aggregate": "count"}
    found = await call(base, "query", **asked)
    with psycopg.connect(agents_url) as connection:
        query = "select count(*) from motions where mover = 'Leland Frost' and date >= '2024-01-01'"
        [moved] = connection.execute(query).fetchone() or [0]
    assert sum(row[1] for row in found["rows"]) == found["total"] == moved > 0
    assert found["sentence"].startswith(f"{moved} motions since 2024 (mover: Leland Frost) by result: ")
    async with Client(f"{base}/mcp") as client:
        wrong = await client.call_tool("query", asked | {"source": "motions"})
        assert wrong.is_error
        assert "motion" in text_of(wrong)
        mistyped = await client.call_tool("query", asked | {"where": [{"field": "mover", "op": "is", "value": "x"}]})
        assert text_of(mistyped).startswith("where.0.op: ")


async def test_a_workspace_is_searched_as_its_user(base: str) -> None:
    own = await call(base, "search_ontology", query="launch plan")
    assert own["results"]
    first = own["results"][0]
    whole = await call(base, "get", source=first["type"], id=first["id"])
    assert whole["props"]
    async with httpx2.AsyncClient(headers={"Authorization": "Bearer somebody-else"}, timeout=PATIENCE_SECONDS) as http:
        async with Client(streamable_http_client(f"{base}/mcp", http_client=http)) as other:
            assert read(await other.call_tool("search_ontology", {"query": "launch plan"}))["results"] == []
            foreign = await other.call_tool("get", {"source": first["type"], "id": first["id"]})
            assert foreign.is_error
            assert "You have no" in text_of(foreign)
            counted = read(await other.call_tool("query", {"source": first["type"], "aggregate": "count"}))
            assert counted["rows"] == [[0]]


async def test_people_are_searched_only_where_the_caller_allows_spending(base: str) -> None:
    before = balance(base)
    async with Client(f"{base}/mcp") as client:
        refused = await client.call_tool("find_people", {"need": "backend engineers who know Kafka"})
    assert refused.is_error
    assert "costs credits" in text_of(refused)
    assert balance(base) == before
    async with Client(f"{base}/mcp?spending=allowed") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        asked = {"need": "backend engineers who know Kafka"}
        unsaid = {"must": [{"field": "city", "value": "Pune", "words": "in Pune"}]}
        assert (await client.call_tool("find_people", asked | unsaid)).is_error
        said = {"must": [{"field": "role", "value": "backend engineer", "words": "backend engineers"}]}
        found = read(await client.call_tool("find_people", asked | said))
    assert set(tools) == TOOLS | PAID_TOOLS
    paid = tools["find_people"]
    assert paid.annotations is not None
    assert not paid.annotations.read_only_hint
    assert "COSTS" in (paid.description or "")
    assert balance(base) == before - 1
    assert found["people"]
    assert "contact" not in found["people"][0]


def balance(base: str) -> int:
    found: int = httpx2.get(f"{base}/credits", timeout=PATIENCE_SECONDS).json()["balance"]
    return found


async def test_what_was_found_has_an_address(base: str) -> None:
    [record] = (await call(base, "search", text="old elm in Quill Square", source="motion", limit=1))["results"]
    async with Client(f"{base}/mcp") as client:
        templates = {each.uri_template for each in (await client.list_resource_templates()).resource_templates}
        assert {"quarry://records/{type}/{id}", "quarry://ontology/{type}/{id}"} <= templates
        [content] = (await client.read_resource(f"quarry://records/motion/{record['id']}")).contents
        assert content.mime_type == "application/json"
        assert content.text.startswith("{")  # type: ignore[union-attr]
        [collections] = (await client.list_resources()).resources
        [described] = (await client.read_resource(collections.uri)).contents
        assert "motion" in {each["name"] for each in json.loads(described.text)["collections"]}  # type: ignore[union-attr]
        for uri in ("quarry://records/motion/none", "quarry://nowhere", "quarry://records/motion"):
            with pytest.raises(MCPError) as unknown:
                await client.read_resource(uri)
            assert (unknown.value.code, unknown.value.error.data) == (INVALID_PARAMS, {"uri": uri}), uri


def test_a_large_entity_is_told_in_part_and_says_so() -> None:
    told = bounded({"props": {"notes": "x" * 129_000, "list": [{"text": "y" * 900}] * 5_000}})
    assert 1_000 < len(json.dumps(told, ensure_ascii=False)) <= RESULT_CHARACTERS_MAX
    assert told["shortened"] is True


async def test_prompts_name_tools_that_there_are(base: str) -> None:
    async with Client(f"{base}/mcp") as client:
        prompts = (await client.list_prompts()).prompts
        assert prompts
        for prompt in prompts:
            arguments = {each.name: "the old elm" for each in prompt.arguments or ()}
            [message] = (await client.get_prompt(prompt.name, arguments)).messages
            assert message.content.type == "text"
            assert "the old elm" in message.content.text
            assert any(tool in message.content.text for tool in TOOLS)
        with pytest.raises(MCPError, match="answer_from_records"):
            await client.get_prompt("none", {})


def test_the_same_is_served_over_standard_input_and_answered_to_its_end(agents_url: str) -> None:
    counted = {"source": "motion", "aggregate": "count"}
    counts = [
        {"id": number, "method": "tools/call", "params": {"name": "query", "arguments": counted}} for number in (2, 3)
    ]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "file", "version": "1"}}
    asked: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        *counts,
        {"id": 4, "method": "tools/list"},
        {"method": "notifications/cancelled", "params": {"requestId": 3}},
    ]
    ended = subprocess.run(
        [Path(sys.executable).parent / "quarry", "mcp"],
        input="".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in asked),
        env={"DATABASE_URL": agents_url},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    answers = {each["id"]: each for each in map(json.loads, ended.stdout.splitlines())}
    assert answers[2]["result"]["structuredContent"]["total"] > 0
    assert {tool["name"] for tool in answers[4]["result"]["tools"]} == TOOLS


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("search", {}, "give a `text`"),
        ("search", {"text": "an engineer", "source": "people"}, "find_people"),
        ("search", {"text": "elm", "where": [{"field": "mover", "value": "x"}]}, "say which `source`"),
        ("search", {"text": "a\x00b"}, "NUL"),
        ("search", {"text": "elm", "source": "motoin"}, "motion"),
        ("search", {"text": "elm", "source": "motion", "where": [{"field": "movr", "value": "x"}]}, "mover"),
        ("query", {"source": "motion", "aggregate": "sum(mover)"}, "mover"),
        ("query", {"source": "campaigns", "where": [{"field": "channel", "value": "Emial"}]}, "Email"),
        ("get", {"source": "motion", "id": "none"}, "no motion"),
        ("search_ontology", {"query": "plan", "project_id": "nobody's"}, "project"),
        ("drop_table", {}, "There is no tool 'drop_table'"),
    ],
)
async def test_a_wrong_call_is_told_what_is_wrong(base: str, name: str, arguments: dict[str, Any], said: str) -> None:
    async with Client(f"{base}/mcp") as client:
        result = await client.call_tool(name, arguments)
    assert result.is_error
    assert said in text_of(result)


async def test_what_is_no_call_of_the_protocol_is_kept_out(base: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(base_url=base, timeout=PATIENCE_SECONDS) as http:
        for headers, status in (
            ({}, 200),
            ({"Host": "evil.example"}, 421),
            ({"Origin": "http://evil.example"}, 421),
            ({"Authorization": "Basic eDp5"}, 401),
        ):
            response = await http.post("/mcp", json=message, headers=accept | headers)
            assert response.status_code == status, headers
        assert (await http.get("/mcp")).status_code == 405
        assert (await http.post("/mcp", content=b"x", headers={"Content-Type": "text/plain"})).status_code == 415
        large = b" " * BODY_MAX_BYTES + b"{}"
        assert (await http.post("/mcp", content=large, headers={"Content-Type": "application/json"})).status_code == 413


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ([], "application/json"),
        (["*/*"], "application/json"),
        (["text/event-stream", "application/json"], "application/json"),
        (["text/event-stream"], "text/event-stream"),
    ],
)
async def test_any_client_that_takes_one_of_the_two_types_is_answered(
    base: str, accept: list[str], media_type: str
) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with httpx2.AsyncClient(base_url=base, timeout=PATIENCE_SECONDS) as http:
        del http.headers["accept"]
        for path in ("/mcp", "/mcp/"):
            response = await http.post(path, json=message, headers=[("Accept", each) for each in accept])
            given = response.headers["content-type"].partition(";")[0]
            assert (response.status_code, given) == (200, media_type)
            [text] = [line.removeprefix("data: ") for line in response.text.splitlines() if '"jsonrpc"' in line]
            assert json.loads(text)["result"] == {}


def test_calls_count_against_the_callers_limit(agents_url: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Accept": "application/json", "Authorization": "Bearer eager"}
    with (
        running_server(agents_url, RATE_LIMIT_PER_MINUTE="3") as limited,
        httpx2.Client(base_url=limited, headers=headers, timeout=PATIENCE_SECONDS) as http,
    ):
        # a new minute may begin in between
        responses = [http.post("/mcp", json=message) for _ in range(7)]
    assert responses[0].status_code == 200
    refused = next(response for response in responses if response.status_code == 429)
    assert refused.headers["retry-after"]
