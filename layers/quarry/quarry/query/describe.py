"""A query and its result in one plain sentence, and its conditions as chips: once for all domains; what a question
was understood as; and the result as lines and as numbers. Pure.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from quarry.language.messages import pgettext, writing
from quarry.platform.contract import EVIDENCE_MAX, AggregationGroup, Assertion, Evidence
from quarry.platform.text import QUERY_MAX_CHARACTERS
from quarry.query.contract import (
    CHANGEABLE,
    CONDITIONS_MAX,
    LABEL_MAX,
    ConditionChip,
    FilterChip,
    Meaning,
    QueryResult,
    Understood,
    UnderstoodEvent,
)
from quarry.query.paths import compared_unlike, measure_by_name
from quarry.query.phrases import Phrases, number_of
from quarry.schema.algebra import (
    Aggregate,
    AnyOf,
    Cell,
    Column,
    Comparison,
    Condition,
    Not,
    Query,
    Result,
    Span,
    Words,
    conditions_of,
)
from quarry.schema.source import Schema
from quarry.streaming.events import Event

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
        [" – ".join(text.keys_of(row)) for row in result.rows] if query.group else [],
    )


def how_read(query: Query, schema: Schema, today: datetime.date) -> str:
    """What a query asks, without its result: "motions, result: defeated, in 2025, counted". Raises KeyError where the schema does
    not have its source.
    """
    phrases = Phrases(schema, schema.sources[query.source], today)
    return ", ".join([phrases.noun(), *_parts(query, phrases)])


def _parts(query: Query, phrases: Phrases) -> list[str]:
    text = _Sentence(phrases, query, Result([], [], 0, truncated=False))
    conditions = [text.days(each) or phrases.condition(each) for each in (*query.where, *query.having)]
    words = [phrases.say("words", text=query.text)] if query.text else []
    columns = [*map(phrases.field, query.select), *map(phrases.aggregate, query.aggregate)]
    if [each.name for each in query.aggregate] == ["count"] and not query.aggregate[0].where:
        columns = [phrases.say("as_number")]
    by = [phrases.say("as_groups", keys=text.keys)] if query.group else []
    order = [phrases.say("as_order", orders=text.orders)] if query.order else []
    limit = [phrases.say("as_limit", number=phrases.writing.number(query.limit))] if query.limit is not None else []
    groups = ", ".join(_parts(query.then, phrases.of_groups(query))) if query.then is not None else ""
    then = [phrases.say("as_then", what=groups)] if groups else []
    return [*conditions, *words, *columns, *by, *order, *limit, *then]


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
        name, measures = aggregate.field or "", self.phrases.source.measures
        measure = measure_by_name(name, measures) if aggregate.fn == "measure" else None
        definition = measure.aggregate if measure else aggregate
        return definition.fn in ("ratio", "change") or any(map(self._divides, definition.operands))

    def _rows(self) -> str:
        rows = len(self.result.rows)
        phrase = "rows" if rows == self.result.total else "some_rows"
        by = self.phrases.say("sorted", orders=self.orders) if self.query.order else ""
        by += self._tied()
        return self._say(phrase, shown=self._number(rows), sorted=by)

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
        """That more than the limit are shown, since they tie with the last; or that others tie with it, which are not."""
        limit, rows = self.query.limit, len(self.result.rows)
        if self.result.tied:
            return self.phrases.say("cut_in_tie")
        return self.phrases.say("tied", number=self._number(rows)) if limit is not None and rows > limit else ""

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
        first_groups = [self._group(row) for row in self.result.rows[:GROUPS_NAMED_MAX]]
        groups = ", ".join(first_groups) or self.phrases.say("no_groups")
        keys_of_rows = [tuple(map(str, row[: len(self.query.group)])) for row in self.result.rows]
        for row in self.phrases.rows_once(self.query.aggregate):
            groups = self.phrases.say("once", label=groups, row=row)
        if len({*keys_of_rows}) < len(keys_of_rows):
            groups = self.phrases.say("namesakes", groups=groups)
        more = len(self.result.rows) - len(first_groups)
        if more:
            groups = self.phrases.say("more_groups", groups=groups, number=self._number(more))
        aggregates = self.query.aggregate
        if aggregates and ([each.name for each in aggregates] != ["count"] or aggregates[0].where):
            numbers = ", ".join(map(self.phrases.aggregate, aggregates))
            return self._say("grouped", numbers=numbers, keys=self.keys, groups=groups + self._tied())
        return self._say("groups", keys=self.keys, groups=groups + self._tied())

    def _group(self, row: Sequence[Cell]) -> str:
        """ "October 2026 (5, 3.4 days)"."""
        keys = self.keys_of(row)
        measured = zip(self.result.columns[len(keys) :], row[len(keys) :], strict=True)
        numbers = [self.phrases.cell(column, value) for column, value in measured]
        return " – ".join(keys) + (f" ({', '.join(numbers)})" if numbers else "")

    def keys_of(self, row: Sequence[Cell]) -> list[str]:
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


LINES_MAX = 50
"""Rows or groups that an answer lists."""


UNREAD_MAX = 6
"""Most unread words to name."""


def as_read(how: str, unread: Sequence[str], phrases: Phrases) -> str:
    """How a question was read, and which of its words no part of the query reads: always beside an exact result."""
    sentences = [phrases.say("read_as", what=how)]
    if unread:
        sentences.append(phrases.say("not_read", words=", ".join(unread[:UNREAD_MAX])))
    return " ".join(sentences)


def with_list(sentence: str, lines: Sequence[str]) -> list[str]:
    """The lines of a sentence and its Markdown list. A sentence before a list ends in a colon."""
    return (
        [pgettext("before a list", "{sentence}:", sentence=sentence.removesuffix(".")), "", *lines]
        if lines
        else [sentence]
    )


def lines_of(result: QueryResult, phrases: Phrases, most: int = LINES_MAX) -> Iterator[str]:
    """The first rows, values or groups of a result as a Markdown list: the name of each, then its other values. Nothing if the
    result's sentence already has the number, or all groups with theirs. Equal rows are one line with their number.
    """
    query = result.query.last
    columns = [Column(each.name, each.label, each.kind, each.unit, each.share) for each in result.columns]
    if not query.asks_for_rows and not query.group:
        if len(columns) > 1:
            for column, cell in zip(columns, result.rows[0], strict=True):
                yield _line(phrases, phrases.noun(), [_labelled(column, cell, phrases)])
        return
    if query.group and query.aggregate and len(result.rows) <= GROUPS_NAMED_MAX:
        return
    if query.group:
        lines = [_group_line(query, columns, row, phrases) for row in result.rows]
    else:
        lines = [*dict.fromkeys(_row_lines(result, columns, phrases))]
    yield from islice(lines, most)
    if len(lines) > most or (result.truncated and query.limit is None):
        yield f"- {phrases.say('more_lines', number=phrases.writing.number(result.total))}"


def _row_lines(result: QueryResult, columns: Sequence[Column], phrases: Phrases) -> Iterator[str]:
    """The name of each row, and its other values after their labels. Without a selection, the key comes first."""
    first = 0 if result.query.last.select else 1
    rows = [
        tuple(_labelled(column, cell, phrases) for column, cell in zip(columns, row, strict=True))[first:]
        for row in result.rows
    ]
    times = Counter(rows)
    is_counted = len(times) < len(rows) and not result.truncated
    for ((_, title), *others), number in times.items():
        yield _line(
            phrases,
            title,
            [*others, (phrases.say("number_of_rows", rows=phrases.noun()), str(number))] if is_counted else others,
        )


def _line(phrases: Phrases, title: str, cells: Sequence[tuple[str, str]]) -> str:
    if not cells:
        return f"- {title}"
    labels, values = zip(*cells, strict=True)
    between = phrases.say("between_values")
    return f"- {title} – {phrases.say('condition', field=', '.join(labels), value=between.join(values))}"


def _labelled(column: Column, cell: Cell, phrases: Phrases) -> tuple[str, str]:
    """The label and the value of a cell. Numbers have no separators, since commas stand between values."""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return column.label, phrases.cell(column, cell)
    text = writing().measured(cell).replace(writing().group, "") if isinstance(cell, float) else str(cell)
    return column.label, f"{text} {column.unit}" if column.unit and isinstance(cell, int) else text


def _group_line(query: Query, columns: Sequence[Column], row: Sequence[Cell], phrases: Phrases) -> str:
    """The name of a group and its numbers: "January 2025: 4 motions"."""
    keys = [
        phrases.cell(column, cell, group.period) for column, cell, group in zip(columns, row, query.group, strict=False)
    ]
    numbers: list[str] = []
    for aggregate, column, cell in zip(query.aggregate, columns[len(keys) :], row[len(keys) :], strict=True):
        cells = phrases.cell(column, cell)
        if aggregate.name == "count" and not aggregate.where and isinstance(cell, int):
            cells = f"{cells} {phrases.noun(cell)}"
        elif len(query.aggregate) > 1:
            cells = f"{column.label} {cells}"
        numbers.append(cells)
    name = " – ".join(keys)
    return f"- {phrases.say('condition', field=name, value=', '.join(numbers)) if numbers else name}"


GROUPS_MAX = 50


def reckoned(result: QueryResult) -> dict[str, Any]:
    """What the rows are grouped `by`, how many there are in all and in each group, and what was calculated `of` them.

    `columns` say what the keys and the numbers of each group are. `groups` are the latest periods, else the first; `other` is how
    many rows are in the rest. `value` is the number of all rows.
    """
    query, names = result.query.last, [each.name for each in result.columns]
    keys = len(query.group)
    measures = {name: place for place, name in enumerate(names) if place >= keys and name != "count"}
    of = next(iter(measures), None)
    first = result.rows[0] if result.rows else []
    is_of_time = keys == 1 and query.group[0].period is not None and query.limit is None
    rows = [*zip(result.rows, result.groups, strict=True)] if keys else []
    page = rows[-GROUPS_MAX:] if is_of_time else rows[:GROUPS_MAX]
    groups = [_group(row, label, names, keys, measures) for row, label in page]
    return {
        "by": ", ".join(names[:keys]) or None,
        "groups": groups,
        "group_count": len(result.rows) if keys else 0,
        "total": result.total,
        "other": max(0, result.total - sum(each.count or 0 for each in groups)) if "count" in names and keys else 0,
        "of": of,
        "value": _number(first[measures[of]]) if of and not keys and first else None,
        "columns": result.columns,
    }


def _group(
    row: Sequence[Cell], label: str, names: Sequence[str], keys: int, measures: Mapping[str, int]
) -> AggregationGroup:
    value = row[0] if keys == 1 and not isinstance(row[0], list) else label
    count = row[names.index("count")] if "count" in names else None
    numbers = {name: _number(row[place]) for name, place in measures.items()}
    return AggregationGroup.model_validate({**numbers, "value": value, "label": label, "count": count})


def _number(cell: Cell) -> float | str | None:
    """A number; one that no number of JSON has exactly as text."""
    if isinstance(cell, str):
        return cell if number_of(cell) is not None else None
    return float(cell) if isinstance(cell, int | float) else None


def understood(
    query: Query,
    phrases: Phrases,
    *,
    assumed: Sequence[Condition] = (),
    preferred: Sequence[Condition] = (),
    about: str = "",
    unread: Iterable[str] = (),
    evidence: Iterable[Evidence] = (),
    choices: Sequence[Meaning] = CHANGEABLE,
) -> Understood:
    """A query with its chips: each condition labelled and with its evidence. What is beyond a limit is left out."""
    unlabelled = Understood(
        sentence=how_read(query, phrases.schema, phrases.today),
        query=query,
        assumed=tuple(assumed[:CONDITIONS_MAX]),
        preferred=tuple(preferred[:CONDITIONS_MAX]),
        # what follows up several questions may be longer than a question
        about=about[:QUERY_MAX_CHARACTERS].strip(),
        unread=list(unread),
    )
    chips = [_chip(pointer, each, phrases.condition, choices) for pointer, each in unlabelled.conditions]
    chips += [
        ConditionChip(label=phrases.condition(each), pointer=f"/having/{place}")
        for place, each in enumerate(query.having)
    ]
    texts = (("/text", query.text), ("/about", unlabelled.about))
    chips += [ConditionChip(label=text, pointer=pointer) for pointer, text in texts if text]
    spans = query.spans or spans_of(unlabelled.conditions, evidence)
    return unlabelled.model_copy(update={"chips": chips, "spans": list(spans)[:EVIDENCE_MAX]})


def ending(answer: Event, explanation: Understood | None) -> Iterator[Event]:
    """The last events of an answer: how its question was understood, and the whole of it."""
    if explanation is not None:
        yield UnderstoodEvent(data=explanation)
    yield answer


def affirmed(condition: Condition) -> tuple[Condition, bool]:
    """The condition without its negation, and whether it had one."""
    if isinstance(condition, Not):
        return condition.negated, True
    if isinstance(condition, Comparison) and condition.op in ("!=", "is_null"):
        return condition.model_copy(update={"op": "=" if condition.op == "!=" else "not_null"}), True
    return condition, False


def _chip(
    pointer: str, condition: Condition, label: Callable[[Condition], str], choices: Sequence[Meaning]
) -> ConditionChip:
    """The chip of a condition. What is excluded is labelled as what it excludes: its place says that it is."""
    inner, _ = affirmed(condition)
    own: list[Meaning] = ["assumed"] if pointer.startswith("/assumed") else []
    texts = {text for leaf in leaves(inner) for text in _texts(leaf)}
    first = next(leaves(inner), None)
    # the same said of several fields
    is_one = isinstance(inner, AnyOf) and len(texts) == 1 and first is not None
    text = str(first.scalars[0]) if is_one and first is not None else label(inner)
    return ConditionChip(label=text[:LABEL_MAX], pointer=pointer, choices=[*own, *choices] if choices else [])


def spans_of(conditions: Iterable[tuple[str, Condition]], evidence: Iterable[Evidence]) -> Iterator[Span]:
    """The evidence as pieces of a question that say a condition: the one on its field with its value, else the first on it."""
    compared = [(pointer, leaf) for pointer, each in conditions for leaf in leaves(each)]
    for each in evidence:
        on_field = [(pointer, leaf) for pointer, leaf in compared if leaf.field == each.field]
        exact = (pointer for pointer, leaf in on_field if each.value.casefold() in _texts(leaf))
        pointer = next(exact, on_field[0][0] if on_field else None)
        if pointer is not None:
            yield Span(pointer=pointer, start=each.start, end=each.end)


def evidence_of(explanation: Understood) -> list[Evidence]:
    """The spans as evidence for the field and the value of the condition that each points to."""
    by_pointer = dict(explanation.conditions)
    evidence = []
    for span in explanation.spans:
        condition = by_pointer.get("/".join(span.pointer.split("/")[:3]))
        leaf = next(leaves(condition), None) if condition is not None else None
        if condition is not None and leaf is not None:
            preferred: Assertion = "preferred" if span.pointer.startswith("/preferred") else "affirmed"
            assertion: Assertion = "negated" if affirmed(condition)[1] else preferred
            value = str(leaf.scalars[0]) if leaf.scalars else ""
            evidence.append(
                Evidence(field=leaf.field, value=value, start=span.start, end=span.end, assertion=assertion)
            )
    return evidence


def leaves(condition: Condition) -> Iterator[Comparison]:
    """The comparisons of a condition."""
    if isinstance(condition, Comparison):
        yield condition
    for each in conditions_of(condition):
        yield from leaves(each)


def excluded_words(conditions: Iterable[Condition]) -> list[str]:
    """The words that conditions exclude."""
    return [each.negated.words for each in conditions if isinstance(each, Not) and isinstance(each.negated, Words)]


def _texts(comparison: Comparison) -> set[str]:
    return {str(each).casefold() for each in comparison.scalars}
