"""What a field path means in a schema: which links it follows, and the field, predicate or related rows that it ends at.
And the measures that a source declares; and what a query must tell apart though it does not say so: amounts in several
currencies, and rows of one name.

The comparisons of a query are gone through with the source that each is about, and a pointer to it (RFC 6901). Pure.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, get_args

from pydantic import ValidationError

from quarry.platform.errors import InvalidInput
from quarry.query.values import (
    BUSINESS_HOURS,
    DECLARED_PARTS,
    PARTS,
    Computed,
    common,
    computed,
    invalid,
    is_arithmetic,
    part_of_date,
)
from quarry.schema.algebra import (
    Aggregate,
    AllOf,
    Comparison,
    Condition,
    Exists,
    Function,
    Group,
    Query,
    Result,
    comparisons_of,
    mapped,
)
from quarry.schema.source import NO_VALUE, Field, Kind, Link, Measure, Schema, Source

PATH_MAX = 8
"""Links that one path follows at most."""
NEAREST = 3
"""Names that an error offers."""

Over = Literal["count", "count_distinct", "sum", "avg", "min", "max", "median", "percentile", "stddev"]
"""What can be computed over the related rows of one row."""
NUMERICAL: frozenset[str] = frozenset(("sum", "avg", "median", "percentile", "stddev"))
"""The functions of numbers, which a row that is read several times changes."""
ROUNDED: frozenset[str] = NUMERICAL - {"sum"}
"""The functions whose decimals may never end."""
MONTH = "month"
"""The function that gives the month of a date, 1 to 12, whatever the year: `month(opened_on)`."""
NUMERIC: frozenset[Kind] = frozenset({"number", "money", "year"})


def unknown(pointer: str, owner: str, what: str, name: str, names: Iterable[str]) -> InvalidInput:
    """The error for a name that does not exist, with the nearest that do."""
    near = nearest(name, names)
    offered = f"; the nearest: {', '.join(near)}" if near else ""
    return invalid(pointer, f"{owner} has no {what} {name[:100]!r}{offered}")


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The known names that look most like `name`, best first."""
    by_folded = {each.casefold(): each for each in names}
    close = difflib.get_close_matches(name[:100].casefold(), by_folded, n=NEAREST, cutoff=0)
    return [by_folded[each] for each in close]


class Step(NamedTuple):
    """A link that a path follows, and the rows that it leads to."""

    link: Link
    to: Source


class Predicate(NamedTuple):
    """A derived predicate: true of the rows that meet its conditions."""

    name: str
    conditions: Sequence[Condition]


class Path(NamedTuple):
    """A resolved path. `end` is None where it ends at related rows themselves, as in `count(orders)`.

    `over` is what is computed of the related rows that `steps` lead to, so that the path has one value a row.
    """

    text: str
    steps: tuple[Step, ...]
    end: Field | Predicate | Computed | None
    over: Over | None = None

    @property
    def leads_to_many(self) -> bool:
        """Whether one row may have several of the values at its end."""
        return any(step.link.is_many for step in self.steps) or (isinstance(self.end, Field) and self.end.is_array)

    @property
    def is_array(self) -> bool:
        """Whether it leads to the elements of an array of one row."""
        return self.leads_to_many and not any(step.link.is_many for step in self.steps)

    @property
    def repeats(self) -> bool:
        """Whether several rows may lead to the same row at its end, whose number a sum or an average must count once."""
        links = [step.link for step in self.steps]
        is_told = bool(self.steps) and self.steps[-1].to.has_key
        return is_told and any(not link.is_many or link.is_shared for link in links)

    @property
    def names_rows(self) -> bool:
        """Whether its value is what another row is called, which has a key: rows of one name are different."""
        is_name = isinstance(self.end, Field) and self.end.names_rows and not self.leads_to_many
        return is_name and self.over is None and bool(self.steps) and self.steps[-1].to.has_key

    @property
    def is_many(self) -> bool:
        """Whether the path itself has several values a row."""
        return self.over is None and self.leads_to_many

    @property
    def kind(self) -> Kind:
        if self.over in ("count", "count_distinct"):
            return "number"
        return "number" if self.over in NUMERICAL and self.end_kind == "year" else self.end_kind

    @property
    def end_kind(self) -> Kind:
        """The kind of the values at its end."""
        return self.end.kind if isinstance(self.end, Field | Computed) else "boolean"

    @property
    def is_rounded(self) -> bool:
        """Whether its decimals may never end."""
        return self.over in ROUNDED or (isinstance(self.end, Computed) and self.end.is_rounded)

    @property
    def unit(self) -> str | None:
        """What a number is measured in, or the currency of money."""
        if self.over in ("count", "count_distinct") or not isinstance(self.end, Field | Computed):
            return None
        return self.end.currency if self.end.kind == "money" else self.end.unit

    @property
    def currency_of(self) -> str | None:
        """The path to the currency of the money at its end, if rows differ."""
        if self.kind != "money" or not isinstance(self.end, Field | Computed) or self.end.currency_of is None:
            return None
        before, dot, _ = ("", "", "") if isinstance(self.end, Computed) else self.text.rpartition(".")
        return f"{before}{dot}{self.end.currency_of}"

    @property
    def label(self) -> str:
        end = self.end
        if isinstance(end, Computed):
            return end.label  # its operands name the rows that they are read from
        last = "" if end is None else end.label if isinstance(end, Field | Computed) else end.name
        links = [
            step.link.label
            for step in self.steps
            if not isinstance(self.end, Field) or step.link is not self.end.related
        ]
        return " ".join(part for part in (*links, last.replace("_", " ")) if part)


def source_of(schema: Schema, name: str, pointer: str) -> Source:
    """The source of this name. Raises InvalidInput."""
    source = schema.sources.get(name)
    if source is None:
        raise unknown(pointer, "the data", "source", name, schema.sources)
    return source


def resolve(path: str, source: Source, schema: Schema, pointer: str) -> Path:
    """What `path` means for rows of a source: a field, a predicate, an aggregate over related rows, or arithmetic.

    Raises InvalidInput.
    """
    resolved = _resolved_or_rows(path, source, schema, pointer)
    if resolved.end is None and resolved.over is None:
        to = resolved.steps[-1].to
        as_count = f"count({path}), " if resolved.leads_to_many else ""
        raise invalid(
            pointer, f"{path} leads to {to.name}: name one of their fields, as {as_count}{_example(to, path)}"
        )
    return resolved


def _resolved_or_rows(path: str, source: Source, schema: Schema, pointer: str) -> Path:
    """The same, or the related rows themselves."""
    if path in source.names:
        return _follow(path, source, schema, pointer)
    if is_arithmetic(path):
        try:
            return _follow(path, source, schema, pointer)  # a name may hold a sign
        except InvalidInput:
            return _computed(path, source, schema, pointer)
    if path.endswith(")") and "(" in path:
        if path.partition("(")[0].strip() in (*PARTS, *DECLARED_PARTS):
            return _part(path, source, schema, pointer)
        return _over_related(path, source, schema, pointer)
    return _follow(path, source, schema, pointer)


def _computed(path: str, source: Source, schema: Schema, pointer: str) -> Path:
    """Arithmetic, as of the row that all its fields are read from."""
    end = computed(path, lambda name: resolve(name, source, schema, pointer), pointer)
    shared = common(end.operands)
    operands = tuple(each._replace(steps=each.steps[shared:]) for each in end.operands)
    if several := next((each for each in operands if each.is_many), None):
        raise invalid(pointer, f"{several.text} may have several values a row: take sum(…) or avg(…) of it")
    steps = end.operands[0].steps[:shared] if end.operands else ()
    return Path(path, steps, replace(end, operands=operands))


def resolve_rows(path: str, source: Source, schema: Schema, pointer: str) -> Path:
    """The related rows that `path` leads to; of a name that is a field and a link, by the link. Raises InvalidInput."""
    resolved = _follow(path, source, schema, pointer, to_rows=True)
    if resolved.end is not None:
        raise unknown(pointer, source.name, "related rows", path, source.links)
    return resolved


def _example(source: Source, path: str) -> str:
    return ", ".join(f"{path}.{name}" for name in list(source.selectable)[:NEAREST])


def _follow(path: str, source: Source, schema: Schema, pointer: str, *, to_rows: bool = False) -> Path:
    steps: list[Step] = []
    rest, here = path, source
    while True:
        if rest in here.selectable and not (to_rows and rest in here.links):
            end = here.selectable[rest]
            if end.related is not None:
                to = _led_to(end.related, schema)
                assert to is not None, end.name
                steps.append(Step(end.related, to))
            return Path(path, tuple(steps), end)
        if rest in here.predicates:
            return Path(path, tuple(steps), Predicate(rest, here.predicates[rest]))
        if rest in here.texts:
            return Path(path, tuple(steps), here.texts[rest])
        step, rest = _step(rest, here, schema, pointer)
        steps.append(step)
        if len(steps) > PATH_MAX:
            raise invalid(pointer, f"a path follows at most {PATH_MAX} links")
        if not rest:
            return Path(path, tuple(steps), None)
        here = step.to


def _step(rest: str, here: Source, schema: Schema, pointer: str) -> tuple[Step, str]:
    """The link that the rest of a path begins with, and what follows it."""
    name, _, after = (rest, "", "") if rest in here.links else rest.partition(".")
    link = here.links.get(name)
    to = None if link is None else _led_to(link, schema)
    if link is None or to is None:
        raise unknown(pointer, here.name, "field", name, here.names)
    return Step(link, to), after


def _led_to(link: Link, schema: Schema) -> Source | None:
    """The rows on the other side; None where the caller has no such source."""
    if link.target is not None:
        target = schema.sources.get(link.target)
        if target is None:
            return None
        if link.rows is None:
            return target
        return replace(target, rows=link.rows, fields={**target.selectable, **link.fields}, holds_words=None)
    if link.rows is None:
        return None
    return Source(link.name, link.label, (), link.rows, link.key or NO_VALUE, NO_VALUE, link.fields)


def _over_related(path: str, source: Source, schema: Schema, pointer: str) -> Path:
    name, _, inner = path.removesuffix(")").partition("(")
    over = next((each for each in get_args(Over) if each == name.strip()), None)
    if over is None:
        raise unknown(pointer, "a path", "function", name.strip(), get_args(Over))
    resolved = resolve_over(over, inner.strip(), source, schema, pointer)
    if not resolved.is_many:
        raise invalid(pointer, f"{inner.strip()} has one value a row: {over} in a path needs related rows, as count(…)")
    return Path(path, resolved.steps, resolved.end, over)


_KIND_OF_PART: Mapping[str, Kind] = {"year": "year", "fiscal_year": "year", BUSINESS_HOURS: "boolean"}


def _part(path: str, source: Source, schema: Schema, pointer: str) -> Path:
    name, _, inner = path.removesuffix(")").partition("(")
    name = name.strip()
    resolved = _follow(inner.strip(), source, schema, pointer)
    if not isinstance(resolved.end, Field) or resolved.end.is_array or resolved.kind not in ("date", "datetime"):
        raise invalid(pointer, f"{inner.strip()} is not a date: only dates have a {name}")
    if name in ("hour", "minute", BUSINESS_HOURS) and resolved.kind == "date":
        raise invalid(pointer, f"{inner.strip()} is a day, which has no {name}")
    day, in_sql = resolved.end.sql, part_of_date(name, schema.calendar, pointer)
    part = replace(
        resolved.end,
        kind=_KIND_OF_PART.get(name, "number"),
        sql=lambda row: in_sql(day(row)),
        label=f"{name.replace('_', ' ')} of {resolved.end.label}",
    )
    return Path(path, resolved.steps, part)


def resolve_over(function: Over, path: str, source: Source, schema: Schema, pointer: str) -> Path:
    """The path that a function is computed over. Related rows themselves can be counted. Raises InvalidInput."""
    resolved = _resolved_or_rows(path, source, schema, pointer)
    if resolved.end is None and resolved.over is None and (function != "count" or not resolved.leads_to_many):
        raise invalid(
            pointer,
            f"{function} needs a field of {resolved.steps[-1].to.name}: {_example(resolved.steps[-1].to, path)}",
        )
    if function in NUMERICAL and resolved.kind not in NUMERIC:
        raise invalid(pointer, f"{function} needs a number: {path} is {resolved.kind}")
    if function in ("min", "max") and resolved.kind == "boolean":
        raise invalid(pointer, f"{path} is true or false and has no {function}")
    return resolved


Change = Callable[[Comparison, Source, str], Comparison]
"""Makes a comparison of another."""


def with_comparisons(query: Query, schema: Schema, change: Change, pointer: str = "") -> Query:
    """The query with each comparison of rows replaced by what `change` makes of it, in nested queries too. Parts that the
    schema does not know stay as they are: compiling the query reports them.
    """
    source = schema.sources.get(query.source)
    if source is None:
        return query
    return _Walk(schema, change).query(query, source, pointer)


_NO_ROWS = Source("groups", "groups", (), "", NO_VALUE, NO_VALUE, {})


class _Walk(NamedTuple):
    schema: Schema
    change: Change

    def query(self, query: Query, source: Source, pointer: str) -> Query:
        aggregates = tuple(
            self.aggregate(each, source, f"{pointer}/aggregate/{place}") for place, each in enumerate(query.aggregate)
        )
        where = self.all(query.where, source, f"{pointer}/where")
        having = self.nested(query.having, f"{pointer}/having")
        return query.model_copy(update={"where": where, "aggregate": aggregates, "having": having})

    def nested(self, conditions: tuple[Condition, ...], pointer: str) -> tuple[Condition, ...]:
        """Conditions on groups: only the queries that they compare with are about rows."""

        def one(condition: Condition, at: str) -> Condition:
            if isinstance(condition, Comparison) and condition.query is not None:
                return self.comparison(condition, _NO_ROWS, at)
            return mapped(condition, lambda each, below: one(each, at + below))

        return tuple(one(each, f"{pointer}/{place}") for place, each in enumerate(conditions))

    def aggregate(self, aggregate: Aggregate, source: Source, pointer: str) -> Aggregate:
        of = tuple(
            self.aggregate(each, source, f"{pointer}/of/{place}") if isinstance(each, Aggregate) else each
            for place, each in enumerate(aggregate.of)
        )
        return aggregate.model_copy(update={"where": self.all(aggregate.where, source, f"{pointer}/where"), "of": of})

    def all(self, conditions: tuple[Condition, ...], source: Source, pointer: str) -> tuple[Condition, ...]:
        return tuple(self.one(each, source, f"{pointer}/{place}") for place, each in enumerate(conditions))

    def one(self, condition: Condition, source: Source, pointer: str) -> Condition:
        if isinstance(condition, Comparison):
            return self.comparison(condition, source, pointer)
        if isinstance(condition, Exists):
            try:
                source = resolve_rows(condition.exists, source, self.schema, f"{pointer}/exists").steps[-1].to
            except InvalidInput:
                return condition
        return mapped(condition, lambda each, at: self.one(each, source, pointer + at))

    def comparison(self, condition: Comparison, source: Source, pointer: str) -> Comparison:
        if condition.query is not None:
            nested = with_comparisons(condition.query, self.schema, self.change, f"{pointer}/value")
            return condition.model_copy(update={"value": nested})
        return self.change(condition, source, pointer)


def defined(aggregate: Aggregate, source: Source, pointer: str) -> tuple[Measure, Aggregate]:
    """The measure that is named, and its aggregate, with the conditions under which it is asked for. Raises InvalidInput."""
    name = aggregate.field or ""
    measure = measure_by_name(name, source.measures)
    if measure is None:
        functions = [each for each in get_args(Function) if each != "measure"]
        raise unknown(pointer, source.name, "measure or function", name, [*source.measures, *functions])
    return measure, _under(measure.aggregate, aggregate)


def measure_by_name(name: str, measures: Mapping[str, Measure]) -> Measure | None:
    """The measure of this name or synonym, in any case."""
    if name in measures:
        return measures[name]
    text = name.strip().casefold()
    return next(
        (
            each
            for each in measures.values()
            if text in (other.casefold() for other in (each.name, each.label, *each.synonyms))
        ),
        None,
    )


def measures_named(aggregates: Iterable[Aggregate], measures: Mapping[str, Measure]) -> dict[str, Measure]:
    """The measures that aggregates are computed of, and those that these are, by name."""
    by_name: dict[str, Measure] = {}
    open_ = [*aggregates]
    while open_:
        for leaf in open_.pop().leaves:
            measure = measure_by_name(leaf.field or "", measures) if leaf.fn == "measure" else None
            if measure is not None and measure.name not in by_name:
                by_name[measure.name] = measure
                open_.append(measure.aggregate)
    return by_name


def _under(definition: Aggregate, aggregate: Aggregate) -> Aggregate:
    if not aggregate.where:
        return definition
    if definition.of:
        of = tuple(_under(each, aggregate) if isinstance(each, Aggregate) else each for each in definition.of)
        return definition.model_copy(update={"of": of})
    return definition.model_copy(update={"where": (*definition.where, *aggregate.where)})


_MEASURES = NUMERICAL | {"min", "max"}


def with_currencies(query: Query, schema: Schema) -> Query:
    """The query, grouped by the currency of what it computes, unless it names one. Raises InvalidInput where only one number can
    stand.
    """
    for place, condition in enumerate(query.where):
        nested = (each.query for each in comparisons_of([condition]) if each.query is not None)
        if by := next((field for query_ in nested for field in _unnamed(query_, schema)), None):
            message = f"its amounts are in several currencies: compare with those of one, by {by}"
            raise invalid(f"/where/{place}", message)
    currencies = _unnamed(query, schema)
    if not currencies:
        return query
    if query.asks_for_rows:
        [path, *_] = currencies
        raise invalid("/select", f"{path} adds amounts in several currencies: ask its rows, grouped by their currency")
    return query.model_copy(update={"group": (*query.group, *(Group(field=each) for each in currencies))})


def compared_unlike(query: Query, schema: Schema) -> dict[str, str]:
    """The amounts over several currencies that conditions compare, or rows are ordered by, as bare numbers, since no
    rate is known. By the path of each, that of its currency.
    """
    source = schema.sources[query.source]
    conditions = [*query.where]
    compared = [each.field for each in comparisons_of(conditions) if each.scalars]
    ordered = [each.by for each in query.order] if query.asks_for_rows else []
    paths = (_resolved(name, source, schema) for name in (*compared, *ordered))
    currencies = ((path.text, path.currency_of) for path in paths if path is not None)
    return {
        path: currency for path, currency in currencies if currency is not None and not _is_one(conditions, currency)
    }


def _unnamed(query: Query, schema: Schema) -> list[str]:
    """The fields with currencies of what a query computes, which it neither groups by nor names one of."""
    source = schema.sources.get(query.source)
    if source is None:
        return []
    grouped = {group.field for group in query.group}
    currencies: dict[str, None] = {}
    for aggregate in (leaf for each in aggregates_named(query) for leaf in _over_rows(each, source)):
        path = _resolved(aggregate.field or "", source, schema)
        currency = None if path is None else path.currency_of
        if path is None or currency is None or aggregate.fn not in _MEASURES:
            continue
        if path.leads_to_many:
            raise invalid("/aggregate", f"{path.text} is in several currencies: ask its rows, grouped by {currency}")
        if currency not in grouped and not _is_one([*query.where, *aggregate.where], currency):
            currencies[currency] = None
    return [*currencies]


def aggregates_named(query: Query) -> Iterator[Aggregate]:
    """The aggregates of a query, and those that its order or `having` names."""
    yield from query.aggregate
    names = [*(each.by for each in query.order), *(each.field for each in comparisons_of(query.having))]
    for name in names if not query.asks_for_rows else ():
        try:
            yield Aggregate.model_validate(name)
        except ValidationError:
            continue


def _over_rows(aggregate: Aggregate, source: Source) -> Iterator[Aggregate]:
    """The aggregates over rows that one is computed of."""
    for leaf in aggregate.leaves:
        if leaf.fn != "measure":
            yield leaf
        elif (measure := measure_by_name(leaf.field or "", source.measures)) is not None:
            yield from _over_rows(measure.aggregate, source)


def _resolved(name: str, source: Source, schema: Schema) -> Path | None:
    try:
        return resolve(name, source, schema, "")
    except InvalidInput:
        return None


def _is_one(conditions: Iterable[Condition], field: str) -> bool:
    """Whether conditions that must all hold name one value of a field."""
    return any(
        _is_one(each.all_of, field) if isinstance(each, AllOf) else _names(each, field) is not None
        for each in conditions
    )


def _names(condition: Condition, field: str | None = None) -> str | None:
    """The field that a condition names the only value of."""
    if not isinstance(condition, Comparison) or condition.op != "=" or len(condition.scalars) != 1:
        return None
    return condition.field if field in (None, condition.field) else None


def check_left_out(query: Query, result: Result, schema: Schema) -> None:
    """Raises InvalidInput where no row meets a condition on a field by which the source leaves out rows: that there are none is
    not known.
    """
    source = schema.sources.get(query.source)
    for place, condition in enumerate(query.where if source and not result.total else ()):
        field = next(
            (each.field for each in comparisons_of([condition]) if _leaves_out(each.field, query, schema)), None
        )
        if field is not None and source is not None:
            raise invalid(
                f"/where/{place}",
                f"{source.name} {source.left_out} (`where` and `kept_with` in quarry.toml), so that {field} does not say how many"
                " there are",
            )


def _leaves_out(field: str, query: Query, schema: Schema) -> bool:
    """Whether rows are left out by a field of theirs, or of rows that they refer to."""
    source = schema.sources[query.source]
    path = _resolved(field, source, schema)
    if path is None or not source.left_out or not isinstance(path.end, Field):
        return False
    reached = schema.sources.get(path.steps[-1].to.name) if path.steps else source
    return reached is not None and path.end.name in reached.chosen_by


class Namesakes(NamedTuple):
    """A query for numbers of what is called by one name, and the same by the rows of that name."""

    query: Query
    split: Query

    @classmethod
    def of(cls, query: Query, schema: Schema) -> Namesakes | None:
        """None where the query names no other row."""
        source = schema.sources.get(query.source)
        if source is None or query.group or not query.aggregate:
            return None
        fields = [field for each in query.where if (field := _names(each)) is not None]
        paths = [
            path for field in dict.fromkeys(fields) if (path := _resolved(field, source, schema)) and path.names_rows
        ]
        groups = tuple(Group(field=path.text) for path in paths)
        return cls(query, query.model_copy(update={"group": groups, "limit": None})) if groups else None

    def whole(self, result: Result) -> Result | None:
        """The result of the query, given that of the split one; None where that does not say it."""
        keys = len(self.split.group)
        if len(result.rows) != 1:
            return None
        rows: Sequence[Sequence[object]] = result.rows
        return replace(result, columns=result.columns[keys:], rows=[[*rows[0][keys:]]])  # type: ignore[list-item]
