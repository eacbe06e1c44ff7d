"""docs/client.md as its readers try it, against a running service and the real framework."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from quarry.client import Client

PAGE = (Path(__file__).resolve().parents[2] / "docs/client.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
FRAMEWORKS = ("langchain_core", "llama_index")


def run(block: str, base: str, names: dict[str, Any]) -> None:
    exec(compile(block.replace("http://127.0.0.1:8080", base), "docs/client.md", "exec", dont_inherit=True), names)


def test_the_examples_run_one_after_the_other(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for block in BLOCKS:
        if not any(each in block for each in FRAMEWORKS):
            run(block, base, names)
    names["client"].close()
    told = capsys.readouterr().out
    for words in ("motion ", "[1] ", "kept as ", " True\n", "404 ", "'/limit'", "final_answer"):
        assert words in told


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_retriever_gives_whole_texts(base: str, framework: str, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of theirs
        pytest.importorskip(framework, reason="installed by requirements/frameworks.txt")
        [block] = [block for block in BLOCKS if framework in block]
        names: dict[str, Any] = {"__name__": "example"}
        with Client(base, token="gus") as client:
            names["client"] = client
            run(block, base, names)
            [first, *_] = client.search_records("old elm").results
            whole = client.record(first.type, first.id)
    assert f"{first.type}/{first.id} " in capsys.readouterr().out
    [retrieved, *_] = names.get("documents") or names["nodes"]
    assert whole.text
    assert whole.text in (getattr(retrieved, "page_content", None), getattr(retrieved, "text", None))
