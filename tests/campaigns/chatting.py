"""Chatting about campaigns over HTTP."""

from __future__ import annotations

import json
from typing import Any

from starlette.testclient import TestClient

Json = dict[str, Any]


def chat(client: TestClient, message: str, **body: Any) -> Json:
    """The answer in one piece."""
    response = client.post("/campaigns/chat", json={"message": message} | body)
    assert response.status_code == 200, response.text
    answer: Json = response.json()
    return answer


def stream(client: TestClient, message: str, **body: Any) -> list[Json]:
    """The events of an answer."""
    response = client.post(
        "/campaigns/chat", json={"message": message} | body, headers={"Accept": "application/x-ndjson"}
    )
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/x-ndjson; charset=utf-8"
    return [json.loads(line) for line in response.text.splitlines() if line]


def ids(answer: Json) -> set[str]:
    return {campaign["id"] for campaign in answer["campaigns"]}
