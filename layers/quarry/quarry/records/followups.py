"""What to ask next: questions that the records which are searched can answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from pydantic import Field

from quarry.collections.declaration import Quoting
from quarry.language.word_forms import plural
from quarry.models.step import ModelStep, decide
from quarry.platform.budget import in_time
from quarry.platform.errors import TimeIsUp
from quarry.platform.lazy_model import LazyModel
from quarry.platform.links import plain_links
from quarry.platform.off_loop import off_loop
from quarry.platform.text import CleanText, shorten, significant_words
from quarry.postgres.failures import UNREADABLE
from quarry.query.algebra import Query, comparisons_of
from quarry.records.candidates import RecordText
from quarry.records.conversation import Conversation
from quarry.records.evidence import EvidenceSource
from quarry.records.facts import Facts, called
from quarry.records.filters import types_with
from quarry.records.intent import words_to_look_up
from quarry.records.prompts import followup_messages
from quarry.records.retrieval import Arm, coverages, latest_records
from quarry.records.tools import SearchToolset
from quarry.retrieval.facets import SearchTable


class FollowupQuestions(LazyModel):
    """Questions that a reader of the answer is likely to ask next."""

    questions: list[CleanText] = Field(
        description="Two or three short questions, each answerable from the same records."
    )


FOLLOWUPS_MIN, FOLLOWUPS_MAX = 2, 3
PART_STEMS_MIN = 2
"""A part of a record that is called by fewer significant words ("Findings") is named with the whole."""
TOPIC_CHARACTERS_MAX = 90
FOLLOWUP_CHARACTERS_MAX = 200
FOLLOWUP_COVERAGE_MIN = 0.6
"""A follow-up is offered where a record holds this share of what it says: the others would lead nowhere."""


async def suggest_followups(conversation: Conversation, answer: str, toolset: SearchToolset, facts: Facts) -> list[str]:
    """Two or three questions that the records can answer; after a count, those of the type that was counted."""
    counted = facts.counted.filters.get("types", ()) if facts.counted else ()
    if facts.counted and facts.counted.query and len(asked := _of_counts(facts.counted.query, counted, toolset)) > 1:
        return asked
    sources, pool = _found(toolset, counted)
    if not sources or (facts.is_all and facts.counted is None):
        return followups_about(await _latest_records(toolset, counted))
    step: ModelStep[str, FollowupQuestions] = ModelStep(
        "records_followups",
        lambda text: followup_messages(conversation.question, text, [record.topic or record.title for record in pool]),
        FollowupQuestions,
        lambda _: questions_about(conversation.question, sources, pool),
    )
    decided = await decide(step, answer, toolset.run)
    is_models = toolset.run.chat is not None and step.name not in toolset.run.degraded
    questions = await _answered(decided.questions, toolset) if is_models else decided.questions
    return await _filled_up(questions, conversation.question, toolset, counted)


def _of_counts(query: Query, types: Sequence[str], toolset: SearchToolset) -> list[str]:
    """After a count, other counts of the same type; none for a type that declares which question its records answer."""
    declared = {each.name for each in toolset.types if each.quoting.followup != Quoting().followup}
    table = next((toolset.reading.types.counted.get(name) for name in types if name not in declared), None)
    return counts_next(query, table) if table is not None else []


def counts_next(query: Query, table: SearchTable) -> list[str]:
    """Questions that divide what a query counted: by what it is filtered by, by month, and by its first number."""
    rows = plural(table.nouns[0])
    asked = {*(each.field for each in query.group), *(each.field for each in query.aggregate)}
    filtered = {each.field for each in comparisons_of(query.where)} - asked
    grouped = [facet.label for facet in table.facets if facet.name in filtered and facet.is_listed]
    measured = [
        facet.label
        for facet in table.facets
        if facet.is_measurable and facet.kind != "year" and facet.name not in asked
    ]
    return [
        *(f"How many {rows} are there for each {label}?" for label in grouped),
        *([f"How many {rows} are there each month?"] if table.date and not query.group else []),
        *(f"What is the average {label} of {rows}?" for label in measured),
    ][:FOLLOWUPS_MAX]


def _found(toolset: SearchToolset, types: Sequence[str]) -> tuple[list[EvidenceSource], list[RecordText]]:
    """The sources and all the records that were found, of these types or of any."""
    sources = [each for each in toolset.evidence.sources if not types or each.text.type in types]
    return sources, [each for each in toolset.pool.values() if not types or each.type in types]


async def models_followups(
    own: Sequence[str], conversation: Conversation, answer: str, toolset: SearchToolset, names: AbstractSet[str]
) -> list[str]:
    """Two or three questions that the records can answer: those that the model wrote with its answer where it did, else as
    `suggest_followups` gives them. One that speaks of a source or a field, by the stems of their `names`, can be queried.
    """
    if not own:
        return await suggest_followups(conversation, answer, toolset, Facts())
    held = await _answered(own, toolset)
    asked = [plain_links(shorten(question, FOLLOWUP_CHARACTERS_MAX)) for question in dict.fromkeys(own)]
    questions = [each for each in asked if each in held or not names.isdisjoint(significant_words(each))]
    return await _filled_up(questions, conversation.question, toolset)


async def _filled_up(
    questions: Sequence[str], question: str, toolset: SearchToolset, types: Sequence[str] = ()
) -> list[str]:
    """At most three of the questions, filled up to two with others that records of these types, or of any, can answer."""
    found = dict.fromkeys(questions)
    if len(found) < FOLLOWUPS_MIN:
        asked = await off_loop(questions_about, question, *_found(toolset, types))
        found |= dict.fromkeys(asked.questions)
    if len(found) < FOLLOWUPS_MIN:
        found |= dict.fromkeys(followups_about(await _latest_records(toolset, types)))
    return [*found][:FOLLOWUPS_MAX]


async def _answered(questions: Sequence[str], toolset: SearchToolset) -> list[str]:
    """Those that some record which is searched here holds most words of; none where that cannot be looked up in time."""
    asked = [plain_links(shorten(question, FOLLOWUP_CHARACTERS_MAX)) for question in dict.fromkeys(questions)]
    given = [*toolset.scope.dated, *toolset.scope.facets]
    types = types_with(toolset.scope.facets, toolset.types)
    arms = [Arm(each, words_to_look_up(question), given) for question in asked for each in types]
    try:
        async with in_time(toolset.run.budget.seconds_left):
            held = await coverages(toolset.services.reader, arms)
    except (TimeIsUp, *UNREADABLE):
        return []
    return [question for question in asked if held.get(words_to_look_up(question), 0.0) >= FOLLOWUP_COVERAGE_MIN]


async def _latest_records(toolset: SearchToolset, types: Sequence[str] = ()) -> list[RecordText]:
    """The latest records of these types, or of what is searched here, which the next question keeps to; nothing where that cannot
    be looked up in time: the answer is given already.
    """
    given = [*toolset.scope.dated, *toolset.scope.facets]
    among = types_with(given, toolset.types)
    try:
        async with in_time(toolset.run.budget.seconds_left):
            return await latest_records(
                toolset.services.reader,
                toolset.reading.types,
                FOLLOWUPS_MAX,
                among=[each for each in among if each.name in types] or among,
                given=given,
            )
    except (TimeIsUp, *UNREADABLE):
        return []


def questions_about(
    question: str, asked_sources: Sequence[EvidenceSource], pool: Sequence[RecordText]
) -> FollowupQuestions:
    """Questions about records that were found but not used, so that each has an answer."""
    used = {source.text.key for source in asked_sources}
    own = set(significant_words(question))
    fresh = [text for text in pool if text.key not in used] + [source.text for source in asked_sources]
    questions: dict[str, None] = {}
    kinds: Counter[tuple[str, str]] = Counter()
    for text in fresh:
        candidate = question_about(text)
        if candidate is None or len(set(significant_words(candidate)) - own) < 1:
            continue
        kind, topic = (text.type, text.topic or text.title)
        if kinds[kind, ""] or kinds["", topic] > 1:
            continue
        kinds[kind, ""] += 1
        kinds["", topic] += 1
        questions[candidate] = None
        if len(questions) == FOLLOWUPS_MAX:
            break
    return FollowupQuestions(questions=list(questions))


def followups_about(records: Sequence[RecordText]) -> list[str]:
    """Questions about records that exist, for when nothing was found. Of a single record there are two."""
    asked = list(dict.fromkeys(question for record in records if (question := question_about(record))))
    if len(asked) < FOLLOWUPS_MIN:
        asked += [f"Which records mention {_topic(called(record))}?" for record in records[:FOLLOWUPS_MIN]]
    return list(dict.fromkeys(asked))


def question_about(text: RecordText) -> str | None:
    """What the record can answer; None where a question would name its author or topic, and it has none."""
    asked = text.quoting.followup
    if "{author}" in asked and not (text.author and text.topic):
        return None
    whole, _, part = text.title.partition(": ")
    if part and len(significant_words(part)) < PART_STEMS_MIN:
        part = f"{part} ({whole})"
    return asked.format(topic=_topic(called(text)), title=_topic(part or called(text)), author=text.author)


def _topic(title: str) -> str:
    return shorten(title.strip().rstrip(".?!"), TOPIC_CHARACTERS_MAX)
