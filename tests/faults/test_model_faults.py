"""Whatever a model does, every question that uses one ends in an answer, credits are kept, and service needs no restart."""

from __future__ import annotations

import pytest

from tests.conftest import model_environment
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.faults.asking import MODEL_QUESTIONS, QUESTIONS, ask, ask_all, assert_answers_again, assert_told
from tests.faults.commands import Nursery
from tests.faults.soundness import assert_sound
from tests.waiting import wait_until

FAULTS = {
    "hangs": Reply.hang(60),
    "drips": Reply.text("It is so. " * 60, delay=0.3),
    "breaks": Reply.http_error(500),
    "refuses": Reply.refusal(),
    "talks garbage": Reply.malformed(),
    "cuts its stream": Reply.drop_connection(after_pieces=["It is "]),
}
IMPATIENT = {
    "RECORDS_ASK_SECONDS": "4",
    "PEOPLE_SEARCH_SECONDS": "4",
    "COMPANY_MAX_SECONDS": "4",
    "CAMPAIGNS_CHAT_SECONDS": "4",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_a_model_does_every_domain_answers_then_and_afterwards(
    nursery: Nursery, url: str, model: FakeOpenAI, fault: str
) -> None:
    environment = {"DATABASE_URL": url} | model_environment(model.url) | IMPATIENT
    with nursery.serve(environment=environment) as served:
        # all that is made at first use is made then, however busy the machine
        wait_until(lambda: ask(served.url, QUESTIONS["people"]).answered)
        model.respond = lambda body: FAULTS[fault]
        for name, outcome in ask_all(served.url, MODEL_QUESTIONS).items():
            assert_told(outcome)
            assert outcome.answered, (name, outcome)
        assert model.chat_requests
        model.reset()
        assert_answers_again(served.url, MODEL_QUESTIONS)
        assert served.command.end() == 0
    assert_sound(url)
