"""Values, fields and conditions in words, in the language of a source. Pure; the words themselves are `data/sentences.toml`."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib.resources import files

from quarry.language.messages import language, pgettext, translation
from quarry.language.word_forms import plural, singular
from quarry.language.writing import (
    ENGLISH,
    Grain,
    Writing,
    days_label,
    listed_label,
    period_name,
    steps_label,
    value_label,
    weekday_name,
    writing_of,
)
from quarry.platform.errors import InvalidInput
from quarry.query.paths import MONTH, NUMERIC, NUMERICAL, Path, measure_by_name, resolve, resolve_rows
from quarry.query.values import interval_of, truth_of
from quarry.schema.algebra import (
    OF_GROUPS,
    PAIRED,
    PIECES,
    Aggregate,
    AllOf,
    AnyOf,
    Cell,
    Column,
    Comparison,
    Condition,
    Direction,
    Exists,
    Group,
    Not,
    OtherField,
    Query,
    Scalar,
    Words,
    WordValues,
)
from quarry.schema.source import Field, Kind, Schema, Source
from quarry.spans.numbers import converted, dimension_of, plain_unit

NAMED_MAX = 4
"""Values of one condition that are named. The others are counted."""
DAY = datetime.timedelta(days=1)


def _wording_of(field: Field) -> str | None:
    """The wording of a field, which is English; None in another language that has no message for it."""
    return None if field.wording is None else translation("wording", field.wording)


def number_of(cell: Cell) -> Decimal | None:
    """The number that a cell is, exactly, also where it is written as text; None where it is none."""
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return None
    try:
        number = Decimal(str(cell))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


@cache
def templates() -> Mapping[str, str]:
    """The phrases, by name, in English."""
    return tomllib.loads(files("quarry.query").joinpath("data/sentences.toml").read_text(encoding="utf-8"))


WEEKDAY = "weekday("
"""How the name of a column of weekdays begins, which are numbers from 1, Monday."""
WEEKDAYS = 7


@dataclass(frozen=True)
class Phrases:
    """Puts parts of queries about `source` into words."""

    schema: Schema
    source: Source
    today: datetime.date
    period: str | None = None
    """The period by whose steps groups follow each other."""

    @property
    def writing(self) -> Writing:
        """How numbers and dates are written: as the language that is spoken has it, or else that of the rows."""
        return writing_of(language() or self.source.language)

    def say(self, name: str, /, **values: str) -> str:
        """A phrase with its places filled, in the language that is spoken."""
        return pgettext(name, templates()[name], **values)

    def noun(self, number: int | None = None) -> str:
        """The noun for rows, singular for a `number` of 1. The plural of one that is not English is the label of the rows."""
        one = self.source.nouns[0] if self.source.nouns else self.source.name
        if number == 1:
            return one
        label = self.source.label if language() == "german" else self.source.label.lower()
        is_english = {language() or ENGLISH, self.source.language} == {ENGLISH}
        return plural(one) if is_english and singular(label) != one else label

    # ---- values ----

    def cell(self, column: Column, value: Cell, period: Grain | None = None) -> str:
        """A value of a result."""
        if isinstance(value, list):
            return ", ".join(self.cell(column, each) for each in value) or self.say("none")
        if value is None:
            return self.say("none")
        if period is not None:
            return value_label(
                datetime.date.fromisoformat(interval_of(value, "date", self.today, "").start), period, self.writing
            )
        if column.name.startswith(WEEKDAY) and isinstance(value, int) and 1 <= value <= WEEKDAYS:
            return weekday_name(value)
        if column.is_share and isinstance(value, int | float):
            return self.say("share", value=self.writing.measured(Decimal(str(value)) * 100))
        kind: Kind = column.kind  # type: ignore[assignment]
        return self.value(value, kind, column.unit)

    def value(self, value: Scalar, kind: Kind, unit: str | None = None) -> str:
        """A value of a kind; `unit` is what a number is measured in, or the currency of money."""
        if isinstance(value, bool):
            return self.say("yes" if value else "no")
        number = number_of(value) if kind in NUMERIC else None
        if number is None:
            return self._date(str(value)) if kind in ("date", "datetime") else str(value)
        if kind == "year":
            return f"{number:.12g}"
        if kind == "money":
            return self.writing.amount(number, unit)
        text = self.writing.measured(number)
        return f"{text} {unit}" if unit else text

    def _date(self, text: str) -> str:
        try:
            return self.writing.date(datetime.date.fromisoformat(text[:10]))
        except ValueError:
            return text

    # ---- fields and functions ----

    def field(self, name: str, source: Source | None = None) -> str:
        """The label of a field path; the path itself where the schema does not know it."""
        path = self._path(name, source)
        return self._label(path) if path else name

    def _path(self, name: str, source: Source | None = None) -> Path | None:
        try:
            return resolve(name, source or self.source, self.schema, "")
        except InvalidInput:
            return None

    def _label(self, path: Path) -> str:
        if path.over is None:
            return path.label
        return self._once(path, path.over, self._function(path.over, path.label, path=path))

    def _function(self, function: str, label: str, part: str = "", path: Path | None = None) -> str:
        """The label of a function over a field: "total amount", but "sum of order total"."""
        end = path.end if path is not None and isinstance(path.end, Field) else None
        several = end.plural if end is not None and end.label == label else plural(label)
        text, other = self.say(function, field=label, fields=several, part=part), f"{function}_of"
        is_doubled = text.partition(" ")[0] in label.casefold().split() and other in templates()
        return self.say(other, field=label) if is_doubled else text

    def _once(self, path: Path, function: str, label: str) -> str:
        """The label of a function over a field. It says so where the row of each value counts once."""
        row = self._row_once(path, function)
        return label if row is None else self.say("once", label=label, row=row)

    def _row_once(self, path: Path, function: str) -> str | None:
        if function not in NUMERICAL or not path.repeats:
            return None
        return singular(path.steps[-1].to.name.replace("_", " "))

    def rows_once(self, aggregates: Sequence[Aggregate]) -> list[str]:
        """What other rows' numbers are computed of, each counted once, in the singular."""
        paths = [(each.fn, self._path(each.field)) for each in aggregates if each.field]
        return list(dict.fromkeys(row for fn, path in paths if path and (row := self._row_once(path, fn))))

    def order(self, name: str, direction: Direction) -> str:
        """The phrase for an order by a field: dates have a latest and an earliest."""
        path, is_falling = self._path(name), direction == "desc"
        if path is not None and path.kind in ("date", "datetime"):
            return "latest" if is_falling else "earliest"
        return "descending" if is_falling else "ascending"

    def group(self, group: Group) -> str:
        """The label of a group: "month (opened on)"."""
        label = self.field(group.field)
        return self.say("period", field=period_name(group.period), period=label) if group.period else label

    def aggregate(self, aggregate: Aggregate | float) -> str:
        """The label of an aggregate: "average days open"."""
        if not isinstance(aggregate, Aggregate):
            return self.writing.measured(Decimal(str(aggregate)))
        if aggregate.own_name:
            return aggregate.own_name.replace("_", " ")
        if aggregate.fn == "measure":
            measure = measure_by_name(aggregate.field or "", self.source.measures)
            label, which = measure.label if measure else aggregate.name, self.conditions(aggregate.where)
            return self.say("where", label=label, which=which) if which else label
        return self.computed(aggregate)

    def computed(self, aggregate: Aggregate) -> str:
        """The same of one by what it is, whatever it is called."""
        if aggregate.of:
            return self._of_others(aggregate)
        if aggregate.field is None:
            label = self.say("share_rows" if aggregate.fn == "share" else "count_rows", rows=self.noun())
        else:
            path, label = self._path(aggregate.field), self.field(aggregate.field)
            part = self.writing.measured(Decimal(str(aggregate.fraction)) * 100)
            label = self._function(aggregate.fn, label, part, path)
            if path is not None and path.over is None:
                label = self._once(path, aggregate.fn, label)
        which = self.conditions(aggregate.where)
        return self.say("where", label=label, which=which) if which else label

    def _of_others(self, aggregate: Aggregate) -> str:
        """ "total profit per total amount", "total amount 12 periods before"."""
        parts = [self.aggregate(each) for each in aggregate.of]
        phrase: str = "added" if aggregate.fn == "sum" else aggregate.fn
        if aggregate.fn == "previous" and aggregate.steps > 1:
            phrase = "previous_steps"
        period = period_name(self.period) if self.period else self.say("any_period")
        steps = steps_label(self.period, aggregate.steps)
        return self.say(phrase, first=parts[0], second=parts[-1], period=period, steps=steps)

    def definitions(self, aggregates: Sequence[Aggregate]) -> list[str]:
        """The definitions of numbers that have names: "margin is total profit per total amount"."""
        definitions: list[str] = []
        for aggregate in aggregates:
            each = aggregate.model_copy(update={"where": ()}) if aggregate.fn == "measure" else aggregate
            measure = measure_by_name(each.field or "", self.source.measures) if each.fn == "measure" else None
            definition = measure.aggregate if measure else each if each.own_name and each.fn != "measure" else None
            if definition is not None:
                definitions.append(self.say("defined", label=self.aggregate(each), meaning=self.computed(definition)))
                definitions += self.definitions(definition.operands)
        return list(dict.fromkeys(definitions))

    # ---- conditions ----

    def conditions(self, conditions: Sequence[Condition], source: Source | None = None) -> str:
        """Conditions that all hold."""
        return "; ".join(self.condition(each, source) for each in conditions)

    def which(self, conditions: Sequence[Condition], source: Source | None = None) -> str:
        """The same in parentheses after a noun."""
        return self.say("which", conditions=self.conditions(conditions, source)) if conditions else ""

    def condition(self, condition: Condition, source: Source | None = None) -> str:
        """A condition: "team: Field", "without orders"."""
        match condition:
            case AnyOf():
                return self.say("or").join(self.condition(each, source) for each in condition.any_of)
            case AllOf():
                return self.say("and").join(self.condition(each, source) for each in condition.all_of)
            case Not() if isinstance(condition.negated, Exists):
                return self._related("unrelated", condition.negated, source)
            case Not(negated=Words() as denied):
                return self.say("no_words", text=denied.words)
            case Not():
                text = self.condition(condition.negated, source)
                return self.say("not_said" if self._has_wording(condition.negated, source) else "not", condition=text)
            case Exists():
                return self._related("related", condition, source)
            case Words():
                return self.say("words", text=condition.words)
            case Comparison():
                return self._comparison(condition, source)

    def _related(self, phrase: str, condition: Exists, source: Source | None) -> str:
        try:
            path = resolve_rows(condition.exists, source or self.source, self.schema, "")
        except InvalidInput:
            return self.say(phrase, rows=condition.exists, which=self.which(condition.where))
        return self.say(phrase, rows=path.steps[-1].link.label, which=self.which(condition.where, path.steps[-1].to))

    def _comparison(self, condition: Comparison, source: Source | None) -> str:
        path = self._path(condition.field, source)
        kind: Kind = path.kind if path else "text"
        label = self._label(path) if path else self._aggregated(condition.field)
        if path is not None and self._has_wording(condition, source):
            return self._worded(condition, path)
        if condition.op in ("is_null", "not_null"):
            return self.say("condition", field=label, value=self.say("none" if condition.op == "is_null" else "any"))
        if kind == "boolean" and len(condition.scalars) == 1:
            is_true = truth_of(condition.scalars[0], "") == (condition.op == "=")
            return self.say("true" if is_true else "false", field=label)
        if kind in ("date", "datetime") and condition.scalars and (text := self.days(condition, kind)) is not None:
            return self.say("condition", field=label, value=text)
        return self.say(
            "condition", field=label, value=self._compared(condition, kind, path.unit if path else None, source)
        )

    def _has_wording(self, condition: Condition, source: Source | None) -> bool:
        """Whether it compares a field that has a wording of its own."""
        path = self._path(condition.field, source) if isinstance(condition, Comparison) else None
        return (
            path is not None and path.over is None and isinstance(path.end, Field) and _wording_of(path.end) is not None
        )

    def _worded(self, condition: Comparison, path: Path) -> str:
        """A comparison in its field's wording: "in Germany", "founded since 2020", "without a city"."""
        field, op = path.end, condition.op
        assert isinstance(field, Field)
        wording = _wording_of(field) or "{}"
        if op in ("is_null", "not_null"):
            return self._presence(field, wording, has_none=op == "is_null")
        if field.kind == "boolean" and condition.scalars:
            is_so = truth_of(condition.scalars[0], "") == (op == "=")
            return wording if is_so else self.say("not_said", condition=wording)
        affirmed = condition.model_copy(update={"op": "=" if op in PIECES | {"!="} else op})
        value = self.days(affirmed, field.kind) if field.kind in ("date", "datetime", "year") else None
        value = value or self._compared(affirmed, field.kind, path.unit, None).replace("_", " ")
        if condition.field.startswith(f"{MONTH}("):
            value = self.say("within", value=value)
        text = wording.format(value)
        return self.say("not_said", condition=text) if op == "!=" else text

    def _presence(self, field: Field, wording: str, *, has_none: bool) -> str:
        event = wording.removesuffix(" {}")
        if field.kind in ("date", "year") and event != wording and not event.startswith("with the "):
            return self.say("not_said", condition=event) if has_none else event
        number = "several" if field.has_several else "an" if field.label[:1].lower() in "aeiou" else "a"
        name = field.plural if field.has_several else field.label
        return self.say(f"{'without' if has_none else 'with'}_{number}", name=name)

    def _aggregated(self, name: str) -> str:
        """The label of what `having` compares: an aggregate, by its name."""
        if (measure := measure_by_name(name, self.source.measures)) is not None:
            return measure.label
        function, _, field = name.removesuffix(")").partition("(")
        names = {"fields": plural(self.field(field)), "field": self.field(field), "rows": self.noun()}
        phrase = function if field else f"{function}_rows"
        if function in PAIRED | OF_GROUPS and "(" in field:
            return name
        return (
            self._function(function, self.field(field))
            if field and function != "count"
            else self.say(phrase, **names, part="", first="", second="", steps="")
            if phrase in templates()
            else name
        )

    def _compared(self, condition: Comparison, kind: Kind, unit: str | None, source: Source | None) -> str:
        if condition.op == "between":
            ends = self._values(condition.values, kind, unit)
            return self.say(
                "both", first=self.say("at_least", value=ends[0]), second=self.say("at_most", value=ends[1])
            )
        value = self._operand(condition, kind, unit, source)
        phrases = {
            "!=": "not_value",
            "<": "fewer" if kind == "number" and unit is None else "less",
            "<=": "at_most",
            ">": "more",
            ">=": "at_least",
            "contains": "containing",
            "starts_with": "starting",
            "ends_with": "ending",
        }
        if kind in ("date", "datetime") and isinstance(condition.value, OtherField):
            phrases |= {"<": "earlier", "<=": "earlier_or_on", ">": "later", ">=": "later_or_on"}
        return self.say(phrases[condition.op], value=value) if condition.op in phrases else value

    def _operand(self, condition: Comparison, kind: Kind, unit: str | None, source: Source | None) -> str:
        if isinstance(condition.value, Query):
            return self.results(condition.value)
        if isinstance(condition.value, OtherField):
            return self.field(condition.value.field, source)
        if isinstance(condition.values, WordValues) and len(condition.values) > NAMED_MAX:
            number = self.writing.number(len(condition.values))
            return f"{condition.values.word} ({number} {plural(self.field(condition.field, source))})"
        values = self._values(condition.scalars, kind, unit)
        if condition.field.startswith(f"{MONTH}("):
            values = [self.writing.alone[each - 1] for each in condition.scalars if isinstance(each, int)]
        if condition.op in PIECES:
            values = [self.say("quoted", text=each) for each in values]
        if len(values) > NAMED_MAX:
            others = self.say("other_values", number=self.writing.number(len(values) - NAMED_MAX + 1))
            values = [*values[: NAMED_MAX - 1], others]
        return listed_label(values)

    def _values(self, values: Sequence[Scalar], kind: Kind, unit: str | None) -> list[str]:
        """The values of a comparison. Lengths of time are in a unit that writes all of them exactly."""
        numbers = [each for each in values if isinstance(each, int | float) and not isinstance(each, bool)]
        if unit is None or kind != "number" or len(numbers) < len(values) or dimension_of(unit) is None:
            return [self.value(each, kind, unit) for each in values]
        plain = plain_unit(numbers, unit)
        return [self.value(converted(each, unit, plain) or 0, kind, plain) for each in numbers]

    def results(self, query: Query) -> str:
        """The result of a nested query: "the average amount of tickets (status: open)"."""
        source = self.schema.sources.get(query.source)
        if source is None:
            return query.source
        own = Phrases(self.schema, source, self.today)
        if query.then is not None:
            keys = self.say("and").join(own.group(each) for each in query.group)
            groups = own.of_groups(query)
            what = ", ".join(groups.aggregate(each) for each in query.then.aggregate)
            return self.say("results_of_groups", what=what, rows=own.noun(), which=own.which(query.where), keys=keys)
        if query.aggregate:
            what = ", ".join(own.aggregate(each) for each in query.aggregate)
        else:
            what = ", ".join(own.field(each) for each in (*query.select, *(group.field for group in query.group)))
        return self.say("results", what=what, rows=own.noun(), which=own.which(query.where))

    def of_groups(self, query: Query) -> Phrases:
        """The phrases for the groups of a query as a source, by what their values are called."""
        labels = [(each.field, self.group(each)) for each in query.group]
        labels += [(each.name, self.aggregate(each)) for each in query.aggregate]
        fields = {name: Field(name, "number", str, label, label) for name, label in labels}
        source = Source(query.source, query.source, ("group",), "", str, str, fields)
        return Phrases(replace(self.schema, sources={**self.schema.sources, source.name: source}), source, self.today)

    def days(self, condition: Comparison, kind: Kind) -> str | None:
        """The days that a date is compared with: "in October 2026", "since 2020"; None where they are not one range."""
        if condition.op in PIECES | {"!="} or (condition.op == "=" and len(condition.scalars) != 1):
            return None
        try:
            days_ = [f"{each:04}" if kind == "year" else each for each in condition.scalars]
            begins = self.schema.calendar.fiscal_year_start
            ends = [interval_of(each, kind, self.today, "", begins) for each in days_]
        except InvalidInput:
            return None
        starts = [datetime.date.fromisoformat(each.start[:10]) for each in ends]
        lasts = [
            datetime.date.fromisoformat(each.end[:10]) - DAY if each.end else start
            for each, start in zip(ends, starts, strict=True)
        ]
        first, last = starts[0], lasts[-1]
        before = max(first, datetime.date.min + DAY) - DAY
        after = min(last, datetime.date.max - DAY) + DAY
        ranges = {"<": (None, before), "<=": (None, last), ">": (after, None), ">=": (first, None)}
        return days_label(*ranges.get(condition.op, (first, last)), self.writing)
