"""One running service over the sample data, on a port of this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import create_database
from tests.running import running_server


@pytest.fixture(scope="package")
def base(server_url: str, sample_template: str) -> Iterator[str]:
    """Its address, which has a prefix. Users have two credits; rates are not limited."""
    url = create_database(server_url, "client_sample", template=sample_template)
    with running_server(url, prefix="/prod", RATE_LIMIT_PER_MINUTE="0", INITIAL_CREDITS="2") as base:
        yield f"{base}/prod"
