"""Whether rows of a table answer a question: what only columns say of them, how few they are, two things that are asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.collections.test_search import served
from tests.records.asking import answer_of, ask, of_type, the

REPAIRS = """
create table repairs (id text primary key, heading text, told text, yard text, state text, done_on date);
insert into repairs values
  ('r1', 'Charged for too many berths', 'Eleven sold dinghies were still on the list. They were struck off.', 'Marlow Schools',
   'closed', '2031-02-03'),
  ('r2', 'Rudder came loose', 'The pintle had sheared off. A new one was welded on within two days.', 'Otter Imaging', 'closed',
   '2031-02-09'),
  ('r3', 'Mast leans', 'The forestay is slack; it was tightened by four turns.', 'Pelican Theatre', 'open', '2031-03-01'),
  ('r4', 'Cabin gets warm', 'With the hatch shut it reached 41 degrees at noon.', 'Otter Imaging', 'open', '2031-06-20'),
  ('r5', 'Six pumps checked', 'All six pumps were taken apart and two impellers exchanged.', 'Pelican Theatre', 'closed',
   '2031-07-02'),
  ('r6', 'Pole replaced', 'A deckhand had broken the whisker pole. The new one is of spruce.', 'Otter Imaging',
   'closed', '2031-07-09');
insert into repairs select 'x' || i, 'Hull ' || i || ' was scrubbed', 'Weed and barnacles were taken off.', 'Yard ' || i,
  'closed', date '2031-08-01' + i from generate_series(1, 30) i;
"""
DECLARED = """
[collections.repairs]
source = "repairs"
title = "heading"
text = { heading = "A", told = "B" }
cite = ["told"]
date = "done_on"
facets.yard = "value"
facets.state = "value"
"""
NOT_KNOWN = pytest.mark.xfail(reason="the fitted probability does not know this yet")


@pytest.fixture(scope="module")
def client(shared_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with served(shared_url, REPAIRS, DECLARED, tmp_path_factory.mktemp("repairs")) as client:
        yield client


def test_a_value_that_no_text_holds_is_not_missing(client: TestClient) -> None:
    answer = answer_of(ask(client, "Why was Marlow Schools charged too much?"))
    assert "sold dinghies" in answer
    assert "No record" not in answer
    assert "pintle" in answer_of(ask(client, "Why did the rudder of Otter Imaging come loose?"))


def test_a_value_is_not_all_that_is_asked(client: TestClient) -> None:
    answer = answer_of(ask(client, "Who is the chief accountant of Marlow Schools?"))
    assert "hold nothing that answers this" in answer


@NOT_KNOWN
def test_an_adjective_behind_how_is_not_missing(client: TestClient) -> None:
    answer = answer_of(ask(client, "How hot did the cabin get?"))
    assert "With the hatch shut it reached 41 degrees at noon." in answer
    assert "names" not in answer.split("\n")[0]


@pytest.mark.parametrize(
    "question",
    [
        "What did the deckhand break?",
        pytest.param(
            "Which spar did the deckhand break?",
            marks=NOT_KNOWN,
        ),
    ],
)
def test_another_form_of_an_irregular_verb_is_not_missing(client: TestClient, question: str) -> None:
    answer = answer_of(ask(client, question))
    assert "A deckhand had broken the whisker pole." in answer
    assert "“break”" not in answer


@NOT_KNOWN
def test_what_records_say_is_not_missing(client: TestClient) -> None:
    events = ask(client, "Which yard has a mast that leans?")
    for question in the(events, "followups")["questions"]:
        assert "hold nothing" not in answer_of(ask(client, question)), question
        assert "only in part" not in answer_of(ask(client, question)), question


def test_what_is_no_name_of_records_is_not_counted_in_records(client: TestClient) -> None:
    events = ask(client, "How many pumps were taken apart?")
    assert of_type(events, "aggregation") == []
    assert answer_of(events).startswith("All six pumps were taken apart")
    counted = the(ask(client, "How many repairs of Otter Imaging are there?"), "aggregation")
    assert counted["total"] == 3


@pytest.mark.xfail(reason="the learned reader does not read this yet")
def test_what_somebody_does_every_day_is_not_counted_by_day(client: TestClient) -> None:
    assert of_type(ask(client, "What does the Pelican Theatre do every day?"), "aggregation") == []
    assert the(ask(client, "How many repairs of Pelican Theatre were there every day?"), "aggregation")["by"] == "date"
    assert the(ask(client, "Repairs of Otter Imaging each month"), "aggregation")["total"] == 3


@pytest.mark.parametrize(
    ("question", "told"),
    [
        pytest.param(
            "Did anything overheat at noon?",
            "it reached 41 degrees at noon",
            marks=NOT_KNOWN,
        ),
        ("Which part had sheared?", "The pintle had sheared off"),
    ],
)
def test_among_few_rows_one_that_is_less_near_answers(client: TestClient, question: str, told: str) -> None:
    assert told in answer_of(ask(client, question))


@pytest.mark.parametrize(
    ("question", "missing", "told"),
    [
        ("How long should pasta boil, and which part had sheared?", "“pasta”", "The pintle had sheared off"),
        ("What is a good exercise for back pain, and who tightened it?", "“exercise”", "tightened by four turns"),
    ],
)
@pytest.mark.xfail(reason="the learned reader does not read this yet")
def test_of_two_things_the_one_that_is_held_is_answered(
    client: TestClient, question: str, missing: str, told: str
) -> None:
    events = ask(client, question)
    first, rest = answer_of(events).split("\n", maxsplit=1)
    assert first.startswith("No record names")
    assert missing in first
    assert told in rest
    assert the(events, "confidence")["level"] == "low"


@pytest.mark.parametrize(
    "question", ["How long should pasta boil?", "What is the best exercise, and who won the world cup?"]
)
def test_what_is_far_off_is_refused_among_few_rows_too(client: TestClient, question: str) -> None:
    assert "hold nothing that answers this" in answer_of(ask(client, question))
