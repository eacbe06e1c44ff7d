"""What can be asked of each source, with some values that the caller may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from quarry.agent.sources import Asked, what_may_be_asked
from quarry.query.contract import RelatedRows, SourceDescription, SourceField
from quarry.query.schema import Field, Link, Source
from quarry.retrieval.known_values import frequent_values
from quarry.retrieval.named_values import folded_value
from quarry.services.services import Caller, Services

VALUES_MAX = 12
"""How many values of a field are shown."""
VALUES_READ_MAX = 4 * VALUES_MAX
"""So many are read: the dictionary knows titles by their last words as well."""

Values = Mapping[tuple[str, str], list[str]]
"""Values by the names of their table and facet in the dictionary."""


async def describe_sources(caller: Caller, services: Services) -> dict[str, SourceDescription]:
    """The sources of a caller, by name. Raises DatabaseUnavailable."""
    asked = await what_may_be_asked(caller, services)
    values = await _values(asked, services)
    return {name: _described(source, values, asked.left_out) for name, source in asked.schema.sources.items()}


async def _values(asked: Asked, services: Services) -> Values:
    listed = dict.fromkeys(
        field.listed
        for source in asked.schema.sources.values()
        for field in source.fields.values()
        if field.listed is not None
    )
    found = await frequent_values(asked.acting(services).reader, list(listed), asked.owners, VALUES_READ_MAX)
    titles = {(table.name, name) for table, name in listed if table.facet(name).kind == "title"}
    return {facet: _told(each, is_title=facet in titles) for facet, each in found.items()}


def _told(values: Sequence[str], *, is_title: bool) -> list[str]:
    """The values to show: each once, as comparisons are without regard to case, and a title whole, not by its last words."""
    apart: dict[str, str] = {}
    for value in values:
        apart.setdefault(folded_value(value), value.strip())
    shown = [*apart.values()]
    if is_title:
        shown = [value for value in shown if not any(other.endswith(f" {value}") for other in shown)]
    return shown[:VALUES_MAX]


def _described(source: Source, values: Values, left_out: Set[str]) -> SourceDescription:
    predicates = (SourceField(name=name, kind="boolean", label=name.replace("_", " ")) for name in source.predicates)
    return SourceDescription(
        name=source.name,
        label=source.label,
        description=source.description,
        date=source.dated,
        fields=[*(_field(name, field, source, values) for name, field in source.fields.items()), *predicates],
        related=[
            _related(link)
            for name, link in source.links.items()
            if (link.is_many or name not in source.fields) and link.target not in left_out
        ],
    )


def _field(name: str, field: Field, source: Source, values: Values) -> SourceField:
    link = source.links.get(name)
    listed = None if field.listed is None else (field.listed[0].name, field.listed[1])
    return SourceField(
        name=name,
        kind=field.kind,
        label=field.label,
        unit=field.unit,
        currency=field.currency,
        references=link.target if link else None,
        many=field.is_array or (field.related is not None and field.related.is_many),
        values=values.get(listed) if listed else None,
        description=field.description,
    )


def _related(link: Link) -> RelatedRows:
    fields = [] if link.target else list(link.fields)
    return RelatedRows(name=link.name, label=link.label, references=link.target, many=link.is_many, fields=fields)
