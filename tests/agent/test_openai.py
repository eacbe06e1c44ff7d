"""`/v1/` by OpenAI's own client, over real HTTP: the models, their answers whole and streamed, what they cite, and errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import psycopg
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletion

from quarry.agent.completions import CitedSource, Sources, listing, web_address
from quarry.web.problems import BODY_MAX_BYTES
from tests.conftest import create_database, model_environment
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.records.asking import playing
from tests.running import running_server
from tests.waiting import PATIENCE_SECONDS

QUESTION = "Why did the council keep the old elm in Quill Square?"
PEOPLE_QUERY = "backend engineers who know Kafka"


@pytest.fixture(scope="module")
def completions_url(server_url: str, sample_template: str) -> str:
    """A database with the sample data."""
    return create_database(server_url, "completions_sample", template=sample_template)


@pytest.fixture(scope="module")
def base(completions_url: str) -> Iterator[str]:
    """A running service over the sample data, without limits."""
    with running_server(completions_url, RATE_LIMIT_PER_MINUTE="0") as base:
        yield base


@pytest.fixture(scope="module")
def client(base: str) -> Iterator[OpenAI]:
    with client_of(base) as client:
        yield client


def client_of(base: str, user: str = "demo") -> OpenAI:
    return OpenAI(base_url=f"{base}/v1", api_key=user, max_retries=0)


def ask(client: OpenAI, model: str, question: str, **more: Any) -> ChatCompletion:
    completion: ChatCompletion = client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": question}], **more
    )
    return completion


def text_of(completion: ChatCompletion) -> str:
    return completion.choices[0].message.content or ""


def test_each_domain_is_a_model_and_an_unknown_one_is_told_which_there_are(client: OpenAI) -> None:
    assert {model.id for model in client.models.list().data} == {
        "quarry-records", "quarry-companies", "quarry-people", "quarry-campaigns", "quarry-ontology",
    }  # fmt: skip
    with pytest.raises(openai.NotFoundError, match="quarry-records") as refused:
        ask(client, "gpt-4o", QUESTION)
    assert (refused.value.code, refused.value.param) == ("model_not_found", "model")


def test_projects_are_answered_from_the_users_own_entities(client: OpenAI) -> None:
    answer, _, listed = text_of(ask(client, "quarry-ontology", "What is the launch plan?")).partition("\n\nEntities")
    assert answer
    assert "launch" in listed.casefold()


def test_an_answer_cites_its_sources_by_number_and_lists_them(client: OpenAI) -> None:
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
    more = {"tools": [tool], "temperature": 0.2, "max_tokens": 5, "user": "u", "seed": 1}
    completion = ask(client, "quarry-records", QUESTION, tool_choice="auto", **more)
    [choice] = completion.choices
    assert not choice.message.tool_calls  # what may be called is passed over
    assert (completion.object, completion.model, choice.finish_reason) == ("chat.completion", "quarry-records", "stop")
    answer, _, listed = text_of(completion).partition("\n\nSources:\n\n")
    cited = {*re.findall(r"\[(\d+)\]", answer)}
    assert cited
    assert cited == {*re.findall(r"^- \[(\d+)\] ", listed, re.MULTILINE)}
    assert completion.usage is not None
    assert completion.usage.total_tokens == 0  # no chat model was asked


def test_a_source_with_an_address_is_annotated_where_it_is_cited(client: OpenAI) -> None:
    completion = ask(client, "quarry-records", "What did people say about the old elm?")
    text, annotations = text_of(completion), completion.choices[0].message.annotations or []
    assert annotations
    for annotation in annotations:
        cited = annotation.url_citation
        assert annotation.type == "url_citation"
        assert cited.url.startswith("https://")
        assert re.fullmatch(r"\[\d+\]", text[cited.start_index : cited.end_index])
        assert f"({cited.url})" in text
        assert cited.title


def test_a_streamed_answer_is_the_whole_one_in_pieces(client: OpenAI) -> None:
    whole = ask(client, "quarry-records", QUESTION)
    chunks = list(
        client.chat.completions.create(
            model="quarry-records",
            messages=[{"role": "user", "content": QUESTION}],
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    *pieces, end, usage = chunks
    assert len({chunk.id for chunk in chunks}) == 1
    assert pieces[0].choices[0].delta.role == "assistant"
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == text_of(whole)
    assert sum(1 for piece in pieces if piece.choices[0].delta.content) >= 2
    annotated = [getattr(piece.choices[0].delta, "annotations", None) for piece in pieces]
    given = [annotation for each in annotated for annotation in each or ()]
    assert given == [annotation.model_dump() for annotation in whole.choices[0].message.annotations or ()]
    assert end.choices[0].finish_reason == "stop"
    assert (usage.choices, usage.usage is not None) == ([], True)


def test_a_follow_up_question_is_read_in_its_conversation(client: OpenAI) -> None:
    first = text_of(ask(client, "quarry-records", QUESTION))
    messages: Any = [
        {"role": "system", "content": "Answer like a pirate."},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
        {"role": "assistant", "content": first},
        {"role": "user", "content": "Who voted against it?"},
    ]
    text = text_of(client.chat.completions.create(model="quarry-records", messages=messages))
    assert "elm" in text.lower()


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"tool_choice": "required"}, "tool_choice"),
        ({"n": 2}, "n"),
        ({"messages": [{"role": "system", "content": "Be kind."}]}, "messages"),
        ({"messages": [{"role": "user", "content": "a\x00b"}]}, "messages.0.content"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(client: OpenAI, more: dict[str, Any], param: str | None) -> None:
    body: dict[str, Any] = {"messages": [{"role": "user", "content": QUESTION}]} | more
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model="quarry-records", **body)
    assert (refused.value.type, refused.value.param) == ("invalid_request_error", param)
    assert refused.value.request_id


def test_a_search_of_people_costs_a_credit_once_under_a_key_and_shows_no_contact(
    client: OpenAI, base: str, completions_url: str
) -> None:
    before = balance(base)
    key = {"Idempotency-Key": "one-search"}
    first = text_of(ask(client, "quarry-people", PEOPLE_QUERY, extra_headers=key))
    assert text_of(ask(client, "quarry-people", PEOPLE_QUERY, extra_headers=key)) == first
    assert balance(base) == before - 1
    with pytest.raises(openai.ConflictError):
        ask(client, "quarry-people", "nurses", extra_headers=key)
    assert balance(base) == before - 1
    streamed = client.chat.completions.create(
        model="quarry-people",
        messages=[{"role": "user", "content": PEOPLE_QUERY}],
        stream=True,
        extra_headers=key,
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in streamed) == first
    with psycopg.connect(completions_url) as connection:
        rows = connection.execute("select email, phone from people").fetchall()
    known = [value for row in rows for value in row if value]
    assert known
    assert "1. **" in first
    assert not [value for value in known if value in first]


@pytest.mark.parametrize("stream", [False, True])
def test_who_has_no_credit_is_told_by_a_status(base: str, completions_url: str, stream: bool) -> None:
    with psycopg.connect(completions_url) as connection:
        connection.execute(
            "insert into credit_accounts (user_id, balance) values ('broke', 0) on conflict (user_id) do nothing"
        )
    with client_of(base, "broke") as client, pytest.raises(openai.APIStatusError) as refused:
        client.chat.completions.create(
            model="quarry-people", messages=[{"role": "user", "content": PEOPLE_QUERY}], stream=stream
        )
    assert (refused.value.status_code, refused.value.type) == (402, "insufficient_quota")


def balance(base: str) -> int:
    found: int = httpx2.get(f"{base}/credits", timeout=PATIENCE_SECONDS).json()["balance"]
    return found


def test_every_layers_errors_are_of_openais_form(base: str) -> None:
    path, large = "/v1/chat/completions", b" " * BODY_MAX_BYTES + b"{}"
    json_headers = {"Content-Type": "application/json"}
    with httpx2.Client(base_url=base, timeout=PATIENCE_SECONDS) as http:
        for response, status in (
            (http.get(path), 405),
            (http.get("/v1/nothing"), 404),
            (http.post(path, content=b"{", headers=json_headers), 400),
            (http.post(path, content=large, headers=json_headers), 413),
            (http.get("/v1/models", headers={"Authorization": "Basic eDp5"}), 401),
            (http.get("/v1/models", headers={"Host": "evil.example"}), 421),
        ):
            assert response.status_code == status
            assert response.headers["content-type"] == "application/json"
            error = response.json()["error"]
            assert {*error} == {"message", "type", "param", "code"}
            assert error["message"]
        assert http.head("/v1/nothing").content == b""
        assert http.get("/nothing").headers["content-type"] == "application/problem+json"


def test_requests_count_against_the_callers_limit(completions_url: str) -> None:
    with (
        running_server(completions_url, RATE_LIMIT_PER_MINUTE="1") as limited,
        client_of(limited, "eager") as client,
        pytest.raises(openai.RateLimitError) as refused,
    ):
        [ask(client, "quarry-records", "elm") for _ in range(3)]
    assert refused.value.code == "rate_limit_exceeded"
    assert refused.value.response.headers["retry-after"]


def test_usage_is_what_the_chat_model_behind_it_used(completions_url: str, model: FakeOpenAI) -> None:
    model.respond = playing()
    environment = model_environment(model.url) | {"RATE_LIMIT_PER_MINUTE": "0"}
    with running_server(completions_url, **environment) as base, client_of(base) as client:
        usage = ask(client, "quarry-records", QUESTION).usage
    assert usage is not None
    assert usage.completion_tokens > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


async def test_a_search_ends_when_its_reader_leaves(completions_url: str, model: FakeOpenAI) -> None:
    model.respond = lambda body: Reply.hang(60)
    environment = {"MODEL_TIMEOUT_SECONDS": "60", "STREAM_GRACE_SECONDS": "600", "RATE_LIMIT_PER_MINUTE": "0"}
    body = {"model": "quarry-records", "stream": True, "messages": [{"role": "user", "content": "Who kept the elm?"}]}
    with running_server(completions_url, **(model_environment(model.url) | environment)) as base:
        async with httpx2.AsyncClient(timeout=30) as http:
            async with http.stream("POST", f"{base}/v1/chat/completions", json=body):
                await model.wait_for_request()
        await model.wait_for_disconnect()


def test_a_title_makes_no_link_and_an_address_no_script() -> None:
    assert listing(Sources("Sources", [CitedSource("[x](http://evil.example)", n=1)])).endswith(
        r"\[x\](http://evil.example)"
    )
    assert web_address("javascript:alert(1)") is None
