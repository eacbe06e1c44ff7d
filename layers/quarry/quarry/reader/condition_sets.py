"""Sets of conditions that a question may state. Each value, number, time and name is either used or left out. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from quarry.reader.features import Clues, Features
from quarry.reader.names import Names, SourceName
from quarry.reader.options import DENIED_MIN, Option, Options, Test

OPTIONS_MAX = 14
SETS_MAX = 16
JOINED_MAX = 8
NEEDED_MAX = 4
SINGLE = ("rows", "limit")
"""Forms of which a set has one test."""
BLANK = ("is_null", "not_null")
Joined = Literal["all", "any", "not", "none", "apart"]


@dataclass(frozen=True, eq=False)
class Conditions:
    """Tests, and how they are combined.

    all, any   all of them; any of those on fields
    not        all but the last, which must not hold
    none       no row with the requested value, or no related row, meets all of them
    apart      each of the tests on one field (`apart`) selects rows for a number of its own
    """

    tests: tuple[Test, ...]
    evidence: Features
    score: float
    joined: Joined = "all"

    @cached_property
    def has_rows(self) -> bool:
        return any(test.form == "rows" for test in self.tests)

    def needs_groups(self, base: str) -> bool:
        """Whether a test is on the number of rows of a group."""
        return any(test.form == "rows" and test.about == base for test in self.tests)

    def needs_values(self, base: str, names: Names) -> bool:
        """Whether the tests are on rows that share a value, not on related rows."""
        if self.joined != "none":
            return False
        ways = {names.way(base, test.field.source) for test in self.tests if test.field}
        return len(ways) > 1 or any(way is not None and not way.is_many for way in ways)

    @property
    def keeps_denials(self) -> bool:
        """True if no test affirms what the question may deny, and a joint denial covers nothing else."""
        may_be = [test for test in self.tests if test.chance_denied >= DENIED_MIN]
        denied = self.tests if self.joined == "none" else self.tests[-1:] if self.joined == "not" else ()
        return not may_be or (
            all(test.is_denial or test in denied for test in may_be) and all(test in may_be for test in denied)
        )

    @cached_property
    def apart(self) -> tuple[Test, ...]:
        """The tests on a field that has several, each for another value."""
        equal = [test for test in self.tests if test.form == "field" and test.op == "="]
        by_field = {test.field: {other.values for other in equal if other.field is test.field} for test in equal}
        return tuple(test for test in equal if len(by_field[test.field]) > 1)

    @cached_property
    def limit(self) -> int | None:
        """The number of rows asked for."""
        return next((int(str(test.values[0])) for test in self.tests if test.form == "limit"), None)


@dataclass(frozen=True, eq=False)
class ConditionSets:
    """Composes the sets for one question."""

    clues: Clues
    today: datetime.date

    @cached_property
    def _groups(self) -> list[list[Option]]:
        """What each value, number, time and name may mean, likeliest first."""
        groups = [*Options(self.clues, self.today).groups()]
        for options in groups:
            options.sort(key=lambda option: -option.evidence.rank)
        return groups

    @property
    def needed(self) -> list[str]:
        """The sources that the likeliest conditions refer to."""
        tests = (test for options in self._groups for option in options[:NEEDED_MAX] for test in option.tests)
        return [*dict.fromkeys(test.field.source for test in tests if test.field and test.values)]

    def of(self, base: SourceName) -> list[Conditions]:
        """The likeliest sets of conditions on rows of a source, best first."""
        beam = [Conditions((), Features(0, ()), 0.0)]
        for options in self._groups:
            allowed = self._allowed(base, options)
            extended = [
                grown for each in beam for option, far in allowed if (grown := _with(each, option, far)) is not None
            ]
            extended.sort(key=lambda each: -each.score)
            beam = extended[:SETS_MAX]
        return [each for each in (*beam, *self._otherwise_joined(beam)) if each.keeps_denials]

    def _allowed(self, base: SourceName, options: Sequence[Option]) -> list[tuple[Option, float]]:
        """The options that can be reached from a source, each path once, with the cost of the links."""
        hop, many = self.clues.one("hops").score, self.clues.one("many").score
        by_key: dict[object, tuple[float, Option, float]] = {}
        for option in options:
            far, key = 0.0, []
            for test in option.tests:
                way = self._path(base, test)
                if way is None:
                    break
                path, is_many = way
                far += hop * path.count(".") + many * is_many
                key.append((test.form, test.op, test.values, path))
            else:
                rank = option.evidence.rank + far
                if tuple(key) not in by_key or by_key[tuple(key)][0] < rank:
                    by_key[tuple(key)] = rank, option, far
        best = sorted(by_key.values(), key=lambda item: -item[0])
        return [(option, far) for _, option, far in best[:OPTIONS_MAX]]

    def _path(self, base: SourceName, test: Test) -> tuple[str, bool] | None:
        """The path to what a test is on, and whether it leads to several rows. None if no links lead there."""
        names = self.clues.names
        if test.field is not None:
            return names.path(base.name, test.field)
        if test.about is None:
            return "", False
        if test.link is not None:
            return (f"{test.link.name}.", False) if test.link.source == base.name else None
        way = names.way(base.name, test.about)
        if way is None or (not way.links and test.form != "rows"):
            return None
        return way.path(""), False

    def _otherwise_joined(self, beam: Sequence[Conditions]) -> Iterator[Conditions]:
        """The sets whose tests are combined in another way than "all hold for one row"."""
        clues = self.clues
        for each in beam[:JOINED_MAX]:
            fields = [test.field for test in each.tests if test.form in ("field", "average")]
            if len(fields) > 1:
                same = clues.one("any:same", float(len({*fields}) == 1))
                bundles = clues.framed("any"), same, clues.one(f"any:{len(fields)}")
                yield _changed(each, Features(0, bundles), "any")
                if each.apart:
                    yield _changed(each, Features(0, (clues.framed("apart"),)), "apart")
        for each in beam[:JOINED_MAX]:
            if each.tests and each.tests[-1].form == "field" and not each.tests[-1].is_denial:
                yield _changed(each, Features(0, (clues.freely("not"),)), "not")
        for each in beam[:JOINED_MAX]:
            if not each.tests or any(test.form != "field" or test.is_denial for test in each.tests):
                continue
            if any(1 << place < each.evidence.mask & -each.evidence.mask for place in clues.mentions.free):
                yield _changed(each, Features(0, (clues.framed("none"),)), "none")


def _changed(each: Conditions, evidence: Features, joined: Joined) -> Conditions:
    bundles = (*each.evidence.bundles, *evidence.bundles)
    return replace(
        each, evidence=Features(each.evidence.mask, bundles), score=each.score + evidence.score, joined=joined
    )


def _with(each: Conditions, option: Option, far: float) -> Conditions | None:
    """A set with one more condition, whose links cost `far`. None if it does not fit."""
    is_blank = False
    for test in option.tests:
        is_blank = is_blank or (test.form == "field" and not test.values)
        for other in each.tests:
            if test.form == other.form and test.form in SINGLE:
                return None
            if test.field is not None and other.field is test.field and test.op in BLANK:
                return None
    if is_blank and option.evidence.mask and each.evidence.mask and not option.evidence.mask & ~each.evidence.mask:
        return None  # the field is named only by words that state other conditions
    mask = each.evidence.mask | option.evidence.mask
    added = (option.evidence.mask & ~each.evidence.mask).bit_count()
    bundles = (*each.evidence.bundles, *option.evidence.bundles)
    score = each.score + option.evidence.score + far + 0.3 * added
    return Conditions((*each.tests, *option.tests), Features(mask, bundles), score)
