"""Whatever a model does, every question that uses one ends in an answer, credits are kept, and service needs no restart."""

from __future__ import annotations

import pytest

from tests.conftest import model_environment
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.faults.asking import MODEL_QUESTIONS, ask_all, assert_answers_again, assert_told
from tests.faults.soundness import assert_sound
from tests.running import running_server

FAULTS = {
    "hangs": Reply.hang(60),
    "falls silent": Reply.hang(60, after_pieces=["It is "]),
    "drips": Reply.text("It is so. " * 60, delay=0.3),
    "breaks": Reply.http_error(500),
    "is rate limited": Reply.http_error(429, retry_after=60),
    "refuses the key": Reply.http_error(401),
    "refuses to answer": Reply.refusal(),
    "talks garbage": Reply.malformed(),
    "talks of other things": Reply.raw({"hello": "world"}),
    "ends its stream early": Reply.truncated_stream(["It is "]),
    "breaks its connection": Reply.drop_connection(after_pieces=["It is "]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_a_model_does_every_domain_answers_then_and_afterwards(
    url: str, model: FakeOpenAI, fault: str
) -> None:
    environment = model_environment(model.url) | {"MODEL_TIMEOUT_SECONDS": "0.4", "RATE_LIMIT_PER_MINUTE": "0"}
    with running_server(url, **environment) as address:
        model.respond = lambda body: FAULTS[fault]
        for name, outcome in ask_all(address, MODEL_QUESTIONS).items():
            assert_told(outcome)
            assert outcome.answered, (name, outcome)
        assert model.chat_requests
        model.reset()
        assert_answers_again(address, MODEL_QUESTIONS)
    assert_sound(url)
