"""Text that is almost a number: what is asked of it, and why a column of it is not reckoned with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import LiteralString

from quarry.agent.sources import Asked
from quarry.files.forms import Forms
from quarry.files.value_types import value_types
from quarry.platform.errors import FieldError, InvalidInput
from quarry.postgres.pool import Database
from quarry.query.algebra import Query
from quarry.query.schema import Field, Source

EXAMINED_MAX = 500
"""So many different values that are no numbers are looked at, the commonest first."""

_PLAIN = "'^[[:space:]]*-?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,2})?[[:space:]]*$'"


async def with_reasons(error: InvalidInput, query: Query, asked: Asked, reader: Database) -> InvalidInput:
    """The error, and of each column of text that is reckoned with, what keeps it from being one of numbers."""
    source = asked.schema.sources[query.source]
    said = dict(_reckoned_with(query, source))
    errors = []
    for each in error.errors:
        field = said.get(each.pointer)
        reason = "" if field is None else await not_numbers(source, field, reader)
        errors.append(FieldError(each.pointer, f"{each.message}. {reason}") if reason else each)
    return InvalidInput(errors)


def _reckoned_with(query: Query, source: Source) -> Iterator[tuple[str, Field]]:
    """Fields of text of the source itself that are summed up or compared with numbers, by the pointers of such errors."""
    named = [
        *((f"/aggregate/{place}/field", each.field) for place, each in enumerate(query.aggregate)),
        *((f"/where/{place}/op", getattr(each, "field", None)) for place, each in enumerate(query.where)),
    ]
    for pointer, name in named:
        field = source.fields.get(name) if isinstance(name, str) else None
        if field is not None and is_plain_text(field):
            yield pointer, field


def is_plain_text(field: Field) -> bool:
    """Whether it is one text of the row itself."""
    return field.kind == "text" and not field.is_array and field.related is None


async def not_numbers(source: Source, field: Field, reader: Database) -> str:
    """What keeps a column of text from being one of numbers, with a few examples, and what to do; "" where it is none nearly.

    Reads the rows that the caller may see.
    """
    row: LiteralString = "t"
    value: LiteralString = f"nullif(btrim(({field.sql(row)})::text), '')"
    forms = Forms()
    found = await reader.rows(
        f"""with v as materialized (
              select ({source.key(row)})::text as id, {value} as value from {source.rows} {row}
              where {source.guard(row)} and {value} is not null)
            select null as value, count(*) as count, null as id from v where value ~ {_PLAIN}
            union all
            (select value, count(*), min(id) from v where value !~ {_PLAIN}
             group by value order by count(*) desc, value limit {EXAMINED_MAX})"""  # noqa: S608 -- names are quoted by the source
    )
    for each in found:
        if each["value"] is None:
            forms.add("0", {"bigint"}, str, each["count"])
        else:
            place = f"{source.name} {each['id']}"
            forms.add(each["value"], value_types(each["value"]), lambda place=place: place, each["count"])  # type: ignore[misc]
    if forms.nearly() != "number" or not (said := forms.in_the_way()):
        return ""
    plain = sum(each["count"] for each in found if each["value"] is None)
    read = f"`quarry load` with --replace {options} reads them as numbers. " if (options := forms.options()) else ""
    return (
        f"Of its {forms.values:,} values {forms.values - plain:,} are not plain numbers: {said}. {read}“Text that is almost a"
        " number” in docs/own-data.md says how to make numbers of it"
    )
