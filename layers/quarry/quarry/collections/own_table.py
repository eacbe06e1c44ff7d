"""The collections over tables of Quarry's, which files named `quarry.toml` in the package declare, as SQL."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, LiteralString, get_args, get_origin

from pydantic import AwareDatetime

from quarry.collections.collection import TITLE_MAX_CHARACTERS, Collection
from quarry.collections.declaration import FILE_NAME, CollectionDeclaration, read_declarations
from quarry.collections.declaration_parts import (
    line_columns,
)
from quarry.collections.names import table_name
from quarry.collections.relations import (
    keys_of,
)
from quarry.collections.uses import (
    UsedColumn,
    columns_named,
    declared_source,
    listed,
    quoted,
)  # fmt: skip
from quarry.platform.tables import LoadableTable, Row
from quarry.schema.source import ACTOR_SETTING, FacetKind, one_row

_KEPT_COLUMNS = ("text_search", "content_hash", "embedded_hash", "refused_hash", "refusals")
"""The columns of a table with its own words, apart from its fields."""
_MOMENT = "timestamp with time zone"
_BASES: Mapping[Any, str] = {datetime.date: "date", AwareDatetime: _MOMENT, bool: "boolean", int: "bigint"}


@dataclass(frozen=True)
class OwnTable(Collection):
    """A collection over a table of Quarry's that holds the words of its rows itself, so that nothing has to be kept up to
    date.

    Its vectors are in `NAME_embeddings`; its names need no quotes. `types` are the row types of Quarry's tables, by table.
    """

    types: Mapping[str, type[Row]] = field(default_factory=dict, compare=False)
    has_own_words: ClassVar[bool] = True

    @classmethod
    def of(cls, name: str, declaration: CollectionDeclaration, types: Mapping[str, type[Row]]) -> OwnTable:
        """The collection that a declaration describes."""
        source = declared_source(declaration)
        columns = {each: column_of(types, source[1], each) for each in ("id", *columns_named(declaration, {}))}
        # for a generated column, its facet says whether it is an array
        arrays = {facet.column or each for each, facet in declaration.facets.items() if facet.kind == "array"}
        columns |= {each: replace(used, is_array=True) for each, used in columns.items() if each in arrays}
        return cls(0, name, declaration, source, columns, ("id",), types=types)

    @property
    def rows(self) -> str:
        return self.source[1]

    @property
    def windows(self) -> str:
        return f"{self.name}_embeddings"

    @property
    def table_sql(self) -> LiteralString:
        return self.source[1]

    @property
    def source_sql(self) -> LiteralString:
        return self.table_sql

    def other_table(self, name: str) -> LiteralString:
        return table_name(name)[1]

    def of_same_owner(self, table: str, row: LiteralString, other: LiteralString) -> LiteralString:
        scope = self.declaration.scope
        type = self.types.get(table_name(table)[1])
        return f" and {other}.{scope} = {row}.{scope}" if scope and type and scope in type.model_fields else ""

    @property
    def counted(self) -> LiteralString:
        return self.declaration.where.sql if self.declaration.where else "true"

    @property
    def owner(self) -> LiteralString:
        return f"t.{self.declaration.scope}" if self.declaration.scope else "''"

    def guard(self, row: LiteralString = "t") -> LiteralString:
        scope = self.declaration.scope
        owned = f"{row}.{scope} = current_setting('{ACTOR_SETTING}', true)" if scope else "true"
        parts = (one_row(self.counted)(row), owned)
        return " and ".join(f"({part})" for part in parts if part != "true") or "true"

    def holds_words(self, row: LiteralString, text: LiteralString) -> LiteralString:
        return f"{row}.text_search @@ (select parsed_query({text}))"

    def key_value(self, row: LiteralString) -> LiteralString:
        return f"{row}.id"

    def column(self, name: str, row: LiteralString = "x") -> LiteralString:
        column, *keys = name.split(".")
        return f"{row}.{column}" + "".join(f"->>'{key}'" for key in keys)

    def text(self, name: str, row: LiteralString = "x") -> LiteralString:
        value = self.column(name, row)
        return f"array_to_string({value}, ', ')" if self.columns[name].is_array else value

    def value(self, name: str, kind: str, row: LiteralString) -> LiteralString:
        value, used = self.column(name, row), self.columns[name]
        if kind != "date":
            return value
        if used.path:
            return f"day_of_text({value})"
        return f"({value} at time zone 'UTC')::date" if used.base == _MOMENT else value

    def has_key(self, key: LiteralString, row: LiteralString = "x") -> LiteralString:
        return f"{row}.id = {key}"

    def other_column(self, name: str, row: LiteralString, kind: FacetKind = "value") -> LiteralString:
        return f"{row}.{name}"

    def other_text(self, name: str, row: LiteralString) -> LiteralString:
        return f"{row}.{name}"

    def other_value(self, name: str, row: LiteralString, kind: FacetKind) -> LiteralString:
        return f"{row}.{name}"

    def fields(self, row: LiteralString = "t") -> LiteralString:
        return f"{super().fields(row)} - array[{listed(map(quoted, _KEPT_COLUMNS))}]"

    @property
    def unshown_columns(self) -> tuple[str, ...]:
        return (*super().unshown_columns, *_KEPT_COLUMNS)

    def _beginning(self, row: LiteralString) -> LiteralString:
        text = next(iter(self.declaration.text), None)
        return "null" if text is None else f"left({self.text(text, row)}, {TITLE_MAX_CHARACTERS})"

    def _facet_lines(self, row: LiteralString) -> list[LiteralString]:
        return []  # what answers may quote of it is declared in full

    @property
    def languages(self) -> tuple[str, ...]:
        return ()

    @property
    def title_words(self) -> LiteralString:
        columns = listed([self.text(name, "t") for name in line_columns(self.declaration.title)])
        return f"title_words(joined_text(variadic array[{columns}]))"

    @cached_property
    def row_hash(self) -> LiteralString:
        return f"md5(({self.fields('x')})::text)"


def own_tables(module: str, loadable: Sequence[LoadableTable]) -> tuple[OwnTable, ...]:
    """The collections that the `quarry.toml` next to a module declares, over tables that files can be loaded into."""
    file = Path(module).with_name(FILE_NAME)
    types = {each.name: each.row for each in loadable}
    declared = read_declarations(file.read_text(encoding="utf-8"), str(file))
    return tuple(OwnTable.of(name, declaration, types) for name, declaration in declared.items())


def column_of(types: Mapping[str, type[Row]], table: str, name: str) -> UsedColumn:
    """A column of one of Quarry's tables, or a key of its JSON. Columns that files do not contain are text."""
    row = types.get(table)
    if row is None or name not in row.model_fields:
        return UsedColumn(0, "text", False, keys_of(name))
    annotation = row.model_fields[name].annotation
    bases = [_BASES[each] for each in (annotation, *get_args(annotation)) if each in _BASES]
    return UsedColumn(0, (bases or ["text"])[0], get_origin(annotation) is list)
