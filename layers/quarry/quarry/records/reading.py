"""A question over records, read once for all types: which of them it asks for, and what their records must be like.

Records are prose, and most of what a question says is what they tell about, not what they are: "the 2026 budget" is no record of
2026. So a condition must hold only where the question names the records that it is said of ("tickets opened in March"), or says
nothing else, or names a day. Elsewhere it adds weight.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise

from quarry.language.stemming import stem, stem_set
from quarry.language.tokens import says_something_by_case
from quarry.platform.off_loop import off_loop
from quarry.postgres.pool import Database
from quarry.query.worded import can_have
from quarry.records.intent import exclusions_in
from quarry.records.searched_types import RecordTypes
from quarry.retrieval.facets import Facet, SearchTable
from quarry.retrieval.reading import read_question
from quarry.spans.date_verbs import is_event, is_undone, tells_of
from quarry.spans.interpretation import interpret
from quarry.spans.mention import (
    Asked,
    AskedFor,
    Cue,
    DateRange,
    FacetName,
    Known,
    KnownValue,
    Mention,
    MoneyRange,
    NumberRange,
    ParsedQuery,
    Place,
    Span,
    Word,
)
from quarry.spans.question import Ask, Clause, Condition, Question, Reading, spans_of

CLAUSES_MAX = 12
"""So many conditions a question may have; of more, the first ones hold."""


_ON_THE_WHOLE = stem_set("spend spent earn earned pay")
"""What is asked so is a sum."""
_RECORDS = stem_set("record entry row")
"""What records of any type are called."""
_JOINING = (Cue("and"), Cue("or"))


@dataclass(frozen=True)
class RecordsReading:
    """A question as it was read. `clauses` are its conditions on records; `must_hold`: no others are meant. `named` are the types
    that it asks for by name, `counted` those that it asks the number of, one after the other where it names several. `words` are
    what is left to be found by words: all but what the conditions say. `excludes`: a dash rules some out ("council -parks"), also
    where they are a value of the data.
    """

    types: RecordTypes
    parsed: ParsedQuery
    question: Question
    clauses: Sequence[Clause] = ()
    named: Sequence[str] = ()
    counted: Sequence[Sequence[str]] = ()
    must_hold: bool = False
    words: str = ""
    excludes: bool = False
    as_words: Mapping[Clause, str] = field(default_factory=dict)
    """The conditions that say nothing of the types that it names, each with the words that are looked for in its place."""

    @property
    def authors(self) -> frozenset[str]:
        """Who is to have said it, as they stand in the data; none where the question names nobody."""
        facets = {name for each in self.types.values() for name in each.authors}
        named = (condition for clause in self.clauses for condition in clause if condition.facet in facets)
        return frozenset(value for condition in named if not condition.is_negated for value in condition.values)

    @property
    def rows_asked_for(self) -> frozenset[str]:
        """The types of anybody's rows that the question asks for by name; what is only counted, as meetings are, is of none."""
        return frozenset(name for name in self.named if name in self.types and self.types[name].table.reckons)

    @property
    def asks_what_no_row_says(self) -> bool:
        """Whether it asks for a number of anybody's rows, an average or a share of them, which of them has the most or the least
        of something, what was spent or earned on the whole, or what is more or less than they tell.
        """
        asked = self.asked
        if "count" in asked and not self.rows_asked_for.isdisjoint(chain(*self.counted)):
            return True
        names_rows = any(each.value == Cue("noun") for each in self.parsed.mentions)
        if self.types.united.reckons and names_rows and asked & {"most", "least"}:
            return True
        is_total = "measure" in asked and any(stem(token.key) in _ON_THE_WHOLE for token in self.parsed.tokens)
        untold = {missing.evidence for missing in self.question.unanswerable}
        compares = any(
            isinstance(each.value, NumberRange | MoneyRange)
            and each.value.least != each.value.most
            and each.span in untold
            for each in self.parsed.mentions
        )
        return self.types.united.reckons and bool(is_total or compares or asked & {"average", "share"})

    @property
    def asked(self) -> set[AskedFor]:
        """All that is asked for in so many words; empty of what is no question."""
        return {mention.value.what for mention in self.parsed.mentions if isinstance(mention.value, Asked)}

    def lists(self, given: Sequence[Clause] = ()) -> bool:
        """Whether nothing is said but which records are meant, by its conditions or those that are `given`."""
        if self.excludes and not self.named:
            return False  # what records hold is meant, not only which they are
        return self.must_hold and bool(self.clauses or given) and not self.question.topic

    @property
    def asks_for_latest(self) -> bool:
        """Whether the question asks for the latest records ("the most recent", "latest")."""
        ask = self.question.ask
        return ask.kind == "extreme" and not ask.ascending and ask.facet == self.types.united.date

    def counting(self) -> RecordsReading:
        """The same, where the number of its records is asked for."""
        return replace(
            self, question=replace(self.question, ask=Ask("count")), counted=[self.named] if self.named else ()
        )

    def clauses_for(self, table: SearchTable) -> list[Clause] | None:
        """The conditions as this table can tell them; None where it cannot tell one, or dates its rows by something else."""
        if table.reckons and not tells_when(self.parsed, self.question, table):
            return None
        return told_of(table, self.clauses)


async def read_records(
    database: Database, types: RecordTypes, text: str, *, earlier: Sequence[str] = ()
) -> RecordsReading:
    """What `text` asks of records of these types; `earlier` are the questions before it, the last one last, of which it keeps
    what it does not change. Raises DatabaseUnavailable.
    """
    reading = await read_question(database, types.united, text, earlier=earlier, owners=types.owners)
    return await off_loop(_placed, types, reading)


def _placed(types: RecordTypes, reading: Reading) -> RecordsReading:
    before = _placed(types, reading.taken_up) if reading.taken_up else None
    return place(types, reading.parsed, reading.question, before)


def by_itself(reading: RecordsReading) -> RecordsReading:
    """What the question asks where it takes up none before it."""
    return place(reading.types, reading.parsed, interpret(reading.parsed, reading.types.united))


def place(
    types: RecordTypes, parsed: ParsedQuery, question: Question, before: RecordsReading | None = None
) -> RecordsReading:
    """The reading with what is said of records told from what these tell about; `before` is that of the question it takes up."""
    asked, said_before = set(question.clauses), set(before.question.clauses) if before else set[Clause]()
    others = {each.span for pair in other_names(parsed, types.united) for each in pair}
    named = _named(parsed, types) or (before.named if before else ())
    as_words = {clause: said for clause, said in (before.as_words if before else {}).items() if clause in asked}
    as_words |= parts_of_others(parsed, question.clauses, [types.counted[name] for name in named])
    question = _with_words(question, as_words)
    kept = [clause for clause in before.clauses if clause in asked] if before else []
    own = [
        clause
        for clause in question.clauses[:CLAUSES_MAX]
        if clause not in said_before
        and not is_soft(clause, types.united)
        and not any(others.intersection(condition.evidence) for condition in clause)
    ]
    says_more = bool(question.topic or question.unanswerable or question.excluded_words) or (
        # in prose, "is there" asks whether something is told of
        question.ask.kind == "exists" and not types.united.reckons
    )
    names_a_day = any(_is_a_day(condition) for clause in own for condition in clause)
    must_hold = bool(named) or names_a_day or not says_more
    clauses = [*kept, *(clause for clause in own if must_hold or not _only_describes(clause, parsed, types.united))][
        :CLAUSES_MAX
    ]
    excluded = exclusions_in(parsed.text)
    return RecordsReading(
        types,
        parsed,
        question,
        clauses,
        named,
        _counted(parsed, types) or (before.counted if before else ()),
        must_hold,
        question.topic if before else _without(parsed, clauses, excluded),
        bool(excluded),
        as_words,
    )


def parts_of_others(
    parsed: ParsedQuery, clauses: Sequence[Clause], tables: Collection[SearchTable]
) -> dict[Clause, str]:
    """The clauses whose words are a part of a value that other tables alone hold, each with these words: of "Toner care", a topic
    of guides, "toner" says nothing of the topics of calls. Empty where no tables are given.
    """
    known = {(each.facet, each.value): each for each in known_values(parsed)}
    found: dict[Clause, str] = {}
    for clause in clauses if tables else ():
        values = [(each.facet, value) for each in clause for value in each.values]
        is_part = all(each.values and not each.is_negated for each in clause) and all(
            each in known and (not known[each].is_whole or known[each].likeness < 1) for each in values
        )
        if is_part and not any(may_hold(table, known[each]) for table in tables for each in values):
            spans = sorted(spans_of([clause]), key=lambda span: span.start)
            found[clause] = " ".join(parsed.text[span.start : span.end] for span in spans)
    return found


def known_values(parsed: ParsedQuery) -> list[KnownValue]:
    """The values of the data that a question names."""
    said = [mention.value for mention in parsed.mentions]
    known = chain.from_iterable(each.values for each in said if isinstance(each, Known))
    placed = chain.from_iterable((*each.known, *each.known_within) for each in said if isinstance(each, Place))
    return [*known, *placed]


def may_hold(table: SearchTable, value: KnownValue) -> bool:
    """Whether a row of the table may have the value."""
    return value.facet in table.by_name and (table.name in value.tables or value.facet in table.uncounted)


def _with_words(question: Question, as_words: Mapping[Clause, str]) -> Question:
    """The question with these words in the place of these clauses."""
    if not as_words:
        return question
    topic = " ".join(filter(None, [question.topic, *as_words.values()]))
    return replace(question, clauses=[each for each in question.clauses if each not in as_words], topic=topic)


def _without(parsed: ParsedQuery, clauses: Sequence[Clause], excluded: Sequence[Span]) -> str:
    """The question but for the mentions that make these conditions. What a dash excludes (`excluded`) stays excluded."""
    said = spans_of(clauses)
    within = {place for each in excluded for place in range(each.start, each.end)}
    asked = parsed.pieces(
        mention for mention in parsed.mentions if mention.start not in within and mention.span not in said
    )
    return " ".join([*asked, *(parsed.text[each.start : each.end] for each in excluded)]) if asked else ""


def is_soft(clause: Clause, table: SearchTable) -> bool:
    """Whether the values are words like others in prose, however they are asked about."""
    return not any(condition.is_negated or table.facet(condition.facet).is_hard for condition in clause)


def tellable(clause: Clause, table: SearchTable) -> Clause:
    """Those of the conditions that this table can tell. Somebody who may be meant as several things is what the first
    facet of people tells. What a row may be like itself is not asked of what it refers to.
    """
    facets = table.by_name
    people = [facet.name for facet in table.facets if facet.is_people]
    told = [condition for condition in clause if condition.facet in facets and can_have(table, (condition,))]
    nearest = min((facets[condition.facet].steps for condition in told), default=0)
    told = [condition for condition in told if facets[condition.facet].steps == nearest]
    if sum(condition.facet in people for condition in told) > 1:
        told = [condition for condition in told if condition.facet not in people[1:]]
    return tuple(told)


def told_of(table: SearchTable, clauses: Sequence[Clause]) -> list[Clause] | None:
    """The clauses as this table can tell them; None where it cannot tell one. Of a value that facets of several tables
    have, each is ruled out by a clause of its own: those of other tables say nothing here.
    """
    told = [tellable(clause, table) for clause in clauses]
    ruled_out = {each.evidence for clause in told for each in clause if each.is_negated and each.evidence}
    untold = (clause for clause, known in zip(clauses, told, strict=True) if not known)
    is_whole = all(each.is_negated and each.evidence in ruled_out for clause in untold for each in clause)
    return [clause for clause in told if clause] if is_whole and all(clauses) else None


def tells_when(parsed: ParsedQuery, question: Question, table: SearchTable) -> bool:
    """Whether the verbs that speak of a date speak of one of this table's: dates of several tables may be called the same."""
    facets = table.by_name
    # "paid the deposit" may be a yes or no
    told = {
        evidence
        for clause in question.clauses
        for condition in clause
        if condition.facet in facets and facets[condition.facet].kind == "boolean"
        for evidence in condition.evidence
    }.union(question.asked_by)
    for mention in parsed.mentions:
        is_told = mention.span in told
        if isinstance(mention.value, FacetName) and mention.source == "rule" and not is_told:
            facet = facets.get(mention.value.facets[0])
            word = parsed.said(mention)
            if is_undone(mention) and any(stem(noun) == stem(word) for noun in table.nouns):
                # who has "never ordered" is in no order
                return False
            if is_undone(mention) and not tells_of(word, facet.events if facet else ()):
                word = word.lower().removeprefix("un")
            # "films made in 2024" have a year
            is_of_year = facet is None and tells_of(word, ()) and any(each.kind == "year" for each in table.facets)
            # a booking is made when it is booked
            is_made = (
                facet is not None and tells_of(word, ()) and any(is_event(noun, facet.events) for noun in table.nouns)
            )
            if is_of_year or is_made:
                continue
            if facet is None or (facet.events and not tells_of(word, facet.events)):
                return False
    return True


def _named(parsed: ParsedQuery, types: RecordTypes) -> tuple[str, ...]:
    """The types that the question asks for by what they are called, before it says anything of them."""
    for mention in parsed.mentions:
        value = mention.value
        if value == Cue("noun"):
            return types.called(parsed.said(mention))
        if is_undone(mention):
            continue
        if isinstance(value, FacetName) or (isinstance(value, Cue) and value.what in ("relates", "light")):
            return ()
    return ()


def _counted(parsed: ParsedQuery, types: RecordTypes) -> Sequence[Sequence[str]]:
    """The types that "how many" is followed by, each as one thing may be called: what they are called ("how many motions and
    matters"), the value of a facet that tells what kind of thing a record is ("how many ordinances"), or all ("how many
    records"). None where something else is counted beside them.
    """
    asks = (place for place, each in enumerate(parsed.mentions) if _asks_how_many(each))
    behind = parsed.mentions[next(asks, len(parsed.mentions)) + 1 :]
    for place, mention in enumerate(behind):
        value = mention.value
        if value == Cue("noun"):
            return _called_together(parsed, types, behind[place:])
        if isinstance(value, Known) and (kind := _kind(value, types)):
            return [kind]
        if names_records(mention):
            return [(name,) for name in types]
        if not (isinstance(value, Known) or value == Cue("filler") or is_undone(mention)):
            return ()
    return ()


def _called_together(parsed: ParsedQuery, types: RecordTypes, mentions: Sequence[Mention]) -> Sequence[Sequence[str]]:
    """The types that the first of the mentions is called by, and those that others behind it are; none where something else is
    joined to them.
    """
    called = [types.called(parsed.said(mentions[0]))]
    for before, mention in pairwise(mentions):
        is_another = before.value in _JOINING or parsed.text[before.end : mention.start].strip() == ","
        if mention.value == Cue("noun") and (is_another or _asks_how_many(before)):
            called.append(types.called(parsed.said(mention)))
        elif not (mention.value in _JOINING or (_asks_how_many(mention) and is_another)):
            return () if before.value in _JOINING else called
    return called


def _asks_how_many(mention: Mention) -> bool:
    return isinstance(mention.value, Asked) and mention.value.what in ("count", "distinct")


def names_records(mention: Mention) -> bool:
    """Whether a word means records of any type ("records", "entries")."""
    return isinstance(mention.value, Word) and mention.value.stem in _RECORDS


def _kind(known: Known, types: RecordTypes) -> tuple[str, ...]:
    facets = {value.facet for value in known.values if value.is_whole}
    kinds = tuple(name for name, each in types.items() if each.table.called_by in facets)
    return kinds if len(kinds) == 1 else ()


def _is_a_day(condition: Condition) -> bool:
    days = condition.range
    return isinstance(days, DateRange) and days.first is not None and days.first == days.last


def _only_describes(clause: Clause, parsed: ParsedQuery, table: SearchTable) -> bool:
    """Whether words that make a condition elsewhere say in prose what a record is about."""
    text = parsed.text
    return any(
        condition.is_negated
        or not _is_of_people_or_days(table.facet(condition.facet))
        or (condition.range is not None and _asks_for_reasons(parsed))
        or _is_a_name(condition, text)
        or _is_small_part(condition, text)
        for condition in clause
    )


def _is_of_people_or_days(facet: Facet) -> bool:
    return facet.is_people or facet.kind in ("name", "date")


def _asks_for_reasons(parsed: ParsedQuery) -> bool:
    """Whether the question is why or how something came to be: its dates are those of that."""
    return bool(parsed.tokens) and parsed.tokens[0].key in ("why", "how")


def _is_a_name(condition: Condition, text: str) -> bool:
    """A year before a word ("the 2026 budget")."""
    if not isinstance(condition.range, DateRange) or condition.range.grain != "year":
        return False
    return any(
        " the " in f" {text[said.start : said.end].lower()} " or text[said.start : said.start + 1].isdigit()
        for said in condition.evidence
    )


def _is_small_part(condition: Condition, text: str) -> bool:
    """A word in small letters that is part of a name."""
    return condition.strength == "inferred" and any(
        text[said.start : said.end].islower() and " " not in text[said.start : said.end] for said in condition.evidence
    )


def other_names(parsed: ParsedQuery, table: SearchTable) -> list[tuple[Mention, Mention]]:
    """Where two words stand together as a name of which one is known, as part of somebody else's ("Ada Byron" where the data
    knows an Ada Lovelace).
    """
    if not says_something_by_case(parsed.tokens):
        return []
    return [
        (one, other)
        for one, other in pairwise(parsed.mentions)
        if other.start - one.end == 1
        and is_written_as_name(one, parsed)
        and is_written_as_name(other, parsed)
        and (
            (_is_partial_name(one, table) and isinstance(other.value, Word))
            or (isinstance(one.value, Word) and _is_partial_name(other, table))
        )
    ]


def is_written_as_name(mention: Mention, parsed: ParsedQuery) -> bool:
    text = parsed.said(mention)
    return text[:1].isupper() and text[1:2].islower()


def _is_partial_name(mention: Mention, table: SearchTable) -> bool:
    return isinstance(mention.value, Known) and all(
        table.facet(value.facet).kind in ("name", "array") and not value.is_whole for value in mention.value.values
    )
