"""Numbers, groups and extremes that a question asks of companies: from all rows that meet its conditions, exactly, or not
at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from quarry.companies.contract import Company
from quarry.companies.facets import COMPANIES, STATUS
from quarry.companies.query import Sought, shown_before
from quarry.companies.statuses import is_of_status
from quarry.companies.store import companies_by_ids
from quarry.postgres.pool import Database
from quarry.query import asked
from quarry.query.algebra import Query
from quarry.query.of_question import TableQuestion
from quarry.retrieval.answers import Answer, Relaxation
from quarry.spans.question import Ask, Clause, Missing, spans_of

COUNTED_KINDS = ("count", "distinct", "groups", "extreme")
EXTREMES_SHOWN = 5
"""So many of the largest or newest are shown where the question says no number."""
GRAINS = (None, "year")
"""Companies are dated by years."""


@dataclass(frozen=True)
class Counting:
    """What is to be counted: the companies that meet the clauses, those `among` the ids shown before where they are given.

    `assumed` clauses hold too as long as some company meets them all.
    """

    ask: Ask
    clauses: Sequence[Clause] = ()
    assumed: Sequence[Clause] = ()
    among: Sequence[str] | None = None


@dataclass(frozen=True)
class Counted:
    """What all companies say to a question: under `clauses`, and how many there are without what was assumed of them.

    `companies` are the first of them, or those with the lowest or highest value, in this order.
    """

    wanted: Counting
    answer: Answer
    clauses: Sequence[Clause]
    of_any_status: int
    companies: Sequence[Company] = ()
    relaxations: Sequence[Relaxation] = ()
    query: Query | None = None
    """What asks for the same number of the companies as a source, where a query can say it."""

    @property
    def number(self) -> int:
        """How many companies there are, or how many different values where these were asked for."""
        return self.answer.rows if self.answer.number is None else self.answer.number


def as_asked(counted: Counted, missing: Sequence[Missing]) -> TableQuestion | None:
    """What was counted, as it is asked of the table; groups as a whole. None where what the question names is `missing` in the
    data: a query refuses such values.
    """
    wanted, unknown = counted.wanted, {each.evidence for each in missing}
    if unknown & spans_of(counted.clauses):
        return None
    ask = replace(wanted.ask, limit=None) if wanted.ask.kind == "groups" else wanted.ask
    return TableQuestion(COMPANIES, ask, counted.clauses, keys=wanted.among)


def asks_for_numbers(sought: Sought) -> bool:
    return sought.question.ask.kind in COUNTED_KINDS and not sought.question.unanswerable


def what_to_count(sought: Sought, previous_ids: Sequence[str] = ()) -> Counting | None:
    """What the question wants counted; None where it asks for no number, or for one that fields and tags do not tell.

    What companies are about is told by their texts, and so is nothing to be counted by. Nor is a part of the conditions.
    """
    ask, question = sought.question.ask, sought.question
    if not asks_for_numbers(sought) or sought.has_more or question.excluded_words or ask.grain not in GRAINS:
        return None
    ask = replace(ask, limit=ask.limit or None, grain=None)
    tags = [group.conditions for group in sought.tags if group.conditions not in sought.stated]
    if (not sought.topic or sought.is_plain) and not (question.references and previous_ids):
        assumed = [clause for clause in sought.assumed if ask.facet not in _FACETS_OF_ENDS or not is_of_status(clause)]
        return Counting(ask, (*sought.stated, *tags), assumed)
    if sought.narrows and previous_ids:
        return Counting(ask, sought.stated, among=tuple(shown_before(question, previous_ids)))
    return None


_FACETS_OF_ENDS = (STATUS, "closed_year", "acquirer")
"""What only some statuses have: who asks by it does not mean startups alone."""


async def count(database: Database, wanted: Counting, shown: int) -> Counted:
    """The number, and the first `shown` companies. Raises DatabaseUnavailable."""
    every = await asked.count(database, COMPANIES, wanted.clauses, wanted.among)
    clauses = (*wanted.clauses, *wanted.assumed)
    answer = await _answer(database, wanted, _whole(wanted.ask), clauses)
    if not answer.rows and every and wanted.assumed:
        clauses = tuple(wanted.clauses)
        answer = await _answer(database, wanted, _whole(wanted.ask), clauses)
    ids = answer.keys[:shown]
    if wanted.ask.kind != "extreme" and answer.rows:
        ids = (await _answer(database, wanted, Ask("rows", limit=shown), clauses)).keys
    relaxed = [] if answer.rows else await asked.relaxations(database, COMPANIES, clauses, wanted.among)
    return Counted(
        wanted,
        answer,
        clauses,
        every,
        await companies_by_ids(database, ids),
        [each for each in relaxed if each.rows],
    )


async def _answer(database: Database, wanted: Counting, ask: Ask, clauses: Sequence[Clause]) -> Answer:
    return await asked.answer(database, TableQuestion(COMPANIES, ask, clauses, keys=wanted.among))


def _whole(ask: Ask) -> Ask:
    """Groups are asked for as a whole, so that what comes behind the first ones is told too; so are a few extremes."""
    if ask.kind == "groups":
        return replace(ask, limit=None)
    if ask.kind == "distinct":
        return replace(ask, kind="groups", limit=None)
    if ask.kind == "extreme":
        return replace(ask, limit=max(ask.limit or 1, EXTREMES_SHOWN) if (ask.limit or 1) == 1 else ask.limit)
    return ask
