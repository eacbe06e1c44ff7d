"""What the pages show of queries is what they give."""

from __future__ import annotations

import json
import re
from pathlib import Path

from starlette.testclient import TestClient

from tests.query.desk import asked

ROOT = Path(__file__).resolve().parents[2]


def test_the_readmes_query_is_answered(sample_client: TestClient) -> None:
    [query] = re.findall(r"echo '(\{.*\})' \| \.venv/bin/quarry query -", (ROOT / "README.md").read_text())
    result = asked(sample_client, json.loads(query))
    assert "City Council" in [row[0] for row in result["rows"]]
    assert sum(row[1] for row in result["rows"]) == result["total"]


def test_the_pages_example_says_what_it_shows(sample_client: TestClient) -> None:
    page = (ROOT / "docs" / "query.md").read_text()
    query, *_ = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert asked(sample_client, json.loads(query))["sentence"] in page.splitlines()
