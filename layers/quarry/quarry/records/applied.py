"""Which records an answer is made from: those that its request asks for, or, of a follow-up that asks for none, those that the
answer before it was made from.
"""

from __future__ import annotations

from collections.abc import Sequence

from quarry.query.of_filters import labels
from quarry.records.contract import Applied, AskFilters, AskRequest
from quarry.records.conversation import Conversation
from quarry.records.filters import facet_clauses
from quarry.records.retrieval import Scope
from quarry.records.searched_types import RecordTypes, SearchedType

LABELLED_TYPES_MAX = 4


def with_filters_in_force(request: AskRequest, conversation: Conversation) -> AskRequest:
    """The request with the types and filters of the last turn that it follows, where it gives none of its own."""
    if request.filters_itself or not conversation.history:
        return request
    last = conversation.history[-1]
    return request.model_copy(update={"types": last.types, "filters": last.filters})


def check_filters(
    request: AskRequest, types: RecordTypes, *, types_at: str = "/types", facets_at: str = "/filters/facets"
) -> None:
    """Raises InvalidInput for a type that there is not and a facet that no such type has, also of the turn before; `types_at` and
    `facets_at` are the pointers to the request's own.
    """
    scope_of(request.filters, types.named(request.types, at=types_at), at=facets_at)
    if request.history and not request.filters_itself:
        last, at = request.history[-1], f"/history/{len(request.history) - 1}"
        scope_of(last.filters, types.named(last.types, at=f"{at}/types"), at=f"{at}/filters/facets")


def scope_of(filters: AskFilters, types: Sequence[SearchedType], *, at: str = "/filters/facets") -> Scope:
    """What of these types is searched. Raises InvalidInput; `at` is the pointer to the facets."""
    return Scope(filters.from_date, filters.to_date, facets=facet_clauses(filters.facets, types, at=at))


def applied(request: AskRequest, types: RecordTypes, scope: Scope) -> Applied | None:
    """What is told of the types and filters that hold; None where all records are searched."""
    clauses = [*scope.dated, *scope.facets]
    if not request.types and not clauses:
        return None
    chosen = types.named(request.types)
    table = chosen[0].table if len(chosen) == 1 else types.united
    named = [each.label.lower() for each in chosen[:LABELLED_TYPES_MAX]] if request.types else ["records"]
    if len(chosen) > LABELLED_TYPES_MAX and request.types:
        named[-1] = f"{len(chosen) - LABELLED_TYPES_MAX + 1} other types"
    label = ", ".join([" and ".join(named), *labels(table, clauses)])
    return Applied(types=request.types, filters=request.filters, label=label)
