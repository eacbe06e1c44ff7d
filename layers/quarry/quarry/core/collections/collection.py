"""A declared collection as SQL: what its rows are in the table that it is made of, and beside it.

Beside the source stand two tables of ours: `rows_N`, which words are looked for in, and `windows_N`, with the vectors. Both know
a row by its key as text: that of a single column as Postgres writes it, of several a JSON array of them. What they hold is made
of the source alone; readers get everything else from the source itself, with their own rights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import LiteralString

from psycopg.sql import Literal

from quarry.core.collections.declaration import (
    CollectionDeclaration,
    FacetDeclaration,
    split_template,
    table_name,
    template_columns,
)
from quarry.core.collections.guessing import words
from quarry.core.collections.relations import Column, Relation
from quarry.core.retrieval.facets import identifier

TITLE_MAX_CHARACTERS = 160
ENGLISH = "english"
OTHER_LANGUAGE = "simple"
"""What a row is read by whose language no text search configuration fits."""
TEXT_MAX_CHARACTERS = 200_000
"""So much of a row's text is searched: a tsvector holds a megabyte."""


@dataclass(frozen=True)
class UsedColumn:
    """A column that a collection is made of: its number in the table, and the type beneath its domains and arrays."""

    number: int
    base: str
    is_array: bool

    @classmethod
    def of(cls, column: Column) -> UsedColumn:
        return cls(column.number, column.base, column.is_array)


@dataclass(frozen=True)
class Collection:
    """A collection that the database keeps. `columns` are those of the source that it uses, by name."""

    id: int
    name: str
    declaration: CollectionDeclaration
    source: tuple[str, str]
    columns: Mapping[str, UsedColumn]
    key: tuple[str, ...]
    has_row_security: bool = False
    known_languages: tuple[str, ...] = ()
    functions_hash: str | None = None
    """What the database has its functions as; None where they were not looked at."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The text search configurations that its rows are read by; of rows that name their own, those that there are."""
        language = self.declaration.language
        return (language,) if isinstance(language, str) else self.known_languages or (OTHER_LANGUAGE,)

    @property
    def rows(self) -> str:
        """The table of its rows' words."""
        return f"rows_{self.id}"

    @property
    def windows(self) -> str:
        """The table of its vectors."""
        return f"windows_{self.id}"

    @property
    def source_sql(self) -> LiteralString:
        """The source's name in SQL."""
        return identifier(*self.source)

    def column(self, name: str, row: LiteralString = "x") -> LiteralString:
        """A column of the source's row `row`."""
        return row + "." + identifier(name)

    def text(self, name: str, row: LiteralString = "x") -> LiteralString:
        """A column of the source's row as text; of an array, its elements with commas between."""
        value = self.column(name, row)
        return f"array_to_string({value}, ', ')" if self.columns[name].is_array else f"{value}::text"

    def key_text(self, row: LiteralString = "x") -> LiteralString:
        """The key of the source's row as text."""
        if len(self.key) == 1:
            return self.column(self.key[0], row) + "::text"
        return "jsonb_build_array(" + _listed(self.column(name, row) for name in self.key) + ")::text"

    def has_key(self, key: LiteralString, row: LiteralString = "x") -> LiteralString:
        """Whether the source's row is the one with this key as text, so that an index of the source serves."""
        if len(self.key) == 1:
            return f"{self.column(self.key[0], row)} = ({key})::{_type(self.columns[self.key[0]])}"
        return " and ".join(
            f"{self.column(name, row)} = (({key})::jsonb ->> {place})::{_type(self.columns[name])}"
            for place, name in enumerate(self.key)
        )

    def has_key_among(self, row: LiteralString = "t") -> LiteralString:
        """Whether the source's row has one of some keys, as a template with a place for their array."""
        typed = [
            f"k.key::{_type(self.columns[name])}" if len(self.key) == 1
            else f"(k.key::jsonb ->> {place})::{_type(self.columns[name])}"
            for place, name in enumerate(self.key)
        ]  # fmt: skip
        columns = _listed(self.column(name, row) for name in self.key)
        return f"({columns}) in (select {', '.join(typed)} from unnest({{}}::text[]) k (key))"

    def title(self, row: LiteralString = "t") -> LiteralString:
        """The title of the source's row; of one without, the beginning of its text, or else its key. Never null."""
        texts = _listed(self.text(name, row) for name in self.declaration.text)
        beginning = f"nullif(btrim(left(concat_ws(' ', {texts}), {TITLE_MAX_CHARACTERS})), '')"
        if self.declaration.title is None:
            return f"coalesce({beginning}, {self.key_text(row)})"
        own = f"nullif(btrim({self._template(self.declaration.title_parts, row)}), '')"
        return f"coalesce({own}, {beginning}, {self.key_text(row)})"

    def body(self, row: LiteralString = "t") -> LiteralString:
        """What answers may quote of the source's row: the texts that are cited, those of weight D and the facets with their names
        before them (`city: Oslo`), each in lines of its own.
        """
        declared = self.declaration
        titles = {*declared.title_columns}
        lines = [self._named_line(name, row) for name in declared.cited if name not in titles]
        if titles & {*declared.cited}:
            lines.insert(0, f"nullif(btrim({self._template(declared.title_parts, row)}), '')")
        lines += [self._facet_line(name, facet, row) for name, facet in declared.facets.items()]
        return "concat_ws(E'\\n', " + _listed(lines) + ")"

    def _named_line(self, name: str, row: LiteralString) -> LiteralString:
        value = self.text(name, row)
        if self.declaration.text.get(name) != "D":
            return value
        return quoted(f"{' '.join(words(name)) or name}: ") + f" || nullif(btrim({value}), '')"

    def _facet_line(self, name: str, facet: FacetDeclaration, row: LiteralString) -> LiteralString:
        if facet.of is None or facet.by is None:
            column = facet.column or name
            value = f"{self.day(column, row)}::text" if facet.kind == "date" else self.text(column, row)
        else:
            column, key = f"o.{identifier(facet.title or 'name')}::text", f"o.{identifier(facet.key or 'id')}"
            other = identifier(*table_name(facet.of))
            value = f"(select {column} from {other} o where {key} = {self.column(facet.by, row)} limit 1)"
        return quoted(f"{(facet.label or name.replace('_', ' ')).lower()}: ") + f" || nullif(btrim({value}), '')"

    def url(self, row: LiteralString = "t") -> LiteralString:
        """Where the source's row is to be seen; null where that is not declared."""
        return self._template(split_template(self.declaration.url), row) if self.declaration.url else "null"

    def day(self, name: str, row: LiteralString = "t") -> LiteralString:
        """A column of the source's row as a date."""
        value = self.column(name, row)
        return value if self.columns[name].base == "date" else f"({value})::date"

    def _template(self, parts: Iterable[tuple[str, bool]], row: LiteralString) -> LiteralString:
        return " || ".join(
            f"coalesce({self.text(part, row)}, '')" if is_column else quoted(part) for part, is_column in parts
        )

    def language(self, row: LiteralString = "x") -> LiteralString:
        """The text search configuration that the source's row is read by."""
        language = self.declaration.language
        return quoted(language) if isinstance(language, str) else f"text_language({self.text(language.column, row)})"

    @cached_property
    def document(self) -> LiteralString:
        """The words of the source's row `x`, as a tsvector."""
        most = TEXT_MAX_CHARACTERS // len(self.declaration.text)
        return " || ".join(
            f"setweight(text_words(({self.language()})::regconfig, coalesce(left({self.text(name)}, {most}), '')), '{weight}')"
            for name, weight in self.declaration.text.items()
        )

    @cached_property
    def row_hash(self) -> LiteralString:
        """What changes when anything does that `rows_N` is made of: the texts, how they are searched, and whose the row is."""
        whose = filter(None, [self.declaration.scope, self.declaration.language_column])
        made_of = dict.fromkeys((*self.declaration.text, *self._embedded, *whose))
        how = repr((self.declaration.language, "unaccented", [*self.declaration.text.items()], self._embedded))
        return _hashed([quoted(how), *(self.text(name) for name in made_of)])

    @cached_property
    def content_hash(self) -> LiteralString:
        """What changes when what has vectors does; null where nothing has."""
        return _hashed(self.text(name) for name in self._embedded) if self.declaration.embedded else "null"

    @property
    def _embedded(self) -> tuple[str, ...]:
        """The columns that windows are made of; those of the title stand before each."""
        embedded = self.declaration.embedded
        return tuple(dict.fromkeys((*self.declaration.title_columns, *embedded))) if embedded else ()


def used_columns(declaration: CollectionDeclaration, relation: Relation) -> dict[str, UsedColumn]:
    """The columns of the source that a collection uses, by name. Raises KeyError for one that there is not."""
    facets = [facet.by or facet.column or name for name, facet in declaration.facets.items() if facet.through is None]
    poll = [] if isinstance(declaration.sync, str) else [declaration.sync.poll]
    single = [name for name in (declaration.date, declaration.scope, declaration.language_column) if name]
    single += template_columns(declaration.url or "")
    names = (
        *(declaration.key or relation.primary_key), *declaration.text, *declaration.title_columns, *declaration.embedded,
        *declaration.cited, *single, *poll, *facets,
    )  # fmt: skip
    return {name: UsedColumn.of(relation.by_name[name]) for name in dict.fromkeys(names)}


def make_collection(id: int, name: str, declaration: CollectionDeclaration, relation: Relation) -> Collection:
    """A collection of what was declared and of the table that is there. Raises KeyError for a column that there is not."""
    key = declaration.key or relation.primary_key
    columns = used_columns(declaration, relation)
    return Collection(id, name, declaration, relation.qualified, columns, key, relation.has_row_security)


def declared_source(declaration: CollectionDeclaration) -> tuple[str, str]:
    """Schema and name of what a declaration is made of."""
    return table_name(declaration.source)


# What follows makes SQL of names: each is quoted here and nowhere else.


def quoted(text: str) -> LiteralString:
    """A text as SQL has it."""
    return Literal(text).as_string()


def _type(column: UsedColumn) -> LiteralString:
    # as format_type wrote it, without a length: "character" alone would be one character
    return "bpchar" if column.base == "character" else column.base


def _listed(parts: Iterable[LiteralString]) -> LiteralString:
    return ", ".join(parts)


def _hashed(texts: Iterable[LiteralString]) -> LiteralString:
    # as JSON: told apart however they are cut
    return "md5(jsonb_build_array(" + _listed(texts) + ")::text)"
