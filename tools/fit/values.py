"""The values of a database, matched with the words of a question as the product's look-up does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg

from quarry.language.word_forms import STOP_WORDS, stem, tokenise
from quarry.reader.mentions import ValueLink
from quarry.schema.algebra import LIMIT_MAX, Aggregate, Group, Query
from quarry.schema.source import Schema
from tools.fit.results import run

PAGES_MAX = 10
"""How many pages of different values of one field to read."""
VALUE_CHARACTERS_MAX = 80
PART_VALUES_MAX = 40
"""A word in more values than this is too common to mean one of them."""
PHRASE_WORDS_MAX = 6
Entry = tuple[str, str, str, int]


class Values:
    """The values of the listed fields of a schema's sources."""

    def __init__(self, connection: psycopg.Connection[Any], schema: Schema) -> None:
        self._whole: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
        self._parts: dict[str, list[tuple[tuple[str, ...], Entry]]] = defaultdict(list)
        for source in schema.sources.values():
            for name, field in source.fields.items():
                if field.listed is not None:
                    self._learn(connection, schema, source.name, name)

    def _learn(self, connection: psycopg.Connection[Any], schema: Schema, source: str, field: str) -> None:
        for value, rows in _values_of(connection, schema, source, field):
            stems = tuple(stem(token.key) for token in tokenise(value))
            if not stems or len(value) > VALUE_CHARACTERS_MAX:
                continue
            entry = (source, field, value, rows)
            self._whole[stems].append(entry)
            if len(stems) > 1:
                for each in set(stems):
                    self._parts[each].append((stems, entry))

    def meant(self, question: str) -> list[ValueLink]:
        """The values that words of a question may mean."""
        tokens = tokenise(question)
        stems = [stem(token.key) for token in tokens]
        is_small = [token.key in STOP_WORDS for token in tokens]
        found = [*self._said_whole(stems, is_small)]
        whole = {(link.first, link.last) for link in found}
        found += [link for link in self._said_in_part(stems, is_small) if not _is_within(link, whole)]
        return found

    def _said_whole(self, stems: Sequence[str], is_small: Sequence[bool]) -> Iterator[ValueLink]:
        for first in range(len(stems)):
            for last in range(first + 1, min(len(stems), first + PHRASE_WORDS_MAX) + 1):
                if all(is_small[first:last]):
                    continue
                for source, field, value, rows in self._whole.get(tuple(stems[first:last]), ())[:60]:
                    yield ValueLink(first, last, source, field, value, rows)

    def _said_in_part(self, stems: Sequence[str], is_small: Sequence[bool]) -> Iterator[ValueLink]:
        for first, each in enumerate(stems):
            held = self._parts.get(each, ())
            if is_small[first] or len(each) < 2 or not 0 < len(held) <= PART_VALUES_MAX:
                continue
            for value_stems, (source, field, value, rows) in held:
                last = first + 1
                while last < len(stems) and tuple(stems[first : last + 1]) in _runs(value_stems):
                    last += 1
                yield ValueLink(first, last, source, field, value, rows, is_whole=False)


def _values_of(
    connection: psycopg.Connection[Any], schema: Schema, source: str, field: str
) -> Iterator[tuple[str, int]]:
    """The values of a field, most rows first."""
    for page in range(PAGES_MAX):
        query = Query(
            source=source, group=(Group(field=field),), aggregate=(Aggregate(fn="count"),), limit=LIMIT_MAX,
            offset=page * LIMIT_MAX,
        )  # fmt: skip
        result = run(connection, query, schema)
        yield from ((value, rows) for value, rows in result.rows if isinstance(value, str) and isinstance(rows, int))
        if not result.truncated:
            return


def _runs(stems: tuple[str, ...]) -> set[tuple[str, ...]]:
    return {stems[a:b] for a in range(len(stems)) for b in range(a + 1, len(stems) + 1)}


def _is_within(link: ValueLink, whole: set[tuple[int, int]]) -> bool:
    return any(first <= link.first and link.last <= last for first, last in whole)
