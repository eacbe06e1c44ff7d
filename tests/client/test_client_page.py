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
FRAMEWORK = "langchain_core"


def run(block: str, base: str, names: dict[str, Any]) -> None:
    exec(compile(block.replace("http://127.0.0.1:8080", base), "docs/client.md", "exec", dont_inherit=True), names)


def test_the_examples_run_one_after_the_other(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for block in BLOCKS:
        if FRAMEWORK not in block:
            run(block, base, names)
    names["client"].close()
    told = capsys.readouterr().out
    for words in ("motion ", "[1] ", "kept as ", " True\n", "404 ", "'/limit'", "final_answer"):
        assert words in told


def test_the_langchain_retriever_works(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of theirs
        pytest.importorskip(FRAMEWORK, reason="installed by requirements/frameworks.txt")
        [block] = [block for block in BLOCKS if FRAMEWORK in block]
        with Client(base, token="gus") as client:
            run(block, base, {"client": client, "__name__": "example"})
            [first, *_] = client.search_records("old elm").results
    assert f"{first.type}/{first.id} " in capsys.readouterr().out
