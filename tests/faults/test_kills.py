"""A process killed at any point leaves no charge without its result, nothing half-written, and nothing in the way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from quarry.runs import idempotency
from tests.faults.asking import QUESTIONS, Outcome, Question, ask
from tests.faults.commands import Nursery
from tests.faults.nursery import LEASE_SECONDS
from tests.faults.soundness import assert_sound
from tests.people.factories import ledger, rows, somebody
from tests.running import running_server
from tests.waiting import wait_until

STATEMENTS_MAX = 40
CHARGE = "update credit_accounts"
CAMPAIGNS = 8
LOAD_POINTS = {"commit": 0, "after commit": CAMPAIGNS, 'update "campaigns" t set embedded_hash': CAMPAIGNS}
"""Where a load is killed, and how many of its rows are there then."""


@pytest.fixture(scope="module")
def doomed_url(url: str) -> Iterator[str]:
    """The same database, for a role that is only the killed ones'."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create role doomed login superuser password 'doomed'")
        yield "postgresql://doomed:doomed@" + url.partition("@")[2]
        connection.execute("drop role doomed")


@pytest.fixture(scope="module")
def living(url: str) -> Iterator[str]:
    """The address of a server that lives, for which the claims of the dead lapse soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(idempotency, "LEASE_SECONDS", LEASE_SECONDS)
        with running_server(url, RATE_LIMIT_PER_MINUTE="0") as address:
            yield address


def wait_for_the_dead(url: str) -> None:
    """Until Postgres has noticed that their connections are gone: a commit that was sent is through then. And until nothing is
    claimed any more for being embedded.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        wait_until(lambda: not connection.execute("select from pg_stat_activity where usename = 'doomed'").fetchall())
        wait_until(
            lambda: not connection.execute("select from embedding_claims where claimed_until > now()").fetchall()
        )


def search(address: str, user: str, key: str) -> Outcome:
    return ask(address, QUESTIONS["people"], user=user, key=key)


def found_by(address: str, user: str) -> tuple[str, list[str]]:
    """The id of a search of this user's, and who was found that is open."""
    answer = json.loads(search(address, user, "before").text)
    people = [person["id"] for person in answer["people"] if person["open_to_work"] or person["open_to_contact"]]
    return answer["search_id"], people


def unlocking(person: str, search_id: str) -> Question:
    return Question(
        "/people/{id}/unlock-contact", f"/people/{person}/unlock-contact", {"search_id": search_id}
    )  # fmt: skip


def test_an_unlock_killed_at_any_statement_happens_completely_or_not_at_all(
    nursery: Nursery, url: str, doomed_url: str, living: str
) -> None:
    killed = 0
    for point in ("commit", "after commit", *range(STATEMENTS_MAX)):
        user = somebody()
        search_id, [person, *_] = found_by(living, user)
        doom = {"point": point, "first": "people_search", "commits": CHARGE}
        with nursery.serve(doom=doom, environment={"DATABASE_URL": doomed_url}) as served:
            outcome = ask(served.url, unlocking(person, search_id), user=user)
        if outcome.status == 200:
            break
        assert outcome.status is None, outcome
        wait_for_the_dead(url)
        assert_sound(url)
        assert ledger(url, user) == [10, -1] + [-1] * (point == "after commit"), point
        assert ask(living, unlocking(person, search_id), user=user).status == 200
        assert ledger(url, user) == [10, -1, -1], point
        killed += 1
    assert 4 <= killed < STATEMENTS_MAX
    assert_sound(url)


@pytest.mark.parametrize("point", LOAD_POINTS)
def test_a_load_killed_at_any_statement_happens_completely_or_not_at_all_and_can_be_repeated(
    nursery: Nursery, url: str, doomed_url: str, tmp_path: Path, point: str
) -> None:
    file, name = tmp_path / "campaigns.jsonl", somebody()
    row = {"company": "Lumen Grid", "brand": name, "channel": "Email", "campaign_text": "Light for the evenings."}
    file.write_text("".join(json.dumps(row | {"id": f"{name}-{number}"}) + "\n" for number in range(CAMPAIGNS)))
    doom = {"point": point, "first": "temporary table pg_temp.staged"}
    kept = "select count(*), count(embedded_hash) from campaigns where brand = %s"
    status, said = nursery.run("load", "campaigns", file, doom=doom, environment={"DATABASE_URL": doomed_url})
    assert status == -9, said
    wait_for_the_dead(url)
    assert rows(url, kept, name) == [(LOAD_POINTS[point], 0)]
    assert_sound(url)

    status, said = nursery.run("load", "campaigns", file, environment={"DATABASE_URL": doomed_url})
    assert (status, rows(url, kept, name)) == (0, [(CAMPAIGNS, CAMPAIGNS)]), said
    assert_sound(url)
