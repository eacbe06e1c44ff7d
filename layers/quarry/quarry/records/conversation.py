"""A follow-up question in the light of what was asked before. The client holds the conversation; nothing is stored."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from quarry.platform.text import QUERY_MAX_CHARACTERS, significant_words, words
from quarry.records.contract import PriorTurn

STANDALONE_WORDS_MIN = 4
"""A question with fewer words of its own leans on the previous one."""
NEW_WORDS_MIN = 2
"""So many words that were not said before make a topic, where few others were: an answer says many words by the way."""

_DEFINITE = re.compile(r"\b(?:the|this|that|these|those|its?|they|them|their|he|him|his|she|hers?)\b", re.IGNORECASE)
"""What refers to something that is known already."""
_POINTING_BACK = frozenset({"it", "this", "that", "these", "those", "them", "him", "her"})
"""A question that ends in one of these asks of what was said: "who voted against it?"."""
_PRONOUNS = _POINTING_BACK | {"they", "he", "she", "its", "their", "his"}
"""A question with one of these and a single word of its own does so too: "what did it cost?"."""


@dataclass(frozen=True)
class Conversation:
    """A question in its place. `history` is what still matters; `search_query` is what to search for, so that "who was
    against it?" finds the same thing.
    """

    question: str
    history: Sequence[PriorTurn]
    topic_changed: bool
    search_query: str


def take_up(question: str, history: Sequence[PriorTurn], *, stays: bool = False) -> Conversation:
    """Place `question` in its conversation. `stays`: it is known to go on.

    A question that shares no significant word with the history starts a new topic and forgets the history; so does one that
    shares few, none of them asked about before, and refers to nothing known. One without any significant word of its own
    ("why?") cannot, nor can one that ends in a pronoun ("who moved it?") or has one beside a single such word ("what did it
    cost?").
    """
    own = set(significant_words(question))
    if history and own and not stays and _is_new(question, own, history):
        return Conversation(question, (), topic_changed=True, search_query=question)
    search_query = question
    if history and len(own) < STANDALONE_WORDS_MIN:
        previous = history[-1].question or history[-1].answer
        search_query = f"{question} {previous}"[:QUERY_MAX_CHARACTERS]
    return Conversation(question, tuple(history), topic_changed=False, search_query=search_query)


def _is_new(question: str, own: Set[str], history: Sequence[PriorTurn]) -> bool:
    said = words(question)
    if said[-1] in _POINTING_BACK or (len(own) == 1 and not _PRONOUNS.isdisjoint(said)):
        return False
    asked = {word for turn in history for word in significant_words(turn.question)}
    answered = {word for turn in history for word in significant_words(turn.answer)}
    shared = own & (asked | answered)
    if not shared or not asked or own & asked or _DEFINITE.search(question):
        return not shared
    return len(own - shared) >= max(NEW_WORDS_MIN, 2 * len(shared))
