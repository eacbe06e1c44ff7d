"""`quarry runs replay`: the question of a run asked again, and what is different."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import Any

from pydantic import BaseModel
from rich.text import Text

from quarry.core.errors import QuarryError
from quarry.core.run_log import Run, RunLog, whole_run
from quarry.core.services import Caller, Services
from quarry.local.askable import Askable
from quarry.local.database import LocalDatabase
from quarry.local.terminal import make_console, printable, write_table

REPLAYING_USER = "replay"
"""Who pays for what costs credits: nobody else is charged."""

Key = tuple[str, str]


class _Kept(RunLog):
    """Keeps runs instead of writing them."""

    def __init__(self, services: Services) -> None:
        super().__init__(services.database)
        self.runs: list[Run] = []

    def _write_later(self, run: Run) -> None:
        self.runs.append(run)


@dataclass(frozen=True)
class Ended:
    """How a run ended, and what it found, best first."""

    status: str
    end_reason: str | None
    degraded: Sequence[str]
    results: Sequence[Key]


@dataclass(frozen=True)
class Moved:
    """A result of both runs that stands elsewhere among them; ranks count from 1."""

    result: Key
    before: int
    after: int


@dataclass(frozen=True)
class Difference:
    """What a run that is asked again does otherwise."""

    gone: Sequence[Key]
    new: Sequence[Key]
    moved: Sequence[Moved]
    ended_otherwise: bool


def compare(before: Ended, after: Ended) -> Difference:
    """Results that went and came, those of both that changed places among themselves, and whether the runs ended alike."""
    old, new = list(dict.fromkeys(before.results)), list(dict.fromkeys(after.results))
    old_common, new_common = [key for key in old if key in new], [key for key in new if key in old]
    return Difference(
        gone=[key for key in old if key not in new],
        new=[key for key in new if key not in old],
        moved=[
            Moved(key, old.index(key) + 1, new.index(key) + 1)
            for key, instead in zip(new_common, old_common, strict=True)
            if key != instead
        ],
        ended_otherwise=(before.status, before.end_reason) != (after.status, after.end_reason),
    )


async def replay_run(database: LocalDatabase, run_id: str, *, as_json: bool) -> None:
    """Ask again, and show the difference. Raises NotFound for no run, and what the search raises before it has begun."""
    async with database.services() as services:
        run = await whole_run(services.database, run_id)
        before = Ended(
            run["status"],
            run["end_reason"],
            run["degraded_steps"],
            [(result["result_type"], result["result_id"]) for result in run["results"]],
        )
        after = await _ask_again(run, services)
    difference = compare(before, after)
    if as_json:
        told = {"run": run["id"], "domain": run["domain"], "query": run["query"]}
        told |= {"before": asdict(before), "after": asdict(after), "difference": asdict(difference)}
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        _show(run, before, after, difference)


async def _ask_again(run: Mapping[str, Any], services: Services) -> Ended:
    kept = _Kept(services)
    # what is answered now is for nobody to find
    settings = services.settings.model_copy(update={"answer_lifetime_days": 0})
    caller = Caller(run["caller"])
    if run["domain"] == "people":
        from quarry.people.access.credits import SEARCH_PRICE, grant

        caller = Caller(REPLAYING_USER)
        await grant(services.database, services.settings, REPLAYING_USER, SEARCH_PRICE)
    askable, request = _question(run)
    try:
        async with aclosing(
            askable.answer(request, caller, replace(services, run_log=kept, settings=settings))
        ) as events:
            async for _ in events:
                pass
    except QuarryError:
        if not kept.runs:
            raise
    again = kept.runs[0]
    results = [(result.type, result.id) for result in again.results]
    return Ended(again.status, again.end_reason, again.degraded, results)


def _question(run: Mapping[str, Any]) -> tuple[Askable, BaseModel]:
    """How the run was asked, and what."""
    if run["domain"] == "records":
        return _records_question(run)
    askable: Askable = import_module(f"quarry.local.{run['domain']}_view").ASKABLE
    return askable, askable.request(run["query"])


def _records_question(run: Mapping[str, Any]) -> tuple[Askable, BaseModel]:
    """A list of records has no answer written; an answer is made anew."""
    from quarry.local.records_view import ASKABLE
    from quarry.records.contract import AskRequest, SearchRequest
    from quarry.records.search import search_records

    async def search(request: SearchRequest, caller: Caller, services: Services) -> Any:
        yield await search_records(request, caller, services)

    if any(step["name"] == "describe" for step in run["steps"]):
        limit = max(len(run["results"]), SearchRequest(q=run["query"]).limit)
        listing = replace(ASKABLE, answer=search)
        return listing, SearchRequest(q=run["query"], limit=limit)
    return ASKABLE, AskRequest(question=run["query"], fresh=True)


def _show(run: Mapping[str, Any], before: Ended, after: Ended, difference: Difference) -> None:
    console = make_console()
    console.print(Text(f"{run['domain']}: {printable(run['query'])}"))
    console.print(f"was   {_ending(before)}")
    console.print(f"is    {_ending(after)}")
    rows = [
        *(("gone", f"{before.results.index(key) + 1}", "", *_named(key)) for key in difference.gone),
        *(("new", "", f"{after.results.index(key) + 1}", *_named(key)) for key in difference.new),
        *(("moved", f"{each.before}", f"{each.after}", *_named(each.result)) for each in difference.moved),
    ]
    if rows:
        console.print()
        write_table(console, ("", "was ", "is ", "type", "result"), rows)
    elif not difference.ended_otherwise:
        console.print("Nothing is different.")


def _ending(ended: Ended) -> str:
    reason = f": {ended.end_reason}" if ended.end_reason else ""
    degraded = f", degraded: {', '.join(ended.degraded)}" if ended.degraded else ""
    return f"{ended.status}{reason}, {len(ended.results)} result{'' if len(ended.results) == 1 else 's'}{degraded}"


def _named(key: Key) -> Key:
    return key[0], printable(key[1])
