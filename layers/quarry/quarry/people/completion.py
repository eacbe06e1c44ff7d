"""People as a model of chat completions. Every answer is one search, and costs a credit."""

from __future__ import annotations

from collections.abc import Iterator

from quarry.agent.completions import Chat, ChatAnswer
from quarry.language.messages import gettext, ngettext, writing
from quarry.people.contract import FALLBACK_TIERS, PeopleSearchRequest, PeopleSearchResponse, PersonResult
from quarry.people.search import search_people
from quarry.platform.text import shorten

LINE_CHARACTERS_MAX = 300


async def answer(chat: Chat) -> ChatAnswer:
    """The people found, with reasons and without contact details. Raises what `search_people` raises."""
    found = await search_people(
        PeopleSearchRequest(query=chat.question),
        chat.caller,
        chat.services,
        idempotency_key=chat.idempotency_key,
        request_id=chat.request_id,
        run_id=chat.run_id,
    )
    return _answer(found)


async def _answer(found: PeopleSearchResponse) -> ChatAnswer:
    for piece in in_words(found):
        yield piece


def in_words(found: PeopleSearchResponse) -> Iterator[str]:
    """The answer in Markdown, one piece for each person."""
    count = len(found.people)
    if count:
        yield ngettext("{number} person, best first.", "{number} people, best first.", count)
    else:
        yield found.notice or gettext("Nobody fits.")
    if count and found.fallback_tier:
        yield " " + gettext("Too few fit exactly: {tier}.", tier=gettext(FALLBACK_TIERS[found.fallback_tier]))
    for place, person in enumerate(found.people, start=1):
        yield "\n\n" + "\n".join(_lines(place, person))
    if found.relaxations:
        yield "\n\n" + gettext("With one condition less:") + "\n\n"
        yield "\n".join(
            "- "
            + gettext(
                "{label}: {number} more", label=_one_line(each.label), number=writing().number(each.additional_people)
            )
            for each in found.relaxations
        )
    if found.charged:
        text = gettext(
            "Search {id}, for one credit. Contact details are unlocked in Quarry itself.", id=found.search_id
        )
        yield f"\n\n{text}"


def _lines(place: int, person: PersonResult) -> Iterator[str]:
    headline = f": {_one_line(person.headline)}" if person.headline else ""
    yield f"{place}. **{_one_line(person.name or person.id)}**{headline}"
    for reason in person.why_matched:
        yield f"   - {_one_line(reason)}"
    if person.misses:
        yield "   - " + gettext("Does not meet: {conditions}", conditions=_one_line("; ".join(person.misses)))


def _one_line(text: str) -> str:
    return shorten(text, LINE_CHARACTERS_MAX)
