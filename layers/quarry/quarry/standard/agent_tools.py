"""A domain for agents: its texts and its rows whole for the tools over all sources, and its answers as a chat model's."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from psycopg.sql import SQL, Identifier

from quarry.agent.completions import Chat, CitedSource, Sources, answering, heading
from quarry.agent.domain_tools import AgentTemplate
from quarry.agent.sources import DataAccess
from quarry.agent.tools import Filters, Hit, condition_on
from quarry.answering.contract import TURN_CHARACTERS_MAX, AskedBefore, FinalAnswerEvent
from quarry.domains import module
from quarry.platform.errors import NotFound
from quarry.platform.text import CITATION, QUERY_MAX_CHARACTERS, unmark
from quarry.services.services import Caller, Services

LISTED_MAX = 10
"""How many rows are listed below an answer."""


def of(domain: str) -> SimpleNamespace:
    [collection] = module(domain, "tables").COLLECTIONS

    async def search_text(
        text: str, names: Sequence[str], filters: Filters, limit: int, access: DataAccess, services: Services
    ) -> list[Hit]:
        """The rows for a text, best first. Raises DatabaseUnavailable."""
        with services.run(domain, access.caller, text, {"text": text}) as run:
            rows = await module(domain, "search").find(
                text, run, services, limit, condition_on(collection.name, filters)
            )
            run.end_reason = "answered"
        return [Hit(source=collection.name, id=each.id, title=each.title, text=unmark(each.snippet)) for each in rows]

    async def read_whole(name: str, id: str, caller: Caller, services: Services) -> dict[str, Any]:
        """All fields of a row. Raises NotFound and DatabaseUnavailable."""
        fields = collection.types[collection.rows]
        columns = SQL(", ").join(map(Identifier, fields.model_fields))
        query = SQL("select {} from {} where id = %s").format(columns, Identifier(collection.rows))
        row = await services.reader.row(query, [id])
        if row is None:
            raise NotFound(f"There is no {collection.label} with this id.")
        whole: dict[str, Any] = fields.model_validate(row).model_dump(mode="json", exclude_none=True)
        return whole

    def listed(event: FinalAnswerEvent) -> Sources:
        answer = event.data
        return sources_of(
            domain.capitalize(), answer.response, answer.total, [(each.title, "") for each in answer.results]
        )

    def chat_request(chat: Chat) -> object:
        return module(domain, "contract").AskRequest(question=chat.question, history=earlier_turns(chat))

    complete = answering(chat_request, module(domain, "search").answer, FinalAnswerEvent, listed)
    template = AgentTemplate(f"quarry://{domain}/{{id}}", domain, collection.label, "One row, whole.", read_whole)
    return SimpleNamespace(
        search_text=search_text, read_whole=read_whole, complete=complete, AGENT_TOOLS=(), AGENT_TEMPLATES=(template,)
    )


def earlier_turns(chat: Chat) -> list[AskedBefore]:
    """The questions before with their answers."""
    turns = [
        AskedBefore(question=turn.content[:QUERY_MAX_CHARACTERS], answer=reply.content[:TURN_CHARACTERS_MAX])
        for turn, reply in zip(chat.before, chat.before[1:], strict=False)
        if (turn.role, reply.role) == ("user", "assistant")
    ]
    return turns[-50:]


def sources_of(label: str, response: str, total: int, rows: Sequence[tuple[str, str]]) -> Sources:
    """The rows of an answer, each a title and a detail, under a heading."""
    cited = list(dict.fromkeys(int(number) for number in CITATION.findall(response)))
    listed = rows[:LISTED_MAX]
    # the rows of an answer that cites stand in the order of its citations
    numbers = cited if len(cited) == len(rows) else [None] * len(listed)
    items = [CitedSource(title, detail, n=n) for (title, detail), n in zip(listed, numbers, strict=False)]
    return Sources(heading(label, len(listed), total), items)
