"""`quarry ask`: a search in this process, its events shown in the terminal as they come. What is asked of a domain is the
`ASKABLE` of `<domain>_view`, which imports its domain and is imported when it is asked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import aclosing
from importlib import import_module
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from quarry.local.askable import Askable, Events, View
from quarry.local.cli.parsing import WrongUsage, on_database
from quarry.local.served_address import served_address
from quarry.local.terminal import make_console
from quarry.platform.errors import QuarryError
from quarry.platform.validation import plain_words
from quarry.streaming.events import Event

if TYPE_CHECKING:
    from quarry.local.database import LocalDatabase


def ask(domain: str, question: str, *, as_json: bool) -> None:
    """Answer `question` on stdout. Raises WrongUsage before the database is opened; QuarryError, in JSON
    after an `error` event.
    """
    askable, request = asked(domain, question)

    async def answer(database: LocalDatabase) -> None:
        # here, for who asks a server needs none of it
        from quarry.services.services import LOCAL_USER, Caller

        async with database.services() as services:
            events = askable.answered(request, Caller(LOCAL_USER), services)
            await render(askable, events, as_json=as_json, page=served_address(database.settings.quarry_data_dir))

    on_database(answer)


async def render(
    askable: Askable, events: Events, *, as_json: bool, server: str | None = None, page: str | None = None
) -> None:
    """Show events on stdout as they come: those of `server` or, without it, of this process, with links to `page`."""
    if as_json:
        await _write_json(events, askable.error)
    else:
        view = askable.view(make_console(), server)
        view.page = page or server
        await _show(events, view)


def asked(domain: str, question: str) -> tuple[Askable, BaseModel]:
    """How the domain is asked, and the request of a question. Raises WrongUsage where it cannot be asked."""
    askable: Askable = import_module(f"quarry.local.{domain}_view").ASKABLE
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


async def _show(events: Events, view: View) -> None:
    async with aclosing(events):
        async for event in events:
            view.show(event)
