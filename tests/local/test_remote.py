"""`quarry --server URL`: a server is asked, and what it says looks as if it were here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from tests.local.test_cli import QUESTION, one_line, quarry
from tests.running import running_server


@pytest.fixture(scope="module")
def server(sample_url: str) -> Iterator[str]:
    with running_server(sample_url, prefix="/prod", RATE_LIMIT_PER_MINUTE="0") as url:
        yield f"{url}/prod/"


def test_a_server_answers_as_a_database_does(server: str, sample_url: str) -> None:
    for domain, question in (
        ("ontology", "How many tasks are there?"),
        ("campaigns", "How many campaigns ran by email?"),
    ):
        here = quarry("ask", domain, question, DATABASE_URL=sample_url)
        assert re.search(r"\d", here.stdout)
        there = quarry("--server", server, "ask", domain, question)
        assert (there.returncode, there.stderr, there.stdout) == (0, "", here.stdout)
    told = quarry("--server", server, "ask", "records", QUESTION, "--json")
    events = [json.loads(line) for line in told.stdout.splitlines()]
    assert (told.returncode, told.stderr, events[-1]["type"]) == (0, "", "done")
    shown = quarry("--server", server, "ask", "records", QUESTION)
    assert f"{server}search?id={events[-1]['answer_id']}\n" in shown.stdout


def test_credits_are_those_of_the_token(server: str) -> None:
    told = quarry("--server", server, "credits", "show", "--json", QUARRY_TOKEN="fay")
    assert json.loads(told.stdout) == {"balance": 10}
    assert quarry("--server", server, "ask", "people", "people who know Kafka", QUARRY_TOKEN="fay").returncode == 0
    assert quarry("--server", server, "credits", "show", QUARRY_TOKEN="fay").stdout == "9 credits\n"


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("--server", "http://127.0.0.1:1", "runs"), 2, "this command needs the database itself"),
        (("--server", "http://127.0.0.1:1", "credits", "show", "ada"), 2, "omit the user"),
        (("--server", "nowhere", "credits", "show"), 1, "nowhere/credits cannot be reached"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(arguments: tuple[str, ...], status: int, told: str) -> None:
    done = quarry(*arguments)
    assert (done.returncode, done.stdout) == (status, "")
    assert told in done.stderr
    assert one_line(done.stderr)
