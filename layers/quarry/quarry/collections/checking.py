"""Declarations against the tables that they name: what does not fit, told with its line, the column and the nearest name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from quarry.collections.agreement import disagreements
from quarry.collections.collection import key_of
from quarry.collections.column_types import (
    ANY,
    DATE,
    FACETS,
    ORDERED,
    PLAIN,
    SINGLE,
    TEXT,
    VECTOR,
    Fit,
    is_comparable,
)
from quarry.collections.declaration import (
    CollectionDeclaration,
    FacetDeclaration,
    Lines,
    LinkDeclaration,
    Parent,
    Poll,
    Referred,
    line_columns,
    nearest,
    nearest_language,
    table_name,
    template_columns,
)
from quarry.collections.exposure import exposed
from quarry.collections.json_paths import PathType, covers, keys_of, overlap
from quarry.collections.path_types import path_types, type_to_compare
from quarry.collections.predicate import fields_of, read_predicate
from quarry.collections.relations import Catalog, Column, Reference, Relation
from quarry.collections.toml_text import table as sql_table
from quarry.collections.vectors_given import vectors_problem

_SYSTEM_SCHEMAS = ("pg_catalog", "information_schema")
_TRIGGERED = ("table", "partitioned table")
_FITS: Mapping[str, Fit] = {"date": DATE, "scope": SINGLE, "hidden": ANY}
"""What the columns of a key of the declaration must hold, where that is not text."""


_UNQUOTABLE = frozenset("%{}")
"""What a name may not hold that stands in the text of a statement with parameters."""


@dataclass
class Checked:
    """What is wrong with declarations: errors forbid to use them, warnings do not."""

    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def tables_named(declared: Mapping[str, CollectionDeclaration]) -> set[tuple[str, str]]:
    """Schema and name of every table that the declarations name."""
    return {
        table_name(name)
        for collection in declared.values()
        for name in (
            collection.source,
            *(name for facet in collection.facets.values() if facet.through for name in (facet.of, facet.through)),
            *(each.of for each in (*_references(collection), *collection.links.values())),
        )
        if name is not None
    }


def _references(collection: CollectionDeclaration) -> Iterator[Referred | Parent]:
    of_facets = (facet.reference for facet in collection.facets.values() if facet.reference)
    for each in (*of_facets, *collection.references.values()):
        referred: Referred | Parent | str = each
        while not isinstance(referred, str):
            yield referred
            referred = referred.title if isinstance(referred, Referred) else ""


def check(
    declared: Mapping[str, CollectionDeclaration], catalog: Catalog, lines: Lines, *, own_schema: str | None
) -> Checked:
    """All that does not fit. `own_schema` is Quarry's, whose tables are no collections; None where they may be."""
    checked = Checked()
    for name, collection in declared.items():
        _Check(name, collection, catalog, lines, own_schema, checked).run()
    for each in disagreements(declared):
        told = checked.errors if each.is_error else checked.warnings
        told.append(lines.problem(("collections", each.collection, *each.path), each.message))
    return checked


@dataclass(frozen=True)
class _Check:
    name: str
    declared: CollectionDeclaration
    catalog: Catalog
    lines: Lines
    own_schema: str | None
    checked: Checked

    def run(self) -> None:
        language = self.declared.language
        if isinstance(language, str) and language not in self.catalog.languages:
            known = nearest_language(language, self.catalog.languages)
            self._wrong(f"there is no text search configuration {language!r}{known}", "language")
        source = self._relation(self.declared.source, "source")
        if source is None:
            return
        self._check_rights(source)
        self._check_key(source)
        self._check_columns(source)
        self._check_url(source)
        self._check_sync(source)
        self._check_vectors(source)
        for name, facet in self.declared.facets.items():
            self._check_facet(source, name, facet)
        for name, text in self.declared.predicates.items():
            self._check_predicate(source, name, text)
        for name, link in self.declared.links.items():
            self._check_link(source, name, link)
        for name, each in self.declared.references.items():
            self._check_referred(source, each, FACETS["value"], name.split()[0])
        self._doubt_secrets(source)

    def _wrong(self, message: str, *path: str) -> None:
        self.checked.errors.append(self.lines.problem(("collections", self.name, *path), message))

    def _doubtful(self, message: str, *path: str) -> None:
        self.checked.warnings.append(self.lines.problem(("collections", self.name, *path), message))

    def _relation(self, name: str, *path: str) -> Relation | None:
        qualified = table_name(name)
        schema, table = qualified
        if schema in (self.own_schema, *_SYSTEM_SCHEMAS):
            self._wrong(f"{table} belongs to the schema {schema}, which is not searched", *path)
            return None
        relation = self.catalog.relations.get(qualified)
        if relation is None:
            self._wrong(f"there is no table or view {schema}.{table}{self._nearest_table(qualified)}", *path)
        return relation

    def _nearest_table(self, qualified: tuple[str, str]) -> str:
        schema, table = qualified
        elsewhere = sorted(f"{known}.{table}" for known, name in self.catalog.names if name == table)
        if elsewhere:
            return f"; did you mean {elsewhere[0]!r}?"
        own = [".".join(known) for known in self.catalog.names if known[0] != self.own_schema]
        return nearest(f"{schema}.{table}", own)

    @cached_property
    def _types(self) -> Mapping[str, PathType]:
        """Of which type the paths are that are named of the source."""
        return path_types(self.declared, self.catalog.relations)

    def _column(
        self, relation: Relation, name: str, fit: Fit, *path: str, type: PathType | None = None
    ) -> Column | None:
        is_own = relation.qualified == table_name(self.declared.source)
        column = relation.at(name, type or (self._types.get(name, PathType()) if is_own else PathType()))
        if column is None:
            self._wrong(f"{relation.name} has no column {name!r}{nearest(name, relation.names)}", *path)
        elif name in relation.by_name and keys_of(name) and not is_own:
            self._wrong(f"{name!r} is a column, and reads as a key in JSON: call it otherwise in a view", *path)
        elif _UNQUOTABLE & {*name}:
            self._wrong(
                f"a column called {name!r} cannot be used: give it a name without %, {{ and }} in a view", *path
            )
        elif not fit.accepts(column):
            self._wrong(f"the column {name!r} is {column.type}, not {fit.wanted}", *path)
        elif name not in relation.by_name:
            self._doubt_path(relation, name, *path)
        return column

    def _doubt_path(self, relation: Relation, name: str, *path: str) -> None:
        """A key that a sample does not have may be misspelt."""
        holder = keys_of(name)[0]
        seen = [each.name for each in relation.documents if covers(holder, each.name)]
        if seen and not any(overlap(name, each) for each in seen):
            self._doubtful(f"hardly any row of a sample has one value at {name!r}{nearest(name, seen)}", *path)

    def _check_rights(self, source: Relation) -> None:
        if not source.may_select:
            self._wrong(f"the role of DATABASE_URL may not read it: grant select on {_name(source)}", "source")
        if source.is_row_security_active:
            self._wrong(
                f"row-level security of {_name(source)} hides rows from the role of DATABASE_URL: create a policy for select "
                "`using (true)` for this role, and leave it out of restrictive ones, or give it BYPASSRLS",
                "source",
            )
        self._refuse_bypass(source, "source")

    def _refuse_bypass(self, relation: Relation, *path: str) -> None:
        """A view that shows every caller what the policies of its tables hide has to be meant."""
        if relation.bypassed and not self.declared.bypasses_policies:
            self._wrong(f"{bypass(relation)}; or write bypasses_policies = true where every caller may see them", *path)

    def _check_key(self, source: Relation) -> None:
        key = self.declared.key
        for name in key:
            self._column(source, name, SINGLE, "key")
        if not key and source.kind in _TRIGGERED and not self.declared.is_searched:
            return  # rows that are only counted need none
        if source.kind not in _TRIGGERED:
            if not key:
                self._wrong(
                    f"is missing: a {source.kind} has none of its own; name the columns that tell its rows", "key"
                )
        elif not key and not source.primary_key:
            self._wrong(f"is missing: {source.name} has no primary key{_known_keys(source)}", "key")
        elif key and not any(sorted(key) == sorted(known) for known in source.keys):
            self._wrong(
                f"{', '.join(key)}: no primary key, and no unique key of columns that are never null{_known_keys(source)}",
                "key",
            )

    def _check_columns(self, source: Relation) -> None:
        declared = self.declared
        named = {**declared.lines, "scope": _given(declared.scope), "hidden": declared.hidden}
        for keyword, names in named.items():
            for name in names:
                self._column(source, name, _FITS.get(keyword, TEXT), keyword)
        for name in declared.fields:
            self._column(source, name, PLAIN, "fields")
        for name in declared.text:
            self._column(source, name, TEXT, "text", name)
        self._refuse_hidden("key", key_of(declared, source))
        self._refuse_hidden("date", _given(declared.date))
        for name in _given(declared.language_column):
            self._column(source, name, TEXT, "language", "column")
        if declared.scope is not None and declared.scope_setting is None:
            self._doubtful("without `scope_setting` every caller sees all rows", "scope")

    def _doubt_secrets(self, source: Relation) -> None:
        for each in exposed(self.declared, source, self.catalog.relations):
            advice = "put it into `hidden`" if each.relation is source else "show another column"
            opened = "" if each.path else ", and records that are opened show it"
            self._doubtful(f"{each.reason}{opened}: {advice}, unless everybody may see it", *each.path)

    def _refuse_hidden(self, keyword: str, names: Iterable[str], *path: str) -> None:
        for name in names:
            if any(overlap(name, hidden) for hidden in self.declared.hidden):
                self._wrong(f"the column {name!r} is hidden, and would be shown", *path, keyword)

    def _check_url(self, source: Relation) -> None:
        url = self.declared.url
        if url is None:
            return
        columns = template_columns(url)
        for name in columns:
            self._column(source, name, SINGLE, "url")
        self._refuse_hidden("url", columns)
        if not columns:
            meant = f": write {{{url}}}" if url in source.by_name else ""
            self._wrong(f"names no column in braces, so that all rows would have one address{meant}", "url")

    def _check_sync(self, source: Relation) -> None:
        sync = self.declared.sync
        if not self.declared.is_searched:
            return
        if isinstance(sync, Poll):
            self._column(source, sync.poll, ORDERED, "sync", "poll")
        elif sync == "trigger" and source.kind not in _TRIGGERED:
            self._wrong(f'a {source.kind} has no triggers of this kind: write sync = "sweep"', "sync")
        elif sync == "trigger" and source.is_partition:
            self._wrong(
                'triggers of a partition miss what is written through its parent: write sync = "sweep", '
                "or name the parent as source",
                "sync",
            )
        elif sync == "trigger" and not source.may_trigger:
            self._wrong(
                f"the role of DATABASE_URL may not create triggers: grant trigger on {_name(source)}, "
                'or write sync = "sweep"',
                "sync",
            )

    def _check_vectors(self, source: Relation) -> None:
        """That the table's vectors can be compared with those of questions."""
        vectors = self.declared.vectors
        column = self._column(source, vectors.column, VECTOR, "vectors") if vectors else None
        if vectors and column and (problem := vectors_problem(vectors, column, self.catalog.vectors)):
            self._wrong(problem, "vectors")

    def _check_facet(self, source: Relation, name: str, facet: FacetDeclaration) -> None:
        path = ("facets", name)
        if facet.through is not None:
            self._check_through(source, facet, *path)
            return
        if facet.reference is not None:
            if facet.title is None:
                self._wrong(f"is missing: the column of {facet.of} that is the value", *path, "title")
            else:
                self._check_referred(source, facet.reference, FACETS[facet.kind], *path)
            return
        if facet.expression is not None:
            columns = [source.at(each, self._types.get(each)) for each in facet.used_columns]
            are_moments = all(each is not None and DATE.accepts(each) for each in columns)
            fit = DATE if are_moments and facet.kind == "number" else FACETS["number"]
            for each in facet.used_columns:
                self._column(source, each, fit, *path, "expression")
            self._refuse_hidden("expression", facet.used_columns, *path)
            return
        column = facet.column or name
        at = (*path, "column") if facet.column else path
        self._column(source, column, FACETS[facet.kind], *at)
        self._refuse_hidden(name, [column], "facets")

    def _check_predicate(self, source: Relation, name: str, text: str) -> None:
        path = ("predicates", name)
        if name in source.by_name:
            self._wrong(f"{source.name} has a column of this name: call the predicate otherwise", *path)
        known = [*self.declared.facets, *(["date"] if self.declared.date else []), *source.names]
        for field_name in dict.fromkeys(fields_of(read_predicate(text))):
            if field_name not in known and (not keys_of(field_name) or source.at(field_name) is None):
                self._wrong(f"there is no facet or column {field_name!r}{nearest(field_name, known)}", *path)
            elif field_name not in self.declared.facets:
                self._refuse_hidden(field_name, [field_name], *path)

    def _check_link(self, source: Relation, name: str, link: LinkDeclaration) -> None:
        path = ("links", name)
        columns = [self._column(source, each, SINGLE, *path, "by") for each in link.by]
        found = linked_by(link, source)
        if found is None and link.of is None:
            self._wrong(f"no foreign key of {', '.join(link.by)} says what is referred to: name it as `of`", *path)
        named_table = link.of or (found and sql_table(*found.target))
        other = self._other(named_table, *path, "of") if named_table else None
        if other is None:
            return
        key = found.target_columns if found else link.key or other.primary_key
        if len(key) != len(link.by):
            told = f"{len(key)} columns" if key else "none"
            self._wrong(f"the key of {other.name} has {told}, and `by` {len(link.by)}: name them as `key`", *path)
            return
        for column, named in zip(columns, key, strict=True):
            referred = self._column(other, named, SINGLE, *path, "key")
            if column and referred and not is_comparable(column, referred):
                self._wrong(
                    f"the column {column.name!r} is {column.type}, and {named!r} of {other.name} is {referred.type}",
                    *path, "by",
                )  # fmt: skip

    def _check_referred(self, source: Relation, referred: Referred | Parent, fit: Fit, *path: str) -> None:
        other = self._other(referred.of, *path, "of")
        key = referred.key or (other and referred_key(source, referred.by, other))
        is_own = source.qualified == table_name(self.declared.source)
        type = type_to_compare(other.by_name.get(key) if other and key and is_own else None)
        by = self._column(source, referred.by, SINGLE, *path, "by", type=type)
        self._refuse_hidden("by", [referred.by], *path)
        if other is None:
            return
        if isinstance(referred, Parent):
            for name in referred.show:
                self._column(other, name, ANY, *path, "show")
        elif isinstance(referred.title, Referred):
            self._check_referred(other, referred.title, fit, *path)
        else:
            self._check_line(other, referred.title, fit, *path, "title")
        if by is not None:
            self._check_fit(source, other, by, referred, *path)

    def _other(self, name: str, *path: str) -> Relation | None:
        """A table that rows refer to; None where there is none."""
        other = self._relation(name, *path)
        if other is None:
            return None
        if not other.may_select:
            self._wrong(f"the role of DATABASE_URL may not read it: grant select on {_name(other)}", *path)
        if other.is_row_security_active:
            self._doubtful(f"row-level security of {_name(other)} may hide values", *path)
        self._refuse_bypass(other, *path)
        return other

    def _check_line(self, other: Relation, line: str, fit: Fit, *path: str) -> None:
        """A line of another table: a column by itself has to fit."""
        for column in line_columns([line]):
            self._column(other, column, fit if column == line else SINGLE, *path)

    def _check_through(self, source: Relation, facet: FacetDeclaration, *path: str) -> None:
        """That a table joins the rows with those of another, by foreign keys or by columns that are named."""
        other, joins = self._other(facet.of or "", *path, "of"), self._other(facet.through or "", *path, "through")
        if other is not None:
            self._check_line(other, str(facet.title or ""), SINGLE, *path, "title")
        if other is None or joins is None:
            return
        key = key_of(self.declared, source)
        if len(key) != 1:
            self._wrong(
                f"rows of {source.name} are told by {len(key)} columns, and are joined by one", *path, "through"
            )
            return
        by, to = joined_by(facet, source, joins, other)
        for keyword, found, relation in (("by", by, source), ("to", to, other)):
            if found is None:
                self._wrong(
                    f"no one column of {joins.name} refers to {relation.name}: name it as `{keyword}`", *path, "through"
                )
                continue
            column = self._column(joins, found.columns[0], SINGLE, *path, keyword)
            if keyword == "by" and facet.by is None and found.target_columns != tuple(key):
                self._wrong(f"{joins.name} refers to {', '.join(found.target_columns)} of {source.name}, no key", *path)
            wanted = key[0] if relation is source else facet.key or found.target_columns[0]
            referred = self._column(relation, wanted, SINGLE, *path, "key")
            if column and referred and not is_comparable(column, referred):
                self._wrong(
                    f"the column {column.name!r} is {column.type}, and {wanted!r} of {relation.name} is {referred.type}",
                    *path, keyword,
                )  # fmt: skip

    def _check_fit(
        self, source: Relation, other: Relation, by: Column, referred: Referred | Parent, *path: str
    ) -> None:
        key = referred.key or referred_key(source, by.name, other)
        if key is None:
            self._wrong(f"{other.name} has no key of one column: say which is meant by `key`", *path)
            return
        column = self._column(other, key, SINGLE, *path, "key")
        if column is None:
            return
        if other.kind in _TRIGGERED and (key,) not in other.keys and (key,) not in other.unique_keys:
            self._wrong(f"{key!r} is no key of {other.name}: a row could have several values", *path, "key")
        elif not is_comparable(by, column):
            self._wrong(
                f"the column {by.name!r} is {by.type}, and {key!r} of {other.name} is {column.type}", *path, "by"
            )


def bypass(view: Relation) -> str:
    """That a view shows rows which policies hide, and how to mend it."""
    tables = ", ".join(view.bypassed)
    told = f"the {view.kind} {_name(view)} shows all rows of {tables}, whose policies it bypasses"
    if view.kind == "view":
        return f"{told}: alter view {_name(view)} set (security_invoker = true), and views that it reads likewise"
    return f"{told}: search a view with security_invoker = true instead"


def joined_by(
    facet: FacetDeclaration, source: Relation, joins: Relation, other: Relation
) -> tuple[Reference | None, Reference | None]:
    """How a table joins rows of `source` with those of `other`: by the columns that the facet names, else by the only foreign
    keys of one column; None where that is not clear.
    """

    def reference(named: str | None, target: Relation) -> Reference | None:
        if named is not None:
            keys = target.primary_key[:1] if len(target.primary_key) == 1 else (named,)
            return Reference((named,), target.qualified, keys)
        found = [each for each in joins.references if each.target == target.qualified and len(each.columns) == 1]
        return found[0] if len(found) == 1 else None

    key = facet.key
    by, to = reference(facet.by, source), reference(facet.to, other)
    if to is not None and key is not None:
        to = Reference(to.columns, to.target, (key,))
    return by, to


def linked_by(link: LinkDeclaration, source: Relation) -> Reference | None:
    """How a link leads on: by the columns that it names, else by the foreign key of its columns; None where neither says it."""
    target = table_name(link.of) if link.of else None
    if target and link.key:
        return Reference(link.by, target, link.key)
    found = (each for each in source.references if each.columns == link.by and target in (None, each.target))
    return next(found, None)


def referred_key(source: Relation, by: str, other: Relation) -> str | None:
    """The column of `other` that the column `by` of `source` refers to where nothing else is said: that of the foreign key,
    else the primary key; None where that has several columns, or there is none.
    """
    for reference in source.references:
        if reference.columns == (by,) and reference.target == other.qualified:
            return reference.target_columns[0]
    return other.primary_key[0] if len(other.primary_key) == 1 else None


def _known_keys(relation: Relation) -> str:
    keys = [", ".join(key) for key in relation.keys]
    return f"; its keys: {' | '.join(keys)}" if keys else "; give it one, or search a view over it"


def _name(relation: Relation) -> str:
    return ".".join(relation.qualified)


def _given(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)
