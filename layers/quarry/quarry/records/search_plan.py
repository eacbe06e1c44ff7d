"""Where a search looks: in every record of its types, and apart from these in the records that meet the question's conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from quarry.records.filters import types_with
from quarry.records.intent import words_to_look_up
from quarry.records.reading import RecordsReading
from quarry.records.retrieval import EVERYTHING, Arm, Scope
from quarry.records.searched_types import SearchedType
from quarry.spans.mention import Clause, DateRange


@dataclass(frozen=True)
class SearchPlan:
    """The searches to make. `listed` are types of which records are found for meeting the clauses, however far from the question
    in their words.
    """

    arms: Sequence[Arm]
    listed: Mapping[SearchedType, Sequence[Clause]] = field(default_factory=dict)


def search_plans(
    query: str,
    types: Sequence[SearchedType],
    reading: RecordsReading | None,
    scope: Scope = EVERYTHING,
) -> Iterator[SearchPlan]:
    """The plans for `query` among `types`, each for the case that those before it find nothing.

    Dates that are given hold above what the question says of dates, facets beside it; without `reading` it says nothing. Where
    conditions must hold, types that cannot tell one are left out, and others than those asked for by name come after these.
    """
    given = [*scope.dated, *scope.facets]
    types = types_with(scope.facets, types)
    looked_up = words_to_look_up(query)
    everything = [Arm(each, looked_up, given) for each in types]
    # where nothing is said but which records are meant, there is nothing that they could be ranked by
    lists_all = reading is not None and reading.lists(given)
    if reading is not None and (reading.clauses or lists_all):
        words = words_to_look_up(reading.words) if reading.words else looked_up
        conditions = {
            each: [*given, *besides(clauses, scope)]
            for each in types
            if (clauses := reading.clauses_for(each.table)) is not None
        }
        if not reading.must_hold:
            apart = [Arm(each, words, clauses, is_apart=True) for each, clauses in conditions.items()]
            yield SearchPlan([*everything, *apart])
            return
        named = {each: clauses for each, clauses in conditions.items() if each.name in reading.named}
        for held in (named, conditions):
            if held:
                arms = [Arm(each, words, clauses) for each, clauses in held.items()]
                yield SearchPlan(arms, held if lists_all else {})
        if not lists_all and (rows := {each: clauses for each, clauses in named.items() if each.table.reckons}):
            # what else is said of them may be no word of theirs: "a class B licence" where it is `licence: B`
            yield SearchPlan((), rows)
    yield SearchPlan(everything)


def besides(clauses: Sequence[Clause], scope: Scope) -> list[Clause]:
    """The clauses of a question that hold beside what is given: where days are, all but those of spans of days."""
    return [clause for clause in clauses if not (scope.dated and _is_span(clause))]


def _is_span(clause: Clause) -> bool:
    if len(clause) != 1:
        return False
    [condition] = clause
    days = condition.range
    is_dated = condition.facet == "date" and not condition.is_negated
    return is_dated and isinstance(days, DateRange) and not days.months
