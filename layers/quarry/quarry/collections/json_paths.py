"""Keys of JSON columns, which can be named like columns: `metadata.author`, `metadata.address.city`. Pure.

The values at a key may have different types in different rows. A path has one type; a value of another type is null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import LiteralString, NamedTuple

from quarry.retrieval.facets import FacetKind, identifier

JSON_TYPES = frozenset(("json", "jsonb"))
NUMBER, MOMENT, TRUTH, TEXT = "numeric", "timestamp with time zone", "boolean", "text"
CATEGORIES: Mapping[str, str] = {NUMBER: "N", MOMENT: "D", TRUTH: "B", TEXT: "S", "bigint": "N", "uuid": "U"}
"""The types that a path may have, each with its category in Postgres."""
_READ_BY: Mapping[str, LiteralString] = {
    NUMBER: "json_number", MOMENT: "json_moment", TRUTH: "json_truth", "bigint": "json_whole_number", "uuid": "json_uuid",
}  # fmt: skip


TYPES_OF_KINDS: Mapping[FacetKind, str] = {
    "number": NUMBER, "money": NUMBER, "year": NUMBER, "date": MOMENT, "boolean": TRUTH,
}  # fmt: skip
"""The type of a path, by the kind of the facet that uses it; text for all other kinds."""
_WHOLE_NUMBERS = frozenset(("bigint", "integer", "smallint"))


class PathType(NamedTuple):
    """The type of the values at a path: one of `CATEGORIES`, or an array of it."""

    base: str = TEXT
    is_array: bool = False


def type_of_kind(kind: FacetKind) -> PathType:
    """The type of a path that a facet of this kind uses."""
    return PathType(TYPES_OF_KINDS.get(kind, TEXT), kind == "array")


def type_to_compare(base: str) -> PathType:
    """The type of a path that is compared with a column of the type `base`."""
    base = "bigint" if base in _WHOLE_NUMBERS else base
    return PathType(base if base in CATEGORIES else TEXT)


def keys_of(name: str) -> tuple[str, ...]:
    """The column that a path begins with, and its keys; empty for a plain name."""
    parts = tuple(name.split("."))
    return parts if len(parts) > 1 and all(parts) else ()


def own_name(name: str) -> str:
    """The name of a column, or the last key of a path."""
    return (keys_of(name) or (name,))[-1]


def overlap(name: str, other: str) -> bool:
    """Whether one of two names contains the other or equals it: `metadata` and `metadata.author`."""
    return covers(name, other) or covers(other, name)


def covers(name: str, other: str) -> bool:
    """Whether `other` equals the column or path `name`, or is within it."""
    return name == other or other.startswith(f"{name}.")


def covered(name: str, names: Iterable[str]) -> bool:
    """Whether one of several columns and paths equals this one or contains it."""
    return any(covers(each, name) for each in names)


def path_sql(keys: Sequence[str], type: PathType, row: LiteralString) -> LiteralString:
    """The value at a path in the row `row`, in SQL."""
    column, *inner, last = keys
    holder = f"{row}.{identifier(column)}" + "".join(f" -> {literal(key)}" for key in inner)
    text = f"({holder} ->> {literal(last)})"
    if type.is_array:
        held = f"({holder} -> {literal(last)})::jsonb"
        return (
            f"(case when jsonb_typeof({held}) = 'array' then array(select jsonb_array_elements_text({held}))"
            f" when {text} is not null and jsonb_typeof({held}) <> 'object' then array[{text}] end)"
        )
    read_by = _READ_BY.get(type.base)
    return f"{read_by}({text})" if read_by else text


def without_path(document: LiteralString, keys: Sequence[str]) -> LiteralString:
    """A document in SQL without the value at a path."""
    return f"json_without({document}, array[{', '.join(map(literal, keys))}])"


def literal(text: str) -> LiteralString:
    """A text as an SQL literal. A statement with parameters reads `%`: it is escaped."""
    escaped = text.replace("\\", "\\\\").replace("'", "''").replace("%", r"\x25")
    return f"E'{escaped}'" if "\\" in escaped else f"'{escaped}'"
