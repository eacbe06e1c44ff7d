"""What of a question is left to be found by words and by meaning, and what words must not be found."""

from __future__ import annotations

import re
from collections.abc import Set

from quarry.retrieval.facets import SearchTable
from quarry.spans.asking import Asking
from quarry.spans.conditions import Conditions
from quarry.spans.measures import is_measuring
from quarry.spans.mention import Cue, FacetName, Known, Mention, NumberRange, ParsedQuery, Phrase, Place, Word

_JOINING = re.compile(r"\s+")
_JOINING_CUES = ("relates", "filler", "and", "or", "light", "ends")
"""They are left between words of the topic: a text is embedded better with its grammar."""


def topic_of(
    parsed: ParsedQuery, table: SearchTable, found: Conditions, asking: Asking, said: set[tuple[int, int]]
) -> tuple[str, tuple[str, ...]]:
    """What is left to be found by words and by meaning: nothing negated, no cue, nothing that a condition says already."""
    has_places = any(facet.kind == "place" for facet in table.facets)
    pieces: list[Mention] = []
    words: list[str] = []
    pending: list[Mention] = []
    for place, mention in enumerate(parsed.mentions):
        text = parsed.said(mention)
        if _is_topic(parsed, mention, place, table, found, asking, has_places):
            if any(start <= mention.start < end for start, end in said):
                continue
            pieces += [*(pending if pieces else ()), mention]
            pending = []
            words += [mention.value.stem] if isinstance(mention.value, Word) else text.lower().split()
        elif isinstance(mention.value, Cue) and mention.value.what in _JOINING_CUES:
            pending.append(mention)
        else:
            pending = []
    return _JOINING.sub(" ", " ".join(parsed.pieces(pieces))), tuple(dict.fromkeys(words))


def _leads_to_place(parsed: ParsedQuery, place: int, table: SearchTable) -> bool:
    """Whether the name of a place that rows have is followed by which one it is."""
    name = parsed.mentions[place].value
    is_place = isinstance(name, FacetName) and all(table.facet(each).kind == "place" for each in name.facets)
    following = [each.value for each in parsed.mentions[place + 1 : place + 3] if each.value != Cue("relates")]
    return is_place and bool(following) and isinstance(following[0], Place)


def _is_topic(
    parsed: ParsedQuery,
    mention: Mention,
    place: int,
    table: SearchTable,
    found: Conditions,
    asking: Asking,
    has_places: bool,
) -> bool:
    if mention.assertion in ("negated", "doubtful"):
        return False
    value = mention.value
    if isinstance(value, Place):
        return not has_places
    if isinstance(value, FacetName):
        # "authors born in 1900" are said to be so of the next name
        if _leads_to_place(parsed, place, table):
            # "headquarters in Oslo"
            return False
        is_free = {place, place + 1}.isdisjoint(found.used) and place not in asking.places and value.grain is None
        if table.reckons and place - 1 in found.constraining:
            # "by Japanese authors"
            return False
        return is_free and table.facet(value.facets[0]).kind not in ("boolean", "date") and asking.ask is None
    if isinstance(value, Known):
        is_soft = not any(table.facet(known.facet).is_hard for known in value.values)
        return place not in found.constraining and (mention.is_latent or is_soft)
    if isinstance(value, NumberRange):
        return mention.is_latent and place not in found.used and value.least == value.most
    if table.reckons and place + 1 in found.constraining and is_measuring(parsed.said(mention)):
        # "cost between 15 and 40" is said by the amount
        return False
    return isinstance(value, (Word, Phrase)) and place not in asking.places and place not in found.constraining


def excluded_words(parsed: ParsedQuery, used: Set[int] = frozenset()) -> tuple[list[str], set[int]]:
    """Negated words that are no value, with those beside them as one phrase; and the places of all mentions that are in these.
    Words that only describe what a name at one of the `used` places says ("without venture funding") are none.
    """
    phrases: list[str] = []
    inside: set[int] = set()
    runs: list[list[int]] = []
    for place, mention in enumerate(parsed.mentions):
        if mention.assertion != "negated" or not isinstance(mention.value, (Word, Known)) or place in used:
            continue
        if runs and runs[-1][-1] == place - 1 and mention.joined_by == "or":
            runs[-1].append(place)
        else:
            runs.append([place])
    for run in runs:
        named = run[-1] + 1
        if (
            named in used
            and isinstance(parsed.mentions[named].value, FacetName)
            and parsed.mentions[named].joined_by == "or"
        ):
            continue
        if any(isinstance(parsed.mentions[place].value, Word) or parsed.mentions[place].is_latent for place in run):
            first, last = parsed.mentions[run[0]], parsed.mentions[run[-1]]
            phrases.append(_JOINING.sub(" ", parsed.text[first.start : last.end]))
            inside.update(run)
    return phrases, inside
