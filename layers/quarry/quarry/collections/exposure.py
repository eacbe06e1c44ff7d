"""What declarations show: columns that look like secrets, and columns that another collection of the same table hides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.json_paths import covered, overlap
from quarry.collections.naming import table_name
from quarry.collections.reference_declarations import Parent, Referred
from quarry.collections.relations import Relation
from quarry.collections.secrets import BYTES, Suspicion, suspicion, with_keys
from quarry.collections.templates import line_columns, template_columns
from quarry.collections.used_columns import key_of

Declared = Mapping[str, CollectionDeclaration]
Table = tuple[str, str]
"""Schema and name."""
Relations = Mapping[Table, Relation]


class Use(NamedTuple):
    """A column of a table that a collection shows, searches or filters by, and the key of the declaration that says so."""

    table: Table
    column: str
    path: tuple[str, ...]


def uses(declared: CollectionDeclaration) -> Iterator[Use]:
    """All that a declaration shows of tables, its own before others, once for each key."""
    source = table_name(declared.source)
    named: dict[str, Iterable[str]] = {
        **declared.lines, "url": template_columns(declared.url or ""), "fields": declared.fields,
        "vectors": (declared.vectors.column,) if declared.vectors else (),
    }  # fmt: skip
    yield from (Use(source, column, ("text", column)) for column in declared.text)
    yield from (Use(source, column, (key,)) for key, columns in named.items() for column in columns)
    for name, link in declared.links.items():
        yield from (Use(source, column, ("links", name)) for column in link.by)
    for name, rows in declared.related.items():
        yield from (Use(table_name(rows.of), column, ("related", name)) for column in rows.fields.values())
    for name, facet in declared.facets.items():
        path = "facets", name
        if facet.through is not None and facet.of is not None:
            yield from _lines(facet.of, str(facet.title or "name"), path)
        elif facet.related is not None:
            of = table_name(declared.related[facet.related].of)
            yield from (Use(of, column, path) for column in facet.columns_as(name))
        elif facet.reference is not None:
            yield Use(source, facet.reference.by, path)
            yield from _elsewhere(facet.reference, path)
        else:
            yield from (Use(source, column, path) for column in facet.used_columns or (name,))
    for name, reference in declared.references.items():
        yield from _elsewhere(reference, (name.split()[0],))


def _elsewhere(reference: Referred | Parent, path: tuple[str, ...]) -> Iterator[Use]:
    if isinstance(reference, Parent):
        yield from (Use(table_name(reference.of), column, path) for column in reference.show)
    elif isinstance(reference.title, Referred):
        yield Use(table_name(reference.of), reference.title.by, path)
        yield from _elsewhere(reference.title, path)
    else:
        yield from _lines(reference.of, reference.title, path)


def _lines(table: str, line: str, path: tuple[str, ...]) -> Iterator[Use]:
    return (Use(table_name(table), column, path) for column in line_columns([line]))


@dataclass(frozen=True)
class Exposed:
    """A column that looks like a secret. `path` is the key of the declaration that shows it; empty where only the row does."""

    path: tuple[str, ...]
    column: str
    relation: Relation
    suspicion: Suspicion

    @property
    def reason(self) -> str:
        """Why it is suspected."""
        return f"{self.relation.name}.{self.column} may hold a secret ({self.suspicion.reason})"


def exposed(declared: CollectionDeclaration, source: Relation, relations: Relations) -> Iterator[Exposed]:
    """What looks like a secret and is not hidden, once for each key that shows it. A record that is opened shows all columns."""
    own = source.qualified
    shown = [Use(own, name, ("key",)) for name in key_of(declared, source)] + [*uses(declared)]
    used = {each.column for each in shown if each.table == own}
    shown += [Use(own, each.name, ()) for each in with_keys(source).columns if each.name not in used]
    known = {table: with_keys(relation) for table, relation in {**relations, own: source}.items()}
    for table, name, path in shown:
        relation = known.get(table)
        column = relation.at(name) if relation and not (table == own and covered(name, declared.hidden)) else None
        suspected = suspicion(column, relation) if column and relation else None
        if suspected and suspected.reason != BYTES:
            yield Exposed(path, name, source if table == own else relations[table], suspected)


@dataclass(frozen=True)
class Disagreement:
    """What is wrong with a collection next to another. `path` is where it stands in the collection."""

    collection: str
    path: tuple[str, ...]
    message: str
    is_error: bool = True


def disagreements(declared: Declared) -> Iterator[Disagreement]:
    """What the collections of one file must agree on: which columns are hidden, and what a setting says of the caller."""
    hidden = {
        (table_name(each.source), column): name
        for name, each in reversed([*declared.items()])
        for column in each.hidden
    }
    for name, each in declared.items():
        yield from _hidden_elsewhere(name, each, hidden)
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


def _hidden_elsewhere(
    name: str, each: CollectionDeclaration, hidden: Mapping[tuple[Table, str], str]
) -> Iterator[Disagreement]:
    source, told = table_name(each.source), set[tuple[Table, str]]()
    own = {column for column in hidden if column[0] == source and covered(column[1], each.hidden)}
    others = sorted(column for column in hidden.keys() - own if hidden[column] != name)
    for use in _first_uses(each):
        for column in others:
            if use.table == column[0] and overlap(use.column, column[1]):
                told.add(column)
                message = (
                    f"the column {column[1]!r} of {'.'.join(use.table)} is hidden by the collection {hidden[column]!r}"
                )
                yield Disagreement(name, use.path, message)
    for column in others:
        if column[0] == source and column not in told:
            shown = f"whole records show the column {column[1]!r}, which the collection {hidden[column]!r} hides"
            yield Disagreement(name, ("hidden",), f"{shown}: hide it here too", is_error=False)


def _first_uses(declared: CollectionDeclaration) -> Sequence[Use]:
    """Each column that a declaration shows, once, at the first key; facets have one of their own."""
    by_column = {
        (use.table, use.column, use.path if use.path[0] == "facets" else ()): use for use in reversed([*uses(declared)])
    }
    return [*reversed(by_column.values())]
