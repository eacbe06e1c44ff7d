"""What people and things of a place are called: "Nigerian" of Nigeria, "Europeans" of Europe."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from quarry.language.tokens import keys

_TABLE = Path(__file__).parent / "data" / "demonyms.tsv"


def place_of_demonym(words: str) -> str | None:
    """The usual name of the place, lower case; None where `words` (a demonym or its plural) are none."""
    phrase = " ".join(keys(words))
    return demonyms().get(phrase) or demonyms().get(phrase.removesuffix("s"))


def called_alike(word: str) -> tuple[str, ...]:
    """The other names, lower case, of a place or its people that `word` is a name of: "polish" and "pole" of "poland"."""
    name = word.lower()
    place = place_of_demonym(name) or name
    return tuple(other for other in (place, *_demonyms_of().get(place, ())) if other != name)


@cache
def _demonyms_of() -> dict[str, list[str]]:
    by_place: dict[str, list[str]] = {}
    for demonym, place in demonyms().items():
        by_place.setdefault(place, []).append(demonym)
    return by_place


@cache
def demonyms() -> dict[str, str]:
    """Places by their demonyms, singular."""
    rows = (line.split("\t") for line in _TABLE.read_text().splitlines() if not line.startswith("#"))
    return {demonym: place for demonyms_of_place, place in rows for demonym in demonyms_of_place.split(",")}
