"""Answering a question about the caller's projects, as a stream of events: the loop of `answering.asking` over their entities."""

from __future__ import annotations

import datetime
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from uuid import UUID

from quarry.agent.tools import Hit
from quarry.answering.asking import Asking, answered
from quarry.answering.contract import RESULTS_MAX, AnswerData
from quarry.answering.toolset import Toolset
from quarry.ontology.contract import FinalAnswerEvent, OntologyAnswer, OntologyAskRequest
from quarry.ontology.search import (
    EntityCandidate,
    WorkspaceIntent,
    access_of,
    entities_of,
    intent_of,
    message,
    project_name,
    result_of,
    search_workspace,
)
from quarry.ontology.sources import labels
from quarry.platform.off_loop import off_loop
from quarry.platform.text import mark, unmark
from quarry.reader.reading import Reading
from quarry.runs.run_log import Run
from quarry.schema.algebra import Comparison, Condition
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event


def answer_about_projects(
    request: OntologyAskRequest,
    caller: Caller,
    services: Services,
    request_id: str | None = None,
    run_id: UUID | None = None,
) -> AsyncGenerator[Event]:
    """The events of one answer. A failing model degrades steps and never ends the stream; a failing database does. Raises
    NotFound for a project that is not the caller's.
    """

    async def begin(run: Run) -> AskingProjects:
        return await AskingProjects.of(request, caller, services, run)

    return answered(request, "ontology", begin, caller, services, request_id, run_id)


@dataclass(kw_only=True)
class ProjectTools(Toolset):
    """The general tools over the caller's entities, within the project that the request names."""

    project: str | None = None

    def required(self, name: str) -> Sequence[Condition]:
        return () if self.project is None else (Comparison(field="project", value=self.project),)


@dataclass
class AskingProjects(Asking[EntityCandidate]):
    """A question about the caller's entities."""

    step = "ontology_answer"
    about = "the projects of a user's workspace: tasks, plans, goals, milestones, documents, outputs and requirements"
    notes = (
        "What the words of the user call a project, a person or a status is a value; "
        "look it up with `values` if it is not below."
    )

    request: OntologyAskRequest
    tools: ProjectTools

    @classmethod
    async def of(cls, request: OntologyAskRequest, caller: Caller, services: Services, run: Run) -> AskingProjects:
        """The question over the caller's entities. Raises NotFound for a project that is not the caller's."""
        access = access_of(request.types or (), caller)
        acting = access.acting(services)
        project = None if request.project_id is None else await project_name(acting.reader, caller, request.project_id)
        tools = ProjectTools(
            services=services,
            caller=caller,
            run=run,
            access=access,
            today=datetime.datetime.now(datetime.UTC).date(),
            names=[*access.homes],
            project=project,
        )
        return cls(request, tools)

    @property
    def facts(self) -> str:
        return "" if self.tools.project is None else f"the project {self.tools.project}"

    async def search(self, text: str) -> str:
        return await self._find(WorkspaceIntent(text))

    async def by_words(self, reading: Reading) -> str:
        return await self._find(await off_loop(intent_of, reading))

    async def _find(self, intent: WorkspaceIntent) -> str:
        """Set what is found for what the question seeks; what was found in a line."""
        tools, request = self.tools, self.request
        with tools.run.step("retrieve"):
            found, where, is_met = await search_workspace(
                request.question,
                request.types or (),
                tools.caller,
                tools.services,
                project_id=request.project_id,
                intent=intent,
            )
        self.matches, self.total = found.entities, found.total
        return message(found, labels(where), is_met=is_met)

    async def rows(self, keys: Sequence[tuple[str, str]]) -> Sequence[EntityCandidate]:
        return await entities_of(self.tools.access.acting(self.tools.services).reader, self.tools.caller, keys)

    def hit(self, row: EntityCandidate) -> Hit:
        return Hit(source=row.type, id=row.id, title=row.title, text=unmark(mark(row.snippet)))

    def final(self, data: AnswerData) -> Event:
        results = [result_of(each) for each in self.matches[:RESULTS_MAX]]
        return FinalAnswerEvent(data=OntologyAnswer(results=results, **dict(data)))
