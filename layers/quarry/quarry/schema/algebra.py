"""The Query: what is asked of one source, as an immutable value that JSON carries unchanged; and the Result, what it gives.

The types here say what can be asked. Whether a source has the fields that a query names is checked when it is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    Tag,
    TypeAdapter,
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
`sum(orders.amount)`), a part of a date (`month(opened_on)`, `weekday(…)`, `hour(…)`), or arithmetic of
these (`amount - discount`, `today - opened_on` in days, `age(born_on)` in years)."""

Operator = Literal[
    "=", "!=", "<", "<=", ">", ">=", "between", "contains", "starts_with", "ends_with", "is_null", "not_null"
]  # fmt: skip
PIECES: frozenset[str] = frozenset(("contains", "starts_with", "ends_with"))
"""The operators that look for a piece of text."""
Function = Literal[
    "count", "count_distinct", "sum", "avg", "min", "max", "median", "percentile", "stddev", "share",
    "ratio", "difference", "change", "product", "running", "previous", "percent_of_total", "rank", "measure",
]  # fmt: skip
PAIRED: frozenset[str] = frozenset(("ratio", "difference", "change", "product", "sum"))
"""Functions of two numbers: a / b, a - b, (a - b) / b, a * b, a + b."""
OF_GROUPS: frozenset[str] = frozenset(("running", "previous", "percent_of_total", "rank"))
"""Functions of one number that look at the other groups too."""
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


class WordValues(tuple[Scalar, ...]):
    """The values of the data that one word stands for, such as the countries of a region, with that word."""

    word: str = ""

    @classmethod
    def by(cls, word: str, values: Iterable[Scalar]) -> WordValues:
        """These values, meant by a word."""
        values_of = cls(values)
        values_of.word = word
        return values_of


class Spelt(tuple[Scalar, ...]):
    """Values in every spelling that the data has, so that they are compared as they stand there."""


class Comparison(_Part):
    """A field and a value, several `values` (any of them; for `!=` none), another field of the row (`{"field":
    "closed_on"}`) or the result of a query. `between` two values, inclusive; `contains` a piece of text or an
    element. Dates may count from today: `today-30d`. Text ignores case and outer spaces; null meets `!=`.
    """

    field: FieldPath
    op: Operator = "="
    value: Value | None = None
    values: Annotated[tuple[Scalar, ...], OneOrMany, Field(max_length=1_000)] = ()

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, data: Any) -> Any:
        """A list as `value` says the same as `values`."""
        if isinstance(data, dict) and isinstance(data.get("value"), list) and "values" not in data:
            return {**{key: value for key, value in data.items() if key != "value"}, "values": data["value"]}
        return data

    @model_validator(mode="after")
    def _has_its_values(self) -> Self:
        count = len(self.values) + (self.value is not None)
        if self.value is not None and self.values:
            raise ValueError("give `value` or `values`, not both")
        if self.op in ("is_null", "not_null"):
            if count:
                raise ValueError(f"{self.op} takes no value")
        elif self.op == "between":
            if len(self.values) != 2:
                raise ValueError("between takes two `values`: the least and the most, both included")
        elif not count:
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

CONDITIONS: TypeAdapter[tuple[Condition, ...]] = TypeAdapter(tuple[Condition, ...], config=ConfigDict(defer_build=True))
"""Reads conditions. Built once, on first use, for all who read some: it takes 10 ms."""


def _arguments(text: str) -> list[str]:
    """What commas outside of parentheses part."""
    arguments, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += letter
    return [each.strip() for each in arguments if each.strip()]


def _operand_of(text: Any) -> Any:
    """A number in text as a number."""
    try:
        return float(text) if isinstance(text, str) and "." in text else int(text)
    except (TypeError, ValueError):
        return text


class Aggregate(_Part):
    """One number over the rows, or over those that meet `where`. `share` is the part of all rows that meets `where`, 0 to 1.
    `ratio`, `difference`, `change` ((a - b) / b), `product` and `sum` compute it of two others, or numbers, in `of`:
    `{"name": "margin", "ratio": ["sum(profit)", "sum(amount)"]}`. `running` adds up the periods of the group, `previous` is the
    number `steps` periods before, `percent_of_total` the part of all groups, 0 to 1, and `rank` 1 for the highest.
    `measure` is one that the source declares; its name alone says the same.
    """

    fn: Function
    field: FieldPath | None = None
    where: Annotated[tuple[Condition, ...], OneOrMany] = ()
    of: Annotated[
        tuple[Aggregate | StrictInt | StrictFloat, ...],
        OneOrMany,
        Field(max_length=2, description="What it is computed of."),
    ] = ()
    p: Annotated[
        StrictFloat | StrictInt | None, Field(ge=0, le=100, description="percentile: which, 0 to 1 or above 1 to 100.")
    ] = None
    steps: Annotated[StrictInt, Field(ge=1, le=1_000, description="previous: how many periods before.")] = 1
    own_name: Annotated[Name | None, Field(alias="name")] = None

    @model_validator(mode="before")
    @classmethod
    def _from_short(cls, value: Any) -> Any:
        """`avg(amount)` and `{"avg": "amount"}` say the same as `{"fn": "avg", "field": "amount"}`."""
        if isinstance(value, str):
            function, _, rest = value.partition("(")
            return cls._of_text(function.strip(), rest.strip().removesuffix(")").strip())
        if not isinstance(value, dict):
            return value
        functions = [key for key in get_args(Function) if key in value]
        if "fn" not in value and len(functions) == 1:
            data = value[functions[0]]
            others = {key: each for key, each in value.items() if key != functions[0]}
            is_text = isinstance(data, str) and functions[0] not in OF_GROUPS
            part = {"field": data} if is_text else {} if isinstance(data, bool) else {"of": data}
            return {"fn": functions[0], **part, **others}
        data = value.get("fn")
        if isinstance(data, str) and data in OF_GROUPS and "of" not in value:
            field = value.get("field", "count")
            is_whole = not isinstance(field, str) or "(" in field or field == "count"
            of = Aggregate.model_validate(field if is_whole else f"sum({field})")
            if value.get("where"):
                of = Aggregate.model_validate(
                    {**of.model_dump(by_alias=True, exclude_defaults=True), "where": value["where"]}
                )
            return {**{key: each for key, each in value.items() if key not in ("field", "where")}, "of": [of]}
        return value

    @classmethod
    def _of_text(cls, function: str, inner: str) -> Any:
        arguments = _arguments(inner)
        if function in OF_GROUPS or (function in PAIRED and len(arguments) == 2):
            more = {"steps": _operand_of(arguments[1])} if function == "previous" and len(arguments) == 2 else {}
            of = arguments[:1] if more else arguments
            return {"fn": function, "of": [_operand_of(each) for each in of], **more}
        if function == "percentile" and len(arguments) == 2:
            return {"fn": function, "field": arguments[0], "p": _operand_of(arguments[1])}
        if not inner and function not in get_args(Function):
            return {"fn": "measure", "field": function}
        return {"fn": function, **({"field": inner} if inner else {})}

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        needed = 2 if self.is_paired else 1 if self.fn in OF_GROUPS else 0
        if self.fn in OF_GROUPS | PAIRED - {"sum"} and (len(self.of) != needed or self.field is not None):
            example = f'{{"{self.fn}": {["sum(a)", "sum(b)"] if needed == 2 else ["sum(a)"]}}}'.replace("'", '"')
            raise ValueError(f"{self.fn} is computed of {needed} other aggregate{'s' * (needed > 1)}: {example}")
        if self.of and not needed:
            raise ValueError(f"{self.fn} takes a `field`, not other aggregates")
        if self.of and (self.where or self.field is not None):
            raise ValueError(
                f"{self.fn} takes no `field` and no `where`: the aggregates that it is computed of have theirs"
            )
        if self.fn not in ("count", "share") and self.field is None and not self.of:
            raise ValueError(f"{self.fn} needs a `field`")
        if self.fn == "share" and (self.field is not None or not self.where):
            raise ValueError("share takes no `field`, and needs a `where` that selects the part")
        if (self.fn == "percentile") != (self.p is not None):
            raise ValueError("percentile needs `p`, from 0 to 1" if self.p is None else f"{self.fn} takes no `p`")
        return self

    @property
    def is_paired(self) -> bool:
        """Whether it is computed of two numbers."""
        return self.fn in PAIRED and (self.fn != "sum" or bool(self.of))

    @property
    def fraction(self) -> float:
        """Which percentile, 0 to 1."""
        p = 0.5 if self.p is None else self.p
        return p / 100 if p > 1 else p

    @property
    def operands(self) -> tuple[Aggregate, ...]:
        """The aggregates that it is computed of."""
        return tuple(each for each in self.of if isinstance(each, Aggregate))

    @property
    def leaves(self) -> tuple[Aggregate, ...]:
        """Those over rows that it is, in the end, computed of; itself where it is one."""
        return tuple(leaf for each in self.operands for leaf in each.leaves) if self.of else (self,)

    @property
    def name(self) -> str:
        """What `order` and `having` call it, and its column: `count`, `avg(amount)`."""
        if self.own_name:
            return self.own_name
        if self.fn == "measure":
            return self.field or ""
        if not self.of:
            inner = f"{self.field}, {self.p}" if self.p is not None else self.field
            return f"{self.fn}({inner})" if inner else self.fn
        inner = ", ".join(each.name if isinstance(each, Aggregate) else str(each) for each in self.of)
        return f"{self.fn}({inner}, {self.steps})" if self.steps > 1 else f"{self.fn}({inner})"


class Group(_Part):
    """A field to group by; a date by its `period`, a number by buckets of a `width` or between `borders`. With `limit`,
    only so many of its values within each of the groups before it, by `order`; on a group that others follow, so many of these.
    """

    field: FieldPath
    period: Period | None = None
    width: Annotated[StrictInt | StrictFloat | None, Field(gt=0)] = None
    borders: Annotated[tuple[StrictInt | StrictFloat, ...], Field(max_length=100)] = ()
    order: Annotated[tuple[Order, ...], OneOrMany] = ()
    limit: Annotated[StrictInt | None, Field(ge=1, le=LIMIT_MAX)] = None

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"field": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if sum((self.period is not None, self.width is not None, bool(self.borders))) > 1:
            raise ValueError("a group has a `period`, a `width` or `borders`, not several")
        if any(one >= two for one, two in pairwise(self.borders)):
            raise ValueError("`borders` ascend")
        if self.order and self.limit is None:
            raise ValueError("the `order` of a group says which its `limit` keeps: give both")
        return self

    @property
    def is_bucketed(self) -> bool:
        """Whether numbers are grouped by ranges."""
        return self.width is not None or bool(self.borders)


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
    select: Annotated[tuple[FieldPath, ...], OneOrMany, Field(description="Fields of each row; else key, title.")] = ()
    aggregate: Annotated[tuple[Aggregate, ...], OneOrMany, Field(description="Numbers of rows or groups.")] = ()
    group: Annotated[tuple[Group, ...], OneOrMany, Field(description="Fields to group by; dates by a period.")] = ()
    having: Annotated[tuple[Condition, ...], OneOrMany, Field(description="Conditions on groups.")] = ()
    order: Annotated[tuple[Order, ...], OneOrMany, Field(description="By fields or aggregates.")] = ()
    limit: Annotated[Annotated[StrictInt, Field(ge=1, le=LIMIT_MAX)] | None, Field(description="At most so many.")] = (
        None
    )
    offset: Annotated[StrictInt, Field(ge=0, le=1_000_000, description="So many are skipped.")] = 0
    ties: Annotated[StrictBool, Field(description="Also what ties with the last.")] = False
    text: Annotated[Text, Field(description="Rows with all these words.")] = ""
    spans: Annotated[
        tuple[Span, ...], Field(max_length=PARTS_MAX, description="Which characters of a question say which part.")
    ] = ()
    then: Annotated[Query | None, Field(description="A query about the groups.")] = None

    @model_validator(mode="before")
    @classmethod
    def _with_source_of_then(cls, value: Any) -> Any:
        """What is asked of the groups needs no `source` of its own."""
        if isinstance(value, dict) and isinstance(value.get("then"), dict) and "source" in value:
            return {**value, "then": {"source": value["source"], **value["then"]}}
        return value

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.then is not None and not self.group:
            raise ValueError("`then` asks about groups: give a `group`")
        if self.select and (self.aggregate or self.group):
            raise ValueError(
                "`select` names fields of rows: with `aggregate` or `group` there are none; group by them instead"
            )
        if self.ties and not (self.limit and self.order):
            raise ValueError("`ties` needs `order` and `limit`, which decide what ties")
        if self.having and not self.group and not self.aggregate:
            raise ValueError("`having` filters groups: use `where` for rows")
        return self

    @property
    def asks_for_rows(self) -> bool:
        """Whether its result is rows of the source, not numbers or groups."""
        return not self.aggregate and not self.group

    @property
    def last(self) -> Query:
        """The query whose rows the result has: itself, or what it asks about its groups."""
        return self if self.then is None else self.then.last


def conditions_of(condition: Condition) -> tuple[Condition, ...]:
    """The conditions that a condition consists of; none for a comparison."""
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
    """The condition with each of its parts replaced by what `change` makes of it and its pointer."""
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
        leaves = [leaf for aggregate in part.aggregate for leaf in aggregate.leaves]
        yield from (depth for _ in leaves)
        deeper = [each for leaf in leaves for each in leaf.where]
        deeper += [part.then] if part.then else []
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
    is_share: bool = False
    """Whether its numbers are parts of 1, which are said in percent."""


@dataclass(frozen=True)
class Result:
    """The rows of one page. `total` counts the rows of the source that meet `where`; `truncated` says that rows, or groups, are
    left out behind the last; `tied`, that the first of these ties with it by the query's order. Of groups, `groups` says how many
    there are, and `grouped` how many rows these have together: more than `total` where rows are in several. `unfinite` says, by
    the names of aggregates, how many values are NaN or infinite, which no number includes, and of how many.
    """

    columns: list[Column]
    rows: list[list[Cell]]
    total: int
    truncated: bool
    tied: bool = False
    groups: int = 0
    grouped: int = 0
    unfinite: Mapping[str, tuple[int, int]] = field(default_factory=dict)
