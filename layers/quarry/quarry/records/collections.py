"""The types of record for clients, and one whole record."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.agent.sources import describe_sources
from quarry.language.writing import ENGLISH, languages
from quarry.query.contract import SourceDescription
from quarry.records.contract import Collection, CollectionFacet, Collections, RecordType, WholeRecord
from quarry.records.retrieval import describe, whole_record
from quarry.records.sources import RecordTypes, SearchedType, acting_for, skipping_broken_collections
from quarry.services.services import Caller, Services


async def describe_collections(caller: Caller, services: Services) -> Collections:
    """All types of record, in their order, and the other sources that a caller may ask. Raises DatabaseUnavailable."""
    types, _ = await acting_for(caller, services)
    sources = await describe_sources(caller, services)
    return Collections(
        collections=[_collection(each, sources.get(name)) for name, each in types.items()],
        sources=[source for name, source in sources.items() if name not in types.whole],
        degraded=types.degraded(),
    )


def _collection(type: SearchedType, source: SourceDescription | None) -> Collection:
    return Collection(
        name=type.name,
        label=type.label,
        description=type.description[0].upper() + type.description[1:],
        facets=[
            CollectionFacet(name=each.name, kind=each.facet or "value", label=each.label, currency=each.currency)
            for each in type.facets
        ],
        date=type.table.dated,
        language=_code(type.table.languages or (ENGLISH,)),
        left_out=source.left_out if source else None,
        fields=source.fields if source else [],
        related=source.related if source else [],
        measures=source.measures if source else None,
    )


def _code(read_by: Sequence[str]) -> str | None:
    """The code of the one language of these text search configurations."""
    known = languages().get(read_by[0]) if len(read_by) == 1 else None
    return known.code if known else None


async def read_record(type: RecordType, record_id: str, caller: Caller, services: Services) -> WholeRecord:
    """One whole record. Raises InvalidInput for a type that there is not, NotFound, SourceUnavailable and DatabaseUnavailable."""
    types, services = await acting_for(caller, services)

    async def read(types: RecordTypes) -> WholeRecord:
        [chosen] = types.named([type])
        whole = await whole_record(services.reader, chosen, record_id)
        texts = await describe(services.reader, [(chosen.name, record_id)], types)
        return whole.model_copy(update={"text": next((text.body for text in texts.values()), None)})

    return await skipping_broken_collections(types, services.memory, read)
