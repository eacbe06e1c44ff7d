"""Questions over invented databases with their Queries, made from how people call what is in them.

`tests/pairs/databases/NAME.toml` says what people of a database call its rows and fields, by language, and how they put
conditions; `wordings.toml` beside this module says how questions are worded, by language and form. A Query is composed from the
schema and from values in the data, then put into words: a pair is kept if its rows say something.
"""

from __future__ import annotations

import calendar
import datetime
import json
import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from psycopg import Error as DatabaseError
from pydantic import ValidationError

from quarry.platform.errors import InvalidInput
from quarry.reader.names import FieldName, LinkName, Names, SourceName, names_of
from quarry.schema.algebra import Query
from tools.fit.pairs import OWN, Pair
from tools.fit.training import Fit
from tools.fit.world import Database

FORMS = (
    "count count list list list avg sum max min groups groups avg_groups sum_groups most most most_of most_several highest lowest"
    " most_related common none none some rows_least rows_over columns lookup distinct blank filled share above below"
).split()
"""The forms of questions, the commoner ones several times."""
TESTS = (0, 1, 1, 1, 2)
"""How many conditions rows have."""
ROWS_MAX = 400
TRIES_MAX = 12
"""How often to try for each question that is wanted."""
KIND = "invented"
UNITS = re.compile(r"\s*\[(.*?)\]")
ELISIONS = (
    (re.compile(r"\b(l|d|qu)e (?=[aeéêhiou])", re.IGNORECASE), r"\1'"),
    (re.compile(r"\bla (?=[aeéêhiou])", re.IGNORECASE), "l'"),
    (re.compile(r"\bde le\b"), "du"),
)
"""How French words join."""
WHICH = {"der": "welcher", "die": "welche", "das": "welches", "le": "quel", "la": "quelle"}


Question = tuple[str, dict[str, Any]]
"""A question with its Query."""


@dataclass(frozen=True)
class Spoken:
    """What people call a field: its names and units, its conditions, and the most and the least of it, or that it holds or
    does not.
    """

    field: FieldName
    names: tuple[str, ...]
    units: tuple[str, ...]
    phrases: tuple[str, ...]
    most: tuple[str, ...]
    least: tuple[str, ...]


@dataclass(frozen=True)
class Rows:
    """Rows of a source that a question is about: what they are called, and their fields."""

    source: SourceName
    ones: tuple[str, ...]
    many: tuple[str, ...]
    spoken: tuple[Spoken, ...]


@dataclass(frozen=True)
class Said:
    """A part of a question in words, with its condition."""

    words: str
    where: tuple[Mapping[str, Any], ...] = ()


@cache
def wordings() -> Mapping[str, Mapping[str, Any]]:
    """How questions are worded, by language and form."""
    return tomllib.loads((Path(__file__).parent / "wordings.toml").read_text(encoding="utf-8"))


def invented_pairs(fit: Fit, pair: Pair, number: int) -> list[Pair]:
    """About so many questions over the database of a pair, in its languages, the same ones each time. A database without a
    file of words has none.
    """
    file = fit.world.own / "databases" / f"{pair.database.removeprefix(OWN)}.toml"
    if not file.exists():
        return []
    told = tomllib.loads(file.read_text(encoding="utf-8"))
    today = datetime.date.fromisoformat(told.pop("today"))
    database = fit.world.database(pair.database)
    total = sum(map(len, told.values()))
    made: dict[str, Pair] = {}
    for language, sources in told.items():
        maker = Maker(database, language, sources, today)
        for each in maker.pairs(max(1, number * len(sources) // total)):
            made.setdefault(each.question.casefold(), each)
    return [*made.values()]


class Maker:
    """Makes the questions over one database in one language."""

    def __init__(self, database: Database, language: str, told: Mapping[str, Any], today: datetime.date) -> None:
        self.database, self.language, self.today = database, language, today
        self.wordings = wordings()[language]
        self.names: Names = names_of(database.schema)
        self.chosen = random.Random(f"{database.name} {language}")  # noqa: S311 - nothing secret
        self._values: dict[tuple[str, str], list[Any]] = {}
        self.rows = {name: self._rows(name, each) for name, each in told.items()}

    def pairs(self, number: int) -> Iterator[Pair]:
        """So many pairs, fewer if most tries say nothing."""
        made = 0
        for _ in range(number * TRIES_MAX):
            if made == number:
                return
            found = self._pair(self.chosen.choice(FORMS), self.chosen.choice([*self.rows.values()]))
            if found is not None:
                made += 1
                yield found

    def _pair(self, form: str, rows: Rows) -> Pair | None:
        asked = Asked(self, rows).of(form)
        if asked is None:
            return None
        question, query = asked
        try:
            parsed = Query.model_validate(query)
            found = self.database.rows(parsed)
        except (InvalidInput, ValidationError, DatabaseError):
            return None
        if not 0 < len(found) <= ROWS_MAX or not any(value for row in found for value in row):
            return None
        if query.get("limit") and self._ties(query, parsed, found):
            return None
        kept = json.dumps(query, ensure_ascii=False)
        return Pair(self.database.name, self._tidy(question), None, self.today, KIND, self.language, query=kept)

    def _ties(self, query: Mapping[str, Any], parsed: Query, found: Sequence[Sequence[Any]]) -> bool:
        """Whether another row ties with the last one, or what is compared is unknown."""
        by, most = query["order"][0]["by"], query["limit"]
        shown = {key: value for key, value in query.items() if key != "select"}
        select = {"select": [by]} if "select" in query else {}
        rows = self.database.rows(Query.model_validate({**shown, **select, "limit": most + 1}))
        return len(found) < most or (len(rows) > most and rows[most - 1][-1] == rows[most][-1]) or rows[0][-1] is None

    def _tidy(self, question: str) -> str:
        words = " ".join(question.split())
        if self.language == "fr":
            for pattern, joined in ELISIONS:
                words = pattern.sub(joined, words)
        return words.lower() if self.chosen.random() < 1 / 4 else words

    def word(self, form: str, **parts: str) -> str:
        """One of the wordings of a form."""
        template: str = self.chosen.choice(self.wordings[form])
        return template.format(**parts)

    def _rows(self, name: str, told: Mapping[str, str]) -> Rows:
        source = self.names.sources[name]
        ones, many = (_split(each) for each in told["_"].split(";"))
        spoken = (_spoken(self._field(source, key), words) for key, words in told.items() if key != "_")
        return Rows(source, ones, many, tuple(spoken))

    def _field(self, source: SourceName, key: str) -> FieldName:
        """The field of a column, or the title of the rows that a reference leads to. Raises LookupError if there is none."""
        fields = self.database.schema.sources[source.name].fields
        for each in source.fields:
            column = (
                fields[each.name].sql("t").replace('"', "").replace(" ", "_").lower() if each.name in fields else ""
            )
            if key in (each.name, each.link) or re.fullmatch(rf"\(*t\.{key}\b.*", column):
                return each
        raise LookupError(f"{self.database.name}: {source.name} has no {key}")

    def values(self, source: SourceName, path: str) -> list[Any]:
        """The values of a field, each once."""
        key = source.name, path
        if key not in self._values:
            query = Query.model_validate({"source": source.name, "group": [path], "limit": 200})
            self._values[key] = [row[0] for row in self.database.rows(query) if row[0] not in (None, "")]
        return self._values[key]


def _split(words: str) -> tuple[str, ...]:
    return tuple(filter(None, (each.strip() for each in words.split("|"))))


def _spoken(field: FieldName, words: str) -> Spoken:
    names, *others = words.split(";")
    units = UNITS.search(names)
    phrases, most, least = ([_split(each) for each in others] + [(), (), ()])[:3]
    if field.kind == "boolean":
        phrases, most, least = (), phrases, most
    return Spoken(field, _split(UNITS.sub("", names)), _split(units[1]) if units else (), phrases, most, least)


@dataclass(frozen=True)
class Asked:
    """One question about some rows."""

    maker: Maker
    rows: Rows

    @property
    def chosen(self) -> random.Random:
        return self.maker.chosen

    def of(self, form: str) -> Question | None:
        """A question of a form, with its Query; None if these rows have nothing for it."""
        query: dict[str, Any] = {"source": self.rows.source.name}
        try:
            made: Question | None = getattr(self, f"_{_MAKERS.get(form, form)}")(form, query)
            return made
        except (IndexError, KeyError, ValueError):
            return None  # there is no such field, value or noun

    # ---- the words and fields of rows ----

    def _one_of(self, kinds: str, *, named: bool = True) -> Spoken:
        """A field of one of these kinds."""
        return self.chosen.choice(
            [each for each in self.rows.spoken if _is(each.field, kinds) and (each.names or not named)]
        )

    def _some(self, number: int | None = None) -> Said:
        """Rows in words, with as many conditions."""
        many = self.chosen.choice(self.rows.many)
        most = self.chosen.choice(TESTS) if number is None else number
        tests = [test for _ in range(most) if (test := self._test()) is not None]
        if len(tests) == 2 and tests[0].where[0].get("field") == tests[1].where[0].get("field"):
            tests = tests[:1]
        words = (
            self.maker.word("and", a=tests[0].words, b=tests[1].words)
            if len(tests) == 2
            else "".join(t.words for t in tests)
        )
        return Said(f"{many} {words}", tuple(each for test in tests for each in test.where))

    def _with(self, query: dict[str, Any], said: Said) -> dict[str, Any]:
        return {**query, "where": list(said.where)} if said.where else query

    def _parts(self) -> dict[str, str]:
        one = self.chosen.choice(self.rows.ones)
        article, _, noun = one.rpartition(" ") if self.maker.language == "en" else one.partition(" ")
        noun = one if self.maker.language == "en" else noun
        many = self.chosen.choice(self.rows.many)
        return {"one": noun, "the": article, "which": WHICH.get(article, ""), "many": many}

    # ---- conditions ----

    def _test(self) -> Said | None:
        """A condition in words."""
        each = self.chosen.choice(self.rows.spoken)
        if _is(each.field, "boolean"):
            return self._truth(each)
        try:
            if _is(each.field, "year date"):
                return self._when(each)
            return self._compared(each) if _is(each.field, "amount") else self._equal(each)
        except (IndexError, KeyError, ValueError):
            return None

    def _truth(self, each: Spoken) -> Said:
        truth = self.chosen.random() < 1 / 2
        words = self.chosen.choice(each.most if truth else each.least)
        return Said(words, ({"field": each.field.name, "op": "=", "value": truth},))

    def _equal(self, each: Spoken) -> Said:
        """A value, one of two, or anything but a value."""
        values = self.maker.values(self.rows.source, each.field.name)
        how = self.chosen.choice(("one", "one", "one", "or", "denied"))
        one, *others = self.chosen.sample(values, 2)
        value = self.maker.word("or", a=one, b=others[0]) if how == "or" else str(one)
        phrase = self._phrase(each, "is", "value").replace("{value}", value)
        path = each.field.name
        if how == "denied":
            return Said(self.maker.word("denied", p=phrase), ({"field": path, "op": "!=", "value": one},))
        kept = {"value": one} if how == "one" else {"values": [one, others[0]]}
        return Said(phrase, ({"field": path, "op": "=", **kept},))

    def _phrase(self, each: Spoken, form: str, part: str) -> str:
        """How a condition on a field is put: as its own phrases do, or by its name."""
        phrases = [phrase for phrase in each.phrases if f"{{{part}}}" in phrase]
        if each.names and (not phrases or self.chosen.random() < 1 / 4):
            return self.maker.word(form, name=self.chosen.choice(each.names), **{part: f"{{{part}}}"})
        return self.chosen.choice(phrases)

    def _compared(self, each: Spoken) -> Said:
        numbers = sorted(float(value) for value in self.maker.values(self.rows.source, each.field.name))
        low, high = sorted(self.chosen.sample(numbers[1:-1], 2))
        form = self.chosen.choice(("over", "over", "under", "least", "at_most", "between"))
        low, high = _round(low), _round(high)
        said = self.maker.word(form, n=self._number(low, each), m=self._number(high, each))
        phrase = self._phrase(each, "compares", "cmp").replace("{cmp}", said)
        op = {"over": ">", "under": "<", "least": ">=", "at_most": "<=", "between": "between"}[form]
        kept = {"values": [low, high]} if form == "between" else {"value": low}
        return Said(phrase, ({"field": each.field.name, "op": op, **kept},))

    def _number(self, value: float, each: Spoken) -> str:
        said = f"{value:g}"
        if value >= 1000 and self.chosen.random() < 1 / 3:
            said = (
                f"{value:,.0f}"
                if self.maker.language == "en"
                else f"{value:,.0f}".replace(",", " " if self.maker.language == "fr" else ".")
            )
        elif not value.is_integer() and self.maker.language != "en":
            said = said.replace(".", ",")
        if not each.units or self.chosen.random() < 1 / 3:
            return said
        unit = self.chosen.choice(each.units)
        return f"{unit}{said}" if unit in "£$" or (unit == "€" and self.maker.language == "en") else f"{said} {unit}"

    def _when(self, each: Spoken) -> Said:
        is_year = each.field.kind == "year"
        days = [str(value) for value in self.maker.values(self.rows.source, each.field.name)]
        day = datetime.date.fromisoformat(f"{days[0][:4]}-06-15" if is_year else self.chosen.choice(days)[:10])
        day = day.replace(year=int(self.chosen.choice(days)[:4])) if is_year else day
        words, first, last = self._period(day, is_year=is_year)
        phrase = self._phrase(each, "dates", "when").replace("{when}", words)
        ends = [end.year if is_year else end.isoformat() for end in (first, last) if end is not None]
        if len(ends) == 2 and ends[0] == ends[1]:
            return Said(phrase, ({"field": each.field.name, "op": "=", "value": ends[0]},))
        op = "between" if len(ends) == 2 else "<=" if first is None else ">="
        kept = {"values": ends} if op == "between" else {"value": ends[0]}
        return Said(phrase, ({"field": each.field.name, "op": op, **kept},))

    def _period(self, day: datetime.date, *, is_year: bool) -> tuple[str, datetime.date | None, datetime.date | None]:
        """A time around a day, in words, with its first and last day."""
        today, one = self.maker.today, datetime.timedelta(days=1)
        first = day.replace(day=1)
        last = day.replace(day=calendar.monthrange(day.year, day.month)[1])
        start = today.replace(day=1)
        before = start - one
        of_year = datetime.date(day.year, 1, 1), datetime.date(day.year, 12, 31)
        spans: dict[str, tuple[datetime.date | None, datetime.date | None]] = {
            "year": of_year, "month": (first, last),
            "since": (first, None), "before": (None, first - one), "after": (day + one, None),
            "this_year": (today.replace(month=1, day=1), today.replace(month=12, day=31)),
            "last_year": (datetime.date(today.year - 1, 1, 1), datetime.date(today.year - 1, 12, 31)),
            "last_month": (before.replace(day=1), before),
            "this_month": (start, today.replace(day=calendar.monthrange(today.year, today.month)[1])),
            "last_30": (today - 30 * one, today),
        }  # fmt: skip
        form = "year" if is_year else self.chosen.choice([*spans])
        month = self.maker.wordings["months"][day.month - 1]
        return self.maker.word(form, y=str(day.year), month=month, day=str(day.day)), *spans[form]

    # ---- forms ----

    def _list(self, form: str, query: dict[str, Any]) -> Question:
        said = self._some(self.chosen.choice((1, 1, 2)))
        return self.maker.word(form, R=said.words), {**self._with(query, said), "select": [self.rows.source.title.name]}

    def _count(self, form: str, query: dict[str, Any]) -> Question:
        said = self._some()
        return self.maker.word(form, R=said.words), {**self._with(query, said), "aggregate": ["count"]}

    def _numbers(self, form: str, query: dict[str, Any]) -> Question:
        each, said = self._one_of("amount"), self._some()
        words = self.maker.word(form, R=said.words, name=self.chosen.choice(each.names))
        return words, {**self._with(query, said), "aggregate": [f"{form}({each.field.name})"]}

    def _grouped(self, form: str, query: dict[str, Any]) -> Question:
        each, said = self._one_of("value date"), self._some(self.chosen.choice((0, 0, 1)))
        by, group = self._by(each)
        name, number = "", "count"
        if form != "groups":
            measured = self._one_of("amount")
            name, number = self.chosen.choice(measured.names), f"{form.removesuffix('_groups')}({measured.field.name})"
        words = self.maker.word(form, R=said.words, by=by, name=name)
        if said.words not in words:
            said = Said("")  # this wording names no rows
        return words, {**self._with(query, said), "group": [group], "aggregate": [number]}

    def _by(self, each: Spoken) -> Question:
        if not _is(each.field, "date"):
            return self.chosen.choice(each.names), {"field": each.field.name}
        period = self.chosen.choice([*self.maker.wordings["periods"]])
        return self.chosen.choice(self.maker.wordings["periods"][period]), {"field": each.field.name, "period": period}

    def _extreme(self, form: str, query: dict[str, Any]) -> Question:
        """The most or least by what it is called, or by the name of the field."""
        is_named = form in ("highest", "lowest")
        each = self._one_of("amount" if is_named else "amount year date", named=is_named)
        is_most = form == "highest" or (form != "lowest" and self.chosen.random() < 1 / 2)
        said = self._some(1) if form == "most_of" else Said("")
        number = self.chosen.choice((2, 3)) if form == "most_several" else 1
        parts = {**self._parts(), "R": said.words, "n": self._several(number)}
        parts |= (
            {"name": self.chosen.choice(each.names)}
            if is_named
            else {"most": self.chosen.choice(each.most if is_most else each.least)}
        )
        # a child is the youngest who was born last
        order = {"by": each.field.name, "direction": "desc" if is_most else "asc"}
        test = {"field": each.field.name, "op": "not_null"}
        query = {
            **query,
            "select": [self.rows.source.title.name],
            "where": [*said.where, test],
            "order": [order],
            "limit": number,
        }
        return self.maker.word(form, **parts), query

    def _several(self, number: int) -> str:
        return self.chosen.choice((str(number), self.maker.wordings["numbers"][number - 1]))

    def _related(self, form: str, query: dict[str, Any]) -> Question:
        """Rows by their related rows: some, none, so many, the most."""
        link, others = self._others()
        number = self.chosen.choice((2, 3, 4))
        words = self.maker.word(form, **self._parts(), others=others, n=self._several(number))
        query["select"] = [self.rows.source.title.name]
        counted = f"count({link.name})"
        match form:
            case "most_related":
                return words, {**query, "order": [{"by": counted, "direction": "desc"}], "limit": 1}
            case "none":
                return words, {**query, "where": [{"not": {"exists": link.name}}]}
            case "some":
                return words, {**query, "where": [{"exists": link.name}]}
        op = ">" if form == "rows_over" else ">="
        return words, {**query, "where": [{"field": counted, "op": op, "value": number}]}

    def _others(self) -> tuple[LinkName, str]:
        """A link to related rows, if only one leads to them, and what these are called."""
        targets = [link.target for link in self.rows.source.links if link.is_many]
        links = [each for each in self.rows.source.links if each.is_many and targets.count(each.target) == 1]
        link = self.chosen.choice([each for each in links if each.target in self.maker.rows])
        return link, self.chosen.choice(self.maker.rows[link.target or ""].many)

    def _common(self, form: str, query: dict[str, Any]) -> Question:
        each, said = self._one_of("value"), self._some(self.chosen.choice((0, 0, 1)))
        words = self.maker.word(form, R=said.words, by=self.chosen.choice(each.names))
        order = [{"by": "count", "direction": "desc"}]
        return words, {
            **self._with(query, said),
            "group": [each.field.name],
            "aggregate": ["count"],
            "order": order,
            "limit": 1,
        }

    def _columns(self, form: str, query: dict[str, Any]) -> Question:
        each, said = self._one_of("value amount date"), self._some(1)
        words = self.maker.word(form, R=said.words, name=self.chosen.choice(each.names))
        return words, {**self._with(query, said), "select": [each.field.name]}

    def _lookup(self, form: str, query: dict[str, Any]) -> Question:
        each, title = self._one_of("value amount date"), self.rows.source.title.name
        of = self.chosen.choice(self.maker.values(self.rows.source, title))
        words = self.maker.word(form, title=str(of), name=self.chosen.choice(each.names))
        return words, {**query, "select": [each.field.name], "where": [{"field": title, "op": "=", "value": of}]}

    def _distinct(self, form: str, query: dict[str, Any]) -> Question:
        each, said = self._one_of("value"), self._some(1)
        words = self.maker.word(form, R=said.words, name=self.chosen.choice(each.names))
        return words, {**self._with(query, said), "group": [each.field.name]}

    def _blank(self, form: str, query: dict[str, Any]) -> Question:
        each = self._one_of("value amount date")
        words = self.maker.word(form, **self._parts(), name=self.chosen.choice(each.names))
        test = {"field": each.field.name, "op": "is_null" if form == "blank" else "not_null"}
        blank = {"source": self.rows.source.name, "where": [{**test, "op": "is_null"}], "aggregate": ["count"]}
        if not self.maker.database.rows(Query.model_validate(blank))[0][0]:
            raise IndexError
        return words, {**query, "select": [self.rows.source.title.name], "where": [test]}

    def _share(self, form: str, query: dict[str, Any]) -> Question:
        test = self._test()
        if test is None:
            raise IndexError
        words = self.maker.word(form, **self._parts(), p=test.words)
        return words, {**query, "aggregate": [{"fn": "share", "where": list(test.where)}]}

    def _average(self, form: str, query: dict[str, Any]) -> Question:
        each = self._one_of("amount")
        words = self.maker.word(form, **self._parts(), name=self.chosen.choice(each.names))
        average = {"source": self.rows.source.name, "aggregate": [f"avg({each.field.name})"]}
        test = {"field": each.field.name, "op": ">" if form == "above" else "<", "value": average}
        return words, {**query, "select": [self.rows.source.title.name], "where": [test]}


_MAKERS = {
    "avg": "numbers", "sum": "numbers", "max": "numbers", "min": "numbers", "groups": "grouped", "avg_groups": "grouped",
    "sum_groups": "grouped", "most": "extreme", "most_of": "extreme", "most_several": "extreme", "highest": "extreme",
    "lowest": "extreme", "most_related": "related", "none": "related", "some": "related", "rows_least": "related",
    "rows_over": "related", "filled": "blank", "above": "average", "below": "average",
}  # fmt: skip


def _is(field: FieldName, kinds: str) -> bool:
    """Whether a field is of one of these kinds."""
    return any(
        (kind == "amount" and field.is_amount and field.kind != "year")
        or (kind == "date" and field.is_date)
        or (kind == "value" and field.kind == "text" and not field.is_key)
        or kind == field.kind
        for kind in kinds.split()
    )


def _round(value: float) -> float:
    """A number as people say it."""
    for step in (1000, 100, 10, 1):
        if value >= 20 * step:
            return float(round(value / step) * step)
    return value
