"""`quarry runs replay`, `quarry export user` and `quarry forget` as their users meet them; the difference of two runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry_tools.replay import Ended, Moved, compare
from tests.conftest import client_of, clone_database
from tests.local.test_cli import quarry
from tests.records.asking import QUESTION, ask, the

ANN = {"Authorization": "Bearer ann"}
SAME = {"gone": [], "new": [], "moved": [], "ended_otherwise": False, "answer": []}
WRITTEN = "00000000-0000-0000-0000-000000000000"


def ended(*ids: str, reason: str = "answered") -> Ended:
    return Ended("completed", reason, [], [("motion", id) for id in ids])


def test_what_went_came_and_changed_places_is_told() -> None:
    difference = compare(ended("a", "b", "c", "d"), ended("x", "a", "d", "c", reason="nothing_found"))
    assert difference.gone == [("motion", "b")]
    assert difference.new == [("motion", "x")]
    # "a" stands lower for what came before it alone
    assert difference.moved == [Moved(("motion", "d"), 4, 3), Moved(("motion", "c"), 3, 4)]
    assert difference.ended_otherwise


@pytest.fixture(scope="module")
def url(server_url: str, sample_template: str) -> Iterator[str]:
    with clone_database(server_url, sample_template) as url:
        yield url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[TestClient]:
    with client_of(url) as client:
        yield client


def replayed(url: str, run: str) -> dict[str, Any]:
    done = quarry("runs", "replay", run, "--json", DATABASE_URL=url)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def last_run(url: str) -> str:
    with psycopg.connect(url) as connection:
        [id] = connection.execute("select id::text from search_runs order by started_at desc limit 1").fetchone() or ()
    return str(id)


def counts(url: str) -> tuple[Any, ...] | None:
    with psycopg.connect(url) as connection:
        return connection.execute(
            """select (select count(*) from search_runs), (select count(*) from answer_cache where expires_at > now()),
                 (select balance from credit_accounts where user_id = 'demo')"""
        ).fetchone()


REQUESTS: dict[str, dict[str, Any]] = {
    "GET /records/search": {
        "q": "elm",
        "type": ["motion"],
        "from": "2024-01-01",
        "ranking": "seed",
        "limit": 3,
        "offset": 1,
    },
    "POST /companies/chat": {
        "messages": [{"role": "user", "content": "Health startups"}, {"role": "user", "content": "which in Africa?"}],
        "constraints": {"topic": "clinics", "conditions": [{"field": "country", "values": ["Kenya"]}]},
    },
    "POST /people/search": {"query": "Go", "preferred_locations": ["Pune"], "constraints": {"must": {"city": "pune"}}},
}


@pytest.mark.parametrize("route", REQUESTS)
def test_the_very_same_request_is_asked_again_and_nothing_charged_or_recorded(
    client: TestClient, url: str, route: str
) -> None:
    method, path = route.split()
    asked = REQUESTS[route]
    sent: dict[str, Any] = {"params": asked} if method == "GET" else {"json": asked}
    assert client.request(method, path, **sent).status_code == 200
    client.post(f"/runs/{WRITTEN}/feedback", json={"helpful": True})
    before = counts(url)
    told = replayed(url, last_run(url))
    assert {name: told["request"][name] for name in asked} == asked
    assert told["before"]["results"], "nothing was found that could differ"
    assert told["difference"] == SAME
    assert counts(url) == before


def test_what_an_answer_says_otherwise_is_shown_while_it_is_kept(client: TestClient, url: str) -> None:
    ask(client)
    client.post(f"/runs/{WRITTEN}/feedback", json={"helpful": True})
    run = last_run(url)
    with psycopg.connect(url) as connection:
        connection.execute(
            """update answer_cache a set answer = 'It is a fir.' from search_runs r where r.id = %s and a.id = r.answer_id""",
            [run],
        )
    told = replayed(url, run)
    assert told["difference"]["answer"][0] == "- It is a fir."
    assert "".join(line[2:] for line in told["difference"]["answer"][1:]) in told["after"]["answer"].replace("\n", "")
    with psycopg.connect(url) as connection:
        connection.execute("update answer_cache set expires_at = now()")
        connection.execute("update search_runs set request = null where id = %s", [run])
    shown = quarry("runs", "replay", run, DATABASE_URL=url)
    assert "by its question alone" in shown.stdout
    assert "fir" not in shown.stdout
    assert "not kept. Today's answer:" in shown.stdout
    assert "elm" in shown.stdout.partition("Today's answer:")[2]


def test_a_user_gets_all_that_is_kept_about_them_and_nobody_elses(client: TestClient, url: str) -> None:
    client.post("/records/ask", json={"question": QUESTION}, headers=ANN)
    turn = {"question": "Why?", "answer": {"text": "Because."}}
    client.post("/me/conversations", json={"domain": "records", "turns": [turn]}, headers=ANN)
    client.post(
        "/me/searches",
        json={"domain": "records", "query": "elm", "results": [{"type": "motion", "id": "m"}]},
        headers=ANN,
    )
    assert quarry("credits", "grant", "ann", "5", DATABASE_URL=url).returncode == 0
    client.post("/people/search", json={"query": "Python"}, headers=ANN | {"Idempotency-Key": "k"})
    the(ask(client), "done")
    run = client.post(f"/runs/{WRITTEN}/feedback", json={"helpful": True}, headers=ANN)
    assert run.status_code == 404
    done = quarry("export", "user", "ann", DATABASE_URL=url)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told.pop("user") == "ann"
    assert {name for name, rows in told.items() if rows} == {*told} - {"contact_unlocks"}
    assert [each["query"] for each in told["runs"]] == [QUESTION, "Python"]
    assert [each["turns"] for each in told["conversations"]] == [[turn]]
    assert [each["shown"] for each in told["saved_searches"]] == [[{"type": "motion", "id": "m"}]]
    nobody = quarry("export", "user", "nobody", DATABASE_URL=url)
    assert (nobody.returncode, nobody.stdout) == (1, "")
    assert "Nothing is stored about a user 'nobody'" in nobody.stderr


def test_forgetting_on_the_command_line_says_what_went(url: str) -> None:
    with psycopg.connect(url) as connection:
        ids = [id for (id,) in connection.execute("select id from campaigns order by id limit 2").fetchall()]
    done = quarry("forget", "campaign", ids[0], "--json", DATABASE_URL=url)
    assert json.loads(done.stdout)["rows"]["campaigns"] == 1
    shown = quarry("forget", "campaign", ids[1], DATABASE_URL=url)
    assert (shown.returncode, "1 of campaigns" in shown.stdout, ids[1] in shown.stdout) == (0, True, False)
    again = quarry("forget", "campaign", ids[1], DATABASE_URL=url)
    assert (again.returncode, again.stderr.count("\n")) == (1, 1)
    unknown = quarry("forget", "persn", "x", DATABASE_URL=url)
    assert (unknown.returncode, "person" in unknown.stderr, unknown.stderr.count("\n")) == (1, True, 1)
