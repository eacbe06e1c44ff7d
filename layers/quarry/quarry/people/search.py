"""The search for people, for one credit.

Read `_search` from top to bottom: check the credit, read the query (by the model, else by its segments), find people in the
strictest tier with enough of them, and give reasons. Then one transaction stores the search, charges it, and keeps the answer for
a repeated call. A search that fails before that stores and charges nothing.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from quarry.language.tokens import tokenise
from quarry.language.word_forms import is_everyday
from quarry.models.interface import Message
from quarry.models.step import ModelStep, decide, streamed, text_of
from quarry.people.access import NOT_ENOUGH, SEARCH_PRICE, hold_people, open_account, spend, store_search
from quarry.people.as_query import RankedQuery, payload_of, query_of
from quarry.people.as_read import constraints_of
from quarry.people.contract import (
    Constraints,
    PeopleQuery,
    PeopleReasons,
    PeopleSearchRequest,
    PeopleSearchResponse,
    PersonReasons,
    PersonResult,
    Relaxation,
)
from quarry.people.facets import PEOPLE
from quarry.people.filters import CardFilters, card_filters, embedding_text, relaxation_label
from quarry.people.finding import Finding, Wanted, find_people
from quarry.people.meaning import learned, read_parts
from quarry.people.normalisation import cleaned_query, edited, normalise, validated
from quarry.people.ranking import named_clauses, preferred_clauses, ruled_out_words
from quarry.people.reasons import (
    DATA,
    ReasonsToGive,
    data_block,
    evidence,
    fallback_reasons,
    reasons_for,
    reasons_messages,
)
from quarry.people.retrieval import (
    NOBODY,
    PersonIds,
    as_in_data,
    check_constraints,
    count_relaxations,
    find_excluded,
    holds_cards,
)
from quarry.people.segments import TOKENS_MAX, Cut, measured, put_together, to_look_up
from quarry.platform.budget import Budget
from quarry.platform.errors import EmptyEmbedding, ModelError, NotFound, PaymentRequired
from quarry.platform.off_loop import off_loop
from quarry.platform.telemetry import CREDITS_SPENT
from quarry.postgres.pool import Database
from quarry.retrieval.vocabulary import look_up
from quarry.runs.idempotency import Claim, KeyedRequest, once
from quarry.runs.run_log import ResultRecord, Run
from quarry.services.services import Caller, Services

ENDPOINT = "POST /people/search"
REASONS_TURNS = 2
"""The reasons, and one repair."""
EMBEDDING_RESERVE_SECONDS = 5.0
"""Reserved for a remote embedding model, since there is no answer without the vector of the query."""
READING_TURNS = 3
"""The cleanup, the constraints, and one repair of these."""
CLEANUP_SECONDS = 6.0
"""The time limit of the cleanup, the least important step."""

PEOPLE_CLEANUP = "people_cleanup"
"""The step that corrects the query. If it fails, the query is read as it is."""

CLEANUP = f"""You tidy up search queries of recruiters. Correct typing errors and spacing; change, add and leave out nothing else.
Names and numbers stay as they were typed. Reply with the tidied query alone, on one line.
{DATA.format(block="query")}"""

EXTRACT = f"""You turn a recruiter's query for people into constraints on their experience: jobs, studies and projects, each with
a company, a place and dates. Record what the query says; what it leaves open is null or empty.
- must: roles, names, companies, places, periods, salaries, years of experience and availability that the query asks for. Field,
  speciality, seniority, and kind of employment or experience only where it insists ("only", "must"), else in should.keywords.
- should: named skills and tools, also those in must.role; keywords for every other word that says whom to find; whatever is
  only preferred.
- exclude: what the query rules out, and nothing in its stead.
- query_embedding_text: whom to look for in one short phrase, without what is excluded.
- quotes: for each key with a value, the words of the query that say it, exactly as they stand there. A value without is dropped.
{DATA.format(block="query")}"""


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
    """The answer to a search, for one credit. Under a key used before, returns that call's answer free of charge; with
    `only_kept`, only that.

    Raises NotFound if `only_kept` and there is no such answer, PaymentRequired without a credit, ModelUnavailable if the query
    cannot be embedded, DatabaseUnavailable, and Conflict as `once` does; then nothing was stored or charged. A failing chat model
    only degrades.
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
            # last, since the user's other searches wait from here for the end of this transaction
            await spend(connection, caller.user_id, SEARCH_PRICE, "search", str(search_id))
    services.metrics.count(CREDITS_SPENT, SEARCH_PRICE)
    run.results = [ResultRecord("person", ranked.person_id, ranked.score) for ranked in found.ranked]
    run.end_reason = "answered" if found.people else "nothing_found"
    return response


async def _require_credit(caller: Caller, services: Services, run: Run) -> None:
    """Check the credit before any model call. The charge itself checks again."""
    with run.step("credit_check"):
        async with services.database.transaction() as connection:
            balance = await open_account(connection, services.settings, caller.user_id)
        if balance < SEARCH_PRICE:
            raise PaymentRequired(NOT_ENOUGH)


async def _asked(request: PeopleSearchRequest, services: Services, run: Run) -> RankedQuery:
    """The search of a request: from its constraints, or from its query. Raises InvalidInput for unknown values."""
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
    """The people found (nobody if nothing is asked), and how many more there would be without each constraint."""
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
    # without vectors, words find people, if there are any
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
    """One to three reasons for each person, by id, from one model call."""
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


class ReadQuery(NamedTuple):
    """A query as read. `is_tidy`: all words are everyday ones or spelt as in the data, so there is nothing to correct."""

    asked: RankedQuery
    is_tidy: bool


async def read_query(query: str, services: Services, run: Run) -> RankedQuery:
    """Read a query. A failing model only degrades; raises DatabaseUnavailable."""
    today = datetime.datetime.now(datetime.UTC).date()
    with run.step("vocabulary"):
        asked, is_tidy = await read_without_model(query, services.reader, today)
    cleaned = query if is_tidy else await _clean_up(query, run)
    asked = replace(asked, cleaned=cleaned)
    output = await decide(PEOPLE_QUERY, QueryToRead(cleaned, today, payload_of(asked)), run)
    if run.chat is None or PEOPLE_QUERY.name in run.degraded:
        return asked
    with run.step("validate"):
        said = await as_in_data(await off_loop(validated, output, query, cleaned), services.reader)
        return query_of(said)


async def read_without_model(query: str, database: Database, today: datetime.date) -> ReadQuery:
    """Read a query by its segments, with one look-up of values. Raises DatabaseUnavailable."""
    tokens = tokenise(query)[:TOKENS_MAX]
    found = await off_loop(measured, query, tokens, today)
    forms, doubtful = await off_loop(to_look_up, tokens, found)
    matches = await look_up(database, [PEOPLE], tokens, forms=forms, doubtful=doubtful)
    return await off_loop(lambda: read_cut(put_together(query, tokens, found, matches)))


def read_cut(query: Cut) -> ReadQuery:
    """Read a query that is cut into segments."""
    read = read_parts(query, learned())
    return ReadQuery(query_of(normalise(constraints_of(query, read))), _is_tidy(query))


def _is_tidy(query: Cut) -> bool:
    return all(
        any(each.likeness == 1 for each in segment.values) if segment.values
        else segment.value is not None or _are_everyday(query, segment.first, segment.last)
        for segment in query.segments
    )  # fmt: skip


def _are_everyday(query: Cut, first: int, last: int) -> bool:
    return all(is_everyday(token.key) or any(map(str.isdigit, token.key)) for token in query.tokens[first:last])


async def _clean_up(query: str, run: Run) -> str:
    """The query without typing errors; unchanged without a model."""
    if run.chat is None:
        return query
    with run.step(PEOPLE_CLEANUP) as record:
        if run.budget.allows_turn():
            seconds = min(CLEANUP_SECONDS, run.budget.seconds_for_work)
            pieces = text_of(streamed(cleanup_messages(query), run, record, seconds=seconds))
            try:
                return cleaned_query(query, "".join([piece async for piece in pieces]))
            except ModelError:
                pass
        run.degrade(PEOPLE_CLEANUP, record)
        return query


@dataclass(frozen=True)
class QueryToRead:
    """A cleaned query, the day, and the reading without a model."""

    cleaned: str
    today: datetime.date
    read: Constraints


PEOPLE_QUERY: ModelStep[QueryToRead, PeopleQuery] = ModelStep(
    "people_query",
    lambda asked: query_messages(asked.cleaned, asked.today),
    PeopleQuery,
    lambda asked: PeopleQuery(must=asked.read.must, should=asked.read.should, exclude=asked.read.exclude),
)


def _reasons_by_rule(asked: ReasonsToGive) -> PeopleReasons:
    return PeopleReasons(
        people=[
            PersonReasons(person_id=person.id, why_matched=fallback_reasons(person, asked.filters))
            for person in asked.people
        ]
    )


PEOPLE_REASONS: ModelStep[ReasonsToGive, PeopleReasons] = ModelStep(
    "people_reasons",
    lambda asked: reasons_messages(asked.constraints.query_original, [evidence(person) for person in asked.people]),
    PeopleReasons,
    _reasons_by_rule,
)


def cleanup_messages(query: str) -> list[Message]:
    return [Message("system", CLEANUP), Message("user", data_block("query", query))]


def query_messages(query: str, today: datetime.date) -> list[Message]:
    return [Message("system", EXTRACT), Message("user", f"Today is {today}.\n{data_block('query', query)}")]
