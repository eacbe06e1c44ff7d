"""How many records a search finds: exactly, whatever the list shows of them, and how that is told where there are very many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.rows import scalar_row
from starlette.testclient import TestClient

from quarry.records import search
from tests.conftest import client_of

ELMS, OAKS, BOTH = 300, 150, 50
"""Motions of each kind of tree; they are more than the list ever holds."""


@pytest.fixture(scope="module")
def many_url(shared_url: str) -> str:
    with psycopg.connect(shared_url, autocommit=True) as connection:
        for tree, number in (("elm", ELMS - BOTH), ("oak", OAKS - BOTH), ("elm and oak", BOTH)):
            connection.execute(
                "insert into motions (id, text_content, mover, result, date)"
                " select %s || n, 'To keep the ' || %s, 'Member ' || n,"
                " case when n %% 2 = 0 then 'Carried' else 'Failed' end, '2024-01-01'::date + n"
                " from generate_series(1, %s::int) n",
                [tree, tree, number],
            )
        connection.execute("analyze motions")
        connection.execute("select count_lexemes('motions')")
    return shared_url


@pytest.fixture(scope="module")
def many(many_url: str) -> Iterator[TestClient]:
    with client_of(many_url) as client:
        yield client


@pytest.fixture(scope="module")
def connection(many_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(many_url, autocommit=True, row_factory=scalar_row) as connection:
        yield connection


def counted(client: TestClient, q: str, **parameters: Any) -> tuple[int, bool]:
    response = client.get("/records/search", params={"q": q} | parameters)
    assert response.status_code == 200
    body = response.json()
    assert body.get("capped") == (["motion"] if body["more"] else None)
    return body["counts"]["motion"], body["more"]


@pytest.mark.parametrize(
    ("query", "parameters", "number"),
    [
        ("elm", {}, ELMS),
        ("elm oak", {}, ELMS + OAKS - BOTH),
        ("elm -oak", {}, ELMS - BOTH),
        ('"elm and oak"', {"must": True}, BOTH),
        ("elm", {"limit": 1, "offset": 400}, ELMS),
        ("elm", {"from": "2024-01-02", "to": "2024-01-11"}, 20),
        ("elm", {"result": "Carried"}, ELMS // 2),
        ("motions that failed", {}, (ELMS + OAKS - BOTH) // 2),
    ],
)
def test_all_records_that_a_search_finds_are_counted(
    many: TestClient, query: str, parameters: dict[str, Any], number: int
) -> None:
    assert counted(many, query, **parameters) == (number, False)


def test_of_very_many_it_is_told_that_there_are_more(many: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "COUNTED_MAX", ELMS)
    assert counted(many, "elm") == (ELMS, False)
    assert counted(many, "elm oak") == (ELMS, True)
    monkeypatch.setattr(search, "COUNTED_MAX", 10)
    assert counted(many, "elm") == counted(many, "motions that failed") == (10, True)


def test_where_very_many_hold_the_words_of_a_phrase_it_is_told_of_how_many_that_were_looked_at(
    many: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit, told in [(BOTH, (0, False)), (BOTH - 1, (0, True))]:
        monkeypatch.setattr(search, "COUNTED_MAX", limit)
        assert counted(many, '"oak and elm"', must=True) == told
    assert counted(many, '"elm and oak"', must=True) == (BOTH - 1, True)


COUNT = "select array[c.rows, c.is_capped::int] from count_candidates('motions', weigh_query('{motions}', %s), %s, %s, %s) c"
EXACT = "select count(*) from motions t where t.id = any(%s) or t.text_search @@ %s::tsquery and coalesce({}, true)"


@settings(max_examples=40)
@given(
    words=st.lists(st.sampled_from(["elm", "oak", "keep", "ash"]), min_size=1, max_size=3, unique=True),
    limit=st.sampled_from([1, 40, 200, 10_000]),
    found=st.lists(st.integers(1, 60), max_size=5, unique=True),
    is_filtered=st.booleans(),
)
def test_the_number_is_that_of_all_rows_looked_at_one_by_one(
    connection: psycopg.Connection[Any], words: Sequence[str], limit: int, found: Sequence[int], is_filtered: bool
) -> None:
    condition = "t.date < '2024-03-01'" if is_filtered else None
    # what is found by its meaning meets the conditions too
    meeting = f"select t.id from motions t where t.id = any(%s) and coalesce({condition or 'null::boolean'}, true)"
    ids = connection.execute(meeting.encode(), [[f"oak{number}" for number in found]]).fetchall()
    told = connection.execute(COUNT, [" ".join(words), condition, limit, ids]).fetchone()
    exact = EXACT.format(condition or "null::boolean")
    number = connection.execute(exact.encode(), [ids, " | ".join(words)]).fetchone()
    assert number is not None
    assert told == [min(number, limit), number > limit]
