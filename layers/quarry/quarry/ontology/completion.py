"""Projects as a model of chat completions."""

from __future__ import annotations

from quarry.agent.completions import Chat, CitedSource, Sources, answering, heading
from quarry.ontology.ask import answer_about_projects
from quarry.ontology.contract import TURN_CHARACTERS_MAX, AskedBefore, FinalAnswerEvent, OntologyAskRequest
from quarry.platform.links import CITATION
from quarry.platform.text import QUERY_MAX_CHARACTERS

LISTED_MAX = 10
"""How many entities are listed below an answer."""


def _request(chat: Chat) -> OntologyAskRequest:
    before = [
        AskedBefore(question=turn.content[:QUERY_MAX_CHARACTERS], answer=reply.content[:TURN_CHARACTERS_MAX])
        for turn, reply in zip(chat.before, chat.before[1:], strict=False)
        if (turn.role, reply.role) == ("user", "assistant")
    ]
    return OntologyAskRequest(question=chat.question, history=before[-50:])


def _sources(event: FinalAnswerEvent) -> Sources:
    found = event.data
    listed = found.results[:LISTED_MAX]
    cited = list(dict.fromkeys(int(number) for number in CITATION.findall(found.response)))
    # the entities of an answer that cites stand in the order of its citations
    numbers = cited if len(cited) == len(found.results) else [None] * len(listed)
    details = [", ".join(filter(None, (each.type.replace("_", " "), each.project_name))) for each in listed]
    rows = zip(listed, details, numbers, strict=False)
    items = [CitedSource(each.title, detail, n=n) for each, detail, n in rows]
    return Sources(heading("Entities", len(listed), found.total), items)


answer = answering(_request, answer_about_projects, FinalAnswerEvent, _sources)
"""The text of the answer, and then the entities that it speaks of."""
