"""`quarry runs`: the run log as a table, and one run as a timeline."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from quarry.local.database import LocalDatabase
from quarry.local.output import Format, write_json
from quarry.local.terminal import make_console, printable, timeline_bar, write_rows, write_table
from quarry.models.interface import Prices, Usage
from quarry.platform.text import shorten
from quarry.runs.run_log import recent_runs, whole_run

SHORT_ID_CHARACTERS = 8
QUERY_CHARACTERS = range(24, 100)
"""How much of a question the list shows: what fits next to the other columns, within these bounds."""
OTHER_COLUMNS_CELLS = 64

_STATUS_STYLES = {"running": "cyan", "completed": "green", "degraded": "yellow", "abandoned": "yellow", "failed": "red"}

Row = Mapping[str, Any]


async def list_runs(database: LocalDatabase, limit: int, *, with_feedback: bool, format: Format) -> None:
    """Print the latest runs, newest first, or those with feedback and the feedback."""
    async with database.services() as services:
        runs = await recent_runs(services.database, limit, with_feedback=with_feedback)
    if not runs and format != "json":
        print("No run has feedback yet." if with_feedback else 'No search has run yet: quarry ask records "…"')
        return
    console = make_console()
    room = min(QUERY_CHARACTERS.stop, max(QUERY_CHARACTERS.start, console.width - OTHER_COLUMNS_CELLS))
    headings = ("run", "started (UTC)", "domain", "seconds ", "tokens ", "status", "asked")
    rows = ([*run.values()] for run in runs)
    write_rows(format, [*runs[0]] if runs else [], rows, headings, (_summary(run, room) for run in runs))
    for run in runs if with_feedback and format == "table" else ():
        console.print(f"{run['id'][:SHORT_ID_CHARACTERS]}  {_feedback(run)}")


async def show_run(database: LocalDatabase, run_id: str, *, as_json: bool) -> None:
    """Print one run: the question, a timeline of its steps, its results. Raises NotFound."""
    async with database.services() as services:
        run = await whole_run(services.database, run_id)
        prices = services.run_log.prices
    if as_json:
        steps = [{**step, "cost_usd": _cost(step, prices)} for step in run["steps"]]
        write_json(run | {"cost_usd": _cost(run, prices), "steps": steps})
    else:
        _show(make_console(), run, prices)


def _summary(run: Row, query_characters: int) -> tuple[str | Text, ...]:
    return (
        run["id"][:SHORT_ID_CHARACTERS],
        _moment(run["started_at"])[:-3],
        run["domain"],
        f"{run['duration_ms'] / 1000:.2f}",
        f"{run['prompt_tokens'] + run['completion_tokens']:,}",
        _status("degraded" if run["degraded_steps"] and run["status"] == "completed" else run["status"]),
        shorten(printable(run["query"]), query_characters),
    )


def _cost(row: Row, prices: Prices) -> float | None:
    """What the tokens of a run or a step cost."""
    return prices.cost(Usage(row["prompt_tokens"], row["completion_tokens"]))


def _show(console: Console, run: Row, prices: Prices) -> None:
    facts = {
        "run": run["id"],
        "asked": printable(run["query"]),
        "by": f"{printable(run['caller'])}, in {run['domain']}",
        "started": f"{_moment(run['started_at'])} UTC",
        "took": f"{run['duration_ms'] / 1000:.2f} s",
        "ended": run["status"] + (f": {run['end_reason']}" if run["end_reason"] else ""),
        "model": run["chat_model"] or "none, the fallbacks answered",
        "tokens": f"{run['prompt_tokens']:,} read, {run['completion_tokens']:,} written",
        "cost": _dollars(_cost(run, prices)) if run["chat_model"] else "",
        "degraded": ", ".join(run["degraded_steps"]),
        "request": run["request_id"],
        "feedback": _feedback(run),
    }
    for name, value in facts.items():
        if value:
            console.print(Text.assemble((f"{name:<9}", "dim"), value))
    if run["steps"]:
        console.print()
        headings = ("step", "at ms ", "ms ", "", "tokens ", "cost ", "status", "counts")
        write_table(console, headings, [_step(step, run["duration_ms"], prices) for step in run["steps"]])
    if run["results"]:
        console.print()
        rows = [
            (str(each["rank"]), f"{each['score']:.4f}", each["result_type"], printable(each["result_id"]))
            for each in run["results"]
        ]
        write_table(console, ("rank ", "score ", "type", "result"), rows)


def _feedback(run: Row) -> str:
    """What its asker thought of a run."""
    if run["helpful"] is None:
        return ""
    reason = f": {printable(run['feedback_reason'])}" if run["feedback_reason"] else ""
    return f"{'helpful' if run['helpful'] else 'not helpful'}{reason}"


def _step(step: Row, whole_ms: float, prices: Prices) -> tuple[str | Text, ...]:
    return (
        step["name"],
        f"{step['started_ms']:,.0f}",
        f"{step['duration_ms']:,.0f}",
        Text(timeline_bar(step["started_ms"], step["duration_ms"], whole_ms), _STATUS_STYLES[step["status"]]),
        f"{step['prompt_tokens'] + step['completion_tokens']:,}",
        _dollars(_cost(step, prices)),
        _status(step["status"]),
        ", ".join(f"{name} {count:,}" for name, count in step["counts"].items()),
    )


def _dollars(cost: float | None) -> str:
    """A cost; a dash if prices are not set, and empty if it is zero."""
    if cost is None:
        return "–"
    return f"${cost:.4f}" if cost else ""


def _status(status: str) -> Text:
    return Text(status, _STATUS_STYLES[status])


def _moment(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")
