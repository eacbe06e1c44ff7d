"""The answer of a search: the companies that it offers, its text, what the text is checked against, and numbers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from quarry.agent.service import answer_query, answer_read_query
from quarry.agent.sources import data_access
from quarry.answering.answer import Answer
from quarry.answering.toolset import events_of
from quarry.answering.written import WrittenAnswer
from quarry.companies.contract import Aggregation, Company, EndReason, FinalAnswer, Reference, Telemetry
from quarry.companies.prompts import (
    RankedCompany,
    SummaryEntry,
    SummaryInputs,
    broken_off,
    cut_short,
    summary_by_rule,
    summary_messages,
)
from quarry.companies.ranking import is_answered
from quarry.companies.reading import checked_conditions, understood_of
from quarry.companies.retrieval import Context, companies_by_ids, look_up, retrieve_variants, unspoken
from quarry.companies.sources import (
    COMPANIES,
    PHRASES,
    conditions_in_words,
    constraints_of,
    costs,
    labels,
    meets_and_misses,
)
from quarry.companies.state import (
    NEAR_MISSES_MAX,
    STARTUPS,
    CompanyIntent,
    CompanyQuestion,
    NameMatch,
    NearMiss,
    State,
    Variant,
    facts,
    home,
    inline_description,
    profile_sentences,
    profile_words,
    quantity,
    unmet,
    with_former_names,
)
from quarry.language.messages import gettext, gettext_noop
from quarry.language.word_forms import STOP_WORDS, stem
from quarry.models.step import TextFilter, write
from quarry.platform.contract import Evidence
from quarry.platform.errors import DatabaseUnavailable, FieldError, InvalidInput, ModelError, TimeIsUp
from quarry.platform.off_loop import off_loop
from quarry.platform.text import ALWAYS, LinkFilter, said_in, words
from quarry.query.contract import QueryResult, Understood
from quarry.query.describe import lines_of, reckoned, with_list
from quarry.schema.algebra import Column, Query
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialText, PartialTextEvent
from quarry.verification.check import Exact, Verification, Verifier, level
from quarry.verification.wire import Confidence, SourceText, checked_statements, confidence_of

# ---- the companies that the answer offers ----

ABSENT_MEANING_MIN = 0.25
"""The least cosine similarity of a word that no profile contains and one of the first companies, for these to be shown. Of 39
doubtful questions on four sets of companies it refuses two of the three that have no answer and pass the regression, and two of
the twenty that have one.
"""
LACKING_MAX = 3
"""How many words that a profile lacks are named."""

_MATCHED_BY = {
    "name": gettext_noop("Its name is the one asked for."),
    "former_name": gettext_noop("It was once called {asked}."),
    "domain": gettext_noop("Its web address is {asked}."),
}


async def conclude(context: Context, state: State) -> None:
    """Choose the companies that the answer offers, and check them against the conditions. If there are none, find the nearest
    ones, and how many companies each condition rules out.
    """
    question, intent, database = state.question, state.intent, context.services.reader
    limit = state.plan.output.target_result_count if state.plan else None
    state.companies = {**question.companies, **state.companies}
    if question.exact:
        matches = [match for match in question.exact if match.company_id in state.companies]
        state.selection = [_exact_match(state.companies[match.company_id], match) for match in matches]
        return
    state.selection = state.ranked[:limit]
    if context.seconds_for_looking(False) <= 0:
        return
    try:
        async with context.in_time():
            if not state.selection and state.nearest and (question.seed or _topic_words(intent)):
                state.absent_words, share = await find_absent_words(context, state)
                if await _is_near(context, state, share):
                    state.selection, state.is_near = state.nearest[:limit], True
            conditions = checked_conditions(intent)
            if state.selection and conditions:
                ids = [each.company_id for each in state.selection]
                state.met = await meets_and_misses(database, conditions, ids)
            elif not state.selection:
                state.near_misses = await _near_misses(context, state) or _nearest_in_meaning(state)
                if not intent.excluded:  # excluded words are no conditions that could be dropped
                    state.relaxations = await costs(database, intent.conditions)
    except (DatabaseUnavailable, TimeIsUp):
        context.run.degrade("company_search")


async def _near_misses(context: Context, state: State) -> Sequence[NearMiss]:
    """The companies nearest to the question that miss conditions, if no company meets them all."""
    conditions, database = state.intent.stated, context.services.reader
    if state.near_misses or not conditions or not context.may_call(2):
        return state.near_misses
    context.run.budget.spend_call()
    candidates = await retrieve_variants(
        database,
        [Variant(state.intent.topic or context.request.question)],
        context.settings,
        hybrid=False,
        limit=NEAR_MISSES_MAX,
    )
    ids = [each.company_id for each in candidates][:NEAR_MISSES_MAX]
    companies = await look_up(context, ids, state.companies)
    met = await meets_and_misses(database, conditions, ids)
    misses = {id: unmet(conditions, met[id]) for id in ids if id in met and id in companies}
    return [NearMiss(companies[id], labels(each)) for id, each in misses.items() if each]


async def find_absent_words(context: Context, state: State) -> tuple[list[str], float]:
    """The words of the topic that no profile contains, and their share. Raises DatabaseUnavailable."""
    topic = [] if state.question.seed else _unfiled_words(state)
    absent_words = await unspoken(context.services.reader, topic)
    return absent_words, len(absent_words) / max(1, len(topic))


async def _is_near(context: Context, state: State, absent_share: float) -> bool:
    """Whether the nearest companies are worth showing: one of them is likely what is meant, and what the words mean that no
    profile contains is near to one of the first. Raises DatabaseUnavailable.
    """
    question, by_meaning = state.question, state.by_meaning
    if not await off_loop(
        lambda: is_answered(state.fitting, state.intent, question.seed, absent_share, by_meaning=by_meaning)
    ):
        return False
    if not (state.absent_words and by_meaning):
        return True
    try:
        vectors = await context.services.queries.embed_all(state.absent_words, seconds=context.run.budget.seconds_left)
    except ModelError:
        return True
    if vectors is None:
        return True
    near = await retrieve_variants(
        context.services.reader,
        [Variant("", vector) for vector in vectors],
        context.settings,
        include_ids=[each.company_id for each in state.nearest[:NEAR_MISSES_MAX]],
        keyword=False,
        min_semantic=ABSENT_MEANING_MIN,
    )
    return any(each.semantic >= ABSENT_MEANING_MIN for each in near)


def _nearest_in_meaning(state: State) -> list[NearMiss]:
    """The best candidates that resemble the question in meaning, though none fits, with the words that their profiles lack."""
    near = [each.company_id for each in state.nearest if state.pool[each.company_id].semantic > 0][:NEAR_MISSES_MAX]
    return [NearMiss(state.companies[id], _lacking_words(state.companies[id], state)) for id in near]


def _lacking_words(company: Company, state: State) -> list[str]:
    """The words of the topic that neither the profile nor the tags of a company have, as labels."""
    stems = profile_words(company)
    return [gettext("“{text}”", text=word) for word in _unfiled_words(state) if stem(word) not in stems][:LACKING_MAX]


def _exact_match(company: Company, match: NameMatch) -> RankedCompany:
    chips = [company.status.capitalize(), *company.categories[:2], home(company)]
    return RankedCompany(
        company_id=company.id,
        reason=gettext(_MATCHED_BY[match.matched], asked=match.spelling),
        inline_description=inline_description(company),
        evidence_chips=[chip for chip in chips if chip],
        confidence=min(1.0, match.name_score),
    )


def uncovered_words(state: State) -> list[str]:
    """The words of the topic that no chosen company has in its profile or its tags."""
    stems = frozenset[str]().union(*(profile_words(state.companies[each.company_id]) for each in state.selection))
    return [word for word in _unfiled_words(state) if stem(word) not in stems]


def _unfiled_words(state: State) -> list[str]:
    """The words of the topic that name no tag, no condition and not the company that others should resemble. A company with the
    tag, or one that meets the condition, need not use the word.
    """
    intent, seed = state.intent, state.question.seed
    names = [*(group.name for group in intent.tags), *labels([*intent.stated, *intent.assumed])]
    names += [seed.company_name] if seed else []
    stems = {stem(word) for name in names for word in words(name)}
    return [word for word in _topic_words(intent) if stem(word) not in stems]


def _topic_words(intent: CompanyIntent) -> list[str]:
    return list(dict.fromkeys(word for word in words(intent.topic) if word not in STOP_WORDS))


# ---- the text ----

STEP = "company_summary"


@dataclass
class Summary:
    """The text of an answer as it is written: by the model, else from the companies' profiles."""

    context: Context
    inputs: SummaryInputs
    answer: Answer = field(init=False)

    def __post_init__(self) -> None:
        self.answer = Answer(self.context.run, STEP, 1, self._filters, verifier=self._verifier)

    async def events(self) -> AsyncGenerator[Event]:
        """The text. What the model does not finish, or the profiles do not bear out, is told from these."""
        run = self.context.run
        if run.chat is not None and self.context.is_out_of_tokens:
            run.degrade(STEP)
        elif run.chat is not None:
            messages = await off_loop(summary_messages, self.inputs)
            async with aclosing(events_of(self.answer, messages, ())) as events:
                async for event in events:
                    yield event
        if not self.answer.text or self.answer.failed:
            if self.answer.text:
                yield PartialTextEvent(data=PartialText(text=broken_off()))
            async with aclosing(write(STEP, run, None, lambda: summary_by_rule(self.inputs), broken_off="")) as pieces:
                async for piece in pieces:
                    yield PartialTextEvent(data=PartialText(text=piece))
        if self.inputs.cut_short:
            yield PartialTextEvent(data=PartialText(text=cut_short()))

    def _filters(self, written: WrittenAnswer) -> Sequence[TextFilter]:
        """Only links found in the companies' profiles stay."""
        return [LinkFilter({ALWAYS: said_in([entry.company.model_dump() for entry in self.inputs.entries])})]

    def _verifier(self) -> Verifier:
        """What checks the text against the profiles and what the search found."""
        inputs = self.inputs
        profiles: list[DescribedCompany] = [(each.company, [each.reason]) for each in inputs.entries]
        profiles += [(company, [f"It misses {'; '.join(unmet)}"] if unmet else []) for company, unmet in inputs.near]
        profiles += [(inputs.seed, [])] if inputs.seed else []
        without = [f"without {label} there are {rows}" for label, rows in inputs.relaxations]
        size = quantity(len(inputs.entries), "company fits", "companies fit")
        sources = evidence(profiles, [size, *inputs.missing, *inputs.demands, *without])
        return Verifier(sources, question=inputs.question)


def summary_inputs(question: str, state: State) -> SummaryInputs:
    """What the text of the answer is made from."""
    inquiry, intent = state.question, state.intent
    missing = [gettext("no company here is known to be in {place}", place=place) for place in intent.missing]
    if inquiry.likened and inquiry.seed is None:
        missing.append(
            gettext(
                "no company here is called {name}, so its name was searched for like any other word",
                name=inquiry.likened,
            )
        )
    if state.is_widened:
        missing.append(gettext("none of the companies shown before meets this, so others were searched"))
    if state.is_near:
        missing.append(gettext("no company here clearly fits; these come closest"))
    if state.selection:
        missing += dropped_conditions(state)
    if intent.has_more:
        missing.append(gettext("there are too many conditions, so the last ones were left out"))
    return SummaryInputs(
        question=question,
        entries=[
            SummaryEntry(state.companies[each.company_id], each.reason, each.confidence) for each in state.selection
        ],
        seed=inquiry.seed,
        exact=bool(inquiry.exact),
        ambiguous=len(state.selection) > 1 and len({match.spelling for match in inquiry.exact}) == 1,
        demands=conditions_in_words(intent),
        missing=missing,
        absent_words=uncovered_words(state) if state.selection else state.absent_words,
        cut_short=state.is_cut_short,
        only_startups=STARTUPS in intent.assumed and not inquiry.exact,
        near=[(miss.company, miss.unmet) for miss in state.near_misses],
        relaxations=state.relaxations,
    )


def dropped_conditions(state: State) -> Iterator[str]:
    """A sentence for each assumed condition that was dropped because no company met it."""
    for condition in state.dropped:
        if condition == STARTUPS:
            yield gettext("no startup fits, so companies of any status were searched")
        else:
            yield gettext("no company fits “{label}”, so it was left out", label=labels([condition])[0])


# ---- what the text is checked against ----

DescribedCompany = tuple[Company, Sequence[str]]
"""A company, and what else the model was told of it."""

_FACT_SENTENCES = {
    "status": "Status: {}",
    "founded": "It was founded in {}",
    "employees": "It has {} employees",
    "fundingStage": "Funding stage: {}",
    "raisedUsd": "It raised USD {}",
    "acquirer": "It was acquired by {}",
    "closed": "It closed in {}",
    "home": "It is based in {}",
}


def evidence(companies: Iterable[DescribedCompany], search_facts: Iterable[str] = ()) -> list[SourceText]:
    """A source for each company, and one for the facts about the search."""
    sources = [
        SourceText(n, company.company_name, "\n".join([*_profile_lines(company), *more]))
        for n, (company, more) in enumerate(companies, start=1)
    ]
    text = "\n".join(f"{each[:1].upper()}{each[1:]}." for each in search_facts if each)
    return [*sources, SourceText(len(sources) + 1, "The search", text)] if text else sources


def _profile_lines(company: Company) -> Iterator[str]:
    """The profile as sentences: its texts, then its facts."""
    yield f"{with_former_names(company)}."
    yield from profile_sentences(company)
    for name, value in facts(company).items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield f"{_FACT_SENTENCES.get(name, f'{name.capitalize()}: {{}}').format(text)}."
    if company.website_url:
        yield company.website_url


# ---- the whole answer ----


def final_answer(context: Context, state: State, content: str, checked: Verification) -> FinalAnswer:
    """The answer of a search, or of a count."""
    result, intent = state.count, state.intent
    understood = understood_of(intent, over_companies(result.query) if result else None)
    # a number that was counted as the question was read has nothing that a model wrote and that could be checked
    is_exact = result is not None and not checked.statements
    assert state.end_reason is not None
    return whole_answer(
        context,
        content,
        [reference(state, ranked) for ranked in state.selection],
        state.companies,
        understood,
        state.end_reason,
        checked,
        confidence_of(level(Exact.read(is_sure=intent.is_sure) if is_exact else checked)),
        result=result,
        evidence=intent.evidence,
        rounds=state.rounds,
    )


def whole_answer(
    context: Context,
    content: str,
    references: Sequence[Reference],
    companies: Mapping[str, Company],
    understood: Understood,
    end_reason: EndReason,
    checked: Verification,
    confidence: Confidence | None,
    *,
    result: QueryResult | None,
    evidence: Sequence[Evidence] = (),
    rounds: int,
) -> FinalAnswer:
    """The answer of these parts. `result` is that of a query which it rests on."""
    return FinalAnswer(
        content=content,
        references=list(references),
        understood=understood,
        constraints=constraints_of(understood, evidence),
        companies_by_id={each.company_id: companies[each.company_id] for each in references},
        telemetry=Telemetry(
            run_id=str(context.run.id),
            iteration_count=rounds,
            tool_call_count=context.run.budget.calls,
            end_reason=end_reason,
            degraded_steps=context.run.degraded,
        ),
        aggregation=None if result is None else _aggregation_of(result),
        session_id=context.run.session_id,
        statements=checked_statements(checked),
        confidence=confidence,
    )


def over_companies(query: Query) -> Query:
    """A query that was run, about companies by the name that a request has for them."""
    return query.model_copy(update={"source": COMPANIES.name})


def reference(state: State, ranked: RankedCompany) -> Reference:
    """A company of the answer, with the labels of what it meets and misses."""
    company, assumed = state.companies[ranked.company_id], state.intent.assumed
    met = list(zip(checked_conditions(state.intent), state.met.get(company.id, ()), strict=False))
    return Reference(
        company_id=company.id,
        company_name=company.company_name,
        reason=ranked.reason,
        inline_description=ranked.inline_description,
        evidence_chips=ranked.evidence_chips,
        confidence=ranked.confidence,
        meets=labels([condition for condition, is_met in met if is_met]),
        # the user did not ask for assumed conditions
        misses=[
            *labels([each for each, is_met in met if not is_met and each not in assumed]),
            *(_lacking_words(company, state) if state.is_near else ()),
        ],
    )


# ---- numbers ----

COUNT_COMPANIES_MAX = 10
"""How many of the counted companies are shown."""
LINES_MAX = 12


async def count(context: Context, question: CompanyQuestion, query: Query) -> State | None:
    """The answer to a question that a query for numbers answers: the number, and the first companies in it. None if the query is
    invalid. Raises DatabaseUnavailable.
    """
    with context.run.step("count_companies") as record:
        context.run.budget.spend_call()
        async with context.in_time():
            try:
                result, ids = await _count(query, context.caller, context.services)
            except InvalidInput:
                record.counts["found"] = 0
                return None
            companies = await companies_by_ids(context.services.reader, ids)
        record.counts["found"] = result.total
    state = State(question)
    state.intent = replace(question.intent, stated=result.query.where, assumed=(), tags=())
    state.count, state.end_reason = result, "exact_match"
    state.selection = [_company_of_count(each, _value_in_words(result, place)) for place, each in enumerate(companies)]
    state.companies = {each.id: each for each in companies}
    state.met = {each.id: [True] * len(result.query.where) for each in companies}
    return state


async def _count(query: Query, caller: Caller, services: Services) -> tuple[QueryResult, list[str]]:
    """The result of a query over companies, and the ids of the first companies in it. Raises InvalidInput."""
    access = await data_access(caller, services)
    name = access.name_of(COMPANIES.name, COMPANIES.name)
    if name is None:
        raise InvalidInput([FieldError("/source", "there are no companies")])
    query = query.model_copy(update={"source": name})
    rows = result = await answer_read_query(query, access, services, access.today, keeps_places=True)
    if not query.asks_for_rows:
        first = Query(source=name, where=result.query.where, limit=COUNT_COMPANIES_MAX)
        rows = await answer_query(first, access, services, access.today, keeps_places=True)
    elif query.select:
        keyed = result.query.model_copy(update={"select": (), "limit": query.limit or COUNT_COMPANIES_MAX})
        rows = await answer_query(keyed, access, services, access.today, keeps_places=True)
    return result, [str(row[0]) for row in rows.rows[:COUNT_COMPANIES_MAX]]


def _company_of_count(company: Company, value: str) -> RankedCompany:
    """A company of a count, with the value that the query selects."""
    return RankedCompany(
        company_id=company.id,
        reason=f"{value[:1].upper()}{value[1:]}." if value else gettext("It is among those counted."),
        inline_description=inline_description(company),
        evidence_chips=list(dict.fromkeys(filter(None, (value, home(company))))),
        confidence=1.0,
    )


def count_in_words(result: QueryResult) -> str:
    """The answer: a sentence, then a line for each group or row."""
    return "\n".join(with_list(result.sentence, [*lines_of(result, PHRASES, LINES_MAX)]))


def _value_in_words(result: QueryResult, place: int) -> str:
    """The value that the query selects of the company at a place; empty for numbers and groups."""
    if not result.query.asks_for_rows or place >= len(result.rows) or len(result.columns) < 2:
        return ""
    column = result.columns[-1]
    value = PHRASES.cell(Column(column.name, column.label, column.kind, column.unit), result.rows[place][-1])
    return f"{column.label} {value}"


def _aggregation_of(result: QueryResult) -> Aggregation | None:
    """The result as values; None if its query asks for rows."""
    query = result.query
    if query.asks_for_rows:
        return None
    numbers = reckoned(result)
    in_groups = sum(each.count or 0 for each in numbers["groups"])
    is_count = [each.name for each in query.aggregate] == ["count"]
    # only counts add up to a remainder, which a company with several values would be in more than once
    everything = sum(int(str(row[-1])) for row in result.rows) if is_count and query.group else in_groups
    numbers["other"] = max(0, everything - in_groups)
    return Aggregation(**numbers, overlapping=everything > result.total, query=query, sentence=result.sentence)
