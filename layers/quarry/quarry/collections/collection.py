"""A collection as SQL over its source and over Quarry's own tables.

Each collection has two tables of Quarry's: `rows_N`, which is searched by words, and `windows_N`, which holds vectors. Both
identify a row by its key as text: a single column as Postgres writes it, several as a JSON array. They are derived from the
source alone; readers get everything else from the source itself, with their own rights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, LiteralString

from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.declaration_parts import (
    FacetDeclaration,
    KeptWith,
    Parent,
    Referred,
    RelatedRows,
    is_template,
    line_columns,
    split_template,
)
from quarry.collections.names import table_name, words
from quarry.collections.predicate import expression_columns, expression_sql, read_predicate
from quarry.collections.relations import (
    TYPES_OF_KINDS,
    Relation,
    is_date_type,
    keys_of,
    literal,
    own_name,
    path_sql,
    type_of_kind,
    without_path,
)
from quarry.collections.uses import (
    LINE_BREAK,
    UsedColumn,
    as_kind,
    declared_source,
    hashed,
    joined_texts,
    key_of,
    line_sql,
    listed,
    predicate_sql,
    type_name,
)  # fmt: skip
from quarry.schema.source import FacetKind, identifier

TITLE_MAX_CHARACTERS = 160
ENGLISH = "english"
OTHER_LANGUAGE = "simple"
"""The configuration for rows whose language has none of its own."""
TEXT_MAX_CHARACTERS = 200_000
"""How much of a row's text is searched: a tsvector holds a megabyte."""


@dataclass(frozen=True)
class Collection:
    """A collection that the database stores. `columns` are the columns of the source that it uses, by name."""

    id: int
    name: str
    declaration: CollectionDeclaration
    source: tuple[str, str]
    columns: Mapping[str, UsedColumn]
    key: tuple[str, ...]
    has_row_security: bool = False
    row_languages: tuple[str, ...] = ()
    functions_hash: str | None = None
    """The hash of its functions in the database; None where it was not read."""
    guarded_tables: frozenset[str] = frozenset()
    """The tables named by its facets where row-level security may hide rows, as the declaration writes them."""
    document_keys: Mapping[str, UsedColumn] = field(default_factory=dict)
    """The keys that were seen in JSON columns of the source, by path."""
    indexed_columns: frozenset[str] = frozenset()
    """The columns of the source by which an index finds its rows."""
    indexed_relations: frozenset[str] = frozenset()
    """The related rows that an index finds."""
    owned: Mapping[tuple[str, str], Collection] = field(default_factory=dict, compare=False, repr=False)
    """The collections whose rows have owners, by table. Of these tables a caller reads only rows of their own, also where the
    collection refers to them. Empty where the rows of all owners are counted.
    """

    has_own_words: ClassVar[bool] = False
    """Whether its table holds the words of its rows itself."""

    @property
    def has_source(self) -> bool:
        """Whether the source still has its declared name, by which the collection's functions read it."""
        return self.source == declared_source(self.declaration)

    @property
    def label(self) -> str:
        """What people call its rows."""
        return self.declaration.label or self.name.replace("_", " ")

    @property
    def languages(self) -> tuple[str, ...]:
        """The text search configurations of its rows. Where rows name their own language, those seen so far."""
        language = self.declaration.language
        return (language,) if isinstance(language, str) else self.row_languages or (OTHER_LANGUAGE,)

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
        """Whether triggers queue changes of the source. Rows that are only counted are read in place."""
        return self.declaration.is_searched and self.declaration.sync == "trigger"

    @property
    def table_sql(self) -> LiteralString:
        """The source's name in SQL."""
        return identifier(*self.source)

    @property
    def source_sql(self) -> LiteralString:
        """Its rows in SQL: the source, or the rows of it that meet `where` and are kept with those that they refer to."""
        where = self.declaration.where
        conditions = [f"({where.statement})"] if where else []
        conditions += [self._meets_with_parent(by, condition) for by, condition in self.declaration.kept_with.items()]
        # rows without a key are identified by their physical location
        columns: LiteralString = "*" if self.key else "tableoid, ctid, *"
        row: LiteralString = " s" if self.declaration.kept_with else ""
        if conditions:
            return f"(select {columns} from {self.table_sql}{row} where {' and '.join(conditions)})"
        return self.table_sql

    def _meets_with_parent(self, by: str, condition: KeptWith) -> LiteralString:
        """Whether no row that the row `s` refers to by a column is left out."""
        refers = f"{self.column(condition.key or 'id', 'p')} = {self.column(by, 's')}"
        violates = f"({condition.where.statement}) is not true"
        return f"not exists (select from {self.other_table(condition.of)} p where {refers} and {violates})"

    def column(self, name: str, row: LiteralString = "x") -> LiteralString:
        """A column or path of the source's row `row`."""
        used = self.columns.get(name)
        return used.sql(name, row) if used else self.other_column(name, row)

    def other_column(self, name: str, row: LiteralString, kind: FacetKind = "value") -> LiteralString:
        """A column or path of a row of another table."""
        keys = keys_of(name)
        return path_sql(keys, type_of_kind(kind), row) if keys else f"{row}.{identifier(name)}"

    def other_value(self, name: str, row: LiteralString, kind: FacetKind) -> LiteralString:
        """A column of a row of another table, whose type is unknown, as the value of a facet."""
        value = self.other_column(name, row, kind)
        if kind in ("array", "boolean"):
            return f"{value}::text[]" if kind == "array" else f"{value}::boolean"
        return as_kind(value if kind in TYPES_OF_KINDS else f"{value}::text", kind)

    def of_same_owner(self, table: str, row: LiteralString, other: LiteralString) -> LiteralString:
        """That a row of another table is the owner's of a row, where both have owners; to add to a condition."""
        return ""

    def text(self, name: str, row: LiteralString = "x") -> LiteralString:
        """A column of the source's row as plain text; the elements of an array, separated by commas."""
        value = self.column(name, row)
        text: LiteralString = f"array_to_string({value}, ', ')" if self.columns[name].is_array else f"{value}::text"
        return f"text_of_html({text})" if name in self.declaration.markup else text

    def key_text(self, row: LiteralString = "x") -> LiteralString:
        """The key of the source's row as text; without a key, the current physical location of the row."""
        if not self.key:
            return f"row({row}.tableoid, {row}.ctid)::text"
        if len(self.key) == 1:
            return self.column(self.key[0], row) + "::text"
        return "jsonb_build_array(" + listed(self.column(name, row) for name in self.key) + ")::text"

    def key_value(self, row: LiteralString) -> LiteralString:
        """The key of the source's row, as what identifies it among others is compared with."""
        return self.key_text(row)

    def has_key(self, key: LiteralString, row: LiteralString = "x") -> LiteralString:
        """Whether the source's row has this key, given as text. An index of the source can be used."""
        if not self.key:
            return f"{self.key_text(row)} = ({key})"
        if len(self.key) == 1:
            return f"{self.column(self.key[0], row)} = ({key})::{type_name(self.columns[self.key[0]])}"
        return " and ".join(
            f"{self.column(name, row)} = (({key})::jsonb ->> {place})::{type_name(self.columns[name])}"
            for place, name in enumerate(self.key)
        )

    def has_key_among(self) -> LiteralString:
        """Whether the source's row `t` has one of several keys: a template with a place for their array."""
        if not self.key:
            return f"{self.key_text('t')} = any({{}}::text[])"
        typed = [
            f"k.key::{type_name(self.columns[name])}" if len(self.key) == 1
            else f"(k.key::jsonb ->> {place})::{type_name(self.columns[name])}"
            for place, name in enumerate(self.key)
        ]  # fmt: skip
        columns = listed(self.column(name, "t") for name in self.key)
        return f"({columns}) in (select {', '.join(typed)} from unnest({{}}::text[]) k (key))"

    def title(self, row: LiteralString = "t") -> LiteralString:
        """The first title of the source's row that is not empty, or the start of its text, or its key. Never null."""
        return f"coalesce({listed([*self._titles(row), self._beginning(row), self.key_text(row)])})"

    def _beginning(self, row: LiteralString) -> LiteralString:
        if not self.declaration.is_searched:
            return "null"
        texts = joined_texts("' '", (self.text(name, row) for name in self.declaration.text))
        return f"nullif(btrim(left({texts}, {TITLE_MAX_CHARACTERS})), '')"

    def _titles(self, row: LiteralString) -> list[LiteralString]:
        return [self.line(each, row) for each in self.declaration.title]

    def body(self, row: LiteralString = "t") -> LiteralString:
        """The text of the source's row that answers may quote, line by line: the cited lines, then the facets with their
        names (`city: Oslo`). Where all are empty, its title.

        Where there is one title, it comes first and its columns are not repeated.
        """
        declared = self.declaration
        titles = {*line_columns(declared.title)} if len(declared.title) == 1 else set[str]()
        lines = self._titles(row) if titles & {*declared.cited} else []
        lines += [self._cited_line(each, row) for each in declared.cited if each not in titles]
        lines += self._facet_lines(row)
        return f"coalesce(nullif({joined_texts(LINE_BREAK, lines)}, ''), {self.title(row)})"

    def _cited_line(self, line: str, row: LiteralString) -> LiteralString:
        """A cited line; a column of weight D has its name in front."""
        if self.declaration.text.get(line) != "D":
            return self.line(line, row)
        return literal(f"{' '.join(words(own_name(line))) or line}: ") + f" || {self.line(line, row)}"

    def _facet_lines(self, row: LiteralString) -> list[LiteralString]:
        return [
            literal(f"{(facet.label or name.replace('_', ' ')).lower()}: ")
            + f" || nullif(btrim({self._facet_text(name, facet, row)}), '')"
            for name, facet in self.declaration.facets.items()
        ]

    def _facet_text(self, name: str, facet: FacetDeclaration, row: LiteralString) -> LiteralString:
        if facet.through is not None:
            return (
                f"(select string_agg(distinct o.quarry_value, ', ') from {self.joined(facet)} o"
                f" where o.quarry_row = {self.column(self.key[0], row)})"
            )
        if facet.related is not None:
            return self._related_text(name, facet, self.declaration.related[facet.related], row)
        if facet.reference is not None:
            return self._referred(facet.reference, row, "o")
        if facet.expression is not None:
            return f"trim_scale(round({self.computed(facet.expression, row)}, 2))::text"
        column, *more = facet.columns_as(name)
        if more:
            return f"concat_ws(', ', {listed(self.text(each, row) for each in (column, *more))})"
        return f"{self.day(column, row)}::text" if facet.kind == "date" else self.text(column, row)

    def _related_text(self, name: str, facet: FacetDeclaration, rows: RelatedRows, row: LiteralString) -> LiteralString:
        columns = facet.columns_as(name)
        value = f"concat_ws(', ', {listed(self.other_text(each, 'o') for each in columns)})"
        if facet.kind == "array":
            value = f"array_to_string({self.other_column(columns[0], 'o', facet.kind)}, ', ')"
        return (
            f"(select string_agg(distinct {value}, ', ') from {self.other_table(rows.of)} o"
            f" where {self.belongs(rows, row, 'o')})"
        )

    def belongs(self, rows: RelatedRows, row: LiteralString, other: LiteralString) -> LiteralString:
        """Whether the row `other` of another table is one of the related rows of the source's row."""
        is_related = f"{self.other_column(rows.by, other)} = {self.column(self.key[0], row)}"
        conditions = read_predicate(rows.where) if rows.where else []
        if conditions:
            return f"{is_related} and {predicate_sql(conditions, lambda name: self.other_column(name, other))}"
        return is_related

    def referred_title(self, facet: FacetDeclaration, row: LiteralString) -> LiteralString:
        """The title of the row that a facet refers to: text, except for dates and numbers."""
        return self._title_of(facet.title or "name", row, facet.kind)

    def _title_of(self, title: str | Referred, row: LiteralString, kind: FacetKind) -> LiteralString:
        if not isinstance(title, str):
            return self._title_of(title.title, row + "y", kind)
        if is_template(title):
            return self._other_line(title, row)
        return self.other_column(title, row, kind) if kind in TYPES_OF_KINDS else self.other_text(title, row)

    def reached(self, facet: FacetDeclaration) -> LiteralString:
        """The rows of the table that a facet refers to, with the value at the end of its references: `quarry_key`,
        `quarry_value`.
        """
        return self.chained(facet, lambda last: f"{self.referred_title(facet, 'c')} as quarry_value", self.other_table)

    def chained(
        self,
        facet: FacetDeclaration,
        select: Callable[[LiteralString], LiteralString],
        last_rows: Callable[[str], LiteralString],
    ) -> LiteralString:
        """What is `shown` of the row at the end of a facet's references, with the key of the first row that leads to it,
        `quarry_key`. `last_rows` are the rows of the last table.
        """
        row: LiteralString = "c"
        joined: LiteralString = f"{self.other_table(facet.of or '')} {row}"
        title = facet.title
        while isinstance(title, Referred):
            other = row + "y"
            on = f"{self.column(title.key or 'id', other)} = {self.column(title.by, row)}"
            of = self.other_table(title.of) if isinstance(title.title, Referred) else last_rows(title.of)
            joined += f" join {of} {other} on {on}"
            row, title = other, title.title
        return f"(select {self.column(facet.key or 'id', 'c')} as quarry_key, {select(row)} from {joined})"

    def computed(self, expression: str, row: LiteralString = "t") -> LiteralString:
        """A number computed from columns of the source's row; for two dates, the days between them: whole days where one of them
        is no moment.
        """
        of_time = {base for name in expression_columns(expression) if is_date_type(base := self.columns[name].base)}

        def number(name: str) -> LiteralString:
            value = self.column(name, row)
            if not is_date_type(self.columns[name].base):
                return f"{value}::numeric"
            return f"(extract(epoch from ({value}){'::date' if 'date' in of_time else ''})::numeric / 86400)"

        computed = expression_sql(expression, number)
        # rounded like a converted unit in a query, so that two hours equal 120 minutes
        return f"round({computed}, 9)" if of_time else computed

    def joined(self, facet: FacetDeclaration) -> LiteralString:
        """The values of a facet `through` another table, for each row of the source: `quarry_row`, `quarry_value`."""
        value: LiteralString = f"{self.referred_title(facet, 'o')} as quarry_value"
        return self.joined_rows(
            facet, value, self.other_table(facet.of or ""), facet.key or "id", facet.by or "", facet.to or ""
        )

    def joined_rows(
        self, facet: FacetDeclaration, columns: LiteralString, of: LiteralString, key: str, own: str, other: str
    ) -> LiteralString:
        """What is `shown` of the rows `o` of `of` that a facet's table `through` names by its column `other`; `quarry_row` is its
        column `own`.
        """
        joins, on = self.other_table(facet.through or ""), f"{self.column(key, 'o')} = {self.column(other, 'j')}"
        return f"(select {self.column(own, 'j')} as quarry_row, {columns} from {joins} j join {of} o on {on})"

    def topic(self, row: LiteralString = "t") -> LiteralString:
        """The topic of the source's row; null where none is declared."""
        topics = [
            self.line(each, row) if isinstance(each, str) else self._referred(each, row)
            for each in self.declaration.topic
        ]
        return f"coalesce({listed(topics)})" if topics else "null"

    def author(self, row: LiteralString = "t") -> LiteralString:
        """The author of the source's row; null where none is declared."""
        return self.text(self.declaration.author, row) if self.declaration.author else "null"

    def parent(self, row: LiteralString = "t") -> tuple[LiteralString, LiteralString]:
        """The key of the row that the source's row is part of, and that row as JSON; nulls where none is declared."""
        parent = self.declaration.part_of
        if parent is None:
            return "null", "null"
        columns = listed(f"{literal(name)}, {self.other_column(name, 'y')}" for name in parent.show)
        return self.text(parent.by, row), f"(select jsonb_build_object({columns}) {self._row_of(parent, row, 'y')})"

    def fields(self, row: LiteralString = "t") -> LiteralString:
        """The source's row as JSON, without hidden columns."""
        fields: LiteralString = f"to_jsonb({row}) - array[{listed(map(literal, self.declaration.hidden))}]::text[]"
        for keys in filter(None, map(keys_of, self.declaration.hidden)):
            fields = without_path(fields, keys)
        plain = [name for name in self.declaration.markup if name not in self.declaration.hidden and not keys_of(name)]
        if plain:
            texts = listed(f"{literal(name)}, {self.text(name, row)}" for name in plain)
            fields = f"({fields} || jsonb_build_object({texts}))"
        return fields

    @property
    def unshown_columns(self) -> tuple[str, ...]:
        """The columns of the source that `fields` leaves out."""
        return self.declaration.hidden

    def line(self, line: str, row: LiteralString) -> LiteralString:
        """A column or template over the source's row; null where the result is empty."""
        return line_sql(line, lambda name: self.text(name, row))

    def _other_line(self, line: str, row: LiteralString) -> LiteralString:
        """A column or template over a row of another table."""
        return line_sql(line, lambda name: self.other_text(name, row))

    def other_text(self, name: str, row: LiteralString) -> LiteralString:
        """A column of a row of another table as text."""
        return self.other_column(name, row) + "::text"

    def _referred(self, reference: Referred, row: LiteralString, other: LiteralString = "y") -> LiteralString:
        """The title of the row that `row` refers to; null where there is none. `other` is its alias."""
        title = reference.title
        value = self._other_line(title, other) if isinstance(title, str) else self._referred(title, other, other + "y")
        return f"(select {value} {self._row_of(reference, row, other)})"

    def _row_of(self, reference: Referred | Parent, row: LiteralString, other: LiteralString) -> LiteralString:
        key, by = identifier(reference.key or "id"), self.column(reference.by, row)
        return f"from {self.other_table(reference.of)} {other} where {other}.{key} = {by} limit 1"

    def other_table(self, name: str) -> LiteralString:
        """The rows that a caller sees of a table that the declaration names, in SQL. All that is read of other tables is read by
        this."""
        table = table_name(name)
        owned = self.owned.get(table)
        return f"(select * from {identifier(*table)} q where {owned.guard('q')})" if owned else identifier(*table)

    @property
    def counted(self) -> LiteralString:
        """The rows `t` whose values are known, as a condition on them."""
        return "true"

    @property
    def owner(self) -> LiteralString:
        """Whose the values of a row `t` are; '' where they are everybody's."""
        scope = self.declaration.scope if self.declaration.scope_setting else None
        return f"coalesce({self.text(scope, 't')}, '')" if scope else "''"

    def holds_words(self, row: LiteralString, text: LiteralString) -> LiteralString:
        """Whether the source's row holds all words of a text, each read in the row's language."""
        by_language = [
            (language, f"w.text_search @@ (select parsed_query({text}, {literal(language)}::regconfig))")
            for language in self.languages
        ]
        met = by_language[0][1]
        if self.declaration.language_column is not None:
            met = " or ".join(f"w.language = {literal(language)} and {holds}" for language, holds in by_language)
        return f"{self.key_text(row)} in (select w.id from {self.rows} w where {met})"

    def guard(self, row: LiteralString = "t") -> LiteralString:
        """Whether the source's row is the caller's; true where rows have no owners."""
        scope = self.declaration.scope
        return self.is_callers(self.text(scope, row)) if scope and self.declaration.scope_setting else "true"

    def is_callers(self, scope: LiteralString) -> LiteralString:
        """Whether the owner `scope` is the caller, according to the collection's setting. A row without an owner belongs to
        nobody.
        """
        return f"{scope} = nullif(current_setting({literal(self.declaration.scope_setting or '')}, true), '')"

    def url(self, row: LiteralString = "t") -> LiteralString:
        """The URL of the source's row; null where none is declared."""
        if not self.declaration.url:
            return "null"
        parts = (
            f"coalesce({self.text(part, row)}, '')" if is_column else literal(part)
            for part, is_column in split_template(self.declaration.url)
        )
        return f"nullif({' || '.join(parts)}, '')"

    def day(self, name: str, row: LiteralString = "t") -> LiteralString:
        """A column of the source's row as a date."""
        return self.value(name, "date", row)

    def value(self, name: str, kind: str, row: LiteralString) -> LiteralString:
        """A column of the source's row as a facet or field of this kind."""
        return self.columns[name].as_kind(name, kind, row)

    def language(self, row: LiteralString = "x") -> LiteralString:
        """The text search configuration of the source's row."""
        language = self.declaration.language
        return literal(language) if isinstance(language, str) else f"text_language({self.text(language.column, row)})"

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

    @property
    def title_words(self) -> LiteralString:
        """The words of a row's title, as a tsvector, of a row `t` of `rows_N`; there is an index of them."""
        return "t.titles"

    @cached_property
    def row_hash(self) -> LiteralString:
        """A hash that changes with anything that `rows_N` is derived from: texts, titles, how they are searched, and the row's
        scope.
        """
        declared = self.declaration
        whose = filter(None, [declared.scope, declared.language_column])
        made_of = dict.fromkeys((*declared.text, *line_columns(declared.title), *self._embedded, *whose))
        how = repr((declared.language, "in pairs of letters", [*declared.text.items()], declared.title, self._embedded))
        vectors = [self.content_hash] if self.declaration.vectors else []
        return hashed([literal(how), *(self.text(name) for name in made_of), *vectors])

    @cached_property
    def content_hash(self) -> LiteralString:
        """A hash that changes with what vectors are made of; null where there are no vectors."""
        if self.declaration.vectors is not None:
            vector = self.column(self.declaration.vectors.column)
            # in the binary format of a row: a thousand numbers as text take ten times as long
            return f"case when {vector} is not null then md5(record_send(row({vector}))) end"
        return hashed(self.text(name) for name in self._embedded) if self.declaration.embedded else "null"

    @property
    def _embedded(self) -> tuple[str, ...]:
        """The columns that windows are made of. Those of the heading precede each window."""
        embedded = self.declaration.embedded
        return tuple(dict.fromkeys((*self.declaration.headings, *embedded))) if embedded else ()


def with_owners(collections: Mapping[str, Collection]) -> dict[str, Collection]:
    """The collections as callers read them: of tables whose rows have owners each sees their own. Of several collections of a
    table, the first says who owns its rows.
    """
    declared = reversed([*collections.values()])
    owned = {each.source: each for each in declared if each.declaration.scope_setting is not None}
    return {name: replace(each, owned=owned) if owned else each for name, each in collections.items()}


def make_collection(
    id: int, name: str, declaration: CollectionDeclaration, relation: Relation, columns: Mapping[str, UsedColumn]
) -> Collection:
    """The collection for a declaration and its table, of which it uses these columns."""
    key = key_of(declaration, relation)
    return Collection(id, name, declaration, relation.qualified, columns, key, relation.has_row_security)
