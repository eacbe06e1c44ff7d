"""A follow-up question in the light of what was asked before. The client holds the conversation; nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quarry.core.text import QUERY_MAX_CHARACTERS, significant_words
from quarry.records.contract import PriorTurn

STANDALONE_WORDS_MIN = 4
"""A question with fewer words of its own leans on the previous one."""


@dataclass(frozen=True)
class Conversation:
    """A question in its place. `history` is what still matters; `search_query` is what to search for, so that "who was
    against it?" finds the same thing.
    """

    question: str
    history: Sequence[PriorTurn]
    topic_changed: bool
    search_query: str


def take_up(question: str, history: Sequence[PriorTurn]) -> Conversation:
    """Place `question` in its conversation.

    A question that shares no significant word with the history starts a new topic and forgets the history; one without any
    significant word of its own ("why?") cannot.
    """
    own = set(significant_words(question))
    said = {word for turn in history for word in significant_words(f"{turn.question} {turn.answer}")}
    if history and own and not own & said:
        return Conversation(question, (), topic_changed=True, search_query=question)
    search_query = question
    if history and len(own) < STANDALONE_WORDS_MIN:
        previous = history[-1].question or history[-1].answer
        search_query = f"{question} {previous}"[:QUERY_MAX_CHARACTERS]
    return Conversation(question, tuple(history), topic_changed=False, search_query=search_query)
