"""Small collections with questions, and the passages that should lead their answers without a model, from `passages/*.toml`."""

from __future__ import annotations

import asyncio
import datetime
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from quarry.collections.apply import read_collections
from quarry.collections.upkeep import embedded_tables
from quarry.platform.settings import Settings
from quarry.postgres.embed import embed_pending, make_ready
from quarry.records.answer import answer_question
from quarry.records.contract import AnswerChunkEvent, AskRequest, PriorTurn
from quarry.services.services import Caller, Services, build_services
from tests.collections.support import apply_file, owner, work_off
from tests.conftest import clone_database

SETS = Path(__file__).parent / "passages"
CALLER = Caller("quality")


@dataclass(frozen=True)
class Led:
    """A question, its answer, and whether a right passage leads and none is there that must not be."""

    kind: str
    question: str
    answer: str
    leads: bool


def day_of(text: str, today: datetime.date) -> datetime.date:
    """A day such as `m-1:12`, the 12th of last month, or `w-1:2`, last week's Tuesday."""
    unit, _, rest = text.partition("-")
    back, _, number = rest.partition(":")
    if unit == "w":
        return today - datetime.timedelta(today.weekday() + 7 * int(back) + 1 - int(number))
    month = today.year * 12 + today.month - 1 - int(back)
    return datetime.date(month // 12, month % 12 + 1, int(number))


def _cell(value: Any, today: datetime.date) -> Any:
    is_day = isinstance(value, str) and value[:2] in ("m-", "w-") and ":" in value
    return day_of(value, today) if is_day else value


@contextmanager
def filled(server_url: str, template: str, case: dict[str, Any]) -> Iterator[str]:
    """A database with the collections of a set, their words and vectors in step."""
    today = datetime.datetime.now(datetime.UTC).date()
    with clone_database(server_url, template) as url:
        owner(url, case["schema"])
        with psycopg.connect(url, autocommit=True) as connection:
            for table, rows in case["rows"].items():
                marks = ", ".join(["%s"] * len(rows[0]))
                values = [[_cell(cell, today) for cell in row] for row in rows]
                with connection.cursor() as cursor:
                    cursor.executemany(f"insert into {table} values ({marks})".encode(), values)
        apply_file(url, case["declared"])
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, work_off(url)).result()
            pool.submit(asyncio.run, _embed(url)).result()
        yield url


async def _embed(url: str) -> None:
    services = build_services(Settings.from_environment({"DATABASE_URL": url}))
    await make_ready(services.database, services.embeddings)
    for table in embedded_tables((await read_collections(services.database)).values()):
        await embed_pending(services.database, services.embeddings, table)
    await services.close()


async def _answer(services: Services, case: dict[str, Any]) -> str:
    history = []
    if "after" in case:
        history = [PriorTurn(question=case["after"], answer=await _answer(services, {"ask": case["after"]}))]
    events = answer_question(AskRequest(question=case["ask"], history=history), CALLER, services)
    return "".join([event.chunk async for event in events if isinstance(event, AnswerChunkEvent)])


async def _led(url: str, cases: list[dict[str, Any]]) -> list[Led]:
    services = build_services(Settings.from_environment({"DATABASE_URL": url}))
    found = []
    for case in cases:
        answer = await _answer(services, case)
        # an exact result leads as a whole
        first = answer if "Read as:" in answer else answer.split("\n\n")[0]
        leads = any(each in first for each in case["leads"]) and not any(
            each in answer for each in case.get("never", ())
        )
        found.append(Led(case["kind"], case["ask"], answer, leads))
    await services.close()
    return found


def asked(server_url: str, template: str, name: str) -> list[Led]:
    """The answers to the questions of a set."""
    case = tomllib.loads((SETS / f"{name}.toml").read_text("utf-8"))
    with filled(server_url, template, case) as url, ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _led(url, case["question"])).result()


def shares(found: list[Led]) -> dict[str, tuple[int, int]]:
    """How many of each kind are led rightly, of how many."""
    right = Counter(each.kind for each in found if each.leads)
    return {kind: (right[kind], count) for kind, count in Counter(each.kind for each in found).items()}
