"""What the domains declare is what their tables have."""

from __future__ import annotations

from psycopg.sql import SQL

from quarry import catalog
from quarry.query.filters import Filtered, compared
from quarry.schema.source import ACTOR_SETTING
from quarry.services.services import Services


async def test_what_belongs_to_someone_is_counted_for_them_alone(sample_services: Services) -> None:
    tasks = Filtered(catalog.SEARCHED["onto_tasks"])
    counts = [
        await tasks.count(sample_services.acting(settings).reader)
        for settings in ({}, {ACTOR_SETTING: "nobody"}, {ACTOR_SETTING: "demo"})
    ]
    assert counts[:2] == [0, 0]
    assert counts[2]


async def test_the_rows_that_meet_conditions_are_read_once(sample_services: Services) -> None:
    motions = Filtered(catalog.SEARCHED["motions"], (compared("mover", "!=", ["nobody"]),))
    plan = await sample_services.reader.rows(SQL("explain ") + motions.keys_selected())
    assert sum(" on motions " in line["QUERY PLAN"] for line in plan) == 1
