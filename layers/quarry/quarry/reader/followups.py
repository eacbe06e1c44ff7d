"""A question that goes on from the one before: the same with other conditions, or of the same rows something else. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from quarry.reader.asks import Ask
from quarry.reader.conditions import Conditions
from quarry.reader.parts import Clues, Evidence

ASKS_MAX = 40
SETS_MAX = 12


def edits(
    clues: Clues, asks: Sequence[Ask], conditions: Sequence[Conditions], before: tuple[Ask, Conditions]
) -> Iterator[tuple[Ask, Conditions]]:
    """What the question before asked, changed by what this one says: pairs of an ask and conditions, as others are."""
    ask, kept = before
    same_ask = replace(ask, evidence=Evidence(0, (clues.framed("follows:ask"),)))
    same_rows = replace(kept, evidence=Evidence(0, (clues.framed("follows:rows"),)), score=0.0)
    for each in conditions[:SETS_MAX]:
        if each.tests:
            yield same_ask, _merged(same_rows, each)
    of_base = [each for each in asks if each.base is ask.base][:ASKS_MAX]
    for other in of_base:
        yield other, same_rows
        for each in conditions[:3]:
            if each.tests:
                yield other, _merged(same_rows, each)


def _merged(kept: Conditions, said: Conditions) -> Conditions:
    """The conditions of both: what is said now of a field stands instead of what was said before."""
    fields = {test.field for test in said.tests if test.field is not None}
    others = [test for test in kept.tests if test.field not in fields or test.field is None]
    forms = {test.form for test in said.tests}
    others = [test for test in others if test.form not in forms & {"rows", "limit"}]
    bundles = (*kept.evidence.bundles, *said.evidence.bundles)
    return Conditions((*others, *said.tests), Evidence(said.evidence.mask, bundles), 0.0, said.joined)
