"""`GET /records/search` and `GET /records/{type}/{id}`."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.records.sources import BUILT_IN
from tests.conftest import client_of
from tests.records.asking import ask, the


def found(client: TestClient, q: str, **parameters: Any) -> dict[str, Any]:
    response = client.get("/records/search", params={"q": q} | parameters)
    assert response.status_code == 200
    body: dict[str, Any] = response.json()
    return body


def keys(body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(result["type"], result["id"]) for result in body["results"]]


def test_the_list_has_the_promised_shape_with_the_ranks_among_all_that_was_found(client: TestClient) -> None:
    query = "why did the council keep the old elm?"
    body = found(client, query, limit=100)
    assert set(body) == {"query", "intent", "results", "counts", "more", "degraded"}
    assert (body["query"], body["degraded"], body["more"]) == (query, [], False)
    assert set(body["counts"]) == set(BUILT_IN)
    results = body["results"]
    optional = {"date", "meeting_id", "url", "also"}
    for result in results:
        assert {"type", "id", "title", "snippet", "score", "matched"} <= set(result)
        assert set(result) <= {"type", "id", "title", "snippet", "score", "matched"} | optional
    assert [result["score"] for result in results] == sorted((result["score"] for result in results), reverse=True)
    for half in ("text_rank", "semantic_rank"):
        ranks = [result["matched"][half] for result in results if half in result["matched"]]
        assert len(ranks) == len(set(ranks))
        assert min(ranks) == 1


@pytest.mark.parametrize("query", ["bridge weight limit trucks", "what did Ruiz say about the elm?"])
def test_the_seed_s_ranking_is_reciprocal_rank_fusion_of_the_ranks_told(client: TestClient, query: str) -> None:
    results = found(client, query, limit=100, ranking="seed")["results"]
    assert results
    for result in results:
        assert result["score"] == pytest.approx(sum(1 / (50 + rank) for rank in result["matched"].values()))


def test_every_type_is_found_by_words_and_by_meaning(client: TestClient) -> None:
    for type in BUILT_IN:
        results = found(client, "the old elm tree", type=type)["results"]
        assert {half for result in results for half in result["matched"]} == {"text_rank", "semantic_rank"}


def texts_of(client: TestClient, body: dict[str, Any]) -> list[str]:
    """All that each found record itself says, in lower case."""
    opened = [client.get(f"/records/{result['type']}/{result['id']}").json() for result in body["results"]]
    return [json.dumps([record["title"], record["fields"]]).lower() for record in opened]


@pytest.mark.parametrize(
    ("query", "excluded"),
    [
        ("Delphine Arceneaux library -budget", "budget"),  # whose condition on a person is searched for by itself
        ("motions in 2025 about street -lantern", "lantern"),  # whose conditions must hold
    ],
)
def test_an_excluded_word_is_in_nothing_found_beside_a_condition(client: TestClient, query: str, excluded: str) -> None:
    texts = texts_of(client, found(client, query, limit=20))
    assert texts
    assert not [text for text in texts if excluded in text]


def test_a_quoted_phrase_is_in_everything_found_where_it_must(client: TestClient) -> None:
    texts = texts_of(client, found(client, '"heritage elm" bananas', limit=100, must=True))
    assert texts
    assert all("heritage elm" in text for text in texts)


def test_pages_follow_one_another_without_gap_or_repeat(client: TestClient) -> None:
    whole = keys(found(client, "bridge", limit=60))
    pages = [key for offset in range(0, 60, 7) for key in keys(found(client, "bridge", limit=7, offset=offset))]
    assert pages[:60] == whole
    assert len(set(pages)) == len(pages)
    assert found(client, "bridge", offset=400)["results"] == []


def test_only_records_of_the_dates_asked_for_are_found_whatever_the_question_says(client: TestClient) -> None:
    for query in ("why was the old elm kept?", "motions in June 2023"):
        results = found(client, query, limit=100, **{"from": "2024-01-23", "to": "2024-02-13"})["results"]
        assert results
        assert all("2024-01-23" <= result["date"] <= "2024-02-13" for result in results)
    assert found(client, "elm", **{"from": "2031-01-01"})["results"] == []


@pytest.mark.parametrize(
    ("parameters", "pointer"),
    [
        ({"q": ""}, "/q"),
        ({"q": "nul \x00"}, "/q"),
        ({"q": "elm", "type": "meeting"}, "/type/0"),
        ({"q": "elm", "from": "yesterday"}, "/from"),
        ({"q": "elm", "from": "2024-02-02", "to": "2024-02-01"}, "/to"),
        ({"q": "elm", "offset": "401"}, "/offset"),
        ({"q": "elm", "sort": "date"}, "/sort"),
    ],
)
def test_bad_parameters_are_named(client: TestClient, parameters: dict[str, Any], pointer: str) -> None:
    response = client.get("/records/search", params=parameters)
    assert (response.status_code, response.headers["content-type"]) == (422, "application/problem+json")
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_a_query_or_an_id_that_is_not_utf8_is_refused(client: TestClient) -> None:
    for path, field in (
        ("/records/search?q=elm%FF", "q"),
        ("/records/motion/a%ED%A0%80", "id"),
        ("/answers/%FF", "id"),
    ):
        response = client.get(path)
        assert response.status_code == 422
        assert response.json()["errors"] == [{"pointer": f"/{field}", "message": f"{field}: must be UTF-8"}]
    # the character that stands for what could not be read may be meant
    assert client.get("/records/motion/%EF%BF%BD").status_code == 404


@pytest.fixture
def hostile_client(database_url: str) -> Iterator[TestClient]:
    """Records that try to break out of whatever they are shown in."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            """insert into motions (id, text_content) values
              ('a/b c?d#e%f', 'The elm <script>alert("elm")</script> & <img src=x onerror=alert(1)> "stays" <elm'),
              ('forged', U&'The \\E000elm\\E001 with forged marks </mark><mark>')"""
        )
    with client_of(database_url) as client:
        yield client


def test_a_snippet_holds_no_markup_but_its_marks(hostile_client: TestClient) -> None:
    results = found(hostile_client, "elm stays forged")["results"]
    sources = the(ask(hostile_client, "Does the elm stay, and are the marks forged?"), "sources")["sources"]
    assert "a/b c?d#e%f" in {source["id"] for source in sources}
    assert (len(results), len(sources)) == (2, 2)
    for result in (*results, *sources):
        left = re.sub(r"<mark>([^<>]*)</mark>", r"\1", result["snippet"])
        assert left == html.escape(html.unescape(left))
        assert re.search("<mark>[^<]*elm[^<]*</mark>", result["snippet"])


@pytest.fixture
def repeating_client(database_url: str) -> Iterator[TestClient]:
    """A motion that came up in twelve months, once with another word and once with another number, among 30 others."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            """insert into motions (id, text_content, result, votes_for, date)
              select 'same-' || lpad(n::text, 2, '0'), 'That the ' || case n when 5 then 'town ' else '' end
                || 'clerk be asked to mend the lantern on the quay and paint its post'
                || case n when 7 then ' 3 times' else '' end,
                'Carried 7 to ' || n, array['Member ' || n], make_date(2024, n, 1)
              from generate_series(1, 12) n
              union all
              select 'other-' || n, 'The lantern of house ' || n || ' is ' || repeat('very ', n) || 'old', null, '{}', null
              from generate_series(1, 30) n"""
        )
    with client_of(database_url) as client:
        yield client


def test_records_that_say_nearly_the_same_have_one_place_where_all_are_named(repeating_client: TestClient) -> None:
    body = found(repeating_client, "mend the lantern on the quay")
    [first] = [result for result in body["results"] if result["also"]]
    assert body["results"][0] == first
    same = {first["id"], *(each["id"] for each in first["also"])}
    assert same == {f"same-{n:02}" for n in range(1, 13) if n != 7}
    assert all(each["type"] == "motion" and "lantern" in each["title"] and each["date"] for each in first["also"])
    assert ("motion", "same-07") in keys(body)
    assert body["counts"]["motion"] == 42
    whole, pages = (
        [
            result
            for offset in offsets
            for result in found(repeating_client, body["query"], limit=limit, offset=offset)["results"]
        ]
        for limit, offsets in ((100, [0]), (5, range(0, 40, 5)))
    )
    assert pages == whole
    assert len(whole) == 32
    assert len({each["id"] for result in whole for each in (result, *result["also"])}) == 42


def test_a_record_is_given_whole(client: TestClient) -> None:
    response = client.get("/records/motion/2024-02-13-council-m3")
    body = response.json()
    assert response.status_code == 200
    assert set(body) == {"type", "id", "title", "text", "date", "url", "fields", "texts", "meeting"}
    assert (body["type"], body["date"], body["meeting"]["id"]) == ("motion", "2024-02-13", "2024-02-13-council")
    assert body["fields"]["votes_against"] == ["Leland Frost", "Priya Sandhu"]
    assert "Against: Leland Frost, Priya Sandhu." in body["text"]
    assert not {"text_search", "content_hash", "embedded_hash"} & set(body["fields"])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/records/motion/none", 404),
        ("/records/meeting/2024-02-13-council", 422),
        ("/records/motion/" + "x" * 65, 422),
        ("/records/motion/%00", 422),
    ],
)
def test_what_is_no_record_is_a_problem(client: TestClient, path: str, status: int) -> None:
    response = client.get(path)
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
