"""Reads a question about companies: the likely conditions, and the words left for hybrid search. Converts that to the one form of
how a question was understood, and back if a caller has changed it, checked against the data.

The former `constraints`, which requests and answers carry for one more release, are made of that form here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Literal, get_args

from quarry.agent.reading import read_over, states_in_full
from quarry.agent.service import ConditionChecks
from quarry.agent.sources import DataAccess
from quarry.companies.contract import ChatRequest
from quarry.companies.sources import (
    COMPANIES,
    PHRASES,
    SEARCHED,
    comparisons_in,
    field_by_field,
    name_of,
    read_schema,
    understood_as,
    united_exclusions,
)
from quarry.companies.state import COUNT_MAX, STARTUPS, CompanyIntent, TagGroup, assumed, fields_of
from quarry.companies.tables import FUNDING_STAGES, STAGE, STATUS, STATUSES, TAG_FACETS
from quarry.language.recognition import Weights, stored_weights
from quarry.language.recognition import chances_of as relation_chances
from quarry.language.word_forms import STOP_WORDS, Token, commonness, phrase, runs, tokenise
from quarry.language.writing import numeral_value
from quarry.platform.contract import Assertion, Evidence
from quarry.platform.off_loop import off_loop
from quarry.platform.text import significant_words
from quarry.postgres.pool import Database
from quarry.query.contract import Understood
from quarry.query.describe import evidence_of, excluded_words, understood
from quarry.reader.candidates import Candidate
from quarry.reader.features import index_of
from quarry.reader.mentions import Mentions, ValueMention, WordRun
from quarry.reader.options import DENIED_MIN
from quarry.reader.reading import Reading, ValueChances, chances_of, evidence, likely_conditions, remaining_words
from quarry.schema.algebra import AnyOf, Comparison, Condition, Not, Query, Words, WordValues
from quarry.schema.source import Schema, plain
from quarry.services.services import Caller, Services

CHANCE_MIN = 0.5
"""The least chance of a condition; the words of a less likely one are searched for."""
SURE = 0.8
"""A less likely condition is dropped if no company meets it."""
LIKELY_SHARE = 1 / 3
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
    if before is None or intent_before is None or _follow_up_chance(reading) < CHANCE_MIN:
        return own
    # a question with a topic of its own starts a new search
    return own if _has_topic(own) and _has_topic(intent_before) else _follow_up(intent_before, own)


def _has_topic(intent: CompanyIntent) -> bool:
    """Whether a question has a topic: a tag, or several words."""
    return bool(intent.tags) or sum(numeral_value(word) is None for word in intent.words) > 1


def _follow_up_chance(reading: Reading) -> float:
    """The chance that a question goes on from the previous one."""
    alone = index_of("alone")
    return sum(
        chance
        for candidate, chance in reading.shares
        if not any(each.features and each.features[0][0] == alone for each in candidate.bundles)
    )


def _follow_up(before: CompanyIntent, now: CompanyIntent) -> CompanyIntent:
    """What a follow-up seeks: its conditions on a field replace the earlier ones on it."""
    fields = {field for each in (*now.stated, *now.assumed) if each != STARTUPS for field in fields_of(each)}
    others = tuple(each for each in before.stated if not fields_of(each) & fields)
    topic = " ".join(part for part in (before.topic, now.topic) if part)
    stated = (*others, *now.stated)
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
        self._mentions: Mentions = reading.mentions
        self._shares = reading.shares
        self._stated: list[Condition] = []
        self._guessed: list[tuple[float, Condition]] = []
        self._tags: list[TagGroup] = []
        self._excluded: list[str] = []
        self._evidence: list[Evidence] = []
        self._condition_words = 0
        """The words that conditions take, as bits. They are not part of the topic."""

    def intent(self) -> CompanyIntent:
        for mention in self._mentions.values:
            self._add_value(mention)
        self._add_numbers()
        # the words that neither state a condition nor mean "companies"
        topic = remaining_words(self._mentions, self._condition_words | sum(1 << place for place in self._nouns))
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
                for mention in self._mentions.values
                if all(link.rows == 0 and link.field in _PLACES for link in mention.links)
            ),
            evidence=tuple(self._evidence),
            asks=self._asks(),
            is_sure=self._reading.verdict == "confident",
        ).bounded()

    # ---- values ----

    def _add_value(self, mention: ValueMention) -> None:
        chances = chances_of(mention, self._shares)
        if chances.denied > max(chances.asked_for, CHANCE_MIN) and not self._has_both_wishes(mention):
            self._rule_out(mention, chances)
            return
        if self._is_denied(mention):
            return  # no wish; whom it describes may be "people without a bank account"
        likely = [
            field
            for field, chance in chances.asked_of.items()
            if chance >= LIKELY_SHARE * max(chances.asked_of.values())
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
                evidence(self._mentions, mention.place.first, mention.place.last, tags[0].field, "preferred")
            )

    def _is_denied(self, mention: ValueMention) -> bool:
        return self._mentions.chance_denied(mention.place) >= DENIED_MIN

    def _has_both_wishes(self, mention: ValueMention) -> bool:
        """Whether the same value is wished here and denied there: "security, no physical security" denies a part."""
        values = {(link.field, link.value) for link in mention.links}
        same = [each for each in self._mentions.values if values == {(link.field, link.value) for link in each.links}]
        return len({self._is_denied(each) for each in same}) > 1

    def _add(self, condition: Condition, chance: float) -> None:
        if chance >= SURE:
            self._stated.append(condition)
        else:
            self._guessed.append((chance, condition))

    def _rule_out(self, mention: ValueMention, chances: ValueChances) -> None:
        """Rule out values. For tags, rule out the words too: a company may use them without having the tag."""
        denied = {field: chance for field, chance in chances.denied_of.items() if _values(mention, field)}
        fields = [field for field, chance in denied.items() if chance >= LIKELY_SHARE * max(denied.values())]
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
        limits = [limit for limit, chance in chances.items() if chance >= CHANCE_MIN]
        return min(COUNT_MAX, limits[0]) if limits else None

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
        mentions = (each for base in bases for each in self._mentions.places.get(base, ()))
        return {place for each in mentions for place in range(each.first, each.last)}

    def _is_plain(self, topic: str) -> bool:
        tag_words = {word for group in self._tags for word in significant_words(group.name)}
        return bool(self._tags) and tag_words.issuperset(significant_words(topic))

    def _words(self, place: WordRun) -> str:
        return phrase(self._mentions.text, self._mentions.tokens, place.first, place.last)

    def _leave_out(self, first: int, last: int, field: str, assertion: Assertion) -> None:
        self._condition_words |= WordRun(first, last).mask
        self._evidence.append(evidence(self._mentions, first, last, field, assertion))


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


def understood_of(intent: CompanyIntent, query: Query | None = None) -> Understood:
    """What a question seeks, with the characters of the question that say so; or the `query` that was run for it."""
    where = united_exclusions((*intent.stated, *(Not(negated=Words(words=words)) for words in intent.excluded)))
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
    groups = tuple(TagGroup(name_of(each), tuple(comparisons_in(each)), is_demanded=True) for each in tags)
    where = [*field_by_field(understood.query.where)]
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


def checked_conditions(intent: CompanyIntent) -> list[Condition]:
    """The conditions that each result is checked against."""
    return [*intent.stated, *intent.assumed, *_preferred(intent)]


def _preferred(intent: CompanyIntent) -> list[Condition]:
    return [*intent.preferred, *(AnyOf.of(group.conditions) for group in intent.tags)]


# ---- the former constraints ----


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


Relation = Literal["about", "like", "mentioned", "none"]
"""What is asked: about the company, for others like it, for others that mention it. none: the words are no name."""


RELATIONS: tuple[Relation, ...] = get_args(Relation)


NAMES_MAX = 16


NAME_CHARACTERS_MAX = 120


NAME_WORDS_MAX = 8


NAME_CHANCE_MIN = 0.02
"""Runs of words that are less likely names are not looked up."""


LIKELY = 0.5


CUE_MIN = 1.0
"""Words whose weight for `like` exceeds the others by this ask for similar companies, and are no topic."""


AROUND = ("o", "b2", "a2")
"""The prefixes of evidence that consists of words around a name."""


NAME_WINDOW = 12
"""How many words before and after a run are evidence."""


NAME_LENGTH_MAX = 4
"""The model does not tell longer names apart, nor more words around one."""


NAME_WEIGHTS_FILE = "names.json.zz"


@dataclass(frozen=True)
class Name:
    """Words of a question that may be a company's name, with the chance of each relation."""

    text: str
    start: int
    end: int
    chances: Mapping[Relation, float]
    is_whole: bool = False
    """Whether it is the whole question."""

    @property
    def chance(self) -> float:
        """The chance that it is a name."""
        return 1 - self.chances["none"]

    @property
    def relation(self) -> Relation:
        """The likeliest relation, if it is a name."""
        return max(RELATIONS[:-1], key=lambda each: self.chances[each])

    def holds(self, other: Name) -> bool:
        """Whether it contains the other."""
        return self.start <= other.start and other.end <= self.end and self != other


@cache
def name_weights() -> Weights:
    """The packaged weights."""
    return stored_weights("quarry.companies", NAME_WEIGHTS_FILE)


def read_names(question: str) -> list[Name]:
    """The names that a question may contain, at most `NAMES_MAX`: the whole question, since any words may be a name, and then the
    likeliest.
    """
    tokens = tokenise(question)
    names = list(_names(question, tokens, name_weights()))
    names.sort(key=lambda name: -name.chance)
    whole = [name for name in names if name.is_whole]
    likely = [name for name in names if name.chance >= NAME_CHANCE_MIN and not name.is_whole]
    return [*whole, *likely[: NAMES_MAX - len(whole)]]


def without_names(question: str, names: Sequence[Name]) -> str:
    """The question with spaces in place of the names and of the words that ask for similar companies."""
    tokens, weights = tokenise(question), name_weights()
    cues = {word for name in names for word in _cues(question, tokens, name, weights)}
    spans = [(name.start, name.end) for name in names]
    for start, end in [*spans, *((each.start, each.end) for each in tokens if each.key in cues)]:
        question = question[:start] + " " * (end - start) + question[end:]
    return question


def runs_of(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The runs of words that may be names: the first place, and the one after the last."""
    for first in range(len(tokens)):
        for last in range(first + 1, min(first + NAME_WORDS_MAX, len(tokens)) + 1):
            yield first, last


def features_of(text: str, tokens: Sequence[Token], first: int, last: int) -> list[str]:
    """The features of the words `first` to `last` (exclusive): how they are written, and the words around them."""
    inside = tokens[first:last]
    before, behind = tokens[max(0, first - NAME_WINDOW) : first], tokens[last : last + NAME_WINDOW]
    around = [each.key for each in (*before, *behind)]
    capitals = "".join("A" if each.is_capital else "a" for each in inside[:NAME_LENGTH_MAX])
    length = min(len(inside), NAME_LENGTH_MAX)
    rest = min(sum(key not in STOP_WORDS for key in around), NAME_LENGTH_MAX)
    near, far = (before[-1].key if before else "|"), (behind[0].key if behind else "|")
    shape = f"{capitals}{'^' if not first else ''}"
    common = "".join(commonness(each.key) for each in inside[:NAME_LENGTH_MAX])
    features = [
        "",
        f"shape:{shape}",
        f"common:{common}",
        f"first:{commonness(inside[0].key)} last:{commonness(inside[-1].key)}",
        f"length:{length}",
        f"rest:{rest}",
        f"rest:{rest} common:{common}",
        f"whole:{len(inside) == len(tokens)}",
        f"b:{near}",
        f"a:{far}",
        f"b2:{' '.join(each.key for each in before[-2:])}",
        f"a2:{' '.join(each.key for each in behind[:2])}",
        f"b:{near} shape:{shape}",
        f"a:{far} shape:{shape}",
        f"b:{near} common:{common}",
        f"a:{far} common:{common}",
        f"beside:{commonness(before[-1].key) if before else ''}{'A' if before and before[-1].is_capital else ''}"
        f"|{commonness(behind[0].key) if behind else ''}{'A' if behind and behind[0].is_capital else ''}",
        f"quoted:{_is_quoted(text, inside)}",
    ]
    features += [f"inside:{each.key}" for each in inside]
    if any(character.isdigit() for character in text[inside[0].start : inside[-1].end]):
        features.append(f"digits:{length}")
    features += ["dotted"] if any("." in each.key for each in inside) else []
    features += ["clause inside"] if any(each.ends_clause for each in inside[1:]) else []
    return [*features, *(f"o:{key}" for key in dict.fromkeys(around))]


def _names(text: str, tokens: Sequence[Token], weights: Weights) -> Iterator[Name]:
    for first, last in runs_of(tokens):
        start, end = tokens[first].start, tokens[last - 1].end
        if 2 <= end - start <= NAME_CHARACTERS_MAX:
            chances = relation_chances(features_of(text, tokens, first, last), RELATIONS, weights)
            name = " ".join(text[start:end].split()).removesuffix("'s").removesuffix("’s")
            yield Name(name, start, end, chances, is_whole=last - first == len(tokens))


def _is_quoted(text: str, inside: Sequence[Token]) -> bool:
    before, behind = text[: inside[0].start][-1:], text[inside[-1].end :][:1]
    return before in ('"', "“", "«", "'", "‘") and behind in ('"', "”", "»", "'", "’")


def _cues(text: str, tokens: Sequence[Token], name: Name, weights: Weights) -> Iterator[str]:
    """The words around a name that ask for similar companies."""
    inside = [place for place, each in enumerate(tokens) if name.start <= each.start and each.end <= name.end]
    for feature in features_of(text, tokens, inside[0], inside[-1] + 1):
        kind, _, word = feature.partition(":")
        of_feature = weights.get(feature, {}) if kind in AROUND else {}
        if of_feature.get("like", 0.0) - max(of_feature.get("about", 0.0), of_feature.get("none", 0.0)) >= CUE_MIN:
            yield from word.split()
