"""Measures that an owner declares by name: `revenue = { sum = "amount", where = "status != 'cancelled'", unit = "EUR" }`.

The result is what JSON says of the same number in a Query. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from quarry.collections.predicate import fields_of, read_predicate

OF_FIELDS = ("count", "count_distinct", "sum", "avg", "min", "max", "median", "percentile", "stddev", "share")
OF_NUMBERS = ("ratio", "difference", "change", "product", "sum", "running", "previous", "percent_of_total", "rank")
_FUNCTIONS = tuple(dict.fromkeys((*OF_FIELDS, *OF_NUMBERS)))
_TOLD = ("unit", "synonyms", "label", "describe")
_MORE = ("where", "p", "steps", *_TOLD)
_WORD = re.compile(r"[^\W\d][\w.]*")
_OF_EXPRESSIONS = frozenset(
    ("age", "abs", "round", "today", "year", "quarter", "month", "week", "day", "weekday", "hour", "minute")
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
    read: dict[str, Any] = {"fn": function, **{key: value[key] for key in ("p", "steps") if key in value}}
    if isinstance(of, list):
        read["of"] = [read_measure(each) if isinstance(each, Mapping) else each for each in of]
        if function not in OF_NUMBERS or len(of) > 2:
            raise ValueError(
                f"{function} takes a field" if function not in OF_NUMBERS else f"{function} takes two numbers"
            )
    elif function in OF_NUMBERS and function != "sum":
        read["of"] = [of]
    elif isinstance(of, str) and of not in ("", "*"):
        read["field"] = of
    if "where" in value:
        if not isinstance(value["where"], str):
            raise ValueError("`where` is a condition in text, such as \"status != 'cancelled'\"")
        read["where"] = read_predicate(value["where"])
    return read


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
        open_, seen = [*of[name]], set[str]()
        while open_:
            each = open_.pop()
            if each not in of:
                raise ValueError(f"the measure {name} is computed of {each!r}, which is no measure")
            if each == name:
                raise ValueError(f"the measure {name} is computed of itself")
            if each not in seen:
                seen.add(each)
                open_ += of[each]
