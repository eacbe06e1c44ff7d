"""A domain for the tools over all sources: the search of its texts, and its rows whole."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from psycopg.sql import SQL, Identifier

from quarry.agent.domain_tools import AgentTemplate
from quarry.agent.sources import DataAccess
from quarry.agent.tools import Filters, Hit, condition_on
from quarry.domains import module
from quarry.platform.errors import NotFound
from quarry.platform.text import unmark
from quarry.services.services import Caller, Services


def of(domain: str) -> SimpleNamespace:
    [collection] = module(domain, "tables").COLLECTIONS

    async def search_text(
        text: str, names: Sequence[str], filters: Filters, limit: int, access: DataAccess, services: Services
    ) -> list[Hit]:
        """The rows for a text, best first. Raises DatabaseUnavailable."""
        with services.run(domain, access.caller, text, {"text": text}) as run:
            found = await module(domain, "search").find(
                text, run, services, limit, condition_on(collection.name, filters)
            )
            run.end_reason = "answered"
        return [Hit(source=collection.name, id=each.id, title=each.title, text=unmark(each.snippet)) for each in found]

    async def read_whole(name: str, id: str, caller: Caller, services: Services) -> dict[str, Any]:
        """All fields of a row. Raises NotFound and DatabaseUnavailable."""
        fields = collection.types[collection.rows]
        columns = SQL(", ").join(map(Identifier, fields.model_fields))
        query = SQL("select {} from {} where id = %s").format(columns, Identifier(collection.rows))
        row = await services.reader.row(query, [id])
        if row is None:
            raise NotFound(f"There is no {collection.label} with this id.")
        whole: dict[str, Any] = fields.model_validate(row).model_dump(mode="json", exclude_none=True)
        return whole

    template = AgentTemplate(f"quarry://{domain}/{{id}}", domain, collection.label, "One row, whole.", read_whole)
    return SimpleNamespace(search_text=search_text, read_whole=read_whole, AGENT_TOOLS=(), AGENT_TEMPLATES=(template,))
