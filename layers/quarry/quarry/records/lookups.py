"""Records for the tools that look through every source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from quarry.agent.sources import Asked
from quarry.agent.tools import Hit
from quarry.records.candidates import RecordText
from quarry.records.collections import read_record
from quarry.records.evidence import passage
from quarry.records.record_texts import describe
from quarry.records.retrieval import EVERYTHING
from quarry.records.search import rank_records
from quarry.records.searched_types import RecordTypes, SearchedType
from quarry.records.types_in_force import acting_for
from quarry.records.unreadable import over_readable
from quarry.services.services import Services


async def search_text(
    text: str, names: Sequence[str], filters: Mapping[str, str], limit: int, asked: Asked, services: Services
) -> list[Hit]:
    """The best records of these types for a text, as the page's search ranks them. Raises SourceUnavailable where none
    of them can be read, and DatabaseUnavailable.
    """
    types, acting = await acting_for(asked.caller, services)
    searched = [name for name in names if name in types.whole]
    if not searched:
        return []
    with services.run("records", asked.caller, text, {"text": text, "types": list(names)}) as run:

        async def search(types: RecordTypes) -> list[RecordText]:
            chosen = [narrowed(each, filters.get(each.name)) for each in types.named(searched)]
            ranked = await rank_records(text, chosen, acting, run, scope=EVERYTHING)
            described = await describe(acting.reader, [item.key for item in ranked[:limit]], types, text)
            texts = {each.key: each for each in described}
            return [texts[item.key] for item in ranked[:limit] if item.key in texts]

        found = await over_readable(types, services.memory, search)
        run.end_reason = "answered"
    return [
        Hit(source=each.type, id=each.id, title=each.title, text=passage(each), date=each.date, url=each.url)
        for each in found
    ]


def narrowed(type: SearchedType, condition: str | None) -> SearchedType:
    """The type with only the rows that meet a condition over a row `t` of its source."""
    if condition is None:
        return type
    # made by `query.keys.meeting`, which quotes every name and value
    where = f"({type.table.where}) and ({condition})"
    return replace(type, table=replace(type.table, where=where), is_always_filtered=True)


async def read_whole(name: str, id: str, asked: Asked, services: Services) -> dict[str, Any]:
    """One whole record with what it is part of. Raises NotFound and DatabaseUnavailable."""
    record = await read_record(name, id, asked.caller, services)
    return record.model_dump(mode="json", exclude_none=True)
