"""Projects as a model of chat completions."""

from __future__ import annotations

from quarry.agent.completions import Chat, Sources, answering
from quarry.ontology.ask import answer_about_projects
from quarry.ontology.contract import FinalAnswerEvent, OntologyAskRequest
from quarry.standard.completion import earlier_turns, sources_of


def _request(chat: Chat) -> OntologyAskRequest:
    return OntologyAskRequest(question=chat.question, history=earlier_turns(chat))


def _sources(event: FinalAnswerEvent) -> Sources:
    found = event.data
    details = [", ".join(filter(None, (each.type.replace("_", " "), each.project_name))) for each in found.results]
    rows = [(each.title, detail) for each, detail in zip(found.results, details, strict=True)]
    return sources_of("Entities", found.response, found.total, rows)


answer = answering(_request, answer_about_projects, FinalAnswerEvent, _sources)
"""The text of the answer, and then the entities that it speaks of."""
