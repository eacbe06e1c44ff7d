"""Which secrets a declaration would show: columns that look like one and are searched, shown or counted by, with their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from quarry.collections.declaration import CollectionDeclaration, FacetDeclaration
from quarry.collections.json_paths import covered
from quarry.collections.naming import table_name
from quarry.collections.reference_declarations import Parent, Referred
from quarry.collections.relations import Relation
from quarry.collections.secrets import BYTES, Suspicion, suspicion, with_keys
from quarry.collections.templates import line_columns, template_columns
from quarry.collections.used_columns import key_of

Relations = Mapping[tuple[str, str], Relation]


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
    uses = [*_own(declared, source), *_of_facets(declared, source)]
    used = {name for _, name in uses}
    columns = with_keys(source).columns
    uses += [((), column.name) for column in columns if column.name not in used]
    yield from _suspected(source, ((path, name) for path, name in uses if not covered(name, declared.hidden)))
    for path, other, names in _elsewhere(declared, relations):
        yield from _suspected(other, ((path, name) for name in names))


def _suspected(relation: Relation, uses: Iterable[tuple[tuple[str, ...], str]]) -> Iterator[Exposed]:
    known = with_keys(relation)
    for path, name in uses:
        column = known.at(name)
        suspected = suspicion(column, known) if column is not None else None
        if suspected and suspected.reason != BYTES:
            yield Exposed(path, name, relation, suspected)


def _own(declared: CollectionDeclaration, source: Relation) -> Iterator[tuple[tuple[str, ...], str]]:
    named = {
        "key": key_of(declared, source),
        "text": declared.text,
        "url": template_columns(declared.url or ""),
        "fields": declared.fields,
        **declared.lines,
    }
    for keyword, names in named.items():
        yield from ((("text", name) if keyword == "text" else (keyword,), name) for name in names)
    yield from ((("links", name), column) for name, link in declared.links.items() for column in link.by)


def _of_facets(declared: CollectionDeclaration, source: Relation) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, facet in declared.facets.items():
        if facet.through is None and facet.reference is None:
            yield from ((("facets", name), column) for column in facet.used_columns or (name,))


def _elsewhere(
    declared: CollectionDeclaration, relations: Relations
) -> Iterator[tuple[tuple[str, ...], Relation, tuple[str, ...]]]:
    """The columns of other tables that are shown."""
    named: list[tuple[tuple[str, ...], FacetDeclaration | Referred | Parent]] = [
        *((("facets", name), facet) for name, facet in declared.facets.items() if facet.of),
        *(((name.split()[0],), each) for name, each in declared.references.items()),
    ]
    for path, each in named:
        shown: FacetDeclaration | Referred | Parent = each
        while not isinstance(shown, Parent) and isinstance(shown.title, Referred):
            shown = shown.title
        names = shown.show if isinstance(shown, Parent) else line_columns([str(shown.title or "name")])
        relation = relations.get(table_name(shown.of or ""))
        if relation is not None:
            yield path, relation, names
