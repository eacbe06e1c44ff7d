"""What people ask of three tables of a marina, two of which tell of the same boats: what there is of a kind, whether there is
any, who was first, and that there is none.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.collections.test_search import served
from tests.pairs import database_sql
from tests.records.asking import answer_of, ask

MARINA = database_sql("pinned_marina")
DECLARED = """
[collections.repairs]
source = "repairs"
text = { report = "B" }
date = "begun_on"
[collections.repairs.facets]
boat = { kind = "value", by = "boat_id", of = "boats", title = "name" }
kind = { kind = "value", by = "boat_id", of = "boats", title = "kind" }
hull = { kind = "value", by = "boat_id", of = "boats", title = "hull" }
shipwright = "value"
price = "money"
finished_on = "date"
duration = { kind = "number", expression = "finished_on - begun_on", unit = "days" }

[collections.boats]
source = "boats"
title = "name"
text = { name = "A", about = "B" }
cite = ["about"]
[collections.boats.facets]
kind = "value"
builder = "value"
hull = "value"
built = "year"
pier = "value"
nights_booked = "number"

[collections.hands]
source = "hands"
nouns = ["hand", "sailor"]
title = "name"
text = { name = "A" }
date = "joined_on"
[collections.hands.facets]
grade = "value"
pier = "value"
"""


@pytest.fixture(scope="module")
def client(shared_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with served(shared_url, MARINA, DECLARED, tmp_path_factory.mktemp("marina")) as client:
        yield client


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Which builders are there?", "The records hold 5 boats. By builder: Brandvik 2; Haugland 2; Merete 1."),
        ("What hulls do we have?", "The records hold 5 boats. By hull: steel 2; wood 2; glass 1."),
        ("Which hulls are used?", "The records hold 5 boats. By hull: steel 2; wood 2; glass 1."),
        ("What kinds of boats are there?", "The records hold 5 boats. By kind: ketch 2; sloop 2; launch 1."),
        ("Who are the shipwrights?", "The records hold 5 repairs. By shipwright: Per Lunde 3; Sigrun Aas 2."),
        ("How many boats do we have?", "The records hold 5 boats."),
        ("Who joined first?", "The earliest of 3 hands, by date: Nora Vik (15 March 2019)."),
        ("Which repair was finished last?", "The latest of 5 repairs, by finished on: The anchor winch jammed. (15 March 2031)."),
        ("Is there a sloop at the Old Pier built after 2000?",
         "The records hold no boats with the kind sloop, with the pier Old Pier, built since 2001."),
        ("Which repairs were begun in April 2031?", "The records hold no repairs in April 2031."),
        ("Which repair took the longest?",
         "The highest duration of 5 repairs is 23 days: Two planks below the waterline were renewed."),
        ("How long did repairs take on average?", "The average duration of 5 repairs is 10.25 days."),
        ("How many nights were booked in total?", "The total nights booked of 5 boats is 61."),
        ("How many nights were booked for sloops?", "The total nights booked of 2 boats with the kind sloop is 30."),
        ("What is the average number of nights booked per hull?",
         "The average nights booked of 5 boats, by hull: wood 15; glass 12; steel 9.50."),
    ],
)  # fmt: skip
def test_all_rows_are_told_in_a_sentence_and_no_single_one_behind_it(
    client: TestClient, question: str, sentence: str
) -> None:
    answer = answer_of(ask(client, question))
    assert answer.startswith(sentence)
    assert "[1]" not in answer


@pytest.mark.parametrize(
    ("question", "held", "not_held"),
    [
        ("Is there a sloop at the Old Pier?", ["Sandpiper"], ["Teal", "Eider"]),
        ("Do we have steel ketches?", ["Petrel"], ["Eider", "rudder"]),
        ("List all wood sloops", ["Sandpiper"], ["planks", "Teal"]),
        ("Which hands are of grade B?", ["Ture Moe", "Nora Vik"], ["Kaja Dahl", "hold nothing"]),
        ("Which hands joined before 2025?", ["15 March 2019", "1 May 2024"], ["Kaja Dahl"]),
        ("Which boat has a bell?", ["Eider – She has a stove, and a bell"], ["may not answer"]),
        (
            "How many boats were made before 1970?",
            ["The records hold 1 boat built until 1969.", "Sandpiper"],
            ["Eider"],
        ),
        (
            "What share of boats is of steel?",
            ["The records hold 2 boats with the hull steel: 40 % of 5 boats."],
            ["Eider"],
        ),
        (
            "What percentage of the boats at the Old Pier are ketches?",
            ["1 boat with", "50 % of 2 boats with the pier Old Pier."],
            [],
        ),
        ("Which repairs took longer than two weeks?", ["rudder", "planks"], ["fuel", "winch"]),
        ("Who is at the Old Pier?", ["Ture Moe"], ["Sandpiper", "Kaja"]),
        ("How many repairs were finished in March 2031?", ["3 repairs finished in March 2031."], ["rudder"]),
        ("What is wrong with the mast?", ["mast step was rotten"], ["No record names", "hold nothing"]),
        ("Who built the Osprey?", ["Osprey – builder: Haugland"], ["hold nothing"]),
        ("Where is the Teal?", ["Teal – pier: Long Pier"], ["hold nothing"]),
        ("What did the repairs of sloops cost?", ["1310", "130"], ["420.5", "finished"]),
    ],
)
def test_rows_that_meet_the_conditions_are_told_and_no_others(
    client: TestClient, question: str, held: list[str], not_held: list[str]
) -> None:
    answer = answer_of(ask(client, question))
    assert [each for each in held if each not in answer] == []
    assert [each for each in not_held if each in answer] == []


def test_a_value_alone_finds_the_things_before_what_refers_to_them(client: TestClient) -> None:
    found = client.get("/records/search", params={"q": "sloop"}).json()["results"]
    assert {each["title"] for each in found[:2]} == {"Sandpiper", "Teal"}
    assert {each["type"] for each in found} == {"boats", "repairs"}
