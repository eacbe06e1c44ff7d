"""What a declaration names of tables: its columns, each at a key and with what it must hold, how tables are joined, and which
types of columns it can use for what. And the parts of SQL statements about a row: names and texts are quoted here and nowhere
else. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, LiteralString, NamedTuple

from quarry.collections.declaration import CollectionDeclaration, Poll
from quarry.collections.declaration_parts import (
    ColumnPart,
    FacetDeclaration,
    LinkDeclaration,
    Parent,
    Referred,
    Template,
    is_template,
    line_columns,
    parse,
    template_columns,
)
from quarry.collections.names import is_date, table_name
from quarry.collections.predicate import Condition, fields_of, read_predicate
from quarry.collections.relations import (
    MOMENT,
    NUMBER,
    TRUTHS,
    Column,
    PathType,
    Reference,
    Relation,
    keys_of,
    literal,
    path_sql,
    type_of_kind,
    type_to_compare,
)
from quarry.collections.relations import TEXT as TEXT_TYPE
from quarry.schema.source import NUMERIC_KINDS, FacetKind, identifier

_NOT_TEXT = frozenset(
    """bytea tsvector tsquery vector halfvec sparsevec bit varbit geometry geography raster box path point line lseg
    polygon circle""".split()
)
_NOT_SINGLE = frozenset({"json", "jsonb", "xml", "hstore"})
_ORDERED = frozenset({"uuid", "xid8", "pg_lsn"})


class Fit(NamedTuple):
    """A test of columns for one purpose, and what they must hold, in words."""

    accepts: Callable[[Column], bool]
    requirement: str


def is_single(column: Column) -> bool:
    """Whether it holds one value, which can be compared and shown."""
    return not column.is_array and column.category != "C" and _type(column) not in _NOT_TEXT | _NOT_SINGLE


def is_comparable(column: Column, other: Column) -> bool:
    """Whether values of one column can be looked up in the other."""
    return column.base == other.base or (column.category == other.category and column.category in ("N", "S"))


def _of(*categories: str) -> Callable[[Column], bool]:
    return lambda column: not column.is_array and column.category in categories


def _type(column: Column) -> str:
    """The name of the type, without schema and length."""
    return column.base.partition("(")[0].rpartition(".")[2].strip('"').split(" ")[0]


def dimensions_of(column: Column) -> int | None:
    """The length of a column's vectors; None where the type does not say."""
    dimensions = column.type.partition("(")[2].rstrip(")")
    return int(dimensions) if dimensions.isdecimal() else None


ANY = Fit(lambda _: True, "anything")
TEXT = Fit(lambda column: _type(column) not in _NOT_TEXT, "text")
SINGLE = Fit(is_single, "a single value")
PLAIN = Fit(lambda column: is_single(replace(column, is_array=False)), "a single value, or several of these")
VECTOR = Fit(
    lambda column: not column.is_array and _type(column) in ("vector", "halfvec"), "a vector or halfvec of pgvector"
)
DATE = Fit(is_date, "a date or timestamp")
ORDERED = Fit(
    lambda column: _of("N", "S")(column) or is_date(column) or (not column.is_array and _type(column) in _ORDERED),
    "a number, moment or text that grows",
)
_WORD = Fit(_of("S", "E"), "text")
_WORDS = Fit(lambda column: column.category in ("S", "E"), "text, or an array of texts")
_NUMBER = Fit(_of("N"), "a number")
MEASURED = Fit(lambda column: _NUMBER.accepts(column) or is_date(column), "a number")
FACETS: Mapping[FacetKind, Fit] = {
    "value": SINGLE, "name": _WORDS, "title": _WORD, "place": _WORDS, "text": _WORD,
    "number": _NUMBER, "year": _NUMBER, "money": _NUMBER,
    "date": DATE, "boolean": Fit(_of("B", "N", "S"), "a boolean, a number, or texts for yes and no"),
    "array": Fit(lambda column: column.is_array, "an array"),
    "words": ANY,
}  # fmt: skip


Table = tuple[str, str]
"""Schema and name."""
Relations = Mapping[Table, Relation]


class Use(NamedTuple):
    """A column that a declaration names at the key `path`, and what it must hold.

    `of` is the table of the column; None for the source. `type` is how a JSON path is read; None where another use decides.
    A column that is not `is_shown` may be hidden: no caller sees its values.
    """

    path: tuple[str, ...]
    column: str
    fit: Fit
    of: Table | None = None
    type: PathType | None = None
    is_shown: bool = True


def uses(declared: CollectionDeclaration, relations: Relations) -> Iterator[Use]:
    """Every column that a declaration names, except in predicates. Primary and foreign keys come from `relations`."""
    source = relations.get(declared_source(declared))
    yield from _each(("key",), key_of(declared, source) if source else declared.key, SINGLE)
    yield from (Use(("text", name), name, TEXT) for name in declared.text)
    for keyword, columns in declared.lines.items():
        yield from _each((keyword,), columns, TEXT)
    yield from _each(("markup",), declared.markup, TEXT, is_shown=False)
    yield from _each(("date",), _optional(declared.date), DATE, type=PathType(MOMENT))
    yield from _each(("scope",), _optional(declared.scope), SINGLE, is_shown=False)
    yield from _each(("language", "column"), _optional(declared.language_column), TEXT, is_shown=False)
    yield from _each(("url",), template_columns(declared.url or ""), SINGLE)
    yield from _each(("where",), declared.where.columns if declared.where else (), ANY, is_shown=False)
    for name, condition in declared.kept_with.items():
        path, of = ("kept_with", name), table_name(condition.of)
        yield Use(path, name, SINGLE, is_shown=False)
        yield from _each((*path, "key"), _optional(condition.key), SINGLE, of, is_shown=False)
        yield from _each((*path, "where"), condition.where.columns, ANY, of, is_shown=False)
    yield from _each(
        ("vectors",), _optional(declared.vectors.column if declared.vectors else None), VECTOR, is_shown=False
    )
    if isinstance(declared.sync, Poll):
        yield Use(("sync", "poll"), declared.sync.poll, ORDERED, type=PathType(MOMENT), is_shown=False)
    for name, facet in declared.facets.items():
        yield from _of_facet(declared, name, facet, relations)
    for name, reference in declared.references.items():
        yield from _of_reference(reference, (name.split()[0],), FACETS["value"], source, None, relations)
    yield from _each(("fields",), declared.fields, PLAIN)
    for name, link in declared.links.items():
        yield from _each(("links", name, "by"), link.by, SINGLE)
        if source and (linked := linked_by(link, source)):
            yield from _each(("links", name, "key"), linked.target_columns, SINGLE, linked.target, is_shown=False)
    for name, rows in declared.related.items():
        path, of = ("related", name), table_name(rows.of)
        yield Use((*path, "by"), rows.by, SINGLE, of, is_shown=False)
        yield from _each((*path, "fields"), rows.fields.values(), PLAIN, of)
        conditions = dict.fromkeys(fields_of(read_predicate(rows.where))) if rows.where else ()
        yield from _each((*path, "where"), conditions, SINGLE, of, is_shown=False)
    yield from _each(("hidden",), declared.hidden, ANY, is_shown=False)


def _of_facet(
    declared: CollectionDeclaration, name: str, facet: FacetDeclaration, relations: Relations
) -> Iterator[Use]:
    path = "facets", name
    yield from _each((*path, "currency", "column"), _optional(facet.currency_column), SINGLE)
    if facet.through is not None:
        joins, of = table_name(facet.through), table_name(facet.of or "")
        for keyword, column, table in (("by", facet.by, joins), ("to", facet.to, joins), ("key", facet.key, of)):
            yield from _each((*path, keyword), _optional(column), SINGLE, table, is_shown=False)
        yield from _line((*path, "title"), str(facet.title), SINGLE, of)
    elif facet.reference is not None:
        source = relations.get(declared_source(declared))
        yield from _of_reference(facet.reference, path, FACETS[facet.kind], source, None, relations)
    elif facet.expression is not None:
        yield from _each((*path, "expression"), facet.used_columns, MEASURED, type=PathType(NUMBER))
    else:
        at = (*path, "columns") if facet.columns else (*path, "column") if facet.column else path
        related = table_name(declared.related[facet.related].of) if facet.related else None
        yield from _each(at, facet.columns_as(name), FACETS[facet.kind], related, type=type_of_kind(facet.kind))


def _of_reference(
    referred: Referred | Parent,
    path: tuple[str, ...],
    fit: Fit,
    source: Relation | None,
    of: Table | None,
    relations: Relations,
) -> Iterator[Use]:
    """The columns of a reference from rows of `source`; `fit` is what the column must hold that it ends in."""
    target = table_name(referred.of)
    other = relations.get(target)
    key = referred.key or (referred_key(source, referred.by, other) if source and other else None)
    referred_to = other.by_name.get(key) if other and key else None
    type = type_to_compare(referred_to.base if referred_to else TEXT_TYPE)
    yield Use((*path, "by"), referred.by, SINGLE, of, type)
    yield from _each((*path, "key"), _optional(key), SINGLE, target, is_shown=False)
    if isinstance(referred, Parent):
        yield from _each((*path, "show"), referred.show, ANY, target)
    elif isinstance(referred.title, Referred):
        yield from _of_reference(referred.title, path, fit, other, target, relations)
    else:
        yield from _line((*path, "title"), referred.title, fit, target)


def _each(
    path: tuple[str, ...],
    columns: Iterable[str],
    fit: Fit,
    of: Table | None = None,
    *,
    type: PathType | None = None,
    is_shown: bool = True,
) -> Iterator[Use]:
    return (Use(path, column, fit, of, type, is_shown) for column in columns)


def _line(path: tuple[str, ...], line: str, fit: Fit, of: Table) -> Iterator[Use]:
    """The columns of a line of another table. A column by itself must be of the facet's kind."""
    return (Use(path, column, fit if column == line else SINGLE, of) for column in line_columns([line]))


def _optional(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


def path_types(declared: CollectionDeclaration, relations: Relations) -> dict[str, PathType]:
    """The types of the JSON paths of the source, by name; a path that is not here is text."""
    types: dict[str, PathType] = {}
    # a path that only an expression uses is a number
    for use in sorted(uses(declared, relations), key=lambda use: use.path[-1] == "expression"):
        if use.of is None and use.type is not None:
            types.setdefault(use.column, use.type)
    return types


def referenced_columns(declared: CollectionDeclaration, relations: Relations) -> list[str]:
    """The columns and paths of the source that a collection is made of, each once.

    Fields and links of a searched collection are read from the source directly: its triggers need not compare them.
    """
    apart = {"hidden", *(("fields", "links") if declared.is_searched else ())}
    return [
        *dict.fromkeys(use.column for use in uses(declared, relations) if use.of is None and use.path[0] not in apart)
    ]


def referenced_tables(declared: Mapping[str, CollectionDeclaration]) -> set[Table]:
    """Schema and name of every table that the declarations name."""
    return {table_name(name) for collection in declared.values() for name in _tables(collection)}


def _tables(declared: CollectionDeclaration) -> Iterator[str]:
    yield declared.source
    yield from (condition.of for condition in declared.kept_with.values())
    yield from (link.of for link in declared.links.values() if link.of)
    yield from (rows.of for rows in declared.related.values())
    for facet in declared.facets.values():
        if facet.through and facet.of:
            yield from (facet.through, facet.of)
    of_facets = (facet.reference for facet in declared.facets.values() if facet.reference)
    for referred in (*of_facets, *declared.references.values()):
        yield referred.of
        title = referred.title if isinstance(referred, Referred) else ""
        while isinstance(title, Referred):
            yield title.of
            title = title.title


def declared_source(declaration: CollectionDeclaration) -> Table:
    """Schema and name of the table that a collection is made of."""
    return table_name(declaration.source)


def key_of(declaration: CollectionDeclaration, relation: Relation) -> tuple[str, ...]:
    """The columns that identify a row: those declared, or else the primary key.

    Empty where rows are only counted and the primary key is hidden.
    """
    if declaration.key or declaration.is_searched or not {*relation.primary_key} & {*declaration.hidden}:
        return declaration.key or relation.primary_key
    return ()


def joined_by(
    facet: FacetDeclaration, source: Relation, joins: Relation, other: Relation
) -> tuple[Reference | None, Reference | None]:
    """How the table `joins` refers to `source` and to `other`: by the columns that the facet names, or else by its only foreign
    key of one column. None where that is unclear.
    """

    def reference(column: str | None, target: Relation) -> Reference | None:
        if column is not None:
            keys = target.primary_key if len(target.primary_key) == 1 else (column,)
            return Reference((column,), target.qualified, keys)
        candidates = [each for each in joins.references if each.target == target.qualified and len(each.columns) == 1]
        return candidates[0] if len(candidates) == 1 else None

    by, to = reference(facet.by, source), reference(facet.to, other)
    if to is not None and facet.key is not None:
        to = Reference(to.columns, to.target, (facet.key,))
    return by, to


def linked_by(link: LinkDeclaration, source: Relation) -> Reference | None:
    """Where a link leads: as declared, or else as the foreign key of its columns says. None where neither does."""
    target = table_name(link.of) if link.of else None
    if target and link.key:
        return Reference(link.by, target, link.key)
    matches = (each for each in source.references if each.columns == link.by and target in (None, each.target))
    return next(matches, None)


def referred_key(source: Relation, by: str, other: Relation) -> str | None:
    """The column of `other` that the column `by` of `source` refers to: that of the foreign key, or else the primary key.

    None where the primary key has several columns, or there is none.
    """
    for reference in source.references:
        if reference.columns == (by,) and reference.target == other.qualified:
            return reference.target_columns[0]
    return other.primary_key[0] if len(other.primary_key) == 1 else None


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
        stored = asdict(self)
        return stored if self.path else {name: each for name, each in stored.items() if name != "path"}

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
            return value if base == "boolean" else f"({value}::numeric <> 0)" if base in NUMBERS else _text_truth(value)
        return value if kind == "datetime" or base in _TEXTS else f"{value}::text"


def as_kind(value: LiteralString, kind: FacetKind) -> LiteralString:
    """A value of unknown type, as the kind of its facet."""
    if kind == "date":
        return f"({value})::date"
    return f"{value}::numeric" if kind in NUMERIC_KINDS else value


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
    names = referenced_columns(declaration, {**relations, declared_source(declaration): relation})
    return {name: UsedColumn.at(relation, name, types.get(name, PathType())) for name in names}


LINE_BREAK: LiteralString = r"E'\n'"
ARGUMENTS_MAX = 100
"""The most arguments of a Postgres function."""


def line_sql(line: str, text: Callable[[str], LiteralString]) -> LiteralString:
    """A line in SQL; null where it is empty. `text` gives a column as text."""
    return f"nullif(btrim({_parts(parse(line), text) if is_template(line) else text(line)}), '')"


def _parts(template: Template, text: Callable[[str], LiteralString], *, is_whole: bool = False) -> LiteralString:
    """A template in SQL. If it `is_whole`, it is null as soon as one of its columns is empty."""
    parts: list[LiteralString] = []
    for part in template:
        if isinstance(part, ColumnPart):
            value = rf"nullif(regexp_replace({text(part.column)}, '\s*\n\s*', ' ', 'g'), '')"
            parts.append(value if is_whole else f"coalesce({value}, '')")
        elif isinstance(part, str):
            parts.append(literal(part))
        else:
            parts.append(f"coalesce({_parts(part, text, is_whole=True)}, '')")
    return " || ".join(parts) or "''"


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
        return literal(value)
    truths: Mapping[bool, LiteralString] = {True: "true", False: "false"}
    return truths[value] if isinstance(value, bool) else f"{value}"
