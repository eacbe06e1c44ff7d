"""`quarry query`: the exact result of a Query. `quarry explain`: how a question is read without a model."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from quarry.language.writing import ENGLISH, writing_of
from quarry.local.cli.command import WrongUsage, on_database
from quarry.local.telling import Format, note, write_csv, write_json
from quarry.local.terminal import make_console, printable, write_table
from quarry.platform.contract import place_in, plain_words
from quarry.query.contract import Explanation, ExplanationRequest, QueryResult, ResultColumn
from quarry.query.phrases import number_of
from quarry.schema.algebra import Cell, Query

if TYPE_CHECKING:
    from quarry.local.database import LocalDatabase
import os
from collections.abc import AsyncIterator, Awaitable
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from rich.text import Text

from quarry.client import AsyncClient, NotAuthenticated
from quarry.client import QuarryError as ClientError
from quarry.local.ask import Events, events_of, render
from quarry.local.ask import question_for as asked_of
from quarry.platform.errors import QuarryError
from quarry.platform.text import marked_parts
from quarry.records.contract import Result, SearchRequest, SearchResponse

if TYPE_CHECKING:
    from quarry.local.database import LocalDatabase

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
    askable, _ = asked_of(domain, question)
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
    print(json.dumps({"balance": balance}) if as_json else f"{balance:,} credit{'' if balance == 1 else 's'}")


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
        found = await client.search_records(words, types=types, limit=limit)
    show_results(found, format)


def _request(words: str, types: tuple[str, ...], limit: int) -> SearchRequest:
    try:
        return SearchRequest(q=words, type=[*types], limit=limit)
    except ValidationError as error:
        raise WrongUsage("; ".join(plain_words(each) for each in error.errors())) from None


def show_results(found: SearchResponse, format: Format) -> None:
    """Print the list."""
    if format == "json":
        write_json(found.model_dump(mode="json", exclude_none=True))
        return
    if format == "csv":
        write_csv(_HEADINGS, (_row(each) for each in found.results))
    else:
        console = make_console()
        for place, each in enumerate(found.results, start=1):
            console.print(Text.assemble((f"{place:>3}  ", "cyan"), (printable(each.title), "bold")))
            facts = [each.type.replace("_", " "), each.id, *([each.date.isoformat()] if each.date else [])]
            console.print(Text(f"     {printable(' · '.join(facts))}", "dim"))
            parts = [
                (" ".join(printable(part).split("\n")), "bold" if hit else "")
                for part, hit in marked_parts(each.snippet)
            ]
            console.print(Text.assemble("     ", *parts))
    total = sum(found.counts.values())
    if not found.results:
        note("No record has these words or anything close to them.")
    elif total > len(found.results):
        note(f"{len(found.results)} of {'at least ' if found.more else ''}{total:,} records; --limit shows more.")


def _row(result: Result) -> list[Any]:
    snippet = "".join(part for part, _ in marked_parts(result.snippet))
    return [result.type, result.id, result.title, result.date, result.url, result.score, snippet]
