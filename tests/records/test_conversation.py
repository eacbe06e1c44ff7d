"""What a follow-up question means in its conversation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quarry.platform.text import QUERY_MAX_CHARACTERS
from quarry.records.answer import resolve_conversation
from quarry.records.contract import PriorTurn

ELM = PriorTurn(question="Why was the elm kept?", answer="An arborist found the tree sound; the vote was 7–2.")
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=50)


def test_context_without_a_question_is_searched_by_its_answer() -> None:
    assert (
        resolve_conversation("Why?", [PriorTurn(question="", answer="The elm stays.")]).search_query
        == "Why? The elm stays."
    )


@given(
    st.text(min_size=1, max_size=QUERY_MAX_CHARACTERS),
    st.lists(st.builds(PriorTurn, question=TEXT, answer=TEXT), max_size=5),
)
def test_what_is_searched_begins_with_the_question_and_is_never_too_long(
    question: str, history: list[PriorTurn]
) -> None:
    conversation = resolve_conversation(question, history)
    assert conversation.search_query.startswith(question)
    assert len(conversation.search_query) <= QUERY_MAX_CHARACTERS
    assert not (conversation.topic_changed and conversation.history)
