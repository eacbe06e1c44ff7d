"""How each thing that a question mentions is meant."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from quarry.core.contract import Assertion
from tests.query.tables import TABLES, read

_CORPUS = tomllib.loads((Path(__file__).parent / "corpus" / "assertion.toml").read_text(encoding="utf-8"))
_MARKED = re.compile(r"\[([-+!?~]?)([^\]]+)\]")
_MEANT: dict[str, Assertion] = {
    "+": "affirmed", "-": "negated", "!": "required", "?": "preferred", "~": "doubtful",
}  # fmt: skip
PHRASES = [(name, line) for name, part in _CORPUS.items() for line in part["phrases"].strip().splitlines()]


def test_the_corpus_is_large() -> None:
    assert len(PHRASES) >= 120


@pytest.mark.parametrize(("table", "phrase"), PHRASES)
def test_things_are_meant_as_the_corpus_says(table: str, phrase: str) -> None:
    text = _MARKED.sub(lambda match: match[2], phrase)
    parsed = read(text, TABLES[table])
    expected: list[tuple[str, Assertion]] = []
    actual: list[tuple[str, Assertion]] = []
    shift = 0
    for match in _MARKED.finditer(phrase):
        start = match.start() - shift
        shift += len(match[0]) - len(match[2])
        if not match[1]:
            continue
        expected.append((match[2], _MEANT[match[1]]))
        meant = [each for each in parsed.mentions if each.start <= start < each.end]
        actual += [(match[2], each.assertion) for each in meant]
    assert actual == expected
