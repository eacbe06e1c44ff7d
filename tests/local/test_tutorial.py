"""docs/own-data.md as who follows it meets it: its commands print what it shows."""

import re
from pathlib import Path

import psycopg

from tests.conftest import clone_database
from tests.local.test_cli import quarry

PAGE = (Path(__file__).resolve().parents[2] / "docs/own-data.md").read_text()


def block(language: str, behind: str) -> str:
    """The first block of code in a language behind a text."""
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE[PAGE.index(behind) :], re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def printed(text: str) -> list[str]:
    """The lines of an answer without its address, which differs each time."""
    return [line.rstrip() for line in text.strip().splitlines() if line and not line.startswith("http")]


def test_its_commands_print_what_it_shows(server_url: str, migrated_template: str, tmp_path: Path) -> None:
    file = tmp_path / "quarry.toml"
    with clone_database(server_url, migrated_template) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(block("sql", "## Some tables").encode())
            connection.execute("analyze")
        assert quarry("map", "support", "--output", file, DATABASE_URL=url).returncode == 0
        assert file.read_text() == block("toml", "## Draft the declaration")
        assert quarry("apply", file, DATABASE_URL=url).returncode == 0
        for question in re.findall(r'^quarry ask records "(.*?)"$', PAGE[PAGE.index("## Ask") :], re.MULTILINE)[:2]:
            _, _, behind = PAGE.partition(f'{question}"\n```\n')
            shown = behind.split("```\n")[1]
            assert printed(quarry("ask", "records", question, DATABASE_URL=url).stdout) == printed(shown), question
