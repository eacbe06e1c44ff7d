"""Sets of conditions that a question may name: every value, number, time and name is used or left. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from quarry.reader.options import Option, Options, Test
from quarry.reader.parts import Clues, Evidence

OPTIONS_MAX = 18
SETS_MAX = 24
JOINED_MAX = 10
Joined = Literal["all", "any", "not"]


@dataclass(frozen=True, eq=False)
class Conditions:
    """Tests, and how they hold together: all, any of those of fields, or all but the last, which must not hold."""

    tests: tuple[Test, ...]
    evidence: Evidence
    score: float
    joined: Joined = "all"

    @cached_property
    def has_rows(self) -> bool:
        return any(test.form == "rows" for test in self.tests)

    @cached_property
    def sources(self) -> frozenset[str]:
        """The sources that it is about."""
        about = (test.field.source if test.field else test.about for test in self.tests)
        return frozenset(each for each in about if each)

    @cached_property
    def limit(self) -> int | None:
        """How many rows are asked for."""
        return next((int(str(test.values[0])) for test in self.tests if test.form == "limit"), None)


@dataclass(frozen=True)
class ConditionSets:
    """Composes the sets for one question."""

    clues: Clues
    today: datetime.date

    def all(self) -> list[Conditions]:
        """The likeliest sets, best first."""
        beam = [Conditions((), Evidence(0, ()), 0.0)]
        for options in Options(self.clues, self.today).groups():
            options.sort(key=lambda option: -option.evidence.rank)
            extended = [
                grown for each in beam for option in options[:OPTIONS_MAX] if (grown := _with(each, option)) is not None
            ]
            extended.sort(key=lambda each: -each.score)
            beam = extended[:SETS_MAX]
        return [*beam, *self._alternatives(beam), *self._denied(beam)]

    def _alternatives(self, beam: Sequence[Conditions]) -> list[Conditions]:
        """Sets of which any may hold."""
        clues = self.clues
        found: list[Conditions] = []
        for each in beam[:JOINED_MAX]:
            fields = [test for test in each.tests if test.form in ("field", "average")]
            if len(fields) < 2:
                continue
            same = len({test.field for test in fields}) == 1
            bundles = clues.framed("any"), clues.one("any:same", float(same)), clues.one(f"any:{len(fields)}")
            found.append(_changed(each, Evidence(0, bundles), "any"))
        return found

    def _denied(self, beam: Sequence[Conditions]) -> list[Conditions]:
        """Sets whose last condition must not hold of any related row."""
        clues = self.clues
        return [
            _changed(each, Evidence(0, (clues.freely("not"),)), "not")
            for each in beam[:JOINED_MAX]
            if each.tests and each.tests[-1].form == "field" and each.tests[-1].op != "!="
        ]


def _changed(each: Conditions, evidence: Evidence, joined: Joined) -> Conditions:
    bundles = (*each.evidence.bundles, *evidence.bundles)
    return replace(
        each, evidence=Evidence(each.evidence.mask, bundles), score=each.score + evidence.score, joined=joined
    )


def _with(each: Conditions, option: Option) -> Conditions | None:
    """A set with one condition more; None where there is no place for it."""
    single = {"rows", "limit"}
    if any(test.form in single and any(other.form == test.form for other in each.tests) for test in option.tests):
        return None
    compared = {(test.field, test.op) for test in each.tests if test.field}
    if any(
        test.field and test.op in ("is_null", "not_null") and any(f is test.field for f, _ in compared)
        for test in option.tests
    ):
        return None
    mask = each.evidence.mask | option.evidence.mask
    added = (option.evidence.mask & ~each.evidence.mask).bit_count()
    bundles = (*each.evidence.bundles, *option.evidence.bundles)
    score = each.score + option.evidence.score + 0.3 * added
    return Conditions((*each.tests, *option.tests), Evidence(mask, bundles), score)
