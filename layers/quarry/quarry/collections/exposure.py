"""Columns that are shown although they look like secrets, or although another collection of their table hides them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.relations import Relation, covered, overlap
from quarry.collections.secrets import BYTES, Suspicion, suspicion, with_keys
from quarry.collections.uses import Relations, Table, declared_source, uses


@dataclass(frozen=True)
class Exposed:
    """A column that looks like a secret. `path` is the key that shows it; empty where only an opened record does."""

    path: tuple[str, ...]
    column: str
    relation: Relation
    suspicion: Suspicion

    @property
    def reason(self) -> str:
        """Why the column is suspected."""
        return f"{self.relation.name}.{self.column} may hold a secret ({self.suspicion.reason})"


def exposed(declared: CollectionDeclaration, source: Relation, relations: Relations) -> Iterator[Exposed]:
    """Each column that looks like a secret and is not hidden, at each key that shows it. An opened record shows all columns."""
    known = {table: with_keys(each) for table, each in {**relations, source.qualified: source}.items()}
    shown = dict.fromkeys(_shown(declared, {**relations, source.qualified: source}))
    used = {name for table, name, _ in shown if table == source.qualified}
    rest = [(source.qualified, each.name, ()) for each in known[source.qualified].columns if each.name not in used]
    for table, name, path in (*shown, *rest):
        relation = known.get(table)
        is_hidden = table == source.qualified and covered(name, declared.hidden)
        column = relation.at(name) if relation and not is_hidden else None
        suspected = suspicion(column, relation) if column and relation else None
        if suspected and suspected.reason != BYTES:
            yield Exposed(path, name, source if table == source.qualified else relations[table], suspected)


def _shown(declared: CollectionDeclaration, relations: Relations) -> Iterator[tuple[Table, str, tuple[str, ...]]]:
    """Table, column and key for every column that a declaration shows, searches or filters by."""
    source = declared_source(declared)
    for use in uses(declared, relations):
        if use.is_shown:
            depth = 2 if use.path[0] in ("text", "facets", "links", "related") else 1
            yield use.of or source, use.column, use.path[:depth]


@dataclass(frozen=True)
class Disagreement:
    """A contradiction to another collection, at the key `path` of this one."""

    collection: str
    path: tuple[str, ...]
    message: str


_Hidden = Mapping[tuple[Table, str], str]
"""The first collection that hides a column, by table and column."""


def disagreements(declared: Mapping[str, CollectionDeclaration], relations: Relations) -> Iterator[Disagreement]:
    """The contradictions between collections of one file: about hidden columns, and about the claim behind a setting."""
    hidden = {
        (declared_source(each), column): name for name, each in reversed([*declared.items()]) for column in each.hidden
    }
    for name, each in declared.items():
        others = {
            (table, column): other
            for (table, column), other in hidden.items()
            if other != name
            and column not in each.shows
            and not (table == declared_source(each) and covered(column, each.hidden))
        }
        yield from _hidden_elsewhere(name, each, others)
        yield from _read_by_view(name, each, relations, others)
    claims: dict[str, tuple[str, str]] = {}
    for name, each in declared.items():
        # a setting has one value in a transaction
        other, claim = claims.setdefault(each.scope_setting or "", (name, each.scope_claim))
        if each.scope_setting is not None and claim != each.scope_claim:
            message = (
                f"the setting {each.scope_setting} has the claim {claim!r} in the collection {other!r}, and {each.scope_claim!r}"
                " here: name another setting, or the same claim"
            )
            yield Disagreement(name, ("scope_claim",), message)


def _hidden_elsewhere(name: str, each: CollectionDeclaration, others: _Hidden) -> Iterator[Disagreement]:
    source, reported = declared_source(each), set[tuple[Table, str]]()
    for table, used, path in _first_shown(each):
        for of, column in sorted(others):
            if table == of and overlap(used, column):
                reported.add((of, column))
                message = (
                    f"the column {column!r} of {'.'.join(table)} is hidden by the collection {others[of, column]!r}"
                )
                yield Disagreement(name, path, f"{message}: {_saying_so(column)}")
    for of, column in sorted(others):
        if of == source and (of, column) not in reported:
            message = f"whole records show the column {column!r}, which the collection {others[of, column]!r} hides"
            yield Disagreement(name, ("hidden",), f"{message}: hide it here too, or {_saying_so(column)}")


def _read_by_view(
    name: str, each: CollectionDeclaration, relations: Relations, others: _Hidden
) -> Iterator[Disagreement]:
    """The hidden columns that a view reads, and so may show under any name. One of the same name may be hidden here too."""
    view = relations.get(declared_source(each))
    reads = {((schema, table), column) for schema, table, column in view.reads} if view else set()
    for of, column in sorted(others):
        is_read = any(table == of and overlap(used, column) for table, used in reads)
        if is_read and not covered(column, each.hidden):
            message = f"the view reads the column {column!r} of {'.'.join(of)}, which the collection {others[of, column]!r} hides"
            yield Disagreement(name, ("source",), f"{message}: hide its own column {column!r}, or {_saying_so(column)}")


def _saying_so(column: str) -> str:
    return f'write shows = ["{column}"] where everybody may see what is made of it'


def _first_shown(declared: CollectionDeclaration) -> Iterator[tuple[Table, str, tuple[str, ...]]]:
    """Each shown column once, at its first key; but at every facet."""
    seen = set[tuple[object, ...]]()
    for table, column, path in _shown(declared, {}):
        column_of = table, column, path if path[0] == "facets" else ()
        if path != ("key",) and column_of not in seen:
            seen.add(column_of)
            yield table, column, path
