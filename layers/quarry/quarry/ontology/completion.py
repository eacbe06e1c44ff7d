"""Projects as a model of chat completions."""

from __future__ import annotations

from quarry.agent.completions import Chat, ChatAnswer, CitedSource, Sources, answer_of
from quarry.ontology.ask import answer_about_projects
from quarry.ontology.contract import (
    TURN_CHARACTERS_MAX,
    AskedBefore,
    FinalAnswerEvent,
    OntologyAnswer,
    OntologyAskRequest,
)
from quarry.platform.links import CITATION
from quarry.platform.text import QUERY_MAX_CHARACTERS

LISTED_MAX = 10
"""How many entities are listed below an answer."""


async def answer(chat: Chat) -> ChatAnswer:
    """The text of the answer, and then the entities that it speaks of."""
    before = [
        AskedBefore(question=turn.content[:QUERY_MAX_CHARACTERS], answer=reply.content[:TURN_CHARACTERS_MAX])
        for turn, reply in zip(chat.before, chat.before[1:], strict=False)
        if (turn.role, reply.role) == ("user", "assistant")
    ]
    request = OntologyAskRequest(question=chat.question, history=before[-50:])
    events = answer_about_projects(request, chat.caller, chat.services, chat.request_id, chat.run_id)
    return answer_of(events, FinalAnswerEvent, lambda event: _sources(event.data))


def _sources(found: OntologyAnswer) -> Sources:
    listed = found.results[:LISTED_MAX]
    heading = f"Entities, the first {len(listed)} of {found.total:,}" if found.total > len(listed) else "Entities"
    cited = list(dict.fromkeys(int(number) for number in CITATION.findall(found.response)))
    # the entities of an answer that cites stand in the order of its citations
    numbers = cited if len(cited) == len(found.results) else [None] * len(listed)
    details = [", ".join(filter(None, (each.type.replace("_", " "), each.project_name))) for each in listed]
    rows = zip(listed, details, numbers, strict=False)
    return Sources(heading, [CitedSource(each.title, detail, n=n) for each, detail, n in rows])
