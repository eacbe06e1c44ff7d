"""The sources that a caller may query, from all domains with data.

A domain provides its sources in its module `sources`: as `SOURCES`, or by `sources_for(caller, services)`, which also returns the
settings that identify the caller to the database. `left_out_for` names sources that could not be read recently.

A source is described with some values that the caller may see, and by a line on the card for a model.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from quarry.domains import filled_domains, module
from quarry.language.word_forms import keys, stem
from quarry.platform.contract import DOMAINS
from quarry.platform.errors import SourceUnavailable
from quarry.query.contract import RelatedRows, SourceDescription, SourceField, SourceMeasure
from quarry.query.execute import is_naming
from quarry.query.phrases import Phrases
from quarry.retrieval.known_values import frequent_values
from quarry.retrieval.values import Owners
from quarry.schema.source import Calendar, Field, Link, Measure, Schema, Source, folded_value
from quarry.services.services import Caller, Services

REMEMBERED_SECONDS = 2.0
"""How long a running process may miss a domain that was filled just now."""


class ReadableSources(Mapping[str, Source]):
    """Sources by name, without those that are left out: access to one of these raises SourceUnavailable."""

    def __init__(self, sources: Mapping[str, Source], left_out: frozenset[str]) -> None:
        self._sources = sources
        self.left_out = left_out

    def __getitem__(self, name: str) -> Source:
        if name in self.left_out:
            raise SourceUnavailable([name])
        return self._sources[name]

    def __contains__(self, name: object) -> bool:
        return name in self._sources and name not in self.left_out

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._sources if name not in self.left_out)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def with_source(self, source: Source) -> ReadableSources:
        """The same with this source instead of the one of its name."""
        return ReadableSources({**self._sources, source.name: source}, self.left_out)


class DataAccess(NamedTuple):
    """What a caller may query: the schema, and the settings that identify the caller to the database. `homes` has the domain of
    each source, and its name there. Sources that are `left_out` cannot be read at the moment.
    """

    schema: Schema
    caller: Caller
    settings: Mapping[str, str]
    homes: Mapping[str, tuple[str, str]]
    left_out: frozenset[str] = frozenset()

    def name_of(self, domain: str, own: str) -> str | None:
        """The name of the source that a domain calls `own`; None where the caller has no such source."""
        return next((name for name, home in self.homes.items() if home == (domain, own)), None)

    def with_source(self, source: Source) -> DataAccess:
        """The same with this source instead of the one of its name."""
        sources = self.schema.sources
        changed = (
            sources.with_source(source) if isinstance(sources, ReadableSources) else {**sources, source.name: source}
        )
        return self._replace(schema=replace(self.schema, sources=changed))

    @property
    def today(self) -> datetime.date:
        """The day by the declared calendar."""
        return self.schema.calendar.today

    @property
    def degraded(self) -> list[str]:
        """The sources that an answer lacks, as it names them."""
        return [f"collection:{name}" for name in sorted(self.left_out)]

    def acting(self, services: Services) -> Services:
        """The services, with databases that know the caller."""
        return services.acting(self.settings)

    @property
    def owners(self) -> Owners:
        """For each table of values with owners, the owner whose values the caller may see."""
        return {
            table.name: self.caller.claims.get(source.owner_claim) or None
            for source, (table, _) in listed_facets(self.schema)
            if source.owner_claim is not None
        }


def listed_facets(schema: Schema) -> Iterator[tuple[Source, tuple[Source, str]]]:
    """The sources with the table and the facet of each field whose values are listed."""
    for source in schema.sources.values():
        yield from ((source, field.listed) for field in source.fields.values() if field.listed is not None)


async def data_access(caller: Caller, services: Services, domains: Sequence[str] = DOMAINS) -> DataAccess:
    """The sources of these domains that hold data. Raises DatabaseUnavailable."""
    filled = await filled_domains(services, services.reader, seconds=REMEMBERED_SECONDS)
    filled = [domain for domain in filled if domain in domains]
    sources: dict[str, Source] = {}
    settings: dict[str, str] = {}
    homes: dict[str, tuple[str, str]] = {}
    left_out: set[str] = set()
    # collections that the owner declares keep their names
    for domain in sorted(filled, key=lambda each: each != "records"):
        offers = module(domain, "sources")
        has_own = hasattr(offers, "sources_for")
        domain_sources, needed = await offers.sources_for(caller, services) if has_own else (offers.SOURCES, {})
        if hasattr(offers, "left_out_for"):
            left_out |= await offers.left_out_for(caller, services)
        names = {f"{domain}_{name}" if name in sources else name: name for name in domain_sources}
        # what is made of a source is kept for as long as it is the same one
        sources |= {
            name: domain_sources[own] if name == own else replace(domain_sources[own], name=name)
            for name, own in names.items()
        }
        homes |= {name: (domain, own) for name, own in names.items()}
        settings = {**needed, **settings}
    calendar = next((each.calendar for each in sources.values() if each.calendar is not None), Calendar())
    schema = Schema(ReadableSources(sources, frozenset(left_out)), calendar)
    return DataAccess(schema, caller, {**settings, **calendar.settings}, homes, frozenset(left_out))


VALUES_MAX = 12
"""How many values of a field are shown."""
VALUES_READ_MAX = 4 * VALUES_MAX
"""How many values are read: the dictionary also has titles by their last words."""

Values = Mapping[tuple[str, str], list[str]]
"""Values by the names of their table and facet in the dictionary."""


async def describe_sources(caller: Caller, services: Services) -> dict[str, SourceDescription]:
    """The descriptions of a caller's sources, by name. Raises DatabaseUnavailable."""
    access = await data_access(caller, services)
    values = await _values(access, services)
    return {name: _described(source, values, access.left_out) for name, source in access.schema.sources.items()}


async def _values(access: DataAccess, services: Services) -> Values:
    listed = dict.fromkeys(facet for _, facet in listed_facets(access.schema))
    by_facet = await frequent_values(access.acting(services).reader, list(listed), access.owners, VALUES_READ_MAX)
    titles = {(table.name, name) for table, name in listed if table.facets[name].facet == "title"}
    return {facet: _distinct(each, is_title=facet in titles) for facet, each in by_facet.items()}


def _distinct(values: Sequence[str], *, is_title: bool) -> list[str]:
    """The values to show: each once, ignoring case, and whole titles instead of their last words."""
    apart: dict[str, str] = {}
    for value in values:
        apart.setdefault(folded_value(value), value.strip())
    distinct = [*apart.values()]
    if is_title:
        distinct = [value for value in distinct if not any(other.endswith(f" {value}") for other in distinct)]
    return distinct[:VALUES_MAX]


def _described(source: Source, values: Values, left_out: Set[str]) -> SourceDescription:
    predicates = (SourceField(name=name, kind="boolean", label=name.replace("_", " ")) for name in source.predicates)
    return SourceDescription(
        name=source.name,
        label=source.label,
        description=source.description,
        date=source.dated,
        left_out=source.left_out or None,
        fields=[*(_field(name, field, source, values) for name, field in source.fields.items()), *predicates],
        related=[
            _related(link)
            for name, link in source.links.items()
            if (link.is_many or name not in source.fields) and link.target not in left_out
        ],
        texts=list(source.texts),
        measures=[_measure(each, source) for each in source.measures.values()] or None,
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
        currency_of=field.currency_of,
        references=link.target if link else None,
        many=field.is_array or (field.related is not None and field.related.is_many),
        values=values.get(listed) if listed and not is_naming(name, source) else None,
        description=field.description,
        through=field.related.name if field.related is not None and not field.related.is_many else None,
    )


def _measure(measure: Measure, source: Source) -> SourceMeasure:
    phrases = Phrases(Schema({source.name: source}, source.calendar or Calendar()), source, datetime.date.min)
    return SourceMeasure(
        name=measure.name,
        label=measure.label,
        definition=measure.description or phrases.computed(measure.aggregate),
        unit=measure.unit,
        synonyms=list(measure.synonyms),
    )


def _related(link: Link) -> RelatedRows:
    fields = [] if link.target else list(link.fields)
    return RelatedRows(name=link.name, label=link.label, references=link.target, many=link.is_many, fields=fields)


SOURCES_MAX = 8
"""How many sources one card describes; it names others."""
NAMES_MAX = 60
VALUE_CHARACTERS_MAX = 40
VALUES_CHARACTERS_MAX = 160
"""The most characters of one field's values."""

Sources = Mapping[str, SourceDescription]


class MatchedValue(NamedTuple):
    """A value in the data that words of the question may mean."""

    source: str
    field: str
    value: str
    phrase: str


def card(sources: Sources, question: str, matched: Sequence[MatchedValue] = ()) -> str:
    """The sources that the question may be about, one per line, then the values that its words may mean."""
    names = _nearest_names(sources, question, matched)
    lines = [line_of(sources[name]) for name in names]
    others = [name for name in sources if name not in names]
    if others:
        more = f" and {len(others) - NAMES_MAX} more" if len(others) > NAMES_MAX else ""
        lines.append(f"Others, which describe_collections describes: {', '.join(others[:NAMES_MAX])}{more}")
    if matched:
        lines.append(f"Words of the question that are values of the data: {'; '.join(_meanings(matched))}")
    return "\n".join(lines)


def _meanings(matched: Sequence[MatchedValue]) -> list[str]:
    """What the words mean: each value with all its fields."""
    places: dict[tuple[str, str], dict[str, None]] = {}
    for each in matched:
        places.setdefault((each.phrase, each.value), {})[f"{each.source}.{each.field}"] = None
    return [f"“{phrase}”: {', '.join(fields)} = {value}" for (phrase, value), fields in places.items()]


def line_of(source: SourceDescription, extent: str = "") -> str:
    """One source with its fields and links; `extent` says how many rows it has."""
    fields = [_field_line(field) for field in source.fields if not _is_reached(field, source)]
    links = [_link(link) for link in source.related]
    measures = [
        f"measure {each.name} ({', '.join([each.definition, *each.synonyms])})" for each in source.measures or ()
    ]
    dated = f", dated by {source.date}" if source.date else ""
    about = f" ({source.description})" if source.description else ""
    size = f"; {extent}" if extent else ""
    left_out = f", {source.left_out}" if source.left_out else ""
    texts = [f"texts to select: {', '.join(source.texts)}"] if source.texts else []
    return f"{source.name}{about}{dated}{left_out}{size}: {'; '.join([*fields, *links, *measures, *texts])}"


def _is_reached(field: SourceField, source: SourceDescription) -> bool:
    """Whether a field is copied through a reference, where a path leads to it as well."""
    links = {each.name for each in source.related} | {each.name for each in source.fields if each.references}
    return field.through != field.name and field.through in links


def names_of(source: SourceDescription) -> str:
    """One source with only the names of its fields and links."""
    names = [field.name for field in source.fields] + [link.name for link in source.related]
    names += [measure.name for measure in source.measures or ()]
    return f"{source.name} ({source.label}): {', '.join(names)}"


def _field_line(field: SourceField) -> str:
    measured = field.currency or field.unit or (f"the row's {field.currency_of}" if field.currency_of else None)
    kind = "true/false" if field.kind == "boolean" else field.kind
    unit, target = f"in {measured}" if measured else "", f"→ {field.references}" if field.references else ""
    parts = field.name, "several" if field.many else "", kind, unit, target, _listed(field.values or ())
    return " ".join(filter(None, parts))


def _listed(values: Sequence[str]) -> str:
    texts: list[str] = []
    for value in values:
        if len(value) > VALUE_CHARACTERS_MAX or sum(map(len, texts)) + len(value) > VALUES_CHARACTERS_MAX:
            break
        texts.append(value)
    return f"({', '.join(texts)}{', …' if len(texts) < len(values) else ''})" if texts else ""


def _link(link: RelatedRows) -> str:
    fields = f" ({', '.join(link.fields)})" if link.fields else ""
    return f"{link.name} → {'many ' if link.many else ''}{link.references or 'rows'}{fields}"


def _nearest_names(sources: Sources, question: str, matched: Sequence[MatchedValue]) -> list[str]:
    """The sources that share most with the question, in their own order."""
    stems = _stems([question])
    scores = {
        name: len(stems & stems_of([source])) + 2 * len({each.phrase for each in matched if each.source == name})
        for name, source in sources.items()
    }
    best = sorted(scores, key=lambda name: -scores[name])[:SOURCES_MAX]
    return [name for name in sources if name in best]


def stems_of(sources: Iterable[SourceDescription]) -> frozenset[str]:
    """The stems of the names of sources and their fields."""
    return frozenset(_stems(text for source in sources for text in _words_of(source)))


def _words_of(source: SourceDescription) -> Iterable[str]:
    yield from (source.name.replace("_", " "), source.label)
    yield from (field.label for field in source.fields)


def _stems(texts: Iterable[str]) -> set[str]:
    return {stem(word) for text in texts for word in keys(text)}
