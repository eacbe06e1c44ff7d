"""`quarry runs replay`: repeats a run's request, and shows the differences."""

from __future__ import annotations

import difflib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from pydantic import ValidationError
from rich.text import Text

from quarry.local.ask import askable_of
from quarry.local.database import LocalDatabase
from quarry.local.output import quantity, write_json
from quarry.local.terminal import make_console, printable, write_table
from quarry.platform.contract import plain_words
from quarry.platform.errors import FieldError, InvalidInput, QuarryError
from quarry.records.contract import AnswerChunkEvent
from quarry.runs.run_log import Run, RunLog, whole_run
from quarry.services.services import Caller, Services
from quarry.streaming.events import PartialTextEvent

_QUESTIONS = ("q", "query", "question", "message", "messages", "limit", "offset")
"""What the question itself is called in a request, and how much of the list was wanted."""

REPLAYING_USER = "replay"
"""The user who pays for replays, so that nobody else is charged."""

Key = tuple[str, str]


class _InMemoryRunLog(RunLog):
    """Keeps runs in memory instead of writing them."""

    def __init__(self, services: Services) -> None:
        super().__init__(services.database)
        self.runs: list[Run] = []

    def _write_later(self, run: Run) -> None:
        self.runs.append(run)


@dataclass(frozen=True)
class Ended:
    """The end of a run, and its results, best first; `answer` is its text, if it was stored."""

    status: str
    end_reason: str | None
    degraded: Sequence[str]
    results: Sequence[Key]
    answer: str | None = None


@dataclass(frozen=True)
class Moved:
    """A result of both runs with another rank among the common ones; ranks count from 1."""

    result: Key
    before: int
    after: int


@dataclass(frozen=True)
class Difference:
    """How a repeated run differs. `answer` has the removed ("- …") and added ("+ …") lines of the answer."""

    gone: Sequence[Key]
    new: Sequence[Key]
    moved: Sequence[Moved]
    ended_otherwise: bool
    answer: Sequence[str]


def compare(before: Ended, after: Ended) -> Difference:
    """Removed and added results, common results with another rank, whether the runs ended alike, and the changes in the answer,
    if both are known.
    """
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
        answer=_changed_lines(before.answer, after.answer),
    )


def _changed_lines(before: str | None, after: str | None) -> Sequence[str]:
    if before is None or after is None:
        return ()
    return [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line.startswith(("- ", "+ "))]


async def replay_run(database: LocalDatabase, run_id: str, *, as_json: bool) -> None:
    """Repeats the run, and shows the difference. Raises NotFound for an unknown run, InvalidInput for a request that is no
    longer valid, and what the search raises before it starts.
    """
    async with database.services() as services:
        run = await whole_run(services.database, run_id)
        before = _ended_before(run, await _kept_answer(run["answer_id"], services))
        after = await _ask_again(run, services)
    difference = compare(before, after)
    if as_json:
        report = {name: run[name] for name in ("id", "domain", "query", "request")}
        report = {"run": report.pop("id"), **report}
        report |= {"before": asdict(before), "after": asdict(after), "difference": asdict(difference)}
        write_json(report)
    else:
        _show(run, before, after, difference)


def _ended_before(run: Mapping[str, Any], answer: str | None) -> Ended:
    results = [(result["result_type"], result["result_id"]) for result in run["results"]]
    reason = run["end_reason"]
    if reason == "kept_answer":
        # it is answered again now; the stored answer had this reason
        reason = "answered" if results else "nothing_found"
    return Ended(run["status"], reason, run["degraded_steps"], results, answer)


async def _kept_answer(id: str | None, services: Services) -> str | None:
    """The answer of a run, while it is stored."""
    rows = await services.database.rows("select answer from answer_cache where id = %s and expires_at > now()", [id])
    return rows[0]["answer"] if rows else None


async def _ask_again(run: Mapping[str, Any], services: Services) -> Ended:
    memory = _InMemoryRunLog(services)
    # nobody should find the answer of a replay
    settings = services.settings.model_copy(update={"answer_lifetime_days": 0})
    caller = Caller(run["caller"])
    if run["domain"] == "people":
        from quarry.people.access import SEARCH_PRICE, grant

        caller = Caller(REPLAYING_USER)
        await grant(services.database, services.settings, REPLAYING_USER, SEARCH_PRICE)
    try:
        answer, request = _question(run)
    except ValidationError as error:
        raise InvalidInput(
            [
                FieldError(
                    "/request",
                    f"the run's request is none today: {'.'.join(map(str, detail['loc']))} {plain_words(detail)}",
                )
                for detail in error.errors()
            ]
        ) from error
    texts: list[str] = []
    try:
        async with aclosing(answer(request, caller, replace(services, run_log=memory, settings=settings))) as events:
            async for event in events:
                texts = [] if _withdraws(event) else [*texts, *_texts_of(event)]
    except QuarryError:
        if not memory.runs:
            raise
    again = memory.runs[0]
    results = [(result.type, result.id) for result in again.results]
    return Ended(again.status, again.end_reason, again.degraded, results, "".join(texts) or None)


def _withdraws(event: object) -> bool:
    """Whether an event says that the text so far is no part of the answer."""
    return getattr(event, "type", "") == "text_withdrawn"


def _texts_of(event: object) -> Sequence[str]:
    """The text that an event adds to the answer."""
    match event:
        case AnswerChunkEvent():
            return (event.chunk,)
        case PartialTextEvent():
            return (event.data.text,)
    return ()


Question = tuple[Callable[..., AsyncGenerator[Any]], Any]
"""The function that answers, and its request."""


def _question(run: Mapping[str, Any]) -> Question:
    """The request of a run and its function. If the request was not stored, only the question is known. Raises
    ValidationError.
    """
    request = run["request"]
    if run["domain"] == "records":
        return _records_question(run)
    askable = askable_of(run["domain"])
    new_request = askable.request(run["query"])
    return askable.answered, type(new_request).model_validate(request) if request else new_request


def _records_question(run: Mapping[str, Any]) -> Question:
    """A list of records has no answer text; answers are generated again."""
    from quarry.records.contract import AskRequest, SearchRequest
    from quarry.records.search import search_records

    if any(step["name"] == "describe" for step in run["steps"]):
        fields = run["request"] or {"q": run["query"], "limit": max(len(run["results"]), 20)}
        return partial(_once, search_records), SearchRequest.model_validate(fields)
    fields = run["request"] or {"question": run["query"]}
    return askable_of("records").answered, AskRequest.model_validate(fields | {"fresh": True})


async def _once(search: Callable[..., Awaitable[Any]], *arguments: Any) -> AsyncGenerator[Any]:
    yield await search(*arguments)


def _show(run: Mapping[str, Any], before: Ended, after: Ended, difference: Difference) -> None:
    console = make_console()
    console.print(Text(f"{run['domain']}: {printable(run['query'])}"))
    if run["request"] is None:
        console.print("Its request is not kept: asked again by its question alone.")
    elif conditions := {name: value for name, value in run["request"].items() if value and name not in _QUESTIONS}:
        console.print(Text(f"with  {printable(json.dumps(conditions, ensure_ascii=False))}"))
    console.print(f"was   {_ending(before)}")
    console.print(f"is    {_ending(after)}")
    rows = [
        *(("gone", f"{before.results.index(key) + 1}", "", *_printable_key(key)) for key in difference.gone),
        *(("new", "", f"{after.results.index(key) + 1}", *_printable_key(key)) for key in difference.new),
        *(("moved", f"{each.before}", f"{each.after}", *_printable_key(each.result)) for each in difference.moved),
    ]
    if rows:
        console.print()
        write_table(console, ("", "was ", "is ", "type", "result"), rows)
    if difference.answer:
        console.print()
        for line in difference.answer:
            console.print(Text(printable(line), "red" if line.startswith("-") else "green"))
    if not (rows or difference.answer or difference.ended_otherwise):
        console.print("Nothing is different." if before.answer == after.answer else "No result is different.")
    if before.answer is None and after.answer:
        console.print("\nWhat was answered then is not kept. Today's answer:\n")
        console.print(Text(printable(after.answer)))


def _ending(ended: Ended) -> str:
    reason = f": {ended.end_reason}" if ended.end_reason else ""
    degraded = f", degraded: {', '.join(ended.degraded)}" if ended.degraded else ""
    return f"{ended.status}{reason}, {quantity(len(ended.results), 'result')}{degraded}"


def _printable_key(key: Key) -> Key:
    return key[0], printable(key[1])
