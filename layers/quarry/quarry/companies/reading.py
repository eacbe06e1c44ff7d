"""Reads a question about companies: the likely conditions, and the words left for hybrid search. Converts that to the one form of
how a question was understood, and back if a caller has changed it, checked against the data.

The former `constraints`, which requests and answers carry for one more release, are made of that form here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import get_args

from quarry.agent.reading import read_over, states_in_full
from quarry.agent.service import ConditionChecks
from quarry.agent.sources import DataAccess
from quarry.companies import contract
from quarry.companies.contract import ChatRequest
from quarry.companies.facets import COMPANIES, STAGE, STATUS, TAG_FACETS
from quarry.companies.intent import COUNT_MAX, STARTUPS, CompanyIntent, TagGroup, assumed, fields_of
from quarry.companies.sources import PHRASES, SEARCHED, labels, read_schema
from quarry.companies.tables import FUNDING_STAGES, STATUSES
from quarry.language.word_forms import phrase, runs
from quarry.language.writing import numeral_value
from quarry.platform.contract import EVIDENCE_MAX, Assertion, Evidence
from quarry.platform.off_loop import off_loop
from quarry.platform.text import significant_words
from quarry.postgres.pool import Database
from quarry.query.contract import Understood
from quarry.query.describe import affirmed, evidence_of, excluded_words, understood
from quarry.reader.candidates import Candidate
from quarry.reader.features import index_of
from quarry.reader.mentions import Mentions, ValueMention, WordRun
from quarry.reader.options import DENIED_MIN
from quarry.reader.reading import Reading, ValueChances, chances_of, evidence, likely_conditions, remaining_words
from quarry.schema.algebra import AnyOf, Comparison, Condition, Not, Query, Scalar, Words, WordValues
from quarry.schema.source import Schema, plain
from quarry.services.services import Caller, Services

CHANCE_MIN = 0.5
"""The least chance of a condition; the words of a less likely one are searched for."""
SURE = 0.8
"""A less likely condition is dropped if no company meets it."""
MEANT_SHARE = 1 / 3
"""Words may mean values of several fields: of each with this share of the likeliest one's chance."""
SYNONYMS_MAX = 5_000
REMEMBERED_SECONDS = 60.0
EARLIER_MAX = 5
"""How many earlier questions a follow-up may go on from."""

_SOURCE = "companies"
_PLACES = frozenset(name for name, each in COMPANIES.facets.items() if each.facet == "place")
"""The fields of places, of which a part of the name is enough."""


async def read_intent(question: str, earlier: Sequence[str], caller: Caller, services: Services) -> CompanyIntent:
    """What a question seeks; it may go on from the `earlier` ones. Raises DatabaseUnavailable."""
    schema = await services.memory.read("company schema", lambda: _schema(services), seconds=REMEMBERED_SECONDS)
    access = DataAccess(schema, caller, {}, {_SOURCE: (_SOURCE, _SOURCE)})
    today = access.today
    reading: Reading | None = None
    intent: CompanyIntent | None = None
    for text in (*earlier[-EARLIER_MAX:], question):
        before, reading = reading, await read_over(text, [_SOURCE], access, services, today, reading)
        intent = await off_loop(_intent, reading, before, intent)
    assert intent is not None
    return intent


async def _schema(services: Services) -> Schema:
    """The schema that questions are read with: with the loaded synonyms, without fields that are empty everywhere."""
    database = services.reader
    synonyms = await database.rows(
        "select field, said, value from company_synonyms order by id limit %s", [SYNONYMS_MAX]
    )
    empty = await database.rows(
        "select attname from pg_stats where schemaname = current_schema() and tablename = 'companies' and null_frac = 1"
    )
    return read_schema(
        tuple((row["field"], row["said"], row["value"]) for row in synonyms), frozenset(row["attname"] for row in empty)
    )


def _intent(reading: Reading, before: Reading | None, intent_before: CompanyIntent | None) -> CompanyIntent:
    own = _QuestionIntent(reading).intent()
    if before is None or intent_before is None or _chance_of_going_on(reading) < CHANCE_MIN:
        return own
    # a question with a topic of its own starts a new search
    return own if _has_topic(own) and _has_topic(intent_before) else _after(intent_before, own)


def _has_topic(intent: CompanyIntent) -> bool:
    """Whether a question has a topic: a tag, or several words."""
    return bool(intent.tags) or sum(numeral_value(word) is None for word in intent.words) > 1


def _chance_of_going_on(reading: Reading) -> float:
    """The chance that a question goes on from the previous one."""
    alone = index_of("alone")
    return sum(
        chance
        for candidate, chance in reading.shares
        if not any(each.features and each.features[0][0] == alone for each in candidate.bundles)
    )


def _after(before: CompanyIntent, now: CompanyIntent) -> CompanyIntent:
    """What a follow-up seeks: its conditions on a field replace the earlier ones on it."""
    fields = {field for each in (*now.stated, *now.assumed) if each != STARTUPS for field in fields_of(each)}
    kept = tuple(each for each in before.stated if not fields_of(each) & fields)
    topic = " ".join(part for part in (before.topic, now.topic) if part)
    stated = (*kept, *now.stated)
    return replace(
        now,
        stated=stated,
        assumed=assumed(stated),
        tags=(*before.tags, *now.tags),
        preferred=(*before.preferred, *now.preferred),
        excluded=(*before.excluded, *now.excluded),
        topic=topic,
        words=tuple(significant_words(topic)),
        is_plain=(before.is_plain or not before.topic) and (now.is_plain or not now.topic) and bool(topic),
        count=now.count or before.count,
    ).bounded()


class _QuestionIntent:
    """What a question says without the earlier ones."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._said: Mentions = reading.mentions
        self._shares = reading.shares
        self._stated: list[Condition] = []
        self._guessed: list[tuple[float, Condition]] = []
        self._tags: list[TagGroup] = []
        self._excluded: list[str] = []
        self._evidence: list[Evidence] = []
        self._left_out = 0
        """The words that conditions take, as bits. They are not part of the topic."""

    def intent(self) -> CompanyIntent:
        for mention in self._said.values:
            self._add_value(mention)
        self._add_numbers()
        # the words that neither state a condition nor mean "companies"
        topic = remaining_words(self._said, self._left_out | sum(1 << place for place in self._nouns))
        likely = sorted(self._guessed, key=lambda each: -each[0])
        stated, guessed = _alternatives(self._stated), _alternatives([each for _, each in likely])
        return CompanyIntent(
            stated=stated,
            assumed=(*guessed, *assumed((*stated, *guessed))),
            tags=tuple(self._tags),
            excluded=tuple(dict.fromkeys(self._excluded)),
            topic=topic,
            words=tuple(significant_words(topic)),
            is_plain=self._is_plain(topic),
            count=self._count(),
            # places where no company is
            missing=tuple(
                self._words(mention.place)
                for mention in self._said.values
                if all(link.rows == 0 and link.field in _PLACES for link in mention.links)
            ),
            evidence=tuple(self._evidence),
            asks=self._asks(),
            is_sure=self._reading.verdict == "confident",
        ).bounded()

    # ---- values ----

    def _add_value(self, mention: ValueMention) -> None:
        chances = chances_of(mention, self._shares)
        if chances.denied > max(chances.asked_for, CHANCE_MIN) and not self._is_wished_and_denied(mention):
            self._rule_out(mention, chances)
            return
        if self._is_denied(mention):
            return  # no wish; whom it describes may be "people without a bank account"
        likely = [
            field
            for field, chance in chances.asked_of.items()
            if chance >= MEANT_SHARE * max(chances.asked_of.values())
        ]
        hard = [field for field in likely if field not in TAG_FACETS and _values(mention, field)]
        if {link.field for link in mention.links} == {"status"} and _values(mention, "status") == STARTUPS.values:
            self._leave_out(mention.place.first, mention.place.last, "status", "affirmed")
            return  # this status is assumed anyway
        if hard and chances.asked_for >= CHANCE_MIN:
            condition = AnyOf.of([_compared(mention, field) for field in hard])
            self._add(condition, chances.asked_for)
            self._leave_out(mention.place.first, mention.place.last, hard[0], "affirmed")
            return
        name = self._words(mention.place)
        tags = tuple(
            Comparison(field=field, values=values) for field in TAG_FACETS if (values := _whole_values(mention, field))
        )
        if tags:
            is_demanded = chances.asked_for >= CHANCE_MIN and any(field in TAG_FACETS for field in likely)
            self._tags.append(TagGroup(name, tags, is_demanded))
            self._evidence.append(
                evidence(self._said, mention.place.first, mention.place.last, tags[0].field, "preferred")
            )

    def _is_denied(self, mention: ValueMention) -> bool:
        return self._said.chance_denied(mention.place) >= DENIED_MIN

    def _is_wished_and_denied(self, mention: ValueMention) -> bool:
        """Whether the same value is wished here and denied there: "security, no physical security" denies a part."""
        meant = {(link.field, link.value) for link in mention.links}
        same = [each for each in self._said.values if meant == {(link.field, link.value) for link in each.links}]
        return len({self._is_denied(each) for each in same}) > 1

    def _add(self, condition: Condition, chance: float) -> None:
        if chance >= SURE:
            self._stated.append(condition)
        else:
            self._guessed.append((chance, condition))

    def _rule_out(self, mention: ValueMention, chances: ValueChances) -> None:
        """Rule out values. For tags, rule out the words too: a company may use them without having the tag."""
        denied = {field: chance for field, chance in chances.denied_of.items() if _values(mention, field)}
        fields = [field for field, chance in denied.items() if chance >= MEANT_SHARE * max(denied.values())]
        if not fields:
            return
        for field in fields:
            self._stated.append(Comparison(field=field, op="!=", values=_values(mention, field)))
        if any(field in TAG_FACETS for field in fields):
            self._excluded.append(self._words(mention.place))
        self._leave_out(mention.place.first, mention.place.last, fields[0], "negated")

    # ---- numbers and years ----

    def _add_numbers(self) -> None:
        for each in likely_conditions(self._reading):
            comparison = each.condition
            is_own = each.mask and isinstance(comparison, Comparison) and comparison.scalars and not each.is_denied
            if not is_own or not isinstance(comparison, Comparison) or each.chance < CHANCE_MIN:
                continue
            if not COMPANIES.facets[comparison.field].is_listed:
                self._add(comparison, each.chance)
                for first, last in runs(each.mask):
                    self._leave_out(first, last, comparison.field, "affirmed")

    def _count(self) -> int | None:
        """How many companies the question asks for."""
        chances: dict[int, float] = defaultdict(float)
        for candidate, chance in self._shares:
            if candidate.conditions.limit is not None:
                chances[candidate.conditions.limit] += chance
        wanted = [limit for limit, chance in chances.items() if chance >= CHANCE_MIN]
        return min(COUNT_MAX, wanted[0]) if wanted else None

    # ---- what is asked, and what is left ----

    def _asks(self) -> Query | None:
        """The query for a number or groups; None if the question asks for companies, or if the query leaves words unread."""
        reading = self._reading
        numbers = sum(chance for candidate, chance in reading.shares if _asks_for_numbers(candidate))
        is_read = reading.verdict != "refused" and not reading.unread
        if not is_read or numbers < CHANCE_MIN or not _asks_for_numbers(reading.best[0][0]):
            return None
        # a company that helps farmers is no farmers' cooperative
        is_whole = reading.query is not None and states_in_full(reading, reading.query.where, _PLACES)
        return reading.query if is_whole else None

    @cached_property
    def _nouns(self) -> set[int]:
        """The positions of words that mean \"companies\"."""
        bases = {candidate.ask.base for candidate, _ in self._reading.best}
        named = (each for base in bases for each in self._said.places.get(base, ()))
        return {place for each in named for place in range(each.first, each.last)}

    def _is_plain(self, topic: str) -> bool:
        named = {word for group in self._tags for word in significant_words(group.name)}
        return bool(self._tags) and named.issuperset(significant_words(topic))

    def _words(self, place: WordRun) -> str:
        return phrase(self._said.text, self._said.tokens, place.first, place.last)

    def _leave_out(self, first: int, last: int, field: str, assertion: Assertion) -> None:
        self._left_out |= WordRun(first, last).mask
        self._evidence.append(evidence(self._said, first, last, field, assertion))


def _asks_for_numbers(candidate: Candidate) -> bool:
    """Whether it asks for a number, for groups, or for the first ones by an order."""
    return candidate.ask.kind not in ("rows", "distinct") or candidate.kind == "extreme"


def _compared(mention: ValueMention, field: str) -> Comparison:
    """The condition that a field has a value that words name."""
    compared = Comparison(field=field, values=_values(mention, field))
    links = [link for link in mention.links if link.field == field]
    if len(links) != 1 or not links[0].means:
        return compared
    return compared.model_copy(update={"values": WordValues.by(links[0].value, compared.values)})


def _whole_values(mention: ValueMention, field: str) -> tuple[str, ...]:
    """The values of a field that the words name in full."""
    links = [link for link in mention.links if link.field == field and link.is_whole]
    return tuple(dict.fromkeys(value for link in links for value in link.means or (link.value,)))


def _values(mention: ValueMention, field: str) -> tuple[str, ...]:
    """The values of a field that the words name in full, such as the countries of a region; for places, in part too."""
    every = tuple(dict.fromkeys(link.value for link in mention.links if link.field == field))
    return _whole_values(mention, field) or (every if COMPANIES.facets[field].facet == "place" else ())


def _alternatives(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions, those on one single-valued field united: a company has one status and one country."""
    united: dict[str, Comparison] = {}
    others: list[Condition] = []
    for each in conditions:
        if (
            isinstance(each, Comparison)
            and each.op == "="
            and each.values
            and not COMPANIES.facets[each.field].has_several
        ):
            before = united.get(each.field)
            values = tuple(dict.fromkeys((*(before.values if before else ()), *each.values)))
            united[each.field] = each.model_copy(update={"values": values}) if before else each
        else:
            others.append(each)
    return (*united.values(), *others)


# ---- how it was understood ----

_KNOWN = frozenset(get_args(contract.FieldName))


def understood_of(intent: CompanyIntent, query: Query | None = None) -> Understood:
    """What a question seeks, with the characters of the question that say so; or the `query` that was run for it."""
    where = _together((*intent.stated, *(Not(negated=Words(words=words)) for words in intent.excluded)))
    return understood(
        Query(source=COMPANIES.name, where=where) if query is None else query,
        PHRASES,
        assumed=intent.assumed,
        preferred=_preferred(intent),
        about=intent.topic,
        evidence=intent.evidence,
    )


def as_understood(intent: CompanyIntent, understood: Understood | None) -> CompanyIntent:
    """The same with what a request says in place of the reading."""
    if understood is None:
        return intent
    tags = [each for each in understood.preferred if fields_of(each) and fields_of(each) <= {*TAG_FACETS}]
    groups = tuple(TagGroup(_name(each), tuple(_comparisons(each)), is_demanded=True) for each in tags)
    where = [*_apart(understood.query.where)]
    without = excluded_words(where)
    return replace(
        intent,
        stated=tuple(each for each in where if not excluded_words([each])),
        assumed=understood.assumed,
        tags=groups,
        preferred=tuple(each for each in understood.preferred if each not in tags),
        excluded=tuple(without),
        topic=understood.about,
        words=tuple(significant_words(understood.about)),
        is_plain=intent.is_plain and understood.about == intent.topic and bool(tags),
        evidence=tuple(evidence_of(understood)),
        asks=None if understood.query.asks_for_rows else understood.query,
        is_sure=True,
        has_more=False,
    ).bounded()


def _together(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions, with those that exclude the same of several fields, and of the text, as one."""
    groups: dict[object, list[Condition]] = {}
    for place, each in enumerate(conditions):
        inner, is_excluded = affirmed(each)
        words = _words(inner) if is_excluded else ()
        groups.setdefault(words or place, []).append(each)
    return tuple(
        group[0] if len(group) == 1 else Not(negated=AnyOf(any_of=tuple(affirmed(each)[0] for each in group)))
        for group in groups.values()
    )


def _apart(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """The same, each field by itself."""
    for each in conditions:
        if isinstance(each, Not) and isinstance(each.negated, AnyOf):
            for one in each.negated.any_of:
                is_equal = isinstance(one, Comparison) and one.op == "="
                yield one.model_copy(update={"op": "!="}) if is_equal else Not(negated=one)
        else:
            yield each


def _words(condition: Condition) -> tuple[str, ...]:
    if isinstance(condition, Words):
        return (condition.words.casefold(),)
    return tuple(str(each).casefold() for each in condition.scalars) if isinstance(condition, Comparison) else ()


def conditions_to_tell(intent: CompanyIntent) -> list[Condition]:
    """The conditions that each result is checked against."""
    return [*intent.stated, *intent.assumed, *_preferred(intent)]


def _preferred(intent: CompanyIntent) -> list[Condition]:
    return [*intent.preferred, *(AnyOf.of(group.conditions) for group in intent.tags)]


# ---- the former constraints ----


def constraints_of(read: Understood, evidence: Sequence[Evidence] = ()) -> contract.Constraints:
    """How a question was understood, as constraints, which cannot express everything."""
    where = [*_apart(read.query.where)]
    parts = [(each, "required") for each in where if not excluded_words([each])]
    parts += [*((each, "assumed") for each in read.assumed), *((each, "preferred") for each in read.preferred)]
    conditions = [
        _on_the_wire(one, strength, place if isinstance(each, AnyOf) else None)
        for place, (each, strength) in enumerate(parts[: contract.CONDITIONS_MAX])
        for one in _comparisons(each)
        if one.field in _KNOWN
    ]
    excluded = excluded_words(where)[: contract.CONDITIONS_MAX]
    return contract.Constraints(
        topic=read.about,
        conditions=conditions[: contract.CONDITIONS_MAX],
        excluded=[words[: contract.VALUE_CHARACTERS_MAX].strip() for words in excluded],
        evidence=list(evidence)[:EVIDENCE_MAX] or evidence_of(read),
    )


def understood_as(constraints: contract.Constraints) -> Understood:
    """Constraints of a request as the same in the one form."""
    where = (
        *_conditions(constraints.conditions, "required"),
        *(Not(negated=Words(words=each)) for each in constraints.excluded),
    )
    return understood(
        Query(source=COMPANIES.name, where=where),
        PHRASES,
        assumed=[*_conditions(constraints.conditions, "assumed")],
        preferred=[*_conditions(constraints.conditions, "preferred")],
        about=constraints.topic,
        evidence=constraints.evidence,
    )


def _comparisons(condition: Condition) -> Iterator[Comparison]:
    """The comparisons of a condition; for alternatives, each of them."""
    if isinstance(condition, Comparison):
        yield condition
    elif isinstance(condition, AnyOf):
        for each in condition.any_of:
            yield from _comparisons(each)
    elif isinstance(condition, Not) and isinstance(condition.negated, Comparison) and condition.negated.op == "=":
        yield condition.negated.model_copy(update={"op": "!="})


def _name(condition: Condition) -> str:
    return " ".join(dict.fromkeys(str(value) for each in _comparisons(condition) for value in each.scalars))


def _on_the_wire(condition: Comparison, strength: str, group: int | None) -> contract.Condition:
    is_measured = condition.field in contract.MEASURED_FIELDS
    least, most = _bounds(condition) if is_measured else (None, None)
    return contract.Condition.model_validate(
        {
            "field": condition.field,
            "values": [] if is_measured else list(map(str, condition.scalars))[: contract.VALUES_MAX],
            "least": least,
            "most": most,
            "negated": condition.op in ("!=", "is_null"),
            "strength": strength,
            "group": group,
            "label": labels([condition])[0][: contract.VALUE_CHARACTERS_MAX],
        }
    )


def _bounds(condition: Comparison) -> tuple[float | None, float | None]:
    """The inclusive bounds of a comparison of whole numbers."""
    numbers = [float(value) for value in condition.scalars if isinstance(value, int | float)]
    if not numbers:
        return None, None
    first, last = numbers[0], numbers[-1]
    return {
        ">": (first + 1, None), ">=": (first, None), "<": (None, last - 1), "<=": (None, last), "between": (first, last)
    }.get(condition.op, (first, last))  # fmt: skip


def _conditions(conditions: Sequence[contract.Condition], strength: str) -> Iterator[Condition]:
    """The conditions of one strength. Those of a group become alternatives."""
    groups: dict[object, list[Condition]] = {}
    for place, condition in enumerate(conditions):
        if condition.strength == strength:
            key = ("alone", place) if condition.group is None else condition.group
            groups.setdefault(key, []).append(_read(condition))
    for group in groups.values():
        yield AnyOf.of(group)


def _read(condition: contract.Condition) -> Condition:
    if condition.values:
        return Comparison(field=condition.field, op="!=" if condition.negated else "=", values=tuple(condition.values))
    least, most = condition.least, condition.most
    if least is None and most is None:
        return Comparison(field=condition.field, op="is_null" if condition.negated else "not_null")
    if least is not None and most is not None:
        met = Comparison(field=condition.field, op="between", values=_scalars((least, most)))
    elif least is not None:
        met = Comparison(field=condition.field, op=">=", values=_scalars((least,)))
    else:
        met = Comparison(field=condition.field, op="<=", values=_scalars((most,)))
    return Not(negated=met) if condition.negated else met


def _scalars(numbers: Iterable[float | None]) -> tuple[Scalar, ...]:
    """Numbers as in JSON: whole ones without decimals."""
    return tuple(int(each) if each.is_integer() else each for each in numbers if each is not None)


# ---- conditions of a request ----

_ALWAYS: dict[str, str] = {plain(value): value for value in (*STATUSES, *FUNDING_STAGES)}


async def check_understood(request: ChatRequest, database: Database) -> ChatRequest:
    """The request, its conditions with the values as the data spells them, in the one form. Raises InvalidInput and
    DatabaseUnavailable.
    """
    checked = await _CHECKS.checked(request.understood, request.constraints, understood_as, request.question, database)
    return request.model_copy(update={"understood": checked})


def _always(comparison: Comparison) -> Sequence[str]:
    """The values of a condition on a status or a stage, which exist even if no company has them. Empty unless all are known."""
    texts = [plain(str(each)) for each in comparison.scalars]
    is_fixed = comparison.field in (STATUS, STAGE) and all(each in _ALWAYS for each in texts)
    return list(dict.fromkeys(_ALWAYS[each] for each in texts)) if is_fixed else []


_CHECKS = ConditionChecks(COMPANIES.name, SEARCHED, COMPANIES, _always)
