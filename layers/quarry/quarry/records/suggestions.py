"""Suggestions for what somebody types in a search by words: titles of records, in the order of the search.

The order is that of `search_records` where what was typed is all that it knows: it knows conditions too, which few begin with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from psycopg.sql import SQL, Literal

from quarry.collections.collection import ENGLISH
from quarry.platform.settings import LOCAL_EMBEDDING_MODEL
from quarry.platform.text import is_in_other_script, words
from quarry.postgres.pool import Database
from quarry.records.contract import RecordKey, Suggestion, Suggestions, SuggestRequest
from quarry.records.evidence import RecordText
from quarry.records.finding import DEPTH, fuse_types, search_plans
from quarry.records.reading import without_exclusions
from quarry.records.retrieval import TypeSearch, describe, find_candidates, with_fitting
from quarry.records.scope import SearchScope, facet_conditions, with_known_values
from quarry.records.sources import RecordTypes, acting_for, skipping_broken_collections
from quarry.services.services import Caller, Services

SAME_TITLE_MAX = 3
"""So many times the titles are read, since several records may have the same."""


async def suggest_titles(request: SuggestRequest, caller: Caller, services: Services) -> Suggestions:
    """Titles for what was typed so far. Raises as `search_records` does."""
    types, services = await acting_for(caller, services)
    facet_conditions(request.facets, types.whole.named(request.type))
    found = await skipping_broken_collections(types, services.memory, partial(_suggested, request, services))
    return Suggestions(query=request.q, suggestions=found, degraded=types.degraded(request.type))


async def _suggested(request: SuggestRequest, services: Services, types: RecordTypes) -> list[Suggestion]:
    chosen = types.named(request.type)
    scope = SearchScope(request.from_date, request.to_date, facets=facet_conditions(request.facets, chosen))
    scope = await with_known_values(services.reader, scope, chosen, types.owners)
    # a word that is excluded belongs to no title
    text = without_exclusions(request.q)
    if not words(text):
        return []
    [plan] = search_plans(request.q, chosen, None, scope)
    arms = [each for each in await with_fitting(services.reader, plan.arms) if each.type.is_searched]
    ranked = await _ranked(text, arms, services)
    keys = await _with_titles(text, arms, ranked, SAME_TITLE_MAX * request.limit, services.reader)
    texts = await describe(services.reader, keys, types)
    return [
        Suggestion(type=each.type, id=each.id, title=each.title, date=each.date, url=each.url)
        for each in _with_own_titles(texts[key] for key in keys if key in texts)
    ][: request.limit]


async def _ranked(text: str, arms: Sequence[TypeSearch], services: Services) -> list[RecordKey]:
    """The records that the search finds, best first. A remote model would take too long, and cost something for each letter."""
    is_local = services.embeddings.name == LOCAL_EMBEDDING_MODEL
    vector = await services.queries.embed(text) if is_local and not is_in_other_script(text) else None
    found = await find_candidates(services.reader, arms, vector=vector, depth=DEPTH, reads_english_alone=is_local)
    weight = (await services.tuned_settings()).records_semantic_weight
    return [each.key for each in fuse_types(found, weight)]


async def _with_titles(
    query: str, arms: Sequence[TypeSearch], ranked: Sequence[RecordKey], limit: int, database: Database
) -> list[RecordKey]:
    """The records whose titles hold the words: of those `ranked` first, then of others, `limit` at most. Where no title of any
    type holds all words, those that hold some.
    """
    if not arms:
        return []
    calls = []
    for arm in arms:
        condition = arm.type.condition(arm.conditions)
        calls.append(
            SQL(
                "select {name} as type, s.id, s.is_whole from suggested_titles({rows}, {titles}, %(query)s, {ranked}, %(limit)s,"
                " {condition}, {seen}, {language}) s"
            ).format(
                name=Literal(arm.type.name),
                rows=Literal(arm.type.rows),
                titles=Literal(arm.type.titles),
                ranked=Literal([id for name, id in ranked if name == arm.type.name]) + SQL("::text[]"),
                condition=Literal(None if condition is None else condition.as_string(None)),
                seen=Literal(arm.type.seen),
                language=Literal(arm.type.languages[0] or ENGLISH),
            )
        )
    rows = await database.rows(SQL(" union all ").join(calls), {"query": query, "limit": limit})
    places = {key: place for place, key in enumerate(ranked)}
    keys = [(row["type"], row["id"]) for row in rows if row["is_whole"]] or [(row["type"], row["id"]) for row in rows]
    listed = sorted((key for key in keys if key in places), key=places.__getitem__)
    return [*listed, *(key for key in keys if key not in places)][:limit]


def _with_own_titles(texts: Iterable[RecordText]) -> Iterator[RecordText]:
    """The first of the records that have the same title."""
    seen: set[str] = set()
    for each in texts:
        if (title := each.title.casefold()) not in seen:
            seen.add(title)
            yield each
