"""Checks declarations against their tables. Each problem names its line, the key and the nearest name that exists. Of
vectors that tables hold: that the model which embeds questions made them.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from quarry.collections.apply import read_collections
from quarry.collections.catalog_reading import columns_of
from quarry.collections.collection import Collection
from quarry.collections.declaration import CollectionDeclaration, Lines
from quarry.collections.declaration_parts import (
    FacetDeclaration,
    LinkDeclaration,
    Parent,
    Referred,
    RelatedRows,
    Vectors,
    template_columns,
)
from quarry.collections.names import nearest, nearest_language, quoted_table, table_name
from quarry.collections.predicate import fields_of, names_of, read_measure, read_predicate
from quarry.collections.relations import Catalog, Column, Embedding, PathType, Relation, covers, keys_of, overlap
from quarry.collections.secrets import disagreements, exposures
from quarry.collections.upkeep import compare, keep_in_step
from quarry.collections.uses import (
    DATE,
    LINE_BREAK,
    VECTOR,
    Use,
    dimensions_of,
    is_comparable,
    joined_by,
    joined_texts,
    key_of,
    linked_by,
    path_types,
    referred_key,
    uses,
)
from quarry.models.interface import EmbeddingModel
from quarry.platform.errors import ConfigurationError
from quarry.postgres.embed import remember_model
from quarry.postgres.pool import Database

_SYSTEM_SCHEMAS = ("pg_catalog", "information_schema")
_UNQUOTABLE = frozenset("{}")
"""Characters that mean something else in the text of a statement with parameters."""


@dataclass
class Checked:
    """What is wrong with declarations. With errors they cannot be used; with warnings they can."""

    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Check:
    """The check of one collection. `own_schema` is Quarry's, whose tables cannot be collections; None where they can."""

    name: str
    declared: CollectionDeclaration
    catalog: Catalog
    lines: Lines
    own_schema: str | None
    checked: Checked

    def wrong(self, message: str, *path: str) -> None:
        """Note an error at the key `path` of the collection."""
        self.checked.errors.append(self.lines.problem(("collections", self.name, *path), message))

    def doubtful(self, message: str, *path: str) -> None:
        """Note a warning at the key `path` of the collection."""
        self.checked.warnings.append(self.lines.problem(("collections", self.name, *path), message))

    def relation(self, name: str, *path: str) -> Relation | None:
        """The table or view of this name; None where it does not exist, which is an error at `path`."""
        qualified = table_name(name)
        schema, table = qualified
        if schema in (self.own_schema, *_SYSTEM_SCHEMAS):
            self.wrong(f"{table} belongs to the schema {schema}, which is not searched", *path)
            return None
        relation = self.catalog.relations.get(qualified)
        if relation is None:
            self.wrong(f"there is no table or view {schema}.{table}{self._nearest_table(qualified)}", *path)
        return relation

    def _nearest_table(self, qualified: tuple[str, str]) -> str:
        schema, table = qualified
        elsewhere = sorted(f"{other}.{table}" for other, name in self.catalog.names if name == table)
        if elsewhere:
            return f"; did you mean {elsewhere[0]!r}?"
        own = [".".join(other) for other in self.catalog.names if other[0] != self.own_schema]
        return nearest(f"{schema}.{table}", own)

    @cached_property
    def types(self) -> Mapping[str, PathType]:
        """The types of the JSON paths of the source, by name."""
        return path_types(self.declared, self.catalog.relations)

    def column(self, relation: Relation, use: Use) -> Column | None:
        """The column of `relation` that is used; None where it does not exist, which is an error. So is one that does not fit."""
        name, is_own = use.column, use.of is None
        column = relation.at(name, (self.types.get(name) if is_own else use.type) or PathType())
        if column is None:
            self.wrong(f"{relation.name} has no column {name!r}{nearest(name, relation.names)}", *use.path)
        elif name in relation.by_name and keys_of(name) and not is_own:
            self.wrong(f"{name!r} is a column, but reads as a key in JSON: rename it in a view", *use.path)
        elif _UNQUOTABLE & {*name}:
            self.wrong(f"a column called {name!r} cannot be used: rename it in a view, without {{ and }}", *use.path)
        elif not use.fit.accepts(column):
            self.wrong(f"the column {name!r} is {column.type}, not {use.fit.requirement}", *use.path)
        elif name not in relation.by_name:
            self._doubt_path(relation, name, *use.path)
        return column

    def _doubt_path(self, relation: Relation, name: str, *path: str) -> None:
        """Warn of a key that no row of the sample has: it may be misspelt."""
        holder = keys_of(name)[0]
        sampled = [each.name for each in relation.documents if covers(holder, each.name)]
        if sampled and not any(overlap(name, each) for each in sampled):
            self.doubtful(f"few or no rows of a sample have a single value at {name!r}{nearest(name, sampled)}", *path)

    def run(self) -> None:
        declared = self.declared
        if isinstance(declared.language, str) and declared.language not in self.catalog.languages:
            hint = nearest_language(declared.language, self.catalog.languages)
            self.wrong(f"there is no text search configuration {declared.language!r}{hint}", "language")
        source = self.relation(declared.source, "source")
        if source is None:
            return
        self._check_rights(source)
        self._check_key(source)
        self._check_columns(source)
        self._check_url(source)
        if declared.is_searched:
            self._check_sync(source)
        for name, facet in declared.facets.items():
            self._check_facet(source, name, facet)
        self._check_formulas(source)
        for name, link in declared.links.items():
            self._check_link(source, name, link)
        for name, rows in declared.related.items():
            self._check_related(source, name, rows)
        for name, each in declared.references.items():
            self._check_referred(source, each, name.split()[0])
        for leak in exposures(declared, source, self.catalog.relations):
            advice = "put it into `hidden`" if leak.relation is source else "show another column"
            opened = "" if leak.path else ", and records that are opened show it"
            self.doubtful(f"{leak.reason}{opened}: {advice}, unless everybody may see it", *leak.path)

    def _check_rights(self, source: Relation) -> None:
        if not source.may_select:
            self.wrong(f"the role of DATABASE_URL may not read it: grant select on {_name(source)}", "source")
        if source.is_row_security_active:
            self.wrong(
                f"row-level security of {_name(source)} hides rows from the role of DATABASE_URL: create a policy for select "
                "`using (true)` for this role, and leave it out of restrictive ones, or give it BYPASSRLS",
                "source",
            )
        self._refuse_bypass(source, "source")
        if source.knows_user and self.declared.scope_setting is None:
            self.doubtful(policy_warning(source), "source")
        if self.declared.scope is not None and self.declared.scope_setting is None:
            self.doubtful("without `scope_setting` every caller sees all rows", "scope")

    def _refuse_bypass(self, relation: Relation, *path: str) -> None:
        """A view may show rows that the policies of its tables hide only where the owner allows it."""
        if relation.bypassed and not self.declared.bypasses_policies:
            self.wrong(f"{bypass(relation)}; or write bypasses_policies = true where every caller may see them", *path)

    def _check_key(self, source: Relation) -> None:
        key = self.declared.key
        if not key and source.kind in _TRIGGERED and not self.declared.is_searched:
            return  # rows that are only counted need none
        if source.kind not in _TRIGGERED:
            if not key:
                self.wrong(f"is missing: a {source.kind} has none; name the columns that identify a row", "key")
        elif not key and not source.primary_key:
            self.wrong(f"is missing: {source.name} has no primary key{_keys_hint(source)}", "key")
        elif key and not any(sorted(key) == sorted(each) for each in source.keys):
            problem = "no primary key, and no unique key of columns that are never null"
            self.wrong(f"{', '.join(key)}: {problem}{_keys_hint(source)}", "key")

    def _check_columns(self, source: Relation) -> None:
        """Every column that is named exists, holds what it must, and is not hidden where it would be shown."""
        is_date_of_facet = self.own_schema is None and self.declared.date in self.declared.facets
        for use in uses(self.declared, self.catalog.relations):
            relation = source if use.of is None else self.catalog.relations.get(use.of)
            if relation is None or (use.path == ("date",) and is_date_of_facet):
                continue
            column = self.column(relation, use)
            if relation is source and use.is_shown:
                self._refuse_hidden(use.column, *use.path)
            vectors = self.declared.vectors if use.path == ("vectors",) else None
            if vectors and column and (problem := vectors_problem(vectors, column, self.catalog.vectors)):
                self.wrong(problem, "vectors")

    def _refuse_hidden(self, name: str, *path: str) -> None:
        if any(overlap(name, hidden) for hidden in self.declared.hidden):
            self.wrong(f"the column {name!r} is hidden, and would be shown", *path)

    def _check_url(self, source: Relation) -> None:
        url = self.declared.url
        if url is not None and not template_columns(url):
            advice = f": write {{{url}}}" if url in source.by_name else ""
            self.wrong(f"names no column in braces, so all rows would have one address{advice}", "url")

    def _check_sync(self, source: Relation) -> None:
        if self.declared.sync != "trigger":
            return
        if source.kind not in _TRIGGERED:
            self.wrong(f'a {source.kind} cannot have these triggers: write sync = "sweep"', "sync")
        elif source.is_partition:
            problem = "triggers of a partition miss what is written through its parent"
            self.wrong(f'{problem}: write sync = "sweep", or name the parent as source', "sync")
        elif not source.may_trigger:
            grant = f"grant trigger on {_name(source)}"
            self.wrong(f'the role of DATABASE_URL may not create triggers: {grant}, or write sync = "sweep"', "sync")

    def _check_facet(self, source: Relation, name: str, facet: FacetDeclaration) -> None:
        path = ("facets", name)
        if facet.through is not None:
            self._check_through(source, facet, *path)
        elif facet.kind == "words" and self.own_schema is not None:
            self.wrong("is for Quarry's own tables: name columns of yours in `text` to search them by words", *path)
        elif facet.reference is not None:
            if facet.title is None:
                self.wrong(f"is missing: the column of {facet.of} that is the value", *path, "title")
            self._check_referred(source, facet.reference, *path)
        elif facet.expression is not None:
            columns = [source.at(each, self.types.get(each)) for each in facet.used_columns]
            dates = [each for each in columns if each and DATE.accepts(each)]
            if dates and (facet.kind != "number" or len(dates) < len(columns)):
                self.wrong(f"the column {dates[0].name!r} is {dates[0].type}, not a number", *path, "expression")

    def _check_related(self, source: Relation, name: str, rows: RelatedRows) -> None:
        other, key = self._other(rows.of, "related", name, "of"), key_of(self.declared, source)
        if len(key) != 1:
            message = f"a row of {source.name} is identified by {len(key)} columns, and `by` is one"
            self.wrong(message, "related", name, "by")
        elif other is not None:
            self._check_comparable(other, rows.by, source, key[0], "related", name, "by")

    def _check_formulas(self, source: Relation) -> None:
        declared = self.declared
        for name, text in declared.predicates.items():
            self._check_fields(source, fields_of(read_predicate(text)), "predicate", name)
        leading = {*declared.links, *declared.related}
        for name, measure in declared.measures.items():
            fields = (
                each
                for each in names_of(read_measure(measure))
                if (first := each.partition(".")[0]) not in leading and (first == each or first not in declared.facets)
            )
            self._check_fields(source, fields, "measure", name, *declared.predicates)

    def _check_fields(self, source: Relation, fields: Iterable[str], what: str, name: str, *others: str) -> None:
        """A predicate or measure has a name of its own, and names facets, columns, or `others`."""
        path, declared = (f"{what}s", name), self.declared
        if name in source.by_name:
            self.wrong(f"{source.name} has a column of this name: choose another name for the {what}", *path)
        existing = [*declared.facets, *others, *(["date"] if declared.date else []), *source.names]
        for field_name in dict.fromkeys(fields):
            if field_name not in existing and (not keys_of(field_name) or source.at(field_name) is None):
                self.wrong(f"there is no facet or column {field_name!r}{nearest(field_name, existing)}", *path)
            elif field_name not in declared.facets:
                self._refuse_hidden(field_name, *path, field_name)

    def _check_link(self, source: Relation, name: str, link: LinkDeclaration) -> None:
        path = ("links", name)
        reference = linked_by(link, source)
        if reference is None and link.of is None:
            self.wrong(f"no foreign key of {', '.join(link.by)} says what it refers to: name the table as `of`", *path)
        table = link.of or (reference and quoted_table(*reference.target))
        other = self._other(table, *path, "of") if table else None
        if other is None:
            return
        key = reference.target_columns if reference else link.key or other.primary_key
        if len(key) != len(link.by):
            columns = f"{len(key)} columns" if key else "none"
            self.wrong(f"the key of {other.name} has {columns}, and `by` {len(link.by)}: name them as `key`", *path)
            return
        for by, column in zip(link.by, key, strict=True):
            self._check_comparable(source, by, other, column, *path, "by")

    def _check_referred(self, source: Relation, referred: Referred | Parent, *path: str) -> None:
        other = self._other(referred.of, *path, "of")
        if other is None:
            return
        key = referred.key or referred_key(source, referred.by, other)
        if isinstance(referred, Referred) and isinstance(referred.title, Referred):
            self._check_referred(other, referred.title, *path)
        if key is None:
            self.wrong(f"{other.name} has no key of one column: name the column as `key`", *path)
        elif other.kind in _TRIGGERED and key in other.by_name and (key,) not in (*other.keys, *other.unique_keys):
            self.wrong(f"{key!r} is no key of {other.name}: a row could have several values", *path, "key")
        else:
            self._check_comparable(source, referred.by, other, key, *path, "by")

    def _other(self, name: str, *path: str) -> Relation | None:
        """A table that rows refer to; None where it does not exist."""
        other = self.relation(name, *path)
        if other is None:
            return None
        if not other.may_select:
            self.wrong(f"the role of DATABASE_URL may not read it: grant select on {_name(other)}", *path)
        if other.is_row_security_active:
            self.doubtful(f"row-level security of {_name(other)} may hide values", *path)
        self._refuse_bypass(other, *path)
        return other

    def _check_through(self, source: Relation, facet: FacetDeclaration, *path: str) -> None:
        """A table joins the rows with those of another, by foreign keys or by the columns that are named."""
        other, joins = self._other(facet.of or "", *path, "of"), self._other(facet.through or "", *path, "through")
        if other is None or joins is None:
            return
        key = key_of(self.declared, source)
        if len(key) != 1:
            message = f"a row of {source.name} is identified by {len(key)} columns, and is joined by one"
            self.wrong(message, *path, "through")
            return
        by, to = joined_by(facet, source, joins, other)
        for keyword, reference, relation in (("by", by, source), ("to", to, other)):
            if reference is None:
                message = f"no single column of {joins.name} refers to {relation.name}: name one as `{keyword}`"
                self.wrong(message, *path, "through")
                continue
            if keyword == "by" and facet.by is None and reference.target_columns != tuple(key):
                self.wrong(
                    f"{joins.name} refers to {', '.join(reference.target_columns)} of {source.name}, no key", *path
                )
            key_column = key[0] if relation is source else facet.key or reference.target_columns[0]
            if facet.key is None and relation.at(key_column) is None:
                self.wrong(f"{relation.name} has no key of one column: name the column as `key`", *path)
            self._check_comparable(joins, reference.columns[0], relation, key_column, *path, keyword)

    def _check_comparable(self, table: Relation, by: str, other: Relation, key: str, *path: str) -> None:
        """The column `by` of one table can be compared with the column `key` of another. A missing one is another problem."""
        is_own = table.qualified == table_name(self.declared.source)
        column, referred = table.at(by, self.types.get(by) if is_own else None), other.at(key)
        if column and referred and not is_comparable(column, referred):
            message = f"the column {by!r} is {column.type}, and {key!r} of {other.name} is {referred.type}"
            self.wrong(message, *path)


_OR_EMBED = "or delete `vectors` to have the texts embedded"


def vectors_problem(vectors: Vectors, column: Column, embedding: Embedding | None) -> str | None:
    """Why a column's vectors cannot be compared with those of questions, and what to do; None if they can be."""
    if embedding is None or not VECTOR.accepts(column):
        return None
    if vectors.model not in (None, embedding.model):
        return (
            f"{column.name!r} was made by {vectors.model}, but {embedding.model} embeds questions: set OPENAI_EMBEDDING_MODEL to "
            f"{vectors.model}, {_OR_EMBED}"
        )
    dimensions = dimensions_of(column)
    if dimensions not in (None, embedding.dimensions):
        return (
            f"{column.name!r} holds vectors of {dimensions} dimensions, but {embedding.model}, which embeds questions, makes "
            f"{embedding.dimensions}: set the model that made them (OPENAI_EMBEDDING_MODEL, EMBEDDING_DIMENSIONS) and run "
            f"`quarry embed --all`, {_OR_EMBED}"
        )
    return None


_TRIGGERED = ("table", "partitioned table")


def check(
    declared: Mapping[str, CollectionDeclaration], catalog: Catalog, lines: Lines, *, own_schema: str | None
) -> Checked:
    """Everything that does not fit. `own_schema` is Quarry's, whose tables cannot be collections; None where they can."""
    checked = Checked()
    for name, collection in declared.items():
        _Check(name, collection, catalog, lines, own_schema, checked).run()
    for each in disagreements(declared, catalog.relations):
        checked.errors.append(lines.problem(("collections", each.collection, *each.path), each.message))
    return checked


def policy_warning(relation: Relation) -> str:
    """That every caller sees rows which a policy shows to single users, and what to do."""
    return (
        f"a policy of {_name(relation)} shows each user other rows, but every caller sees all of them:"
        " limit callers to their own rows by `scope` and `scope_setting`, or leave the table out"
    )


def bypass(view: Relation) -> str:
    """Why a view shows rows that policies hide, and what to do."""
    tables = ", ".join(view.bypassed)
    problem = f"the {view.kind} {_name(view)} shows all rows of {tables}, whose policies it bypasses"
    if view.kind == "view":
        return (
            f"{problem}: alter view {_name(view)} set (security_invoker = true), and the views that it reads likewise"
        )
    return f"{problem}: search a view with security_invoker = true instead"


def _keys_hint(relation: Relation) -> str:
    keys = [", ".join(key) for key in relation.keys]
    return f"; its keys: {' | '.join(keys)}" if keys else "; give it one, or search a view over it"


def _name(relation: Relation) -> str:
    return ".".join(relation.qualified)


ROWS_COMPARED = 5
CHARACTERS_COMPARED = 1_000
UNLIKE = 0.25
"""The least cosine between two vectors of the same text from one model.

Vectors of different models are as good as random: with 384 numbers, five standard deviations are 0.25, with more numbers
less. Vectors of the same model are near 1, even if more or less of the text was embedded.
"""


async def collections_with_vectors(database: Database, model: EmbeddingModel) -> list[Collection]:
    """The collections whose tables hold vectors. Raises ConfigurationError where the model cannot have made them."""
    collections = [each for each in (await read_collections(database)).values() if each.declaration.vectors]
    columns = await columns_of(database, [each.source for each in collections])
    for each in collections:
        vectors = each.declaration.vectors
        column = next((one for one in columns[each.source] if vectors and one.name == vectors.column), None)
        embedding = Embedding(model.name, model.dimensions)
        if vectors and column and (problem := vectors_problem(vectors, column, embedding)):
            raise ConfigurationError(f"{each.name}: {problem}, and run `quarry apply` first.")
    return collections


async def take_over_vectors(database: Database, collections: Sequence[Collection], model: EmbeddingModel) -> None:
    """Read the vectors of these collections from their tables again, and store the name of the model."""
    if not collections:
        return
    await remember_model(database, model)
    for each in collections:
        await compare(database, each)
    await keep_in_step(database, collections)


async def are_unlike(database: Database, collection: Collection, model: EmbeddingModel) -> bool:
    """Whether a few vectors of a collection's table are unlike those that the model makes of the same texts.

    Raises ModelError, and PostgresError where the table cannot be read.
    """
    vectors = collection.declaration.vectors
    assert vectors is not None, collection.name
    vector = collection.column(vectors.column)
    text = joined_texts(LINE_BREAK, map(collection.text, collection.declaration.text))
    rows = await database.rows(
        f"select left({text}, %(most)s) as said, {vector}::text as vector from {collection.source_sql} x"
        f" where {vector} is not null and {text} <> '' limit %(rows)s",
        {"most": CHARACTERS_COMPARED, "rows": ROWS_COMPARED},
    )
    embeddings = await model.embed([row["said"] for row in rows]) if rows else []
    likeness = [_cosine(json.loads(row["vector"]), each) for row, each in zip(rows, embeddings, strict=True)]
    return bool(likeness) and max(likeness) < UNLIKE


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(map(operator.mul, one, other)) / lengths if lengths else 0.0
