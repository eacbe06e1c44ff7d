"""Combines an ask with a set of conditions into a Query, if the schema's links allow it. Pure."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quarry.reader.asks import Ask
from quarry.reader.condition_sets import Conditions
from quarry.reader.names import HERE, TITLE, FieldName, Names, Way
from quarry.reader.options import Test
from quarry.schema.algebra import Function

Json = dict[str, Any]


@dataclass(frozen=True)
class Composed:
    """A query as JSON, and the positions of columns that only explain why the rows are shown."""

    query: Json
    aside: tuple[int, ...] = ()


class _Unsayable(Exception):
    """No link leads to the field or source, so no query can say this."""


def compose(ask: Ask, conditions: Conditions, names: Names) -> Composed | None:
    """The query, or None if the conditions and the ask do not fit together."""
    limit = conditions.limit
    if limit is not None and not ask.is_first:
        return None
    if (ask.kind == "share" and not conditions.tests) or _asks_for_fixed_value(ask, conditions):
        return None
    try:
        return _Writer(ask, conditions, names).write(limit)
    except _Unsayable:
        return None


def _asks_for_fixed_value(ask: Ask, conditions: Conditions) -> bool:
    """Whether the conditions already give the value of the only field that is asked for."""
    if (
        len(ask.subjects) != 1
        or ask.subjects[0].is_many
        or ask.kind not in ("rows", "distinct", "count_distinct", "groups")
    ):
        return False
    tests = conditions.tests[:-1] if conditions.joined == "not" else conditions.tests
    own = [test for test in tests if test.field is ask.subjects[0] and test.form == "field" and test.op == "="]
    is_fixed = len(own) == 1 and len(own[0].values) == 1
    return is_fixed and ask.period is None and conditions.joined != "any"


@dataclass(frozen=True)
class _Writer:
    ask: Ask
    conditions: Conditions
    names: Names

    def write(self, limit: int | None) -> Composed:
        tests = self._tests()
        apart = self.conditions.apart if self.conditions.joined == "apart" else ()
        where, having = self._where([test for test in tests if test not in apart])
        query: Json = {"source": self.ask.base.name}
        if where and self.ask.kind != "share":
            query["where"] = where
        if having:
            query["having"] = having
        composed = self._composed(where)
        if apart:
            composed = self._of_each(composed, apart)
        if self.ask.is_first:
            composed.query["limit"] = limit or 1
        return Composed({**query, **composed.query}, composed.aside)

    def _of_each(self, composed: Composed, apart: Sequence[Test]) -> Composed:
        """The number that is asked for, once for each of these tests."""
        if not self.ask.is_one_number:
            raise _Unsayable
        [number] = composed.query["aggregate"]
        function, _, field = number.rstrip(")").partition("(")
        of: Json = {"fn": function, **({"field": field} if field else {})}
        tests = [self._test(test) for test in apart]
        return Composed({"aggregate": [{**of, "where": [_of_row(way, test)]} for way, test in tests]})

    def way(self, source: str) -> Way:
        """How rows of the base lead to a source."""
        way = self.names.way(self.ask.base.name, source)
        if way is None:
            raise _Unsayable
        return way

    def path(self, each: FieldName) -> tuple[str, bool]:
        """The path to a field, and whether a row may have several values of it."""
        path = None if each.is_measure else self.names.path(self.ask.base.name, each)
        if path is None:
            raise _Unsayable
        return path

    def number(self, function: Function, each: FieldName | None) -> str:
        """A function of a field. A measure is itself what a total is: no other function is computed of it."""
        if each is not None and each.is_measure:
            if function != "sum" or each.source != self.ask.base.name:
                raise _Unsayable
            return each.name
        if each is None or function == "count":
            return "count"
        return f"{function}({self.path(each)[0]})"

    # ---- what is asked ----

    def _composed(self, where: list[Json]) -> Composed:
        match self.ask.kind:
            case "count":
                return Composed({"aggregate": ["count"]})
            case "share":
                return Composed({"aggregate": [{"fn": "share", "where": where}]})
            case "count_distinct":
                return Composed({"aggregate": [f"count_distinct({self.path(self.ask.subjects[0])[0]})"]})
            case "numbers":
                fields = [*self.ask.subjects] * (1 if len(self.ask.subjects) > 1 else len(self.ask.functions))
                pairs = zip(self.ask.functions, fields, strict=True)
                return Composed({"aggregate": [self.number(function, each) for function, each in pairs]})
            case "groups":
                return self._groups()
            case _:
                return self._rows()

    def _rows(self) -> Composed:
        ask = self.ask
        paths = [self.path(each) for each in ask.subjects]
        order = self._order()
        if ask.kind == "distinct" or (any(is_many for _, is_many in paths) and not order):
            return Composed({"group": [path for path, _ in paths]})
        if any(is_many for _, is_many in paths):
            raise _Unsayable
        columns = [path for path, _ in paths]
        aside: tuple[int, ...] = ()
        if order and order[0]["by"] not in columns:
            aside = (len(columns),)
            columns.append(order[0]["by"])
        return Composed({"select": columns, **({"order": order} if order else {})}, aside)

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

    def _groups(self) -> Composed:
        ask = self.ask
        by, *others = ask.subjects
        path, _ = self.path(by)
        functions = ask.functions or ("count",)
        numbers = [self.number(function, ask.measured) for function in functions]
        group: Json = {"field": path, **({"period": ask.period} if ask.period else {})}
        query: Json = {"group": [group, *(self.path(each)[0] for each in others)], "aggregate": numbers}
        if ask.direction:
            query["order"] = [{"by": numbers[0], "direction": ask.direction}]
        is_aside = ask.direction or self.conditions.has_rows
        return Composed(query, (len(ask.subjects),) if is_aside else ())

    # ---- conditions ----

    def _where(self, tests: Sequence[Test]) -> tuple[list[Json], list[Json]]:
        """The conditions on rows, and those on groups."""
        where: list[tuple[Way, Json]] = []
        having: list[Json] = []
        related = {test.about for test in tests if test.form in ("some", "none")}
        for test in tests:
            if test.form == "limit" or self._is_of(related, test):
                continue
            if test.form == "rows" and test.about == self.ask.base.name:
                if self.ask.kind != "groups":
                    raise _Unsayable
                having.append({"field": "count", "op": test.op, "value": test.values[0]})
            else:
                where.append(self._test(test))
        return self._joined(where), having

    def _is_of(self, related: Container[str | None], test: Test) -> bool:
        """Whether a test narrows related rows, of which another test requires some or none: "no invoice in May"."""
        if self.conditions.joined != "all" or test.field is None or test.field.source not in related:
            return False
        return test.form == "field" and not test.is_denial and self.way(test.field.source).is_many

    def _tests(self) -> list[Test]:
        """The tests, with several values of one field merged into one test: a field cannot equal all of them."""
        tests, joined = self.conditions.tests, self.conditions.joined
        denied = tests[-1:] if joined == "not" else ()
        positive = tests[: len(tests) - len(denied)]
        asked_for = {test.field for test in positive if self._asks_for_one(test)}
        if any(test.op == "!=" and test.field in asked_for for test in positive):
            raise _Unsayable  # a field with this value has no other, so excluding one says nothing
        if joined in ("any", "apart"):
            return [*tests]
        united: dict[object, Test] = {}
        for test in positive:
            key: object = test.field if test.field in asked_for and test.op == "=" else test
            before = united.get(key)
            united[key] = replace(test, values=tuple(dict.fromkeys((*before.values, *test.values)))) if before else test
        return [*united.values(), *denied]

    def _asks_for_one(self, test: Test) -> bool:
        """Whether a test asks for one value of a single-valued field."""
        field = test.field if test.form == "field" and test.op == "=" else None
        return field is not None and not field.is_many and not self.way(field.source).is_many

    def _joined(self, tests: list[tuple[Way, Json]]) -> list[Json]:
        match self.conditions.joined:
            case "any":
                return _any_of([json for _, json in tests])
            case "none":
                return self._of_none(tests)
            case "not":
                *others, (way, last) = tests
                return [*_same_row(others), {"not": _of_row(way, last)}]
            case _:
                return _same_row(tests)

    def _of_none(self, tests: Sequence[tuple[Way, Json]]) -> list[Json]:
        """No related row meets all of these tests, or no row with the requested value does."""
        ways = {way.links: way for way, _ in tests}
        way = next(iter(ways.values()))
        if len(ways) == 1 and way.is_many:
            return [{"not": {"exists": ".".join(way.links), "where": [_within(way, test) for _, test in tests]}}]
        if not self.ask.is_of_values or any(test.field is self.ask.subjects[0] for test in self.conditions.tests):
            raise _Unsayable
        path, _ = self.path(self.ask.subjects[0])
        rows = {"source": self.ask.base.name, "select": [path], "where": _same_row(tests)}
        return [{"field": path, "op": "not_null"}, {"field": path, "op": "!=", "value": rows}]

    def _test(self, test: Test) -> tuple[Way, Json]:
        if test.form in ("some", "none", "rows"):
            return self._related(test)
        assert test.field is not None
        way = self.way(test.field.source)
        path, _ = self.path(test.field)
        if test.form == "average":
            average = {"source": test.field.source, "aggregate": [f"avg({test.field.name})"]}
            return way, {"field": path, "op": test.op, "value": average}
        if test.other is not None:
            if way.is_many:
                raise _Unsayable
            return way, {"field": path, "op": test.op, "value": {"field": self.path(test.other)[0]}}
        if not test.values:
            return way, {"field": path, "op": test.op}
        key = "value" if len(test.values) == 1 else "values"
        has_headings = test.field.has_headings and test.op in ("=", "!=")
        op, is_denied = ("contains", test.op == "!=") if has_headings else (test.op, test.is_denied)
        json = {"field": path, "op": op, key: test.values[0] if key == "value" else list(test.values)}
        return (way, json) if not is_denied else (HERE, {"not": _of_row(way, json)})

    def _related(self, test: Test) -> tuple[Way, Json]:
        way = self.way(test.about or "")
        path = test.link.name if test.link else ".".join(way.links)
        if not way.links or (not way.is_many and test.form == "rows"):
            raise _Unsayable
        if test.form == "rows":
            return HERE, {"field": f"count({path})", "op": test.op, "value": test.values[0]}
        of_them = [each for each in self.conditions.tests if self._is_of((test.about,), each)]
        where = [_within(way, self._test(each)[1]) for each in of_them]
        exists: Json = {"exists": path, **({"where": where} if where else {})}
        return HERE, exists if test.form == "some" else {"not": exists}


def _any_of(tests: Sequence[Json]) -> list[Json]:
    """Alternatives. If several tests are on one field, only these are alternatives; the others must hold: "A or B, in May"."""
    by_field: dict[str, list[Json]] = {}
    for test in tests:
        by_field.setdefault(test.get("field", ""), []).append(test)
    if max(map(len, by_field.values()), default=0) < 2:
        return [{"any_of": [*tests]}]
    return [{"any_of": same} if len(same) > 1 else same[0] for same in by_field.values()]


def _same_row(tests: Sequence[tuple[Way, Json]]) -> list[Json]:
    """The conditions. Those on different fields of the same related rows must hold for the same row."""
    conditions: list[Json] = []
    together: dict[tuple[str, ...], list[tuple[Way, Json]]] = {}
    for way, test in tests:
        if way.is_many and "field" in test:
            together.setdefault(way.links, []).append((way, test))
        else:
            conditions.append(test)
    for links, same in together.items():
        if len(same) > 1 and len({test["field"] for _, test in same}) == len(same):
            conditions.append({"exists": ".".join(links), "where": [_within(way, test) for way, test in same]})
        else:
            conditions += [test for _, test in same]
    return conditions


def _of_row(way: Way, test: Json) -> Json:
    """A test on a row, or that one of several related rows meets it."""
    return {"exists": ".".join(way.links), "where": [_within(way, test)]} if way.is_many else test


def _within(way: Way, test: Json) -> Json:
    """A condition from the point of view of the rows at the end of a way."""
    links = ".".join(way.links)
    field = test["field"]
    # a row's title can stand for the reference to it
    return {**test, "field": field.removeprefix(f"{links}.") if field.startswith(f"{links}.") else TITLE}
