"""What to ask next after an answer that a model wrote: the questions that it wrote itself, as far as the data can answer them."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar

from pydantic import Field

from quarry.language.word_forms import is_asked_in_english
from quarry.models.step import ModelStep, decide
from quarry.platform.budget import in_time
from quarry.platform.errors import TimeIsUp
from quarry.platform.lazy_model import LazyModel
from quarry.platform.links import plain_links
from quarry.platform.text import CleanText, shorten, significant_words
from quarry.postgres.failures import UNREADABLE
from quarry.records.finding import SearchToolset
from quarry.records.prompts import followup_messages
from quarry.records.reading import words_to_look_up
from quarry.records.retrieval import Arm, coverages
from quarry.records.scope import types_with

FOLLOWUPS_MAX = 3
FOLLOWUP_CHARACTERS_MAX = 200
FOLLOWUP_COVERAGE_MIN = 0.6
"""A follow-up is offered where a record holds this share of its words: the others would find nothing."""


class FollowupQuestions(LazyModel):
    """Questions that a reader of the answer is likely to ask next."""

    TOKENS_MAX: ClassVar[int] = 300

    questions: list[CleanText] = Field(
        json_schema_extra={"maxItems": FOLLOWUPS_MAX},
        description="Two or three short questions, each answerable from the same records.",
    )


async def followups_of(
    own: Sequence[str], question: str, answer: str, toolset: SearchToolset, names: AbstractSet[str]
) -> list[str]:
    """At most three questions that the records can answer: those that the model wrote with its answer, else those that it is
    asked for now; none where that fails, and none in another language than the question. One that speaks of a source or a field,
    by the stems of their `names`, can be queried.
    """
    if not own:
        topics = [record.topic or record.title for record in toolset.pool.values()]
        step: ModelStep[str, FollowupQuestions] = ModelStep(
            "records_followups",
            lambda text: followup_messages(question, text, topics),
            FollowupQuestions,
            lambda _: FollowupQuestions(questions=[]),
        )
        own = (await decide(step, answer, toolset.run)).questions
    said = [plain_links(shorten(each, FOLLOWUP_CHARACTERS_MAX)) for each in dict.fromkeys(own)]
    asked = [each for each in said if is_asked_in_english(each) == is_asked_in_english(question)]
    held = await _held(asked, toolset)
    return [each for each in asked if each in held or not names.isdisjoint(significant_words(each))][:FOLLOWUPS_MAX]


async def _held(asked: Sequence[str], toolset: SearchToolset) -> set[str]:
    """The questions whose words a searched record mostly holds; none where the look-up fails or takes too long."""
    types = types_with(toolset.scope.facets, toolset.types)
    arms = [Arm(each, words_to_look_up(question), toolset.scope.given) for question in asked for each in types]
    if not arms:
        return set()
    try:
        async with in_time(toolset.run.budget.seconds_left):
            held = await coverages(toolset.services.reader, arms)
    except (TimeIsUp, *UNREADABLE):
        return set()
    return {question for question in asked if held.get(words_to_look_up(question), 0.0) >= FOLLOWUP_COVERAGE_MIN}
