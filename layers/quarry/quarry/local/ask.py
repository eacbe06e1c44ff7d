"""`quarry ask`: a search in this process, its events shown in the terminal as they come."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, ValidationError
from rich.console import Console

from quarry.core.errors import FieldError, InvalidInput, QuarryError
from quarry.core.services import LOCAL_USER, Caller
from quarry.core.stream.events import EnvelopedErrorEvent, ErrorEvent, Event
from quarry.local.database import LocalDatabase
from quarry.local.terminal import make_console

Events = AsyncGenerator[BaseModel]
"""The events of a search, or its one response."""


class View(Protocol):
    """Shows events in the terminal, one after another."""

    def show(self, event: BaseModel) -> None: ...


@dataclass(frozen=True)
class Askable:
    """A domain as `quarry ask` sees it. `request` makes the request of a question; it raises pydantic's ValidationError."""

    request: Callable[[str], BaseModel]
    answer: Callable[..., Events]
    view: Callable[[Console], View]
    error: Callable[[str], BaseModel]
    """The domain's last event of a stream that failed, with this message."""


async def ask(domain: str, question: str, database: LocalDatabase, *, as_json: bool) -> None:
    """Answer `question` on stdout. Raises InvalidInput; QuarryError, in JSON after an `error` event."""
    askable = _ASKABLE[domain]()
    request = _request(askable, question)
    async with database.services() as services:
        events = askable.answer(request, Caller(LOCAL_USER), services)
        if as_json:
            await _write_json(events, askable.error)
        else:
            await _show(events, askable.view(make_console()))


def check(domain: str, question: str) -> None:
    """See that `question` can be asked, before a database is opened. Raises InvalidInput."""
    _request(_ASKABLE[domain](), question)


def _companies() -> Askable:
    from quarry.companies.contract import ChatRequest
    from quarry.companies.search import search_companies
    from quarry.local.companies_view import SearchView

    def request(question: str) -> ChatRequest:
        return ChatRequest.model_validate({"messages": [{"role": "user", "content": question}]})

    return Askable(request, search_companies, SearchView, EnvelopedErrorEvent.saying)


def _campaigns() -> Askable:
    from quarry.campaigns.contract import ChatRequest
    from quarry.campaigns.search import chat_about_campaigns
    from quarry.local.campaigns_view import ChatView

    return Askable(
        lambda question: ChatRequest(message=question), chat_about_campaigns, ChatView, EnvelopedErrorEvent.saying
    )


def _ontology() -> Askable:
    from quarry.local.ontology_view import EntityListView, answer
    from quarry.ontology.contract import OntologySearchRequest

    return Askable(
        lambda question: OntologySearchRequest(query=question),
        answer,
        EntityListView,
        lambda message: ErrorEvent(message=message),
    )


def _records() -> Askable:
    from quarry.local.records_view import AnswerView
    from quarry.records.answer import answer_question
    from quarry.records.contract import AskRequest

    return Askable(
        lambda question: AskRequest(question=question),
        answer_question,
        AnswerView,
        lambda message: ErrorEvent(message=message),
    )


def _people() -> Askable:
    from quarry.local.people_view import PeopleView, answer
    from quarry.people.contract import PeopleSearchRequest

    return Askable(
        lambda question: PeopleSearchRequest(query=question),
        answer,
        PeopleView,
        lambda message: ErrorEvent(message=message),
    )


# Each imports its domain when it is asked.
_ASKABLE: dict[str, Callable[[], Askable]] = {
    "campaigns": _campaigns,
    "companies": _companies,
    "ontology": _ontology,
    "people": _people,
    "records": _records,
}


def _request(askable: Askable, question: str) -> BaseModel:
    try:
        return askable.request(question)
    except ValidationError as error:
        problems = [str(detail["msg"]).removeprefix("Value error, ") for detail in error.errors()]
        raise InvalidInput([FieldError("/question", f"the question: {problem}") for problem in problems]) from None


async def _write_json(events: Events, failed: Callable[[str], BaseModel]) -> None:
    async with aclosing(events):
        try:
            async for event in events:
                _write_line(event)
        except QuarryError as error:
            _write_line(failed(error.message))
            raise


def _write_line(event: BaseModel) -> None:
    sys.stdout.write((event.to_json() if isinstance(event, Event) else event.model_dump_json()) + "\n")
    sys.stdout.flush()


async def _show(events: Events, view: View) -> None:
    async with aclosing(events):
        async for event in events:
            view.show(event)
