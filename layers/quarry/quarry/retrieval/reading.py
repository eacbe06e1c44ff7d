"""A question read in the light of the data: its words looked up, its mentions found, and what it asks of a table."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from quarry.language.everyday import is_everyday
from quarry.language.inflections import inflections
from quarry.language.tokens import Token, tokenise
from quarry.language.word_forms import word_forms
from quarry.platform.off_loop import off_loop
from quarry.postgres.pool import Database
from quarry.retrieval.facets import SearchTable
from quarry.retrieval.visible_values import NO_OWNERS, Owners
from quarry.retrieval.vocabulary import look_up
from quarry.spans.interpretation import interpret
from quarry.spans.lexicon import Lexicon, LookUp, continued_in, lexicon_of
from quarry.spans.locales import render_question
from quarry.spans.mention import ParsedQuery, Vocabulary
from quarry.spans.parser import look_ups, parse
from quarry.spans.question import Reading

LEXICONS_MAX = 64
INFLECTED_MAX = 60
"""So many words of a question are looked up in all their forms."""
EARLIER_QUESTIONS_MAX = 5
"""So many questions back a follow-up may go for its conditions."""


Adapt = Callable[[ParsedQuery], ParsedQuery]
"""How a domain understands what was parsed, where it knows better."""


def as_parsed(parsed: ParsedQuery) -> ParsedQuery:
    """`parsed` as it is."""
    return parsed


async def read_question(
    database: Database,
    table: SearchTable,
    text: str,
    *,
    today: datetime.date | None = None,
    earlier: Sequence[str] = (),
    owners: Owners = NO_OWNERS,
    adapt: Adapt = as_parsed,
) -> Reading:
    """What `text` asks of `table`, in one statement, and one more for each earlier question that it takes up.

    `earlier` are the questions before it, the last one last; "last year" is counted from `today`, by default the day that it is
    in UTC. Of tables with owners the values of those in `owners` are known. Raises DatabaseUnavailable.
    """
    today = today or datetime.datetime.now(datetime.UTC).date()
    parsed = await off_loop(adapt, await _parse(database, table, text, today, owners))
    taken_up = None
    if parsed.follows_up and earlier:
        rest = earlier[-EARLIER_QUESTIONS_MAX:-1]
        taken_up = await read_question(
            database, table, earlier[-1], today=today, earlier=rest, owners=owners, adapt=adapt
        )
    before = taken_up.question if taken_up else None
    return Reading(parsed, await off_loop(interpret, parsed, table, before), taken_up)


async def _parse(
    database: Database, table: SearchTable, text: str, today: datetime.date, owners: Owners
) -> ParsedQuery:
    lexicon = _lexicon(table)
    rendering = await off_loop(render_question, text, table.languages)
    text = rendering.text if rendering else text
    asked = await off_loop(_to_look_up, text, lexicon, today, table.languages)
    vocabulary: Vocabulary = await look_up(
        database,
        table.united or [table],
        asked.tokens,
        forms=asked.forms,
        also=asked.phrases,
        doubtful=asked.doubtful,
        owners=owners,
    )
    parsed = await off_loop(parse, text, lexicon=lexicon, vocabulary=vocabulary, reference_date=today)
    return rendering.put_back(parsed) if rendering else parsed


@dataclass(frozen=True)
class _ToLookUp:
    """What of a question is looked up in the data."""

    tokens: Sequence[Token]
    forms: Mapping[int, Sequence[str]]
    phrases: Sequence[LookUp]
    doubtful: Sequence[int]


def _to_look_up(text: str, lexicon: Lexicon, today: datetime.date, languages: Sequence[str]) -> _ToLookUp:
    tokens = tokenise(text)
    phrases = look_ups(text, lexicon=lexicon, reference_date=today)
    # "Iceland" is no slip for an Ireland that the data holds
    meant = {place for phrase in phrases for place in range(phrase.first, phrase.last)}
    inflected = {place: inflections(token.key, languages) for place, token in enumerate(tokens[:INFLECTED_MAX])}
    return _ToLookUp(
        tokens,
        {
            place: forms
            for place, token in enumerate(tokens)
            if (forms := (*word_forms(token.key), *inflected.get(place, ())))
        },
        [*phrases, *continued_in(tokens)],
        [place for place, token in enumerate(tokens) if place not in meant and _may_be_a_slip(token.key)],
    )


def _may_be_a_slip(word: str) -> bool:
    """Whether a word may be another one that the data holds; a code that is nearly another is not that."""
    return not is_everyday(word) and not any(map(str.isdigit, word))


@lru_cache(maxsize=LEXICONS_MAX)
def _lexicon(table: SearchTable) -> Lexicon:
    return lexicon_of(table)
