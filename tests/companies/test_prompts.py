"""What a model is told: companies' own texts are data in blocks that they cannot close."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from quarry.companies.contract import ChatRequest
from quarry.companies.prompts import (
    HISTORY_CHARACTERS_MAX,
    SummaryEntry,
    SummaryInputs,
    critique_messages,
    nothing_found,
    plan_messages,
    rerank_messages,
    summary_by_rule,
    summary_messages,
)
from quarry.companies.state import CompanyQuestion, NearMiss, Plan, State
from quarry.models.interface import Message
from tests.companies.factories import company, entry, plan

TEXT = st.text(st.sampled_from('</candidates>companies"\n{}ab'), max_size=60) | st.text(max_size=60)
TAG = re.compile(r"</?[a-z_]+>")


def asking(*texts: str, **beside: object) -> ChatRequest:
    messages = [{"role": "user", "content": text} for text in texts]
    return ChatRequest.model_validate({"messages": messages} | beside)


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
    ranking = rerank_messages("weeds", plan(), [entry(made), entry(made)], made, [text])
    assert blocks_of(ranking) == pairs("candidates", "seed_company", "wanted")
    state = State(
        CompanyQuestion(),
        plan=Plan(plan()),
        tried=(text,),
        fitting=[entry(made), entry(made)],
        near_misses=[NearMiss(made, [text])],
        confidence=0.5,
        best_before=[made.id],
        rounds=1,
    )
    critique = critique_messages("weeds", state, 0.74, [text])
    assert blocks_of(critique) == pairs("best", "rejected", "filters", "already_searched")
    summary = summary_messages(
        SummaryInputs("weeds", [SummaryEntry(made, text, 0.5)], made, demands=[text], missing=[text])
    )
    assert blocks_of(summary) == pairs("companies", "seed_company")
    shown = {"previousCandidateIds": [made.id]}
    planning = plan_messages(asking("x", "weeds", clientContext=shown), made, [text], text)
    assert blocks_of(planning) == pairs("tags", "conversation", "previous_results", "seed_company", "already_searched")


def test_of_a_long_conversation_the_last_six_messages_are_told_in_short() -> None:
    _, user = plan_messages(asking(*(f"number {place} " + "x " * 5000 for place in range(20)), "Weeds?"))
    [told] = re.findall(r"<conversation>\n(.*)\n</conversation>", user.content, re.DOTALL)
    assert [f"number {place}" in told for place in (13, 14, 19)] == [False, True, True]
    assert len(told) <= HISTORY_CHARACTERS_MAX + 100


def test_only_what_is_likely_meant_is_said_to_fit() -> None:
    sure, near = (company(name.lower(), name) for name in ("Sure", "Near"))
    entries = [SummaryEntry(sure, "", 0.9), SummaryEntry(near, "", 0.3)]
    assert "Near comes near too." in "".join(summary_by_rule(SummaryInputs("weeds", entries)))
    unsure = "".join(summary_by_rule(SummaryInputs("weeds", entries[1:])))
    assert "Near comes nearest: " in unsure
    assert " fit" not in unsure


def test_a_word_that_no_profile_has_does_not_make_conditions_unmet() -> None:
    said = nothing_found(
        SummaryInputs("q", [], demands=["in Sweden"], absent_words=["yodel"], relaxations=[("in Sweden", 9)])
    )
    assert "Sweden" not in said
    assert "No profile here mentions “yodel”." in said
