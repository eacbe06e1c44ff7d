"""No request of one tenant gets at another's rows, values, counts, answers, runs, credits or names, through any door."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from tests.records.asking import read_events, the
from tests.tenants.conftest import ASKED, SECRET, USER, headers, run, tenants_client

MCP = {"Accept": "application/json, text/event-stream"}
QUESTION = f"What was decided about the {ASKED} bridge?"
ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def query(source: str, **more: Any) -> dict[str, Any]:
    return {"source": source, **more}


def chat(model: str, text: str, *, stream: bool = False) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": text}], "stream": stream}


COUNTED = {"aggregate": [{"fn": "count"}]}

# What acme's own user gets holds the secret; what the same user gets in another tenant must not.
ATTEMPTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "search records": ("GET", "/records/search", {"params": {"q": ASKED}}),
    "ask records": ("GET", "/records/ask", {"params": {"q": QUESTION}}),
    "ask records as json": ("POST", "/records/ask", {"json": {"question": QUESTION}}),
    "ask records as events": (
        "POST", "/records/ask", {"json": {"question": QUESTION}, "headers": {"Accept": "application/x-ndjson"}},
    ),
    "titles suggested": ("GET", "/records/suggest", {"params": {"q": ASKED}}),
    "record by id": ("GET", "/records/motion/2023-11-14-council-m1", {}),
    "chat about companies": ("POST", "/companies/chat", {"json": {"messages": [{"role": "user", "content": f"{ASKED} Bank"}]}}),
    "company by id": ("GET", "/companies/c-harbor-banking", {}),
    "campaigns chat": ("POST", "/campaigns/chat", {"json": {"message": f"campaigns of {ASKED}"}}),
    "campaign by id": ("GET", "/campaigns/cmp-ardent-no4-1", {}),
    "people search": ("POST", "/people/search", {"json": {"query": f"backend engineer {ASKED}"}}),
    "people listed": ("GET", "/people", {"params": {"limit": 50}}),
    "workspace search": ("POST", "/ontology/search", {"json": {"query": f"{ASKED} oven"}}),
    "workspace asked": ("POST", "/ontology/ask", {"json": {"question": f"Which task is about the {ASKED} oven?"}}),
    "task by id": ("GET", "/ontology/task/riverside-bakery-task-01", {}),
    "query motions": ("POST", "/query", {"json": query("motion", select=["text_content", "plain_english_summary"])}),
    "query companies": ("POST", "/query", {"json": query("companies", select=["company_name"], limit=100)}),
    "mcp search": ("POST", "/mcp", {"json": tool("search", text=ASKED), "headers": MCP}),
    "mcp get": ("POST", "/mcp", {"json": tool("get", source="motion", id="2023-11-14-council-m1"), "headers": MCP}),
    "mcp query": (
        "POST", "/mcp", {"json": tool("query", source="companies", select=["company_name"], limit=100), "headers": MCP},
    ),
    "v1 records": ("POST", "/v1/chat/completions", {"json": chat("quarry-records", QUESTION)}),
    "v1 companies": ("POST", "/v1/chat/completions", {"json": chat("quarry-companies", f"{ASKED} Bank")}),
    "v1 streamed": ("POST", "/v1/chat/completions", {"json": chat("quarry-records", QUESTION, stream=True)}),
}  # fmt: skip
"""By what is attempted: method, address, and the rest of the request."""


def send(client: TestClient, tenant: str | None, method: str, path: str, more: dict[str, Any]) -> str:
    given = {**more, "headers": headers(tenant) | more.get("headers", {})}
    return client.request(method, path, **given).text


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=str)
def test_a_door_shows_rows_to_their_tenant_alone(tenants: TestClient, attempt: str) -> None:
    method, path, more = ATTEMPTS[attempt]
    # acme first: whatever the process keeps of its answer is kept when the other asks
    assert SECRET in send(tenants, "acme", method, path, more)
    others = send(tenants, "globex", method, path, more)
    assert SECRET not in others
    assert not re.search("acme|c-harbor|anagha|ardent-no4|riverside|Arceneaux", others.replace(path, "")), others[:2000]


@pytest.mark.parametrize(
    "tenant", [None, "", "nobody", "quarry", "public", "acme,globex", "acme; drop schema acme", '"acme"', "ACME"]
)
@pytest.mark.parametrize("attempt", ["search records", "mcp search", "v1 records", "people listed"])
def test_a_caller_of_no_tenant_is_refused(tenants: TestClient, tenant: str | None, attempt: str) -> None:
    method, path, more = ATTEMPTS[attempt]
    answer = tenants.request(method, path, **{**more, "headers": headers(tenant) | more.get("headers", {})})
    assert answer.status_code == 403, answer.text
    assert "no tenant" in answer.text
    assert "acme" not in answer.text


@pytest.mark.parametrize("name", ["tenant", "X-Tenant", "Tenant-Claim", "search_path"])
def test_nothing_else_of_a_request_names_the_tenant(tenants: TestClient, name: str) -> None:
    parameters = {"q": SECRET, "tenant": "acme", "schema": "acme", "search_path": "acme"}
    answer = tenants.get(
        "/records/search", params=parameters, headers=headers("globex", **({name: "acme"} if name != "tenant" else {}))
    )
    assert answer.status_code in (200, 422)
    assert not answer.json().get("results")


@pytest.mark.parametrize(
    "source", ["acme.companies", "acme.motions", "quarry.companies", "pg_catalog.pg_tables", "tenants"]
)
def test_a_query_names_no_table_of_another_schema(tenants: TestClient, source: str) -> None:
    answer = tenants.post("/query", json=query(source, **COUNTED), headers=headers("globex"))
    assert answer.status_code == 422
    assert SECRET not in answer.text
    assert "acme" not in answer.text.replace(source, "")


def test_counts_and_values_are_of_the_own_tenant(tenants: TestClient) -> None:
    counts = {
        tenant: tenants.post("/query", json=query("companies", **COUNTED), headers=headers(tenant))
        for tenant in ("acme", "globex")
    }
    assert counts["acme"].json()["rows"][0][0] > 10
    assert counts["globex"].status_code == 422  # it holds no company
    facets = {
        tenant: tenants.get("/records/facets", headers=headers(tenant)).json()["total"] for tenant in ("acme", "globex")
    }
    assert facets["acme"] > 10
    assert facets["globex"] == 0


def test_a_models_list_names_what_the_own_tenant_holds(tenants: TestClient) -> None:
    listed = {
        tenant: tenants.get("/v1/models", headers=headers(tenant)).json()["data"] for tenant in ("acme", "globex")
    }
    assert {"quarry-records", "quarry-companies"} <= {each["id"] for each in listed["acme"]}
    assert not {"quarry-records", "quarry-companies"} & {each["id"] for each in listed["globex"]}


@pytest.fixture
def answer_id(tenants: TestClient) -> str:
    """The id of an answer that acme's user was given."""
    answer = tenants.post(
        "/records/ask", json={"question": "Who moved to approve the minutes?"}, headers=headers("acme")
    )
    found: str = the(read_events(answer.text), "done")["answer_id"]
    return found


def test_a_kept_answer_is_neither_opened_nor_revoked_nor_shared_elsewhere(tenants: TestClient, answer_id: str) -> None:
    assert tenants.get(f"/answers/{answer_id}", headers=headers("acme")).status_code == 200
    for method, path in (
        ("GET", f"/answers/{answer_id}"),
        ("DELETE", f"/answers/{answer_id}"),
        ("POST", f"/me/answers/{answer_id}/share"),
    ):
        body: dict[str, str] | None = {} if method == "POST" else None
        assert tenants.request(method, path, headers=headers("globex"), json=body).status_code == 404, path
    assert not tenants.get(f"/me/answers/{answer_id}", headers=headers("globex")).json()["revocable"]
    # a link alone names no tenant
    assert tenants.get(f"/answers/{answer_id}").status_code == 403
    assert tenants.get(f"/answers/{answer_id}", headers=headers("acme")).status_code == 200


def test_a_conversation_and_a_saved_search_are_of_one_tenant(tenants: TestClient) -> None:
    saved = tenants.post(
        "/me/searches", json={"name": SECRET, "domain": "records", "query": "bridge"}, headers=headers("acme")
    )
    kept = tenants.post(
        "/me/conversations", json={"domain": "records", "turns": [{"question": SECRET}]}, headers=headers("acme")
    )
    assert (saved.status_code, kept.status_code) == (201, 201), (saved.text, kept.text)
    for path, id in (("/me/searches", saved.json()["id"]), ("/me/conversations", kept.json()["id"])):
        assert SECRET in tenants.get(path, headers=headers("acme")).text
        assert SECRET not in tenants.get(path, headers=headers("globex")).text
        assert tenants.delete(f"{path}/{id}", headers=headers("globex")).status_code == 404
        assert SECRET in tenants.get(path, headers=headers("acme")).text


def test_a_run_is_resumed_cancelled_and_judged_in_its_tenant_alone(tenants: TestClient) -> None:
    told = tenants.get("/records/ask", params={"q": QUESTION}, headers=headers("acme")).text
    place = re.search(rf"id: ({ID})/1\n", told)
    assert place is not None, told[:300]
    id, resumed = place[1], {"q": QUESTION, "after_seq": f"{place[1]}/1"}
    assert tenants.get("/records/ask", params=resumed, headers=headers("globex")).status_code == 404
    assert SECRET in tenants.get("/records/ask", params=resumed, headers=headers("acme")).text
    assert tenants.delete(f"/runs/{id}", headers=headers("globex")).status_code == 404
    judged = tenants.post(f"/runs/{id}/feedback", json={"helpful": True}, headers=headers("globex"))
    assert judged.status_code == 404
    assert tenants.delete(f"/runs/{id}", headers=headers("acme")).status_code == 202


def test_runs_are_logged_in_the_schema_of_their_tenant(tenants: TestClient, tenants_url: str) -> None:
    def logged(schema: str) -> int:
        [(count,)] = run(tenants_url, schema, "select count(*) from search_runs where query like '%marmalade%'")
        return int(count)

    tenants.get("/records/ask", params={"q": "What about the marmalade?"}, headers=headers("globex"))
    portal = tenants.portal
    assert portal is not None
    services = tenants.app._app.state.services  # type: ignore[attr-defined]
    portal.call(services.drain)
    assert (logged("globex"), logged("acme"), logged("quarry")) == (1, 0, 0)


def test_credits_are_of_one_tenant(tenants: TestClient, tenants_url: str) -> None:
    def balance(tenant: str) -> int:
        found: int = tenants.get("/credits", headers=headers(tenant)).json()["balance"]
        return found

    before = balance("globex")
    spent = tenants.post("/people/search", json={"query": "backend engineer in Bengaluru"}, headers=headers("acme"))
    assert spent.json()["people"], spent.text
    after = balance("acme")
    assert balance("globex") == before
    run(tenants_url, "acme", "update credit_accounts set balance = 0 where user_id = %(user)s", {"user": USER})
    assert balance("acme") == 0 < after
    assert balance("globex") == before
    run(tenants_url, "acme", "update credit_accounts set balance = 50 where user_id = %(user)s", {"user": USER})


def test_what_a_people_search_found_opens_in_its_tenant_alone(tenants: TestClient) -> None:
    key = {"Idempotency-Key": "the-same-key-in-both"}
    body = {"query": "backend engineer in Bengaluru"}
    theirs = tenants.post("/people/search", json=body, headers=headers("acme", **key)).json()
    person = theirs["people"][0]["id"]
    others = tenants.post("/people/search", json=body, headers=headers("globex", **key))
    assert not others.json()["people"], "kept under its key"
    search = {"search_id": theirs["search_id"]}
    assert tenants.get(f"/people/{person}", params=search, headers=headers("acme")).status_code == 200
    for path in (f"/people/{person}", f"/people/{person}/profile"):
        assert tenants.get(path, params=search, headers=headers("globex")).status_code in (404, 410)
    unlocked = tenants.post(f"/people/{person}/unlock-contact", json=search, headers=headers("globex"))
    assert unlocked.status_code in (404, 410, 422)


def test_rate_limits_count_each_tenant_for_itself(tenants_url: str) -> None:
    with tenants_client(tenants_url, RATE_LIMIT_PER_MINUTE="3") as client:
        statuses = [client.get("/credits", headers=headers("globex", sub="hasty")).status_code for _ in range(5)]
        assert 429 in statuses
        assert client.get("/credits", headers=headers("acme", sub="hasty")).status_code == 200


def test_no_error_names_another_schema(tenants: TestClient, tenants_url: str) -> None:
    run(tenants_url, "globex", "alter table search_runs rename to search_runs_gone")
    run(tenants_url, "globex", "alter table conversations rename to conversations_gone")
    try:
        failed = tenants.get("/me/conversations", headers=headers("globex"))
        assert failed.status_code == 500
        assert not re.search("acme|globex|quarry[.]|schema|conversations", failed.text)
        assert tenants.get("/me/conversations", headers=headers("acme")).status_code == 200
    finally:
        run(tenants_url, "globex", "alter table search_runs_gone rename to search_runs")
        run(tenants_url, "globex", "alter table conversations_gone rename to conversations")


def test_a_removed_tenant_is_not_served_and_one_of_its_name_has_nothing_of_it(
    tenants_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quarry.postgres.migrate import connect
    from quarry.postgres.tenants import add_tenant, remove_tenant
    from quarry.services import tenants as served

    monkeypatch.setattr(served, "KNOWN_SECONDS", 0.0)
    add_tenant(tenants_url, "brief", None, own_schema="quarry", embedding_dimensions=384)
    save = {"name": SECRET, "domain": "records", "query": "bridge"}
    with tenants_client(tenants_url) as client:
        assert client.post("/me/searches", json=save, headers=headers("brief")).status_code == 201
        with connect(tenants_url, "quarry") as connection:
            remove_tenant(connection, tenants_url, "brief")
        assert client.get("/me/searches", headers=headers("brief")).status_code == 403
        add_tenant(tenants_url, "brief", None, own_schema="quarry", embedding_dimensions=384)
        assert SECRET not in client.get("/me/searches", headers=headers("brief")).text
    with psycopg.connect(tenants_url) as connection:
        schemas = connection.execute("select nspname from pg_namespace where nspname like %s", ["%brief%"]).fetchall()
    assert len(schemas) == 2


def test_within_a_tenant_users_stay_apart(tenants: TestClient) -> None:
    other_user = headers("acme", sub="somebody-else")
    mine = tenants.post(
        "/me/searches", json={"name": "mine", "domain": "records", "query": "x"}, headers=headers("acme")
    )
    assert tenants.delete(f"/me/searches/{mine.json()['id']}", headers=other_user).status_code == 404
    task = tenants.get("/ontology/task/riverside-bakery-task-01", headers=other_user)
    assert task.status_code == 404
