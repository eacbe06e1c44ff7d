"""A collection in a table of Quarry's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import LiteralString

from quarry.collections.collection import TITLE_MAX_CHARACTERS, Collection
from quarry.collections.declaration import CollectionDeclaration, FacetKind
from quarry.collections.naming import table_name
from quarry.collections.row_sql import listed, quoted
from quarry.collections.used_columns import UsedColumn, columns_named, declared_source

_KEPT_COLUMNS = ("text_search", "content_hash", "embedded_hash", "refused_hash", "refusals")
"""What a table that holds its own words has beside its fields."""


@dataclass(frozen=True)
class OwnTable(Collection):
    """A collection in a table of Quarry's own, which holds the words of its rows itself: nothing is to be kept in step. Its
    vectors are in `NAME_embeddings`; its names need no quotes.
    """

    @classmethod
    def of(cls, name: str, declaration: CollectionDeclaration) -> OwnTable:
        """The table that a declaration names. Which of its columns are dates and arrays, facets say."""
        names = columns_named(declaration, ("id",))
        kinds = {facet.column or name: facet.kind for name, facet in declaration.facets.items() if facet.by is None}
        kinds |= {declaration.date: "date"} if declaration.date else {}
        columns = {
            each: UsedColumn(0, "date" if kinds.get(each) == "date" else "text", kinds.get(each) == "array")
            for each in names
        }
        return cls(0, name, declaration, declared_source(declaration), columns, ("id",))

    @property
    def rows(self) -> str:
        return self.source[1]

    @property
    def windows(self) -> str:
        return f"{self.name}_embeddings"

    @property
    def source_sql(self) -> LiteralString:
        return self.source[1]

    def other_table(self, name: str) -> LiteralString:
        return table_name(name)[1]

    def column(self, name: str, row: LiteralString = "x") -> LiteralString:
        return f"{row}.{name}"

    def text(self, name: str, row: LiteralString = "x") -> LiteralString:
        return f"array_to_string({row}.{name}, ', ')" if self.columns[name].is_array else f"{row}.{name}"

    def has_key(self, key: LiteralString, row: LiteralString = "x") -> LiteralString:
        return f"{row}.id = {key}"

    def other_column(self, name: str, row: LiteralString, kind: FacetKind = "value") -> LiteralString:
        return f"{row}.{name}"

    def other_text(self, name: str, row: LiteralString) -> LiteralString:
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

    @cached_property
    def row_hash(self) -> LiteralString:
        return f"md5(({self.fields('x')})::text)"
