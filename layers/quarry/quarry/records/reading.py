"""A question over civic records, read once for all types: which of them it asks for, and what their records must be like.

Records are prose, and most of what a question says is what they tell about, not what they are: "the 2026 budget" is no record of
2026. So a condition must hold only where the question names the records that it is said of ("motions that failed in March"), or
says nothing else, or names a day. Elsewhere it adds weight.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from quarry.core.language.stemming import stem
from quarry.core.language.tokens import keys
from quarry.core.postgres.pool import Database
from quarry.core.query.mention import (
    Asked,
    Cue,
    DateRange,
    FacetName,
    Known,
    ParsedQuery,
)
from quarry.core.query.question import Clause, Condition, Evidence, Question
from quarry.core.retrieval.facets import SearchTable
from quarry.core.retrieval.reading import read_question
from quarry.records.facets import MEETINGS, RECORDS, SEARCHED_BY_TYPE, VOTERS

COUNTED: Mapping[str, SearchTable] = {
    **{str(name): table for name, table in SEARCHED_BY_TYPE.items()},
    "meeting": MEETINGS,
}
"""What can be counted: each type of record, and meetings."""


@dataclass(frozen=True)
class RecordsReading:
    """A question as it was read. `named` are the types whose records it asks for by name; `must_hold`: whether its conditions are
    said of the records themselves.
    """

    parsed: ParsedQuery
    question: Question
    named: Sequence[str] = ()
    must_hold: bool = False

    def clauses_for(self, table: SearchTable) -> list[Clause] | None:
        """The conditions as this table can tell them; None where it cannot tell one of them."""
        told = [tellable(clause, table) for clause in self.clauses]
        return None if any(not clause for clause in told) else told

    @property
    def clauses(self) -> list[Clause]:
        """The conditions that are said of records; the others only describe what these tell about."""
        return [
            clause for clause in self.question.clauses if self.must_hold or not _only_describes(clause, self.parsed)
        ]

    @property
    def rest(self) -> str:
        """What is left to be found by words: all but what the conditions say."""
        said = {evidence for clause in self.clauses for condition in clause for evidence in condition.evidence}
        return " ".join(
            self.parsed.text[mention.start : mention.end]
            for mention in self.parsed.mentions
            if Evidence(mention.start, mention.end) not in said
        )


async def read_records(database: Database, text: str, *, earlier: Sequence[str] = ()) -> RecordsReading:
    """What `text` asks of the records; `earlier` are the questions before it. Raises DatabaseUnavailable."""
    today = datetime.datetime.now(datetime.UTC).date()
    reading = await read_question(database, RECORDS, text, today=today, earlier=earlier)
    return place(reading.parsed, reading.question)


def place(parsed: ParsedQuery, question: Question) -> RecordsReading:
    """The reading with what is said of the records told from what they tell about."""
    named = _named(parsed)
    names_a_day = any(_is_a_day(condition) for clause in question.clauses for condition in clause)
    says_more = bool(question.topic or question.unanswerable or question.excluded_words)
    return RecordsReading(parsed, question, named, bool(named) or names_a_day or not says_more)


def tellable(clause: Clause, table: SearchTable) -> Clause:
    """Those of the conditions that this table can tell. Somebody who may be meant as the speaker or as one who voted is the
    speaker where there is one, else who moved.
    """
    facets = {facet.name for facet in table.facets}
    told = [condition for condition in clause if condition.facet in facets]
    voters = [condition for condition in told if condition.facet in VOTERS]
    if len(voters) > 1:
        movers = [condition for condition in voters if condition.facet == "mover"]
        told = [condition for condition in told if condition not in voters or condition in movers]
    return tuple(told)


def _named(parsed: ParsedQuery) -> tuple[str, ...]:
    """The types that the question asks for by what they are called, before it says anything of them."""
    for mention in parsed.mentions:
        value = mention.value
        if value == Cue("noun"):
            return types_called(parsed.text[mention.start : mention.end])
        if isinstance(value, FacetName) or (isinstance(value, Cue) and value.what in ("relates", "light")):
            return ()
    return ()


def types_counted(parsed: ParsedQuery) -> tuple[str, ...]:
    """The types that "how many" is followed by."""
    is_counted = False
    for mention in parsed.mentions:
        value = mention.value
        if isinstance(value, Asked) and value.what in ("count", "distinct"):
            is_counted = True
        elif is_counted and value == Cue("noun"):
            return types_called(parsed.text[mention.start : mention.end])
        elif is_counted and not (isinstance(value, Known) or (isinstance(value, Cue) and value.what == "filler")):
            return ()
    return ()


def types_called(words: str) -> tuple[str, ...]:
    """The types whose records are called so."""
    return _types_by_noun().get(tuple(stem(key) for key in keys(words)), ())


@cache
def _types_by_noun() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    types: dict[tuple[str, ...], tuple[str, ...]] = {}
    for name, table in COUNTED.items():
        for noun in table.nouns:
            words = tuple(stem(key) for key in keys(noun))
            types[words] = (*types.get(words, ()), name)
    return types


def _is_a_day(condition: Condition) -> bool:
    days = condition.range
    return isinstance(days, DateRange) and days.first is not None and days.first == days.last


def _only_describes(clause: Clause, parsed: ParsedQuery) -> bool:
    """Whether words that make a condition elsewhere say in prose what a record is about."""
    text = parsed.text
    return any(
        condition.is_negated
        or RECORDS.facet(condition.facet).kind not in ("name", "date")
        or (condition.range is not None and _asks_for_reasons(parsed))
        or _is_a_name(condition, text)
        or _is_small_part(condition, text)
        for condition in clause
    )


def _asks_for_reasons(parsed: ParsedQuery) -> bool:
    """Whether the question is why or how something came to be: its dates are those of that."""
    return bool(parsed.tokens) and parsed.tokens[0].key in ("why", "how")


def _is_a_name(condition: Condition, text: str) -> bool:
    """A year before a word ("the 2026 budget")."""
    if not isinstance(condition.range, DateRange) or condition.range.grain != "year":
        return False
    return any(
        " the " in f" {text[said.start : said.end].lower()} " or text[said.start : said.start + 1].isdigit()
        for said in condition.evidence
    )


def _is_small_part(condition: Condition, text: str) -> bool:
    """A word in small letters that is part of a name."""
    return condition.strength == "inferred" and any(
        text[said.start : said.end].islower() and " " not in text[said.start : said.end] for said in condition.evidence
    )
