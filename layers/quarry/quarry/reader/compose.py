"""Sets of conditions that a question may name, in which every value, number, time and name is used or left; and an ask with
such a set as a Query, where the schema's links allow that. Pure.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from quarry.reader.asks import Ask
from quarry.reader.features import Clues, Evidence
from quarry.reader.names import HERE, TITLE, FieldName, Names, SourceName, Way
from quarry.reader.options import Option, Options, Test

OPTIONS_MAX = 14
SETS_MAX = 16
JOINED_MAX = 8
NEEDED_MAX = 4
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

    def needs_groups(self, base: str) -> bool:
        """Whether it is about the number of rows of a group."""
        return any(test.form == "rows" and test.about == base for test in self.tests)

    @cached_property
    def limit(self) -> int | None:
        """How many rows are asked for."""
        return next((int(str(test.values[0])) for test in self.tests if test.form == "limit"), None)


@dataclass(frozen=True, eq=False)
class ConditionSets:
    """Composes the sets for one question."""

    clues: Clues
    today: datetime.date

    @cached_property
    def _groups(self) -> list[list[Option]]:
        """What each value, number, time and name may mean, the likeliest first."""
        groups = [*Options(self.clues, self.today).groups()]
        for options in groups:
            options.sort(key=lambda option: -option.evidence.rank)
        return groups

    @property
    def needed(self) -> list[str]:
        """The sources that the likeliest conditions are about."""
        tests = (test for options in self._groups for option in options[:NEEDED_MAX] for test in option.tests)
        return [*dict.fromkeys(test.field.source for test in tests if test.field and test.values)]

    def of(self, base: SourceName) -> list[Conditions]:
        """The likeliest sets that rows of a source may meet, best first."""
        beam = [Conditions((), Evidence(0, ()), 0.0)]
        for options in self._groups:
            allowed = self._allowed(base, options)
            extended = [
                grown for each in beam for option, far in allowed if (grown := _with(each, option, far)) is not None
            ]
            extended.sort(key=lambda each: -each.score)
            beam = extended[:SETS_MAX]
        return [*beam, *self._otherwise_joined(beam)]

    def _allowed(self, base: SourceName, options: Sequence[Option]) -> list[tuple[Option, float]]:
        """The options that links of a source lead to, each path once, with what the links cost."""
        hop, many = self.clues.one("hops").score, self.clues.one("many").score
        found: dict[object, tuple[float, Option, float]] = {}
        for option in options:
            far, key = 0.0, []
            for test in option.tests:
                named = self._path(base, test)
                if named is None:
                    break
                path, is_many = named
                far += hop * path.count(".") + many * is_many
                key.append((test.form, test.op, test.values, path))
            else:
                rank = option.evidence.rank + far
                if tuple(key) not in found or found[tuple(key)][0] < rank:
                    found[tuple(key)] = rank, option, far
        best = sorted(found.values(), key=lambda item: -item[0])
        return [(option, far) for _, option, far in best[:OPTIONS_MAX]]

    def _path(self, base: SourceName, test: Test) -> tuple[str, bool] | None:
        """The path to what a test is about, and whether it leads to several rows; None where no links lead there."""
        names = self.clues.names
        if test.field is not None:
            return names.path(base.name, test.field)
        if test.about is None:
            return "", False
        way = names.way(base.name, test.about)
        if way is None or (not way.links and test.form != "rows"):
            return None
        return way.path(""), False

    def _otherwise_joined(self, beam: Sequence[Conditions]) -> Iterator[Conditions]:
        """Sets of which any may hold, and sets whose last condition must not hold of any related row."""
        clues = self.clues
        for each in beam[:JOINED_MAX]:
            fields = [test.field for test in each.tests if test.form in ("field", "average")]
            if len(fields) > 1:
                same = clues.one("any:same", float(len({*fields}) == 1))
                bundles = clues.framed("any"), same, clues.one(f"any:{len(fields)}")
                yield _changed(each, Evidence(0, bundles), "any")
        for each in beam[:JOINED_MAX]:
            if each.tests and each.tests[-1].form == "field" and each.tests[-1].op != "!=":
                yield _changed(each, Evidence(0, (clues.freely("not"),)), "not")


def _changed(each: Conditions, evidence: Evidence, joined: Joined) -> Conditions:
    bundles = (*each.evidence.bundles, *evidence.bundles)
    return replace(
        each, evidence=Evidence(each.evidence.mask, bundles), score=each.score + evidence.score, joined=joined
    )


def _with(each: Conditions, option: Option, far: float) -> Conditions | None:
    """A set with one condition more, whose links cost this; None where there is no place for it."""
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
    score = each.score + option.evidence.score + far + 0.3 * added
    return Conditions((*each.tests, *option.tests), Evidence(mask, bundles), score)


Json = dict[str, Any]


@dataclass(frozen=True)
class Composed:
    """A query as JSON has it, and the places of its columns that only say why these rows are shown."""

    query: Json
    aside: tuple[int, ...] = ()


class _Unsayable(Exception):
    """No link leads there."""


def compose(ask: Ask, conditions: Conditions, names: Names) -> Composed | None:
    """The query; None where the conditions and the ask do not go together."""
    limit = conditions.limit
    if limit is not None and not ask.is_first:
        return None
    if (ask.kind == "share" and not conditions.tests) or _asks_for_what_is_given(ask, conditions):
        return None
    try:
        return _Writer(ask, conditions, names).write(limit)
    except _Unsayable:
        return None


def _asks_for_what_is_given(ask: Ask, conditions: Conditions) -> bool:
    """Whether the one field that is asked for has a value that the conditions give."""
    if len(ask.shown) != 1 or ask.shown[0].is_many or ask.kind not in ("rows", "distinct", "count_distinct", "groups"):
        return False
    tests = conditions.tests[:-1] if conditions.joined == "not" else conditions.tests
    own = [test for test in tests if test.field is ask.shown[0] and test.form == "field" and test.op == "="]
    is_given = len(own) == 1 and len(own[0].values) == 1
    return is_given and ask.period is None and conditions.joined != "any"


@dataclass(frozen=True)
class _Writer:
    ask: Ask
    conditions: Conditions
    names: Names

    @property
    def base(self) -> SourceName:
        return self.ask.base

    def write(self, limit: int | None) -> Composed:
        where, having = self._where()
        query: Json = {"source": self.base.name}
        if where and self.ask.kind != "share":
            query["where"] = where
        if having:
            query["having"] = having
        asked = self._asked(where)
        if self.ask.is_first:
            asked.query["limit"] = limit or 1
        return Composed({**query, **asked.query}, asked.aside)

    def way(self, source: str) -> Way:
        """How rows of the base lead to a source."""
        way = self.names.way(self.base.name, source)
        if way is None:
            raise _Unsayable
        return way

    def path(self, each: FieldName) -> tuple[str, bool]:
        """The path to a field, and whether a row may have several of it."""
        found = self.names.path(self.base.name, each)
        if found is None:
            raise _Unsayable
        return found

    # ---- what is asked ----

    def _asked(self, where: list[Json]) -> Composed:
        match self.ask.kind:
            case "count":
                return Composed({"aggregate": ["count"]})
            case "share":
                return Composed({"aggregate": [{"fn": "share", "where": where}]})
            case "count_distinct":
                return Composed({"aggregate": [f"count_distinct({self.path(self.ask.shown[0])[0]})"]})
            case "numbers":
                fields = [*self.ask.shown] * (1 if len(self.ask.shown) > 1 else len(self.ask.functions))
                named = zip(self.ask.functions, fields, strict=True)
                return Composed({"aggregate": [f"{function}({self.path(each)[0]})" for function, each in named]})
            case "groups":
                return self._groups()
            case "each":
                return self._each()
            case _:
                return self._rows()

    def _rows(self) -> Composed:
        ask = self.ask
        paths = [self.path(each) for each in ask.shown]
        order = self._order()
        if ask.kind == "distinct" or (any(is_many for _, is_many in paths) and not order):
            return Composed({"group": [path for path, _ in paths]})
        if any(is_many for _, is_many in paths):
            raise _Unsayable
        shown = [path for path, _ in paths]
        aside: tuple[int, ...] = ()
        if order and order[0]["by"] not in shown:
            aside = (len(shown),)
            shown.append(order[0]["by"])
        return Composed({"select": shown, **({"order": order} if order else {})}, aside)

    def _order(self) -> list[Json]:
        ask = self.ask
        if ask.related is not None:
            return [{"by": f"count({ask.related.name})", "direction": ask.direction}]
        if ask.order is None:
            return []
        path, is_many = self.path(ask.order)
        if is_many:
            path = f"{'max' if ask.direction == 'desc' else 'min'}({path})"
        return [{"by": path, "direction": ask.direction}]

    def _each(self) -> Composed:
        paths = [self.path(each) for each in self.ask.shown]
        if self.ask.related is None or any(is_many for _, is_many in paths):
            raise _Unsayable
        return Composed({"select": [*(path for path, _ in paths), f"count({self.ask.related.name})"]})

    def _groups(self) -> Composed:
        ask = self.ask
        by, *others = ask.shown
        path, _ = self.path(by)
        measured = self.path(ask.measured)[0] if ask.measured else ""
        counted = ask.functions or ("count",)
        numbers = [function if function == "count" else f"{function}({measured})" for function in counted]
        group: Json = {"field": path, **({"period": ask.period} if ask.period else {})}
        query: Json = {"group": [group, *(self.path(each)[0] for each in others)], "aggregate": numbers}
        if ask.direction:
            query["order"] = [{"by": numbers[0], "direction": ask.direction}]
        is_aside = ask.direction or self.conditions.has_rows
        return Composed(query, (len(ask.shown),) if is_aside else ())

    # ---- conditions ----

    def _where(self) -> tuple[list[Json], list[Json]]:
        """What rows must meet, and what groups must."""
        where: list[tuple[Way, Json]] = []
        having: list[Json] = []
        for test in self._tests():
            if test.form == "limit":
                continue
            if test.form == "rows" and test.about == self.base.name:
                if self.ask.kind != "groups":
                    raise _Unsayable
                having.append({"field": "count", "op": test.op, "value": test.values[0]})
            else:
                where.append(self._test(test))
        return self._joined(where), having

    def _tests(self) -> list[Test]:
        """The tests, where all must hold those that a field has one of several values as one: it cannot have them all."""
        tests, joined = self.conditions.tests, self.conditions.joined
        denied = tests[-1:] if joined == "not" else ()
        kept = tests[: len(tests) - len(denied)]
        asked_for = {test.field for test in kept if self._asks_for_one(test)}
        if any(test.op == "!=" and test.field in asked_for for test in kept):
            raise _Unsayable  # what has one value has no other: to rule that out says nothing
        if joined == "any":
            return [*tests]
        united: dict[object, Test] = {}
        for test in kept:
            key: object = test.field if test.field in asked_for and test.op == "=" else test
            before = united.get(key)
            united[key] = replace(test, values=tuple(dict.fromkeys((*before.values, *test.values)))) if before else test
        return [*united.values(), *denied]

    def _asks_for_one(self, test: Test) -> bool:
        """Whether a test asks for a value of a field that has one."""
        field = test.field if test.form == "field" and test.op == "=" else None
        return field is not None and not field.is_many and not self.way(field.source).is_many

    def _joined(self, tests: list[tuple[Way, Json]]) -> list[Json]:
        match self.conditions.joined:
            case "any":
                return _any_of([json for _, json in tests])
            case "not":
                *others, (way, last) = tests
                denied = {"exists": ".".join(way.links), "where": [_within(way, last)]} if way.is_many else last
                return [*_same_row(others), {"not": denied}]
            case _:
                return _same_row(tests)

    def _test(self, test: Test) -> tuple[Way, Json]:
        if test.form in ("some", "none", "rows"):
            return self._related(test)
        assert test.field is not None
        way = self.way(test.field.source)
        path, _ = self.path(test.field)
        if test.form == "average":
            average = {"source": test.field.source, "aggregate": [f"avg({test.field.name})"]}
            return way, {"field": path, "op": test.op, "value": average}
        if not test.values:
            return way, {"field": path, "op": test.op}
        key = "value" if len(test.values) == 1 else "values"
        return way, {"field": path, "op": test.op, key: test.values[0] if key == "value" else list(test.values)}

    def _related(self, test: Test) -> tuple[Way, Json]:
        way = self.way(test.about or "")
        path = ".".join(way.links)
        if not way.links or (not way.is_many and test.form == "rows"):
            raise _Unsayable
        if test.form == "rows":
            return HERE, {"field": f"count({path})", "op": test.op, "value": test.values[0]}
        exists = {"exists": path}
        return HERE, exists if test.form == "some" else {"not": exists}


def _any_of(tests: Sequence[Json]) -> list[Json]:
    """Alternatives. Where several of them are on one field, only these are, and the others hold besides: "by A or B, in May"."""
    by_field: dict[str, list[Json]] = {}
    for test in tests:
        by_field.setdefault(test.get("field", ""), []).append(test)
    if max(map(len, by_field.values()), default=0) < 2:
        return [{"any_of": [*tests]}]
    return [{"any_of": same} if len(same) > 1 else same[0] for same in by_field.values()]


def _same_row(tests: Sequence[tuple[Way, Json]]) -> list[Json]:
    """The conditions; those on different fields of the same related rows are of one and the same row."""
    found: list[Json] = []
    together: dict[tuple[str, ...], list[tuple[Way, Json]]] = {}
    for way, test in tests:
        if way.is_many and "field" in test:
            together.setdefault(way.links, []).append((way, test))
        else:
            found.append(test)
    for links, same in together.items():
        if len(same) > 1 and len({test["field"] for _, test in same}) == len(same):
            found.append({"exists": ".".join(links), "where": [_within(way, test) for way, test in same]})
        else:
            found += [test for _, test in same]
    return found


def _within(way: Way, test: Json) -> Json:
    """A condition as the rows at the end of a way say it."""
    links = ".".join(way.links)
    field = test["field"]
    # the title of a row may stand as the reference to it
    return {**test, "field": field.removeprefix(f"{links}.") if field.startswith(f"{links}.") else TITLE}
