"""Whether the records that were found answer a question."""

from __future__ import annotations

from quarry.platform.off_loop import off_loop
from quarry.records import fallbacks
from quarry.records.absence import answerability, is_met, names_held_by_none
from quarry.records.facts import Facts
from quarry.records.intent import is_asked
from quarry.records.tools import Searched, SearchToolset
from quarry.records.untold import untold


async def facts_of(query: str, first: Searched, toolset: SearchToolset) -> Facts:
    """That the records do not hold what was asked for, or what they may not answer. Raises DatabaseUnavailable."""
    services, reading = toolset.services, toolset.reading
    if not first.ranked or "query_embedding" in toolset.run.degraded:
        return Facts(authors=reading.authors, chance=1.0 if first.ranked else 0.0)
    meets = await is_met(services.reader, reading, first.ranked, toolset.types)
    asks = is_asked(query)
    with toolset.run.step("records_answerability"):
        names = await names_held_by_none(services.reader, reading, toolset.types)
        told = await answerability(
            services, query, first.ranked, reading, toolset.types, meets=meets, has_values=bool(toolset.scope.facets)
        )
    if asks and (names or (told.is_refused and not told.is_held)):
        return Facts(fallbacks.nothing_held(names or told.missing, first.sources), is_all=True)
    seen: str | None = fallbacks.lacking(names)
    if not seen and told.is_doubtful and told.missing:
        seen = fallbacks.lacking(told.missing)
    elif not seen and asks and not told.is_listed:
        seen = await off_loop(untold, query, first.sources, reading.authors)
        is_apart = seen is None and told.is_doubtful and len(told.apart) > 1
        seen = fallbacks.lacking((), told.apart) if is_apart else seen
    is_doubtful = told.is_doubtful and not (told.is_held and not seen)
    doubt = seen or (fallbacks.ONLY_NEAREST if is_doubtful else "")
    return Facts(
        authors=reading.authors,
        doubt=doubt,
        lacking=seen or "",
        is_listed=told.is_listed,
        chance=told.probability,
    )
