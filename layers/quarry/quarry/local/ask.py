"""`quarry ask`: a search in this process, its events shown in the terminal as they come."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from quarry.answering.contract import FinalAnswerEvent
from quarry.campaigns import contract as campaigns
from quarry.companies import contract as companies
from quarry.local import views
from quarry.local.cli.command import WrongUsage, on_database
from quarry.local.served_address import served_address
from quarry.local.telling import Format, note, write_csv
from quarry.local.terminal import make_console
from quarry.ontology import contract as ontology
from quarry.people import contract as people
from quarry.platform.contract import DOMAINS, plain_words
from quarry.platform.errors import QuarryError
from quarry.records import contract as records
from quarry.streaming.events import EnvelopedErrorEvent, ErrorEvent, Event

if TYPE_CHECKING:
    from rich.console import Console

    from quarry.client import AsyncClient
    from quarry.local.database import LocalDatabase
    from quarry.services.services import Caller, Services

Events = AsyncGenerator[BaseModel]
"""The events of a search, or its one response."""


@dataclass(frozen=True)
class Askable:
    """How to ask a domain: in this process by `answer`, a module and its function, imported on use, or a server by its client.

    `request` makes a request from a question, and raises pydantic's ValidationError. `view` takes a console, and the address of
    the server that answers, if one does. `error` is the last event of a stream that failed.
    """

    request: Callable[[str], BaseModel]
    answer: tuple[str, str]
    remote: Callable[[AsyncClient, str], AsyncIterator[BaseModel] | Awaitable[BaseModel]]
    view: Callable[[Console, str | None], views.View]
    error: Callable[[str], BaseModel] = lambda message: ErrorEvent(message=message)

    def answered(self, request: BaseModel, caller: Caller, services: Services) -> Events:
        """The events of a search in this process."""
        module, function = self.answer
        return events_of(getattr(import_module(module), function)(request, caller, services))


ASKABLE: Mapping[str, Askable] = {
    "records": Askable(
        lambda question: records.AskRequest(question=question),
        ("quarry.records.answer", "answer_question"),
        lambda client, question: client.ask_records(question),
        views.RecordsView,
    ),
    "people": Askable(
        lambda question: people.PeopleSearchRequest(query=question),
        ("quarry.people.search", "search_people"),
        lambda client, question: client.search_people(question),
        views.PeopleView,
    ),
    "companies": Askable(
        lambda question: companies.ChatRequest(messages=[companies.ChatMessage(role="user", content=question)]),
        ("quarry.companies.search", "search_companies"),
        lambda client, question: client.ask_companies(question),
        views.CompaniesView,
        EnvelopedErrorEvent.saying,
    ),
    "campaigns": Askable(
        lambda question: campaigns.ChatRequest(message=question),
        ("quarry.campaigns.search", "chat_about_campaigns"),
        lambda client, question: client.ask_campaigns(question),
        views.CampaignsView,
        EnvelopedErrorEvent.saying,
    ),
    "ontology": Askable(
        lambda question: ontology.OntologyAskRequest(question=question),
        ("quarry.ontology.search", "answer_about_projects"),
        lambda client, question: client.ask_projects(question),
        views.ProjectsView,
        EnvelopedErrorEvent.saying,
    ),
}
"""By domain; others are asked as `quarry.standard` has it."""


def askable_of(domain: str) -> Askable:
    """How to ask the domain."""
    if domain in ASKABLE:
        return ASKABLE[domain]
    from quarry.client.routes.written import standard_events
    from quarry.domains import module

    def remote(client: AsyncClient, question: str) -> AsyncIterator[BaseModel]:
        return client.stream(*standard_events(domain, question))

    request = module(domain, "contract").AskRequest
    return Askable(
        lambda question: request(question=question),
        (f"quarry.{domain}.search", "answer"),
        remote,
        views.AnswerView,
        EnvelopedErrorEvent.saying,
    )


async def events_of(answer: AsyncIterator[BaseModel] | Awaitable[BaseModel]) -> Events:
    """The events of a search, or its one response, as a stream of events."""
    if isinstance(answer, Awaitable):
        yield await answer
        return
    try:
        async for event in answer:
            yield event
    finally:
        if close := getattr(answer, "aclose", None):
            await close()


def ask(domain: str | None, question: str, *, format: Format) -> None:
    """Answer `question` on stdout, without a `domain` from every one that holds data. Raises WrongUsage before the database is
    opened; QuarryError, in JSON after an `error` event.
    """
    for name in DOMAINS if domain is None else (domain,):
        question_for(name, question)

    async def answer(database: LocalDatabase) -> None:
        # imported here: asking a server needs none of it
        from quarry.domains import filled_domains
        from quarry.services.services import LOCAL_USER, Caller

        page = served_address(database.settings.quarry_data_dir)
        async with database.services() as services:
            filled = [domain] if domain else await filled_domains(services, services.database, seconds=0)
            if not filled:
                raise QuarryError("There is no data to ask: see `quarry load`, `quarry map` and `quarry demo`.")
            for name in filled:
                if domain is None:
                    _write_heading(name, format)
                askable, request = question_for(name, question)
                events = askable.answered(request, Caller(LOCAL_USER), services)
                with _told_on_stderr() if domain is None else nullcontext():
                    await render(askable, events, format=format, page=page)

    on_database(answer)


def _write_heading(domain: str, format: Format) -> None:
    """What follows is of this domain."""
    if format == "json":
        print(json.dumps({"type": "domain", "domain": domain}), flush=True)
    elif format == "csv":
        note(domain)
    else:
        make_console().print(f"\n{domain}", style="bold")


@contextmanager
def _told_on_stderr() -> Iterator[None]:
    """The other domains are asked even if one fails."""
    try:
        yield
    except QuarryError as error:
        note(error.message)


async def render(
    askable: Askable, events: Events, *, format: Format, server: str | None = None, page: str | None = None
) -> None:
    """Show events on stdout as they come, with links to `page`; as CSV their table at the end. Without a `server` they come from
    this process.
    """
    if format == "json":
        await _write_json(events, askable.error)
    elif format == "csv":
        table = AnswerTable()
        async with aclosing(events):
            async for event in events:
                table.take(event)
        table.write()
    else:
        view = askable.view(make_console(), server)
        view.page = page or server
        await _show(events, view)


def question_for(domain: str, question: str) -> tuple[Askable, BaseModel]:
    """How to ask the domain, and the request for a question. Raises WrongUsage if the question is invalid."""
    askable = askable_of(domain)
    try:
        return askable, askable.request(question)
    except ValidationError as error:
        problems = (f"the question: {plain_words(detail)}" for detail in error.errors())
        raise WrongUsage("; ".join(problems)) from None


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


async def _show(events: Events, view: views.View) -> None:
    async with aclosing(events):
        async for event in events:
            view.show(event)


class AnswerTable:
    """The table of an answer: its numbers where it counts, else what it lists or cites. Takes the events of any domain."""

    def __init__(self) -> None:
        self._rows: Sequence[BaseModel] = ()
        self._numbers: views.Numbers | None = None

    def take(self, event: BaseModel) -> None:
        """Remember what the event lists, instead of what was listed before."""
        match event:
            case records.SourcesEvent():
                self._rows, self._numbers = event.sources, None
            case records.AggregationEvent():
                self._numbers = event
            case records.TextWithdrawnEvent():
                self._rows, self._numbers = (), None
            case companies.FinalAnswerEvent(data=answer):
                self._rows, self._numbers = answer.references, answer.aggregation
            case campaigns.FinalAnswerEvent(data=chat):
                self._rows, self._numbers = chat.campaigns, chat.aggregation
            case ontology.FinalAnswerEvent() | FinalAnswerEvent():
                self._rows = event.data.results
            case people.PeopleSearchResponse():
                self._rows = event.people

    def write(self) -> None:
        """Print the table on stdout; nothing where there is none."""
        rows = [each.model_dump(mode="json") for each in self._rows]
        if (
            (numbers := self._numbers) is not None
            and numbers.query is not None
            and not numbers.query.last.asks_for_rows
        ):
            rows = _rows_of(numbers)
        headings = [*dict.fromkeys(name for row in rows for name, value in row.items() if value not in (None, [], {}))]
        if headings:
            write_csv(headings, ([row.get(name) for name in headings] for row in rows))


def _rows_of(numbers: views.Numbers) -> list[dict[str, Any]]:
    """The groups, by the labels of their columns; a single row where there are none."""
    labels = {column.name: column.label for column in numbers.columns}
    if numbers.groups:
        by = getattr(numbers, "by", None) or next(iter(labels), "value")
        groups = [each.model_dump(mode="json") for each in numbers.groups]
        return [
            {labels.get(by, by): each["value"]}
            | {labels.get(name, name): each.get(name) for name in labels if name != by}
            for each in groups
        ]
    value = getattr(numbers, "value", None)
    name = getattr(numbers, "of", None) or "count"
    return [{labels.get(name, name): getattr(numbers, "total", None) if value is None else value}]
