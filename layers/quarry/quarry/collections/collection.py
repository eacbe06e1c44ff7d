"""A declared collection as SQL: what its rows are in the table that it is made of, and beside it.

Beside the source stand two tables of ours: `rows_N`, which words are looked for in, and `windows_N`, with the vectors. Both know
a row by its key as text: that of a single column as Postgres writes it, of several a JSON array of them. What they hold is made
of the source alone; readers get everything else from the source itself, with their own rights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, LiteralString

from psycopg.sql import Literal

from quarry.collections.declaration import (
    CollectionDeclaration,
    FacetDeclaration,
    FacetKind,
    Parent,
    Placed,
    Referred,
    Template,
    is_template,
    line_columns,
    parse,
    split_template,
    table_name,
    template_columns,
)
from quarry.collections.expression import expression_columns, expression_sql
from quarry.collections.guessing import words
from quarry.collections.json_paths import TEXT, PathType, keys_of, own_name, path_sql, without_path
from quarry.collections.path_types import TYPES_OF_KINDS, Relations, path_types
from quarry.collections.relations import Column, Relation, is_date_type
from quarry.retrieval.facets import identifier

TITLE_MAX_CHARACTERS = 160
LINE_BREAK: LiteralString = r"E'\n'"
ARGUMENTS_MAX = 100
"""So many a function of Postgres takes."""
ENGLISH = "english"
OTHER_LANGUAGE = "simple"
"""What a row is read by whose language no text search configuration fits."""
TEXT_MAX_CHARACTERS = 200_000
"""So much of a row's text is searched: a tsvector holds a megabyte."""


@dataclass(frozen=True)
class UsedColumn:
    """A column that a collection is made of: its number in the table, and the type beneath its domains and arrays. Of a key in
    a JSON column, `path` is that column and the key.
    """

    number: int
    base: str
    is_array: bool
    path: tuple[str, ...] = ()

    @classmethod
    def of(cls, column: Column) -> UsedColumn:
        """A column of a table; of a path, by its name, what stands there."""
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
        """One that the database keeps."""
        return cls(**{**stored, "path": tuple(stored.get("path", ()))})

    def to_store(self) -> dict[str, object]:
        """What the database keeps of it: earlier versions know no paths."""
        kept = asdict(self)
        return kept if self.path else {name: each for name, each in kept.items() if name != "path"}

    def sql(self, name: str, row: LiteralString) -> LiteralString:
        """Its value in the row `row`; `name` is its own."""
        return (
            path_sql(self.path, PathType(self.base, self.is_array), row) if self.path else f"{row}.{identifier(name)}"
        )


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
    guarded_tables: frozenset[str] = frozenset()
    """The tables that its facets name of which row-level security may hide rows, as the declaration has them."""
    document_keys: Mapping[str, UsedColumn] = field(default_factory=dict)
    """The keys that were seen in JSON columns of its source, by their paths."""

    @property
    def has_source(self) -> bool:
        """Whether the table or view that it is made of is still where it was declared: what keeps it in step reads it there."""
        return self.source == declared_source(self.declaration)

    @property
    def label(self) -> str:
        """What people call its rows."""
        return self.declaration.label or self.name.replace("_", " ")

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
    def has_triggers(self) -> bool:
        """Whether changes of its source are noted by triggers; rows that are only counted are read where they are."""
        return self.declaration.is_searched and self.declaration.sync == "trigger"

    @property
    def table_sql(self) -> LiteralString:
        """The name in SQL of the table or view that it is made of."""
        return identifier(*self.source)

    @property
    def source_sql(self) -> LiteralString:
        """Its rows in SQL: the table, or those of its rows that the collection has."""
        where = self.declaration.where
        # rows without a key are known by where they stand
        columns: LiteralString = "*" if self.key else "tableoid, ctid, *"
        return f"(select {columns} from {self.table_sql} where {where.statement})" if where else self.table_sql

    def column(self, name: str, row: LiteralString = "x") -> LiteralString:
        """A column, or a path, of the source's row `row`."""
        used = self.columns.get(name)
        return used.sql(name, row) if used else self.other_column(name, row)

    def other_column(self, name: str, row: LiteralString, kind: FacetKind = "value") -> LiteralString:
        """A column, or a path, of a row of another table."""
        keys = keys_of(name)
        return path_sql(keys, PathType(TYPES_OF_KINDS.get(kind, TEXT)), row) if keys else f"{row}.{identifier(name)}"

    def text(self, name: str, row: LiteralString = "x") -> LiteralString:
        """A column of the source's row as text; of an array, its elements with commas between."""
        value = self.column(name, row)
        return f"array_to_string({value}, ', ')" if self.columns[name].is_array else f"{value}::text"

    def key_text(self, row: LiteralString = "x") -> LiteralString:
        """The key of the source's row as text; where it has none, the place where the row stands now."""
        if not self.key:
            return f"row({row}.tableoid, {row}.ctid)::text"
        if len(self.key) == 1:
            return self.column(self.key[0], row) + "::text"
        return "jsonb_build_array(" + _listed(self.column(name, row) for name in self.key) + ")::text"

    def has_key(self, key: LiteralString, row: LiteralString = "x") -> LiteralString:
        """Whether the source's row is the one with this key as text, so that an index of the source serves."""
        if not self.key:
            return f"{self.key_text(row)} = ({key})"
        if len(self.key) == 1:
            return f"{self.column(self.key[0], row)} = ({key})::{_type(self.columns[self.key[0]])}"
        return " and ".join(
            f"{self.column(name, row)} = (({key})::jsonb ->> {place})::{_type(self.columns[name])}"
            for place, name in enumerate(self.key)
        )

    def has_key_among(self, row: LiteralString = "t") -> LiteralString:
        """Whether the source's row has one of some keys, as a template with a place for their array."""
        if not self.key:
            return f"{self.key_text(row)} = any({{}}::text[])"
        typed = [
            f"k.key::{_type(self.columns[name])}" if len(self.key) == 1
            else f"(k.key::jsonb ->> {place})::{_type(self.columns[name])}"
            for place, name in enumerate(self.key)
        ]  # fmt: skip
        columns = _listed(self.column(name, row) for name in self.key)
        return f"({columns}) in (select {', '.join(typed)} from unnest({{}}::text[]) k (key))"

    def title(self, row: LiteralString = "t") -> LiteralString:
        """The first title of the source's row that is not empty, or the beginning of its text, or else its key. Never null."""
        return f"coalesce({_listed([*self._titles(row), self._beginning(row), self.key_text(row)])})"

    def _beginning(self, row: LiteralString) -> LiteralString:
        if not self.declaration.is_searched:
            return "null"
        texts = joined_texts("' '", (self.text(name, row) for name in self.declaration.text))
        return f"nullif(btrim(left({texts}, {TITLE_MAX_CHARACTERS})), '')"

    def _titles(self, row: LiteralString) -> list[LiteralString]:
        return [self.line(each, row) for each in self.declaration.title]

    def body(self, row: LiteralString = "t") -> LiteralString:
        """What answers may quote of the source's row: the lines that are cited and the facets with their names before them
        (`city: Oslo`), each in lines of its own; its title where all are empty.

        Columns of the only title stand in it, and before everything else.
        """
        declared = self.declaration
        titles = {*line_columns(declared.title)} if len(declared.title) == 1 else set[str]()
        lines = self._titles(row) if titles & {*declared.cited} else []
        lines += [self._cited_line(each, row) for each in declared.cited if each not in titles]
        lines += self._facet_lines(row)
        return f"coalesce(nullif({joined_texts(LINE_BREAK, lines)}, ''), {self.title(row)})"

    def _cited_line(self, line: str, row: LiteralString) -> LiteralString:
        """A line that is cited; a column of weight D with its name before it."""
        if self.declaration.text.get(line) != "D":
            return self.line(line, row)
        return quoted(f"{' '.join(words(own_name(line))) or line}: ") + f" || {self.line(line, row)}"

    def _facet_lines(self, row: LiteralString) -> list[LiteralString]:
        return [
            quoted(f"{(facet.label or name.replace('_', ' ')).lower()}: ")
            + f" || nullif(btrim({self._facet_text(name, facet, row)}), '')"
            for name, facet in self.declaration.facets.items()
        ]

    def _facet_text(self, name: str, facet: FacetDeclaration, row: LiteralString) -> LiteralString:
        if facet.through is not None:
            return (
                f"(select string_agg(distinct o.quarry_value, ', ') from {self.joined(facet)} o"
                f" where o.quarry_row = {self.column(self.key[0], row)})"
            )
        if facet.reference is not None:
            return self._referred(facet.reference, row, "o")
        if facet.expression is not None:
            return f"trim_scale(round({self.reckoned(facet.expression, row)}, 2))::text"
        column = facet.column or name
        return f"{self.day(column, row)}::text" if facet.kind == "date" else self.text(column, row)

    def called(self, facet: FacetDeclaration, row: LiteralString) -> LiteralString:
        """What a row of the table is called that a facet refers to: as text, but for dates and numbers."""
        return self._called(facet.title or "name", row, facet.kind)

    def _called(self, title: str | Referred, row: LiteralString, kind: FacetKind) -> LiteralString:
        if not isinstance(title, str):
            return self._called(title.title, row + "y", kind)
        if is_template(title):
            return self._other_line(title, row)
        return self.other_column(title, row, kind) if kind in TYPES_OF_KINDS else self.other_text(title, row)

    def reached(self, facet: FacetDeclaration) -> LiteralString:
        """The rows of the table that a facet refers to, with what they refer to in their turn, and the value at the end:
        `quarry_key`, `quarry_value`.
        """
        row: LiteralString = "r"
        joined: LiteralString = f"{self.other_table(facet.of or '')} {row}"
        title = facet.title
        while isinstance(title, Referred):
            other = row + "y"
            on = f"{self.column(title.key or 'id', other)} = {self.column(title.by, row)}"
            joined += f" join {self.other_table(title.of)} {other} on {on}"
            row, title = other, title.title
        key, value = self.column(facet.key or "id", "r"), self.called(facet, "r")
        return f"(select {key} as quarry_key, {value} as quarry_value from {joined})"

    def reckoned(self, expression: str, row: LiteralString = "t") -> LiteralString:
        """A number that is made of columns of the source's row; of two moments, the days between them."""

        def number(name: str) -> LiteralString:
            value = self.column(name, row)
            if is_date_type(self.columns[name].base):
                return f"(extract(epoch from {value})::numeric / 86400)"
            return f"{value}::numeric"

        reckoned = expression_sql(expression, number)
        is_of_time = any(is_date_type(self.columns[name].base) for name in expression_columns(expression))
        # as what is asked for is converted: two hours are no more than 120 minutes
        return f"round({reckoned}, 9)" if is_of_time else reckoned

    def joined(self, facet: FacetDeclaration) -> LiteralString:
        """The values that another table joins rows with, by a facet that has them through it: `quarry_row`, `quarry_value`."""
        joins, of = self.other_table(facet.through or ""), self.other_table(facet.of or "")
        on = f"{self.column(facet.key or 'id', 'o')} = {self.column(facet.to or '', 'j')}"
        return (
            f"(select {self.column(facet.by or '', 'j')} as quarry_row, {self.called(facet, 'o')} as quarry_value"
            f" from {joins} j join {of} o on {on})"
        )

    def topic(self, row: LiteralString = "t") -> LiteralString:
        """What the source's row is about; null where that is not declared."""
        topics = [
            self.line(each, row) if isinstance(each, str) else self._referred(each, row)
            for each in self.declaration.topic
        ]
        return f"coalesce({_listed(topics)})" if topics else "null"

    def author(self, row: LiteralString = "t") -> LiteralString:
        """Who says what the source's row holds; null where that is not declared."""
        return self.text(self.declaration.author, row) if self.declaration.author else "null"

    def parent(self, row: LiteralString = "t") -> tuple[LiteralString, LiteralString]:
        """The key of what the source's row is part of, and that itself as JSON; nulls where it is part of nothing."""
        parent = self.declaration.part_of
        if parent is None:
            return "null", "null"
        shown = _listed(f"{quoted(name)}, {self.other_column(name, 'y')}" for name in parent.show)
        return self.text(parent.by, row), f"(select jsonb_build_object({shown}) {self._row_of(parent, row, 'y')})"

    def fields(self, row: LiteralString = "t") -> LiteralString:
        """The source's row as JSON, but for what is hidden."""
        fields: LiteralString = f"to_jsonb({row}) - array[{_listed(map(quoted, self.declaration.hidden))}]::text[]"
        for keys in filter(None, map(keys_of, self.declaration.hidden)):
            fields = without_path(fields, keys)
        return fields

    @property
    def unshown_columns(self) -> tuple[str, ...]:
        """The columns of the source that `fields` leaves out."""
        return self.declaration.hidden

    def line(self, line: str, row: LiteralString) -> LiteralString:
        """A column of the source's row, or what a template makes of it; null where that is empty."""
        return _line(line, lambda name: self.text(name, row))

    def _other_line(self, line: str, row: LiteralString) -> LiteralString:
        """The same of a row of another table."""
        return _line(line, lambda name: self.other_text(name, row))

    def other_text(self, name: str, row: LiteralString) -> LiteralString:
        """A column of a row of another table as text."""
        return self.other_column(name, row) + "::text"

    def _referred(self, reference: Referred, row: LiteralString, other: LiteralString = "y") -> LiteralString:
        """What is referred to of the row `row`; null where there is no such row, which is called `other`."""
        title = reference.title
        value = self._other_line(title, other) if isinstance(title, str) else self._referred(title, other, other + "y")
        return f"(select {value} {self._row_of(reference, row, other)})"

    def _row_of(self, reference: Referred | Parent, row: LiteralString, other: LiteralString) -> LiteralString:
        key, by = identifier(reference.key or "id"), self.column(reference.by, row)
        return f"from {self.other_table(reference.of)} {other} where {other}.{key} = {by} limit 1"

    def other_table(self, name: str) -> LiteralString:
        """The name in SQL of a table that the declaration names."""
        return identifier(*table_name(name))

    def url(self, row: LiteralString = "t") -> LiteralString:
        """Where the source's row is to be seen; null where that is not declared."""
        if not self.declaration.url:
            return "null"
        parts = (
            f"coalesce({self.text(part, row)}, '')" if is_column else quoted(part)
            for part, is_column in split_template(self.declaration.url)
        )
        return f"nullif({' || '.join(parts)}, '')"

    def day(self, name: str, row: LiteralString = "t") -> LiteralString:
        """A column of the source's row as a date."""
        value = self.column(name, row)
        return value if self.columns[name].base == "date" else f"({value})::date"

    def language(self, row: LiteralString = "x") -> LiteralString:
        """The text search configuration that the source's row is read by."""
        language = self.declaration.language
        return quoted(language) if isinstance(language, str) else f"text_language({self.text(language.column, row)})"

    @cached_property
    def document(self) -> LiteralString:
        """The words of the source's row `x`, as a tsvector."""
        if not self.declaration.is_searched:
            return "''::tsvector"
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
        vectors = [self.content_hash] if self.declaration.vectors else []
        return _hashed([quoted(how), *(self.text(name) for name in made_of), *vectors])

    @cached_property
    def content_hash(self) -> LiteralString:
        """What changes when what has vectors does; null where nothing has."""
        if self.declaration.vectors is not None:
            vector = self.column(self.declaration.vectors.column)
            # as Postgres sends it, of the row: text of a thousand numbers takes ten times as long
            return f"case when {vector} is not null then md5(record_send(row({vector}))) end"
        return _hashed(self.text(name) for name in self._embedded) if self.declaration.embedded else "null"

    @property
    def _embedded(self) -> tuple[str, ...]:
        """The columns that windows are made of; those of the heading stand before each."""
        embedded = self.declaration.embedded
        return tuple(dict.fromkeys((*self.declaration.headings, *embedded))) if embedded else ()


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
        names = _columns_named(declaration, ("id",))
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
        return f"{super().fields(row)} - array[{_listed(map(quoted, _KEPT_COLUMNS))}]"

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


def used_columns(declaration: CollectionDeclaration, relation: Relation, relations: Relations) -> dict[str, UsedColumn]:
    """The columns and paths of the source that a collection uses, by name; `relations` are the tables that it names.

    Raises KeyError for what there is not.
    """
    names = _columns_named(declaration, key_of(declaration, relation))
    types = path_types(declaration, relations)
    return {name: UsedColumn.at(relation, name, types.get(name, PathType())) for name in names}


def _columns_named(declaration: CollectionDeclaration, key: Sequence[str]) -> dict[str, None]:
    facets = [
        column
        for name, facet in declaration.facets.items()
        if facet.through is None
        for column in facet.used_columns or (name,)
    ]
    poll = [] if isinstance(declaration.sync, str) else [declaration.sync.poll]
    single = [name for name in (declaration.date, declaration.scope, declaration.language_column) if name]
    single += [*template_columns(declaration.url or ""), *(declaration.where.columns if declaration.where else ())]
    single += [declaration.vectors.column] if declaration.vectors else []
    references = [each.by for each in declaration.references.values()]
    if not declaration.is_searched:
        # of these no trigger compares the columns
        references += [*declaration.fields, *(name for each in declaration.links.values() for name in each.by)]
    return dict.fromkeys((
        *key, *declaration.text, *declaration.headings, *declaration.embedded, *declaration.shown, *single, *poll, *facets,
        *references,
    ))  # fmt: skip


def key_of(declaration: CollectionDeclaration, relation: Relation) -> tuple[str, ...]:
    """The columns that tell rows apart, by the declaration or else the primary key; none where rows are only counted and that
    key is hidden.
    """
    if declaration.key or declaration.is_searched or not {*relation.primary_key} & {*declaration.hidden}:
        return declaration.key or relation.primary_key
    return ()


def make_collection(
    id: int, name: str, declaration: CollectionDeclaration, relation: Relation, columns: Mapping[str, UsedColumn]
) -> Collection:
    """A collection of what was declared and of the table that is there, of which it uses these columns."""
    key = key_of(declaration, relation)
    return Collection(id, name, declaration, relation.qualified, columns, key, relation.has_row_security)


def declared_source(declaration: CollectionDeclaration) -> tuple[str, str]:
    """Schema and name of what a declaration is made of."""
    return table_name(declaration.source)


# What follows makes SQL of names: each is quoted here and nowhere else.


def _line(line: str, text: Callable[[str], LiteralString]) -> LiteralString:
    """A line in SQL; null where it is empty. `text` is a column as text."""
    return f"nullif(btrim({_parts(parse(line), text) if is_template(line) else text(line)}), '')"


def _parts(template: Template, text: Callable[[str], LiteralString], *, is_whole: bool = False) -> LiteralString:
    """A template as SQL; null where it `is_whole` only with all its columns, and one is empty."""
    made: list[LiteralString] = []
    for part in template:
        if isinstance(part, Placed):
            value = rf"nullif(regexp_replace({text(part.column)}, '\s*\n\s*', ' ', 'g'), '')"
            made.append(value if is_whole else f"coalesce({value}, '')")
        elif isinstance(part, str):
            made.append(quoted(part))
        else:
            made.append(f"coalesce({_parts(part, text, is_whole=True)}, '')")
    return " || ".join(made) or "''"


def quoted(text: str) -> LiteralString:
    """A text as SQL has it."""
    # a statement with parameters takes % for one of them
    return " || chr(37) || ".join(Literal(part).as_string() for part in text.split("%"))


def _type(column: UsedColumn) -> LiteralString:
    # as format_type wrote it, without a length: "character" alone would be one character
    return "bpchar" if column.base == "character" else column.base


def _listed(parts: Iterable[LiteralString]) -> LiteralString:
    return ", ".join(parts)


def joined_texts(separator: LiteralString, texts: Iterable[LiteralString]) -> LiteralString:
    """Texts in SQL joined by a separator, without those that are null, however many there are."""
    return f"array_to_string(array[{_listed(texts)}]::text[], {separator})"


def _hashed(texts: Iterable[LiteralString]) -> LiteralString:
    # as JSON: told apart however they are cut
    listed = [*texts]
    if len(listed) > ARGUMENTS_MAX:
        return f"md5(to_jsonb(array[{_listed(listed)}]::text[])::text)"  # the same text
    return "md5(jsonb_build_array(" + _listed(listed) + ")::text)"
