"""Whatever a model does, every question that uses one ends in an answer, credits are kept, and service needs no restart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import model_environment
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.faults.asking import (
    MODEL_QUESTIONS,
    QUESTIONS,
    Outcome,
    ask,
    ask_all,
    assert_answers_again,
    assert_told,
)
from tests.faults.commands import Nursery, Served
from tests.faults.soundness import assert_sound
from tests.waiting import wait_until

EMBEDDING_FAULTS = {
    "hangs": Reply.hang(60),
    "talks garbage": Reply.malformed(),
}
FAULTS = EMBEDDING_FAULTS | {
    "drips": Reply.text("It is so. " * 60, delay=0.3),
    "refuses": Reply.refusal(),
    "cuts its stream": Reply.drop_connection(after_pieces=["It is "]),
}
IMPATIENT = {
    "RECORDS_ASK_SECONDS": "8",
    "PEOPLE_SEARCH_SECONDS": "8",
    "COMPANY_MAX_SECONDS": "8",
    "CAMPAIGNS_CHAT_SECONDS": "8",
}
"""Twice and more what a call of a model may take: on a busy machine, too, there is time to find what is answered then."""
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
def test_whatever_a_chat_model_does_every_domain_answers_then_and_afterwards(
    served: Served, url: str, model: FakeOpenAI, fault: str
) -> None:
    model.respond = lambda body: FAULTS[fault]
    for name, outcome in ask_all(served.url, MODEL_QUESTIONS).items():
        assert_told(outcome)
        assert outcome.answered, (name, outcome)
    assert model.chat_requests
    model.reset()
    assert_answers_again(served.url, MODEL_QUESTIONS)
    assert_sound(url)


@pytest.mark.parametrize("fault", EMBEDDING_FAULTS)
def test_whatever_an_embedding_model_does_all_but_people_are_found_by_words_and_afterwards_by_meaning(
    served: Served, url: str, model: FakeOpenAI, fault: str
) -> None:
    model.embed = lambda body: EMBEDDING_FAULTS[fault]
    assert_found_by_words(ask_all(served.url, MODEL_QUESTIONS, anew=True))
    assert model.embedding_requests
    model.reset()
    assert_answers_again(served.url, MODEL_QUESTIONS, anew=True)
    assert model.embedding_requests
    assert_sound(url)


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
