"""The Query: what is asked of one source, as an immutable value that JSON carries unchanged; and the Result, what it gives.

The types here say what can be asked. Whether a source has the fields that a query names is checked when it is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    Tag,
    model_validator,
)
from typing_extensions import TypeAliasType

from quarry.platform.contract import Request
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.text import Storable

LIMIT_MAX = 1_000
"""Rows or groups of one result at most."""
PARTS_MAX = 200
"""Conditions, fields and nested queries of one query at most: a query costs a small multiple of an ordinary one."""
DEPTH_MAX = 8
"""How deep conditions and queries may be nested."""

Text = Annotated[str, Field(max_length=2_000), Storable]
Name = Annotated[str, Field(min_length=1, max_length=200), Storable]
FieldPath = Annotated[str, Field(min_length=1, max_length=400), Storable]
"""A field (`status`), one reached by references (`agent.team.name`), or an aggregate over related rows (`count(orders)`,
`sum(orders.amount)`), or the month of a date, 1 to 12 (`month(opened_on)`)."""

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "between", "contains", "is_null", "not_null"]
Function = Literal["count", "count_distinct", "sum", "avg", "min", "max", "share"]
Period = Literal["day", "week", "month", "quarter", "year"]
Direction = Literal["asc", "desc"]
Scalar = StrictBool | StrictInt | StrictFloat | Text


def _as_list(value: Any) -> Any:
    """A single value where a list is expected."""
    return value if isinstance(value, list | tuple) or value is None else [value]


OneOrMany = BeforeValidator(_as_list)


class _Part(Request):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True)


class OtherField(_Part):
    """Another field."""

    field: FieldPath


def _value_form(value: Any) -> str:
    """Which kind of value a JSON value, or a model, is: by the key that only it has."""
    keys = value.keys() if isinstance(value, dict) else type(value).model_fields if isinstance(value, _Part) else ()
    if "field" in keys:
        return "OtherField"
    return "Query" if "source" in keys or isinstance(value, dict) else "Scalar"


Value = Annotated[
    Annotated[Scalar, Tag("Scalar")] | Annotated["Query", Tag("Query")] | Annotated[OtherField, Tag("OtherField")],
    Discriminator(_value_form),
]
"""What a field is compared with. The tags, which stand in the places of validation errors, are no key of any object."""


class Comparison(_Part):
    """A field and a value, several `values` (any of them; for `!=` none), another field of the row (`{"field":
    "closed_on"}`) or the result of a query. `between` two values, inclusive; `contains` a piece of text or an element
    of an array. Dates may count from today: `today`, `today-30d`. Text ignores case and outer spaces;
    null meets `!=`.
    """

    field: FieldPath
    op: Operator = "="
    value: Value | None = None
    values: Annotated[tuple[Scalar, ...], OneOrMany, Field(max_length=1_000)] = ()

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, given: Any) -> Any:
        """A list as `value` says the same as `values`."""
        if isinstance(given, dict) and isinstance(given.get("value"), list) and "values" not in given:
            return {**{key: value for key, value in given.items() if key != "value"}, "values": given["value"]}
        return given

    @model_validator(mode="after")
    def _has_its_values(self) -> Self:
        given = len(self.values) + (self.value is not None)
        if self.value is not None and self.values:
            raise ValueError("give `value` or `values`, not both")
        if self.op in ("is_null", "not_null"):
            if given:
                raise ValueError(f"{self.op} takes no value")
        elif self.op == "between":
            if len(self.values) != 2:
                raise ValueError("between takes two `values`: the least and the most, both included")
        elif not given:
            raise ValueError(f"{self.op} needs a `value`")
        elif self.op in ("<", "<=", ">", ">=") and len(self.values) > 1:
            raise ValueError(f"{self.op} takes one value")
        return self

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """The values that it names; none where it compares with a query, another field or null."""
        if self.values:
            return self.values
        return () if self.value is None or isinstance(self.value, _Part) else (self.value,)

    @property
    def query(self) -> Query | None:
        """The query whose result it compares with."""
        return self.value if isinstance(self.value, Query) else None


class AnyOf(_Part):
    """Any holds."""

    any_of: Annotated[tuple[Condition, ...], OneOrMany, Field(min_length=1)]

    @classmethod
    def of(cls, conditions: Sequence[Condition]) -> Condition:
        """The same as a condition; of one, that by itself."""
        return conditions[0] if len(conditions) == 1 else cls(any_of=tuple(conditions))


class AllOf(_Part):
    """All hold."""

    all_of: Annotated[tuple[Condition, ...], OneOrMany, Field(min_length=1)]

    @classmethod
    def of(cls, conditions: Sequence[Condition]) -> Condition:
        """The same as a condition; of one, that by itself."""
        return conditions[0] if len(conditions) == 1 else cls(all_of=tuple(conditions))


class Not(_Part):
    """It is false or unknown."""

    negated: Annotated[Condition, Field(alias="not")]


class Exists(_Part):
    """A related row meets `where`."""

    exists: FieldPath
    where: Annotated[tuple[Condition, ...], OneOrMany] = ()


WORDS_MAX = 4_000
"""Characters of the words that rows must hold."""


class Words(_Part):
    """Holds all these words."""

    words: Annotated[str, Field(min_length=1, max_length=WORDS_MAX), Storable]


def _form(value: Any) -> str:
    """Which condition a JSON object, or a model, is: by the key that only it has."""
    keys = value.keys() if isinstance(value, dict) else type(value).model_fields if isinstance(value, _Part) else ()
    forms = {"any_of": "AnyOf", "all_of": "AllOf", "not": "Not", "negated": "Not", "exists": "Exists", "words": "Words"}
    return next((form for key, form in forms.items() if key in keys), "Comparison")


# an alias with a name, so that a JSON schema describes it once
Condition = TypeAliasType(
    "Condition",
    Annotated[
        Annotated[Comparison, Tag("Comparison")]
        | Annotated[AnyOf, Tag("AnyOf")]
        | Annotated[AllOf, Tag("AllOf")]
        | Annotated[Not, Tag("Not")]
        | Annotated[Exists, Tag("Exists")]
        | Annotated[Words, Tag("Words")],
        Discriminator(_form),
    ],
)


class Aggregate(_Part):
    """One number over the rows, or over those that meet `where`. `share` is the part of all rows that meets `where`, 0 to 1."""

    fn: Function
    field: FieldPath | None = None
    where: Annotated[tuple[Condition, ...], OneOrMany] = ()

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        """`count` and `avg(amount)` say the same as `{"fn": "avg", "field": "amount"}`."""
        if not isinstance(value, str):
            return value
        function, _, rest = value.partition("(")
        return {"fn": function.strip(), **({"field": rest.removesuffix(")").strip()} if rest else {})}

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.fn not in ("count", "share") and self.field is None:
            raise ValueError(f"{self.fn} needs a `field`")
        if self.fn == "share" and (self.field is not None or not self.where):
            raise ValueError("share takes no `field`, and needs a `where` that selects the part")
        return self

    @property
    def name(self) -> str:
        """What `order` and `having` call it, and its column: `count`, `avg(amount)`."""
        return f"{self.fn}({self.field})" if self.field else self.fn


class Group(_Part):
    """A field to group by; a date by its `period`."""

    field: FieldPath
    period: Period | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"field": value} if isinstance(value, str) else value


class Order(_Part):
    """What rows are ordered by: a field, or of groups one that they are grouped by or an aggregate's name."""

    by: FieldPath
    direction: Direction = "asc"

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"by": value} if isinstance(value, str) else value


class Span(_Part):
    """The characters of a question, from `start` to before `end`, that say the part of the query at `pointer` (RFC 6901)."""

    pointer: Annotated[str, Field(max_length=400), Storable]
    start: Annotated[StrictInt, Field(ge=0)]
    end: Annotated[StrictInt, Field(ge=0)]


class Query(_Part):
    """What is asked of a source.

    Without `aggregate` and `group` it asks for rows: the fields of `select`, or their key and title. With `aggregate` alone it
    asks for one row of numbers. With `group` it asks for one row a group; without `aggregate`, for the groups themselves.
    `having` compares what is aggregated, by name. `text` leaves only rows that hold all of its words.
    """

    source: Annotated[Name, Field(description="What is asked about.")]
    where: Annotated[tuple[Condition, ...], OneOrMany, Field(description="All must hold.")] = ()
    select: Annotated[
        tuple[FieldPath, ...], OneOrMany, Field(description="Fields of each row; empty: key and title.")
    ] = ()
    aggregate: Annotated[
        tuple[Aggregate, ...], OneOrMany, Field(description="Numbers over the rows or each group.")
    ] = ()
    group: Annotated[tuple[Group, ...], OneOrMany, Field(description="Fields to group by; dates by a period.")] = ()
    having: Annotated[
        tuple[Condition, ...], OneOrMany, Field(description="Conditions on groups and aggregates: `count`.")
    ] = ()
    order: Annotated[tuple[Order, ...], OneOrMany, Field(description="By fields or aggregates.")] = ()
    limit: Annotated[Annotated[StrictInt, Field(ge=1, le=LIMIT_MAX)] | None, Field(description="At most so many.")] = (
        None
    )
    offset: Annotated[StrictInt, Field(ge=0, le=1_000_000, description="Rows or groups to skip.")] = 0
    ties: Annotated[StrictBool, Field(description="Also what ties with the last.")] = False
    text: Annotated[Text, Field(description="Only rows with all these words.")] = ""
    spans: Annotated[
        tuple[Span, ...], Field(max_length=PARTS_MAX, description="Which characters of a question say which part.")
    ] = ()

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.select and (self.aggregate or self.group):
            raise ValueError(
                "`select` names fields of rows: with `aggregate` or `group` there are none; group by them instead"
            )
        if self.ties and not (self.limit and self.order):
            raise ValueError("`ties` needs `order` and `limit`: which rows, or groups, tie is said by these")
        if self.having and not self.group and not self.aggregate:
            raise ValueError("`having` filters groups: use `where` for rows")
        return self

    @property
    def asks_for_rows(self) -> bool:
        """Whether its result is rows of the source, not numbers or groups."""
        return not self.aggregate and not self.group


def conditions_of(condition: Condition) -> tuple[Condition, ...]:
    """The conditions that one is made of; none of a comparison."""
    match condition:
        case AnyOf():
            return condition.any_of
        case AllOf():
            return condition.all_of
        case Not():
            return (condition.negated,)
        case Exists():
            return condition.where
        case Comparison() | Words():
            return ()


def mapped(condition: Condition, change: Callable[[Condition, str], Condition]) -> Condition:
    """The condition with those that it is made of changed, each by itself and its pointer from the whole."""
    if isinstance(condition, Not):
        return Not(negated=change(condition.negated, "/not"))
    [part] = {"any_of", "all_of", "where"} & type(condition).model_fields.keys() or [""]
    changed = tuple(change(each, f"/{part}/{place}") for place, each in enumerate(conditions_of(condition)))
    return condition.model_copy(update={part: changed}) if changed else condition


def comparisons_of(conditions: Iterable[Condition]) -> Iterator[Comparison]:
    """Every comparison in these conditions, whatever they are nested in; not those of queries that are compared with."""
    for condition in conditions:
        if isinstance(condition, Comparison):
            yield condition
        yield from comparisons_of(conditions_of(condition))


def check_size(query: Query) -> None:
    """Raises InvalidInput for a query of too many parts, or nested too deeply."""
    for parts, depth in enumerate(_depths(query, 1), 1):
        if depth > DEPTH_MAX:
            raise InvalidInput([FieldError("", f"conditions and queries may be nested at most {DEPTH_MAX} deep")])
        if parts > PARTS_MAX:
            raise InvalidInput(
                [FieldError("", f"a query has at most {PARTS_MAX} conditions, fields and nested queries")]
            )


def _depths(part: Query | Condition, depth: int) -> Iterator[int]:
    """How deep a query or condition, and each part of it, is nested."""
    yield depth
    deeper: Sequence[Query | Condition]
    if isinstance(part, Query):
        yield from (depth for _ in (*part.select, *part.group, *part.order, *part.aggregate))
        for beside in (*part.where, *part.having):
            yield from _depths(beside, depth)
        deeper = [each for aggregate in part.aggregate for each in aggregate.where]
    else:
        deeper = [part.query] if isinstance(part, Comparison) and part.query else conditions_of(part)
    for each in deeper:
        yield from _depths(each, depth + 1)


Cell = str | int | float | bool | None | list[str | int | float | bool | None]


@dataclass(frozen=True)
class Column:
    """A column: `unit` is what its numbers are measured in, or the currency of money."""

    name: str
    label: str
    kind: str
    unit: str | None = None


@dataclass(frozen=True)
class Result:
    """The rows of one page. `total` counts the rows of the source that meet `where`; `truncated` says that rows, or groups, are
    left out behind the last. Of groups, `groups` says how many there are, and `grouped` how many rows these have together: more
    than `total` where rows are in several. `unfinite` says, by the names of aggregates, how many values are NaN or infinite,
    which no number includes, and of how many.
    """

    columns: list[Column]
    rows: list[list[Cell]]
    total: int
    truncated: bool
    groups: int = 0
    grouped: int = 0
    unfinite: Mapping[str, tuple[int, int]] = field(default_factory=dict)
