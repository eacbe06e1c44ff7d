"""What the pages say exists."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import pytest

from quarry import catalog
from quarry.local import cli
from quarry.platform.settings import Settings
from tools.generate import STREAMED, event_schema, settings_page, with_tables

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "events/README.md"]

_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_COMMAND = re.compile(  # where a command begins: not an argument ("mcp add quarry …") and not a name in a program
    r"(?:^|[;&|(]|\bexec(?: +-\S+)* +\S+) *(?:[A-Z_]+=\S* +)*(?:[\w./~-]*/)?(quarry|make) +([^;&|)=\n][^;&|)\n]*)"
)


def commands(page: str) -> list[tuple[str, list[str]]]:
    """Each `quarry …` and `make …` in the code of a page: the program and its arguments."""
    blocks = _FENCE.findall(page)
    code = [*(line for block in blocks for line in block.splitlines()), *_SPAN.findall(_FENCE.sub("", page))]
    return [
        (program, shlex.split(arguments, comments=True))
        for line in code
        if not line.lstrip().startswith("#")
        for program, arguments in _COMMAND.findall(line)
    ]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@cache
def help_of(*words: str) -> str | None:
    """What `quarry WORDS --help` prints, or None when there is no such command."""
    with redirect_stdout(StringIO()) as printed, redirect_stderr(StringIO()):
        status = cli.main([*words, "--help"])
    return printed.getvalue() if status == 0 else None


def unknown(program: str, arguments: list[str]) -> str | None:
    """The first word of a command that its program does not know."""
    if program == "make":
        return next((word for word in arguments if "=" not in word and word not in targets()), None)
    while arguments[:1] in (["--server"], ["--stack"], ["--tenant"]):
        arguments = arguments[2:]
    if not arguments or arguments[0] in ("--help", "--version"):
        return None
    if help_of(arguments[0]) is None:
        return arguments[0]
    # the second word may be a command of a group
    words = arguments[: 1 if arguments[1:2] == [] or arguments[1].startswith("-") else 2]
    text = help_of(*words) or ""
    return next((word for word in arguments if word.startswith("--") and word not in text), None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    for program, arguments in commands(page.read_text()):
        word = unknown(program, arguments)
        assert word is None, f"{program} {shlex.join(arguments)}: there is no {word}"


def anchors(page: str) -> set[str]:
    """What the headings of a page can be linked to by, as GitHub makes it."""
    headings = _HEADING.findall(_FENCE.sub("", page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in _LINK.findall(_FENCE.sub("", page.read_text())):
        path, _, anchor = link.partition("#")
        if re.match(r"https?:|mailto:", link):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text()), link


def test_every_file_that_the_worked_examples_name_exists() -> None:
    named = re.findall(r"`([\w/.-]+/[\w.-]+\.\w+)`", (ROOT / "docs/contributing.md").read_text())
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_setting_is_described() -> None:
    page = (ROOT / "docs/settings.md").read_text()
    assert page == settings_page(), "run `make docs`"
    for name, field in Settings.model_fields.items():
        assert field.description
        assert f"| `{name.upper()}` |" in page


def test_every_table_that_can_be_loaded_is_described() -> None:
    page = (ROOT / "docs/data.md").read_text()
    assert page == with_tables(page, list(catalog.LOADABLE.values())), "run `make docs`"
    for table in catalog.LOADABLE.values():
        section = page.partition(f"### {table.name}\n")[2].partition("\n### ")[0]
        if same := re.search(r"Its fields are those of `(\w+)`", section):
            section = page.partition(f"### {same[1]}\n")[2].partition("\n### ")[0]
        assert all(f"`{column}`" in section for column in table.columns)


EVENT_TYPES = {
    "campaigns": {"tool_call", "tool_observation", "understood", "partial_text", "text_withdrawn", "final_answer", "error"},
    "companies": {"activity", "understood", "partial_text", "text_withdrawn", "final_answer", "error"},
    "records": {
        "intent", "tool_call", "tool_observation", "sources", "aggregation",
        "final_answer_chunk", "citations", "confidence", "followups", "done", "error", "understood", "results",
        "text_withdrawn",
    },
    "ontology": {"tool_call", "tool_observation", "understood", "partial_text", "text_withdrawn", "final_answer", "error"},
}  # fmt: skip


@pytest.mark.parametrize("domain", STREAMED)
def test_the_schema_of_events_knows_every_event(domain: str) -> None:
    schema = json.loads((ROOT / f"docs/api/{domain}-events.json").read_text())
    assert schema == event_schema(domain, *STREAMED[domain]), "run `make docs`"
    types = {
        schema["$defs"][one["$ref"].rpartition("/")[2]]["properties"]["type"]["default"] for one in schema["anyOf"]
    }
    assert types == EVENT_TYPES[domain]
