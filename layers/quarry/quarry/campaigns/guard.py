"""What a model may ask of the campaigns: what the question says. Conditions that it invents are dropped, those that the words
clearly state and that it missed are added.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.reading import CampaignQuestion
from quarry.core.language.stemming import stem
from quarry.core.language.tokens import keys
from quarry.core.query.question import Clause, Condition
from quarry.core.retrieval.wording import clause_label
from quarry.core.text import STOP_WORDS


@dataclass(frozen=True)
class Guarded:
    """The conditions of a call as they hold, and in words those of it that nothing in the question says."""

    clauses: tuple[Clause, ...]
    dropped: tuple[str, ...] = ()


def guard(
    clauses: Sequence[Clause],
    asked: CampaignQuestion,
    said: frozenset[str],
    shown: Collection[tuple[str, str]],
    *,
    may_widen: bool,
) -> Guarded:
    """A call's conditions in the light of the question.

    `said` are the stems of all that the person said, `shown` the values of facets that the model has been shown. Where words are
    left that the reading made nothing of, they may mean whatever the model takes them for. `may_widen`: what the question
    requires was searched for and found nothing, so that a wider search is worth while; what it rules out stays so.
    """
    is_open = bool(asked.theme or asked.says or asked.question.follows_up)
    kept: list[Clause] = []
    dropped: list[str] = []
    for clause in clauses:
        borne_out = clause if is_open else _borne_out(clause, asked, said, shown)
        if borne_out != clause:
            dropped.append(clause_label(CAMPAIGNS, clause))
        if borne_out:
            kept.append(borne_out)
    about = {condition.facet for clause in kept for condition in clause if not condition.is_negated}
    missed = [
        clause
        for clause in asked.clauses
        if clause not in kept and _must_hold(clause, about) and not (may_widen and _requires(clause))
    ]
    return Guarded((*kept, *missed), tuple(dropped))


def stems_of(texts: Sequence[str]) -> frozenset[str]:
    """The stems of the words of these texts, but for those that say nothing."""
    return frozenset(stem(key) for text in texts for key in keys(text) if key not in STOP_WORDS)


def _borne_out(
    clause: Clause, asked: CampaignQuestion, said: frozenset[str], shown: Collection[tuple[str, str]]
) -> Clause:
    conditions = (_condition_borne_out(condition, asked, said, shown) for condition in clause)
    return tuple(condition for condition in conditions if condition is not None)


def _condition_borne_out(
    condition: Condition, asked: CampaignQuestion, said: frozenset[str], shown: Collection[tuple[str, str]]
) -> Condition | None:
    """The condition with those of its values that something bears out; None where nothing does."""
    read = [each for clause in asked.clauses for each in clause] + list(asked.question.preferred)
    if not condition.values:
        return condition if any(each.facet == condition.facet for each in read) else None
    named = {value for each in read if each.facet == condition.facet for value in each.values}
    values = tuple(
        value
        for value in condition.values
        if value in named or (condition.facet, value) in shown or said & stems_of([value])
    )
    return replace(condition, values=values) if values else None


def _requires(clause: Clause) -> bool:
    return not all(condition.is_negated for condition in clause)


def _must_hold(clause: Clause, about: Collection[str]) -> bool:
    """Whether the words state it, and the call says nothing else of what it is about. What is ruled out stays so."""
    if any(condition.strength != "stated" for condition in clause):
        return False
    return all(condition.is_negated or condition.facet not in about for condition in clause)
