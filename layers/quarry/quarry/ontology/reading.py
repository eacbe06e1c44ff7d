"""Reads a query over a workspace: the likely conditions, and the remaining words to search for."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from quarry.agent.reading import read_over
from quarry.agent.sources import DataAccess
from quarry.ontology.contract import EntityType
from quarry.ontology.facets import SEARCHED_BY_TYPE
from quarry.ontology.sources import SCHEMA, settings_of
from quarry.query.algebra import Condition
from quarry.reader.names import SourceName
from quarry.reader.reading import LikelyCondition, Reading, likely_conditions, ruled_out, words_left
from quarry.services.services import Caller, Services

LIKELY = 0.5
"""The least probability of a required condition; the words of a less likely one are searched for."""
WHOLE = 0.9
"""The least likeness of words to a name."""
SAID_MIN = 0.5
"""More than this share of a value must be said for a condition to be required."""
PREFERRED = 0.2
"""The least probability of a preferred condition."""
_ABSENCE = frozenset(("is_null", "not_null"))
_DOMAIN = "ontology"


@dataclass(frozen=True)
class WorkspaceIntent:
    """What a query seeks: entities that meet all conditions in `where`, of these `types` if it names any, found by the words of
    `text`; those that meet `preferred` conditions come first.
    """

    text: str
    where: tuple[Condition, ...] = ()
    preferred: tuple[Condition, ...] = ()
    types: tuple[EntityType, ...] = ()


def access_of(types: Sequence[EntityType], caller: Caller) -> DataAccess:
    """The caller's entities of these types, or of all, as sources."""
    names: list[str] = [*dict.fromkeys(types)] or [*SCHEMA.sources]
    return DataAccess(SCHEMA, caller, settings_of(caller), {name: (_DOMAIN, name) for name in names})


async def read_query(
    query: str, types: Sequence[EntityType], caller: Caller, services: Services, before: str = ""
) -> Reading:
    """How a query over the caller's entities of these types is read, after the one `before`. Raises DatabaseUnavailable."""
    access, today = access_of(types, caller), datetime.datetime.now(datetime.UTC).date()
    earlier = await read_over(before, [*access.homes], access, services, today) if before else None
    return await read_over(query, [*access.homes], access, services, today, earlier)


def intent(reading: Reading) -> WorkspaceIntent:
    """What a question seeks, from its reading."""
    mentions, likely = reading.mentions, likely_conditions(reading)
    required = [each for each in likely if _is_required(each, reading)]
    narrowing = [each for each in required if not each.is_denied]
    type, type_mask = _named_type(reading)
    mask = type_mask
    for each in required:
        mask |= each.mask
    text = words_left(mentions, mask)
    if not required or (text and not narrowing):
        # exclusions alone leave nearly everything: the search by words applies them
        return WorkspaceIntent(with_exclusions(reading))
    preferred = tuple(each.condition for each in likely if each not in required and _is_preferred(each, required))
    return WorkspaceIntent(text, tuple(each.condition for each in required), preferred, (type,) if type else ())


def _is_required(each: LikelyCondition, reading: Reading) -> bool:
    """Whether a condition is likely enough to be required."""
    if each.chance < LIKELY or each.stated <= SAID_MIN or (each.ops & _ABSENCE and reading.verdict == "refused"):
        return False
    if each.ops & {"contains"} or (each.mask & _type_words(reading) and reading.verdict == "refused"):
        return False  # words are searched for, and the noun "plan" hardly means a status
    facets = SEARCHED_BY_TYPE["task"].by_name
    # a name of a kind may also occur in a text
    return each.ops != {"not_null"} and all(name not in facets or facets[name].is_hard for name in each.fields)


def _type_words(reading: Reading) -> int:
    """The words that name types, as bits."""
    mask = 0
    for named, places in reading.mentions.named.items():
        if isinstance(named, SourceName) and places[0].likeness >= WHOLE:
            mask |= places[0].mask
    return mask


def _is_preferred(each: LikelyCondition, required: Sequence[LikelyCondition]) -> bool:
    taken = {name for other in required for name in other.fields}
    return each.chance >= PREFERRED and not (each.ops & _ABSENCE or each.fields & taken)


def _named_type(reading: Reading) -> tuple[EntityType | None, int]:
    """The type that a question names and likely asks for, with the words that name it."""
    chances: dict[str, float] = {}
    for candidate, chance in reading.shares:
        name = candidate.query["source"]
        chances[name] = chances.get(name, 0.0) + chance
    for named, places in reading.mentions.named.items():
        if isinstance(named, SourceName) and chances.get(named.name, 0.0) >= LIKELY:
            return cast("EntityType", named.name), places[0].mask
    return None, 0


def with_exclusions(reading: Reading) -> str:
    """The text of a question with each value that it likely rules out written as an exclusion."""
    mentions, kept, last = reading.mentions, list[str](), 0
    excluded = sorted(ruled_out(reading, LIKELY), key=lambda each: each.place.first)
    for value in excluded:
        start, end = mentions.tokens[value.place.first].start, mentions.tokens[value.place.last - 1].end
        kept.append(mentions.text[last:start].strip())
        last = end
    # a quotation mark would end the exclusion
    values = dict.fromkeys(link.value.replace('"', " ") for each in excluded for link in each.links)
    return " ".join(filter(None, (*kept, mentions.text[last:].strip(), *(f'-"{value}"' for value in values))))
