"""Companies for agents and as a chat model: a search of their own, and what the tools over all sources need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from quarry.agent.completions import Chat, CitedSource, Sources, answering
from quarry.agent.domain_tools import RESULTS_MAX, TEXT_CHARACTERS_MAX, AgentPrompt, AgentTemplate, AgentTool
from quarry.agent.sources import DataAccess
from quarry.agent.tools import Filters, Hit, condition_on
from quarry.companies.contract import (
    MESSAGE_CHARACTERS_MAX,
    MESSAGES_MAX,
    Aggregation,
    ChatMessage,
    ChatRequest,
    EndReason,
    FinalAnswer,
    FinalAnswerEvent,
)
from quarry.companies.retrieval import companies_by_ids, company_by_id, retrieve_variants
from quarry.companies.search import search_companies
from quarry.companies.state import Variant
from quarry.companies.tools import FIND_COMPANIES, FoundCompany, company_json
from quarry.platform.contract import LazyModel, Request
from quarry.platform.text import QueryText, shorten
from quarry.services.services import Caller, Services


async def search_text(
    text: str, names: Sequence[str], filters: Filters, limit: int, access: DataAccess, services: Services
) -> list[Hit]:
    """The companies nearest to a text by words and meaning, ranked as in one retrieval of the search loop. Raises
    DatabaseUnavailable.
    """
    with services.run("companies", access.caller, text, {"text": text}) as run:
        variant = Variant(text, await services.queries.embed_for(run, text))
        candidates = await retrieve_variants(
            services.reader, [variant], services.settings, filter=condition_on("companies", filters), limit=limit
        )
        companies = {
            each.id: each for each in await companies_by_ids(services.reader, [each.company_id for each in candidates])
        }
        run.end_reason = "answered"
    ordered = [companies[each.company_id] for each in candidates if each.company_id in companies]
    return [
        Hit(
            source="companies",
            id=each.id,
            title=each.company_name,
            text=shorten(each.description or each.tagline or "", TEXT_CHARACTERS_MAX),
            url=each.website_url,
        )
        for each in ordered
    ]


async def read_whole(name: str, id: str, caller: Caller, services: Services) -> dict[str, Any]:
    """All fields of one company. Raises NotFound and DatabaseUnavailable."""
    return (await company_by_id(services.reader, id)).model_dump(mode="json", exclude_none=True)


class SearchCompaniesArguments(Request):
    """Arguments of `search_companies`."""

    question: QueryText = Field(
        description="The companies wanted, in plain words: what they make, for whom, where, of which status, how many, or "
        "like which other company."
    )
    limit: int = Field(default=8, ge=1, le=RESULTS_MAX, description="How many to give at most.")


class AnsweredCompanies(LazyModel):
    """The companies that fit best. `aggregation` is set if the question asks for a number."""

    summary: str
    total: int
    companies: list[FoundCompany]
    end_reason: EndReason
    aggregation: Aggregation | None = None


async def _search(arguments: SearchCompaniesArguments, caller: Caller, services: Services) -> dict[str, Any]:
    request = ChatRequest.model_validate({"messages": [{"role": "user", "content": arguments.question}]})
    events = search_companies(request, caller, services)
    answer: FinalAnswer = [event.data async for event in events if isinstance(event, FinalAnswerEvent)][-1]
    references = answer.references[: arguments.limit]
    return {
        "summary": answer.content,
        "total": answer.aggregation.total if answer.aggregation else len(answer.references),
        "companies": [
            company_json(reference, answer.companies_by_id[reference.company_id]) for reference in references
        ],
        "end_reason": answer.telemetry.end_reason,
    } | ({"aggregation": answer.aggregation.model_dump(mode="json")} if answer.aggregation else {})


AGENT_TOOLS = (
    FIND_COMPANIES,
    AgentTool(
        "search_companies",
        "Search startup companies",
        "Companies by a question in plain words, or by a name, with a summary.",
        SearchCompaniesArguments,
        AnsweredCompanies,
        _search,
        route_class="model",
        is_former=True,
    ),
)

AGENT_TEMPLATES = (
    AgentTemplate(
        "quarry://companies/{id}", "company", "A startup company", "One company, whole, by its id.", read_whole
    ),
)

AGENT_PROMPTS = (
    AgentPrompt(
        "shortlist_companies",
        "Shortlist companies",
        "A short list of companies for a need, each with what speaks for it and against it.",
        {"need": "what the companies must be like, in plain words"},
        "Make a short list of companies for this: {need}\n\nFind them with find_companies, in two or three wordings, and read "
        "the best ones whole with `get`. Give at most five in a table: what each does, what speaks for it, what speaks "
        "against it. Say which demands none of them meets. Use nothing that the profiles do not say.",
    ),
)


def _chat_request(chat: Chat) -> ChatRequest:
    before = [
        ChatMessage(role=turn.role, content=turn.content[:MESSAGE_CHARACTERS_MAX])
        for turn in chat.before[-(MESSAGES_MAX - 1) :]
    ]
    return ChatRequest(messages=[*before, ChatMessage(role="user", content=chat.question)])


def _sources(event: FinalAnswerEvent) -> Sources:
    answer = event.data
    return Sources(
        "Companies",
        [
            CitedSource(each.company_name, each.reason, answer.companies_by_id[each.company_id].website_url)
            for each in answer.references
        ],
    )


complete = answering(_chat_request, search_companies, FinalAnswerEvent, _sources)
"""The text of the answer, and then the companies, best first."""
