"""Words that are written together or apart: "bed sore" finds "bedsore", and "gallbladder" finds "gall bladder".

No list of words is needed: a form counts where a record holds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from quarry.platform.text import STOP_WORDS, placed_words
from quarry.postgres.pool import Database
from quarry.records.retrieval import tables_seen
from quarry.records.searched_types import SearchedType

FORM_MIN, PART_MIN, TAIL_MIN = 6, 3, 2
"""The least letters of a compound and of a part; of the part behind a hyphen, too ("follow-up")."""
WORDS_MAX = 24
APART_MAX = 4
"""Words without a record that are read as two."""


async def respelt(query: str, types: Sequence[SearchedType], database: Database) -> Mapping[str, str]:
    """The compounds of a query as the records write them, by how the query does. Raises DatabaseUnavailable."""
    placed = [each for each in placed_words(query) if each[0].isalpha()][:WORDS_MAX]
    pairs = {
        query[start:end]: one + two
        for (one, start, until), (two, begin, end) in pairwise(placed)
        if query[until:begin] == " " and one not in STOP_WORDS and len(one + two) >= FORM_MIN
    }
    long = {query[start:end]: word for word, start, end in placed if len(word) >= FORM_MIN}
    parts = {part.lower() for each in pairs for part in each.split()}
    held = await _held({*pairs.values(), *long.values(), *parts}, types, database)
    found = {
        # where both parts are written too, either may be meant
        each: f"{each} {one}" if held.issuperset(each.lower().split()) else one
        for each, one in pairs.items()
        if one in held
    }
    missing = [each for each, word in long.items() if word not in held][:APART_MAX]
    forms = {each: [*_apart(each.lower())] for each in missing}
    if forms:
        held = await _held({form for each in forms.values() for form in each}, types, database)
        found |= {each: both[0] for each, apart in forms.items() if (both := [form for form in apart if form in held])}
    return found


def with_forms(text: str, forms: Mapping[str, str]) -> str:
    """A text with these forms for its own."""
    for own, form in forms.items():
        text = text.replace(own, form)
    return text


def _apart(word: str) -> Iterator[str]:
    """A word as two, the most even parts first."""
    for place in sorted(range(PART_MIN, len(word) - TAIL_MIN + 1), key=lambda place: abs(2 * place - len(word))):
        one, two = word[:place], word[place:]
        yield f"{one}-{two}"
        if len(two) >= PART_MIN and not {one, two} & STOP_WORDS:
            yield f"{one} {two}"


async def _held(forms: set[str], types: Sequence[SearchedType], database: Database) -> set[str]:
    """The forms whose words a record holds all."""
    held: set[str] = set()
    for language in dict.fromkeys(language for each in types for language in each.languages):
        tables, seen = tables_seen(each for each in types if language in each.languages)
        rows = await database.rows(
            "select forms_held(%(tables)s, %(forms)s, %(language)s::regconfig, %(seen)s) as held",
            {"tables": tables, "forms": sorted(forms - held), "language": language, "seen": seen},
        )
        held.update(rows[0]["held"])
    return held
