"""A question that asks to reckon with a column of text that is almost a number is told what stands in the way."""

from __future__ import annotations

from quarry.agent.near_numbers import is_plain_text, not_numbers
from quarry.agent.sources import what_may_be_asked
from quarry.language.stemming import stem
from quarry.platform.text import words
from quarry.records.begun import Begun
from quarry.records.facts import Facts
from quarry.records.searched_types import BUILT_IN
from quarry.spans.mention import AskedFor

_RECKONING: frozenset[AskedFor] = frozenset({"average", "total", "largest", "smallest", "measure", "statistic"})


async def near_number_asked_for(begun: Begun) -> Facts | None:
    """What is known of the column that the question names, where that is text which is almost numbers: if it asks to reckon with
    it, or if nothing was found.

    Raises DatabaseUnavailable.
    """
    reading = begun.toolset.reading
    declared = [name for name in reading.types if name not in BUILT_IN]
    if not declared or (begun.toolset.evidence.sources and reading.asked.isdisjoint(_RECKONING)):
        return None
    said = {stem(token.key) for token in reading.parsed.tokens}
    asked = await what_may_be_asked(begun.caller, begun.services)
    reader = asked.acting(begun.services).reader
    sources = [asked.schema.sources[name] for name in declared if name in asked.schema.sources]
    named = (
        (source, field)
        for source in sources
        for field in source.fields.values()
        if is_plain_text(field) and {stem(word) for word in words(field.label)} <= said
    )
    for source, field in named:
        if reason := await not_numbers(source, field, reader):
            return Facts(f"The {field.label} of {source.label} is text. {reason}.", is_all=True)
    return None
