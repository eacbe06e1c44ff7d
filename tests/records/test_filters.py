"""Records filtered by facets: `FACET=value`, `-FACET=value`."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.records.contract import FACET_VALUES_MAX
from tests.records.asking import answer_of, ask, read_events, the


def opened(client: TestClient, q: str = "elm bridge council", /, **parameters: Any) -> list[dict[str, Any]]:
    """The records found, whole."""
    response = client.get("/records/search", params=parameters | {"q": q, "limit": 100})
    assert response.status_code == 200
    return [client.get(f"/records/{each['type']}/{each['id']}").json() for each in response.json()["results"]]


def test_records_have_one_of_the_values_that_a_facet_is_filtered_by(client: TestClient) -> None:
    movers = {each["fields"]["mover"] for each in opened(client, type="motion")}
    chosen = sorted(movers)[:2]
    assert {each["fields"]["mover"] for each in opened(client, mover=chosen)} == set(chosen)
    assert {each["fields"]["mover"] for each in opened(client, mover=chosen[0])} == {chosen[0]}


def test_all_facets_must_fit_with_dates_and_what_the_question_says(client: TestClient) -> None:
    found = opened(client, "motions that carried", **{"votes_against": "Leland Frost", "from": "2024-01-01"})
    assert found
    for each in found:
        assert each["fields"]["result"].startswith("Carried")
        assert "Leland Frost" in each["fields"]["votes_against"]
        assert each["date"] >= "2024-01-01"


@pytest.mark.parametrize("said", ["defeated", "DEFEATED", "rejected"])
def test_a_value_may_be_spelt_otherwise_or_be_a_synonym(client: TestClient, said: str) -> None:
    for name in ("result", "-result"):
        asked = [{"q": "council", "type": "motion", name: value} for value in ("Defeated", said)]
        exact, otherwise = (client.get("/records/search", params=each).json() for each in asked)
        assert (otherwise["counts"], otherwise["results"]) == (exact["counts"], exact["results"])
        exact, otherwise = (client.get("/records/facets", params=each).json() for each in asked)
        assert otherwise == exact
        assert exact["total"]
    answered = ask(client, "How many motions are there?", filters={"facets": {"result": [said]}})
    assert the(answered, "aggregation")["filters"]["facets"] == {"result": ["Defeated"]}
    assert the(answered, "done")["applied"]["label"] == "records, with the result Defeated"


@pytest.mark.parametrize(
    ("parameters", "pointer", "said"),
    [
        ({"movr": "x"}, "/movr", "mover"),
        ({"stance": "For", "type": "motion"}, "/stance", "nearest"),
        ({"date": "soon"}, "/date", "soon"),
        ({"mover": "x" * 1001}, "/mover/0", "1000 characters"),
        ({"mover": "a\x00"}, "/mover/0", "NUL"),
        ({"mover": ["x"] * (FACET_VALUES_MAX + 1)}, "/mover", str(FACET_VALUES_MAX)),
    ],
)
def test_wrong_filters_are_named_with_the_nearest_facets(
    client: TestClient, parameters: dict[str, Any], pointer: str, said: str
) -> None:
    response = client.get("/records/search", params=parameters | {"q": "elm"})
    assert response.status_code == 422
    [error] = response.json()["errors"]
    assert error["pointer"] == pointer
    assert said in error["message"]


def test_a_follow_up_keeps_the_filters_and_a_new_topic_drops_them(client: TestClient) -> None:
    asked: dict[str, Any] = {
        "types": ["motion"],
        "filters": {"facets": {"votes_against": ["Leland Frost"]}, "from": "2024-01-01"},
    }
    events = ask(client, "Was the elm kept?", **asked)
    applied = the(events, "done")["applied"]
    label = applied.pop("label")
    assert applied == {"types": ["motion"], "filters": {**asked["filters"], "to": None}}
    assert label == "motions, since 2024, with Leland Frost against"
    assert the(events, "tool_call")["arguments"] == {"text": "Was the elm kept?", **asked}
    assert the(events, "tool_observation")["summary"].endswith(f"; only {label}")
    turn = {"question": "Was the elm kept?", "answer": answer_of(events), **applied}
    assert the(ask(client, "Who moved to keep the elm?", history=[turn]), "done")["applied"] == {
        **applied,
        "label": label,
    }
    assert the(ask(client, "Who moved to keep the elm?", history=[turn], filters={}), "done")["applied"] is None
    assert the(ask(client, "What does ferry parking cost?", history=[turn]), "done")["applied"] is None
    wrong = {"question": "Who moved to keep the elm?", "history": [turn | {"types": ["moton"]}]}
    refused = client.post("/records/ask", json=wrong)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/history/0/types/0")


def test_an_event_source_filters_as_search_does(client: TestClient) -> None:
    parameters: dict[str, Any] = {
        "q": "Was the elm kept?",
        "type": "motion",
        "votes_against": "Leland Frost",
        "from": "2024-01-01",
    }
    given = the(read_events(client.get("/records/ask", params=parameters).text), "done")["applied"]
    body = {"types": ["motion"], "filters": {"facets": {"votes_against": ["Leland Frost"]}, "from": "2024-01-01"}}
    assert given == the(ask(client, "Was the elm kept?", **body), "done")["applied"]
    refused = client.get("/records/ask", params=parameters | {"votes_agaist": "x"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/votes_agaist")


def test_where_filters_leave_nothing_the_answer_says_so(client: TestClient) -> None:
    events = ask(client, "Why was the elm kept?", filters={"to": "1900-01-01"})
    assert answer_of(events).endswith("Only this was searched: records, until 1 January 1900.")


@pytest.mark.parametrize(
    ("filters", "pointer"),
    [
        ({"facets": {"movr": ["x"]}}, "/filters/facets/movr"),
        ({"from": "2024-02-02", "to": "2024-02-01"}, "/filters/to"),
        ({"sort": "date"}, "/filters/sort"),
    ],
)
def test_wrong_filters_of_a_question_are_named_before_anything_is_streamed(
    client: TestClient, filters: dict[str, Any], pointer: str
) -> None:
    response = client.post("/records/ask", json={"question": "Was the elm kept?", "filters": filters})
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
