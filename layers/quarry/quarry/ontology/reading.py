"""Reads a query on a workspace: the conditions it likely states, and the words left to search for."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from quarry.agent.reading import read_over
from quarry.agent.sources import Asked
from quarry.ontology.contract import EntityType
from quarry.ontology.facets import SEARCHED_BY_TYPE
from quarry.ontology.sources import SCHEMA, settings_of
from quarry.platform.off_loop import off_loop
from quarry.query.algebra import Condition
from quarry.reader.names import SourceName
from quarry.reader.reading import LikelyCondition, Reading, likely_conditions, ruled_out, words_left
from quarry.services.services import Caller, Services

LIKELY = 0.5
"""Probability from which a condition must hold; below it, its words are searched for."""
WHOLE = 0.9
"""Likeness from which words are a name."""
SAID_MIN = 0.5
"""A value filters only if the query contains more than this share of its words."""
PREFERRED = 0.2
"""Probability from which entities that meet a condition come first."""
_ABSENCE = frozenset(("is_null", "not_null"))
_DOMAIN = "ontology"


@dataclass(frozen=True)
class Sought:
    """What a query seeks: entities that meet all conditions of `where`, of these `types` if any; those that meet `preferred`
    come first; found by the words of `text`.
    """

    text: str
    where: tuple[Condition, ...] = ()
    preferred: tuple[Condition, ...] = ()
    types: tuple[EntityType, ...] = ()


async def read_sought(query: str, types: Sequence[EntityType], caller: Caller, services: Services) -> Sought:
    """Reads what a query seeks among the caller's entities of these types. Raises DatabaseUnavailable."""
    names: list[str] = [*dict.fromkeys(types)] or [*SCHEMA.sources]
    asked = Asked(SCHEMA, caller, settings_of(caller), {name: (_DOMAIN, name) for name in names})
    today = datetime.datetime.now(datetime.UTC).date()
    return await off_loop(sought, await read_over(query, names, asked, services, today))


def sought(reading: Reading) -> Sought:
    """What a question seeks, from its reading."""
    said, likely = reading.said, likely_conditions(reading)
    required = [each for each in likely if _is_required(each, reading)]
    narrowing = [each for each in required if not each.is_denied]
    type, type_mask = _named_type(reading)
    mask = type_mask
    for each in required:
        mask |= each.mask
    text = words_left(said, mask)
    if not required or (text and not narrowing):
        # an exclusion alone leaves nearly everything, so the search by words excludes it
        return Sought(with_exclusions(reading))
    preferred = tuple(each.condition for each in likely if each not in required and _is_preferred(each, required))
    return Sought(text, tuple(each.condition for each in required), preferred, (type,) if type else ())


def _is_required(each: LikelyCondition, reading: Reading) -> bool:
    """Whether a condition is likely enough to leave out entities that do not meet it."""
    if each.chance < LIKELY or each.said <= SAID_MIN or (each.ops & _ABSENCE and reading.verdict == "refused"):
        return False
    if each.ops & {"contains"} or (each.mask & _type_words(reading) and reading.verdict == "refused"):
        return False  # words are searched for, and "plan" rarely means the status "planned"
    facets = SEARCHED_BY_TYPE["task"].by_name
    # the name of an entity's type may also be in its text
    return each.ops != {"not_null"} and all(name not in facets or facets[name].is_hard for name in each.fields)


def _type_words(reading: Reading) -> int:
    """The words that name types, as bits."""
    mask = 0
    for named, places in reading.said.named.items():
        if isinstance(named, SourceName) and places[0].likeness >= WHOLE:
            mask |= places[0].mask
    return mask


def _is_preferred(each: LikelyCondition, required: Sequence[LikelyCondition]) -> bool:
    taken = {name for other in required for name in other.fields}
    return each.chance >= PREFERRED and not (each.ops & _ABSENCE or each.fields & taken)


def _named_type(reading: Reading) -> tuple[EntityType | None, int]:
    """The type that a question likely asks for by name, with the words that name it."""
    chances: dict[str, float] = {}
    for candidate, chance in reading.shares:
        name = candidate.query["source"]
        chances[name] = chances.get(name, 0.0) + chance
    for named, places in reading.said.named.items():
        if isinstance(named, SourceName) and chances.get(named.name, 0.0) >= LIKELY:
            return cast("EntityType", named.name), places[0].mask
    return None, 0


def with_exclusions(reading: Reading) -> str:
    """The text of a question, with each value that it likely rules out written as an exclusion; unchanged if there is none."""
    said, kept, last = reading.said, list[str](), 0
    excluded = sorted(ruled_out(reading, LIKELY), key=lambda each: each.place.first)
    for value in excluded:
        start, end = said.tokens[value.place.first].start, said.tokens[value.place.last - 1].end
        kept.append(said.text[last:start].strip())
        last = end
    # a quotation mark would end the exclusion
    values = dict.fromkeys(link.value.replace('"', " ") for each in excluded for link in each.links)
    return " ".join(filter(None, (*kept, said.text[last:].strip(), *(f'-"{value}"' for value in values))))
