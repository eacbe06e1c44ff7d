"""A number computed from columns of a row: `unit_price * quantity * (1 - discount)`.

A small grammar reads the expression, so that it can contain no other SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from typing import LiteralString

LENGTH_MAX = 300
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<word>[A-Za-z_\u0080-\uffff][\w$]*(?:\.[\w$]+)*)"
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
        found, value = self.next
        if found != kind or (values and value not in values):
            return None
        self._place += 1
        return value

    def expect(self, kind: str, *values: str) -> None:
        """Take the next token. Raises ValueError where it is a different one."""
        if self.take(kind, *values) is None:
            raise self.unexpected(f"`{values[0]}`" if values else "the end")

    def unexpected(self, wanted: str) -> ValueError:
        """The error that the next token is not what belongs here."""
        kind, value = self.next
        return ValueError(f"{self.text!r} has {'its end' if kind == 'end' else repr(value)} where {wanted} should be")


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
    if len(expression) > LENGTH_MAX:
        raise ValueError(f"an expression has at most {LENGTH_MAX} characters")
    tokens = Tokens(expression, _TOKEN, {"coalesce"}, "columns, numbers, + - * / and ( )")
    made = _sum(tokens, column)
    tokens.expect("end")
    return made


def _sum(tokens: Tokens, column: Callable[[str], LiteralString]) -> LiteralString:
    made = _product(tokens, column)
    while sign := tokens.take("sign", "+", "-"):
        made = f"({made} {'+' if sign == '+' else '-'} {_product(tokens, column)})"
    return made


def _product(tokens: Tokens, column: Callable[[str], LiteralString]) -> LiteralString:
    made = _factor(tokens, column)
    while sign := tokens.take("sign", "*", "/"):
        factor = _factor(tokens, column)
        made = f"({made} * {factor})" if sign == "*" else f"({made} / nullif({factor}, 0))"
    return made


def _factor(tokens: Tokens, column: Callable[[str], LiteralString]) -> LiteralString:
    """A number, a column, `coalesce(a, b)`, or an expression in parentheses, with or without a minus sign."""
    if tokens.take("sign", "-"):
        return f"(- {_factor(tokens, column)})"
    if tokens.take("sign", "("):
        made = _sum(tokens, column)
        tokens.expect("sign", ")")
        return made
    if tokens.take("keyword"):
        tokens.expect("sign", "(")
        first = _sum(tokens, column)
        tokens.expect("sign", ",")
        made = f"coalesce({first}, {_sum(tokens, column)})"
        tokens.expect("sign", ")")
        return made
    if number := tokens.take("number"):
        return number  # digits and a point, as the pattern has them
    name = tokens.take("word")
    if name is None:
        raise tokens.unexpected("a column or a number")
    return column(name)
