"""`quarry forget`: a record and all that is kept of it."""

from __future__ import annotations

from dataclasses import asdict

from quarry.catalog import FORGETTABLE
from quarry.collections.naming import nearest
from quarry.collections.upkeep import read_collections
from quarry.local.database import LocalDatabase
from quarry.local.telling import write_json
from quarry.platform.errors import NotFound
from quarry.services.forgetting import forget, forget_row


async def forget_record(database: LocalDatabase, kind: str, id: str, *, as_json: bool) -> None:
    """Forget it, and say how many rows of what went. Raises NotFound for a kind that there is not, and as forgetting does."""
    async with database.services() as services:
        if kind in FORGETTABLE:
            domain, forgettable = FORGETTABLE[kind]
            forgotten = await forget(services.database, forgettable, domain, id)
        else:
            collections = await read_collections(services.database)
            if kind not in collections:
                kinds = [*FORGETTABLE, *collections]
                raise NotFound(f"There is nothing that is called {kind!r}{nearest(kind, kinds)}: {', '.join(kinds)}")
            forgotten = await forget_row(services.database, collections[kind], id)
    if as_json:
        write_json(asdict(forgotten))
        return
    rows = ", ".join(f"{count:,} of {table}" for table, count in sorted(forgotten.rows.items()))
    print(f"Forgotten. Rows deleted or changed: {rows}")
