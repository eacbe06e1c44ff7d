"""How each thing that a question mentions is meant: NegEx and ConText (triggers, pseudo-triggers, direction, termination).

Read over the mentions in their order, in time linear in their number. What no trigger foresees: a negative word that rules
nothing out makes what else its clause mentions `doubtful`, so that it is not required.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from quarry.platform.contract import Assertion
from quarry.spans.clauses import (
    SCOPE_UNITS_MAX,
    TRIGGERS,
    Clauses,
    are_alike,
    item_before,
)
from quarry.spans.mention import (
    CueKind,
    Mention,
)
from quarry.spans.negation import read_negations


def read_assertions(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions with their assertion, and how each holds together with the one before it.

    `mentions` are in order, one for each word or run of words of `text`, cues among them.
    """
    clauses = Clauses(text, mentions)
    _read_preferences(clauses)
    read_negations(clauses)
    _read_joins(clauses)
    return [
        replace(mention, assertion=assertion, joined_by=joined)
        if (assertion, joined) != (mention.assertion, mention.joined_by)
        else mention
        for mention, assertion, joined in zip(mentions, clauses.assertions, clauses.joined, strict=True)
    ]


# ---- required, preferred ----


def _read_preferences(clauses: Clauses) -> None:
    meant: dict[CueKind, Assertion] = {
        "requires": "required", "requires_before": "required", "prefers": "preferred", "prefers_before": "preferred",
        "alike": "preferred",
    }  # fmt: skip
    for place in range(len(clauses.units)):
        cue = clauses.cue(place)
        if cue is None or cue not in meant:
            continue
        for other in _preference_scope(clauses, place, cue):
            clauses.assertions[other] = meant[cue]


def _preference_scope(clauses: Clauses, place: int, cue: CueKind) -> list[int]:
    """What "only" or "preferably" is about: what follows it in its clause, or what stands before it where it closes one."""
    after = _clause_units(clauses, place + 1)
    if cue.endswith("_before") or not after:
        return [] if cue == "alike" else item_before(clauses, place)
    return after


def _clause_units(clauses: Clauses, first: int) -> list[int]:
    """The mentions from `first` to the end of the clause, over the commas of a list."""
    found: list[int] = []
    for place in range(first, min(first + SCOPE_UNITS_MAX, len(clauses.units))):
        if not found and clauses.breaks[place] == "none" and clauses.leads_on(place):
            continue
        if clauses.breaks[place] == "hard" or clauses.cue(place) in ("ends", *TRIGGERS):
            break
        if clauses.breaks[place] == "comma" and not (found and are_alike(clauses, found[-1], place)):
            break
        if clauses.is_content(place):
            found.append(place)
    return found


# ---- lists ----


def _read_joins(clauses: Clauses) -> None:
    """What joins each mention to the one before it: "or" within one negation means neither, so "and"."""
    last: int | None = None
    said: CueKind | None = None
    has_comma = False
    pending: list[int] = []
    for place in range(len(clauses.units)):
        cue = clauses.cue(place)
        if clauses.breaks[place] == "hard":
            last, said, has_comma, pending = None, None, False, []
        has_comma = has_comma or clauses.breaks[place] == "comma"
        if cue in ("and", "or"):
            said = cue
        elif cue == "negates" and clauses.words(place) == "nor":
            said = "and"
        elif cue == "ends":
            last, said, has_comma, pending = None, None, False, []
        elif clauses.is_content(place):
            if last is not None:
                pending = _join(clauses, last, place, said, has_comma, pending)
            last, said, has_comma = place, None, False


def _join(
    clauses: Clauses, last: int, place: int, said: CueKind | None, has_comma: bool, pending: list[int]
) -> list[int]:
    """Joins `place` to `last`, and so those before them that only commas join; returns those that still wait for a word."""
    one_trigger = last in clauses.by and clauses.by.get(last) == clauses.by.get(place)
    if one_trigger:
        if said or has_comma:
            clauses.joined[place] = "and"
        return []
    is_alike = are_alike(clauses, last, place)
    if said is None:
        return [*pending, place] if has_comma and is_alike else []
    joined: Literal["and", "or"] = "or" if said == "or" else "and"
    for other in (*(pending if is_alike else ()), place):
        clauses.joined[other] = joined
    return []
