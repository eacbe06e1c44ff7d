"""The first step: is a company named, and is it that one or others like it that are wanted?"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace

from quarry.companies.anchors import asks_for_facts, is_about
from quarry.companies.contract import STATUSES, Company, Status
from quarry.companies.facets import COMPANIES
from quarry.companies.found import NameMatch
from quarry.companies.query import STATUS, Sought, as_companies, names_said, sought
from quarry.companies.retrieval import companies_by_ids, find_names, stored_vectors
from quarry.companies.snippets import profile_words
from quarry.companies.standins import anchor_variants
from quarry.companies.state import SearchState
from quarry.core.off_loop import off_loop
from quarry.core.retrieval.reading import Reading, read_question
from quarry.core.text import QUERY_MAX_CHARACTERS, significant_words


async def look_for_names(state: SearchState) -> str:
    """Find the companies that the question names. One that is meant outright ends the search; else it may be the anchor.

    Only companies of the statuses that the question names are looked for. But an anchor may be of any, and who asks whether a
    company was acquired does not know.
    """
    names, similar = state.names.names, state.names.similar
    reading = await _read(state)
    state.sought = sought(reading)
    if not similar and (said := names_said(reading)):
        names = tuple(dict.fromkeys((*names, *said)))
        state.names = replace(state.names, whole=tuple(dict.fromkeys((*state.names.whole, *said))))
    of_any_status = similar or not state.sought.names_status or asks_for_facts(state.question)
    state.matches = await match_names(state, names, STATUSES if of_any_status else statuses_of(state.sought))
    with state.run.step("anchor_precheck") as record:
        if similar:
            named = [match for match in state.matches if match.name_score >= state.limits.anchor_name_min]
        else:
            named = state.exact = _meant(state)
        record.counts.update(names=len(names), matches=len(state.matches), named=len(named))
    if not named:
        return "no company of such a name" if not state.matches else f"no, but {state.matches[0].company_name} is near"
    companies = await look_up(state, [match.company_id for match in named])
    if similar:
        await off_loop(_choose_anchor, state, named, companies)
        state.sought = await off_loop(sought, reading, [match.asked for match in named])
        if state.anchor is not None:
            state.seed_vectors = await stored_vectors(state.services.database, state.anchor.id)
    else:
        state.end_reason = "exact_match"
    return " and ".join(dict.fromkeys(match.company_name for match in named if match.company_id in state.companies))


async def _read(state: SearchState) -> Reading:
    earlier = [message.content[:QUERY_MAX_CHARACTERS] for message in state.request.history if message.role == "user"]
    return await read_question(
        state.services.database,
        COMPANIES,
        state.question,
        today=datetime.datetime.now(datetime.UTC).date(),
        earlier=earlier,
        adapt=as_companies,
    )


def statuses_of(sought: Sought) -> list[Status]:
    """The statuses that the question names."""
    named = {value for clause in sought.clauses for each in clause if each.facet == STATUS for value in each.values}
    return [status for status in STATUSES if status in named]


async def match_names(state: SearchState, names: Sequence[str], statuses: Sequence[Status]) -> list[NameMatch]:
    """The companies with one of these names or one like it, best first."""
    if not names:
        return []
    with state.run.step("search_exact_name_v1") as record:
        state.run.budget.spend_call()
        matches = await find_names(state.services.database, names, statuses, scoring=state.limits.scoring)
        record.counts.update(names=len(names), found=len(matches))
    return matches


async def look_up(state: SearchState, ids: Sequence[str]) -> list[Company]:
    """The whole companies of these ids, in order. Those known already are not asked for again."""
    unknown = [id for id in ids if id not in state.companies]
    if unknown:
        with state.run.step("get_companies_by_ids_v1") as record:
            state.run.budget.spend_call()
            found = await companies_by_ids(state.services.database, unknown)
            record.counts.update(ids=len(unknown), found=len(found))
        state.companies.update((company.id, company) for company in found)
    return [state.companies[id] for id in ids if id in state.companies]


def _meant(state: SearchState) -> list[NameMatch]:
    """The matches that the question is about: the whole of it is their name, or all that it says beside asks about them."""
    exact = [match for match in state.matches if match.name_score >= state.limits.exact_name_min]
    asked = list(dict.fromkeys(match.asked for match in exact))
    whole = [name for name in asked if name in state.names.whole]
    if whole:
        return [match for match in exact if match.asked == whole[0]]
    return exact if asked and is_about(state.question, asked) else []


def _choose_anchor(state: SearchState, named: Sequence[NameMatch], companies: Sequence[Company]) -> None:
    """Of several companies of the best score, the one that shares most words with the question."""
    asked = set(significant_words(state.question))
    scores = {match.company_id: match.name_score for match in named}
    with state.run.step("anchor_context") as record:
        state.anchor = max(
            companies,
            key=lambda company: (
                scores[company.id],
                len(asked & profile_words(company)),
                company.status == "startup",
            ),
            default=None,
        )
        record.counts.update(
            companies=len(companies), variants=len(anchor_variants(state.anchor)) if state.anchor else 0
        )
