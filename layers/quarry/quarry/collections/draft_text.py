"""The draft of a collection as lines of `quarry.toml`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from quarry.collections import toml_text
from quarry.collections.draft_parts import TableDraft
from quarry.collections.relations import Relation


def in_lines(name: str, relation: Relation, drafted: TableDraft, more: Iterable[str] = ()) -> Iterator[str]:
    """A collection with the reasons behind its lines; `more` are lines of its own."""
    yield f"[collections.{name}]  # {_size(relation)}"
    for setting, value in drafted.settings.items():
        if setting == "hidden" and isinstance(value, dict):
            yield from _hidden(value)
        else:
            yield _line(setting, value, drafted.reasons.get(setting))
    yield from more
    yield from _facets(drafted)
    if drafted.links:
        yield _line("links", drafted.links)
    if drafted.fields:
        yield _line("fields", drafted.fields)
    yield from (f"# {remark}" for remark in drafted.remarks)


def in_one_line(name: str, relation: Relation, drafted: TableDraft) -> str | None:
    """A collection with the reasons behind it at the end; None where there is more to say."""
    if "hidden" in drafted.settings or drafted.remarks:
        return None
    named = {"facets": dict(_alike(drafted)), "links": drafted.links, "fields": drafted.fields}
    written = _line(name, drafted.settings | {key: value for key, value in named.items() if value})
    reasons = (f"; {of.removeprefix('facets.')}: {reason}" for of, reason in drafted.reasons.items())
    return f"{written}  # {_size(relation)}{''.join(reasons)}"


def _size(relation: Relation) -> str:
    return "not analysed yet" if relation.rows is None else f"about {relation.rows:,} rows"


def _facets(drafted: TableDraft) -> Iterator[str]:
    """Facets of one kind in a line, where there is nothing more to say of them; each other one in a line of its own."""
    for name, value in _alike(drafted):
        first = value[0] if isinstance(value, list) else name
        yield _line(f"facets.{toml_text.key(name)}", value, drafted.reasons.get(f"facets.{first}"))


def _alike(drafted: TableDraft) -> Iterator[tuple[str, object]]:
    """Facets as they are written: those of one kind that have the same reason in a list, under the kind, before all others."""
    alike: dict[tuple[str, str | None], list[str]] = defaultdict(list)
    for name, value in drafted.facets.items():
        if isinstance(value, str) and value not in drafted.facets:
            alike[value, drafted.reasons.get(f"facets.{name}")].append(name)
    kinds = [kind for kind, _ in alike]
    listed = {kind: names for (kind, _), names in alike.items() if len(names) > 1 and kinds.count(kind) == 1}
    yield from listed.items()
    names = {name for each in listed.values() for name in each}
    yield from ((name, value) for name, value in drafted.facets.items() if name not in names)


def _hidden(reasons: Mapping[str, str]) -> Iterator[str]:
    """One line for each column, so that its reason stands next to it and that deleting the line shows it."""
    yield "hidden = ["
    yield from (f"  {toml_text.toml(name)},  # {reason}" for name, reason in reasons.items())
    yield "]"


def _line(name: str, value: object, reason: str | None = None) -> str:
    return f"{name} = {toml_text.toml(value)}" + (f"  # {reason}" if reason else "")
