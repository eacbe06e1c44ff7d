"""Which conditions hold together, and of which any suffices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from quarry.retrieval.facets import SearchTable
from quarry.spans.mention import Asked, Cue, DateRange, FacetName, ParsedQuery
from quarry.spans.question import Clause, Condition


def joined_clauses(parsed: ParsedQuery, groups: Sequence[tuple[int, list[Clause]]], table: SearchTable) -> list[Clause]:
    """All clauses, with those in one that "or" joins; values of a facet that has one of many are alternatives too, and so are
    times beside each other that have no day in common ("in 2024 and 2025", "in March and May").
    """
    clauses: list[Clause] = []
    single: dict[str, int] = {}
    last: int | None = None
    for place, said in groups:
        mention = parsed.mentions[place]
        evidence = (mention.span,)
        said = [
            tuple(replace(condition, evidence=condition.evidence or evidence) for condition in clause)
            for clause in said
        ]
        may_join = bool(clauses) and len(said) == 1 and last is not None and not _stands_between(parsed, last, place)
        if may_join and (mention.joined_by == "or" or _are_apart(clauses[-1], said[0], table)):
            clauses[-1] = _either(clauses[-1], said[0])
        elif len(said) == 1 and (earlier := _alternative_to(said[0], single, table)) is not None:
            clauses[earlier] = _either(clauses[earlier], said[0])
        else:
            clauses += said
        if len(clauses[-1]) == 1 and _is_single(clauses[-1][0], table):
            single.setdefault(clauses[-1][0].facet, len(clauses) - 1)
        last = place
    return clauses


def _stands_between(parsed: ParsedQuery, first: int, second: int) -> bool:
    """Whether something else that is said stands between two mentions, so that "or" does not join them."""
    between = (mention.value for mention in parsed.mentions[first + 1 : second])
    return any(
        not isinstance(value, (Cue, FacetName)) and not (isinstance(value, Asked) and value.what == "compare")
        for value in between
    )


def _are_apart(clause: Clause, other: Clause, table: SearchTable) -> bool:
    """Whether both say when the same happened, and no row is of both times."""
    conditions = (*clause, *other)
    spans = [each.range for each in conditions if isinstance(each.range, DateRange) and not each.is_negated]
    is_same = len({each.facet for each in conditions}) == 1 and table.facet(conditions[0].facet).related is None
    if len(spans) < len(conditions) or not is_same:
        return False
    if all(span.months and not (span.first or span.last) for span in spans):
        named = [month for span in spans for month in span.months]
        return len({*named}) == len(named)
    ends = sorted((span.first, span.last) for span in spans if span.first and span.last and not span.months)
    return len(ends) == len(spans) and all(before[1] < after[0] for before, after in pairwise(ends))


def _is_single(condition: Condition, table: SearchTable) -> bool:
    """Whether a row has one value of the facet, so that no row meets two such conditions at once."""
    is_positive = bool(condition.values) and not condition.is_negated
    facet = table.facet(condition.facet)
    return is_positive and facet.kind in ("value", "name", "title", "place") and not facet.is_array


def _alternative_to(clause: Clause, single: dict[str, int], table: SearchTable) -> int | None:
    if len(clause) != 1 or not _is_single(clause[0], table):
        return None
    return single.get(clause[0].facet)


def _either(clause: Clause, other: Clause) -> Clause:
    """A clause that any condition of both meets; values of the same facet stand in one condition."""
    merged = list(clause)
    for condition in other:
        for place, known in enumerate(merged):
            is_same = known.facet == condition.facet and known.values and condition.values
            if is_same and not known.is_negated and not condition.is_negated:
                merged[place] = replace(
                    known,
                    values=tuple(dict.fromkeys((*known.values, *condition.values))),
                    strength=known.strength if known.strength == condition.strength else "inferred",
                    evidence=(*known.evidence, *condition.evidence),
                )
                break
        else:
            merged.append(condition)
    return tuple(merged)
