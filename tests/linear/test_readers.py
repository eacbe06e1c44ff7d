"""Output of models and content of files is read in linear time. `test_event_loop` checks the same for callers' input."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from quarry.answering.written import CitationFilter
from quarry.companies.reading import read_names
from quarry.files.forms import Format, ReadOptions
from quarry.files.guessing import TableGuesser, staged
from quarry.files.reading import read_records
from quarry.files.records import UnreadableFile
from quarry.language.word_forms import sentences
from quarry.models.answers import without_fence
from quarry.people.ranking import plain_reasons
from quarry.platform.text import LinkFilter, mark, unmark
from tests.linear.measuring import assert_linear, repeated
from tests.query.rooms import ROOMS

Reader = Callable[[str], object]


def _by_character(make: Callable[[], CitationFilter | LinkFilter]) -> Reader:
    """Reads a stream whose pieces are single characters."""

    def read(text: str) -> str:
        reader = make()
        return "".join([*map(reader.feed, text), reader.finish()])

    return read


def _file_of(format: Format) -> Reader:
    def guessed(text: str) -> None:
        with suppress(UnreadableFile), read_records(io.BytesIO(text.encode()), "rows", ReadOptions(format)) as file:
            guesser = TableGuesser()
            for record in file.records:
                if isinstance(record.fields, dict):
                    guesser.add(record.fields, file, record.number)
                    staged(record.fields)
            guesser.guessed()

    return guessed


# The name of a reader, the reader, the pieces its texts repeat, and the length of the shorter of the two texts compared.
READERS: list[tuple[str, Reader, tuple[str, ...], int]] = [
    ("reasons", lambda text: plain_reasons([text]), ("[", "<a", "**", "[x]("), 20_000),
    ("citations", _by_character(lambda: CitationFilter({1, 2})), ("[1,", "`", "` ", "【1"), 10_000),
    ("links", _by_character(lambda: LinkFilter({1: "x"})), ("[x](", "http://", "`", "<a "), 4_000),
    ("sentences", sentences, ('."', ". ", "A. ", " [1]", ")", "No. "), 20_000),
    ("places", ROOMS["places"].find, ("Berlin, ", "new ", "Reading or "), 1_000),
    ("names of companies", read_names, (" ?", "A ", "A.", "! ? is ", "3a", "'", "like ", "please ", "1.a:"), 1_000),
    ("marks", lambda text: unmark(mark(text)), ("<mark>", "\ue000", "&lt;"), 20_000),
    ("a model's JSON", without_fence, ("```", "```\n", "``` "), 20_000),
    ("CSV", _file_of("csv"), ('"x', ",", "a\n", "\r"), 40_000),
    ("JSON", _file_of("json"), ("[", '{"a":', "9", '"'), 40_000),
    ("JSON Lines", _file_of("jsonl"), ("[", "{}\n", "9"), 40_000),
]


def _cases() -> Iterator[Any]:
    for name, reader, pieces, length in READERS:
        for piece in (" ", "\n", *pieces):
            yield pytest.param(reader, repeated(piece, "x", "y"), length, id=f"{name}-{piece!a}")


@pytest.mark.parametrize(("read", "hostile", "length"), [*_cases()])
def test_twice_the_text_takes_about_twice_as_long(read: Reader, hostile: Callable[[int], str], length: int) -> None:
    assert_linear(read, hostile, length)
