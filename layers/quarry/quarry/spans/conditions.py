"""What each mention asks of the rows of a table: conditions, or what the table cannot tell."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from quarry.language.stemming import stem
from quarry.language.tokens import keys
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.conjunction import joined_clauses
from quarry.spans.date_verbs import (
    BETWEEN_MAX,
    closes,
    dated_by,
    happened_otherwise,
    is_adjective,
    is_dated_verb,
    is_event,
    is_participle,
)
from quarry.spans.lexicon import units_of
from quarry.spans.measures import (
    aged_by,
    amount_of_sale,
    compared,
    facets_of_adjective,
    is_another_amount,
    speaks_of_other,
)
from quarry.spans.mention import (
    Asked,
    Cue,
    DateRange,
    Duration,
    FacetName,
    Known,
    KnownValue,
    Mention,
    MoneyRange,
    NumberRange,
    ParsedQuery,
    Place,
    PlaceKind,
    Span,
    Word,
)
from quarry.spans.overdue import lapsed, overdue, unpaid
from quarry.spans.periods import shifted
from quarry.spans.presence import counted_deed, presences, truths
from quarry.spans.quantities import converted, dimension_of
from quarry.spans.question import Clause, Condition, Missing, Strength
from quarry.spans.united_tables import are_called_people, meant_table

NEAR_CHARACTERS = 24
"""A facet's name within so many characters of a date, number or amount says which one is meant."""

CUES_BETWEEN_MAX = 2
"""So many cues may stand between a facet's name and the value that it introduces."""
VERB_BEFORE_MAX = 4
"""So many mentions before "8 times" stands what was done so often."""
ADJECTIVES_MAX = 3
"""So many words may stand between a number and the noun that it counts."""


@dataclass
class Conditions:
    """What was made of the mentions. `used` are the names of facets that served to say what another mention is; from those that
    are `constraining` the clauses come.
    """

    clauses: list[Clause] = field(default_factory=list)
    preferred: list[Condition] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    unanswerable: list[Missing] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    constraining: set[int] = field(default_factory=set)
    limit: int | None = None
    verbs: tuple[int, ...] = ()
    """The places of the verbs that speak of a date (`date_verbs`)."""
    not_happened: frozenset[str] = frozenset()
    """The dates of which a verb is negated."""
    first_noun: int | None = None
    """The place where first it is said what the rows are called."""


def conditions_of(
    parsed: ParsedQuery, table: SearchTable, asked_about: frozenset[int] = frozenset(), *, counts: bool = False
) -> Conditions:
    """The conditions of a question; `asked_about` are the places of mentions that say what is asked for, and so set none.

    Where it `counts`, a value that was said whole and right must hold even in a soft facet: weight counts nothing.
    """
    verbs = tuple(place for place, mention in enumerate(parsed.mentions) if is_dated_verb(mention))
    negated = (parsed.mentions[place] for place in verbs if parsed.mentions[place].assertion == "negated")
    found = Conditions(
        verbs=verbs,
        not_happened=frozenset(name for each in negated for name in _facets_called(each)),
        first_noun=next((place for place, each in enumerate(parsed.mentions) if each.value == Cue("noun")), None),
    )
    groups: list[tuple[int, list[Clause]]] = []
    so: list[tuple[tuple[int, ...], list[Clause]]] = [
        (places, [(condition,)]) for places, condition in truths(parsed, table)
    ]
    for places, clauses in [*so, *lapsed(parsed, table)]:
        if asked_about.isdisjoint(places):
            found.used.update(places)
            found.constraining.update(places)
            groups.append((places[0], clauses))
    for place, mention in enumerate(parsed.mentions):
        if mention.assertion == "doubtful" or place in asked_about or place in found.used:
            continue
        said = _Reader(parsed, place, table, found).clauses()
        if not said:
            continue
        if (
            mention.assertion == "preferred"
            or (mention.is_latent and isinstance(mention.value, Known))
            or (_is_soft(said, table) and not _insists(mention) and not (counts and _is_stated(said)))
        ):
            evidence = (mention.span,)
            found.preferred += [
                replace(condition, evidence=condition.evidence or evidence) for clause in said for condition in clause
            ]
            continue
        groups.append((place, said))
        found.constraining.add(place)
    happened = _happened(parsed, asked_about, found)
    for place, condition in [
        *happened,
        *presences(parsed, table, asked_about | found.used | {each for each, _ in happened}),
    ]:
        found.used.add(place)
        groups.append((place, [(condition,)]))
    groups += [*overdue(parsed, table), *unpaid(parsed, table)]
    found.clauses = joined_clauses(parsed, sorted(groups, key=lambda group: group[0]), table)
    return found


def _insists(mention: Mention) -> bool:
    return mention.assertion in ("required", "negated")


def _is_soft(clauses: Sequence[Clause], table: SearchTable) -> bool:
    return all(not table.facet(condition.facet).is_hard for clause in clauses for condition in clause)


def _is_stated(clauses: Sequence[Clause]) -> bool:
    return all(condition.strength == "stated" for clause in clauses for condition in clause)


_PERFECT = frozenset("have has had been haven't hasn't hadn't".split())
_CALLED: Mapping[PlaceKind, tuple[str, ...]] = {
    "city": ("city", "town"),
    "region": ("region", "state", "country"),
    "country": ("country",),
    "continent": ("continent", "region", "country"),
}
"""What a facet of places of a kind is called, the nearest first."""
_NO_YEARS = frozenset(("age", "old", "experience"))
_TIMES = stem("times")
_AGED = frozenset(("old", "older", "younger", "newer"))


class _Reader:
    """What the mention at `place` of a question asks of the rows of a table, beside what was `found` before it."""

    def __init__(self, parsed: ParsedQuery, place: int, table: SearchTable, found: Conditions) -> None:
        self.parsed, self.place, self.table, self.found = parsed, place, table, found
        self.mention = parsed.mentions[place]

    @cached_property
    def own(self) -> SearchTable:
        """The table whose rows are meant."""
        return meant_table(self.parsed, self.table)

    @property
    def said(self) -> str:
        return self.parsed.said(self.mention)

    def _within(self, facet: Facet, range: DateRange | NumberRange | MoneyRange) -> list[Clause]:
        return _any_of([Condition(facet.name, range=range)], self.mention)

    def clauses(self) -> list[Clause]:
        """The clauses that one mention makes."""
        value = self.mention.value
        if isinstance(value, Known) and (date := self._happened_by_then(value)) is not None:
            return [(Condition(date.name, is_negated=self.mention.assertion == "negated"),)]
        if isinstance(value, Known):
            self._use_name_beside({known.facet for known in value.values})
            return _any_of(_by_facet(value.values), self.mention)
        if isinstance(value, Place):
            return self._place(value)
        if isinstance(value, DateRange):
            return self._date(value)
        if isinstance(value, (NumberRange, Duration)):
            return self._number(value)
        if isinstance(value, MoneyRange):
            money = [facet for facet in self.table.facets if facet.kind == "money"]
            return self._ranged(money, value)
        if isinstance(value, FacetName) and value.grain is None:
            return self._named(value)
        return []

    def _happened_by_then(self, value: Known) -> Facet | None:
        """The date of what a status says, where it is asked whether that has happened, or it is ruled out: what "has not been
        shipped" lacks its date, but what was delivered since is not called shipped either.
        """
        word = self.said.lower()
        before = {
            key
            for each in self.parsed.mentions[max(0, self.place - 2) : self.place]
            for key in keys(self.parsed.said(each))
        }
        if not self.table.reckons or not (
            is_participle(word) and (self.mention.assertion == "negated" or before & _PERFECT)
        ):
            return None
        own = self.own
        facets = {facet.name for facet in own.facets if facet.steps == 0 and facet.kind == "value"}
        dates = [each for each in own.facets if each.kind == "date" and each.steps == 0 and is_event(word, each.events)]
        is_status = any(each.facet in facets for each in value.values)
        return dates[0] if is_status and len(dates) == 1 and not own.united else None

    def _place(self, value: Place) -> list[Clause]:
        """Any of the places that this is, as the data spells them; one that it does not hold is missing, and nothing meets it."""
        facets = [facet.name for facet in self.table.facets if facet.kind == "place"]
        if not facets:
            return []
        if value.known and not value.known_within:
            return _any_of(_by_facet(value.known), self.mention)
        if value.known:
            both = _by_facet(value.known)[:1], _by_facet(value.known_within)[:1]
            if self.mention.assertion != "negated":
                return [tuple(each) for each in both]
            return [tuple(replace(condition, is_negated=True) for each in both for condition in each)]
        facet = _facet_of_places(value, self.table)
        if self.mention.assertion != "negated":
            self.found.missing.append(Missing(self.said, self.mention.span, facet))
        return _any_of([Condition(facet, (self.said,))], self.mention)

    def _date(self, value: DateRange) -> list[Clause]:
        """The dates, or years, of the facet that is named beside them, else of the one that dates the rows."""
        meant = meant_table(self.parsed, self.table, _is_dated)
        # "films made in 2024" have a year, where reviews have a date
        facets = self.table.facets if meant.date else meant.facets
        years = [facet for facet in facets if _counts_years(facet)]
        dates = [facet for facet in facets if facet.kind in ("date", "year")]
        # "who borrowed most books in May" is of loans, whatever the date of books
        said = [self.parsed.said(self.parsed.mentions[at]).lower() for at in self.found.verbs[:1]]
        others = [facet for facet in self.table.facets if facet.kind == "date"]
        spoken = [facet for facet in others if any(is_event(verb, facet.events) for verb in said)]
        facet = self._dated_by_verb([*dates, *spoken]) or self._closed(dates)
        facet = facet or self._named_beside([*dates, *years])
        if facet is not None and facet.name in self.found.not_happened:
            # "not paid in May" may be paid in June, or never
            return self._unanswerable()
        if facet is None:
            default = [each for each in dates if each.name == self.table.date]
            facet = next(iter((*default, *(years if value.grain == "year" else ()), *dates, *years)), None)
            if facet is not None and not self.table.reckons and self._is_of_amount():
                # when money was raised is not when a company was founded
                return self._unanswerable()
            if facet is not None and happened_otherwise(
                self.parsed.text, self.parsed.mentions, self.place, facet.events
            ):
                return self._unanswerable()
        if facet is None or (facet.kind != "date" and value.months):
            return self._unanswerable()
        if facet.kind in ("date", "year"):
            return self._within(facet, value)
        span = NumberRange(value.first.year if value.first else None, value.last.year if value.last else None)
        return self._within(facet, span)

    def _closed(self, dates: Sequence[Facet]) -> Facet | None:
        """The date on which what has the status that stands before a time was closed: "resolved in May"."""
        mentions = self.parsed.mentions
        for other in range(max(0, self.place - BETWEEN_MAX), self.place):
            word = self.parsed.said(mentions[other]).lower()
            is_verb = (
                isinstance(mentions[other].value, Known) and is_participle(word) and not is_adjective(mentions, other)
            )
            if is_verb and dated_by(mentions, other) == self.place:
                return next((each for each in dates if each.kind == "date" and closes(word, each.events)), None)
        return None

    def _is_of_amount(self) -> bool:
        """Whether the last facet before a date is a number by what was done to reach it ("raised")."""
        named = next(
            (each for each in reversed(self.parsed.mentions[: self.place]) if isinstance(each.value, FacetName)), None
        )
        return (
            named is not None
            and self.parsed.said(named).lower().endswith("ed")
            and all(self.table.facet(facet).kind in ("number", "money") for facet in _facets_called(named))
        )

    def _dated_by_verb(self, dates: Sequence[Facet]) -> Facet | None:
        """The date that the only verb of the question that is one of a date's speaks of, however far from it."""
        called = {place: _facets_called(self.parsed.mentions[place])[0] for place in self.found.verbs}
        verbs = {place: self.table.facet(name) for place, name in called.items()}
        dated = [place for place, facet in verbs.items() if facet.kind in ("date", "year")]
        if len(dated) != 1:
            return None
        self.found.used.add(dated[0])
        return next((each for each in dates if each.name == verbs[dated[0]].name), None)

    def _number(self, value: NumberRange | Duration) -> list[Clause]:
        if isinstance(value, Duration):
            return self._duration(value)
        if self.table.reckons and value.unit == _TIMES:
            return self._times(value)
        if (of_rows := self._rows_counted(value)) is not None:
            return of_rows
        if value.unit is not None and value.unit in {stem(keys(noun)[-1]) for noun in self.table.nouns}:
            if not self.table.reckons or not self._compares(_numbers(self.own)):
                return self._number_of_rows(value)
            value = replace(value, unit=None)
        if any(facet.unit and dimension_of(facet.unit) == dimension_of(value.unit) for facet in self.table.facets):
            return self._measured(value, value.unit or "")
        counted = [
            facet
            for facet in self.table.facets
            if value.unit is not None and value.unit in {stem(keys(unit)[-1]) for unit in units_of(facet)}
        ]
        if len(counted) > 1 and self.table.united:
            counted.sort(key=lambda facet: facet.name not in self.own.by_name)
        if self.mention.is_latent and not (counted and self.table.reckons):
            return self._bare_number(value)
        if counted:
            return self._within(counted[0], value)
        # an amount may be told without its currency ("raised more than 5 million")
        measured = [facet for facet in self.table.facets if facet.kind in ("number", "money")]
        return self._ranged(measured, value, named=True)

    def _rows_counted(self, value: NumberRange) -> list[Clause] | None:
        """ "More than 5 repairs", said of boats: a range of how many rows refer to one; None where it is no such range."""
        if value.least == value.most or self.found.first_noun is None or self.place < self.found.first_noun:
            return None
        # of rows that others refer to by two columns, or not at all, it cannot be told
        counted = [facet for facet in self.own.facets if facet.counts and self.table.united]
        named = self._named_beside(counted)
        called = [named] if named else [each for each in counted if value.unit in {stem(noun) for noun in each.counts}]
        if len(called) == 1 and self._is_dated_otherwise():
            return self._unanswerable()
        return self._within(called[0], value) if len(called) == 1 else None

    def _times(self, value: NumberRange) -> list[Clause]:
        """ "Stayed at least 8 times": a range of how many rows refer to one that are called as the verb is; else none
        tells it.
        """
        before = self.parsed.mentions[max(0, self.place - VERB_BEFORE_MAX) : self.place]
        deeds = {deed: facet for facet in self.own.facets if (deed := counted_deed(facet))}
        for verb in before:
            if isinstance(verb.value, Word) and (facet := deeds.get(verb.value.stem)):
                # "renewed 3 times" of `renewals`
                return _any_of(
                    [Condition(facet.name, range=value, evidence=(verb.span, self.mention.span))], self.mention
                )
        said = {stem(key) for each in before for key in keys(self.parsed.said(each))}
        counted = [
            facet
            for facet in self.own.facets
            if self.table.united and said & {stem(key) for noun in facet.counts for key in keys(noun)}
        ]
        if len(counted) != 1 or self._is_dated_otherwise():
            return self._unanswerable()
        return self._within(counted[0], value)

    def _is_dated_otherwise(self) -> bool:
        """Whether a time is said that no verb says to be one of the rows': that of what refers to them is counted at all
        times.
        """
        return not self.found.verbs and any(isinstance(each.value, DateRange) for each in self.parsed.mentions)

    def _measured(self, value: NumberRange, unit: str) -> list[Clause]:
        """A range in a unit, of the number that is measured in one of the kind: the one named beside it, or that its own words
        speak of, or the only one.
        """
        alike = [facet for facet in self.own.facets if facet.unit and dimension_of(facet.unit) == dimension_of(unit)]
        facet = self._named_beside(alike) or self._spoken_of(alike)
        if facet is None or facet.unit is None:
            return self._unanswerable()
        least, most = (converted(end, unit, facet.unit) for end in (value.least, value.most))
        return self._within(facet, replace(value, least=least, most=most))

    def _spoken_of(self, facets: Sequence[Facet]) -> Facet | None:
        """Of some numbers, the one that a comparison's own words speak of, or the only one; None where that is not clear."""
        before = self.parsed.mentions[self.place - 1] if self.place else self.mention
        meant = compared(self.said, facets) or (
            compared(self.parsed.said(before), facets) if isinstance(before.value, (Word, Cue)) else []
        )
        chosen = meant or facets
        return chosen[0] if len(chosen) == 1 else None

    def _number_of_rows(self, value: NumberRange) -> list[Clause]:
        """ "5 houses" says how many are wanted; "more than 5 houses" asks for what no row tells."""
        if value.least is None or value.least != value.most or not value.least.is_integer():
            return self._unanswerable()
        self.found.limit = int(value.least)
        self.found.used.add(self.place)
        return []

    def _bare_number(self, value: NumberRange) -> list[Clause]:
        """ "Floor 3" is of the facet beside it, "5 tall houses" says how many; else it is a word like others."""
        for following in self.parsed.mentions[self.place + 1 : self.place + 2 + ADJECTIVES_MAX]:
            if isinstance(following.value, Cue) and following.value.what == "noun":
                return self._number_of_rows(value)
            if not isinstance(following.value, (Known, Word)) or following.start - self.mention.end > NEAR_CHARACTERS:
                break
        facet = self._named_beside([facet for facet in self.table.facets if facet.kind == "number"])
        if facet is None:
            return self._unanswerable() if value.least != value.most else []
        self.found.used.add(self.place)
        return self._within(facet, value)

    def _duration(self, value: Duration) -> list[Clause]:
        """Lengths are in months; a facet counts years, months or what its units say."""
        if self.table.reckons and _AGED & {*keys(self.said)}:
            return self._age(value) or self._unanswerable()
        per_month = {"day": 365 / 12, "week": 52 / 12, "hour": 365 * 2, "hr": 365 * 2}.get(value.unit or "")
        if per_month and any(dimension_of(facet.unit) == "time" for facet in self.table.facets):
            # months are rounded to what a minute needs
            least, most = (None if end is None else round(end * per_month, 2) for end in (value.least, value.most))
            told = NumberRange(least, most, value.includes_least, value.includes_most)
            return self._measured(told, value.unit or "")
        for unit, months in (
            ("month", 1),
            ("year", 12),
            ("minut", 1 / 43_830),
            ("hour", 1 / 730.5),
            ("day", 1 / 30.4375),
        ):
            for facet in self.table.facets:
                if facet.kind == "number" and unit in {stem(keys(each)[-1]) for each in facet.units}:
                    least, most = value.least, value.most
                    span = NumberRange(
                        round(least / months, 3) if least is not None else None,
                        round(most / months, 3) if most is not None else None,
                    )
                    return self._within(facet, span)
        return self._age(value) or self._unanswerable()

    def _age(self, value: Duration) -> list[Clause]:
        """ "Older than 100 years", "less than ten years old": of what is dated by the year in which it came to be, and of
        anybody's rows by the year or the date that tells how old they are ("older than 30 days").
        """
        if not _AGED & {*keys(self.said)}:
            return []
        if self.table.reckons:
            own = self.own
            facet = None if own.united else aged_by(own, of_people=self.parsed.asks_who or are_called_people(own))
        else:
            facet = next(
                (each for each in self.table.facets if each.name == self.table.date and each.kind == "year"), None
            )
        if facet is None:
            return []
        try:
            came = (_years_ago if facet.kind == "year" else _days_ago)(self.parsed.reference_date, value)
        except (ValueError, OverflowError):
            return []
        return self._within(facet, came)

    def _ranged(self, facets: Sequence[Facet], value: NumberRange | MoneyRange, named: bool = False) -> list[Clause]:
        """A range of the facet that is named beside it, or of the only one; `named`: it must be named. Where anybody's tables are
        read, it is that which the range's own words speak of ("cheaper than 20"), of the table that is meant.
        """
        facet = self._named_beside(facets)
        if facet is not None and self.table.reckons and speaks_of_other(self.said, facet):
            return self._unanswerable()
        if facet is None and self.table.reckons:
            facet = self._meant_number(
                [each for each in facets if each.name in self.own.by_name and each.steps == 0], value
            )
        elif facet is None and facets and not named:
            if isinstance(value, MoneyRange) and (other := self._another_amount(facets)) is not None:
                # what a company turns over is not what it raised
                return self._unanswerable(other)
            facet = facets[0]
        if facet is None or (isinstance(value, MoneyRange) and not facet.is_in(value.currency)):
            return self._unanswerable()
        return self._within(facet, value)

    def _meant_number(self, facets: Sequence[Facet], value: NumberRange | MoneyRange) -> Facet | None:
        """Of some numbers, the one that is meant by a range that names none: that which its own words speak of; of an amount of
        money what a thing costs; of a plain number of orders or payments what they come to.
        """
        if self._compares(facets):
            return self._spoken_of(facets)
        if isinstance(value, MoneyRange):
            costs = facets_of_adjective("cheap", facets)
            return costs[0] if len(costs) == 1 else None
        return amount_of_sale(self.own)

    def _compares(self, facets: Sequence[Facet]) -> bool:
        """Whether a comparison's own words speak of one of some numbers."""
        before = self.parsed.mentions[self.place - 1] if self.place else self.mention
        return bool(compared(self.parsed.text[before.start : self.mention.end], facets))

    def _another_amount(self, facets: Sequence[Facet]) -> Mention | None:
        """The word near an amount of money that says of what it is, where none of these is that ("revenue")."""
        for other in range(max(0, self.place - 3), min(len(self.parsed.mentions), self.place + 3)):
            named = self.parsed.mentions[other]
            gap = self.mention.start - named.end if other < self.place else named.start - self.mention.end
            is_word = isinstance(named.value, (Word, FacetName)) and gap <= NEAR_CHARACTERS
            if is_word and any(is_another_amount(stem(key), facets) for key in keys(self.parsed.said(named))):
                return named
        return None

    def _unanswerable(self, named: Mention | None = None) -> list[Clause]:
        """Nothing here tells what the mention says, with what is `named` beside it."""
        mentions = (self.mention, named or self.mention)
        said = Span(min(each.start for each in mentions), max(each.end for each in mentions))
        self.found.unanswerable.append(Missing(self.parsed.text[said.start : said.end], said))
        return []

    def _named_beside(self, facets: Sequence[Facet]) -> Facet | None:
        """Of `facets`, the one that is named nearest to the mention, in its clause."""
        by_name = {facet.name: facet for facet in facets}
        best: tuple[int, int, Facet] | None = None
        for other in range(max(0, self.place - 3), min(len(self.parsed.mentions), self.place + 4)):
            name = self.parsed.mentions[other]
            if not isinstance(name.value, FacetName) or name.value.grain:
                continue
            gap = self.mention.start - name.end if other < self.place else name.start - self.mention.end
            named = next((by_name[facet] for facet in name.value.facets if facet in by_name), None)
            if named and gap <= NEAR_CHARACTERS and (best is None or gap < best[0]):
                best = gap, other, named
        if best is None:
            return None
        self.found.used.add(best[1])
        return best[2]

    def _use_name_beside(self, facets: set[str]) -> None:
        """ "The channel email", "email channel", "by channels other than email": the name of the facet says what the value is,
        and nothing of its own, unless it is what is asked for ("which channels other than email").
        """
        before = self.place - 1
        while before > max(0, self.place - 1 - CUES_BETWEEN_MAX) and isinstance(
            self.parsed.mentions[before].value, Cue
        ):
            before -= 1
        for other in (before, self.place + 1):
            if 0 <= other < len(self.parsed.mentions):
                value = self.parsed.mentions[other].value
                lead = self.parsed.mentions[other - 1].value if other else None
                is_asked_for = isinstance(lead, Asked) and lead.what != "group"
                if isinstance(value, FacetName) and facets & set(value.facets) and not is_asked_for:
                    self.found.used.add(other)

    def _named(self, value: FacetName) -> list[Clause]:
        """A facet's name that says something by itself: of a boolean facet, that it holds; "no" of a number, that it is 0."""
        facet = self.table.facet(value.facets[0])
        evidence = (self.mention.span,)
        if facet.kind == "boolean":
            return [
                (Condition(facet.name, ("true",), is_negated=self.mention.assertion == "negated", evidence=evidence),)
            ]
        if facet.counts and self.mention.assertion == "negated":
            return [(Condition(facet.name, range=NumberRange(0, 0), evidence=evidence),)]
        if facet.kind == "number" and self.mention.assertion == "negated":
            return [(Condition(facet.name, range=NumberRange(None, 0), evidence=evidence),)]
        return []


def _any_of(conditions: Sequence[Condition], mention: Mention) -> list[Clause]:
    """One clause of conditions of which any may be meant; negated, none of them holds."""
    if mention.assertion != "negated":
        return [tuple(conditions)] if conditions else []
    return [(replace(condition, is_negated=True),) for condition in conditions]


def _by_facet(values: Sequence[KnownValue]) -> list[Condition]:
    facets: dict[str, list[KnownValue]] = {}
    for value in values:
        facets.setdefault(value.facet, []).append(value)
    return [
        Condition(facet, tuple(dict.fromkeys(each.value for each in of)), strength=_strength(of))
        for facet, of in facets.items()
    ]


def _strength(values: Sequence[KnownValue]) -> Strength:
    return "stated" if all(value.is_whole and value.likeness >= 1 for value in values) else "inferred"


def _facet_of_places(value: Place, table: SearchTable) -> str:
    """The facet that such a place would be a value of."""
    facets = [facet for facet in table.facets if facet.kind == "place"]
    named = (
        facet.name
        for word in _CALLED[value.kind]
        for facet in facets
        if word in (facet.name, facet.label, *facet.words)
    )
    return next(named, facets[0].name)


def _is_dated(table: SearchTable) -> bool:
    return any(facet.kind in ("date", "year") or _counts_years(facet) for facet in table.facets)


def _facets_called(mention: Mention) -> tuple[str, ...]:
    return mention.value.facets if isinstance(mention.value, FacetName) else ()


def _happened(parsed: ParsedQuery, asked_about: frozenset[int], found: Conditions) -> list[tuple[int, Condition]]:
    """That something happened at all, on whatever date ("shipped", "not paid")."""
    said_otherwise = asked_about | found.used
    return [
        (place, Condition(_facets_called(mention)[0], is_negated=mention.assertion == "negated"))
        for place, mention in ((place, parsed.mentions[place]) for place in found.verbs if place not in said_otherwise)
        if mention.assertion in ("affirmed", "negated", "required")
    ]


def _counts_years(facet: Facet) -> bool:
    """Whether a number is a year, by what it is called."""
    if facet.kind != "number":
        return False
    called = {key for name in (facet.label, *facet.words) for key in keys(name)}
    return "year" in called and not called & _NO_YEARS


def _years_ago(today: datetime.date, age: Duration) -> DateRange:
    """The years in which something of an age came to be; what is more than ten years old in one before that of ten years ago."""
    first = last = None
    if age.most is not None:
        first = datetime.date(max(1, today.year - int(age.most // 12) + (not age.includes_most)), 1, 1)
    if age.least is not None:
        last = datetime.date(max(1, today.year - int(age.least // 12) - (not age.includes_least)), 12, 31)
    return DateRange(first, last, grain="year")


def _days_ago(today: datetime.date, age: Duration) -> DateRange:
    """The days on which something of an age came to be. Raises ValueError, OverflowError."""
    first, last = _ago(today, age.most, age.unit), _ago(today, age.least, age.unit)
    # what came to be on the day itself is neither older nor younger
    return DateRange(
        shifted(first, "day", 1) if first and not age.includes_most else first,
        shifted(last, "day", -1) if last and not age.includes_least else last,
    )


def _ago(day: datetime.date, months: float | None, unit: str | None) -> datetime.date | None:
    """The day so many months before another; where the length was said in days or weeks, to the day."""
    if months is None:
        return None
    if unit in ("day", "week"):
        return shifted(day, "day", -round(months * 365 / 12))
    return shifted(day, "month", -round(months))


def _numbers(table: SearchTable) -> list[Facet]:
    return [facet for facet in table.facets if facet.is_measurable]
