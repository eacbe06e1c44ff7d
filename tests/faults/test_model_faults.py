"""Whatever a model does, every question that uses one ends in an answer, credits are kept, and no restart is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.conftest import model_environment
from tests.fakes.openai_server import Body, FakeOpenAI, Reply, schema_name
from tests.faults.asking import (
    HEALTH,
    MODEL_QUESTIONS,
    QUESTIONS,
    Outcome,
    ask,
    ask_all,
    assert_answers_again,
    assert_told,
    reworded,
)
from tests.faults.commands import Nursery, Served
from tests.faults.soundness import assert_sound
from tests.waiting import wait_until

FAULTS = {
    "hangs": Reply.hang(60),
    "breaks": Reply.http_error(500),
    "talks garbage": Reply.malformed(),
    "cuts its stream": Reply.drop_connection(after_pieces=["It is "]),
    "drips without end": replace(Reply.flood("Sources: 1\n\nIt is new. "), delay=0.2),
    "talks in circles": Reply.flood("It is new, and it is old, and it is neither of them. "),
    "goes on with its prompt": Reply.text("<|im_start|>system\nYou answer questions."),
}
SLOW = ("hangs", "drips without end")
IMPATIENT = {
    "MODEL_TIMEOUT_SECONDS": "3",
    "RECORDS_ASK_SECONDS": "15",
    "PEOPLE_SEARCH_SECONDS": "15",
    "COMPANY_MAX_SECONDS": "15",
    "CAMPAIGNS_CHAT_SECONDS": "15",
}
"""Several times what a call of a model may take: on a busy machine, too, there is time to find what is answered then."""
# the name and size of the local model: what the sample data were embedded with
REMOTE_EMBEDDINGS = {
    "EMBEDDINGS": "openai",
    "OPENAI_EMBEDDING_MODEL": "all-MiniLM-L6-v2",
    "EMBEDDING_DIMENSIONS": "384",
}


@pytest.fixture(scope="module")
def served(nursery: Nursery, url: str, shared_model: FakeOpenAI) -> Iterator[Served]:
    """A server whose chat and embedding models are both `shared_model`, asked however often they failed."""
    environment = {"DATABASE_URL": url} | model_environment(shared_model.url) | IMPATIENT | REMOTE_EMBEDDINGS
    shared_model.reset()
    with nursery.serve(environment=environment) as served:
        # all that is made at first use is made then, however busy the machine
        wait_until(lambda: ask(served.url, QUESTIONS["people"]).answered)
        yield served
        assert served.command.end() == 0


@pytest.mark.parametrize("fault", FAULTS)
def test_every_domain_answers_during_and_after_any_fault_of_a_chat_model(
    served: Served, url: str, model: FakeOpenAI, fault: str
) -> None:
    model.respond = lambda body: FAULTS[fault]
    for name, outcome in ask_all(served.url, MODEL_QUESTIONS).items():
        assert_told(outcome)
        assert outcome.answered, (name, outcome)
        assert "It is new. Sources" not in outcome.text
        assert "im_start" not in outcome.text
    # who was too slow is not asked again for the same answer
    asked = len(model.chat_requests)
    assert asked == len(MODEL_QUESTIONS) if fault in SLOW else asked >= len(MODEL_QUESTIONS)
    model.reset()
    assert_answers_again(served.url, MODEL_QUESTIONS)
    assert_sound(url)


def test_a_failing_model_is_paused_retried_and_used_again_without_a_restart(
    nursery: Nursery, url: str, model: FakeOpenAI
) -> None:
    environment = {"DATABASE_URL": url} | model_environment(model.url) | REMOTE_EMBEDDINGS | {"MODEL_FAILURES_MAX": "2"}
    with nursery.serve(environment=environment) as served:
        assert model_states(served) == {"chat": "ok", "embedding": "ok"}
        model.respond = model.embed = lambda body: Reply.http_error(500)

        def all_are_left_alone() -> bool:
            assert_found_by_words(ask_all(served.url, MODEL_QUESTIONS, anew=True))
            return model_states(served) == {"chat": "failing", "embedding": "failing"}

        wait_until(all_are_left_alone)
        model.reset()
        # nobody asks: one call of each, the next one, will find out
        wait_until(lambda: model_states(served) == {"chat": "recovering", "embedding": "recovering"})
        assert not model.requests
        assert_answers_again(served.url, MODEL_QUESTIONS, anew=True)
        model.respond = answers_every_step
        wait_until(lambda: not degraded(ask(served.url, reworded(QUESTIONS["records"]))))
        assert model_states(served) == {"chat": "ok", "embedding": "ok"}
        assert served.command.end() == 0
    assert_sound(url)


def answers_every_step(body: Body) -> Reply:
    """What each step of an answer from records takes: the questions that follow it are asked for by a schema."""
    if schema_name(body) == "records_followups":
        return Reply.json({"questions": ["What did the elm cables cost?", "Who inspects the elm?"]})
    return Reply.text("Sources: 1\nThe elm stays [1].")


def assert_found_by_words(outcomes: dict[str, Outcome]) -> None:
    """A search of people needs a vector; what else is found without one says so."""
    for name, outcome in outcomes.items():
        assert_told(outcome)
        assert outcome.answered == (name != "people"), (name, outcome)
    assert degraded(outcomes["records"])
    assert outcomes["people"].status == 503


def degraded(outcome: Outcome) -> list[str]:
    """The steps of an answer from records that a fallback served."""
    names: list[str] = outcome.events[-1]["degraded"]
    return names


def model_states(served: Served) -> dict[str, str]:
    health = ask(served.url, HEALTH)
    assert health.status == 200
    states: dict[str, str] = json.loads(health.text)["models"]
    return states
