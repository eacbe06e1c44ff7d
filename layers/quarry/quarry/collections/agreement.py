"""What the collections of one file must agree on: which columns of a table are hidden, and what a setting says of the caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from quarry.collections.declaration import CollectionDeclaration, FacetDeclaration
from quarry.collections.json_paths import covered, overlap
from quarry.collections.naming import table_name
from quarry.collections.reference_declarations import Parent, Referred
from quarry.collections.templates import line_columns, template_columns

Declared = Mapping[str, CollectionDeclaration]
Table = tuple[str, str]
"""Schema and name."""


@dataclass(frozen=True)
class Disagreement:
    """What is wrong with a collection next to another. `path` is where it stands in the collection."""

    collection: str
    path: tuple[str, ...]
    message: str
    is_error: bool = True


@dataclass(frozen=True)
class _Use:
    """A column of a table that a collection shows, searches or filters by."""

    table: Table
    column: str
    path: tuple[str, ...]


def disagreements(declared: Declared) -> Iterator[Disagreement]:
    """What collections declare that another one rules out."""
    yield from _hidden_elsewhere(declared)
    yield from _claims_apart(declared)


def _hidden_elsewhere(declared: Declared) -> Iterator[Disagreement]:
    hidden = {
        (table_name(each.source), column): name
        for name, each in reversed([*declared.items()])
        for column in each.hidden
    }
    for name, each in declared.items():
        source, told = table_name(each.source), set[tuple[Table, str]]()
        own = {column for column in hidden if column[0] == source and covered(column[1], each.hidden)}
        for use in _uses(each):
            for column in sorted(hidden.keys() - own):
                if use.table == column[0] and overlap(use.column, column[1]) and hidden[column] != name:
                    told.add(column)
                    message = f"the column {column[1]!r} of {'.'.join(use.table)} is hidden by the collection {hidden[column]!r}"
                    yield Disagreement(name, use.path, message)
        for column in sorted(hidden.keys() - own - told):
            if column[0] == source:
                shown = f"whole records show the column {column[1]!r}, which the collection {hidden[column]!r} hides"
                yield Disagreement(name, ("hidden",), f"{shown}: hide it here too", is_error=False)


def _uses(declared: CollectionDeclaration) -> Iterator[_Use]:
    source = table_name(declared.source)
    own = {
        "title": line_columns(declared.title),
        "text": tuple(declared.text),
        "embed": declared.embedded,
        "heading": declared.headings,
        "cite": line_columns(declared.cited),
        "topic": line_columns(each for each in declared.topic if isinstance(each, str)),
        "author": (declared.author,) if declared.author else (),
        "date": (declared.date,) if declared.date else (),
        "url": template_columns(declared.url or ""),
        "fields": declared.fields,
    }
    seen = set[str]()
    if declared.vectors is not None:
        own["vectors"] = (declared.vectors.column,)
    for keyword, columns in own.items():
        for column in columns:
            if column not in seen:
                seen.add(column)
                yield _Use(source, column, (keyword,))
    for name, facet in declared.facets.items():
        path = "facets", name
        for column in facet.used_columns or (() if facet.through else (name,)):
            yield _Use(source, column, path)
        yield from _uses_of_facet(facet, path)
    for name, link in declared.links.items():
        yield from (_Use(source, column, ("links", name)) for column in link.by)
    for name, each in declared.references.items():
        yield from _uses_of_reference(each, (name.split()[0],))


def _uses_of_facet(facet: FacetDeclaration, path: tuple[str, ...]) -> Iterator[_Use]:
    if facet.reference is not None and facet.title is not None:
        yield from _uses_of_reference(facet.reference, path)
    elif facet.of is not None and isinstance(facet.title, str):
        for column in line_columns([facet.title]):
            yield _Use(table_name(facet.of), column, path)


def _uses_of_reference(reference: Referred | Parent, path: tuple[str, ...]) -> Iterator[_Use]:
    table = table_name(reference.of)
    if isinstance(reference, Parent):
        columns = tuple(reference.show)
    elif isinstance(reference.title, Referred):
        columns = (reference.title.by,)
        yield from _uses_of_reference(reference.title, path)
    else:
        columns = line_columns([reference.title])
    for column in columns:
        yield _Use(table, column, path)


def _claims_apart(declared: Declared) -> Iterator[Disagreement]:
    """A setting has one value in a transaction."""
    claims: dict[str, tuple[str, str]] = {}
    for name, each in declared.items():
        if each.scope_setting is None:
            continue
        other, claim = claims.setdefault(each.scope_setting, (name, each.scope_claim))
        if claim != each.scope_claim:
            message = (
                f"the setting {each.scope_setting} has the claim {claim!r} in the collection {other!r}, and {each.scope_claim!r}"
                " here: name another setting, or the same claim"
            )
            yield Disagreement(name, ("scope_claim",), message)
