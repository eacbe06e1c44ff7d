"""What phrases mean, and phrases that mean nothing: one file for each dimension in `corpus/`.

`means` gives a phrase its mention, or several; a field that is not given has its default, and `said` is the whole phrase.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.query.rooms import ROOMS, Room, apart

CORPUS = Path(__file__).parent / "corpus"


def phrases(dimension: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    corpus = tomllib.loads((CORPUS / f"{dimension}.toml").read_text())
    for phrase, meant in corpus["means"].items():
        yield phrase, meant if isinstance(meant, list) else [meant]
    for phrase in corpus["none"]:
        yield phrase, []


@pytest.mark.parametrize("dimension", ROOMS)
def test_phrases_mean_what_the_corpus_says(dimension: str) -> None:
    room = ROOMS[dimension]

    def read(phrase: str) -> list[dict[str, Any]]:
        found = apart(room.find(phrase))
        return [_shown(phrase, each.start, each.end, each.is_latent, room.shown(each.value)) for each in found]

    meant = {phrase: [_filled(each, phrase, room) for each in all] for phrase, all in phrases(dimension)}
    assert {phrase: read(phrase) for phrase in meant} == meant


def _filled(meant: dict[str, Any], phrase: str, room: Room) -> dict[str, Any]:
    meant = {key: tuple(value) if isinstance(value, list) else value for key, value in meant.items()}
    said, latent = meant.pop("said", phrase), meant.pop("latent", False)
    start = phrase.index(said)
    return _shown(phrase, start, start + len(said), latent, room.shown(room.value(**meant)))


def _shown(phrase: str, start: int, end: int, is_latent: bool, value: dict[str, Any]) -> dict[str, Any]:
    return {"said": phrase[start:end], "latent": is_latent, **value}
