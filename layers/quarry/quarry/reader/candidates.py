"""The likeliest queries for a question, with the features that score them and their text for the pair model. Pure.

A follow-up question keeps the previous query and changes its conditions, or asks something else about the same rows.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from heapq import nlargest
from operator import itemgetter
from types import MappingProxyType

from quarry.reader.asks import Ask, Asks
from quarry.reader.compose import Composed, Json, compose
from quarry.reader.condition_sets import Conditions, ConditionSets
from quarry.reader.features import Bundle, Clues, Features
from quarry.reader.learned import ANYTHING, COUNT, known_words
from quarry.reader.mentions import Mentions, ValueLink, read_words
from quarry.reader.names import SourceName, names_of
from quarry.reader.options import LIKENESS_MIN
from quarry.schema.algebra import Direction, Function
from quarry.schema.source import Schema

ASKS_MAX = 40
SETS_MAX = 12


def edits(
    clues: Clues, asks: Sequence[Ask], conditions: Sequence[Conditions], before: tuple[Ask, Conditions]
) -> Iterator[tuple[Ask, Conditions]]:
    """The previous question changed by this one, as pairs of an ask and conditions."""
    ask, earlier = before
    same_ask = replace(ask, evidence=Features(0, (clues.framed("follows:ask"),)))
    same_rows = replace(earlier, evidence=Features(0, (clues.framed("follows:rows"),)), score=0.0)
    for each in conditions[:SETS_MAX]:
        if each.tests:
            yield same_ask, _merged(same_rows, each)
    of_base = [each for each in asks if each.base is ask.base][:ASKS_MAX]
    for other in of_base:
        yield other, same_rows
        for each in conditions[:3]:
            if each.tests:
                yield other, _merged(same_rows, each)


def _merged(earlier: Conditions, conditions: Conditions) -> Conditions:
    """Both sets of conditions. A new condition on a field replaces the earlier one."""
    fields = {test.field for test in conditions.tests if test.field is not None}
    others = [test for test in earlier.tests if test.field not in fields or test.field is None]
    forms = {test.form for test in conditions.tests}
    others = [test for test in others if test.form not in forms & {"rows", "limit"}]
    bundles = (*earlier.evidence.bundles, *conditions.evidence.bundles)
    return Conditions((*others, *conditions.tests), Features(conditions.evidence.mask, bundles), 0.0, conditions.joined)


CANDIDATES_MAX = 300
"""Most queries to score."""
PAIRS_MAX = 500
"""Most pairs of an ask and conditions to compose."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A query with its score. `mask` holds the words it reads, one bit per word."""

    composed: Composed
    ask: Ask
    conditions: Conditions
    bundles: tuple[Bundle, ...]
    score: float
    mask: int

    @property
    def query(self) -> Json:
        return self.composed.query

    @property
    def kind(self) -> str:
        """The kind of answer it gives; each kind is calibrated by itself."""
        ask = self.ask
        if ask.kind == "rows":
            return "extreme" if ask.is_first else "rows"
        return {"count_distinct": "count", "share": "count", "distinct": "rows"}.get(ask.kind, ask.kind)


@dataclass(frozen=True)
class Candidates:
    """What a question says, and the queries it may mean, best first."""

    mentions: Mentions
    clues: Clues
    all: Sequence[Candidate]


def candidates(
    text: str,
    schema: Schema,
    links: Sequence[ValueLink],
    today: datetime.date,
    weights: Sequence[float],
    before: Candidate | None = None,
) -> Candidates:
    """The queries that a question may mean. A follow-up question may build on `before`, the reading of the previous one."""
    names = names_of(schema)
    mentions = read_words(text, names, links, today)
    clues = Clues(mentions, names, weights)
    sets = ConditionSets(clues, today)
    asks = Asks(clues, sets.needed).all()
    pairs = _likeliest(clues, asks, {base: sets.of(base) for base in dict.fromkeys(ask.base for ask in asks)})
    if before is not None:
        pairs += edits(clues, asks, sets.of(before.ask.base), (before.ask, before.conditions))
    composed = _composed(clues, pairs, has_context=before is not None)
    return Candidates(mentions, clues, _as_ordered(composed, mentions))


EXTREMES: Mapping[Function, Direction] = {"max": "desc", "min": "asc"}
"""Which end of the values a function gives, as the direction of an order that has it first."""


def ordering_words(ask: Ask, mentions: Mentions) -> tuple[Set[str], Set[str]]:
    """The words for the most or least that fit what an ask sorts by or takes the highest or lowest of, and those that do not fit:
    "the longest" says nothing of votes. Both are empty where the question names the field.
    """
    ordering = known_words().ordering
    directions = [ask.direction] if ask.direction else [EXTREMES[each] for each in ask.functions if each in EXTREMES]
    of = ask.order or ask.measured or (None if ask.direction else next(iter(ask.subjects), None))
    place = mentions.best(of) if of else None
    # several words whose first letters are a part of a name hardly name it
    if directions and place and (place.likeness >= LIKENESS_MIN or place.last - place.first == 1):
        return set(), set()
    whats = {ANYTHING, *(of.measures if of else (COUNT,))}
    fitting = {word for way in directions for word, meanings in ordering[way].items() if meanings & whats}
    return fitting, set().union(*ordering.values()) - fitting


def _as_ordered(ranked: list[Candidate], mentions: Mentions) -> list[Candidate]:
    """Drops candidates that sort by a field to which the question's superlative does not apply, if it applies to another's."""
    words = {mentions.tokens[place].key for place in mentions.free} & {
        word for by_word in known_words().ordering.values() for word in by_word
    }
    if not words:
        return ranked
    orderings = [ordering_words(each.ask, mentions) for each in ranked]
    if not any(words & fitting for fitting, _ in orderings):
        return ranked
    return [
        each for each, (fitting, others) in zip(ranked, orderings, strict=True) if not fitting or not words & others
    ]


def _composed(clues: Clues, likely: Sequence[tuple[Ask, Conditions]], *, has_context: bool) -> list[Candidate]:
    joint = _Joint(clues, has_context=has_context)
    pairs = [joint.scored(ask, each) for ask, each in likely]
    pairs.sort(key=itemgetter(0), reverse=True)
    result: list[Candidate] = []
    texts: set[str] = set()
    for score, mask, ask, conditions, bundles in pairs:
        composed = compose(ask, conditions, clues.names)
        if composed is None or (text := json.dumps(composed.query, sort_keys=True)) in texts:
            continue
        texts.add(text)
        every = (*ask.evidence.bundles, *conditions.evidence.bundles, *bundles)
        result.append(Candidate(composed, ask, conditions, every, score, mask))
        if len(result) == CANDIDATES_MAX:
            break
    return result


def _likeliest(
    clues: Clues, asks: Sequence[Ask], conditions: Mapping[SourceName, Sequence[Conditions]]
) -> list[tuple[Ask, Conditions]]:
    """The pairs to compose, by the scores of their parts and the number of words they read."""
    alignable = clues.mentions.alignable
    total = alignable.bit_count() or 1
    a_word = clues.one("covered", 1 / total).score - clues.one("uncovered", 1.0).score
    needs = {
        base: [(each, each.needs_groups(base.name), each.needs_values(base.name, clues.names)) for each in sets]
        for base, sets in conditions.items()
    }
    pairs: list[tuple[float, int, Ask, Conditions]] = []
    for ask in asks:
        own, is_grouped, is_of_values = ask.evidence, ask.kind == "groups", ask.is_of_values
        for each, needs_groups, needs_values in needs[ask.base]:
            if (each.limit is not None and not ask.is_first) or (needs_groups and not is_grouped):
                continue
            if (needs_values and not is_of_values) or (each.joined == "apart" and not ask.is_one_number):
                continue
            words = (own.mask | each.evidence.mask) & alignable
            rank = own.score + each.evidence.score + a_word * words.bit_count()
            pairs.append((rank, len(pairs), ask, each))
    return [(ask, each) for _, _, ask, each in nlargest(PAIRS_MAX, pairs)]


class _Joint:
    """The features of an ask together with conditions. What depends on one of them alone is found once."""

    def __init__(self, clues: Clues, *, has_context: bool) -> None:
        self._clues = clues
        self._alone = (clues.framed("alone"),) if has_context else ()
        self._follows = {clues.framed("follows:ask"), clues.framed("follows:rows")} if has_context else set()
        self._total = clues.mentions.alignable.bit_count() or 1
        self._hops, self._reach, self._bundles = cache(self._hops_of), cache(self._reach_of), cache(self._bundles_of)

    def scored(self, ask: Ask, conditions: Conditions) -> tuple[float, int, Ask, Conditions, tuple[Bundle, ...]]:
        """The score, the words that are read, and the features that depend on both."""
        clues, base = self._clues, ask.base.name
        mask = (ask.evidence.mask | conditions.evidence.mask) & clues.mentions.alignable
        hops, many, within = self._reach(base, conditions)
        tests = f"{len(conditions.tests)}:{conditions.has_rows}"
        shared = self._bundles(mask.bit_count(), self._hops(ask) + hops, many, ask.kind, tests, conditions.joined)
        bundles = (*shared, *within)
        if self._alone and self._follows.isdisjoint((*ask.evidence.bundles, *conditions.evidence.bundles)):
            bundles += self._alone
        score = ask.evidence.score + conditions.evidence.score + sum([each.score for each in bundles])
        return score, mask, ask, conditions, bundles

    def _hops_of(self, ask: Ask) -> int:
        ways = [self._clues.names.way(ask.base.name, each.source) for each in ask.fields]
        return sum([len(way.links) for way in ways if way])

    def _reach_of(self, base: str, conditions: Conditions) -> tuple[int, int, tuple[Bundle, ...]]:
        """How many links lead to the fields of the conditions, how many of the fields have several values, and the features that
        depend on nothing else.
        """
        clues, hops, many = self._clues, 0, 0
        about = {test.about: test.form for test in conditions.tests if test.form in ("some", "none")}
        within: list[Bundle] = []
        for test in conditions.tests:
            source = test.field.source if test.field else test.about
            way = clues.names.way(base, source) if source else None
            if way is not None:
                hops += len(way.links)
                many += way.is_many and test.field is not None
            if test.field and test.field.source in about:
                within.append(clues.one(f"within:{about[test.field.source]}"))
        return hops, many, tuple(within)

    def _bundles_of(self, covered: int, hops: int, many: int, kind: str, tests: str, joined: str) -> tuple[Bundle, ...]:
        clues, total = self._clues, self._total
        cover = clues.one("covered", covered / total), clues.one("uncovered", float(total - covered))
        reach = clues.one("hops", float(hops)), clues.one("many", float(many))
        return *cover, *reach, clues.one(f"pair:{kind}:{tests}"), clues.one(f"pair:{joined}:{kind}")


OPERATORS: Mapping[str, str] = {
    "=": "is", "!=": "is not", "<": "less than", "<=": "at most", ">": "more than", ">=": "at least",
    "between": "between", "contains": "contains",
    "starts_with": "starts with", "ends_with": "ends with", "is_null": "is missing", "not_null": "is known",
}  # fmt: skip
FUNCTIONS: Mapping[str, str] = {
    "count": "number of", "count_distinct": "number of different", "sum": "total", "avg": "average", "min": "lowest",
    "max": "highest",
}  # fmt: skip
VALUES_MAX = 4
"""Most values of one condition to write out."""


def text_of(composed: Composed, labels: Mapping[str, str] = MappingProxyType({})) -> str:
    """A query as text: what it shows, from which source, under which conditions, in which order. `labels` name its numbers."""
    query = dict(composed.query)
    if labels:
        numbers = [labels.get(each, each) if isinstance(each, str) else each for each in query.get("aggregate", ())]
        order = [{**each, "by": labels.get(each["by"], each["by"])} for each in query.get("order", ())]
        query |= {"aggregate": numbers, "order": order}
    columns = [text for place, text in enumerate(_columns(query)) if place not in composed.aside]
    parts = [f"show {', '.join(columns)} from {words_of(query['source'])}"]
    parts += _clause("where", query.get("where", ()))
    if query.get("aggregate"):
        parts += [f"for each {_group(each)}" for each in query.get("group", ())]
    parts += _clause("having", query.get("having", ()))
    for each in query.get("order", ()):
        parts.append(f"sorted by {words_of(each['by'])} {'de' if each.get('direction') == 'desc' else 'a'}scending")
    if "limit" in query:
        parts.append(f"first {query['limit']}")
    return " ".join(parts)


def words_of(path: str) -> str:
    """A path or an aggregate in words: `avg(order.unit_price)` is "average order unit price"."""
    if path == "count":
        return "number"
    function, _, rest = path.partition("(")
    if rest:
        name = FUNCTIONS.get(function, function)
        return f"{name} {words_of(rest.removesuffix(')'))}"
    return " ".join(path.replace("_", " ").replace(".", " ").split())


def _columns(query: Json) -> list[str]:
    """The columns of the result, in order."""
    if "select" in query:
        return [words_of(each) for each in query["select"]]
    aggregates = [_aggregate(each) for each in query.get("aggregate", ())]
    groups = [_group(each) for each in query.get("group", ())]
    if groups and not aggregates:
        return [f"different {each}" for each in groups]
    return [*groups, *aggregates]


def _aggregate(aggregate: str | Json) -> str:
    if isinstance(aggregate, str):
        return words_of(aggregate)
    if aggregate["fn"] != "share":
        number = f"{aggregate['fn']}({aggregate['field']})" if "field" in aggregate else aggregate["fn"]
        return f"{words_of(number)} with {_all(aggregate['where'])}"
    return f"share with {_all(aggregate['where'])}"


def _group(group: str | Json) -> str:
    if isinstance(group, str):
        return words_of(group)
    field = words_of(group["field"])
    return f"{group['period']} of {field}" if "period" in group else field


def _clause(word: str, conditions: Sequence[Json]) -> list[str]:
    return [f"{word} {_all(conditions)}"] if conditions else []


def _all(conditions: Sequence[Json], joint: str = " and ") -> str:
    return joint.join(map(_condition, conditions))


def _condition(condition: Json) -> str:
    for key, joint in (("any_of", " or "), ("all_of", " and ")):
        if key in condition:
            return _all(condition[key], joint)
    if "not" in condition:
        return f"not {_condition(condition['not'])}"
    if "exists" in condition:
        return " ".join([f"with {words_of(condition['exists'])}", *_clause("where", condition.get("where", ()))])
    if "words" in condition:
        return f"contains {condition['words']}"
    field = words_of(condition["field"])
    operator = condition.get("op", "=")
    values = condition.get("values", [condition["value"]] if "value" in condition else [])
    joint = " and " if operator == "between" else " or "
    return " ".join([field, OPERATORS[operator], joint.join(map(_value, values[:VALUES_MAX]))]).rstrip()


def _value(value: object) -> str:
    if isinstance(value, dict):
        if "field" in value:
            return words_of(value["field"])
        return text_of(Composed(value)).removeprefix("show ")
    return f"{value:g}" if isinstance(value, float) else str(value)
