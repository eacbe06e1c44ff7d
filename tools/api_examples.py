"""The examples in the API's description, taken from the recorded events: what a reader sees is what a test replays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from quarry.web.description import Example
from tests.deployed.replay import RecordedEvent, recorded_events

LIST_MAX = 2
LONG_CHARACTERS = 3_000
"""In answers longer than this, written without spaces, lists are shortened."""


def examples(described: dict[str, Any]) -> list[Example]:
    """The recorded calls of each route in `described`, the paths of an OpenAPI document."""
    recorded = [example for event in recorded_events() if event.is_request for example in _example(event)]
    return [each for each in recorded if each["method"] in described.get(each["path"], {})]


def _example(recorded: RecordedEvent) -> Iterator[Example]:
    event = recorded.event
    query = event["multiValueQueryStringParameters"] or {}
    query |= {name: [value] for name, value in (event["pathParameters"] or {}).items()}
    query |= {name: [value] for name, value in event["headers"].items() if name == "Idempotency-Key"}
    status, media_type, answer, is_shortened = _answer(recorded)
    yield Example(
        name=recorded.path.stem,
        method=event["httpMethod"].lower(),
        path=event["resource"].replace("+}", "}"),
        parameters=query,
        body=json.loads(event["body"]) if event["body"] else None,
        status=status,
        media_type=media_type,
        answer=answer,
        is_shortened=is_shortened,
    )


def _answer(recorded: RecordedEvent) -> tuple[int, str | None, Any, bool]:
    text = recorded.expected_path.read_text()
    if recorded.expected_path.suffix == ".txt":
        is_sse = text.startswith(("id: ", "data: ", ":"))
        whole = text.strip()
        short = _short_stream(whole, is_sse)
        return 200, "text/event-stream" if is_sse else "application/x-ndjson", short, short != whole
    answer = json.loads(text)
    media_type = answer["headers"].get("content-type", "").partition(";")[0] if answer["body"] != "" else None
    short = _short(answer["body"]) if _is_long(answer["body"]) else answer["body"]
    return answer["statusCode"], media_type, short, short != answer["body"]


def _is_long(value: Any) -> bool:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) > LONG_CHARACTERS


def _short(value: Any) -> Any:
    """The value with two of each list of objects."""
    if isinstance(value, dict):
        return {name: _short(each) for name, each in value.items()}
    if isinstance(value, list):
        beginning = value[:LIST_MAX] if any(isinstance(each, dict) for each in value) else value
        return [_short(each) for each in beginning]
    return value


def _short_stream(text: str, is_sse: bool) -> str:
    """The first event of each kind, and the last event."""
    between = "\n\n" if is_sse else "\n"
    lines: dict[str, str] = {}
    for block in text.split(between):
        lines.setdefault(_kind(block), _short_event(block))
    return between.join(lines.values())


def _short_event(block: str) -> str:
    *head, line = block.split("\n")
    field, brace, rest = line.partition("{")
    if not brace or not _is_long(value := json.loads(brace + rest)):
        return block
    return "\n".join([*head, field + json.dumps(_short(value), ensure_ascii=False)])


def _kind(block: str) -> str:
    """The kind of an event: its type; for a piece of a completion, its content."""
    _, brace, rest = block.split("\n")[-1].partition("{")
    if not brace:
        return block
    event = json.loads(brace + rest)
    if "type" in event:
        return str(event["type"])
    return str([[*choice["delta"], choice["finish_reason"]] for choice in event.get("choices", [])])
