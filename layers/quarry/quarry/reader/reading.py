"""Reads a question as its most likely Query, with the probability that this is right, and what its candidates agree on,
weighted by probability. Pure except for the model.
"""

from __future__ import annotations

import datetime
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import ValidationError

from quarry.language.recognition import softmax
from quarry.language.word_forms import STOP_WORDS, phrase, runs, stems_of, tokenise
from quarry.platform.contract import Assertion, Evidence
from quarry.query.contract import Verdict
from quarry.query.paths import MONTH
from quarry.reader.candidates import Candidate, Candidates, candidates, ordering_words, text_of
from quarry.reader.learned import PAIRS_MAX, Learned, PairModel, first_text, known_words
from quarry.reader.mentions import DateMention, Mentions, ValueLink, ValueMention, WordRun, union
from quarry.reader.names import KEY, FieldName, Name, SourceName
from quarry.reader.options import LIKENESS_MIN, NAMED_IN_FULL
from quarry.reader.surroundings import is_bounding_word, is_closed
from quarry.schema.algebra import CONDITIONS, Comparison, Condition, Query, Span
from quarry.schema.source import Schema


class Unread:
    """The words of a question that its first candidate does not read, and which of them take its certainty away."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates, self._mentions, self._first = candidates, candidates.mentions, candidates.all[0]

    @cached_property
    def explained(self) -> set[str]:
        """The words that frame questions of this kind, those that led to a part of the first candidate, and those that stand for
        a field in it.
        """
        first, clues, vocabulary = self._first, self._candidates.clues, known_words()
        led = clues.leading_words(set(first.bundles)) | clues.standing_for(self._fields)
        kind = "numbers" if first.ask.kind == "share" else first.kind
        # "paid" frames "how much was paid", and says which are counted in "how many are paid"
        kinds = (kind,) if kind in ("count", "numbers") else vocabulary.framing
        words = set().union(led & vocabulary.telling, *[vocabulary.framing.get(each, ()) for each in kinds])
        if kind != "groups":
            words -= vocabulary.grouping  # a list or one number says nothing "per month"
        fitting, others = ordering_words(first.ask, self._mentions)
        return (words - others) | fitting

    @cached_property
    def may_state(self) -> list[str]:
        """What may state a condition that the first candidate lacks: values, numbers, times and texts that it does not read;
        words beside what it asks for ("signed deals", "deals that were signed"); and the name of a field that it only requires
        to have some value, unless that is a time: "active" may be one of several values.
        """
        places = sorted({*self._beside(), *self._names_of_any_value()})
        words = [self._mentions.tokens[place].text for place in places]
        return list(dict.fromkeys((*vetoes(self._mentions, self._first.mask), *words)))

    @cached_property
    def doubtful(self) -> list[str]:
        """What takes the certainty of the first candidate away: what may state a condition that it lacks, the times that it
        compares with a date of which the question says nothing: "the average weight of pets in 2024", where pets have only a day
        of birth, and the times that an unread word may bound.
        """
        return list(dict.fromkeys((*self.may_state, *self._times_of_unnamed_dates(), *self._open_times())))

    @property
    def words(self) -> list[str]:
        """The words that no part of the first candidate reads, first those that take its certainty away."""
        return list(dict.fromkeys((*self.doubtful, *self._mentions.unread(self._first.mask, self.explained))))

    @cached_property
    def is_behind(self) -> bool:
        """Whether the question names another source before the one whose rows are asked for."""
        base, mentions = self._first.ask.base, self._mentions
        own = mentions.best(base)
        return any(
            places[0].likeness >= NAMED_IN_FULL and (own is None or places[0].first < own.first)
            for each, places in mentions.places.items()
            if isinstance(each, SourceName) and each is not base
        )

    def _beside(self) -> Iterator[int]:
        """The unread words that stand beside the words for what is asked, with only unread words and stop words between. For a
        number, those beside its conditions too: "orders from Spain are refunded". Where no word names what is asked, all of
        them: "students", where only teachers are known.
        """
        first = self._first
        mask = first.ask.evidence.mask
        if mask and first.kind in ("count", "numbers", "groups"):
            mask |= first.conditions.evidence.mask
        unread = self._unread()
        for place in unread:
            ends = (_next_read(self._mentions, unread, place, step) for step in (-1, 1))
            if not mask or any(end >= 0 and mask >> end & 1 for end in ends):
                yield place

    def _unread(self) -> set[int]:
        """The words that are no stop words, have led to nothing, and name nothing that the first candidate uses."""
        mentions, sources = self._mentions, self._candidates.clues.names.sources
        mask = self._first.mask
        of = {self._first.ask.base.name, *(each.source for each in self._fields)}
        used: list[Name] = [*self._fields, *(sources[name] for name in of)]
        mask |= union(place.mask for each in used for place in mentions.places.get(each, ()))
        return {
            place
            for place, token in enumerate(mentions.tokens)
            if not mask >> place & 1 and token.key not in STOP_WORDS and token.key not in self.explained
        }

    @cached_property
    def _fields(self) -> list[FieldName]:
        """The fields that the first candidate asks for or compares."""
        return [*self._first.ask.fields, *(test.field for test in self._first.conditions.tests if test.field)]

    def _times_of_unnamed_dates(self) -> list[str]:
        """The times, as written, if a date is compared with them that no word of the question stands for and that does not date
        the rows asked for.
        """
        first, mentions = self._first, self._mentions
        tests = (test for test in first.conditions.tests if test.form == "field" and test.values)
        compared = [test.field for test in tests if test.field and (test.field.is_date or test.field.kind == "year")]
        if all(self._is_certain(each) for each in compared):
            return []
        places = [*(each.place for each in mentions.days), *(each.place for each in mentions.lengths)]
        return [
            phrase(mentions.text, mentions.tokens, each.first, each.last) for each in places if each.mask & first.mask
        ]

    def _open_times(self) -> Iterator[str]:
        """The times that the first candidate reads although a word right before them, or the words around, may bound them."""
        mentions = self._mentions
        for each in mentions.days:
            place, is_bare = each.place.first - 1, is_closed(each.days) and not each.is_introduced
            is_unread = is_bare and place >= 0 and not mentions.tokens[place + 1].ends_clause and self._may_bound(place)
            if each.place.mask & self._first.mask and (each.is_open or is_unread):
                yield phrase(mentions.text, mentions.tokens, place if is_unread else each.place.first, each.place.last)

    def _may_bound(self, place: int) -> bool:
        """Whether a word is read by nothing, and not known to leave a time as it is."""
        word, mask = self._mentions.tokens[place].key, self._first.mask | self._mentions.alignable
        return not mask >> place & 1 and not is_bounding_word(word) and word not in self.explained

    def _is_certain(self, each: FieldName) -> bool:
        """Whether a bare time can only be one of this field's: it dates the rows asked for, or those of a source that the
        question names, words stand for it, or it is called nothing but what it holds: a `year`.
        """
        mentions, clues, first = self._mentions, self._candidates.clues, self._first
        sources = clues.names.sources
        of = sources[each.source]
        about = [test.about for test in first.conditions.tests if test.form in ("some", "none") and test.about]
        if any(name != of.name and sources[name].dated for name in about):
            return _is_named(mentions.best(each))  # "no order in May" tells of the orders, not of the customers
        if each is of.dated and (of is first.ask.base or mentions.best(of) is not None):
            return True
        is_plain = any(set(name) <= {*stems_of(each.kind)} for name in each.names)
        return is_plain or _is_named(mentions.best(each)) or bool(clues.standing_for([each]) - STOP_WORDS)

    def _names_of_any_value(self) -> Iterator[int]:
        """The words that name fields which must only have some value, one of several kinds or a text."""
        for test in self._first.conditions.tests:
            each = test.field if test.op == "not_null" else None
            if each is not None and (each.is_listed or each.kind == "text"):
                place = self._mentions.best(each)
                yield from range(place.first, place.last) if place else ()


def vetoes(mentions: Mentions, mask: int) -> list[str]:
    """The reasons not to answer with confidence: values, numbers, times and quoted texts that no part reads."""
    unread = {(each.place.first, each.place.last) for each in mentions.spans if not each.place.mask & mask}
    return [phrase(mentions.text, mentions.tokens, first, last) for first, last in sorted(unread)]


def _next_read(mentions: Mentions, unread: set[int], place: int, step: int) -> int:
    """The next word in a direction that is neither unread nor a stop word, within the clause; -1 if there is none."""
    while True:
        if step < 0 and mentions.tokens[place].ends_clause:
            return -1
        place += step
        if not 0 <= place < len(mentions.tokens) or (step > 0 and mentions.tokens[place].ends_clause):
            return -1
        if place not in unread and mentions.tokens[place].key not in STOP_WORDS:
            return place


def _is_named(place: WordRun | None) -> bool:
    """Whether words name something and are not just several whose first letters are a part of its name: "on", of nurses."""
    return place is not None and (place.likeness >= LIKENESS_MIN or place.last - place.first == 1)


LOGIT_MAX = 6.0
COUNTED_MAX = 4
SCORE_MAX = 10.0


class Ranked(NamedTuple):
    """Candidates, best first, with their probabilities. `properties` calibrate the first one, `unread` is what it
    does not read; `pair_scores` are those of the second stage, empty if only the linear stage ranked.
    """

    candidates: Candidates
    probabilities: Sequence[float]
    pair_scores: Sequence[float]
    properties: Mapping[str, float]
    unread: Unread | None


Scored = Sequence[tuple[Candidate, float]]
"""The first candidates with their scores by the pair model; only the best one of those with the same text."""


def by_linear(composed: Candidates) -> Ranked:
    """Candidates ranked by the linear stage alone."""
    probabilities = softmax([each.score for each in composed.all])
    if not composed.all:
        return Ranked(composed, probabilities, (), {}, None)
    unread = Unread(composed)
    return Ranked(composed, probabilities, (), _properties(composed, probabilities, unread), unread)


def pair_scores_of(composed: Candidates, previous: str, pairs: PairModel) -> Scored:
    """Scores the first candidates with the pair model."""
    texts: dict[str, Candidate] = {}
    for each in composed.all:
        if len(texts) == PAIRS_MAX:
            break
        texts.setdefault(text_of(each.composed, _measure_labels(each, composed.mentions)), each)
    scores = pairs.scores(first_text(composed.mentions.text, previous), [*texts]) if texts else []
    return [*zip(texts.values(), scores, strict=True)]


def _measure_labels(candidate: Candidate, mentions: Mentions) -> dict[str, str]:
    """The declared measures of a query by the words that name them in the question, which may be synonyms."""
    places = {each.name: mentions.best(each) for each in candidate.ask.fields if each.is_measure}
    return {name: " ".join(mentions.words[place.first : place.last]) for name, place in places.items() if place}


def by_both(composed: Candidates, pair_scores: Scored, linear_share: float) -> Ranked:
    """The candidates scored by the pair model, ranked by that score plus a share of the linear score.

    "None of these" is one more candidate, with score 0, so the probabilities of the others add up to less than 1.
    """
    if not pair_scores:
        return by_linear(composed)
    first, alone = composed.all[0], softmax([each.score for each in composed.all])
    sums = [score + linear_share * (each.score - first.score) for each, score in pair_scores]
    *chances, _ = softmax([*sums, 0.0])
    rows = sorted(zip(chances, pair_scores, strict=True), key=lambda row: -row[0])
    ranked = replace(composed, all=[each for _, (each, _) in rows])
    probabilities, scores = [chance for chance, _ in rows], [score for _, (_, score) in rows]
    best, unread = ranked.all[0], Unread(ranked)
    properties = {
        **_properties(ranked, probabilities, unread),
        "pair": max(-SCORE_MAX, min(SCORE_MAX, scores[0])),
        "linear": _logit(alone[composed.all.index(best)]),
        "agreed": float(best is first),
    }
    return Ranked(ranked, probabilities, scores, properties, unread)


def _properties(ranked: Candidates, probabilities: Sequence[float], unread: Unread) -> dict[str, float]:
    """The properties of the first candidate from which its probability is calibrated."""
    first, mentions = ranked.all[0], ranked.mentions
    rows = _rows_of(first)
    alike = sum(chance for each, chance in zip(ranked.all, probabilities, strict=True) if _rows_of(each) == rows)
    second = probabilities[1] if len(probabilities) > 1 else 1e-6
    return {
        "always": 1.0,
        "logit": _logit(probabilities[0]),
        "alike": _logit(alike),
        "margin": min(LOGIT_MAX, math.log(max(probabilities[0], 1e-6) / max(second, 1e-6))),
        "uncovered": float(min(COUNTED_MAX, (mentions.alignable & ~first.mask).bit_count())),
        "unread": float(min(COUNTED_MAX, len(mentions.unread(first.mask | mentions.alignable, unread.explained)))),
        "vetoed": float(min(COUNTED_MAX, len(unread.may_state))),
        "behind": float(unread.is_behind),
        "tests": float(min(COUNTED_MAX, len(first.conditions.tests))),
        "words": len(mentions.tokens) / 10,
        f"kind:{first.kind}": 1.0,
    }


def _rows_of(each: Candidate) -> tuple[object, ...]:
    """Which rows a candidate returns, and how many. Candidates that differ only in the fields shown are equal."""
    parts = ("source", "where", "having", "order", "limit")
    numbers = () if each.kind in ("rows", "extreme") else ("group", "aggregate")
    return each.kind, *map(each.query.get, (*parts, *numbers))


def _logit(chance: float) -> float:
    most = min(max(chance, 1e-6), 1 - 1e-6)
    return max(-LOGIT_MAX, min(LOGIT_MAX, math.log(most / (1 - most))))


class Reading(NamedTuple):
    """The reading of a question. `query` is None if nothing can be asked; `chance` is the probability that it is right,
    `unread` the meaningful words that no part of it reads.
    """

    mentions: Mentions
    query: Query | None
    verdict: Verdict
    chance: float
    unread: Sequence[str]
    best: Sequence[tuple[Candidate, float]]
    """The best candidates, with their probabilities."""
    pair_scores: Sequence[float] = ()
    """The scores of the second stage, in the same order; empty if only the linear stage read."""

    @property
    def shares(self) -> list[tuple[Candidate, float]]:
        """The best candidates, with their shares of the probability that one of them is right."""
        every = sum(chance for _, chance in self.best) or 1.0
        return [(candidate, chance / every) for candidate, chance in self.best]


def read_question(
    text: str,
    schema: Schema,
    links: Sequence[ValueLink],
    today: datetime.date,
    learned: Learned,
    before: Reading | None = None,
    pairs: PairModel | None = None,
) -> Reading:
    """Reads a question about the sources of a schema. `links` are the values its words may mean; it may follow up on `before`.
    Without a pair model, only the linear stage reads.
    """
    previous = before.best[0][0] if before and before.best else None
    composed = candidates(text, schema, links, today, learned.weights, previous)
    if pairs is None:
        ranked = by_linear(composed)
    else:
        pair_scores = pair_scores_of(composed, before.mentions.text if before and previous else "", pairs)
        ranked = by_both(composed, pair_scores, learned.linear_share)
    composed = ranked.candidates
    best = list(zip(composed.all, ranked.probabilities, strict=True))
    query, unread = _query(composed) if best else None, ranked.unread
    if query is None or unread is None:
        return Reading(composed.mentions, None, "refused", 0.0, composed.mentions.unread(0), ())
    first = best[0][0]
    calibration = learned.calibration(has_pairs=pairs is not None)
    chance = calibration.chance(ranked.properties)
    limits = calibration.thresholds_of(first.kind)
    verdict: Verdict = (
        "confident" if chance >= limits.confident else "doubted" if chance >= limits.doubted else "refused"
    )
    if verdict == "confident" and (unread.doubtful or (first.ask.kind == "count" and unread.is_behind)):
        verdict = "doubted"  # a word may state another condition, or rows of another source be counted
    return Reading(composed.mentions, query, verdict, chance, unread.words, best, ranked.pair_scores)


def _query(ranked: Candidates) -> Query | None:
    """The first candidate as a valid Query. None if it is not valid."""
    first = ranked.all[0]
    query = {**first.query, "spans": list(_spans(ranked.mentions, first))}
    if query.get("select") == [*KEY] and not {*KEY} & {token.key for token in ranked.mentions.tokens}:
        # nobody asked for keys: rows are shown by their names
        del query["select"]
    try:
        return Query.model_validate(query)
    except ValidationError:
        return None


def _spans(mentions: Mentions, first: Candidate) -> Iterator[dict[str, Any]]:
    """The characters that state the conditions and what is asked for."""
    parts = {"where": first.conditions.evidence.mask, "source": first.ask.evidence.mask}
    for part, mask in parts.items():
        if part == "where" and "where" not in first.query:
            continue
        for place, last in runs(mask):
            start, end = mentions.tokens[place].start, mentions.tokens[last - 1].end
            yield Span(pointer=f"/{part}", start=start, end=end).model_dump()


NEAR_MAX = 2
"""How many words may stand between a value and the name of its field."""


class LikelyCondition(NamedTuple):
    """A condition that a question may state: its probability, the fields it compares, and the words that state it, as bits.
    `stated` is the share of the words of its values that the question contains.
    """

    condition: Condition
    chance: float
    fields: frozenset[str]
    ops: frozenset[str]
    mask: int
    is_denied: bool
    stated: float


def likely_conditions(reading: Reading) -> list[LikelyCondition]:
    """The conditions of all candidates, likeliest first. Candidates with the same condition add up their probabilities."""
    chances: defaultdict[str, float] = defaultdict(float)
    statements: dict[str, tuple[Mapping[str, Any], int]] = {}
    for candidate, chance in reading.shares:
        for each in candidate.query.get("where", ()):
            key = json.dumps(each, sort_keys=True)
            chances[key] += chance
            statements.setdefault(key, (each, candidate.mask))
    likely = [_likely(reading.mentions, *statements[key], chance) for key, chance in chances.items()]
    return sorted(filter(None, likely), key=lambda each: -each.chance)


def _likely(mentions: Mentions, condition: Mapping[str, Any], mask: int, chance: float) -> LikelyCondition | None:
    compared = list(comparisons([condition]))
    try:
        [parsed] = CONDITIONS.validate_python([condition])
    except ValidationError:
        return None
    if not compared:
        return None
    words, share = 0, 1.0
    for field, _, values, _ in compared:
        words |= _words_of(mentions, field, values)
        share = min(share, *(_stated_share(mentions, str(value)) for value in values), 1.0)
    fields = frozenset(field for field, *_ in compared)
    ops = frozenset(op for _, op, *_ in compared)
    is_denied = all(denied for *_, denied in compared)
    return LikelyCondition(in_any_year(parsed, mentions), chance, fields, ops, words & mask, is_denied, share)


def _words_of(mentions: Mentions, field: str, values: Sequence[Any]) -> int:
    """The words that mean one of these values, with nearby names of the field; if none do, all names of the field."""
    texts = {str(value) for value in values}
    numbers = {float(value) for value in values if isinstance(value, int | float)}
    places = [
        *(each.place for each in mentions.values if any(link.value in texts for link in each.links)),
        *(each.place for each in mentions.numbers if numbers & {each.least, each.most}),
        *(each.place for each in mentions.days if texts & {*_days_as_values(each)} or _is_month_of(each, values)),
    ] or [each.place for each in mentions.lengths if values]
    names = [
        name
        for each, runs_of_name in mentions.places.items()
        if isinstance(each, FieldName) and each.name == field
        for name in runs_of_name
        if not places
        or any(name.first - place.last <= NEAR_MAX and place.first - name.last <= NEAR_MAX for place in places)
    ]
    return union(place.mask for place in (*places, *names))


def _stated_share(mentions: Mentions, value: str) -> float:
    """The share of the words of a value that the question contains; 1 for a value that was not looked up."""
    shares = [
        1.0 if link.is_whole else (each.place.last - each.place.first) / max(1, len(tokenise(value)))
        for each in mentions.values
        for link in each.links
        if link.value == value
    ]
    return max(shares, default=1.0)


def _days_as_values(mention: DateMention) -> Iterator[str]:
    """The days of a time as conditions write them: dates and years."""
    for day in (mention.days.first, mention.days.last):
        if day is not None:
            yield day.isoformat()
            yield str(day.year)


def in_any_year(condition: Condition, mentions: Mentions) -> Condition:
    """Turns a comparison of a date with a month said without a year into one with that month of any year."""
    if isinstance(condition, Comparison) and condition.op == "between":
        for each in mentions.days:
            if _is_month_of(each, condition.scalars):
                return Comparison(field=f"{MONTH}({condition.field})", values=tuple(sorted(each.days.months)))
    return condition


def _is_month_of(mention: DateMention, values: Sequence[Any]) -> bool:
    """Whether two days are in the first and last month of a time without a year."""
    months = mention.days.months
    return bool(months) and [str(value)[5:7] for value in values] == [
        f"{each:02}" for each in (min(months), max(months))
    ]


def remaining_words(mentions: Mentions, mask: int) -> str:
    """The words not in `mask`, as written, without stop words at either end."""
    remaining = [place for place in range(len(mentions.tokens)) if not mask >> place & 1]
    telling = [place for place in remaining if mentions.tokens[place].key not in STOP_WORDS]
    return " ".join(
        mentions.tokens[place].text for place in remaining if telling and telling[0] <= place <= telling[-1]
    )


def evidence(mentions: Mentions, first: int, last: int, field: str, assertion: Assertion, value: str = "") -> Evidence:
    """The words from `first` to before `last` as evidence for a field's value. Without `value`, the words are the value."""
    value = value or phrase(mentions.text, mentions.tokens, first, last)
    start, end = mentions.tokens[first].start, mentions.tokens[last - 1].end
    return Evidence(field=field, value=value, start=start, end=end, assertion=assertion)


def excluded_values(reading: Reading, least: float) -> list[ValueMention]:
    """The values that a question excludes with at least this probability, and more likely than it asks for them."""
    values: list[ValueMention] = []
    for value in reading.mentions.values:
        chances = chances_of(value, reading.shares)
        if chances.denied >= max(least, chances.asked_for):
            values.append(value)
    return values


class ValueChances(NamedTuple):
    """How likely a value is asked for and how likely it is excluded, in total and by field, and how likely each field is
    compared with it.
    """

    asked_for: float
    denied: float
    of_field: Mapping[str, float]
    asked_of: Mapping[str, float]
    denied_of: Mapping[str, float]


def chances_of(value: ValueMention, candidates: Iterable[tuple[Candidate, float]]) -> ValueChances:
    """What candidates, weighted by probability, do with a value."""
    meanings = {link.value for link in value.links}
    asked_for = denied = 0.0
    of_field: defaultdict[str, float] = defaultdict(float)
    asked_of: defaultdict[str, float] = defaultdict(float)
    denied_of: defaultdict[str, float] = defaultdict(float)
    for candidate, chance in candidates:
        matching = [each for each in comparisons(candidate.query.get("where", ())) if meanings & set(map(str, each[2]))]
        asked_for += chance * any(not each[3] for each in matching)
        denied += chance * any(each[3] for each in matching)
        for name in {each[0] for each in matching}:
            of_field[name] += chance
        for name, is_denied in {(each[0], each[3]) for each in matching}:
            (denied_of if is_denied else asked_of)[name] += chance
    return ValueChances(asked_for, denied, of_field, asked_of, denied_of)


def comparisons(
    where: Sequence[Mapping[str, Any]], *, is_denied: bool = False
) -> Iterator[tuple[str, str, tuple[Any, ...], bool]]:
    """All comparisons: the field, the operator, the values, and whether it is negated."""
    for each in where:
        if "not" in each:
            yield from comparisons([each["not"]], is_denied=not is_denied)
        elif "field" in each:
            values = each.get("values", [each["value"]] if "value" in each else [])
            if not any(isinstance(value, Mapping) for value in values):
                op = each.get("op", "=")
                yield each["field"], op, tuple(values), is_denied != (op == "!=")
        else:
            yield from comparisons(each.get("where") or each.get("any_of") or (), is_denied=is_denied)
