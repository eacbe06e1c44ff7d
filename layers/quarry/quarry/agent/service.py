"""Answering a query: look up its values in the data, run it with the caller's rights, and describe it. If it cannot be answered,
the error says why: the nearest values, what keeps a text from being a number, or the source that cannot be read.
Conditions that a request holds are checked against the fields and values of the data in the same way.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence, Set
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import LiteralString, NamedTuple, TypeVar

from psycopg import Error as PostgresError

from quarry.agent.sources import DataAccess, ReadableSources, data_access
from quarry.domains import module
from quarry.files.forms import Forms, value_types
from quarry.platform.errors import FieldError, InvalidInput, QuarryError, SourceUnavailable
from quarry.platform.off_loop import off_loop
from quarry.postgres.connections import lasting_fault, lasting_fault_of
from quarry.postgres.pool import Database
from quarry.query.contract import OWN, QueryResult, ResultColumn, Understood
from quarry.query.describe import describe
from quarry.query.execute import SERIAL, RowConditions, compile_query, execute
from quarry.query.paths import (
    Namesakes,
    aggregates_named,
    check_left_out,
    measures_named,
    resolve,
    source_of,
    with_comparisons,
    with_currencies,
)
from quarry.query.phrases import Phrases
from quarry.retrieval.known_values import NamedCondition, conditions_meant, values_meant
from quarry.schema.algebra import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Exists,
    Not,
    Query,
    Result,
    Spelt,
    WordValues,
    conditions_of,
)
from quarry.schema.source import Field, NamedValue, Schema, Source
from quarry.services.services import Caller, Services


async def run_query(
    query: Query, caller: Caller, services: Services, today: datetime.date | None = None
) -> QueryResult:
    """The exact result of a query. `today` is by default the day of the declared calendar. Raises InvalidInput for unknown
    sources, fields and values, with the nearest ones, SourceUnavailable if a table cannot be read, and DatabaseUnavailable.
    """
    access = await data_access(caller, services)
    return await answer_query(query, access, services, today or access.today)


async def answer_query(
    query: Query, access: DataAccess, services: Services, today: datetime.date, *, keeps_places: bool = False
) -> QueryResult:
    """The exact result of a query over the sources in `access`. With `keeps_places`, no rows are in a place that the data does
    not have; else it is an unknown value. Raises what `run_query` raises.
    """
    source_of(access.schema, query.source, "/source")  # before anything is looked up
    reader = access.acting(services).reader
    async with _faults_explained(query, access, services):
        schema = (await with_known_measures(query, access, reader)).schema
        query = await with_known_values(query, access._replace(schema=schema), reader, keeps_places=keeps_places)
        query = with_currencies(with_ties(query), schema)
        query, result = await _by_namesakes(query, schema, reader, today)
    check_left_out(query, result, schema)
    description = await off_loop(describe, query, result, schema, today)
    return QueryResult(
        query=query,
        sentence=description.sentence,
        columns=[
            ResultColumn(name=each.name, label=label, kind=each.kind, unit=each.unit, share=each.is_share)
            for each, label in zip(result.columns, description.labels, strict=True)
        ],
        rows=result.rows, total=result.total, truncated=result.truncated, tied=result.tied,
        filters=description.filters, groups=description.groups, spans=query.spans or None,
    )  # fmt: skip


async def answer_read_query(
    query: Query, access: DataAccess, services: Services, today: datetime.date, *, keeps_places: bool = False
) -> QueryResult:
    """The result of a query that a question was read as. Where it asks which group is first, rows without a value are none: the
    first with a value is told, and how many have none. Raises what `answer_query` raises.
    """
    result = await answer_query(query, access, services, today, keeps_places=keeps_places)
    is_first_group = query.limit is not None and query.order and len(query.group) == 1
    if not is_first_group or all(row[0] is not None for row in result.rows):
        return result
    [group] = query.group
    with_value = query.model_copy(update={"where": (*query.where, Comparison(field=group.field, op="not_null"))})
    groups = await answer_query(with_value, access, services, today, keeps_places=keeps_places)
    if not groups.rows:
        return result
    phrases = Phrases(access.schema, access.schema.sources[query.source], today, group.period)
    without = phrases.writing.number(result.total - groups.total)
    sentence = phrases.say(
        "unnamed_groups", said=groups.sentence.removesuffix("."), keys=phrases.group(group), number=without
    )
    return groups.model_copy(update={"sentence": f"{sentence}."})


@asynccontextmanager
async def _faults_explained(query: Query, access: DataAccess, services: Services) -> AsyncIterator[None]:
    """What fails while a query is read: sources that cannot be read, or what is wrong with it, with the reasons."""
    try:
        yield
    except (PostgresError, QuarryError) as error:
        fault = lasting_fault(error)
        # the values of a source that cannot be read are unknown
        if (fault or isinstance(error, InvalidInput)) and (names := await unreadable(query, access, services, fault)):
            raise SourceUnavailable(names) from error
        if isinstance(error, InvalidInput):
            raise await with_reasons(error, query, access, access.acting(services).reader) from error
        raise


@dataclass(frozen=True)
class Filter:
    """Conditions on the rows of a source, as SQL over a row `t`. `keys` are those of the rows that meet them, None for more than
    `keys_max`.
    """

    condition: str
    keys: Sequence[str] | None
    keys_max: int

    @property
    def meeting(self) -> int:
        """How many rows meet them, or at least do."""
        return self.keys_max if self.keys is None else len(self.keys)


async def filter_of(source: str, where: Sequence[Condition], access: DataAccess, services: Services) -> Filter:
    """The conditions with the rows that meet them. Raises InvalidInput, SourceUnavailable and DatabaseUnavailable."""
    query, reader = Query(source=source, where=tuple(where)), access.acting(services).reader
    async with _faults_explained(query, access, services):
        query = await with_known_values(query, access, reader, in_all_spellings=True)
        rows = RowConditions(source, access.schema, access.today, None)
        met = rows.met(query.where)
        row = await reader.acting(SERIAL).row(rows.keys(met))
    return Filter(met.as_string(None), row["keys"] if row else None, rows.keys_max)


def with_ties(query: Query) -> Query:
    """The query with all that tie for the first place, where only the first is asked for and it does not say otherwise."""
    is_first = query.limit == 1 and query.order and not query.offset and "ties" not in query.model_fields_set
    return query.model_copy(update={"ties": True}) if is_first else query


async def _by_namesakes(query: Query, schema: Schema, reader: Database, today: datetime.date) -> tuple[Query, Result]:
    """The query, by the rows of a name that it names where several rows have it, and its result."""
    namesakes = Namesakes.of(query, schema)
    if namesakes is None:
        return query, await execute(reader, query, schema, today)
    result = await execute(reader, namesakes.split, schema, today)
    if len(result.rows) > 1:
        return namesakes.split, result
    return query, namesakes.whole(result) or await execute(reader, query, schema, today)


EXAMINED_MAX = 500
"""How many different values that are not numbers are examined, the most frequent first."""

_PLAIN = "'^[[:space:]]*-?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,2})?[[:space:]]*$'"


async def with_reasons(error: InvalidInput, query: Query, access: DataAccess, reader: Database) -> InvalidInput:
    """The error, with the reason for each column of text in it why its values are not numbers."""
    source = access.schema.sources[query.source]
    fields = dict(_computed_with(query, source))
    errors = []
    for each in error.errors:
        field = fields.get(each.pointer)
        reason = "" if field is None else await not_numbers(source, field, reader)
        errors.append(FieldError(each.pointer, f"{each.message}. {reason}") if reason else each)
    return InvalidInput(errors)


def _computed_with(query: Query, source: Source) -> Iterator[tuple[str, Field]]:
    """Text fields of the source itself that are aggregated or compared with numbers, by the pointers of such errors."""
    places = [
        *((f"/aggregate/{place}/field", each.field) for place, each in enumerate(query.aggregate)),
        *((f"/where/{place}/op", getattr(each, "field", None)) for place, each in enumerate(query.where)),
    ]
    for pointer, name in places:
        field = source.fields.get(name) if isinstance(name, str) else None
        if field is not None and field.kind == "text" and not field.is_array and field.related is None:
            yield pointer, field


async def not_numbers(source: Source, field: Field, reader: Database) -> str:
    """Why the values of a text column are not numbers, with examples, and what to do; "" if few are nearly numbers.

    Reads the rows that the caller may see.
    """
    row: LiteralString = "t"
    value: LiteralString = f"nullif(btrim(({field.sql(row)})::text), '')"
    forms = Forms()
    rows = await reader.rows(
        f"""with v as materialized (
              select ({source.key(row)})::text as id, {value} as value from {source.rows} {row}
              where {source.guard(row)} and {value} is not null)
            select null as value, count(*) as count, null as id from v where value ~ {_PLAIN}
            union all
            (select value, count(*), min(id) from v where value !~ {_PLAIN}
             group by value order by count(*) desc, value limit {EXAMINED_MAX})"""  # noqa: S608 -- names are quoted by the source
    )
    for each in rows:
        if each["value"] is None:
            forms.add("0", {"bigint"}, str, each["count"])
        else:
            place = f"{source.name} {each['id']}"
            forms.add(each["value"], value_types(each["value"]), lambda place=place: place, each["count"])  # type: ignore[misc]
    if forms.nearly() != "number" or not (examples := forms.in_the_way()):
        return ""
    plain = sum(each["count"] for each in rows if each["value"] is None)
    hint = f"`quarry load` with --replace {options} reads them as numbers. " if (options := forms.options()) else ""
    return (
        f"Of its {forms.values:,} values {forms.values - plain:,} are not plain numbers: {examples}. {hint}See “Text that is"
        " almost a number” in docs/own-data-guide.md"
    )


async def unreadable(query: Query, access: DataAccess, services: Services, fault: PostgresError | None) -> list[str]:
    """The sources of a query that cannot be read: those of which not even one row can be read, else the query's own source, if
    its statement had a `fault`. They are left out for a while. Raises DatabaseUnavailable.
    """
    today = access.today
    faults: dict[str, PostgresError] = {}
    for name in _sources_of(query, access.schema, today):
        source_fault = await _fault_of(name, access, services, today) if _can_be_left_out(name, access) else None
        if source_fault is not None:
            faults[name] = source_fault
    if not faults and fault is not None and _can_be_left_out(query.source, access):
        faults[query.source] = fault
    for name, each in faults.items():
        domain, own = access.homes[name]
        await module(domain, "sources").leave_out_for(own, each, access.caller, services)
    return list(faults)


def _can_be_left_out(name: str, access: DataAccess) -> bool:
    return hasattr(module(access.homes[name][0], "sources"), "leave_out_for")


async def _fault_of(name: str, access: DataAccess, services: Services, today: datetime.date) -> PostgresError | None:
    """The fault of a source, found by reading all fields of one row."""
    whole = Query(source=name, select=tuple(access.schema.sources[name].fields), limit=1)
    reading = execute(access.acting(services).reader, whole, access.schema, today)
    # one that raises SourceUnavailable refers to a source that is already left out
    return await lasting_fault_of(reading, no_fault=(SourceUnavailable,))


class _Recording(ReadableSources):
    """Sources that record which of them were used."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        super().__init__(sources, frozenset())
        self.used: dict[str, None] = {}

    def __getitem__(self, name: str) -> Source:
        source = super().__getitem__(name)
        self.used[name] = None
        return source


def _sources_of(query: Query, schema: Schema, today: datetime.date) -> list[str]:
    """The sources that a query reads: its own, and those that its paths lead to."""
    recording = _Recording(schema.sources)
    with suppress(InvalidInput):
        compile_query(query, replace(schema, sources=recording), today)
    return list(recording.used)


async def with_known_values(
    query: Query, access: DataAccess, database: Database, *, keeps_places: bool = False, in_all_spellings: bool = False
) -> Query:
    """The query with values in the spelling of the data, for fields whose values are known. They may differ in case, accents,
    punctuation or inflection, be declared synonyms, or name a place by another name or one that it is in. `in_all_spellings`:
    rows are compared with these alone, as in searches, whose words follow the data a moment later too. Raises InvalidInput for
    values that no row has, with the nearest ones, but with `keeps_places` not for known places; and DatabaseUnavailable.
    """
    by_table, owners = _values_by_table(query, access.schema), access.owners
    spelt: dict[str, list[str]] = {}
    places: set[str] = set()
    errors: list[FieldError] = []
    for table, values in by_table:
        try:
            spellings = await values_meant(
                database, table, values, whole=True, owners=owners, keeps_places=keeps_places
            )
        except InvalidInput as error:
            errors.extend(error.errors)
        else:
            spelt |= {each.pointer: meanings for each, meanings in zip(values, spellings, strict=True)}
            places |= {each.pointer for each in values if table.facets[each.facets[0]].facet == "place"}
    if errors:
        raise InvalidInput(errors)

    def in_data_spelling(comparison: Comparison, _: Source, pointer: str) -> Comparison:
        if in_all_spellings and (at := _texts(comparison, pointer).keys()) and at <= spelt.keys():
            values = Spelt(dict.fromkeys(each for place in at for each in spelt[place]))
            return comparison.model_copy(update={"value": None, "values": values})
        return _spelt(comparison, pointer, spelt, places)

    return with_comparisons(query, access.schema, in_data_spelling)


async def with_known_measures(query: Query, access: DataAccess, database: Database) -> DataAccess:
    """The sources, with the measures that a query names over values in the spelling of the data. A value that no row has yet
    stays. Raises InvalidInput for one that is nearly another, and DatabaseUnavailable.
    """
    source = access.schema.sources[query.source]
    used = measures_named(aggregates_named(query), source.measures)
    if not used:
        return access
    declared = Query(source=query.source, aggregate=tuple(each.aggregate for each in used.values()))
    try:
        declared = await with_known_values(declared, access, database)
    except InvalidInput as error:
        raise InvalidInput([_of_declaration(each, [*used]) for each in error.errors]) from error
    spelt = {
        name: replace(measure, aggregate=aggregate)
        for (name, measure), aggregate in zip(used.items(), declared.aggregate, strict=True)
    }
    return access.with_source(replace(source, measures={**source.measures, **spelt}))


def _of_declaration(error: FieldError, measures: Sequence[str]) -> FieldError:
    """What is wrong with a value of a declared measure."""
    _, _, place, *_ = error.pointer.split("/")
    message = f"the measure {measures[int(place)]}, as it is declared in quarry.toml: {error.message}"
    return FieldError("/aggregate", message)


def _values_by_table(query: Query, schema: Schema) -> list[tuple[Source, list[NamedValue]]]:
    """The values to look up, by the table of the dictionary that has them; most queries have one table."""
    tables: dict[str, tuple[Source, list[NamedValue]]] = {}

    def collect(comparison: Comparison, rows: Source, pointer: str) -> Comparison:
        listed = _listed(comparison, rows, schema)
        if listed is not None:
            table, facet = listed
            _, values = tables.setdefault(table.name, (table, []))
            values.extend(NamedValue((facet,), value, place) for place, value in _texts(comparison, pointer).items())
        return comparison

    with_comparisons(query, schema, collect)
    return list(tables.values())


def _listed(comparison: Comparison, rows: Source, schema: Schema) -> tuple[Source, str] | None:
    """The table and facet of the dictionary with the values of the compared field; None if there is none."""
    if comparison.op not in ("=", "!="):
        return None
    try:
        path = resolve(comparison.field, rows, schema, "")
    except InvalidInput:
        return None
    return path.end.listed if isinstance(path.end, Field) and path.over is None else None


def _texts(comparison: Comparison, pointer: str) -> dict[str, str]:
    """The texts of a comparison by their pointers, without blank ones, which the compiler refuses."""
    places = [f"{pointer}/values/{place}" for place in range(len(comparison.values))] or [f"{pointer}/value"]
    texts = {place: str(value) for place, value in zip(places, comparison.scalars, strict=False)}
    return {place: text for place, text in texts.items() if text.strip()}


def _spelt(comparison: Comparison, pointer: str, spelt: Mapping[str, list[str]], places: Set[str]) -> Comparison:
    """The comparison with the spellings that were found. Those that differ only in case are one, except of `places`, which are
    compared as they are spelt.
    """
    texts = _texts(comparison, pointer)
    if not any(at in spelt for at in texts):
        return comparison
    spellings = [(each, at in places) for at, value in texts.items() for each in spelt.get(at, [value])]
    apart = {each if is_place else each.strip().casefold(): each for each, is_place in reversed(spellings)}
    values = tuple(apart.values())[::-1]
    is_one = comparison.value is not None and len(values) == 1
    [word, *others] = texts.items()
    values_of = WordValues.by(word[1], values) if not others and word[0] in places else values
    return comparison.model_copy(update={"value": values[0] if is_one else None, "values": () if is_one else values_of})


Fixed = Callable[[Comparison], Sequence[str]]
"""The values of a comparison that exist even where no row has them; none unless all are such."""


Former = TypeVar("Former")
"""The form in which a domain's requests held their constraints before."""


class ConditionChecks(NamedTuple):
    """How the conditions on the rows of one source are checked."""

    source: str
    schema: Schema
    table: Source
    fixed: Fixed = lambda comparison: ()

    async def checked(
        self,
        understood: Understood | None,
        former: Former | None,
        made_of: Callable[[Former], Understood],
        question: str,
        database: Database,
    ) -> Understood | None:
        """What a request says was understood, or its `former` constraints, with values as the data spells them; None if it has
        neither. Of values that the `question` itself says, unknown ones stay. Errors point to the condition, or to the former
        constraints as a whole. Raises InvalidInput and DatabaseUnavailable.
        """
        if understood is not None:
            return await self.check(understood, question, database)
        if former is None:
            return None
        try:
            return await self.check(made_of(former), question, database)
        except InvalidInput as error:
            raise InvalidInput([FieldError("/constraints", each.message) for each in error.errors]) from error

    async def check(self, understood: Understood, question: str, database: Database) -> Understood:
        """What was understood, with values as the data spells them, as `checked` says."""
        if understood.query.source != self.source:
            raise InvalidInput([FieldError(f"{OWN}/query/source", f"the source is {self.source!r} here")])
        await off_loop(self._check_fields, understood)
        comparisons = [
            (pointer, leaf, group)
            for pointer, condition in _placed(understood)
            for pointer, leaf, group in _compared(condition, pointer, None)
            if self._is_listed(leaf) and not self.fixed(leaf)
        ]
        conditions = [
            NamedCondition(leaf.field, [str(each) for each in leaf.scalars], f"{OWN}{place}", group, leaf.op == "!=")
            for place, leaf, group in comparisons
        ]
        meanings = await conditions_meant(database, self.table, conditions, question)
        spelt = {place: tuple(values) for (place, _, _), values in zip(comparisons, meanings, strict=True)}
        return understood.mapped(lambda condition, pointer: self._spelt(condition, pointer, spelt))

    def _check_fields(self, understood: Understood) -> None:
        placed = list(_placed(understood))
        today = datetime.datetime.now(datetime.UTC).date()
        try:
            RowConditions(self.source, self.schema, today, {}).met([each for _, each in placed])
        except InvalidInput as error:
            raise InvalidInput([FieldError(_at(each.pointer, placed), each.message) for each in error.errors]) from None

    def _is_listed(self, comparison: Comparison) -> bool:
        field = self.schema.sources[self.source].fields.get(comparison.field)
        is_equal = comparison.op in ("=", "!=") and bool(comparison.scalars)
        return is_equal and field is not None and field.listed is not None

    def _spelt(self, condition: Condition, pointer: str, spelt: dict[str, tuple[str, ...]]) -> Condition | None:
        """The condition in the spelling of the data; None where nothing of it is left."""
        match condition:
            case Comparison():
                values = tuple(self.fixed(condition)) or spelt.get(pointer)
                if values is None:
                    return condition
                return condition.model_copy(update={"value": None, "values": values}) if values else None
            case Not():
                inner = self._spelt(condition.negated, f"{pointer}/not", spelt)
                return None if inner is None else Not(negated=inner)
            case AnyOf() | AllOf():
                key = "any_of" if isinstance(condition, AnyOf) else "all_of"
                conditions = (
                    self._spelt(each, f"{pointer}/{key}/{place}", spelt)
                    for place, each in enumerate(conditions_of(condition))
                )
                remaining = [each for each in conditions if each is not None]
                return type(condition).of(remaining) if remaining else None
        return condition


def _placed(understood: Understood) -> Iterator[tuple[str, Condition]]:
    """Each condition with its pointer from the whole."""
    for pointer, condition in understood.conditions:
        yield (f"/query{pointer}" if pointer.startswith("/where") else pointer), condition


def _compared(condition: Condition, pointer: str, group: str | None) -> Iterator[tuple[str, Comparison, str | None]]:
    """The comparisons of a condition with their pointers, and the pointer of the alternatives that each is one of."""
    match condition:
        case Comparison():
            yield pointer, condition, group
        case Not():
            yield from _compared(condition.negated, f"{pointer}/not", group)
        case AnyOf() | AllOf():
            key = "any_of" if isinstance(condition, AnyOf) else "all_of"
            for place, each in enumerate(conditions_of(condition)):
                yield from _compared(each, f"{pointer}/{key}/{place}", pointer if key == "any_of" else group)
        case Exists():
            return


def _at(pointer: str, placed: Sequence[tuple[str, Condition]]) -> str:
    """The pointer of an error about all conditions in one list, from the whole."""
    match = re.match(r"/where/(\d+)", pointer)
    return f"{OWN}{placed[int(match[1])][0]}{pointer[match.end() :]}" if match else OWN
