"""The files of SQL on Citus. Skipped where QUARRY_CITUS names none: see tools/citus.py."""

from __future__ import annotations

import pytest

from quarry.postgres.migrate import function_files, migrate, sql_directory
from tools.citus import Cluster


@pytest.mark.parametrize("place", ["coordinator", "worker"])
def test_a_schema_is_migrated_and_migrated_again(nodes: Cluster, place: str) -> None:
    url = {"coordinator": nodes.coordinator, "worker": nodes.workers[0]}[place].url
    done = migrate(url, embedding_dimensions=384, schema="whole", is_tenant=True)
    assert len(done.functions) == len(function_files(sql_directory()))
    again = migrate(url, embedding_dimensions=384, schema="whole", is_tenant=True)
    assert (again.migrations, again.functions) == ((), ())
