"""What a collection can be filtered, counted and grouped by, and how its texts are embedded; and the collections over Quarry's
own tables, which files named `quarry.toml` in the package declare.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, LiteralString, get_args, get_origin

from pydantic import AwareDatetime

from quarry.collections.collection import TEXT_MAX_CHARACTERS, TITLE_MAX_CHARACTERS, Collection
from quarry.collections.declaration import FILE_NAME, CollectionDeclaration, read_declarations
from quarry.collections.declaration_parts import (
    FacetDeclaration,
    Referred,
    line_columns,
)
from quarry.collections.names import table_name, words
from quarry.collections.relations import (
    keys_of,
    literal,
)
from quarry.collections.uses import (
    UsedColumn,
    as_kind,
    declared_source,
    listed,
    referenced_columns,
)  # fmt: skip
from quarry.language.word_forms import inflections, plural, singular
from quarry.platform.tables import COLLECTION_WINDOWS, EmbeddedTable, LoadableTable, Row
from quarry.schema.source import (
    ACTOR_SETTING,
    DATE,
    KEY,
    KINDS,
    FacetKind,
    Field,
    Link,
    Source,
    SqlOf,
    SqlOn,
    compared_as,
    one_row,
)
from quarry.spans.numbers import CURRENCIES, unit_named

_WORDINGS: Mapping[str, str] = {"name": "by {}", "place": "in {}"}


def facet_source(collection: Collection) -> Source:
    """The collection as a source whose fields are its facets, as searches filter it: texts are compared with their spellings in
    the data, so that an index on the column serves, and conditions are worded as people say them ("in Germany"). Its values are
    stored under its name, `rows_N`.
    """
    declaration = collection.declaration
    fields = {name: _facet(collection, name, facet) for name, facet in declaration.facets.items()}
    dated = declaration.date if collection.has_own_words and declaration.date in fields else DATE
    if declaration.date and dated not in fields:
        day = cache(partial(collection.day, declaration.date))
        fields[DATE] = Field(DATE, "date", day, "date", "dates", words=("day",), wording="{}", folds=True, facet="date")
    read_by = {name: name if each.of else each.related for name, each in declaration.facets.items()}
    links = {
        link.name: replace(link, fields={name: fields[name] for name, by in read_by.items() if by == link.name})
        for link in _links(collection)
    }
    linked = {name: replace(fields[name], related=links[by]) for name, by in read_by.items() if by}
    # a few names of rows recur: their SQL is made once
    identity, guard = cache(collection.key_value), cache(collection.guard)
    key: SqlOf = cache(lambda row: f"({identity(row)})::text")
    return Source(
        collection.rows,
        label=plural(row_nouns(collection)[0]),
        nouns=row_nouns(collection),
        rows=collection.source_sql,
        key=identity,
        title=key,
        fields={KEY: Field(KEY, "text", key, "id", "ids"), **fields, **linked},
        links=links,
        guard=guard,
        holds_words=collection.holds_words,
        dated=dated if dated in fields and fields[dated].facet in ("date", "year") else None,
        languages=collection.languages,
        owner_claim="sub" if collection.has_own_words and declaration.scope else None,
        dictionary_rows=collection.counted,
        owner=collection.owner,
        guarded=frozenset(_guarded(collection)),
    )


def hides_rows(collection: Collection) -> bool:
    """Whether a caller may be unable to see some rows: they have owners, or row-level security may hide some."""
    return collection.declaration.scope_setting is not None or collection.has_row_security


def _guarded(collection: Collection) -> Iterator[str]:
    """The facets with values that a caller may not see."""
    if collection.has_own_words:
        return  # the rows' owners alone decide what callers see
    for name, facet in collection.declaration.facets.items():
        reached = {*tables_reached(collection.declaration, facet), *([facet.through] if facet.through else [])}
        may_hide = reached & collection.guarded_tables or any(table_name(each) in collection.owned for each in reached)
        if hides_rows(collection) or may_hide:
            yield name


def embedded_table(collection: Collection) -> EmbeddedTable:
    """How the collection's texts are embedded. They are read from the source, row by row."""
    titles = collection.declaration.headings
    columns = tuple(dict.fromkeys((*titles, *collection.declaration.embedded)))
    rows, windows = collection.rows, collection.windows
    if collection.has_own_words:
        return EmbeddedTable(rows, windows, columns, titles=titles)
    # no more of a long text is embedded than is searched by words
    expressions = {
        name: f"(select left({collection.text(name)}, {TEXT_MAX_CHARACTERS}) from {collection.source_sql} x"
        f" where {collection.has_key('t.id')})"
        for name in columns
    }
    return EmbeddedTable(rows, windows, columns, titles=titles, expressions=expressions, declared_in=COLLECTION_WINDOWS)


def row_nouns(collection: Collection) -> tuple[str, ...]:
    """The names for one row of a collection: "support ticket" and "ticket" for "support tickets"."""
    one = singular(collection.label.lower())
    return tuple(collection.declaration.nouns or dict.fromkeys((one, one.split()[-1])))


def facet_label(name: str) -> str:
    """The label of a facet without one: `unitprice` becomes "unit price", and `dept` "department"."""
    return " ".join(words(name)) or name


def _facet(collection: Collection, name: str, declaration: FacetDeclaration) -> Field:
    label = declaration.label or facet_label(name)
    is_plain = not declaration.of and not declaration.related and not declaration.expression
    is_many = is_plain and declaration.kind != "place" and collection.columns[declaration.columns_as(name)[0]].is_array
    of_currencies = {each.currency_column for each in collection.declaration.facets.values()}
    kind = "value" if declaration.through is not None and declaration.kind == "array" else declaration.kind
    value: SqlOf = cache(partial(_value, collection, name, declaration))
    bare = value("t")[2:]
    field = Field(
        name,
        KINDS.get(kind, "text"),
        value,
        label,
        declaration.plural or plural(label),
        unit=declaration.unit
        or (unit_named((declaration.column or "", name)) if declaration.kind == "number" else None),
        currency=declaration.currency if isinstance(declaration.currency, str) else None,
        wording=declaration.wording or _wording(declaration.kind, label),
        # with inflections of the label in the languages of the rows
        words=(*declaration.words, *inflections(label.lower().split()[-1], collection.languages)),
        synonyms=(
            *((word, value) for word, values in declaration.synonyms.items() for value in values),
            *(_names_of_currencies() if is_plain and declaration.columns_as(name)[0] in of_currencies else ()),
        ),
        is_hard=declaration.hard is True,
        is_people=declaration.people,
        hops=len(list(tables_reached(collection.declaration, declaration))),
        column=bare if bare.isidentifier() else None,
    )
    # the values of collections are looked up first
    return compared_as(field, kind, value, is_many=is_many, is_spelt=not collection.has_own_words)


@cache
def _names_of_currencies() -> tuple[tuple[str, str], ...]:
    return tuple((word, code) for name, code in CURRENCIES.items() for word in (name, plural(name)))


def _wording(kind: FacetKind, label: str) -> str:
    noun = label.replace("{", "").replace("}", "")
    if kind == "boolean":
        return f"marked {noun.removeprefix('is ').removeprefix('has ')}"
    if kind in ("date", "year"):
        # "since 2000 (birth date)": rows may have another date too
        return "{}" if noun in ("date", "day", "year") else f"{{}} ({noun})"
    return _WORDINGS.get(kind, f"with the {noun} {{}}")


def _value(collection: Collection, name: str, declaration: FacetDeclaration, row: LiteralString) -> LiteralString:
    if declaration.through is not None or isinstance(declaration.title, Referred):
        return as_kind(f"{row}.quarry_value", declaration.kind)
    if declaration.of is not None:
        return as_kind(collection.referred_title(declaration, row), declaration.kind)
    return (value_of_related if declaration.related else own_value)(collection, name, declaration, row)


def own_value(collection: Collection, name: str, declaration: FacetDeclaration, row: LiteralString) -> LiteralString:
    """The value of a facet in columns of the row."""
    if declaration.expression is not None:
        return collection.computed(declaration.expression, row)
    column, *more = declaration.columns_as(name)
    if more:
        return _joined(collection.text(each, row) for each in (column, *more))
    value = collection.value(column, declaration.kind, row)
    return f"joined_names({value})" if declaration.kind == "place" and collection.columns[column].is_array else value


def value_of_related(
    collection: Collection, name: str, declaration: FacetDeclaration, row: LiteralString
) -> LiteralString:
    """The value of a facet in a related row, whose types are unknown."""
    column, *more = declaration.columns_as(name)
    if more:
        return _joined(collection.other_text(each, row) for each in (column, *more))
    return collection.other_value(column, row, declaration.kind)


def _joined(texts: Iterable[LiteralString]) -> LiteralString:
    """A place in several columns."""
    return f"concat_ws(', ', {listed(texts)})"


def tables_reached(declaration: CollectionDeclaration, facet: FacetDeclaration) -> Iterator[str]:
    """The tables that a facet leads to, up to the one with the value."""
    if facet.related is not None:
        yield declaration.related[facet.related].of
    if facet.of is not None:
        yield facet.of
    title = facet.title
    while isinstance(title, Referred):
        yield title.of
        title = title.title


def _links(collection: Collection) -> Iterator[Link]:
    """How rows lead to the rows that facets are read from."""
    for name, facet in collection.declaration.facets.items():
        if facet.of is None:
            continue
        of = collection.other_table(facet.of)
        if facet.through is not None:
            of = collection.joined(facet)
        elif isinstance(facet.title, Referred):
            of = collection.reached(facet)
        on = refers(collection, facet)
        yield Link(name, name.replace("_", " "), on, facet.through is not None, rows=of)
    for name, rows in collection.declaration.related.items():
        yield Link(
            name,
            name.replace("_", " "),
            partial(collection.belongs, rows),
            True,
            rows=collection.other_table(rows.of),
            is_indexed=collection.has_own_words or name in collection.indexed_relations,
            owner=rows.by if collection.has_own_words else None,
        )


def refers(collection: Collection, facet: FacetDeclaration) -> SqlOn:
    """Whether a row refers to another by a facet."""
    if facet.through is not None:
        return lambda row, other: f"{other}.quarry_row = {collection.column(collection.key[0], row)}"
    key, by, of = facet.key or "id", facet.by or "", facet.of or ""
    if isinstance(facet.title, Referred):
        return lambda row, other: f"{other}.quarry_key = {collection.column(by, row)}"
    return lambda row, other: (
        f"{collection.column(key, other)} = {collection.column(by, row)}{collection.of_same_owner(of, row, other)}"
    )


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
        columns = {each: column_of(types, source[1], each) for each in ("id", *referenced_columns(declaration, {}))}
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
        return f"{super().fields(row)} - array[{listed(map(literal, _KEPT_COLUMNS))}]"

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
