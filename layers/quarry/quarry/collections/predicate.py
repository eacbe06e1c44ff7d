"""A condition on a row that its owner declares by name: `overdue = "due_on < today and closed_at is null"`.

Read by a grammar of its own, so that no SQL can be written in it:

    condition   one or more of: all, joined by `or`
    all         one or more of: part, joined by `and`
    part        `not` part, `( condition )`, or comparison
    comparison  field [= != < <= > >=] value, field between fixed and fixed, field [not] in ( literal, … ),
                field is [not] null, or a boolean field alone
    value       fixed, or another field
    fixed       number, 'text', true, false, `today`, `today + 14 days`

The result is what JSON says of the same condition in a Query. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from quarry.collections.expression import Tokens

LENGTH_MAX = 500
DEPTH_MAX = 5
"""The deepest nesting of parentheses and `not`: a query that contains the condition has a limit of its own."""

Condition: TypeAlias = Mapping[str, Any]
"""A condition as a Query in JSON writes it."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?\d+(?:\.\d+)?)|'(?P<text>(?:[^']|'')*)'|\"(?P<quoted>(?:[^\"]|\"\")+)\"|(?P<word>[^\W\d]\w*(?:\.\w+)*)"
    r"|(?P<sign><=|>=|<>|!=|[=<>(),+-]))"
)
_DAY = re.compile(r"today([+-]\d+d)?")
_KEYWORDS = frozenset(("and", "or", "not", "is", "in", "between", "null", "true", "false", "today", "days", "day"))
_HINT = "write comparisons of fields, such as \"due_on < today and status != 'done'\""
_OPERATORS = {"=": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def read_predicate(text: str) -> list[Condition]:
    """The conditions, all of which must hold. Raises ValueError, which says where the text goes wrong."""
    return _Reader(text).read()


def fields_of(conditions: Sequence[Condition]) -> Iterator[str]:
    """The fields that conditions name."""
    for condition in conditions:
        if "field" in condition:
            yield condition["field"]
            value = condition.get("value")
            if isinstance(value, dict) and "field" in value:
                yield value["field"]
        for key in ("any_of", "all_of"):
            yield from fields_of(condition.get(key, ()))
        if "not" in condition:
            yield from fields_of([condition["not"]])


def depends_on_day(conditions: Sequence[Condition]) -> bool:
    """Whether the conditions depend on today's date."""
    return any(
        isinstance(value, str) and _DAY.fullmatch(value) is not None
        for condition in conditions
        for value in (condition.get("value"), *condition.get("values", ()))
    ) or any(
        depends_on_day(parts)
        for condition in conditions
        for parts in (
            condition.get("any_of", ()),
            condition.get("all_of", ()),
            [condition["not"]] if "not" in condition else [],
        )
    )


class _Reader:
    def __init__(self, text: str) -> None:
        if len(text) > LENGTH_MAX:
            raise ValueError(f"a predicate has at most {LENGTH_MAX} characters")
        self._tokens = Tokens(text, _TOKEN, _KEYWORDS, _HINT)
        self._depth = 0

    def read(self) -> list[Condition]:
        condition = self._condition()
        if self._tokens.next[0] != "end":
            raise self._tokens.unexpected("`and`, `or` or the end")
        return list(condition["all_of"]) if "all_of" in condition else [condition]

    def _condition(self) -> Condition:
        parts = [self._all()]
        while self._tokens.take("keyword", "or"):
            parts.append(self._all())
        return {"any_of": parts} if len(parts) > 1 else parts[0]

    def _all(self) -> Condition:
        parts = [self._part()]
        while self._tokens.take("keyword", "and"):
            parts.append(self._part())
        return {"all_of": parts} if len(parts) > 1 else parts[0]

    def _part(self) -> Condition:
        negates = self._tokens.take("keyword", "not") is not None
        if not negates and not self._tokens.take("sign", "("):
            return self._comparison()
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise ValueError(f"{self._tokens.text!r} is nested more than {DEPTH_MAX} deep")
        part = self._part() if negates else self._condition()
        if not negates:
            self._tokens.expect("sign", ")")
        self._depth -= 1
        return {"not": part} if negates else part

    def _comparison(self) -> Condition:
        field = self._tokens.take("word")
        if field is None:
            raise self._tokens.unexpected("the name of a field")
        if self._tokens.take("keyword", "is"):
            op = "not_null" if self._tokens.take("keyword", "not") else "is_null"
            self._tokens.expect("keyword", "null")
            return {"field": field, "op": op}
        if self._tokens.take("keyword", "between"):
            first = self._fixed()
            self._tokens.expect("keyword", "and")
            return {"field": field, "op": "between", "values": [first, self._fixed()]}
        excludes = self._tokens.take("keyword", "not") is not None
        if excludes or self._tokens.next == ("keyword", "in"):
            self._tokens.expect("keyword", "in")
            return {"field": field, "op": "!=" if excludes else "=", "values": self._listed()}
        operator = self._tokens.take("sign", *_OPERATORS)
        if operator is None:
            return {"field": field, "op": "=", "value": True}
        return {"field": field, "op": _OPERATORS[operator], "value": self._value()}

    def _listed(self) -> list[Any]:
        self._tokens.expect("sign", "(")
        values = [self._literal()]
        while self._tokens.take("sign", ","):
            values.append(self._literal())
        self._tokens.expect("sign", ")")
        return values

    def _value(self) -> Any:
        other = self._tokens.take("word")
        return self._fixed() if other is None else {"field": other}

    def _fixed(self) -> Any:
        if self._tokens.take("keyword", "today"):
            days = self._days()
            return f"today{days:+d}d" if days else "today"
        return self._literal()

    def _days(self) -> int:
        """The number of days after today: `+ 14 days`, `- 1 day`, or nothing."""
        kind, value = self._tokens.next
        if kind == "number" and value.startswith("-"):  # `today -14`
            sign: str | None = "+"
        else:
            sign = self._tokens.take("sign", "+", "-")
        number = self._tokens.take("number")
        if sign is None and number is None:
            return 0
        if sign is None or number is None or not number.lstrip("-").isdecimal() or len(number) > 5:
            raise self._tokens.unexpected("a number of days, as in `today + 14 days`,")
        self._tokens.take("keyword", "days", "day")
        return int(number) if sign == "+" else -int(number)

    def _literal(self) -> Any:
        if (number := self._tokens.take("number")) is not None:
            return float(number) if "." in number else int(number)
        if (text := self._tokens.take("text")) is not None:
            return text
        if (truth := self._tokens.take("keyword", "true", "false")) is not None:
            return truth == "true"
        if self._tokens.next == ("keyword", "null"):
            raise ValueError(f"{self._tokens.text!r} compares with null: write `is null` or `is not null`")
        raise self._tokens.unexpected("a number, a text in 'single quotes', true or false")
