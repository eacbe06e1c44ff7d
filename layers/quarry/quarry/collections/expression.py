"""A number reckoned from columns of a row, `unit_price * quantity * (1 - discount)`: read by a grammar of its own, so that
nothing else of SQL can be said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import LiteralString

LENGTH_MAX = 300
_TOKEN = re.compile(
    r'\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_\u0080-\uffff][\w$]*(?:\.[\w$]+)*)|"((?:[^"%{}]|"")+)"|([-+*/(),]))'
)
_FUNCTION = "coalesce"


def expression_columns(expression: str) -> tuple[str, ...]:
    """The columns that an expression is made of, each once. Raises ValueError for what is no expression."""
    return tuple(_Reader(expression, lambda name: "null").read().columns)


def expression_sql(expression: str, column: Callable[[str], LiteralString]) -> LiteralString:
    """The expression in SQL, `column` being a column as a number. What is divided by nothing is null. Raises ValueError."""
    return _Reader(expression, column).read().sql


@dataclass
class _Reader:
    """expression: products with + or - between; product: factors with * or /; factor: a number, a column, `coalesce(a, b)`, or an
    expression in parentheses, each with a - before it or not.
    """

    text: str
    column: Callable[[str], LiteralString]
    columns: dict[str, None] = field(default_factory=dict)
    sql: LiteralString = ""

    def read(self) -> _Reader:
        if len(self.text) > LENGTH_MAX:
            raise ValueError(f"an expression has at most {LENGTH_MAX} characters")
        self._tokens = [*self._split(), ("end", "")]
        self._place = 0
        self.sql = self._sum()
        if self._token[0] != "end":
            raise ValueError(f"{self.text!r} cannot be reckoned at {self._token[1]!r}")
        if not self.columns:
            raise ValueError(f"{self.text!r} names no column")
        return self

    def _split(self) -> Iterator[tuple[str, str]]:
        place, text = 0, self.text.rstrip()
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise ValueError(
                    f"{self.text!r} cannot be reckoned at {text[place:].strip()[:1]!r}: columns, numbers, + - * / and ( )"
                )
            number, plain, quoted, sign = match.groups()
            if number:
                yield "number", number
            elif plain or quoted:
                yield ("function" if plain == _FUNCTION else "column"), plain or quoted.replace('""', '"')
            else:
                yield sign, sign
            place = match.end()

    @property
    def _token(self) -> tuple[str, str]:
        return self._tokens[self._place]

    def _take(self, *kinds: str) -> str | None:
        kind, text = self._token
        if kind not in kinds:
            return None
        self._place += 1
        return text

    def _expect(self, sign: str) -> None:
        if self._take(sign) is None:
            raise ValueError(f"{self.text!r} lacks a {sign!r}")

    def _sum(self) -> LiteralString:
        made = self._product()
        while sign := self._take("+", "-"):
            made = f"({made} {'+' if sign == '+' else '-'} {self._product()})"
        return made

    def _product(self) -> LiteralString:
        made = self._factor()
        while sign := self._take("*", "/"):
            factor = self._factor()
            made = f"({made} * {factor})" if sign == "*" else f"({made} / nullif({factor}, 0))"
        return made

    def _factor(self) -> LiteralString:
        if self._take("-"):
            return f"(- {self._factor()})"
        if self._take("("):
            made = self._sum()
            self._expect(")")
            return made
        if self._take("function"):
            self._expect("(")
            first = self._sum()
            self._expect(",")
            second = self._sum()
            self._expect(")")
            return f"coalesce({first}, {second})"
        if number := self._take("number"):
            return _literal(number)
        name = self._take("column")
        if name is None:
            raise ValueError(f"{self.text!r} ends early" if self._token[0] == "end" else
                             f"{self.text!r} cannot be reckoned at {self._token[1]!r}")  # fmt: skip
        self.columns[name] = None
        return self.column(name)


def _literal(number: str) -> LiteralString:
    """Digits and a point, sign by sign, as SQL has them."""
    digits: dict[str, LiteralString] = {
        "0": "0", "1": "1", "2": "2", "3": "3", "4": "4", "5": "5", "6": "6", "7": "7", "8": "8", "9": "9", ".": ".",
    }  # fmt: skip
    return "".join(digits[sign] for sign in number)
