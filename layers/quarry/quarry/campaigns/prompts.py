"""The prompts for answers about campaigns. Advertisers' text is fenced as data, so that the model does not follow it."""

from __future__ import annotations

import datetime

from quarry.answering.written import answer_messages, earlier
from quarry.campaigns.conditions import label_of
from quarry.campaigns.contract import ChatRequest
from quarry.campaigns.results import KnownValues
from quarry.models.interface import Message

HISTORY_MESSAGES = 8

ABOUT = "a collection of marketing campaigns"
NOTES = """Here semantic_search is for a theme that no field covers, full_text_search for words of the copy, filter_campaigns for
properties, where what is ruled out goes into `exclude`, and aggregate_campaigns for plain counts. If nothing is found, try one
wider search."""
CITE = """Give the id of each campaign that you speak of, as in [c-17], with its brand; no id that
  no result shows. Costs, views and the like are in no campaign."""


def campaign_messages(request: ChatRequest, values: KnownValues, card: str, today: datetime.date) -> list[Message]:
    """The first messages of the conversation with the model. `card` describes the fields."""
    days = (
        f"Captured from {values.earliest} to {values.latest}; recent counts back from the latter."
        if values.latest
        else ""
    )
    return answer_messages(
        request.message,
        [earlier(turn.role, turn.content) for turn in request.history[-HISTORY_MESSAGES:]],
        about=ABOUT,
        card="\n".join(filter(None, (card, days))) or "There are no campaigns.",
        today=today,
        notes=NOTES,
        cite=CITE,
        facts=_in_force(request),
    )


def _in_force(request: ChatRequest) -> str:
    """The conditions of every search: the filters of the page, and those set by the user."""
    lines = [f"{name}: {value}" for name, value in request.base_filters.in_force().items()]
    if (understood := request.understood) is not None:
        lines += map(label_of, (*understood.query.where, *understood.assumed))
        lines += filter(
            None,
            (
                understood.about and f"about {understood.about}",
                understood.query.text and f"saying {understood.query.text}",
            ),
        )
    return f"campaigns {'; '.join(lines)}" if lines else ""
