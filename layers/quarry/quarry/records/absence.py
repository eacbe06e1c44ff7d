"""What a question names and no record holds.

Records are prose: what no facet knows may still stand in a text, and what is asked in one word may be answered in another. So
only names are said not to be there, or, where there is no model to try other words, a question to which nothing is near.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import LiteralString

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from quarry.core.language.everyday import is_everyday
from quarry.core.language.tokens import keys, says_something_by_case
from quarry.core.postgres.pool import Database
from quarry.core.query.mention import Word
from quarry.core.text import significant_words
from quarry.records.ranking import RankedRecord
from quarry.records.reading import RecordsReading, is_written_as_name, other_names
from quarry.records.searched_types import SearchedType

LIKENESS_MIN = 0.35
"""A question to which no record is more like is about something else. Measured: of 128 questions that two collections can
answer one stays below, of seven about other things that one of them cannot answer all but two.
"""

LIKENESS_SURE = 0.42
"""So much it takes where the question names something that no record holds."""

NAMES_MAX = 8
"""So many names of a question are looked for."""


async def names_held_by_none(database: Database, reading: RecordsReading, types: Sequence[SearchedType]) -> list[str]:
    """The names in a question that no record of these types holds, written so or nearly so. Raises DatabaseUnavailable."""
    names = islice(chain(_names_of_others(reading), _unknown_names(reading)), NAMES_MAX)
    return await _held_by_none(database, list(names), types)


async def words_held_by_none(database: Database, reading: RecordsReading, types: Sequence[SearchedType]) -> list[str]:
    """The words of what a question is about that no record of these types holds; a word that is none of the language may be a
    slip of the pen, and is not told. Raises DatabaseUnavailable.
    """
    words = [word for word in reading.question.topic.split() if significant_words(word) and is_everyday(word)]
    return await _held_by_none(database, [_Name(word, word) for word in words[:NAMES_MAX]], types)


async def _held_by_none(database: Database, names: Sequence[_Name], types: Sequence[SearchedType]) -> list[str]:
    """Those of the names that no record of these types holds, written so or nearly so."""
    if not names:
        return []
    held = _any_table(
        "exists (select from {0} r where r.text_search @@ asked_words({1}::regconfig, n.words, true))",
        [(Identifier(type.rows), Literal(language)) for type in types for language in type.languages],
    )
    alike = _any_table(
        "exists (select from tsvector_to_array(said_words({1}::regconfig, n.words)) s (words),"
        " weigh_words({0}, s.words, 1, 1) w where not w.words <@ s.words)",
        [(Literal(type.rows), Literal(language)) for type in types for language in type.languages],
    )
    rows = await database.rows(
        SQL(
            "select n.name from unnest(%(names)s::text[], %(words)s::text[]) with ordinality n (name, words, place)"
            " where not ({}) and (n.words = n.name and position(' ' in n.name) > 0 or not ({})) order by n.place"
        ).format(held, alike),
        {"names": [name.name for name in names], "words": [name.words for name in names]},
    )
    return list(dict.fromkeys(row["name"] for row in rows))


def _any_table(condition: LiteralString, readings: Sequence[tuple[Composable, Composable]]) -> Composed:
    return SQL(" or ").join(SQL(condition).format(table, language) for table, language in readings)


def is_near_nothing(ranked: Sequence[RankedRecord], reading: RecordsReading, least: float = LIKENESS_MIN) -> bool:
    """Whether nothing that was found is like the question in its meaning and its words."""
    if reading.clauses:
        return not ranked
    return max((item.likeness for item in ranked), default=0.0) < least


@dataclass(frozen=True)
class _Name:
    """A name, and the words of it that a record must hold one after the other."""

    name: str
    words: str


def _unknown_names(reading: RecordsReading) -> Iterator[_Name]:
    """Words written as names where capitals say something: each must be there, for a record may put several otherwise."""
    parsed = reading.parsed
    if not says_something_by_case(parsed.tokens):
        return
    others = {each.start for pair in other_names(parsed, reading.types.united) for each in pair}
    for mention in parsed.mentions:
        is_told = mention.start == parsed.tokens[0].start or mention.start in others
        if isinstance(mention.value, Word) and is_written_as_name(mention, parsed) and not is_told:
            name = parsed.text[mention.start : mention.end]
            yield from (_Name(name, word) for word in keys(name))


def _names_of_others(reading: RecordsReading) -> Iterator[_Name]:
    """A part of somebody's name with another word: whoever is called so is somebody else."""
    for one, other in other_names(reading.parsed, reading.types.united):
        name = reading.parsed.text[one.start : other.end]
        yield _Name(name, name)
