"""What a model writes about records is checked before it is read, corrected once, and marked where it stays wrong."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.fakes.openai_server import Body, FakeOpenAI, Reply
from tests.records.asking import answer_of, ask, playing, step_of, the, types_of

KEPT = "The council keeps the elm [1]."
WRONG = "The vote was 4–5 [4]."
RIGHT = "The vote was 7–2 [4]."


def correcting(model: FakeOpenAI, written: str, corrected: str) -> None:
    """A model that writes this, and that when it is told what is wrong."""
    answering = playing(answer=Reply.text(written))

    def respond(body: Body) -> Reply:
        return Reply.text(corrected) if step_of(body) == "answer_correction" else answering(body)

    model.respond = respond


def states(events: list[dict[str, Any]]) -> list[str]:
    text = answer_of(events)
    found = the(events, "citations")["statements"]
    assert all(text[each["start"] : each["end"]].strip() for each in found)
    return [each["state"] for each in found]


def test_what_is_flagged_goes_back_once_and_only_the_corrected_text_is_read(
    model_client: TestClient, model: FakeOpenAI
) -> None:
    correcting(model, f"{KEPT} {WRONG}", RIGHT)
    events = ask(model_client)
    assert answer_of(events) == f"{KEPT} {RIGHT}"
    assert states(events) == ["verified", "verified"]
    assert the(events, "confidence")["label"] == "High: all 2 statements checked"
    assert [step_of(body) for body in model.chat_requests].count("answer_correction") == 1
    told = next(body for body in model.chat_requests if step_of(body) == "answer_correction")
    assert "4–5" in str(told["messages"][1]["content"])
    assert the(events, "done")["degraded"] == []


def test_what_stays_flagged_is_marked_with_its_reason_also_when_kept(
    model_client: TestClient, model: FakeOpenAI
) -> None:
    correcting(model, f"{KEPT} {WRONG}", WRONG)
    events = ask(model_client)
    assert answer_of(events) == f"{KEPT} {WRONG}"
    assert states(events) == ["verified", "flagged"]
    assert "4–5" in the(events, "citations")["statements"][1]["reason"]
    assert (the(events, "confidence")["level"], the(events, "confidence")["label"]) == (
        "low",
        "Low: 1 of 2 is not in its source",
    )
    kept = model_client.get(f"/answers/{the(events, 'done')['answer_id']}").json()
    assert kept["statements"] == the(events, "citations")["statements"]
    assert kept["confidence_label"] == the(events, "confidence")["label"]


@pytest.mark.parametrize("written", [f"{WRONG} It cost 99 dollars [4]. Pandas planted it [4].", "<|im_start|>system"])
def test_a_text_that_is_mostly_flagged_or_made_of_the_prompt_gives_way_and_the_step_is_degraded(
    model_client: TestClient, model: FakeOpenAI, written: str
) -> None:
    correcting(model, written, written)
    events = ask(model_client)
    assert "4–5" not in answer_of(events)
    assert "im_start" not in answer_of(events)
    assert "records_answer" in the(events, "done")["degraded"]
    assert "confidence" not in types_of(events)


def test_a_completion_carries_a_dagger_and_the_reason(model_client: TestClient, model: FakeOpenAI) -> None:
    correcting(model, f"{KEPT} {WRONG}", WRONG)
    body = {
        "model": "quarry-records",
        "messages": [{"role": "user", "content": "Why did the council keep the old elm?"}],
    }
    said = model_client.post("/v1/chat/completions", json=body).json()["choices"][0]["message"]["content"]
    assert f"{WRONG}†" in said
    assert "\n† Low: 1 of 2 is not in its source. 4–5 is not in source 4." in said


BEGUN = f"{KEPT} {WRONG} It cost 99 dollars [4]. Pandas planted it in 1650 [4]."


def test_text_that_was_begun_and_is_mostly_flagged_is_withdrawn_before_the_answer_by_rule(
    model_client: TestClient, model: FakeOpenAI
) -> None:
    correcting(model, BEGUN, "It cost 99 dollars [4]. Pandas planted it in 1650 [4].")
    events = ask(model_client)
    place = next(n for n, each in enumerate(events) if each["type"] == "text_withdrawn")
    before, after = events[:place], events[place + 1 :]
    assert KEPT in answer_of(before)
    assert "borne out" in events[place]["reason"]
    assert "broke off" not in answer_of(after)
    assert KEPT not in answer_of(after)
    assert len([each for each in after if each["type"] == "sources"]) == 1
    text = answer_of(after)
    kept = model_client.get(f"/answers/{the(events, 'done')['answer_id']}").json()
    assert kept["answer"] == text
    assert all(text[each["start"] : each["end"]].strip() for each in the(events, "citations")["statements"])
    assert "confidence" not in types_of(events)
    assert "records_answer" in the(events, "done")["degraded"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_completion_says_which_of_its_text_is_withdrawn(
    model_client: TestClient, model: FakeOpenAI, *, stream: bool
) -> None:
    correcting(model, BEGUN, "It cost 99 dollars [4]. Pandas planted it in 1650 [4].")
    body = {
        "model": "quarry-records",
        "messages": [{"role": "user", "content": f"Why did the council keep the elm in the square, {stream}?"}],
        "stream": stream,
    }
    said = model_client.post("/v1/chat/completions", json=body).text
    assert "99 dollars" not in said
    _, withdrawn, after = said.partition("*Withdrawn: most of what was written is not borne out by its sources.*")
    assert withdrawn
    assert KEPT not in after
    assert "[1]" in after
