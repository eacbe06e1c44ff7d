"""What to ask next: questions that the records which are searched can answer."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from quarry.models.step import ModelStep, decide
from quarry.platform.budget import in_time
from quarry.platform.errors import TimeIsUp
from quarry.platform.links import plain_links
from quarry.platform.off_loop import off_loop
from quarry.platform.text import shorten, significant_words
from quarry.postgres.faults import UNREADABLE
from quarry.records import fallbacks
from quarry.records.candidates import RecordText
from quarry.records.conversation import Conversation
from quarry.records.facts import Facts
from quarry.records.filters import types_with
from quarry.records.intent import words_to_look_up
from quarry.records.outputs import FollowupQuestions
from quarry.records.prompts import followup_messages
from quarry.records.retrieval import Arm, coverages, latest_records
from quarry.records.tools import SearchToolset

FOLLOWUPS_MIN = 2
FOLLOWUP_CHARACTERS_MAX = 200
FOLLOWUP_COVERAGE_MIN = 0.6
"""A follow-up is offered where a record holds this share of what it says: the others would lead nowhere."""


async def suggest_followups(conversation: Conversation, answer: str, toolset: SearchToolset, facts: Facts) -> list[str]:
    """Two or three questions that the records can answer."""
    sources, pool = toolset.evidence.sources, list(toolset.pool.values())

    def fallback(_: str) -> FollowupQuestions:
        return fallbacks.suggest_followups(conversation.question, sources, pool)

    if not sources or (facts.is_all and facts.counted is None):
        return fallbacks.followups_about(await _latest_records(toolset))
    step = ModelStep(
        "records_followups",
        lambda text: followup_messages(conversation.question, text, [record.topic or record.title for record in pool]),
        FollowupQuestions,
        fallback,
    )
    decided = await decide(step, answer, toolset.run)
    is_models = toolset.run.chat is not None and step.name not in toolset.run.degraded
    questions = await _answered(decided.questions, toolset) if is_models else decided.questions
    if len(questions) < FOLLOWUPS_MIN:
        more = await off_loop(fallback, answer)
        questions = list(dict.fromkeys([*questions, *more.questions]))
    if len(questions) < FOLLOWUPS_MIN:
        questions = list(dict.fromkeys([*questions, *fallbacks.followups_about(await _latest_records(toolset))]))
    return questions[: fallbacks.FOLLOWUPS_MAX]


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
    if len(questions) < FOLLOWUPS_MIN:
        sources, pool = toolset.evidence.sources, list(toolset.pool.values())
        more = await off_loop(fallbacks.suggest_followups, conversation.question, sources, pool)
        questions = list(dict.fromkeys([*questions, *more.questions]))
    return questions[: fallbacks.FOLLOWUPS_MAX]


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


async def _latest_records(toolset: SearchToolset) -> list[RecordText]:
    """The latest records of what is searched here, which the next question keeps to; nothing where that cannot be looked up in
    time: the answer is given already.
    """
    given = [*toolset.scope.dated, *toolset.scope.facets]
    try:
        async with in_time(toolset.run.budget.seconds_left):
            return await latest_records(
                toolset.services.reader,
                toolset.reading.types,
                fallbacks.FOLLOWUPS_MAX,
                among=types_with(given, toolset.types),
                given=given,
            )
    except (TimeIsUp, *UNREADABLE):
        return []
