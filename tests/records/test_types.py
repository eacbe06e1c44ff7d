"""A type of record is declared in one place: the worked example of docs/contributing.md."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

from quarry.records import types

PAGE = Path(__file__).resolve().parents[2] / "docs" / "contributing.md"

DECLARED_ELSEWHERE = """
import json, sys
from types import ModuleType
module = ModuleType("quarry.records.types")
sys.modules["quarry.records.types"] = module
exec(sys.stdin.read(), module.__dict__)
from quarry import catalog
from quarry.records.functions import functions
from quarry.records.searched_types import BUILT_IN
from quarry.records.tools import SearchToolset
tools = SearchToolset(None, None, BUILT_IN.named(()), None).tools()
print(json.dumps({
    "loaded": catalog.LOADABLE["petitions"].references,
    "embedded": catalog.EMBEDDED["petitions"].embeddings,
    "searched": [facet.name for facet in catalog.SEARCHED["petitions"].facets],
    "called": BUILT_IN.called("petitions"),
    "functions": [name for name, text in functions().items() if "petitions" in text],
    "tools": [tool.name for tool in tools if "residents ask for" in tool.description],
}))
"""


def declared_too(example: str) -> str:
    """The types of record with that of the example among them."""
    return f'{Path(types.__file__).read_text()}\n{example}\nTYPES = TYPES | {{"petition": PETITION}}\n'


def test_all_else_follows_from_the_declaration_of_a_type() -> None:
    section = PAGE.read_text().partition("## A type of record")[2]
    example = textwrap.dedent(section.partition("```python\n")[2].partition("   ```")[0])
    command = [sys.executable, "-c", DECLARED_ELSEWHERE]
    told = subprocess.run(command, input=declared_too(example), capture_output=True, text=True, check=True).stdout
    assert json.loads(told) == {
        "loaded": {"meeting_id": "meetings"},
        "embedded": "petition_embeddings",
        "searched": ["petitioner", "body", "date"],
        "called": ["petition"],
        "functions": ["record_texts", "hybrid_search_petitions"],
        "tools": ["search_petitions"],
    }
