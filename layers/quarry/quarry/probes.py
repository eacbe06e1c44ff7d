"""One search of each domain, and whether it was answered: asked of a release before it gets requests, and of a stack."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from quarry.platform.contract import DOMAINS

LAST_EVENTS = frozenset(("done", "final_answer"))
"""What a stream that was answered ends in."""


@dataclass(frozen=True)
class Probe:
    """A search that any data answers, be it with nothing found."""

    path: str
    body: dict[str, Any]


PROBES = {domain: Probe(f"/{domain}/search", {"query": "new"}) for domain in DOMAINS} | {
    "companies": Probe("/companies/chat", {"messages": [{"role": "user", "content": "software"}]}),
    "people": Probe("/people/search", {"query": "engineer"}),
    "records": Probe("/records/ask", {"question": "What was decided?", "fresh": True}),
    "campaigns": Probe("/campaigns/chat", {"message": "email"}),
}
"""By domain."""


def fault(status: int, text: str) -> str | None:
    """What is wrong with the answer to a probe; None where it was answered to its end, in one piece or as a stream of events.

    A search that its user has no credits for was answered, too.
    """
    if status == 402:
        return None
    if status != 200:
        return f"status {status}"
    last = _last_object(text)
    if last is None:
        return "no answer"
    kind = last.get("type")
    if kind == "error":
        return "the stream ended in an error"
    return f"the stream ended in {kind}" if "type" in last and kind not in LAST_EVENTS else None


def _last_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a body is, or that the last event of its stream is; None where there is none."""
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.removeprefix("data: ").startswith("{")]
    for candidate in (text, *lines[-1:]):
        try:
            found = json.loads(candidate)
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return None
