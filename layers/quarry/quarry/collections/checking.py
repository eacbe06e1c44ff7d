"""Checks declarations against their tables. Each mismatch comes with its line, its column and the nearest name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from quarry.collections.column_types import ANY, DATE, FACETS, ORDERED, PLAIN, SINGLE, TEXT, VECTOR, Fit, is_comparable
from quarry.collections.declaration import CollectionDeclaration, Poll
from quarry.collections.declaration_file import Lines
from quarry.collections.exposure import disagreements, exposed
from quarry.collections.facet_declaration import FacetDeclaration
from quarry.collections.findings import Checked, Findings, vectors_problem
from quarry.collections.json_paths import keys_of, overlap
from quarry.collections.naming import nearest, nearest_language, table_name
from quarry.collections.path_types import type_of_facet, type_to_compare
from quarry.collections.predicate import fields_of, read_predicate
from quarry.collections.reference_declarations import LinkDeclaration, Parent, Referred, RelatedRows
from quarry.collections.relations import Catalog, Column, Relation
from quarry.collections.templates import line_columns, template_columns
from quarry.collections.toml_text import table as sql_table
from quarry.collections.used_columns import joined_by, key_of, linked_by, referred_key

_TRIGGERED = ("table", "partitioned table")
_FITS: Mapping[str, Fit] = {"date": DATE, "scope": SINGLE, "hidden": ANY}
"""What the columns of a key of the declaration must hold, where that is not text."""


def tables_named(declared: Mapping[str, CollectionDeclaration]) -> set[tuple[str, str]]:
    """Schema and name of every table that the declarations name."""
    return {
        table_name(name)
        for collection in declared.values()
        for name in (
            collection.source,
            *(name for facet in collection.facets.values() if facet.through for name in (facet.of, facet.through)),
            *(each.of for each in (*_references(collection), *collection.links.values(), *collection.related.values())),
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
class _Check(Findings):
    def run(self) -> None:
        language = self.declared.language
        if isinstance(language, str) and language not in self.catalog.languages:
            known = nearest_language(language, self.catalog.languages)
            self.wrong(f"there is no text search configuration {language!r}{known}", "language")
        source = self.relation(self.declared.source, "source")
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
        for name, rows in self.declared.related.items():
            self._check_related(source, rows, "related", name)
        for name, each in self.declared.references.items():
            self._check_referred(source, each, FACETS["value"], name.split()[0])
        self._doubt_secrets(source)

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

    def _refuse_bypass(self, relation: Relation, *path: str) -> None:
        """A view that shows every caller what the policies of its tables hide has to be meant."""
        if relation.bypassed and not self.declared.bypasses_policies:
            self.wrong(f"{bypass(relation)}; or write bypasses_policies = true where every caller may see them", *path)

    def _check_key(self, source: Relation) -> None:
        key = self.declared.key
        for name in key:
            self.column(source, name, SINGLE, "key")
        if not key and source.kind in _TRIGGERED and not self.declared.is_searched:
            return  # rows that are only counted need none
        if source.kind not in _TRIGGERED:
            if not key:
                self.wrong(
                    f"is missing: a {source.kind} has none of its own; name the columns that tell its rows", "key"
                )
        elif not key and not source.primary_key:
            self.wrong(f"is missing: {source.name} has no primary key{_known_keys(source)}", "key")
        elif key and not any(sorted(key) == sorted(known) for known in source.keys):
            self.wrong(
                f"{', '.join(key)}: no primary key, and no unique key of columns that are never null{_known_keys(source)}",
                "key",
            )

    def _check_columns(self, source: Relation) -> None:
        declared = self.declared
        is_of_facet = self.own_schema is None and declared.date in declared.facets
        lines = {**declared.lines, **({"date": ()} if is_of_facet else {})}
        named = {**lines, "scope": _given(declared.scope), "hidden": declared.hidden}
        for keyword, names in named.items():
            for name in names:
                self.column(source, name, _FITS.get(keyword, TEXT), keyword)
        for name in declared.fields:
            self.column(source, name, PLAIN, "fields")
        for name in declared.text:
            self.column(source, name, TEXT, "text", name)
        self._refuse_hidden("key", key_of(declared, source))
        self._refuse_hidden("date", _given(declared.date))
        for name in _given(declared.language_column):
            self.column(source, name, TEXT, "language", "column")
        if declared.scope is not None and declared.scope_setting is None:
            self.doubtful("without `scope_setting` every caller sees all rows", "scope")

    def _doubt_secrets(self, source: Relation) -> None:
        for each in exposed(self.declared, source, self.catalog.relations):
            advice = "put it into `hidden`" if each.relation is source else "show another column"
            opened = "" if each.path else ", and records that are opened show it"
            self.doubtful(f"{each.reason}{opened}: {advice}, unless everybody may see it", *each.path)

    def _refuse_hidden(self, keyword: str, names: Iterable[str], *path: str) -> None:
        for name in names:
            if any(overlap(name, hidden) for hidden in self.declared.hidden):
                self.wrong(f"the column {name!r} is hidden, and would be shown", *path, keyword)

    def _check_url(self, source: Relation) -> None:
        url = self.declared.url
        if url is None:
            return
        columns = template_columns(url)
        for name in columns:
            self.column(source, name, SINGLE, "url")
        self._refuse_hidden("url", columns)
        if not columns:
            meant = f": write {{{url}}}" if url in source.by_name else ""
            self.wrong(f"names no column in braces, so all rows would have one address{meant}", "url")

    def _check_sync(self, source: Relation) -> None:
        sync = self.declared.sync
        if not self.declared.is_searched:
            return
        if isinstance(sync, Poll):
            self.column(source, sync.poll, ORDERED, "sync", "poll")
        elif sync == "trigger" and source.kind not in _TRIGGERED:
            self.wrong(f'a {source.kind} has no triggers of this kind: write sync = "sweep"', "sync")
        elif sync == "trigger" and source.is_partition:
            self.wrong(
                'triggers of a partition miss what is written through its parent: write sync = "sweep", '
                "or name the parent as source",
                "sync",
            )
        elif sync == "trigger" and not source.may_trigger:
            self.wrong(
                f"the role of DATABASE_URL may not create triggers: grant trigger on {_name(source)}, "
                'or write sync = "sweep"',
                "sync",
            )

    def _check_vectors(self, source: Relation) -> None:
        """That the table's vectors can be compared with those of questions."""
        vectors = self.declared.vectors
        column = self.column(source, vectors.column, VECTOR, "vectors") if vectors else None
        if vectors and column and (problem := vectors_problem(vectors, column, self.catalog.vectors)):
            self.wrong(problem, "vectors")

    def _check_facet(self, source: Relation, name: str, facet: FacetDeclaration) -> None:
        path = ("facets", name)
        if facet.through is not None:
            self._check_through(source, facet, *path)
            return
        if facet.kind == "words" and self.own_schema is not None:
            self.wrong("is for tables of Quarry's own: of yours, words are looked for in the columns of `text`", *path)
            return
        if facet.related is not None:
            self._check_columns_of(self.declared.related[facet.related].of, name, facet, *path)
            return
        if facet.reference is not None:
            if facet.title is None:
                self.wrong(f"is missing: the column of {facet.of} that is the value", *path, "title")
            else:
                self._check_referred(source, facet.reference, FACETS[facet.kind], *path)
            return
        if facet.expression is not None:
            columns = [source.at(each, self.types.get(each)) for each in facet.used_columns]
            are_moments = all(each is not None and DATE.accepts(each) for each in columns)
            fit = DATE if are_moments and facet.kind == "number" else FACETS["number"]
            for each in facet.used_columns:
                self.column(source, each, fit, *path, "expression")
            self._refuse_hidden("expression", facet.used_columns, *path)
            return
        self._check_columns_of(self.declared.source, name, facet, *path)
        self._refuse_hidden(name, facet.columns_as(name), "facets")

    def _check_columns_of(self, table: str, name: str, facet: FacetDeclaration, *path: str) -> None:
        """That the columns of a table in which a facet has its value are there, and fit its kind."""
        relation = self.catalog.relations.get(table_name(table))
        if relation is None:
            return
        at = (*path, "columns") if facet.columns else (*path, "column") if facet.column else path
        for column in facet.columns_as(name):
            self.column(relation, column, FACETS[facet.kind], *at, type=type_of_facet(facet))

    def _check_related(self, source: Relation, rows: RelatedRows, *path: str) -> None:
        other, key = self._other(rows.of, *path, "of"), key_of(self.declared, source)
        if other is None:
            return
        if len(key) == 1:
            self._check_comparable(self.column(other, rows.by, SINGLE, *path, "by"), source, key[0], *path)
        else:
            self.wrong(f"rows of {source.name} are told by {len(key)} columns, and `by` is one", *path, "by")
        for name in rows.fields.values():
            self.column(other, name, PLAIN, *path, "fields")
        for name in dict.fromkeys(fields_of(read_predicate(rows.where))) if rows.where else ():
            self.column(other, name, SINGLE, *path, "where")

    def _check_predicate(self, source: Relation, name: str, text: str) -> None:
        path = ("predicates", name)
        if name in source.by_name:
            self.wrong(f"{source.name} has a column of this name: call the predicate otherwise", *path)
        known = [*self.declared.facets, *(["date"] if self.declared.date else []), *source.names]
        for field_name in dict.fromkeys(fields_of(read_predicate(text))):
            if field_name not in known and (not keys_of(field_name) or source.at(field_name) is None):
                self.wrong(f"there is no facet or column {field_name!r}{nearest(field_name, known)}", *path)
            elif field_name not in self.declared.facets:
                self._refuse_hidden(field_name, [field_name], *path)

    def _check_link(self, source: Relation, name: str, link: LinkDeclaration) -> None:
        path = ("links", name)
        columns = [self.column(source, each, SINGLE, *path, "by") for each in link.by]
        found = linked_by(link, source)
        if found is None and link.of is None:
            self.wrong(f"no foreign key of {', '.join(link.by)} says what is referred to: name it as `of`", *path)
        named_table = link.of or (found and sql_table(*found.target))
        other = self._other(named_table, *path, "of") if named_table else None
        if other is None:
            return
        key = found.target_columns if found else link.key or other.primary_key
        if len(key) != len(link.by):
            told = f"{len(key)} columns" if key else "none"
            self.wrong(f"the key of {other.name} has {told}, and `by` {len(link.by)}: name them as `key`", *path)
            return
        for column, named in zip(columns, key, strict=True):
            self._check_comparable(column, other, named, *path)

    def _check_referred(self, source: Relation, referred: Referred | Parent, fit: Fit, *path: str) -> None:
        other = self._other(referred.of, *path, "of")
        key = referred.key or (referred_key(source, referred.by, other) if other is not None else None)
        is_own = source.qualified == table_name(self.declared.source)
        type = type_to_compare(other.by_name.get(key) if other and key and is_own else None)
        by = self.column(source, referred.by, SINGLE, *path, "by", type=type)
        self._refuse_hidden("by", [referred.by], *path)
        if other is None:
            return
        if isinstance(referred, Parent):
            for name in referred.show:
                self.column(other, name, ANY, *path, "show")
        elif isinstance(referred.title, Referred):
            self._check_referred(other, referred.title, fit, *path)
        else:
            self._check_line(other, referred.title, fit, *path, "title")
        if key is None:
            self.wrong(f"{other.name} has no key of one column: say which is meant by `key`", *path)
        elif other.kind in _TRIGGERED and key in other.by_name and (key,) not in (*other.keys, *other.unique_keys):
            self.wrong(f"{key!r} is no key of {other.name}: a row could have several values", *path, "key")
        elif by is not None:
            self._check_comparable(by, other, key, *path)

    def _other(self, name: str, *path: str) -> Relation | None:
        """A table that rows refer to; None where there is none."""
        other = self.relation(name, *path)
        if other is None:
            return None
        if not other.may_select:
            self.wrong(f"the role of DATABASE_URL may not read it: grant select on {_name(other)}", *path)
        if other.is_row_security_active:
            self.doubtful(f"row-level security of {_name(other)} may hide values", *path)
        self._refuse_bypass(other, *path)
        return other

    def _check_line(self, other: Relation, line: str, fit: Fit, *path: str) -> None:
        """A line of another table: a column by itself has to fit."""
        for column in line_columns([line]):
            self.column(other, column, fit if column == line else SINGLE, *path)

    def _check_through(self, source: Relation, facet: FacetDeclaration, *path: str) -> None:
        """That a table joins the rows with those of another, by foreign keys or by columns that are named."""
        other, joins = self._other(facet.of or "", *path, "of"), self._other(facet.through or "", *path, "through")
        if other is not None:
            self._check_line(other, str(facet.title or ""), SINGLE, *path, "title")
        if other is None or joins is None:
            return
        key = key_of(self.declared, source)
        if len(key) != 1:
            self.wrong(f"rows of {source.name} are told by {len(key)} columns, and are joined by one", *path, "through")
            return
        by, to = joined_by(facet, source, joins, other)
        for keyword, found, relation in (("by", by, source), ("to", to, other)):
            if found is None:
                self.wrong(
                    f"no one column of {joins.name} refers to {relation.name}: name it as `{keyword}`", *path, "through"
                )
                continue
            column = self.column(joins, found.columns[0], SINGLE, *path, keyword)
            if keyword == "by" and facet.by is None and found.target_columns != tuple(key):
                self.wrong(f"{joins.name} refers to {', '.join(found.target_columns)} of {source.name}, no key", *path)
            wanted = key[0] if relation is source else facet.key or found.target_columns[0]
            self._check_comparable(column, relation, wanted, *path, keyword=keyword)

    def _check_comparable(
        self, column: Column | None, other: Relation, key: str, *path: str, keyword: str = "by"
    ) -> None:
        """That values of a column can be looked for in the column `key` of another table."""
        referred = self.column(other, key, SINGLE, *path, "key")
        if column and referred and not is_comparable(column, referred):
            told = f"the column {column.name!r} is {column.type}, and {key!r} of {other.name} is {referred.type}"
            self.wrong(told, *path, keyword)


def bypass(view: Relation) -> str:
    """That a view shows rows which policies hide, and how to mend it."""
    tables = ", ".join(view.bypassed)
    told = f"the {view.kind} {_name(view)} shows all rows of {tables}, whose policies it bypasses"
    if view.kind == "view":
        return f"{told}: alter view {_name(view)} set (security_invoker = true), and views that it reads likewise"
    return f"{told}: search a view with security_invoker = true instead"


def _known_keys(relation: Relation) -> str:
    keys = [", ".join(key) for key in relation.keys]
    return f"; its keys: {' | '.join(keys)}" if keys else "; give it one, or search a view over it"


def _name(relation: Relation) -> str:
    return ".".join(relation.qualified)


def _given(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)
