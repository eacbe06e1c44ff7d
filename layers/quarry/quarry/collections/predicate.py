"""Conditions, measures and expressions that an owner declares: `overdue = "due_on < today and closed_at is null"`.

Read by a grammar of its own, so that no SQL can be written in it:

    condition   one or more of: all, joined by `or`
    all         one or more of: part, joined by `and`
    part        `not` part, `( condition )`, or comparison
    comparison  field [= != < <= > >=] value, field between fixed and fixed, field [not] in ( literal, … ),
                field is [not] null, or a boolean field alone
    value       fixed, or another field
    fixed       number, 'text', true, false, `today`, `today + 14 days`

A measure is a number declared by name: `revenue = { sum = "amount", where = "status != 'cancelled'", unit = "EUR" }`.

The result is what JSON says of the same condition or number in a Query. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, LiteralString, TypeAlias

EXPRESSION_MAX = 300
_EXPRESSION_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<word>(?:[A-Za-z_]|[^\x00-\x7f])[\w$]*(?:\.[\w$]+)*)"
    r"|\"(?P<quoted>(?:[^\"{}]|\"\")+)\"|(?P<sign>[-+*/(),]))"
)


class Tokens:
    """The tokens of a text, in order.

    The kind of a token is its group in the pattern, `keyword` for the given words, and `end` after the last. A word may be in
    double quotes, a text in single quotes.
    """

    def __init__(self, text: str, pattern: re.Pattern[str], keywords: Set[str], hint: str) -> None:
        self.text = text
        self._pattern, self._keywords, self._hint = pattern, keywords, hint
        self._tokens = [*self._split(), ("end", "")]
        self._place = 0

    def _split(self) -> Iterator[tuple[str, str]]:
        place, text = 0, self.text.rstrip()
        while place < len(text):
            match = self._pattern.match(text, place)
            if match is None:
                raise ValueError(f"{self.text!r} is wrong at {text[place:].strip()[:12]!r}: {self._hint}")
            kind, value = str(match.lastgroup), match[match.lastgroup or 0]
            if kind == "word" and value.lower() in self._keywords:
                kind, value = "keyword", value.lower()
            elif kind == "quoted":
                kind, value = "word", value.replace('""', '"')
            elif kind == "text":
                value = value.replace("''", "'")
            yield kind, value
            place = match.end()

    @property
    def next(self) -> tuple[str, str]:
        """The kind and value of the next token."""
        return self._tokens[self._place]

    def take(self, kind: str, *values: str) -> str | None:
        """Take the next token if it has this kind and, where values are given, one of them."""
        next_kind, value = self.next
        if next_kind != kind or (values and value not in values):
            return None
        self._place += 1
        return value

    def expect(self, kind: str, *values: str) -> None:
        """Take the next token. Raises ValueError where it is a different one."""
        if self.take(kind, *values) is None:
            raise self.unexpected(f"`{values[0]}`" if values else "the end")

    def unexpected(self, expected: str) -> ValueError:
        """The error that the next token is not what belongs here."""
        kind, value = self.next
        return ValueError(f"{self.text!r} has {'its end' if kind == 'end' else repr(value)} where {expected} should be")


def expression_columns(expression: str) -> tuple[str, ...]:
    """The columns of an expression, each once. Raises ValueError where the text is no expression."""
    columns: dict[str, None] = {}

    def note(name: str) -> LiteralString:
        columns[name] = None
        return "null"

    expression_sql(expression, note)
    if not columns:
        raise ValueError(f"{expression!r} names no column")
    return tuple(columns)


def expression_sql(expression: str, column: Callable[[str], LiteralString]) -> LiteralString:
    """The expression in SQL; `column` gives a column as a number. Division by zero is null. Raises ValueError."""
    if len(expression) > EXPRESSION_MAX:
        raise ValueError(f"an expression has at most {EXPRESSION_MAX} characters")
    tokens = Tokens(expression, _EXPRESSION_TOKEN, {"coalesce"}, "columns, numbers, + - * / and ( )")
    sql = _sum(tokens, column)
    tokens.expect("end")
    return sql


def _sum(tokens: Tokens, column: Callable[[str], LiteralString]) -> LiteralString:
    sql = _product(tokens, column)
    while sign := tokens.take("sign", "+", "-"):
        sql = f"({sql} {'+' if sign == '+' else '-'} {_product(tokens, column)})"
    return sql


def _product(tokens: Tokens, column: Callable[[str], LiteralString]) -> LiteralString:
    sql = _factor(tokens, column)
    while sign := tokens.take("sign", "*", "/"):
        factor = _factor(tokens, column)
        sql = f"({sql} * {factor})" if sign == "*" else f"({sql} / nullif({factor}, 0))"
    return sql


def _factor(tokens: Tokens, column: Callable[[str], LiteralString]) -> LiteralString:
    """A number, a column, `coalesce(a, b)`, or an expression in parentheses, with or without a minus sign."""
    if tokens.take("sign", "-"):
        return f"(- {_factor(tokens, column)})"
    if tokens.take("sign", "("):
        sql = _sum(tokens, column)
        tokens.expect("sign", ")")
        return sql
    if tokens.take("keyword"):
        tokens.expect("sign", "(")
        first = _sum(tokens, column)
        tokens.expect("sign", ",")
        sql = f"coalesce({first}, {_sum(tokens, column)})"
        tokens.expect("sign", ")")
        return sql
    if number := tokens.take("number"):
        return number  # digits and a point, as the pattern has them
    name = tokens.take("word")
    if name is None:
        raise tokens.unexpected("a column or a number")
    return column(name)


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


def _parts(condition: Condition) -> list[Condition]:
    """The conditions that a condition is made of."""
    negated = [condition["not"]] if "not" in condition else []
    return [*condition.get("any_of", ()), *condition.get("all_of", ()), *negated]


def fields_of(conditions: Sequence[Condition]) -> Iterator[str]:
    """The fields that conditions name."""
    for condition in conditions:
        if "field" in condition:
            yield condition["field"]
            value = condition.get("value")
            if isinstance(value, dict) and "field" in value:
                yield value["field"]
        yield from fields_of(_parts(condition))


def depends_on_day(conditions: Sequence[Condition]) -> bool:
    """Whether the conditions depend on today's date."""
    return any(
        any(isinstance(each, str) and _DAY.fullmatch(each) for each in (one.get("value"), *one.get("values", ())))
        or depends_on_day(_parts(one))
        for one in conditions
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


OF_FIELDS = ("count", "count_distinct", "sum", "avg", "min", "max", "median", "percentile", "stddev", "share")
OF_NUMBERS = ("ratio", "difference", "change", "product", "sum", "running", "previous", "percent_of_total", "rank")
_FUNCTIONS = tuple(dict.fromkeys((*OF_FIELDS, *OF_NUMBERS)))
_DESCRIPTIVE = ("unit", "synonyms", "label", "describe")
_MORE = ("where", "p", "steps", *_DESCRIPTIVE)
_WORD = re.compile(r"[^\W\d][\w.]*")
_OF_EXPRESSIONS = frozenset(
    "age abs round today year quarter month week day weekday hour minute fiscal_year fiscal_quarter in_business_hours".split()
)


def is_measure(value: object) -> Mapping[str, Any]:
    """The declaration itself. Raises ValueError, which says what is wrong with it."""
    if not isinstance(value, Mapping):
        raise ValueError('a measure is a table, such as { sum = "amount" }')
    read_measure(value)
    synonyms = value.get("synonyms", [])
    if not isinstance(synonyms, list) or not all(isinstance(each, str) for each in synonyms):
        raise ValueError("`synonyms` is a list of words")
    for name in ("unit", "label", "describe"):
        if not isinstance(value.get(name, ""), str):
            raise ValueError(f"`{name}` is text")
    return value


def read_measure(value: Mapping[str, Any]) -> dict[str, Any]:
    """The aggregate, with its conditions read. Raises ValueError."""
    functions = [key for key in value if key in _FUNCTIONS]
    if len(functions) != 1:
        raise ValueError(f"a measure has one of {', '.join(_FUNCTIONS)}")
    if odd := [key for key in value if key not in (*functions, *_MORE)]:
        raise ValueError(f"a measure has no {odd[0]!r}: it has {', '.join(_MORE)} beside its function")
    [function] = functions
    of = value[function]
    aggregate: dict[str, Any] = {"fn": function, **{key: value[key] for key in ("p", "steps") if key in value}}
    if isinstance(of, list):
        aggregate["of"] = [read_measure(each) if isinstance(each, Mapping) else each for each in of]
        if function not in OF_NUMBERS or len(of) > 2:
            raise ValueError(
                f"{function} takes a field" if function not in OF_NUMBERS else f"{function} takes two numbers"
            )
    elif function in OF_NUMBERS and function != "sum":
        aggregate["of"] = [of]
    elif isinstance(of, str) and of not in ("", "*"):
        aggregate["field"] = of
    if "where" in value:
        if not isinstance(value["where"], str):
            raise ValueError("`where` is a condition in text, such as \"status != 'cancelled'\"")
        aggregate["where"] = read_predicate(value["where"])
    return aggregate


def names_of(measure: Mapping[str, Any]) -> Iterator[str]:
    """The fields that a read measure names, and what its conditions compare."""
    if isinstance(measure.get("field"), str):
        yield from _names(measure["field"])
    for condition in measure.get("where", ()):
        yield from fields_of([{**condition, "value": None} if "field" in condition else condition])
    for each in measure.get("of", ()):
        if isinstance(each, Mapping):
            yield from names_of(each)
        elif isinstance(each, str) and "(" in each:
            yield from _names(each.partition("(")[2])


def measures_of(measure: Mapping[str, Any]) -> Iterator[str]:
    """The other measures that a read measure is computed of."""
    for each in measure.get("of", ()):
        if isinstance(each, Mapping):
            yield from measures_of(each)
        elif isinstance(each, str) and "(" not in each and each != "count":
            yield each


def _names(expression: str) -> Iterator[str]:
    words = (each[0] for each in _WORD.finditer(expression))
    yield from (each for each in words if each not in (*_OF_EXPRESSIONS, *_FUNCTIONS))


def check_measures(declared: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises ValueError for a measure that is computed of none that exists, or of itself."""
    of = {name: tuple(measures_of(read_measure(value))) for name, value in declared.items()}
    for name in of:
        if name in _FUNCTIONS:
            raise ValueError(f"a measure cannot be called {name}, which is a function")
        pending, visited = [*of[name]], set[str]()
        while pending:
            each = pending.pop()
            if each not in of:
                raise ValueError(f"the measure {name} uses {each!r}, which is not a measure")
            if each == name:
                raise ValueError(f"the measure {name} uses itself")
            if each not in visited:
                visited.add(each)
                pending += of[each]
