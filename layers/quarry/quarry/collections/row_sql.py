"""Parts of SQL statements about a row, and the columns that a collection uses, as SQL reads them. Names and texts are quoted here
and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, LiteralString

from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.declaration_parts import ColumnPart, Template, is_template, parse
from quarry.collections.predicate import Condition
from quarry.collections.relations import TRUTHS, Column, PathType, Relation, keys_of, literal, path_sql
from quarry.collections.uses import Relations, columns_named, declared_source, path_types
from quarry.schema.source import NUMERIC_KINDS, FacetKind, identifier

NUMBERS = frozenset(("smallint", "integer", "bigint", "numeric", "real", "double precision"))
"""The types of numbers, as `base` of a column."""
_TEXTS = frozenset(("text", "character varying"))


@dataclass(frozen=True)
class UsedColumn:
    """A column that a collection uses: its number in the table and its type without domains and arrays.

    For a key in a JSON column, `path` holds that column and the keys.
    """

    number: int
    base: str
    is_array: bool
    path: tuple[str, ...] = ()

    @classmethod
    def of(cls, column: Column) -> UsedColumn:
        """A column of a table."""
        return cls(column.number, column.base, column.is_array)

    @classmethod
    def at(cls, relation: Relation, name: str, type: PathType | None = None) -> UsedColumn:
        """A column or path of a table. Raises KeyError where there is none."""
        column = relation.at(name, type)
        if column is None:
            raise KeyError(name)
        return replace(cls.of(column), path=() if name in relation.by_name else keys_of(name))

    @classmethod
    def stored(cls, stored: Mapping[str, Any]) -> UsedColumn:
        """A column as the database stores it."""
        return cls(**{**stored, "path": tuple(stored.get("path", ()))})

    def to_store(self) -> dict[str, object]:
        """What the database stores. Earlier versions know no paths."""
        kept = asdict(self)
        return kept if self.path else {name: each for name, each in kept.items() if name != "path"}

    def sql(self, name: str, row: LiteralString) -> LiteralString:
        """The value of the column `name` in the row `row`."""
        return (
            path_sql(self.path, PathType(self.base, self.is_array), row) if self.path else f"{row}.{identifier(name)}"
        )

    def as_kind(self, name: str, kind: str, row: LiteralString) -> LiteralString:
        """The value as a facet or field of a kind. A column of that type is not cast, so that an index on it can be used."""
        value, base = self.sql(name, row), self.base
        if self.is_array:
            return f"{value}::text[]"
        if kind == "date":
            return value if base == "date" else f"({value})::date"
        if kind in NUMERIC_KINDS:
            return value if base in NUMBERS else f"{value}::numeric"
        if kind == "boolean":
            return value if base == "boolean" else _number_truth(value) if base in NUMBERS else _text_truth(value)
        return value if kind == "datetime" or base in _TEXTS else f"{value}::text"


def as_kind(value: LiteralString, kind: FacetKind) -> LiteralString:
    """A value of unknown type, as the kind of its facet."""
    if kind == "date":
        return f"({value})::date"
    return f"{value}::numeric" if kind in NUMERIC_KINDS else value


def _number_truth(value: LiteralString) -> LiteralString:
    return f"({value}::numeric <> 0)"


def _text_truth(value: LiteralString) -> LiteralString:
    """Whether a text says yes; null where it says neither yes nor no."""
    text: LiteralString = f"lower(btrim({value}::text))"
    yes, no = (", ".join(f"'{pair[place]}'" for pair in (*TRUTHS, ("1", "0"))) for place in (0, 1))
    return f"(case when {text} in ({yes}) then true when {text} in ({no}) then false end)"


def used_columns(declaration: CollectionDeclaration, relation: Relation, relations: Relations) -> dict[str, UsedColumn]:
    """The columns and paths of the source that a collection uses, by name. `relations` are the tables that it names.

    Raises KeyError for a column that does not exist.
    """
    types = path_types(declaration, relations)
    names = columns_named(declaration, {**relations, declared_source(declaration): relation})
    return {name: UsedColumn.at(relation, name, types.get(name, PathType())) for name in names}


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
