"""The cues of `data/cues.toml`: words that say how others are meant, and those that say nothing of what is wanted."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import cast, get_args

from quarry.spans.lexicon import PhraseTable
from quarry.spans.mention import CueKind

_FILE = "data/cues.toml"


@cache
def cues() -> PhraseTable[CueKind]:
    """All cues, compared by the words as they are. Of a phrase under two headings, the first in the file holds."""
    return PhraseTable(_phrases())


def _phrases() -> Iterator[tuple[str, CueKind]]:
    text = files("quarry.spans").joinpath(_FILE).read_text(encoding="utf-8")
    for kind, phrases in tomllib.loads(text).items():
        if kind not in get_args(CueKind):
            raise ValueError(f"{_FILE}: {kind} is no kind of cue")
        for phrase in phrases.split(","):
            yield phrase.strip(), cast(CueKind, kind)
