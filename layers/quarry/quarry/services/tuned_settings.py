"""The weights of a database's own, which `quarry tune` stores: the settings of a process with these in them."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.platform.settings import Settings
from quarry.postgres.pool import Database

TUNED_NAMES = ("records_semantic_weight", "company_semantic_weight", "company_keyword_weight", "company_niche_weight")
"""The settings that a database may have of its own."""


class TunedSettings:
    """Reads the stored weights once, at the first search; a process that runs on keeps them."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._tuned: Settings | None = None

    async def read(self) -> Settings:
        """The settings; of those that may be tuned, what the environment sets, else what is stored, else the default.

        Raises DatabaseUnavailable.
        """
        if self._tuned is None:
            self._tuned = with_weights(self._settings, await stored_weights(self._database))
        return self._tuned


def with_weights(settings: Settings, stored: Mapping[str, float]) -> Settings:
    """The settings with what is stored for those that the environment does not set."""
    return settings.model_copy(
        update={name: stored[name] for name in TUNED_NAMES if name in stored and name not in settings.model_fields_set}
    )


async def stored_weights(database: Database) -> dict[str, float]:
    """What is stored, by the name of its setting. Raises DatabaseUnavailable."""
    rows = await database.rows("select name, weight from tuned_weights order by name")
    return {row["name"]: row["weight"] for row in rows}


async def store_weights(database: Database, weights: Mapping[str, float]) -> None:
    """Store weights, all or none; processes that run already keep theirs. Raises DatabaseUnavailable."""
    await database.execute(
        "insert into tuned_weights (name, weight) select * from unnest(%s::text[], %s::float8[])"
        " on conflict (name) do update set weight = excluded.weight, stored_at = now()",
        [list(weights), list(weights.values())],
    )


async def forget_weights(database: Database) -> list[str]:
    """Delete what is stored; the names that it was stored for. Raises DatabaseUnavailable."""
    rows = await database.rows("delete from tuned_weights where name = any(%s) returning name", [list(TUNED_NAMES)])
    return sorted(row["name"] for row in rows)
