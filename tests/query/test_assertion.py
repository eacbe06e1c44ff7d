"""How each thing that a question mentions is meant."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from quarry.platform.contract import Assertion
from tests.query.tables import TABLES, read

_CORPUS = tomllib.loads((Path(__file__).parent / "corpus" / "assertion.toml").read_text(encoding="utf-8"))
_MARKED = re.compile(r"\[([-+!?~]?)([^\]]+)\]")
_MEANT: dict[str, Assertion] = {
    "+": "affirmed", "-": "negated", "!": "required", "?": "preferred", "~": "doubtful",
}  # fmt: skip
PHRASES: dict[str, list[str]] = {name: part["phrases"].strip().splitlines() for name, part in _CORPUS.items()}


def test_the_corpus_is_large() -> None:
    assert sum(map(len, PHRASES.values())) >= 120


@pytest.mark.parametrize("table", PHRASES)
def test_things_are_meant_as_the_corpus_says(table: str) -> None:
    read_wrongly = {phrase: both for phrase in PHRASES[table] if (both := _meant(table, phrase))[0] != both[1]}
    assert read_wrongly == {}


def _meant(table: str, phrase: str) -> tuple[list[tuple[str, Assertion]], list[tuple[str, Assertion]]]:
    """How the things of a phrase are meant, as it is read and as the corpus says."""
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
    return actual, expected
