"""`quarry search`: the ranked list of records for some words, here or on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from rich.text import Text

from quarry.local.cli.command import WrongUsage, on_database
from quarry.local.query import client_of
from quarry.local.telling import Format, note, write_csv, write_json
from quarry.local.terminal import make_console, printable
from quarry.platform.text import marked_parts
from quarry.platform.validation import plain_words
from quarry.records.contract import Result, SearchRequest, SearchResponse

if TYPE_CHECKING:
    from quarry.local.database import LocalDatabase

_HEADINGS = ("type", "id", "title", "date", "url", "score", "snippet")


def search_here(words: str, *, types: tuple[str, ...], limit: int, format: Format) -> None:
    """Search this machine's database. Raises QuarryError, and WrongUsage before the database is opened."""
    request = _request(words, types, limit)

    async def search(database: LocalDatabase) -> None:
        from quarry.records.search import search_records
        from quarry.services.services import LOCAL_USER, Caller

        async with database.services() as services:
            show(await search_records(request, Caller(LOCAL_USER), services), format)

    on_database(search)


async def search_server(server: str, words: str, *, types: tuple[str, ...], limit: int, format: Format) -> None:
    """`quarry search`, answered by a server. Raises WrongUsage, QuarryError."""
    _request(words, types, limit)
    async with client_of(server) as client:
        found = await client.search_records(words, types=types, limit=limit)
    show(found, format)


def _request(words: str, types: tuple[str, ...], limit: int) -> SearchRequest:
    try:
        return SearchRequest(q=words, type=[*types], limit=limit)
    except ValidationError as error:
        raise WrongUsage("; ".join(plain_words(each) for each in error.errors())) from None


def show(found: SearchResponse, format: Format) -> None:
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
