"""A newcomer adds a domain by what docs/contributing.md says, and every door has it: HTTP, the command line, agents, the page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect, sync_playwright

import quarry
from tests.conftest import create_database
from tests.local.test_cli import environment
from tests.page.conftest import CHROMIUM, FLAGS, PATIENCE_MS
from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
FILES = {"__init__.py", "quarry.toml", "contract.py", "prompts.py", "search.py"}
LAST = '"campaigns")'
"""The end of the list of domains."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout to which the domain was added."""
    root = tmp_path_factory.mktemp("checkout")
    package = root / "layers" / "quarry" / "quarry"
    without_caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(quarry.__file__).parent, package, ignore=without_caches)
    shutil.copytree(ROOT / "tools", root / "tools", ignore=without_caches)
    for name in ("migrations", "functions"):
        shutil.copytree(ROOT / "sql" / name, root / "sql" / name)
    # what the page says to do, in its order
    shutil.copytree(HERE / "recipes", package / "recipes", ignore=without_caches)
    names = package / "platform" / "contract.py"
    names.write_text(names.read_text().replace(LAST, LAST.replace(")", ', "recipes")'), 1))
    shutil.copy(HERE / "sql" / "migration.sql", root / "sql" / "migrations" / "9000_recipes.sql")
    shutil.copytree(HERE / "sql" / "functions", root / "sql" / "functions" / "recipes")
    python(root, "-m", "tools.counted_values")
    assert (root / "sql" / "functions" / "recipes" / "recipes_values.sql").exists()
    return root


def python(root: Path, *arguments: str, input: str = "", **variables: str) -> str:
    """What a program of the checkout writes."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env=of(root, **variables),
        input=input,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def of(root: Path, **variables: str) -> dict[str, str]:
    """The environment in which the code of the checkout is found first."""
    paths = (root / "layers" / "quarry", root / "tools" / "src", root)
    return environment(**variables) | {"PYTHONPATH": os.pathsep.join(map(str, paths))}


@pytest.fixture(scope="module")
def filled(checkout: Path, server_url: str, migrated_template: str) -> tuple[Path, str]:
    """The checkout, and a database with recipes."""
    url = create_database(server_url, "newcomer", template=migrated_template)
    quarry_of(checkout, "migrate", DATABASE_URL=url)
    said = quarry_of(checkout, "load", "recipes", str(HERE / "recipes.jsonl"), DATABASE_URL=url)
    assert "6" in said
    return checkout, url


def quarry_of(root: Path, *arguments: str, **variables: str) -> str:
    return python(root, "-c", "from quarry.local.cli import main; raise SystemExit(main())", *arguments, **variables)


@pytest.fixture(scope="module")
def served(filled: tuple[Path, str]) -> Iterator[str]:
    """A server of the checkout; its address."""
    root, url = filled
    with serving(root, DATABASE_URL=url, RATE_LIMIT_PER_MINUTE="0") as address:
        yield address


@contextmanager
def serving(root: Path, **variables: str) -> Iterator[str]:
    command = [sys.executable, "-c", "from quarry.local.cli import main; main()", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=root, env=of(root, **variables), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = None
        for line in process.stdout:
            if found := re.search(r"http://\S+:\d+", line):
                break
        try:
            assert found is not None
            yield found.group()
        finally:
            process.terminate()


def request(address: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(address, data, {"Content-Type": "application/json"} | headers)
    with urllib.request.urlopen(asked, timeout=PATIENCE_SECONDS) as response:
        return json.load(response)


def test_the_page_names_exactly_the_files_of_the_domain() -> None:
    page = (ROOT / "docs" / "contributing.md").read_text()
    [section] = re.findall(r"^## A domain\n(.*?)^## ", page, re.DOTALL | re.MULTILINE)
    named = {*re.findall(r"`(\w+\.(?:py|toml))`", section)}
    assert FILES - {"__init__.py"} <= named
    assert {path.name for path in (HERE / "recipes").iterdir() if path.is_file()} == FILES
    assert len((HERE / "recipes" / "search.py").read_text().splitlines()) <= 150


def test_it_is_searched_read_whole_and_asked_over_http(served: str) -> None:
    titles = [each["title"] for each in request(f"{served}/recipes/search", {"query": "lentils"})["results"]]
    assert titles[0] == "Lentil soup with lemon"
    by_meaning = request(f"{served}/recipes/search", {"query": "japanese noodle broth"})["results"]
    assert by_meaning[0]["id"] == "r5"
    quick = request(f"{served}/recipes/search", {"query": "eggs", "minutes_max": 20})["results"]
    assert [each["id"] for each in quick] == ["r4"]
    assert request(f"{served}/recipes/r4")["minutes"] == 12
    answer = request(f"{served}/recipes/ask", {"question": "How many French recipes are there?"})
    assert answer["response"].startswith("2 ")
    assert {each["id"] for each in answer["results"]} == {"r3", "r4"}
    assert answer["confidence"]["level"] == "high"
    average = {"source": "recipes", "aggregate": ["avg(minutes)"], "where": [{"field": "cuisine", "value": "french"}]}
    assert request(f"{served}/query", average)["rows"] == [[46.0]]
    assert request(f"{served}/config.json")["domains"] == ["recipes"]
    assert [each["id"] for each in request(f"{served}/v1/models")["data"]] == ["quarry-recipes"]
    chat = {
        "model": "quarry-recipes",
        "messages": [{"role": "user", "content": "How many Japanese recipes are there?"}],
    }
    assert request(f"{served}/v1/chat/completions", chat)["choices"][0]["message"]["content"].startswith("1 ")


def test_it_is_asked_from_the_command_line_here_and_there(filled: tuple[Path, str], served: str) -> None:
    root, url = filled
    here = quarry_of(root, "ask", "recipes", "Which recipes are Lebanese?", DATABASE_URL=url)
    there = quarry_of(root, "--server", served, "ask", "recipes", "Which recipes are Lebanese?", DATABASE_URL=url)
    table = quarry_of(root, "--server", served, "ask", "recipes", "French recipes", "--format", "csv", DATABASE_URL=url)
    assert table.startswith("id,title,snippet,score")
    for shown in (here, there):
        assert "Lentil soup with lemon" in shown
        assert "Flatbread from the pan" in shown
        assert "Potato gratin" not in shown


def test_agents_find_query_and_read_it(served: str) -> None:
    def called(tool: str, arguments: dict[str, Any]) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        told = request(f"{served}/mcp", body, Accept="application/json, text/event-stream")
        return told["result"]["structuredContent"]

    assert called("search", {"text": "chickpeas", "source": ["recipes"]})["results"][0]["id"] == "r6"
    spiced = {"text": "dinner", "source": ["recipes"], "where": [{"field": "ingredients", "value": "cumin"}]}
    assert {each["id"] for each in called("search", spiced)["results"]} == {"r1", "r6"}
    assert called("query", {"source": "recipes", "aggregate": ["count"], "where": []})["rows"] == [[6]]
    assert called("get", {"source": "recipes", "id": ["r2"]})["title"] == "Flatbread from the pan"


def test_the_page_asks_it_and_shows_a_row_whole(served: str) -> None:
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        page = browser.new_page()
        page.goto(f"{served}/search?domain=recipes&q=How+many+French+recipes+are+there%3F")
        expect(page.get_by_role("region", name="Answer")).to_contain_text("2 recipes", timeout=PATIENCE_MS)
        expect(page.get_by_role("list").filter(has_text="Potato gratin")).to_be_visible()
        page.get_by_role("button", name="Mushroom omelette").click()
        expect(page.get_by_role("dialog")).to_contain_text("mushrooms", timeout=PATIENCE_MS)
        assert page.title().startswith("How many French recipes")
