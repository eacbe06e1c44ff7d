"""A process killed at any point of a search leaves no charge without a stored search and no stored search without a charge."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from quarry.core import idempotency
from quarry.core.services import Services
from tests.people.doomed import LEASE_SECONDS, search, services_at
from tests.people.pieces import ledger, rows, somebody, value

ROOT = Path(__file__).resolve().parents[2]

SEARCHES = 6


class Doomed:
    """The process that forks those that are killed."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.people.doomed"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def order(self, **order: Any) -> list[Any]:
        """What came back for one order."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"url": self._url} | order) + "\n")
        self._process.stdin.flush()
        answers: list[Any] = []
        while not answers or not isinstance(answers[-1], dict):
            answers.append(json.loads(self._process.stdout.readline()))
        return answers

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def doomed(world_url: str) -> Iterator[Doomed]:
    doomed = Doomed(world_url)
    yield doomed
    doomed.close()


@pytest.fixture
async def services(world_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Services]:
    """The services of a process that lives, for which the claims of the dead lapse soon."""
    monkeypatch.setattr(idempotency, "LEASE_SECONDS", LEASE_SECONDS)
    services = services_at(world_url)
    yield services
    await services.close()


def wait_for_the_dead(url: str) -> None:
    """Until Postgres has noticed that their connections are gone: a commit that was sent is through then."""
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(1000):
            left = connection.execute(
                """select count(*) from pg_stat_activity
                   where datname = current_database() and application_name = 'quarry'"""
            ).fetchone()
            if left == (0,):
                return
    raise AssertionError("a killed process' connection lives on")


def assert_charges_and_searches_match(url: str, user: str) -> int:
    """How many searches were stored and charged."""
    ledger(url, user)
    assert rows(
        url,
        """select s.id, l.reference
           from (select * from people_searches where user_id = %(user)s) s
           full join (select * from credit_ledger where user_id = %(user)s and reason = 'search') l on l.reference = s.id::text
           where s.id is null or l.reference is null""".replace("%(user)s", f"'{user}'"),
    ) == []  # fmt: skip
    answered = value(url, "select count(*) from idempotency_keys where caller = %s and response is not null", user)
    stored = value(url, "select count(*) from people_searches where user_id = %s", user)
    assert answered == stored
    return int(stored)


def statements_of_a_search(doomed: Doomed) -> int:
    count, end = doomed.order(user=somebody(), key="k", point=None)
    assert end == {"killed": False, "failed": False}
    return int(count)


async def test_a_search_killed_at_any_point_is_whole_or_has_never_been(
    doomed: Doomed, world_url: str, services: Services
) -> None:
    statements = statements_of_a_search(doomed)
    assert statements >= 9
    for point in [*range(statements), "commit", "after commit"]:
        user = somebody()
        [end] = doomed.order(user=user, key="k", point=point)
        assert end == {"killed": True, "failed": True}, point
        wait_for_the_dead(world_url)
        assert assert_charges_and_searches_match(world_url, user) == (point == "after commit"), point

        # whoever calls again gets an answer, and pays once in all
        answers = [await search(services, user, "k") for _ in range(2)]
        assert answers[0] == answers[1]
        assert assert_charges_and_searches_match(world_url, user) == 1, point
        assert ledger(world_url, user) == [10, -1], point
        await services.run_log.drain()
        await services.database.close()


@pytest.mark.parametrize("answers", range(SEARCHES))
async def test_many_searches_killed_at_a_random_moment_are_each_whole_or_have_never_been(
    doomed: Doomed, world_url: str, services: Services, answers: int
) -> None:
    user, seconds = somebody(), random.Random(answers).uniform(0, 0.03)
    [end] = doomed.order(user=user, key="k", searches=SEARCHES, answers=answers, seconds=seconds)
    assert end == {"killed": True, "failed": True}
    wait_for_the_dead(world_url)
    assert answers <= assert_charges_and_searches_match(world_url, user) <= SEARCHES

    for number in range(SEARCHES):
        await search(services, user, f"k-{number}")
    assert assert_charges_and_searches_match(world_url, user) == SEARCHES
    assert sum(ledger(world_url, user)) == 10 - SEARCHES
