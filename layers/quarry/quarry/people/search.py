"""The search for people, for one credit where it shows anybody who is what the query asks for.

Read `_search` from top to bottom: check the credit, read the query (by the model, else by its segments), find people in the
strictest tier with enough of them, let the model drop and order them, and give reasons. Then one transaction stores the search,
charges it where it found such people, and keeps the answer for a repeated call. A search that fails before that stores nothing
and charges nothing.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Sequence

from quarry.language.messages import gettext, gettext_noop, speaking
from quarry.language.recognition import language_of
from quarry.language.word_forms import is_everyday, tokenise
from quarry.models.interface import Message
from quarry.models.step import ModelStep, decide, streamed, text_of
from quarry.people.access import (
    NOT_ENOUGH,
    SEARCH_PRICE,
    hold_people,
    open_account,
    require_credits_of_tenant,
    spend,
    store_search,
)
from quarry.people.constraints import about, canonical, constraints_of, hard_labels, normalise, understood_of
from quarry.people.contract import (
    Constraints,
    PeopleQuery,
    PeopleReasons,
    PeopleSearchRequest,
    PeopleSearchResponse,
    Relaxation,
)
from quarry.people.facets import PEOPLE
from quarry.people.filters import (
    CardFilters,
    card_filters,
    clauses_of,
    excluded_terms,
    exclusion_clauses,
    preferred_clauses,
    soft_terms,
    unmatched_subject,
    with_request,
)
from quarry.people.interpretation import check_against_query, cleaned_query, constraints_of_segments
from quarry.people.ranking import (
    DATA,
    TOP_PEOPLE,
    ReasonsToGive,
    as_judged,
    data_block,
    evidence,
    reasons_for,
    reasons_messages,
)
from quarry.people.reading import TOKENS_MAX, Cut, assemble, learned, measured_segments, read_parts, to_look_up
from quarry.people.retrieval import (
    NOBODY,
    Finding,
    PersonIds,
    TieredSearch,
    as_in_data,
    check_constraints,
    count_relaxations,
    find_excluded,
    find_meeting,
    holds_cards,
    load_cards,
    load_profiles,
)
from quarry.platform.budget import Budget
from quarry.platform.errors import EmptyEmbedding, InvalidInput, ModelError, NotFound, PaymentRequired
from quarry.platform.off_loop import off_loop
from quarry.platform.telemetry import CREDITS_SPENT
from quarry.postgres.pool import Database
from quarry.retrieval.known_values import look_up
from quarry.runs.idempotency import Claim, KeyedRequest, once
from quarry.runs.run_log import ResultRecord, Run
from quarry.services.services import Caller, Services

ENDPOINT = "POST /people/search"
REFUSED_MAX = 10
"""How many faults of a reading the model is told."""
REASONS_TURNS = 2
"""The reasons, and one repair."""
EMBEDDING_RESERVE_SECONDS = 5.0
"""Reserved for a remote embedding model, since there is no answer without the vector of the query."""
READING_TURNS = 4
"""The cleanup, the constraints, one repair of these, and another reading where a part was refused."""
CLEANUP_SECONDS = 6.0
"""The time limit of the cleanup, the least important step."""
JUDGED_PEOPLE = 8
"""How many people a model judges: it may drop some."""

PEOPLE_CLEANUP = "people_cleanup"
"""The step that corrects the query. If it fails, the query is read as it is."""

CLEANUP = f"""You tidy up search queries of recruiters. Correct typing errors and spacing; change, add and leave out nothing else.
Names and numbers stay as they were typed. Reply with the tidied query alone, on one line.
{DATA.format(block="query")}"""

EXTRACT = f"""You turn a recruiter's query for people into constraints on their experience: jobs, studies and projects, each with
a company, a place and dates. Record what the query says; what it leaves open is null or empty.
- must: roles, names, companies, places, periods, salaries, years of experience and availability that the query asks for. Field,
  speciality, seniority, and kind of employment or experience only where it insists ("only", "must"), else in should.keywords.
- exclude.ever: true where the query says never, or at no time.
- like: the name of a person, where the query asks for others like them.
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
            raise NotFound(gettext_noop("You have no search with this key."))
        budget, requested = _budget(services), request.as_asked()
        with services.run("people", caller, request.query, requested, budget, request_id, run_id) as run:
            try:
                return await _search(request, caller, services, run, claim)
            except PaymentRequired:
                run.end_reason = "no_credit"
                raise

    with speaking(language_of(request.query)):
        if idempotency_key is None:
            return await work(None)
        keyed = KeyedRequest.of(caller.user_id, ENDPOINT, idempotency_key, request)
        return await once(services.database, keyed, PeopleSearchResponse, work)


async def _search(
    request: PeopleSearchRequest, caller: Caller, services: Services, run: Run, claim: Claim | None
) -> PeopleSearchResponse:
    await _require_credit(caller, services, run)
    if request.understood is not None:
        constraints_ = constraints_of(request.understood, request.query)
        request = request.model_copy(update={"constraints": constraints_, "understood": None})
    constraints = await _constraints(request, services, run)
    required = with_request(constraints, request)
    filters = card_filters(required)
    finding, relaxations, notice = await _find(request, required, filters, services, run)
    finding, reasons = await _explain(finding, constraints, filters, services, run)
    lacking = await off_loop(unmatched_subject, constraints, finding.people)

    search_id = uuid.uuid4()
    with run.step("store"):
        async with services.database.transaction() as connection:
            finding = finding.only(await hold_people(connection, [person.id for person in finding.people]))
            is_charged = bool(finding.people) and lacking is None
            response = PeopleSearchResponse(
                search_id=str(search_id),
                people=[person.model_copy(update={"why_matched": reasons[person.id]}) for person in finding.people],
                understood=understood_of(constraints),
                constraints=constraints,
                fallback_tier=finding.tier,
                relaxations=relaxations,
                degraded=run.degraded,
                charged=is_charged,
                notice=notice if is_charged else _nobody(notice, finding, constraints, lacking),
            )
            await store_search(
                connection,
                search_id=search_id,
                user_id=caller.user_id,
                constraints=constraints,
                filters=filters,
                fallback_tier=finding.tier,
                ranked=finding.ranked,
                reasons=reasons,
                lifetime_hours=services.settings.search_result_expiry_hours,
            )
            if claim is not None:
                await claim.store(connection, response)
            if is_charged:
                # last, since the user's other searches wait from here for the end of this transaction
                await spend(connection, caller.user_id, SEARCH_PRICE, "search", str(search_id), services.quotas)
    if is_charged:
        services.metrics.count(CREDITS_SPENT, SEARCH_PRICE)
    run.results = [ResultRecord("person", ranked.person_id, ranked.score) for ranked in finding.ranked]
    run.end_reason = "answered" if finding.people else "nothing_found"
    return response


def _nobody(notice: str | None, finding: Finding, constraints: Constraints, lacking: str | None) -> str:
    """Why nobody is shown, or why those shown only come close."""
    labels = "; ".join(dict.fromkeys(each.label for each in exclusion_clauses(constraints)))
    why = gettext("Nobody fits.")
    if finding.is_ruled_out:
        why = gettext("Your exclusions rule out everybody who fits: {labels}.", labels=labels)
    if lacking is not None:
        why = gettext("No profile found says “{words}”: these people only come close.", words=lacking)
    return " ".join(filter(None, [notice, why, gettext("Nothing was charged.")]))


async def _require_credit(caller: Caller, services: Services, run: Run) -> None:
    """Check the credit before any model call. The charge itself checks again."""
    with run.step("credit_check"):
        async with services.database.transaction() as connection:
            await require_credits_of_tenant(connection, SEARCH_PRICE, services.quotas)
            balance = await open_account(connection, services.settings, caller.user_id)
        if balance < SEARCH_PRICE:
            raise PaymentRequired(NOT_ENOUGH)


async def _constraints(request: PeopleSearchRequest, services: Services, run: Run) -> Constraints:
    """The constraints of a request, or of its query. Raises InvalidInput for unknown values."""
    if request.constraints is None:
        return await read_query(request.query, services, run)
    constraints = await check_constraints(request.constraints, request.query, services.reader)
    return await off_loop(canonical, constraints, request.query)


async def _find(
    request: PeopleSearchRequest, constraints: Constraints, filters: CardFilters, services: Services, run: Run
) -> tuple[Finding, list[Relaxation], str | None]:
    """The people found, how many more there would be without each constraint, and what could not be done."""
    text, like, notice = await _about(request, constraints, services)
    vector: list[float] | None = None
    try:
        with run.step("query_embedding"):
            vector = await services.queries.embed(text, seconds=run.budget.seconds_left)
    except EmptyEmbedding:
        return Finding(), [], notice
    run.budget.release_reserve()
    # without vectors, words find people, if there are any
    if vector is None and not await holds_cards(services.reader):
        return Finding(), [], notice
    excluded: PersonIds | None = NOBODY
    if filters.excludes_anyone:
        with run.step("exclude"):
            excluded = await find_excluded(services.reader, filters)
    labels = hard_labels(constraints)
    search = TieredSearch(
        database=services.reader,
        run=run,
        filters=filters,
        text=text,
        vector=vector,
        excluded=excluded,
        clauses=clauses_of(filters, labels),
        exclusions=exclusion_clauses(constraints),
        preferred=preferred_clauses(constraints) if request.constraints else [],
        soft_terms=soft_terms(constraints),
        excluded_terms=excluded_terms(constraints),
        limit=TOP_PEOPLE if run.chat is None else JUDGED_PEOPLE,
        like=like,
    )
    finding = await search.find()
    with run.step("count_relaxations") as record:
        among = await find_meeting(services.reader, texts=filters.texts)
        counts = await count_relaxations(services.reader, filters, excluded, among)
        record.counts["constraints"] = len(counts)
    relaxations = [
        Relaxation(constraint=name, label=gettext("Not only {label}", label=labels[name]), additional_people=additional)
        for name, additional in counts
    ]
    return finding, relaxations, notice


async def _about(
    request: PeopleSearchRequest, constraints: Constraints, services: Services
) -> tuple[str, frozenset[str], str | None]:
    """The text to embed, the people to resemble, whose profiles are then part of it, and a notice if there are none."""
    text = constraints.query_embedding_text or constraints.query_original or request.query
    if constraints.like is None:
        return text, frozenset(), None
    like = await load_profiles(services.reader, constraints.like)
    if not like:
        return text, frozenset(), gettext("Nobody here is called {name}.", name=constraints.like)
    return " ".join([*like.values(), about(constraints)]), frozenset(like), None


async def _explain(
    finding: Finding, constraints: Constraints, filters: CardFilters, services: Services, run: Run
) -> tuple[Finding, dict[str, list[str]]]:
    """The people who fit according to the model, in its order, and one to three reasons for each by id. One model call."""
    if not finding.people:
        return finding, {}
    cards = {} if run.chat is None else await load_cards(services.reader, [person.id for person in finding.people])
    similarities = {hit.card_id: hit.similarity for ranked in finding.ranked for hit in ranked.evidence.parents}
    task = ReasonsToGive(constraints, filters, finding.people, cards, similarities)
    output = await decide(PEOPLE_REASONS, task, run)
    finding = finding.in_order(as_judged(output, finding.people))
    return finding, reasons_for(output, task)


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


async def read_query(query: str, services: Services, run: Run) -> Constraints:
    """Read a query. A failing model only degrades; raises DatabaseUnavailable."""
    today = datetime.datetime.now(datetime.UTC).date()
    with run.step("vocabulary"):
        by_segments, is_tidy = await read_without_model(query, services.reader, today)
    cleaned = query if is_tidy else await _clean_up(query, run)
    by_segments = by_segments.model_copy(update={"query_cleaned": cleaned})
    by_rule = PeopleQuery(
        must=by_segments.must, should=by_segments.should, exclude=by_segments.exclude, like=by_segments.like
    )
    step = ModelStep[Sequence[str], PeopleQuery](
        "people_query", lambda refused: query_messages(cleaned, today, refused), PeopleQuery, lambda _: by_rule
    )
    output = await decide(step, (), run)
    if run.chat is None or step.name in run.degraded:
        return by_segments
    with run.step("validate"):
        constraints, refused = await _validated(output, query, cleaned, services)
    if refused:
        # the model may have had a reason for a condition, but not for its value
        again = await decide(step, refused, run)
        if step.name not in run.degraded:
            constraints, _ = await off_loop(check_against_query, again, query, cleaned)
    return await as_in_data(constraints, services.reader)


async def _validated(
    output: PeopleQuery, query: str, cleaned: str, services: Services
) -> tuple[Constraints, list[str]]:
    """A model's reading as constraints, and its faults: values that no words of the query state, and values that the data lacks,
    with the nearest ones.
    """
    constraints, unstated = await off_loop(check_against_query, output, query, cleaned)
    problems = [f"no words of the query say {each}" for each in unstated]
    try:
        await check_constraints(constraints, "", services.reader)
    except InvalidInput as error:
        problems += [f"{each.pointer.removeprefix('/constraints/')}: {each.message}" for each in error.errors]
    return constraints, problems[:REFUSED_MAX]


async def read_without_model(query: str, database: Database, today: datetime.date) -> tuple[Constraints, bool]:
    """The constraints of a query by its segments, with one look-up of values; and whether its spelling is right: all words are
    everyday ones or spelt as in the data. Raises DatabaseUnavailable.
    """
    tokens = tokenise(query)[:TOKENS_MAX]
    segments = await off_loop(measured_segments, query, tokens, today)
    forms, doubtful = await off_loop(to_look_up, tokens, segments)
    matches = await look_up(database, [PEOPLE], tokens, forms=forms, doubtful=doubtful)

    def interpret() -> tuple[Constraints, bool]:
        cut = assemble(query, tokens, segments, matches)
        return normalise(constraints_of_segments(cut, read_parts(cut, learned()))), _is_tidy(cut)

    return await off_loop(interpret)


def _is_tidy(query: Cut) -> bool:
    return all(
        any(each.likeness == 1 for each in segment.values) if segment.values
        else segment.value is not None
        or all(is_everyday(each.key) or any(map(str.isdigit, each.key)) for each in query.tokens[segment.first : segment.last])
        for segment in query.segments
    )  # fmt: skip


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


PEOPLE_REASONS: ModelStep[ReasonsToGive, PeopleReasons] = ModelStep(
    "people_reasons",
    lambda task: reasons_messages(task.constraints.query_original, [evidence(person, task) for person in task.people]),
    PeopleReasons,
    # who is left out keeps their place, and gets reasons by rule
    lambda _: PeopleReasons(people=[]),
)


def cleanup_messages(query: str) -> list[Message]:
    return [Message("system", CLEANUP), Message("user", data_block("query", query))]


def query_messages(query: str, today: datetime.date, refused: Sequence[str] = ()) -> list[Message]:
    messages = [Message("system", EXTRACT), Message("user", f"Today is {today}.\n{data_block('query', query)}")]
    if not refused:
        return messages
    refusals = data_block("refused", "\n".join(refused))
    return [*messages, Message("user", f"Your last reading was refused in parts. Read the query again.\n{refusals}")]
