"""Answers without a model: reads the question as a Query, runs it, and puts the result into words.

Words that match no field are a theme: campaigns are found by its meaning and words, among those that meet the conditions.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, replace
from typing import Any

from quarry.agent.reading import read_over, states_in_full
from quarry.campaigns import retrieval
from quarry.campaigns.conditions import (
    DATE,
    EMPTY,
    NAME,
    NOTHING,
    PHRASES,
    CampaignSet,
    Question,
    Search,
    answer_text,
    filters_of,
    in_days,
    line_for_people,
)
from quarry.campaigns.contract import ChatRequest
from quarry.campaigns.sources import PREDICATES
from quarry.campaigns.tools import FILTER_CAMPAIGNS, FULL_TEXT_SEARCH, SEMANTIC_SEARCH, CampaignToolset, observation
from quarry.language.messages import gettext
from quarry.language.word_forms import STOP_WORDS
from quarry.platform.contract import Assertion, Evidence
from quarry.platform.errors import InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.platform.text import QUERY_MAX_CHARACTERS, topic_text
from quarry.query.contract import Verdict
from quarry.query.describe import evidence_of
from quarry.query.execute import costs
from quarry.reader.names import TITLE, SourceName
from quarry.reader.reading import Reading, evidence, in_any_year, vetoes
from quarry.schema.algebra import Aggregate, AllOf, Comparison, Condition, Group, Not, Query, comparisons_of, mapped
from quarry.streaming.events import Event, PartialText, PartialTextEvent, ToolCalled, ToolCallEvent

_QUOTES = "\"“„«'"
_PIECE = re.compile(r"\S+\s*|\s+")

EARLIER_QUESTIONS_MAX = 3
"""How many earlier questions a follow-up may go on from."""
LIKELY = 0.5
"""The least share of the candidates at which a doubtful Query is answered, with the unread words named."""
UNREAD_MAX = 1
"""With more unread words, a number is not given."""
COUNT = Aggregate(fn="count")
_HAS_A_DAY = Comparison(field=DATE, op="not_null")
"""A condition that nearly every campaign meets."""


@dataclass
class ReaderAnswer:
    """An answer without a model, in progress."""

    request: ChatRequest
    toolset: CampaignToolset
    question: Question | None = None
    text: str = ""

    async def events(self) -> AsyncGenerator[Event]:
        """The events of the search, and the text in pieces. Raises DatabaseUnavailable."""
        toolset = self.toolset
        if toolset.source is None:
            self.text = gettext(EMPTY)
        else:
            question = self.question = await read_question(self.request, toolset)
            toolset.preferred = (*toolset.preferred, *question.hints)
            call, tool = "call_1", _tool_of(question)
            toolset.run.budget.spend_call()
            yield ToolCallEvent(data=ToolCalled(id=call, tool=tool, arguments=self._arguments(question)))
            with toolset.run.step(tool) as record:
                search = await _search(question, toolset)
                without = await _costs(search, toolset) if not search.matches.total else ()
                record.counts["campaigns"] = search.matches.total
            matches = search.matches
            yield observation(call, tool, matches.total, line_for_people(matches), matches.campaigns)
            self.text = await off_loop(answer_text, question, search, without, toolset.today)
        for piece in _PIECE.findall(self.text):
            yield PartialTextEvent(data=PartialText(text=piece))

    def _arguments(self, question: Question) -> dict[str, Any]:
        """The arguments of the equivalent tool call."""
        toolset = self.toolset
        query = question.query.text or (question.theme if question.is_list else "")
        filters = filters_of((*toolset.requested, *question.query.where), toolset.today, toolset.values.latest)
        return filters.in_force() | ({"query": query} if query else {})


def _tool_of(question: Question) -> str:
    """The tool that finds the campaigns of a question."""
    if question.query.text:
        return FULL_TEXT_SEARCH
    return SEMANTIC_SEARCH if question.theme and question.is_list else FILTER_CAMPAIGNS


async def _search(question: Question, toolset: CampaignToolset) -> Search:
    """Run the search for a question, and keep it in `toolset`. A refused question finds nothing."""
    query = question.query
    if question.is_list:
        matches = await _listed(question, toolset)
        theme = question.theme
        if (
            theme
            and not matches.total
            and not question.needs_theme
            and (query.where or question.verdict == "confident")
        ):
            # campaigns that meet the conditions are better than nothing
            database, conditions, theme = toolset.services.reader, toolset.all(query.where), ""
            matches = await retrieval.filter_campaigns(
                database, conditions, toolset.preferred, tested_max=retrieval.BESIDE_THEME_MAX, today=toolset.today
            )
        search = Search(_tool_of(question), (*toolset.requested, *query.where), matches, theme, query.text)
        toolset.searches.append(search)
        return search
    if question.verdict != "refused" or query.text:
        try:
            return await toolset.query(_tool_of(question), query)
        except InvalidInput:
            # the Query is invalid
            pass
    search = Search(_tool_of(question), toolset.requested, NOTHING)
    toolset.searches.append(search)
    return search


async def _listed(question: Question, toolset: CampaignToolset) -> CampaignSet:
    query, database = question.query, toolset.services.reader
    conditions = toolset.all(query.where)
    if question.theme:
        vector = await toolset.services.queries.embed_for(toolset.run, question.theme)
        return await retrieval.find_by_theme(database, question.theme, vector, conditions, toolset.preferred)
    if query.text:
        return await retrieval.find_by_text(database, query.text, conditions, toolset.preferred)
    return await retrieval.filter_campaigns(database, conditions, toolset.preferred, today=toolset.today)


async def _costs(search: Search, toolset: CampaignToolset) -> list[tuple[str, int]]:
    """How many campaigns meet the other conditions, for each condition, if any do; most first."""
    if len(search.conditions) < 2 or toolset.base:
        return []
    phrases = replace(PHRASES, today=toolset.today)
    totals = await costs(toolset.services.reader, search.conditions, phrases, toolset.today)
    return [(label, total) for label, total in totals if total]


async def read_question(request: ChatRequest, toolset: CampaignToolset) -> Question:
    """Read the question as a Query. What the request says replaces its conditions: they hold in every search of `toolset`.

    Raises DatabaseUnavailable.
    """
    name = toolset.source
    assert name is not None
    before: Reading | None = None
    question: Question | None = None
    theme = ""
    earlier = [turn.content[:QUERY_MAX_CHARACTERS] for turn in request.history if turn.role == "user"]
    for text in (*earlier[-EARLIER_QUESTIONS_MAX:], request.message):
        # of a refused question only the theme is kept
        before = before if question is None or question.verdict != "refused" else None
        before = await read_over(text, [name], toolset.access, toolset.services, toolset.today, before)
        theme_before = theme_of(before)
        # a question that does not name campaigns keeps the theme before it
        theme = theme_before or ("" if any(isinstance(each, SourceName) for each in before.mentions.places) else theme)
        question = _question(before, name, theme, toolset.today)
    assert question is not None
    understood = request.understood
    if understood is None:
        return question
    query = question.query.model_copy(update={"where": (), "text": understood.query.text})
    is_number = query.aggregate == (COUNT,) and not query.group
    if understood.about and (is_number or question.verdict != "confident"):
        # campaigns found by meaning are listed
        query = Query(source=name, text=query.text)
    return Question(query, "confident", understood.about, evidence=evidence_of(understood), needs_theme=True)


def _question(reading: Reading, name: str, theme: str, today: datetime.date) -> Question:
    query, share = _likeliest(reading, today)
    denied = vetoes(reading.mentions, reading.best[0][0].mask) if reading.best else []
    verdict, hints = _verdict(reading, query, share, theme), tuple[Condition, ...]()
    if denied and not query.group and not query.order:
        words = " ".join(_quoted(each, reading.mentions.text) for each in denied)
        query = query.model_copy(update={"text": f"{query.text} {words}".strip()})
    elif verdict == "refused":
        # an unlikely reading excludes nothing: it only affects the order, and leaves all words to the theme
        hints = query.where
        query = Query(source=name, text=query.text)
        if theme_of(reading) or not theme:
            theme = topic_text(reading.mentions.text)
    return Question(
        query,
        verdict,
        "" if query.text else theme,
        reading.unread,
        denied,
        list(_evidence(reading, query)),
        hints=hints,
    )


def _verdict(reading: Reading, query: Query, share: float, theme: str) -> Verdict:
    """The verdict on the likeliest Query. Words that a list leaves unread are its theme; a count is shown with its campaigns;
    other results need all words read. A value that is said in part may not be meant.
    """
    unread, is_list = len(reading.unread), query.asks_for_rows and not query.order
    is_count = query.aggregate == (COUNT,) and not query.group
    if not is_list and unread > UNREAD_MAX:
        return "refused"
    is_likely = share >= LIKELY and (is_list or is_count or not (unread or theme))
    is_whole = states_in_full(reading, query.where)
    is_likely = is_likely and (query.where or not theme_of(reading)) and is_whole
    if reading.verdict == "refused":
        return "doubted" if is_likely else "refused"
    return reading.verdict if is_whole else "doubted"


def _likeliest(reading: Reading, today: datetime.date) -> tuple[Query, float]:
    """The likeliest Query, in the form of an answer, and its share of the candidates."""
    if reading.query is None:
        return Query(source=NAME), 0.0
    where = tuple(in_any_year(each, reading.mentions) for each in reading.query.where)
    likeliest = reading.query.model_copy(update={"spans": (), "where": where})
    return as_answered(likeliest, today), reading.shares[0][1]


def as_answered(query: Query, today: datetime.date) -> Query:
    """The Query in the form of an answer: values with their counts, ties included, and dates in place of relative days."""
    where: list[Condition] = []
    words = [query.text]
    compared = [each for each in query.where if isinstance(each, Comparison)]
    predicates = {each.field for each in compared if each.field in PREDICATES and each.scalars == (True,)}
    # a predicate replaces other conditions on its fields
    about = {each.field for name in predicates for each in comparisons_of(PREDICATES[name])}
    for each in query.where:
        field = each.field if isinstance(each, Comparison) else ""
        if field in predicates:
            where += (in_days(each, today) for each in PREDICATES[field])
        elif isinstance(each, Comparison) and field == TITLE and each.op in ("=", "contains"):
            # campaigns have no title: this means their copy
            words += [f'"{value}"' for value in each.scalars]
        elif field not in about and each != _HAS_A_DAY:
            where.append(_in_days(each, today))
    changed: dict[str, Any] = {"where": tuple(dict.fromkeys(where)), "text": " ".join(filter(None, words))}
    if query.order:
        changed["ties"] = query.limit is not None
    elif not query.aggregate:
        groups = query.group or tuple(Group(field=each) for each in query.select)
        groups = tuple(each for each in groups if each.field not in (TITLE, "id"))
        changed |= {"select": (), "group": groups, "aggregate": (COUNT,) if groups else ()}
    return query.model_copy(update=changed)


def _in_days(condition: Condition, today: datetime.date) -> Condition:
    """A condition with predicates replaced by days."""
    if not isinstance(condition, Comparison) or condition.field not in PREDICATES:
        return mapped(condition, lambda each, _: _in_days(each, today))
    whole = AllOf.of([in_days(each, today) for each in PREDICATES[condition.field]])
    return whole if condition.scalars == (True,) else Not(negated=whole)


def _quoted(words: str, text: str) -> str:
    """Words for a text search: as a phrase if the question quotes them."""
    place = text.find(words)
    return f'"{words}"' if place > 0 and text[place - 1] in _QUOTES else words


def theme_of(reading: Reading) -> str:
    """The words that no part of the Query reads; all significant words if the Query has no conditions."""
    if not reading.best or reading.query is None or reading.query.where:
        return " ".join(reading.unread)
    mask, mentions = reading.best[0][0].mask, reading.mentions
    return " ".join(
        token.text
        for place, token in enumerate(mentions.tokens)
        if not mask >> place & 1 and token.key not in STOP_WORDS
    )


def _evidence(reading: Reading, query: Query) -> Iterator[Evidence]:
    """The characters of the question that state each condition."""
    mentions, mask = reading.mentions, reading.best[0][0].mask if reading.best else 0
    for comparison in comparisons_of(query.where):
        places = [
            (each.place, link.value)
            for each in mentions.values
            for link in each.links
            if link.field == comparison.field and link.value in comparison.scalars
        ]
        places += [(each.place, "") for each in mentions.days if comparison.field == DATE]
        for place, value in places:
            if place.mask & mask:
                assertion: Assertion = "negated" if comparison.op == "!=" else "affirmed"
                yield evidence(mentions, place.first, place.last, comparison.field, assertion, value)
