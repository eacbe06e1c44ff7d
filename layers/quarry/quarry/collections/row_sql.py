"""Builds parts of SQL statements about a row. Names and texts are quoted here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, LiteralString

from quarry.collections.declaration_parts import ColumnPart, Template, is_template, parse
from quarry.collections.predicate import Condition
from quarry.collections.relations import literal
from quarry.collections.used_columns import UsedColumn

LINE_BREAK: LiteralString = r"E'\n'"
ARGUMENTS_MAX = 100
"""The most arguments of a Postgres function."""


def line_sql(line: str, text: Callable[[str], LiteralString]) -> LiteralString:
    """A line in SQL; null where it is empty. `text` gives a column as text."""
    return f"nullif(btrim({_parts(parse(line), text) if is_template(line) else text(line)}), '')"


def _parts(template: Template, text: Callable[[str], LiteralString], *, is_whole: bool = False) -> LiteralString:
    """A template in SQL. If it `is_whole`, it is null as soon as one of its columns is empty."""
    made: list[LiteralString] = []
    for part in template:
        if isinstance(part, ColumnPart):
            value = rf"nullif(regexp_replace({text(part.column)}, '\s*\n\s*', ' ', 'g'), '')"
            made.append(value if is_whole else f"coalesce({value}, '')")
        elif isinstance(part, str):
            made.append(quoted(part))
        else:
            made.append(f"coalesce({_parts(part, text, is_whole=True)}, '')")
    return " || ".join(made) or "''"


def quoted(text: str) -> LiteralString:
    """A text as an SQL literal."""
    return literal(text)


def type_name(column: UsedColumn) -> LiteralString:
    """The type of a column, for casts from text."""
    # `character` without a length would be one character
    return "bpchar" if column.base == "character" else column.base


def listed(parts: Iterable[LiteralString]) -> LiteralString:
    """Parts of a statement, separated by commas."""
    return ", ".join(parts)


def joined_texts(separator: LiteralString, texts: Iterable[LiteralString]) -> LiteralString:
    """Texts in SQL joined by a separator, however many there are. Nulls are left out."""
    return f"array_to_string(array[{listed(texts)}]::text[], {separator})"


def hashed(texts: Iterable[LiteralString]) -> LiteralString:
    """A hash of texts in SQL. The texts are hashed as JSON, so that the boundaries between them count."""
    hashed_texts = [*texts]
    if len(hashed_texts) > ARGUMENTS_MAX:
        return f"md5(to_jsonb(array[{listed(hashed_texts)}]::text[])::text)"  # the same text
    return "md5(jsonb_build_array(" + listed(hashed_texts) + ")::text)"


_SQL_OF: Mapping[str, LiteralString] = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}


def predicate_sql(conditions: Sequence[Condition], column: Callable[[str], LiteralString]) -> LiteralString:
    """Whether a row meets all conditions of a predicate; `column` gives a field in SQL. As in a Query, a row without a value
    meets `!=`.
    """
    return " and ".join(_condition_sql(each, column) for each in conditions)


def _condition_sql(condition: Condition, column: Callable[[str], LiteralString]) -> LiteralString:
    if "not" in condition:
        return f"({_condition_sql(condition['not'], column)}) is not true"
    if "all_of" in condition:
        return f"({predicate_sql(condition['all_of'], column)})"
    if "any_of" in condition:
        return f"({' or '.join(_condition_sql(each, column) for each in condition['any_of'])})"
    value, op = column(condition["field"]), condition["op"]
    if op in ("is_null", "not_null"):
        return f"{value} is null" if op == "is_null" else f"{value} is not null"
    values = [_value_sql(each, column) for each in condition.get("values", [condition.get("value")])]
    if op == "between":
        return f"{value} between {values[0]} and {values[1]}"
    if op not in ("=", "!="):
        return f"{value} {_SQL_OF[op]} {values[0]}"
    met: LiteralString = f"{value} = {values[0]}" if len(values) == 1 else f"{value} in ({listed(values)})"
    met = value if values == ["true"] else met
    return f"({met}) is not true" if op == "!=" else met


def _value_sql(value: Any, column: Callable[[str], LiteralString]) -> LiteralString:
    if isinstance(value, Mapping):
        return column(value["field"])
    if isinstance(value, str):
        return quoted(value)
    truths: Mapping[bool, LiteralString] = {True: "true", False: "false"}
    return truths[value] if isinstance(value, bool) else f"{value}"
