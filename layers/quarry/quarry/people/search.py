"""Searching people, for a credit.

Read `_search` from top to bottom: is there a credit, what does the query ask for, who is near it in the strictest tier that
finds enough, why each of them; and only then one transaction that stores the search, charges it and keeps the answer for a
repeated call. Nothing is stored or charged before, so a search that fails or dies on the way has never been.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from quarry.models.step import decide
from quarry.people.access.credits import NOT_ENOUGH, SEARCH_PRICE, open_account, spend
from quarry.people.access.searches import hold_people, store_search
from quarry.people.as_query import RankedQuery, payload_of, query_of
from quarry.people.checks import check_constraints
from quarry.people.clauses import named_clauses, preferred_clauses, ruled_out_words
from quarry.people.constraints import card_filters, edited, embedding_text, relaxation_label
from quarry.people.contract import (
    Constraints,
    PeopleSearchRequest,
    PeopleSearchResponse,
    PersonResult,
    Relaxation,
)
from quarry.people.filters import CardFilters
from quarry.people.finding import Finding, Wanted, find_people
from quarry.people.reading import READING_TURNS, read_query
from quarry.people.reasons import ReasonsToGive, reasons_for
from quarry.people.retrieval import NOBODY, PersonIds, count_relaxations, find_excluded, holds_cards
from quarry.people.steps import PEOPLE_REASONS
from quarry.platform.budget import Budget
from quarry.platform.errors import EmptyEmbedding, NotFound, PaymentRequired
from quarry.platform.metrics import CREDITS_SPENT
from quarry.platform.off_loop import off_loop
from quarry.runs.idempotency import Claim, KeyedRequest, once
from quarry.runs.run_log import ResultRecord, Run
from quarry.services.services import Caller, Services

ENDPOINT = "POST /people/search"
REASONS_TURNS = 2
"""The reasons, and one repair of them."""
EMBEDDING_RESERVE_SECONDS = 5.0
"""Kept for a remote embedding model: without the query's vector there is no answer, so no other model may use up its time."""


async def search_people(
    request: PeopleSearchRequest,
    caller: Caller,
    services: Services,
    *,
    idempotency_key: str | None = None,
    only_kept: bool = False,
    request_id: str | None = None,
    run_id: uuid.UUID | None = None,
) -> PeopleSearchResponse:
    """The answer to a search, which costs one credit; under a key that was used before, that call's answer, for nothing.
    `only_kept`: nothing else will do.

    Raises NotFound where `only_kept` and there is no such answer of the caller's, PaymentRequired without a credit,
    ModelUnavailable where the query cannot be embedded, DatabaseUnavailable, and Conflict as `once` does; then nothing was
    stored or charged. A failing chat model only degrades.
    """

    async def work(claim: Claim | None) -> PeopleSearchResponse:
        if only_kept:
            raise NotFound("There is no search of yours under this key.")
        budget, asked = _budget(services), request.as_asked()
        with services.run("people", caller, request.query, asked, budget, request_id, run_id) as run:
            try:
                return await _search(request, caller, services, run, claim)
            except PaymentRequired:
                run.end_reason = "no_credit"
                raise

    if idempotency_key is None:
        return await work(None)
    keyed = KeyedRequest.of(caller.user_id, ENDPOINT, idempotency_key, request)
    return await once(services.database, keyed, PeopleSearchResponse, work)


async def _search(
    request: PeopleSearchRequest, caller: Caller, services: Services, run: Run, claim: Claim | None
) -> PeopleSearchResponse:
    await _require_credit(caller, services, run)
    asked = await _asked(request, services, run)
    constraints = payload_of(asked)
    filters = card_filters(constraints, request)
    found, relaxations = await _find(request, asked, constraints, filters, services, run)
    reasons = await _explain(found.people, constraints, filters, run)

    search_id = uuid.uuid4()
    with run.step("store"):
        async with services.database.transaction() as connection:
            found = found.only(await hold_people(connection, [person.id for person in found.people]))
            response = PeopleSearchResponse(
                search_id=str(search_id),
                people=[person.model_copy(update={"why_matched": reasons[person.id]}) for person in found.people],
                constraints=constraints,
                fallback_tier=found.tier,
                relaxations=relaxations,
                degraded=run.degraded,
            )
            await store_search(
                connection,
                search_id=search_id,
                user_id=caller.user_id,
                constraints=constraints,
                filters=filters,
                fallback_tier=found.tier,
                ranked=found.ranked,
                reasons=reasons,
                lifetime_hours=services.settings.search_result_expiry_hours,
            )
            if claim is not None:
                await claim.store(connection, response)
            # last, since the user's other searches wait from here on for the end of this transaction
            await spend(connection, caller.user_id, SEARCH_PRICE, "search", str(search_id))
    services.metrics.count(CREDITS_SPENT, SEARCH_PRICE)
    run.results = [ResultRecord("person", ranked.person_id, ranked.score) for ranked in found.ranked]
    run.end_reason = "answered" if found.people else "nothing_found"
    return response


async def _require_credit(caller: Caller, services: Services, run: Run) -> None:
    """Ask before any model is: who has no credit costs nothing. What is spent meanwhile, the charge itself notices."""
    with run.step("credit_check"):
        async with services.database.transaction() as connection:
            balance = await open_account(connection, services.settings, caller.user_id)
        if balance < SEARCH_PRICE:
            raise PaymentRequired(NOT_ENOUGH)


async def _asked(request: PeopleSearchRequest, services: Services, run: Run) -> RankedQuery:
    """What the request asks for: by constraints of its own, or by what its query says. Raises InvalidInput for values that nobody
    has.
    """
    if request.constraints is None:
        return await read_query(request.query, services, run)
    constraints = await check_constraints(request.constraints, request.query, services.reader)
    return query_of(await off_loop(edited, constraints, request.query))


async def _find(
    request: PeopleSearchRequest,
    asked: RankedQuery,
    constraints: Constraints,
    filters: CardFilters,
    services: Services,
    run: Run,
) -> tuple[Finding, list[Relaxation]]:
    """Whom the search finds, nobody where nothing is asked for, and how many more there would be without each constraint."""
    text = embedding_text(constraints, request)
    asks_nothing = asked.asks_nothing and request.constraints is None and filters == CardFilters()
    vector: list[float] | None = None
    try:
        if not asks_nothing:
            with run.step("query_embedding"):
                vector = await services.queries.embed(text, seconds=run.budget.seconds_left)
    except EmptyEmbedding:
        asks_nothing = True
    run.budget.release_reserve()
    # where nobody has a vector words find people, if there are any
    if asks_nothing or (vector is None and not await holds_cards(services.reader)):
        return Finding(), []
    excluded: PersonIds | None = NOBODY
    if filters.excludes_anyone:
        with run.step("exclude"):
            excluded = await find_excluded(services.reader, filters)
    preferred = preferred_clauses(constraints) if request.constraints else []
    named = [] if request.constraints else named_clauses(constraints)
    ruled_out = ruled_out_words(constraints)
    wanted = Wanted(filters, text, vector, excluded, preferred, named, ruled_out)
    found = await find_people(wanted, services.reader, run)
    with run.step("count_relaxations") as record:
        counted = await count_relaxations(services.reader, filters, excluded)
        record.counts["constraints"] = len(counted)
    return found, [
        Relaxation(constraint=name, label=relaxation_label(name, filters), additional_people=additional)
        for name, additional in counted
    ]


async def _explain(
    people: Sequence[PersonResult], constraints: Constraints, filters: CardFilters, run: Run
) -> dict[str, list[str]]:
    """One to three reasons for each person, by id; one call of the model for all."""
    if not people:
        return {}
    asked = ReasonsToGive(constraints, filters, people)
    return reasons_for(await decide(PEOPLE_REASONS, asked, run), asked)


def _budget(services: Services) -> Budget:
    settings = services.settings
    remote = settings.embeddings != "local"
    return Budget(
        max_turns=READING_TURNS + REASONS_TURNS,
        max_calls=0,
        max_seconds=settings.people_search_seconds,
        max_tokens=settings.people_search_tokens,
        reserved_seconds=min(EMBEDDING_RESERVE_SECONDS, settings.people_search_seconds / 3) if remote else 0.0,
    )
