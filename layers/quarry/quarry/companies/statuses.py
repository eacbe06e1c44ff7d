"""How a company is to stand and be funded, by what a question says of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quarry.companies.contract import FUNDING_STAGES
from quarry.companies.facets import STAGE, STATUS
from quarry.companies.meaning import EARLIER, LATER, word_before
from quarry.spans.mention import FacetName, ParsedQuery, Span
from quarry.spans.question import Clause, Condition

DATE_AHEAD_MAX = 12
"""So many characters behind "closed" a date is that of closing."""
_UNDATED = ("acquired", "public")
"""Statuses of which it is not recorded since when."""
_BESIDES = frozenset("also too including include even plus".split())
_ANY = frozenset("any every all whatever each".split())


def with_one_status(clauses: Sequence[Clause], parsed: ParsedQuery) -> list[Clause]:
    """The clauses, all that they say of the status in one: a company has one status. "Also closed ones" asks for
    startups too.
    """
    named = [clause for clause in clauses if any(each.facet == STATUS and not each.is_negated for each in clause)]
    if not named:
        return [_with_stages(clause, parsed) for clause in clauses]
    statuses = [each for clause in named for each in clause if each.facet == STATUS]
    values = dict.fromkeys(value for each in statuses for value in each.values)
    evidence = tuple(span for each in statuses for span in each.evidence)
    if evidence and any(_is_besides(parsed, span) for span in evidence):
        values = dict.fromkeys(("startup", *values))
    one: Clause = (Condition(STATUS, tuple(values), evidence=evidence),)
    return [one, *(_with_stages(clause, parsed) for clause in clauses if clause not in named)]


def of_closing(clause: Clause, clauses: Sequence[Clause], parsed: ParsedQuery) -> Clause:
    """ "Closed in 2021" dates the end of a company, not its beginning."""
    if _dated(clause, ("closed",), clauses, parsed):
        return tuple(replace(each, facet="closed_year") if each.facet == "founded_year" else each for each in clause)
    return clause


def undated(clauses: Sequence[Clause], parsed: ParsedQuery) -> list[tuple[Clause, Span]]:
    """The clauses that say when companies were acquired or went public, which is not recorded, and not when they were founded;
    each with the characters that say it.
    """
    return [
        (clause, Span(status.start, clause[0].evidence[0].end))
        for clause in clauses
        if (status := _dated(clause, _UNDATED, clauses, parsed))
    ]


def _dated(clause: Clause, statuses: Sequence[str], clauses: Sequence[Clause], parsed: ParsedQuery) -> Span | None:
    """The word for one of these statuses that a clause of a founding year stands right behind, with nothing between that says
    that it is one.
    """
    if clause[0].facet != "founded_year" or not clause[0].evidence:
        return None
    start = clause[0].evidence[0].start
    names = [mention.start for mention in parsed.mentions if isinstance(mention.value, FacetName)]
    said = (
        span
        for other in clauses
        for each in other
        if each.facet == STATUS and len(each.values) == 1 and each.values[0] in statuses
        for span in each.evidence
    )
    behind = (span for span in said if 0 <= start - span.end <= DATE_AHEAD_MAX)
    return next((span for span in behind if not any(span.end <= name < start for name in names)), None)


def _is_besides(parsed: ParsedQuery, evidence: Span) -> bool:
    """Whether what is said there is to be added ("also those that closed")."""
    tokens = parsed.tokens
    before = [token.key for token in tokens if token.end <= evidence.start][-6:]
    behind = [token.key for token in tokens if token.start >= evidence.end][:1]
    return bool(_BESIDES & set(before)) or behind == ["too"]


def asks_for_any_status(parsed: ParsedQuery) -> bool:
    return any(
        isinstance(mention.value, FacetName) and STATUS in mention.value.facets and word_before(parsed, mention) in _ANY
        for mention in parsed.mentions
    )


def is_of_status(clause: Clause) -> bool:
    """Whether a clause asks for nothing but a status."""
    return all(condition.facet == STATUS for condition in clause)


def _with_stages(clause: Clause, parsed: ParsedQuery) -> Clause:
    """ "Series A or later", or "series A+", means all stages that follow."""
    return tuple(
        replace(condition, values=_stages(condition, parsed)) if condition.facet == STAGE else condition
        for condition in clause
    )


def _stages(condition: Condition, parsed: ParsedQuery) -> tuple[str, ...]:
    if len(condition.values) != 1 or condition.values[0] not in FUNDING_STAGES or not condition.evidence:
        return condition.values
    place = FUNDING_STAGES.index(condition.values[0])
    end = condition.evidence[-1].end
    if parsed.text.startswith("+", end):
        return FUNDING_STAGES[place:]
    behind = [token.key for token in parsed.tokens if token.start >= end][:3]
    said = [word for word in behind if word not in ("stage", "round", "funding")][:2]
    if len(said) == 2 and said[0] in ("or", "and"):
        if said[1] in LATER:
            return FUNDING_STAGES[place:]
        if said[1] in EARLIER:
            return FUNDING_STAGES[1 : place + 1]
    return condition.values
