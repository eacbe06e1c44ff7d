"""What a model is told: companies' own texts are data in blocks that they cannot close."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from quarry.companies.contract import ChatMessage
from quarry.companies.prompts import (
    HISTORY_CHARACTERS_MAX,
    CritiqueInputs,
    PlanInputs,
    RerankInputs,
    SummaryEntry,
    SummaryInputs,
    critique_messages,
    plan_messages,
    rerank_messages,
    summary_messages,
)
from quarry.models.interface import Message
from tests.companies.factories import company, entry, plan

TEXT = st.text(st.sampled_from('</candidates>companies"\n{}ab'), max_size=60) | st.text(max_size=60)
TAG = re.compile(r"</?[a-z_]+>")


def blocks_of(messages: list[Message]) -> list[str]:
    """The tags in what is told, in order."""
    [system, user] = messages
    assert (system.role, user.role) == ("system", "user")
    return TAG.findall(user.content)


def pairs(*names: str) -> list[str]:
    return [tag for name in names for tag in (f"<{name}>", f"</{name}>")]


@given(TEXT, TEXT, TEXT)
def test_no_text_of_a_company_can_close_its_block(name: str, text: str, niche: str) -> None:
    made = company(
        text[:9] or "c", name, tagline=text, description=text, niches=[niche], former_names=[name], hq_city=text
    )
    ranking = rerank_messages(RerankInputs("weeds", plan(), [entry(made), entry(made)], made, [text]))
    assert blocks_of(ranking) == pairs("candidates", "seed_company", "wanted")
    critique = critique_messages(
        CritiqueInputs(
            "weeds", plan(), 1, 1, [entry(made)], 0.5, 0.74, [made.id], [made.id], [text],
            demands=[text], rejected=[entry(made)], near=[(made, [text])],
        )
    )  # fmt: skip
    assert blocks_of(critique) == pairs("best", "rejected", "filters", "already_searched")
    summary = summary_messages(
        SummaryInputs("weeds", [SummaryEntry(made, text, 0.5)], made, demands=[text], missing=[text])
    )
    assert blocks_of(summary) == pairs("companies", "seed_company")
    planning = plan_messages(
        PlanInputs("weeds", [ChatMessage(role="user", content="x")], [made.id], made, [text], text)
    )
    assert blocks_of(planning) == pairs("tags", "conversation", "previous_results", "seed_company", "already_searched")


def test_of_a_long_conversation_the_last_six_messages_are_told_in_short() -> None:
    history = [ChatMessage(role="user", content=f"number {place} " + "x " * 5000) for place in range(20)]
    _, user = plan_messages(PlanInputs("Weeds?", history))
    [told] = re.findall(r"<conversation>\n(.*)\n</conversation>", user.content, re.DOTALL)
    assert [f"number {place}" in told for place in (13, 14, 19)] == [False, True, True]
    assert len(told) <= HISTORY_CHARACTERS_MAX + 100
