"""Every domain's data can be asked of, as its caller may see it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from tests.collections.test_tenants import call_tool
from tests.conftest import client_of, create_database
from tests.local.test_cli import one_line, quarry
from tests.query.desk import asked, column, refused
from tests.running import running_server

COUNTS = [
    (
        "key_statement",
        [{"field": "meeting.body", "value": "City Council"}],
        "select count(*) from key_statements s join meetings m on m.id = s.meeting_id where m.body = 'City Council'",
    ),
    (
        "companies",
        [{"field": "founded_year", "op": "<", "value": 2015}],
        "select count(*) from companies where founded_year < 2015",
    ),
    ("campaigns", [{"field": "channel", "value": "email"}], "select count(*) from campaigns where channel = 'Email'"),
    (
        "people",
        [{"exists": "work", "where": [{"field": "is_current", "value": True}]}],
        "select count(distinct person_id) from experience_cards where visible and is_current and intent_primary <> 'education'",
    ),
    (
        "task",
        [{"field": "status", "value": "done"}],
        "select count(*) from onto_tasks where created_by = 'demo' and props->>'status' = 'done'",
    ),
]


@pytest.fixture(scope="module")
def sample(server_url: str, sample_template: str) -> str:
    return create_database(server_url, "asking_sample", template=sample_template)


@pytest.fixture(scope="module")
def base(sample: str) -> Any:
    with running_server(sample, RATE_LIMIT_PER_MINUTE="0") as base:
        yield base


@pytest.mark.parametrize(("source", "where", "counted"), COUNTS)
def test_a_number_is_what_the_tables_hold(
    sample_client: TestClient, sample: str, source: str, where: list[dict[str, Any]], counted: str
) -> None:
    with psycopg.connect(sample, options="-c search_path=quarry") as connection:
        [expected] = connection.execute(counted.encode()).fetchone() or [0]
    assert asked(sample_client, {"source": source, "where": where, "aggregate": ["count"]})["rows"] == [[expected]]
    assert expected > 0


def test_every_source_gives_rows_and_every_field_a_value(sample_client: TestClient) -> None:
    described = sample_client.get("/collections").json()
    sources = [*described["collections"], *described["sources"]]
    assert {"motion", "meeting", "companies", "campaigns", "people", "task", "plan"} <= {
        each["name"] for each in sources
    }
    known = {"field": "id", "values": [each["id"] for each in sample_client.get("/people").json()["people"]]}
    for source in sources:
        names = [field["name"] for field in source["fields"]]
        where = [known] if source["name"] == "people" else []
        result = asked(sample_client, {"source": source["name"], "where": where, "select": names, "limit": 2})
        assert len(result["rows"]) == 2
        assert [each["name"] for each in result["columns"]] == names
        for field in source["fields"]:
            group = {
                "source": source["name"],
                "where": where,
                "group": [field["name"]],
                "aggregate": ["count"],
                "limit": 3,
            }
            assert asked(sample_client, group)["columns"][0]["kind"] == field["kind"]
        for related in source["related"]:
            asked(sample_client, {"source": source["name"], "where": [*where, {"exists": related["name"]}], "limit": 1})


def test_a_workspace_is_its_owners_alone(sample_client: TestClient) -> None:
    everything = {"source": "task", "aggregate": ["count"]}
    assert asked(sample_client, everything, "demo")["rows"] != [[0]]
    assert asked(sample_client, everything, "somebody-else")["rows"] == [[0]]
    described = sample_client.get("/collections", headers={"Authorization": "Bearer somebody-else"}).json()
    [task] = [each for each in described["sources"] if each["name"] == "task"]
    assert all("values" not in field for field in task["fields"])


def test_people_are_asked_of_without_contact_data_and_hidden_cards(sample_client: TestClient, sample: str) -> None:
    for name in ("email", "phone", "contact", "links"):
        assert "has no field" in refused(sample_client, {"source": "people", "select": [name]})["/select/0"]
    with psycopg.connect(sample, options="-c search_path=quarry") as connection:
        [seen] = connection.execute(
            "select count(*) from people p where exists (select from experience_cards c where c.person_id = p.id and c.visible)"
        ).fetchone() or [None]
        [cards] = connection.execute("select count(*) from experience_cards where visible").fetchone() or [None]
    assert asked(sample_client, {"source": "people", "aggregate": ["count"]})["rows"] == [[seen]]
    ids = {"field": "id", "values": [each["id"] for each in sample_client.get("/people?limit=100").json()["people"]]}
    shown = asked(sample_client, {"source": "people", "where": ids, "select": ["count(experience)"], "limit": 1000})
    assert len(shown["rows"]) == shown["total"] == min(seen or 0, 100)
    assert 0 < sum(column(shown)) <= cards


IN_MUMBAI = {"field": "home", "op": "contains", "value": "Mumbai"}
LISTED: list[dict[str, Any]] = [
    {},
    {"where": IN_MUMBAI, "select": ["id"]},
    {"where": IN_MUMBAI, "select": ["name", "salary", "experience.company_norm"]},
    {"where": {"any_of": [{"field": "id", "value": "x"}, IN_MUMBAI]}},
    {"where": {"not": {"field": "id", "value": "x"}}},
    {"where": {"field": "id", "op": "!=", "value": "x"}},
    {"where": {"field": "id", "value": {"source": "people", "select": ["id"], "where": IN_MUMBAI}}, "aggregate": "count"},
    {"text": "designer"},
    *({"group": [field], "aggregate": ["count"], "where": IN_MUMBAI} for field in ("id", "name", "headline", "bio")),
    {"group": ["home", "name"], "aggregate": ["count"]},
    {"group": ["home"], "aggregate": ["min(name)"]},
    {"aggregate": ["max(id)"], "where": IN_MUMBAI},
    {"group": ["home"], "aggregate": ["count"], "having": {"field": "min(name)", "op": "<", "value": "C"}},
    {"group": ["home"], "aggregate": ["count"], "order": ["max(headline)"]},
]  # fmt: skip


@pytest.mark.parametrize("query", LISTED)
def test_people_are_listed_by_the_paid_search_alone(sample_client: TestClient, query: dict[str, Any]) -> None:
    for message in refused(sample_client, {"source": "people", **query}).values():
        assert "POST /people/search" in message
        assert "find_people" in message


def test_people_are_counted_and_grouped_and_a_known_one_is_shown(sample_client: TestClient) -> None:
    grouped = asked(
        sample_client, {"source": "people", "group": ["home"], "aggregate": ["count", "count_distinct(name)"]}
    )
    assert grouped["total"] == asked(sample_client, {"source": "people", "aggregate": "count"})["rows"][0][0] > 1
    [known, *_] = sample_client.get("/people").json()["people"]
    where = {"field": "id", "value": known["id"]}
    shown = asked(sample_client, {"source": "people", "where": where, "select": ["name", "experience.city"]})
    assert column(shown) == [known["name"]]
    values = call_tool(sample_client, "values", source="people", field="name")
    described = call_tool(sample_client, "describe_collections", source="people")
    assert "POST /people/search" in values
    assert known["name"] not in values + described


def test_a_domain_without_data_is_no_source(client: TestClient) -> None:
    assert client.get("/collections").json()["sources"] == []
    assert "has no source 'companies'" in refused(client, {"source": "companies"})["/source"]


def test_a_collection_keeps_its_name_where_a_domain_has_it(
    server_url: str, sample_template: str, tmp_path: Path
) -> None:
    from tests.collections.support import owner
    from tests.collections.test_search import fill

    url = create_database(server_url, "asking_names", template=sample_template)
    owner(url, "create table companies (id int primary key, name text)", "insert into companies values (1, 'Mine')")
    fill(url, '[collections.companies]\nsource = "companies"\ntext = ["name"]\nembed = []\n', tmp_path)
    with client_of(url) as client:
        assert asked(client, {"source": "companies", "select": ["name"]})["rows"] == [["Mine"]]
        assert asked(client, {"source": "companies_companies", "aggregate": ["count"]})["rows"][0][0] > 1


# ---- other doors ----

CARRIED = {"source": "motion", "where": [{"field": "result", "value": "carried"}], "aggregate": ["count"]}


def test_the_command_prints_a_table_or_json_here_and_of_a_server(base: str, sample: str, tmp_path: Path) -> None:
    file = tmp_path / "query.json"
    file.write_text(json.dumps(CARRIED | {"group": [{"field": "date", "period": "year"}]}))
    here = quarry("query", file, DATABASE_URL=sample)
    assert (here.returncode, here.stderr) == (0, "")
    first, _, headings, *rows = here.stdout.splitlines()
    assert first.startswith("178 motions (result: Carried) by year (date): ")
    assert headings.split("  ")[0] == "year (date)"
    assert [row.split()[0] for row in rows] == ["2023", "2024", "2025", "2026"]
    told = quarry("--server", base, "query", "-", "--json", input=json.dumps(CARRIED))
    assert json.loads(told.stdout)["rows"] == [[178]]


@pytest.mark.parametrize(
    ("given", "status", "told"),
    [
        ('{"source": "motion", "where": [{"field": "result", "op": "is"}]}', 2, "where.0.op"),
        ('{"source": "motions"}', 1, "the nearest: motion"),
    ],
)
def test_a_query_that_cannot_be_is_told_in_a_line(sample: str, given: str, status: int, told: str) -> None:
    done = quarry("query", "-", input=given, DATABASE_URL=sample)
    assert (done.returncode, done.stdout) == (status, "")
    assert told in done.stderr
    assert one_line(done.stderr)
