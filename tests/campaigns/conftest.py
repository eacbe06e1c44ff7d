"""What the tests of campaigns share: the web application over the sample data, without a model and with one."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.shared_sample import client, model_client, shared_model_client, shared_sample_url

__all__ = ["client", "model_client", "shared_model_client", "shared_sample_url"]


@pytest.fixture(scope="package")
def rows(shared_sample_url: str) -> list[dict[str, Any]]:
    """All campaigns as they are stored."""
    with psycopg.connect(shared_sample_url, row_factory=dict_row) as connection:
        return connection.execute("select * from campaigns").fetchall()
