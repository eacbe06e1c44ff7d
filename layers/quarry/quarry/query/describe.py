"""A query and its result in one plain sentence, and its conditions as chips: once for all domains. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quarry.query.algebra import Aggregate, Cell, Comparison, Condition, Query, Result
from quarry.query.apart import compared_unlike
from quarry.query.contract import FilterChip
from quarry.query.measures import measure_called
from quarry.query.phrases import Phrases
from quarry.query.schema import Schema

GROUPS_NAMED_MAX = 3
"""Groups that a sentence names. Of more groups it gives the number."""


@dataclass(frozen=True)
class Description:
    """A query and its result in words, with the labels of its conditions, of the result's columns and of its groups."""

    sentence: str
    filters: list[FilterChip]
    labels: list[str]
    groups: list[str]


def describe(query: Query, result: Result, schema: Schema, today: datetime.date) -> Description:
    """The sentence and the chips of a query about a source of the schema. Raises KeyError where it has none."""
    period = next((each.period for each in query.group if each.period), None)
    phrases = Phrases(schema, schema.sources[query.source], today, period)
    if query.then is not None:
        return _of_groups(query, query.then, result, phrases)
    labels = [
        *map(phrases.field, query.select),
        *map(phrases.group, query.group),
        *map(phrases.aggregate, query.aggregate),
    ]
    text = _Sentence(phrases, query, result)
    return Description(
        text.text(),
        list(_chips(phrases, query)),
        labels or [column.label for column in result.columns],
        [" – ".join(text.named(row)) for row in result.rows] if query.group else [],
    )


def how_read(query: Query, schema: Schema, today: datetime.date) -> str:
    """What a query asks, without its result: "motions, result: defeated, in 2025, counted". Raises KeyError where the schema does
    not have its source.
    """
    phrases = Phrases(schema, schema.sources[query.source], today)
    return ", ".join([phrases.noun(), *_parts_read(query, phrases)])


def _parts_read(query: Query, phrases: Phrases) -> list[str]:
    text = _Sentence(phrases, query, Result([], [], 0, truncated=False))
    conditions = [text.days(each) or phrases.condition(each) for each in (*query.where, *query.having)]
    words = [phrases.say("words", text=query.text)] if query.text else []
    asked = [*map(phrases.field, query.select), *map(phrases.aggregate, query.aggregate)]
    if [each.name for each in query.aggregate] == ["count"] and not query.aggregate[0].where:
        asked = [phrases.say("as_number")]
    by = [phrases.say("as_groups", keys=text.keys)] if query.group else []
    order = [phrases.say("as_order", orders=text.orders)] if query.order else []
    limit = [phrases.say("as_limit", number=phrases.writing.number(query.limit))] if query.limit is not None else []
    groups = ", ".join(_parts_read(query.then, phrases.of_groups(query))) if query.then is not None else ""
    then = [phrases.say("as_then", what=groups)] if groups else []
    return [*conditions, *words, *asked, *by, *order, *limit, *then]


def _of_groups(query: Query, then: Query, result: Result, phrases: Phrases) -> Description:
    """A query about the groups of another."""
    groups = phrases.of_groups(query)
    inner = describe(then, result, groups.schema, phrases.today)
    sentence = _Sentence(phrases, query, result)
    keys = phrases.say("and").join(phrases.group(each) for each in query.group)
    when, which = sentence.when_and_which()
    is_of_all = not (then.asks_for_rows or then.group or then.where or then.having)
    numbers = _Sentence(groups, then, result).numbers if is_of_all else ""
    phrase = "numbers_of_groups" if is_of_all else "of_groups"
    text = phrases.say(
        phrase, Rows=phrases.noun(), when=when, which=which, keys=keys, said=inner.sentence, numbers=numbers
    )
    text = f"{text[:1].upper()}{text[1:]}"
    return Description(text, [*_chips(phrases, query), *inner.filters], inner.labels, inner.groups)


def _chips(phrases: Phrases, query: Query) -> Iterator[FilterChip]:
    for part, conditions in (("where", query.where), ("having", query.having)):
        for place, condition in enumerate(conditions):
            yield FilterChip(label=phrases.condition(condition), pointer=f"/{part}/{place}")
    if query.text:
        yield FilterChip(label=phrases.say("words", text=query.text), pointer="/text")


@dataclass(frozen=True)
class _Sentence:
    phrases: Phrases
    query: Query
    result: Result

    def text(self) -> str:
        """The whole sentence, with a full stop."""
        query = self.query
        if query.asks_for_rows:
            text = self._rows()
        elif query.group:
            text = self._groups()
        else:
            text = self._numbers()
        for name, (odd, values) in self.result.unfinite.items():
            field = self.phrases.field(name.partition("(")[2].partition(")")[0])
            number, of = self._number(odd), self._number(values)
            text = self.phrases.say("unfinite", said=text, number=number, values=of, field=field)
        for name, currency in compared_unlike(query, self.phrases.schema).items():
            field, by = self.phrases.field(name), self.phrases.field(currency)
            text = self.phrases.say("unlike", said=text, field=field, currency=by)
        if definitions := self.phrases.definitions(query.aggregate):
            text = self.phrases.say("defines", said=text, definitions="; ".join(definitions))
        if self._is_undivided():
            text = self.phrases.say("undivided", said=text)
        return f"{text[:1].upper()}{text[1:]}."

    def _is_undivided(self) -> bool:
        """Whether a ratio has no value."""
        keys = len(self.query.group)
        divided = [keys + place for place, each in enumerate(self.query.aggregate) if self._divides(each)]
        return any(row[place] is None for row in self.result.rows for place in divided)

    def _divides(self, aggregate: Aggregate) -> bool:
        name, known = aggregate.field or "", self.phrases.source.measures
        measure = measure_called(name, known) if aggregate.fn == "measure" else None
        definition = measure.aggregate if measure else aggregate
        return definition.fn in ("ratio", "change") or any(map(self._divides, definition.operands))

    def _rows(self) -> str:
        shown = len(self.result.rows)
        phrase = "rows" if shown == self.result.total else "some_rows"
        by = self.phrases.say("sorted", orders=self.orders) if self.query.order else ""
        by += self._tied()
        return self._say(phrase, shown=self._number(shown), sorted=by)

    @property
    def orders(self) -> str:
        """What the rows are sorted by."""
        phrases = self.phrases
        text = [(phrases.order(each.by, each.direction), phrases.field(each.by)) for each in self.query.order]
        return phrases.say("and").join(phrases.say(how, field=field) for how, field in text)

    @property
    def keys(self) -> str:
        """What the rows are grouped by."""
        return self.phrases.say("and").join(self.phrases.group(each) for each in self.query.group)

    def _tied(self) -> str:
        """That more than the limit are shown, since they tie with the last."""
        limit, shown = self.query.limit, len(self.result.rows)
        return self.phrases.say("tied", number=self._number(shown)) if limit is not None and shown > limit else ""

    def _numbers(self) -> str:
        if [each.name for each in self.query.aggregate] == ["count"] and not self.query.aggregate[0].where:
            return self._say("counted")
        [row] = self.result.rows or [[None] * len(self.query.aggregate)]
        if [each.name for each in self.query.aggregate] == ["share"] and row[0] is not None:
            of = self.phrases.conditions(self.query.aggregate[0].where)
            return self._say("shared", share=self.phrases.cell(self.result.columns[0], row[0]), conditions=of)
        return self._say("numbers", numbers=self.numbers)

    @property
    def numbers(self) -> str:
        """What each number is, and its value."""
        [row] = self.result.rows or [[None] * len(self.query.aggregate)]
        return ", ".join(
            f"{self.phrases.aggregate(aggregate)} {self.phrases.cell(column, value)}"
            for aggregate, column, value in zip(self.query.aggregate, self.result.columns, row, strict=False)
        )

    def _groups(self) -> str:
        named = [self._group(row) for row in self.result.rows[:GROUPS_NAMED_MAX]]
        groups = ", ".join(named) or self.phrases.say("no_groups")
        keys_of_rows = [tuple(map(str, row[: len(self.query.group)])) for row in self.result.rows]
        for row in self.phrases.rows_once(self.query.aggregate):
            groups = self.phrases.say("once", label=groups, row=row)
        if len({*keys_of_rows}) < len(keys_of_rows):
            groups = self.phrases.say("namesakes", groups=groups)
        more = len(self.result.rows) - len(named)
        if more:
            groups = self.phrases.say("more_groups", groups=groups, number=self._number(more))
        aggregates = self.query.aggregate
        if aggregates and ([each.name for each in aggregates] != ["count"] or aggregates[0].where):
            numbers = ", ".join(map(self.phrases.aggregate, aggregates))
            return self._say("grouped", numbers=numbers, keys=self.keys, groups=groups + self._tied())
        return self._say("groups", keys=self.keys, groups=groups + self._tied())

    def _group(self, row: Sequence[Cell]) -> str:
        """ "October 2026 (5, 3.4 days)"."""
        keys = self.named(row)
        measured = zip(self.result.columns[len(keys) :], row[len(keys) :], strict=True)
        numbers = [self.phrases.cell(column, value) for column, value in measured]
        return " – ".join(keys) + (f" ({', '.join(numbers)})" if numbers else "")

    def named(self, row: Sequence[Cell]) -> list[str]:
        """What a group is called, by each of its keys."""
        keyed = zip(self.result.columns, row, self.query.group, strict=False)
        return [self.phrases.cell(column, value, group.period) for column, value, group in keyed]

    def _say(self, phrase: str, **values: str) -> str:
        rows = self.phrases.noun(self.result.total)
        when, which = self.when_and_which()
        return self.phrases.say(
            phrase,
            number=self._number(self.result.total),
            rows=rows,
            Rows=self.phrases.noun(),
            when=when,
            which=which,
            **values,
        )

    def _number(self, number: int) -> str:
        return self.phrases.writing.number(number)

    def when_and_which(self) -> tuple[str, str]:
        """When the rows are dated, which needs no name of a field, and the other conditions in parentheses."""
        conditions = list(self.query.where)
        when = ""
        for condition in self.query.where:
            if not when and (text := self.days(condition)):
                when = f" {text}"
                conditions.remove(condition)
        said_of_rows = [self.phrases.condition(each) for each in (*conditions, *self.query.having)]
        if self.query.text:
            said_of_rows.append(self.phrases.say("words", text=self.query.text))
        return when, self.phrases.say("which", conditions="; ".join(said_of_rows)) if said_of_rows else ""

    def days(self, condition: Condition) -> str | None:
        """When the rows are dated ("in 2025"); None for another condition."""
        source = self.phrases.source
        if not isinstance(condition, Comparison) or not condition.scalars:
            return None
        dated, field = source.fields.get(source.dated or ""), source.fields.get(condition.field)
        if dated is None or field is None or field.kind not in ("date", "datetime"):
            return None
        # the column with the rows' date may also be a field
        is_same = field is dated or field.sql("t") in dated.sql("t")
        return self.phrases.days(condition, field.kind) if is_same else None
