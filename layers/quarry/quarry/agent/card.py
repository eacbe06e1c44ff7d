"""The schema as a model reads it: a line a source, with kinds, units, links and the values that the question may mean. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from quarry.core.language.stemming import stem
from quarry.core.language.tokens import keys
from quarry.query.schema import Field, Link, Schema, Source

SOURCES_MAX = 8
"""Sources that one card describes; of the others it names as many as fit."""
NAMES_MAX = 60
VALUE_CHARACTERS_MAX = 40
VALUES_CHARACTERS_MAX = 160
"""Characters of the values of one field."""

Values = Mapping[tuple[str, str], Sequence[str]]
"""Values that the caller may see, by source and field."""


@dataclass(frozen=True)
class MatchedValue:
    """A value of the data that words of the question may mean."""

    source: str
    field: str
    value: str
    said: str


def card(schema: Schema, question: str, values: Values, matched: Sequence[MatchedValue] = ()) -> str:
    """The sources that the question may be about, one a line, then the values that its words may mean."""
    chosen = _chosen(schema, question, matched)
    lines = [described(schema.sources[name], values) for name in chosen]
    others = [name for name in schema.sources if name not in chosen]
    if others:
        more = f" and {len(others) - NAMES_MAX} more" if len(others) > NAMES_MAX else ""
        lines.append(f"Others, which describe_collections describes: {', '.join(others[:NAMES_MAX])}{more}")
    if matched:
        meant = "; ".join(dict.fromkeys(f"“{each.said}” {each.source}.{each.field} = {each.value}" for each in matched))
        lines.append(f"Words of the question that are values of the data: {meant}")
    return "\n".join(lines)


def described(source: Source, values: Values) -> str:
    """One source with its fields and links on one line."""
    parts = [_field(source, field, values) for field in source.fields.values()]
    parts += [f"{name} true/false" for name in source.predicates]
    parts += [_link(link) for link in source.links.values()]
    dated = f", dated by {source.dated}" if source.dated else ""
    about = f" ({source.description})" if source.description else ""
    return f"{source.name}{about}{dated}: {'; '.join(parts)}"


def _field(source: Source, field: Field, values: Values) -> str:
    measured = field.currency if field.kind == "money" else field.unit
    several = "several " if field.is_array or field.related else ""
    known = _listed(values.get((source.name, field.name), ()))
    return " ".join(filter(None, (field.name, f"{several}{field.kind}", f"in {measured}" if measured else "", known)))


def _listed(values: Sequence[str]) -> str:
    shown: list[str] = []
    for value in values:
        if len(value) > VALUE_CHARACTERS_MAX or sum(map(len, shown)) + len(value) > VALUES_CHARACTERS_MAX:
            break
        shown.append(value)
    return f"({', '.join(shown)}{', …' if len(shown) < len(values) else ''})" if shown else ""


def _link(link: Link) -> str:
    target = link.target or "rows"
    return f"{link.name} → {'many ' if link.is_many else ''}{target}"


def _chosen(schema: Schema, question: str, matched: Sequence[MatchedValue]) -> list[str]:
    """The sources that share most with the question, in the schema's order."""
    asked = _stems([question])
    scores = {
        name: len(asked & _stems(_said(source))) + 2 * len({each.said for each in matched if each.source == name})
        for name, source in schema.sources.items()
    }
    best = sorted(scores, key=lambda name: -scores[name])[:SOURCES_MAX]
    return [name for name in schema.sources if name in best]


def _said(source: Source) -> Iterable[str]:
    yield from (source.name.replace("_", " "), source.label, *source.nouns)
    yield from (field.label for field in source.fields.values())


def _stems(texts: Iterable[str]) -> set[str]:
    return {stem(word) for text in texts for word in keys(text)}
