"""`quarry ask`, `search`, `query` and `explain`, answered by this process or by a server."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError
from rich.text import Text

from quarry.answering.contract import FinalAnswerEvent
from quarry.campaigns import contract as campaigns
from quarry.client import AsyncClient, NotAuthenticated
from quarry.client import QuarryError as ClientError
from quarry.companies import contract as companies
from quarry.language.writing import ENGLISH, writing_of
from quarry.local import views
from quarry.local.cli.command import WrongUsage, on_database
from quarry.local.config import served_address
from quarry.local.output import Format, note, quantity, write_csv, write_json
from quarry.local.terminal import make_console, printable, snippet_text, write_table
from quarry.ontology import contract as ontology
from quarry.people import contract as people
from quarry.platform.contract import DOMAINS, place_in, plain_words
from quarry.platform.errors import QuarryError
from quarry.platform.text import marked_parts
from quarry.query.contract import Explanation, ExplanationRequest, QueryResult, ResultColumn
from quarry.query.phrases import number_of
from quarry.records import contract as records
from quarry.records.contract import Result, SearchRequest, SearchResponse
from quarry.schema.algebra import Cell, Query
from quarry.streaming.events import EnvelopedErrorEvent, ErrorEvent, Event

if TYPE_CHECKING:
    from rich.console import Console

    from quarry.local.database import LocalDatabase
    from quarry.services.services import Caller, Services


Events = AsyncGenerator[BaseModel]
"""The events of a search, or its one response."""


@dataclass(frozen=True)
class Askable:
    """How to ask a domain: in this process by `answer`, `module:function`, imported on use, or a server by its client.

    `request` makes a request from a question, and raises pydantic's ValidationError. `view` takes a console, and the address of
    the server that answers, if one does. `error` is the last event of a stream that failed.
    """

    request: Callable[[str], BaseModel]
    answer: str
    remote: Callable[[AsyncClient, str], AsyncIterator[BaseModel] | Awaitable[BaseModel]]
    view: Callable[[Console, str | None], views.View]
    error: Callable[[str], BaseModel] = EnvelopedErrorEvent.saying

    def answered(self, request: BaseModel, caller: Caller, services: Services) -> Events:
        """The events of a search in this process."""
        module, _, function = self.answer.partition(":")
        return events_of(getattr(import_module(module), function)(request, caller, services))


def _error_event(message: str) -> BaseModel:
    return ErrorEvent(message=message)


def _companies_request(question: str) -> BaseModel:
    return companies.ChatRequest(messages=[companies.ChatMessage(role="user", content=question)])


ASKABLE: Mapping[str, Askable] = {
    "records": Askable(
        lambda text: records.AskRequest(question=text),
        "quarry.records.answer:answer_question", lambda client, text: client.ask_records(text),
        views.RecordsView, _error_event,
    ),
    "people": Askable(
        lambda text: people.PeopleSearchRequest(query=text),
        "quarry.people.search:search_people", lambda client, text: client.search_people(text),
        views.PeopleView, _error_event,
    ),
    "companies": Askable(
        _companies_request,
        "quarry.companies.search:search_companies", lambda client, text: client.ask_companies(text), views.CompaniesView,
    ),
    "campaigns": Askable(
        lambda text: campaigns.ChatRequest(message=text),
        "quarry.campaigns.search:chat_about_campaigns", lambda client, text: client.ask_campaigns(text), views.CampaignsView,
    ),
    "ontology": Askable(
        lambda text: ontology.OntologyAskRequest(question=text),
        "quarry.ontology.search:answer_about_projects", lambda client, text: client.ask_projects(text), views.ProjectsView,
    ),
}  # fmt: skip
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
    return Askable(lambda text: request(question=text), f"quarry.{domain}.search:answer", remote, views.AnswerView)


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
                with _errors_on_stderr() if domain is None else nullcontext():
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
def _errors_on_stderr() -> Iterator[None]:
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
        async with aclosing(events):
            async for event in events:
                view.show(event)


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


QUESTION_CHARACTERS_MAX = 2_000


def read_query(file: str) -> Query:
    """Read a query from a JSON file, or from standard input for `-`. Raises WrongUsage and OSError."""
    text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise WrongUsage(f"the query is not valid JSON: {error}") from None
    try:
        return Query.model_validate(value)
    except ValidationError as error:
        problems = [(".".join(map(str, place_in(value, each))), plain_words(each)) for each in error.errors()]
        raise WrongUsage("; ".join(f"{place or 'the query'} {problem}" for place, problem in problems)) from None


def query_here(file: str, *, format: Format) -> None:
    """Answer a query from this machine's database. Raises QuarryError, and WrongUsage before the database is opened."""
    query = read_query(file)

    async def answer(database: LocalDatabase) -> None:
        from quarry.agent.service import run_query
        from quarry.services.services import LOCAL_USER, Caller

        async with database.services() as services:
            show(await run_query(query, Caller(LOCAL_USER), services), format)

    on_database(answer)


def show(result: QueryResult, format: Format) -> None:
    """Print a result."""
    if format == "json":
        write_json(result.model_dump(mode="json", by_alias=True, exclude_defaults=True))
        return
    if format == "csv":
        write_csv([f"{each.label} ({each.unit})" if each.unit else each.label for each in result.columns], result.rows)
        _note_truncation(result)
        return
    console = make_console()
    console.print(printable(result.sentence))
    if result.rows:
        console.print()
        rows = ([_text(cell, column) for cell, column in zip(row, result.columns, strict=True)] for row in result.rows)
        write_table(console, [_heading(column) for column in result.columns], rows)
    _note_truncation(result)


def _note_truncation(result: QueryResult) -> None:
    if result.truncated:
        note(f"There are more rows: use `limit` and `offset`. {result.total:,} rows match in all.")


def _heading(column: ResultColumn) -> str:
    """The heading of a column; one of numbers ends in a space, which aligns it to the right."""
    unit = f" ({column.unit})" if column.unit else ""
    return f"{printable(column.label)}{unit}{' ' if column.share or column.kind in ('number', 'money', 'year') else ''}"


def _text(cell: Cell, column: ResultColumn) -> str:
    if isinstance(cell, list):
        return ", ".join(_text(each, column) for each in cell)
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    number = number_of(cell) if column.kind in ("number", "money") else None
    if number is None:
        return "–" if cell is None else printable(str(cell))
    writing = writing_of(ENGLISH)
    if column.share:
        return f"{writing.measured(100 * number)}%"
    # the unit stands in the heading
    return writing.amount(number, None) if column.kind == "money" else writing.measured(number)


def explain(question: str, *, sources: Sequence[str], as_json: bool) -> None:
    """Print how a question is read. Raises WrongUsage, InvalidInput for an unknown source, and DatabaseUnavailable."""
    if not question.strip() or len(question) > QUESTION_CHARACTERS_MAX:
        raise WrongUsage(f"QUESTION is 1 to {QUESTION_CHARACTERS_MAX:,} characters")
    on_database(lambda database: _explain(question, database, sources, as_json=as_json))


async def _explain(question: str, database: LocalDatabase, sources: Sequence[str], *, as_json: bool) -> None:
    from quarry.agent.reading import explain as explained
    from quarry.services.services import LOCAL_USER, Caller

    request = ExplanationRequest(question=question, sources=[*sources])
    async with database.services() as services:
        explanation = await explained(request, Caller(LOCAL_USER), services)
    if as_json:
        write_json(explanation.model_dump(mode="json", exclude_none=True))
    else:
        _show_reading(explanation)


def _show_reading(explanation: Explanation) -> None:
    console = make_console()
    words = ([printable(each.text), printable(each.means)] for each in explanation.words)
    write_table(console, ["words", "may mean"], words)
    console.print()
    queries = (
        [
            f"{each.probability:.3f}",
            f"{each.score:.2f}",
            "" if each.pair_score is None else f"{each.pair_score:.2f}",
            printable(json.dumps(each.query)),
        ]
        for each in explanation.queries
    )
    write_table(console, ["probability ", "score ", "pair score ", "query"], queries)
    console.print()
    console.print(f"{explanation.verdict}: the first query is right with a probability of {explanation.chance:.2f}")
    if explanation.unread:
        note(f"not read: {', '.join(map(printable, explanation.unread))}")


TOKEN = "QUARRY_TOKEN"  # noqa: S105 -- the variable's name


async def ask_server(server: str, domain: str, question: str, *, format: Format) -> None:
    """`quarry ask`, answered by a server. Raises QuarryError."""
    askable, _ = question_for(domain, question)
    async with client_of(server) as client, aclosing(_events(askable.remote(client, question))) as events:
        await render(askable, events, format=format, server=server)


async def query_server(server: str, file: str, *, format: Format) -> None:
    """`quarry query`, answered by a server. Raises WrongUsage, QuarryError."""
    query = read_query(file)
    async with client_of(server) as client:
        result = await client.query(query)
    show(result, format)


async def show_own_credits(server: str, *, as_json: bool) -> None:
    """Print how many credits the owner of the token has."""
    async with client_of(server) as client:
        balance = (await client.credits()).balance
    print(json.dumps({"balance": balance}) if as_json else quantity(balance, "credit"))


@asynccontextmanager
async def client_of(server: str) -> AsyncIterator[AsyncClient]:
    """A client of the server. Its errors become those of commands."""
    try:
        async with AsyncClient(server, token=os.environ.get(TOKEN)) as client:
            yield client
    except ClientError as error:
        raise _as_ours(error) from error


async def _events(answer: AsyncIterator[BaseModel] | Awaitable[BaseModel]) -> Events:
    try:
        async for event in events_of(answer):
            yield event
    except ClientError as error:
        raise _as_ours(error) from error


def _as_ours(error: ClientError) -> QuarryError:
    if isinstance(error, NotAuthenticated):
        return QuarryError(f"{error.detail} Set {TOKEN} to sign in.")
    if error.retry_after_seconds:
        return QuarryError(f"{error.detail} (in {error.retry_after_seconds:.0f} s)")
    return QuarryError(error.detail)


_HEADINGS = ("type", "id", "title", "date", "url", "score", "snippet")


def search_here(words: str, *, types: tuple[str, ...], limit: int, format: Format) -> None:
    """Search this machine's database. Raises QuarryError, and WrongUsage before the database is opened."""
    request = _request(words, types, limit)

    async def search(database: LocalDatabase) -> None:
        from quarry.records.search import search_records
        from quarry.services.services import LOCAL_USER, Caller

        async with database.services() as services:
            show_results(await search_records(request, Caller(LOCAL_USER), services), format)

    on_database(search)


async def search_server(server: str, words: str, *, types: tuple[str, ...], limit: int, format: Format) -> None:
    """`quarry search`, answered by a server. Raises WrongUsage, QuarryError."""
    _request(words, types, limit)
    async with client_of(server) as client:
        response = await client.search_records(words, types=types, limit=limit)
    show_results(response, format)


def _request(words: str, types: tuple[str, ...], limit: int) -> SearchRequest:
    try:
        return SearchRequest(q=words, type=[*types], limit=limit)
    except ValidationError as error:
        raise WrongUsage("; ".join(plain_words(each) for each in error.errors())) from None


def show_results(response: SearchResponse, format: Format) -> None:
    """Print the list."""
    if format == "json":
        write_json(response.model_dump(mode="json", exclude_none=True))
        return
    if format == "csv":
        write_csv(_HEADINGS, (_row(each) for each in response.results))
    else:
        console = make_console()
        for place, each in enumerate(response.results, start=1):
            console.print(Text.assemble((f"{place:>3}  ", "cyan"), (printable(each.title), "bold")))
            facts = [each.type.replace("_", " "), each.id, *([each.date.isoformat()] if each.date else [])]
            console.print(Text(f"     {printable(' · '.join(facts))}", "dim"))
            console.print(Text("     ") + snippet_text(each.snippet))
    total = sum(response.counts.values())
    if not response.results:
        note("No record has these words or anything close to them.")
    elif total > len(response.results):
        note(f"{len(response.results)} of {'at least ' if response.more else ''}{total:,} records; --limit shows more.")


def _row(result: Result) -> list[Any]:
    snippet = "".join(part for part, _ in marked_parts(result.snippet))
    return [result.type, result.id, result.title, result.date, result.url, result.score, snippet]
