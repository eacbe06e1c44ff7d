"""The answer of a search: its text, the companies with the conditions that each meets and misses, telemetry; and numbers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from quarry.agent.service import answer_query, answer_read_query
from quarry.agent.sources import data_access
from quarry.answering.answer import Answer
from quarry.answering.toolset import events_of
from quarry.answering.written import WrittenAnswer
from quarry.companies.candidates import (
    NEAR_MISSES_MAX,
    Candidates,
    CompanyInquiry,
    DescribedCompany,
    NameMatch,
    NearMiss,
    Ranking,
    Round,
    Variant,
    evidence,
    home,
    inline_description,
    profile_words,
    unmet,
)
from quarry.companies.context import Context, conditions_in_words, quantity
from quarry.companies.contract import Aggregation, Company, EndReason, FinalAnswer, Reference, Telemetry
from quarry.companies.facets import COMPANIES
from quarry.companies.fallbacks import broken_off, cut_short, is_answered, summary_by_rule
from quarry.companies.intent import STARTUPS, CompanyIntent
from quarry.companies.prompts import RankedCompany, SummaryEntry, SummaryInputs, summary_messages
from quarry.companies.reading import conditions_to_tell, constraints_of, understood_of
from quarry.companies.retrieval import companies_by_ids, look_up, retrieve_variants, unspoken
from quarry.companies.sources import PHRASES, costs, labels, meets_and_misses
from quarry.language.messages import gettext, gettext_noop
from quarry.language.word_forms import STOP_WORDS, stem
from quarry.models.step import TextFilter, write
from quarry.platform.errors import DatabaseUnavailable, InvalidInput, ModelError, TimeIsUp
from quarry.platform.off_loop import off_loop
from quarry.platform.text import ALWAYS, LinkFilter, said_in, words
from quarry.query.contract import QueryResult
from quarry.query.describe import lines_of, reckoned, with_list
from quarry.schema.algebra import Column, Query
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event, PartialText, PartialTextEvent
from quarry.verification.check import Exact, Verification, Verifier, level
from quarry.verification.wire import checked_statements, confidence_of

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


@dataclass(frozen=True)
class Result:
    """The result of a search: the companies that the answer offers, whether each meets each condition, and why the search ended.

    `is_near`: the companies are only the nearest ones; none is likely what is meant. `absent_words`: words of the question that
    no profile contains. `counted`: the numbers that the question asks for.
    """

    inquiry: CompanyInquiry
    chosen: Sequence[RankedCompany]
    companies: Mapping[str, Company]
    standings: Mapping[str, Sequence[bool]]
    near_misses: Sequence[NearMiss]
    relaxations: Sequence[tuple[str, int]]
    rounds: int
    end_reason: EndReason
    is_cut_short: bool
    is_near: bool = False
    absent_words: Sequence[str] = ()
    counted: CountResult | None = None


async def conclude(context: Context, now: Round) -> Result:
    """Choose the companies that the answer offers, and check them against the conditions. If there are none, find the nearest
    ones, and how many companies each condition rules out.
    """
    assert now.end_reason is not None
    inquiry, found, ranking = now.inquiry, now.found, now.ranking
    wanted = now.plan.output.target_result_count if now.plan else None
    companies = {**inquiry.companies, **found.companies}
    chosen = _chosen(inquiry, ranking, companies, wanted)
    is_near = False
    absent_words: Sequence[str] = ()
    met: Mapping[str, Sequence[bool]] = {}
    near: Sequence[NearMiss] = found.near_misses
    without: Sequence[tuple[str, int]] = ()
    conditions = conditions_to_tell(inquiry.intent)
    if context.seconds_for_looking(False) > 0:
        try:
            async with context.in_time():
                if not chosen and ranking.near and (inquiry.seed or _topic_words(inquiry.intent)):
                    absent_words, share = await find_absent_words(context, inquiry)
                    if await _is_near(context, now, absent_words, share):
                        chosen, is_near = list(ranking.near[:wanted]), True
                if chosen and conditions and not inquiry.exact:
                    ids = [each.company_id for each in chosen]
                    met = await meets_and_misses(context.services.reader, conditions, ids)
                elif not chosen and not inquiry.exact:
                    near = await nearest(context, inquiry, found) or _nearest_in_meaning(ranking, found, inquiry)
                    if not inquiry.intent.excluded:  # excluded words are no conditions that could be dropped
                        without = await costs(context.services.reader, inquiry.intent.conditions)
        except (DatabaseUnavailable, TimeIsUp):
            context.run.degrade("company_search")
    return Result(
        inquiry, chosen, companies, met, near, without, now.nth, now.end_reason, now.is_cut_short, is_near, absent_words
    )


def conclude_counted(inquiry: CompanyInquiry, counted: CountResult) -> Result:
    """The answer to a question that asks for a number: the count, and the first companies in it."""
    intent = replace(inquiry.intent, stated=counted.query.where, assumed=(), tags=())
    chosen = []
    for place, company in enumerate(counted.companies):
        value = value_in_words(counted, place)
        chosen.append(
            RankedCompany(
                company_id=company.id,
                reason=f"{value[:1].upper()}{value[1:]}." if value else gettext("It is among those counted."),
                inline_description=inline_description(company),
                evidence_chips=list(dict.fromkeys(filter(None, (value, home(company))))),
                confidence=1.0,
            )
        )
    met = [True] * len(counted.query.where)
    return Result(
        replace(inquiry, intent=intent),
        chosen,
        {company.id: company for company in counted.companies},
        {company.id: met for company in counted.companies},
        near_misses=(),
        relaxations=(),
        rounds=0,
        end_reason="exact_match",
        is_cut_short=False,
        counted=counted,
    )


async def nearest(context: Context, inquiry: CompanyInquiry, found: Candidates) -> list[NearMiss]:
    """The companies nearest to the question that miss conditions, if no company meets them all."""
    conditions = inquiry.intent.stated
    if found.near_misses or not conditions or not context.may_call(2):
        return list(found.near_misses)
    context.run.budget.spend_call()
    candidates = await retrieve_variants(
        context.services.reader,
        [Variant(inquiry.intent.topic or context.question)],
        context.settings,
        hybrid=False,
        limit=NEAR_MISSES_MAX,
    )
    ids = [each.company_id for each in candidates][:NEAR_MISSES_MAX]
    companies = await look_up(context, ids, found.companies)
    met = await meets_and_misses(context.services.reader, conditions, ids)
    misses = {id: unmet(conditions, met[id]) for id in ids if id in met and id in companies}
    return [NearMiss(companies[id], labels(each)) for id, each in misses.items() if each]


async def find_absent_words(context: Context, inquiry: CompanyInquiry) -> tuple[list[str], float]:
    """The words of the topic that no profile contains, and their share. Raises DatabaseUnavailable."""
    sought = [] if inquiry.seed else _unfiled_words(inquiry)
    absent_words = await unspoken(context.services.reader, sought)
    return absent_words, len(absent_words) / max(1, len(sought))


async def _is_near(context: Context, now: Round, absent_words: Sequence[str], share: float) -> bool:
    """Whether the nearest companies are worth showing: one of them is likely what is sought, and what the words mean that no
    profile contains is near to one of the first. Raises DatabaseUnavailable.
    """
    found, inquiry = now.found, now.inquiry
    if not await off_loop(
        lambda: is_answered(found.fitting, inquiry.intent, inquiry.seed, share, by_meaning=found.by_meaning)
    ):
        return False
    if not (absent_words and found.by_meaning):
        return True
    try:
        vectors = await context.services.queries.embed_all(absent_words, seconds=context.run.budget.seconds_left)
    except ModelError:
        return True
    if vectors is None:
        return True
    near = await retrieve_variants(
        context.services.reader,
        [Variant("", vector) for vector in vectors],
        context.settings,
        include_ids=[each.company_id for each in now.ranking.near[:NEAR_MISSES_MAX]],
        keyword=False,
        min_semantic=ABSENT_MEANING_MIN,
    )
    return any(each.semantic >= ABSENT_MEANING_MIN for each in near)


def _nearest_in_meaning(ranking: Ranking, found: Candidates, inquiry: CompanyInquiry) -> list[NearMiss]:
    """The best candidates that resemble the question in meaning, though none fits, with the words that their profiles lack."""
    near = [each.company_id for each in ranking.near if found.pool[each.company_id].semantic > 0][:NEAR_MISSES_MAX]
    return [NearMiss(found.companies[id], _lacking(found.companies[id], inquiry)) for id in near]


def _lacking(company: Company, inquiry: CompanyInquiry) -> list[str]:
    """The words of the topic that neither the profile nor the tags of a company have, as labels."""
    held = profile_words(company)
    return [gettext("“{text}”", text=word) for word in _unfiled_words(inquiry) if stem(word) not in held][:LACKING_MAX]


def _chosen(
    inquiry: CompanyInquiry, ranking: Ranking, companies: Mapping[str, Company], wanted: int | None
) -> list[RankedCompany]:
    """The companies that the question names, or the first ones of the ranking."""
    if inquiry.exact:
        return [
            _exact_match(companies[match.company_id], match) for match in inquiry.exact if match.company_id in companies
        ]
    return list(ranking.ranked[:wanted])


def _exact_match(company: Company, match: NameMatch) -> RankedCompany:
    chips = [company.status.capitalize(), *company.categories[:2], home(company)]
    return RankedCompany(
        company_id=company.id,
        reason=gettext(_MATCHED_BY[match.matched], asked=match.asked),
        inline_description=inline_description(company),
        evidence_chips=[chip for chip in chips if chip],
        confidence=min(1.0, match.name_score),
    )


STEP = "company_summary"


@dataclass
class Summary:
    """The text of an answer as it is written: by the model, else from the companies' profiles."""

    context: Context
    result: Result
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
        if self.result.is_cut_short:
            yield PartialTextEvent(data=PartialText(text=cut_short()))

    def _filters(self, written: WrittenAnswer) -> Sequence[TextFilter]:
        """Only links found in the companies' profiles stay."""
        return [LinkFilter({ALWAYS: said_in([entry.company.model_dump() for entry in self.inputs.entries])})]

    def _verifier(self) -> Verifier:
        """What checks the text against the profiles and what the search found."""
        inputs = self.inputs
        known: list[DescribedCompany] = [(each.company, [each.reason]) for each in inputs.entries]
        known += [(company, [f"It misses {'; '.join(unmet)}"] if unmet else []) for company, unmet in inputs.near]
        known += [(inputs.seed, [])] if inputs.seed else []
        without = [f"without {label} there are {rows}" for label, rows in inputs.relaxations]
        facts = [
            quantity(len(inputs.entries), "company fits", "companies fit"),
            *inputs.missing,
            *inputs.demands,
            *without,
        ]
        return Verifier(evidence(known, facts), question=inputs.question)


async def summary_of(context: Context, result: Result) -> Summary:
    """The text of an answer, to be written."""
    return Summary(context, result, await off_loop(_inputs, context, result))


def _inputs(context: Context, result: Result) -> SummaryInputs:
    inquiry, intent = result.inquiry, result.inquiry.intent
    missing = [gettext("no company here is known to be in {place}", place=place) for place in intent.missing]
    if inquiry.likened and inquiry.seed is None:
        missing.append(
            gettext(
                "no company here is called {name}, so its name was searched for like any other word",
                name=inquiry.likened,
            )
        )
    if inquiry.is_widened:
        missing.append(gettext("none of the companies shown before meets this, so others were searched"))
    if result.is_near:
        missing.append(gettext("no company here clearly fits; these come closest"))
    if result.chosen:
        missing += dropped(inquiry)
    if intent.has_more:
        missing.append(gettext("there are too many conditions, so the last ones were left out"))
    return SummaryInputs(
        question=context.question,
        entries=[
            SummaryEntry(result.companies[each.company_id], each.reason, each.confidence) for each in result.chosen
        ],
        seed=inquiry.seed,
        exact=bool(inquiry.exact),
        ambiguous=len(result.chosen) > 1 and len({match.asked for match in inquiry.exact}) == 1,
        demands=conditions_in_words(intent),
        missing=missing,
        absent_words=uncovered(result) if result.chosen else result.absent_words,
        cut_short=result.is_cut_short,
        only_startups=STARTUPS in intent.assumed and not inquiry.exact,
        near=[(miss.company, miss.unmet) for miss in result.near_misses],
        relaxations=result.relaxations,
    )


def dropped(inquiry: CompanyInquiry) -> Iterator[str]:
    """A sentence for each assumed condition that was dropped because no company met it."""
    for condition in inquiry.dropped:
        if condition == STARTUPS:
            yield gettext("no startup fits, so companies of any status were searched")
        else:
            yield gettext("no company fits “{label}”, so it was left out", label=labels([condition])[0])


def uncovered(result: Result) -> list[str]:
    """The words of the topic that no chosen company has in its profile or its tags."""
    held = frozenset[str]().union(*(profile_words(result.companies[each.company_id]) for each in result.chosen))
    return [word for word in _unfiled_words(result.inquiry) if stem(word) not in held]


def _unfiled_words(inquiry: CompanyInquiry) -> list[str]:
    """The words of the topic that name no tag, no condition and not the company that others should resemble. A company with the
    tag, or one that meets the condition, need not use the word.
    """
    intent = inquiry.intent
    named = [*(group.name for group in intent.tags), *labels([*intent.stated, *intent.assumed])]
    named += [inquiry.seed.company_name] if inquiry.seed else []
    filed = {stem(word) for name in named for word in words(name)}
    return [word for word in _topic_words(intent) if stem(word) not in filed]


def _topic_words(intent: CompanyIntent) -> list[str]:
    return list(dict.fromkeys(word for word in words(intent.topic) if word not in STOP_WORDS))


def final_answer(context: Context, result: Result, content: str, checked: Verification) -> FinalAnswer:
    """The whole answer."""
    counts, intent = result.counted, result.inquiry.intent
    read = understood_of(intent, over_companies(counts.query) if counts else None)
    # a number that was counted as the question was read has nothing that a model wrote and that could be checked
    is_read = counts is not None and not checked.statements
    basis = Exact.read(is_sure=intent.is_sure) if is_read else checked
    return FinalAnswer(
        content=content,
        references=[reference(result, ranked) for ranked in result.chosen],
        understood=read,
        constraints=constraints_of(read, intent.evidence),
        companies_by_id={ranked.company_id: result.companies[ranked.company_id] for ranked in result.chosen},
        telemetry=Telemetry(
            run_id=str(context.run.id),
            iteration_count=result.rounds,
            tool_call_count=context.run.budget.calls,
            end_reason=result.end_reason,
            degraded_steps=context.run.degraded,
        ),
        aggregation=aggregation_of(result.counted) if result.counted else None,
        session_id=context.run.session_id,
        statements=checked_statements(checked),
        confidence=confidence_of(level(basis)),
    )


def over_companies(query: Query) -> Query:
    """A query that was run, about companies by the name that a request has for them."""
    return query.model_copy(update={"source": COMPANIES.name})


def reference(result: Result, ranked: RankedCompany) -> Reference:
    """A company of the answer, with the labels of what it meets and misses."""
    conditions = conditions_to_tell(result.inquiry.intent)
    standing = list(zip(conditions, result.standings.get(ranked.company_id, ()), strict=False))
    return Reference(
        company_id=ranked.company_id,
        company_name=result.companies[ranked.company_id].company_name,
        reason=ranked.reason,
        inline_description=ranked.inline_description,
        evidence_chips=ranked.evidence_chips,
        confidence=ranked.confidence,
        meets=labels([condition for condition, is_met in standing if is_met]),
        # the user did not ask for assumed conditions
        misses=[
            *labels([each for each, is_met in standing if not is_met and each not in result.inquiry.intent.assumed]),
            *(_lacking(result.companies[ranked.company_id], result.inquiry) if result.is_near else ()),
        ],
    )


# ---- numbers ----

SHOWN_MAX = 10
"""How many of the counted companies are shown."""
LINES_MAX = 12


@dataclass(frozen=True)
class CountResult:
    """The result of a query, and the first companies that it is about."""

    result: QueryResult
    companies: Sequence[Company] = ()

    @property
    def query(self) -> Query:
        return self.result.query


async def count(query: Query, caller: Caller, services: Services) -> CountResult | None:
    """The result of a query over companies; None if it is invalid. Raises DatabaseUnavailable."""
    access = await data_access(caller, services)
    name = access.name_of(COMPANIES.name, COMPANIES.name)
    if name is None:
        return None
    today = access.today
    query = query.model_copy(update={"source": name})
    try:
        result = await answer_read_query(query, access, services, today, keeps_places=True)
        rows = result
        if not query.asks_for_rows:
            first = Query(source=name, where=result.query.where, limit=SHOWN_MAX)
            rows = await answer_query(first, access, services, today, keeps_places=True)
        elif query.select:
            keyed = result.query.model_copy(update={"select": (), "limit": query.limit or SHOWN_MAX})
            rows = await answer_query(keyed, access, services, today, keeps_places=True)
    except InvalidInput:
        return None
    ids = [str(row[0]) for row in rows.rows[:SHOWN_MAX]]
    return CountResult(result, await companies_by_ids(services.reader, ids))


def counted_in_words(counted: CountResult) -> str:
    """The answer: a sentence, then a line for each group or row."""
    result = counted.result
    return "\n".join(with_list(result.sentence, [*lines_of(result, PHRASES, LINES_MAX)]))


def value_in_words(counted: CountResult, place: int) -> str:
    """The value that the query selects of the company at a place; empty for numbers and groups."""
    result = counted.result
    if not result.query.asks_for_rows or place >= len(result.rows) or len(result.columns) < 2:
        return ""
    column = result.columns[-1]
    shown = PHRASES.cell(Column(column.name, column.label, column.kind, column.unit), result.rows[place][-1])
    return f"{column.label} {shown}"


def aggregation_of(counted: CountResult) -> Aggregation | None:
    """The same as values; None if the query asks for rows."""
    result, query = counted.result, counted.query
    if query.asks_for_rows:
        return None
    numbers = reckoned(result)
    in_groups = sum(each.count or 0 for each in numbers["groups"])
    is_count = [each.name for each in query.aggregate] == ["count"]
    # only counts add up to a remainder, which a company with several values would be in more than once
    everything = sum(int(str(row[-1])) for row in result.rows) if is_count and query.group else in_groups
    numbers["other"] = max(0, everything - in_groups)
    return Aggregation(**numbers, overlapping=everything > result.total, query=query, sentence=result.sentence)
