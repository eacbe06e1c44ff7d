"""Whether an answer can be believed: every statement against what it cites, the results of queries, and arithmetic on them.

A `Verifier` is pure and reads no clock: give it the day. A statement is *verified* if the evidence bears it out, *plausible*
if it neither does nor contradicts, *flagged* if it contradicts or has nothing behind it, each with a reason. A *comment*
speaks of the data ("The records do not say …") and claims nothing of what it holds. `docs/answers-checked.md` explains how.
One level says how far an answer can be believed, the same for every kind: a written answer is as good as its statements, an
exact result as the reading of its question; passages claim nothing.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, NamedTuple, Self

from quarry.language.messages import gettext, gettext_noop, ngettext
from quarry.language.word_forms import STOP_WORDS, is_everyday
from quarry.platform.text import shorten, words
from quarry.query.contract import QueryResult
from quarry.verification.passages import (
    NO_OTHER_EVIDENCE,
    QUOTED,
    Finding,
    OtherEvidence,
    Part,
    Passage,
    Statement,
    folded,
    has_name,
    names_in,
    statements,
)
from quarry.verification.prose import Prose, check_prose, cover
from quarry.verification.rows import RowCheck
from quarry.verification.tables import Table
from quarry.verification.values import Number, english, read_values
from quarry.verification.wire import SourceText, Trust

State = Literal["verified", "plausible", "flagged", "comment"]
NEAREST_MAX = 3
"""Sources that are read for a statement which cites none: those that share most words with it."""
STATEMENTS_MAX = 120
"""Statements that are checked. What an answer says beyond them is plausible at best."""
ENGLISH_SHARE_MIN = 0.6
"""The share of common English words among the words of an English text that have no capital."""
LANGUAGE_WORDS_MIN = 5
TALK_STEMS_MAX = 3
"""Words of a sentence that says nothing of the evidence, such as thanks."""
_ITEM = re.compile(r"(?m)^\s*(?:[-*]|\d+[.)]) ")
_ID = re.compile(r"\[([\w.:-]*[^\W\d][\w.:-]*)\]")
"""A row that is cited by its id."""
_CITED = re.compile(r"\[(\d{1,3})\]")
_LEAD = re.compile(r"(\w+)(?:[,:;!]|\s[–—-])\s+(?=\w)")
_SMALL = re.compile(r"\b[a-zß-ÿ]{2,}\b")
NOTHING = gettext_noop("no source or result supports it")


class Checked(NamedTuple):
    """A statement at `answer[start:end]`, its state, and why it is not verified. `is_compared`: of a statement in another
    language than the evidence only numbers, dates and quotations are checked, and it has some.
    """

    start: int
    end: int
    text: str
    state: State
    reason: str = ""
    is_compared: bool = False


class Cited(NamedTuple):
    """What stands behind a marker: the sentence, the passage of the source that says most of it, at `start` to `end` of its body,
    how much of the claim that says, and whether the claim is verified.
    """

    n: int
    sentence: str
    start: int
    end: int
    quote: str
    support: float
    verified: bool


@dataclass(frozen=True)
class Verification:
    """The statements of an answer and its citations, in order."""

    statements: Sequence[Checked]
    citations: Sequence[Cited]
    question: str = ""

    @cached_property
    def claims(self) -> list[Checked]:
        """The statements that claim something."""
        return [each for each in self.statements if each.state != "comment"]

    def of(self, state: State) -> list[Checked]:
        """The statements in a state."""
        return [each for each in self.statements if each.state == state]

    @property
    def is_backed(self) -> bool:
        """True unless several statements are flagged, and more than half of what it claims."""
        flagged = len(self.of("flagged"))
        return flagged < 2 or 2 * flagged <= len(self.claims)


class Verifier:
    """Checks an answer, as far as it is written, against the texts of its sources and the results that it is written from. `own`
    are texts in it that are not the writer's, such as what could not be searched; `earlier` are the answers before it; `data` are
    words that name the data as a whole ("campaigns"). Takes time in proportion to the answer and what it cites. Not for several
    threads at once.
    """

    def __init__(
        self,
        sources: Iterable[SourceText] = (),
        results: Sequence[QueryResult] = (),
        *,
        question: str = "",
        today: datetime.date | None = None,
        own: Iterable[str] = (),
        earlier: Iterable[str] = (),
        data: Iterable[str] = (),
    ) -> None:
        self.sources = {each.n: each for each in sources}
        self.question, self.today, self.own = question, today or datetime.date.min, [*filter(None, own)]
        self.passages = {n: Passage([each]) for n, each in self.sources.items()}
        self.tables = [Table(each) for each in results]
        self.joined: dict[tuple[int, ...], Passage] = {}
        self.earlier_numbers = frozenset(each.value for text in earlier for each in read_values(text).numbers)
        self.data = frozenset(data)
        self.answer, self.listed, self.is_foreign, self.counts = "", 0, False, frozenset[float]()

    def add(self, sources: Iterable[SourceText]) -> None:
        """Check what follows against these sources as well."""
        for each in sources:
            self.sources[each.n], self.passages[each.n] = each, Passage([each])
        self.__dict__.pop("known_names", None)
        self.__dict__.pop("evidence_stems", None)

    def verify(self, answer: str, since: int = 0) -> Verification:
        """The statements that end behind `since`, and their citations."""
        for text in self.own:
            answer = answer.replace(text, " " * len(text))
        answer = _ID.sub(lambda cited: " " * len(cited[0]) if self._has_id(cited[1]) else cited[0], answer)
        self.answer = answer
        self.listed = len(_ITEM.findall(answer))
        cited = {*_CITED.findall(answer)}
        self.counts = frozenset((len(self.sources), len(cited), self.listed)) - {0, 1} | self.earlier_numbers
        self.is_foreign = _is_english(answer) is False and self._evidence_is_english is not False
        return self._verified(since)

    def _has_id(self, id: str) -> bool:
        """Whether the evidence has an id."""
        texts = (each.all for each in (*self.passages.values(), *(table.text for table in self.tables)))
        return any(id in text for text in texts)

    @cached_property
    def _evidence_is_english(self) -> bool | None:
        # what says a result is in the language of the answer, and its rows are in none
        return _is_english(" ".join(each.body[:2000] for each in self.sources.values()))

    @cached_property
    def known_names(self) -> frozenset[str]:
        """The words that the evidence writes as names, in lower case; none that are also written small."""
        evidence = [*self.passages.values(), *(each.text for each in self.tables)]
        small = {word for each in evidence for word in _SMALL.findall(each.all)}
        return frozenset().union(*(each.known_names for each in evidence)) - small

    def _verified(self, since: int) -> Verification:
        checked: list[Checked] = []
        cited: list[Cited] = []
        for place, statement in enumerate(statements(self.answer)):
            if statement.end <= since:
                continue
            if place >= STATEMENTS_MAX:
                reason = gettext("the answer is too long to check to the end")
                checked.append(Checked(statement.start, statement.end, statement.text, "plausible", reason))
                continue
            may_be_comment = not statement.cited and statement.kind != "row"
            if may_be_comment and is_comment(statement.text, self.data):
                checked.append(Checked(statement.start, statement.end, statement.text, "comment"))
                continue
            total = Finding()
            for part, finding in self._judged(statement):
                total.add(finding)
                cited += [self._cited(n, part, statement, finding) for n in part.cited if n in self.passages]
            result = _checked(statement, total)._replace(is_compared=self._is_compared(statement))
            checked.append(self._as_talk(statement, result))
        if not self.passages and not self.tables and all(self._is_bare(each.text) for each in checked):
            checked = [each._replace(state="comment", reason="") for each in checked]
        return Verification(checked, cited, self.question)

    def _judged(self, statement: Statement) -> Iterator[tuple[Part, Finding]]:
        """The parts of a statement, each with what is wrong with it."""
        if statement.kind == "row":
            yield from self._judged_row(statement)
            return
        for part in statement.parts:
            text = behind_interjection(part.text)
            yield part, self._judge(self._prose(text, statement.before), part.cited, lead=statement.lead)

    def _prose(self, text: str, before: str = "") -> Prose:
        return Prose(text, self.question, before, self.is_foreign, self.known_names, self.counts)

    def _judged_row(self, statement: Statement) -> Iterator[tuple[Part, Finding]]:
        label = statement.label
        for place, part in enumerate(statement.parts):
            is_label = place == 0 and len(statement.parts) > 1
            cited = [n for n in part.cited if n in self.passages]
            if is_label and not cited:
                yield part, self._label(part)
                continue
            text = part.text if cited or is_label or len(statement.parts) == 1 else f"{label}: {part.text}"
            finding = self._judge(self._prose(text), cited, header=part.header, is_cell=True)
            if cited or not read_values(part.text).numbers:
                # a cell is short: its words need not be those of one sentence
                finding = Finding(
                    [each for each in finding.wrong if "says nothing like" not in each], [], finding.denied
                )
            yield part, finding

    def _label(self, part: Part) -> Finding:
        """A row's label needs to be a key of a result or a word of a source."""
        terms = words(part.text)
        is_known = any(table.mentions(part.text) for table in self.tables) or not terms
        is_known = is_known or any({*terms} <= table.text.words for table in self.tables)
        is_known = is_known or any(len({*terms} & each.words) * 2 >= len({*terms}) for each in self.passages.values())
        totals = english().sets["sums"] | english().sets["averages"]
        if is_known or not self.tables or not totals.isdisjoint(terms):
            return Finding()
        return Finding(wrong=[gettext("no row is “{part}”", part=part.text)])

    def _judge(
        self, prose: Prose, cited: Sequence[int], header: str = "", lead: str = "", *, is_cell: bool = False
    ) -> Finding:
        """What is wrong by the evidence that fits best: what is cited, else the results that it speaks of, else what is nearest.
        What any cited source denies counts.
        """
        numbers = [n for n in dict.fromkeys(cited) if n in self.passages]
        passages = [self.passages[n] for n in numbers] if numbers else self._nearest(prose)
        if len(passages) > 1:
            passages = [*passages, self._joined(numbers or [each.sources[0].n for each in passages])]
        in_prose = [
            check_prose(prose, each, self._results(each) if numbers else NO_OTHER_EVIDENCE) for each in passages
        ]
        others = [[other for other in self.tables if other is not each] for each in self.tables]
        checks = [
            RowCheck(prose, each, rest, header, lead, self.today, is_cell, self.listed)
            for each, rest in zip(self.tables, others, strict=True)
        ]
        in_rows = [(each.is_spoken_of, each.finding(self._is_elsewhere)) for each in checks]
        spoken_of = [finding for is_so, finding in in_rows if is_so]
        if numbers:
            best = _best([*in_prose, *spoken_of])
            denied = [each for finding in in_prose for each in finding.denied]
            return Finding(best.wrong, best.weak, [*best.denied, *denied[:1]]) if denied and not best.denied else best
        if spoken_of and not any(each.is_clean for each in in_prose):
            return _best([finding for _, finding in in_rows])
        tries = [*in_prose, *spoken_of] or [finding for _, finding in in_rows]
        return _best(tries) if tries else _unfounded(prose)

    def _results(self, passage: Passage) -> OtherEvidence:
        """What the results say: their numbers, and the dates and names of rows that tell something of the passage too."""

        def has_number(number: Number) -> bool:
            return any(each.cells(number) or number.is_one_of({each.result.total}) for each in self.tables)

        @cache
        def rows() -> list[Passage]:
            return [each.rows_about(passage) for each in self.tables]

        return OtherEvidence(
            has_number,
            lambda day: any(each.dated(day) for each in rows()),
            lambda name: any(has_name(name, each.folded, each.words) for each in rows()),
        )

    def _is_elsewhere(self, name: tuple[str, ...]) -> bool:
        return any(has_name(name, each.folded, each.words) for each in self.passages.values())

    def _nearest(self, prose: Prose) -> list[Passage]:
        mine = frozenset(word for word in words(prose.text) if word not in STOP_WORDS)

        def fits(passage: Passage) -> tuple[int, int]:
            return sum(folded(each) in passage.folded for each in prose.quotes), len(mine & passage.words)

        ranked = sorted(self.passages.values(), key=fits, reverse=True)
        return ranked[:NEAREST_MAX]

    def _joined(self, numbers: Sequence[int]) -> Passage:
        key = tuple(numbers)
        if key not in self.joined:
            self.joined[key] = Passage([self.sources[n] for n in numbers])
        return self.joined[key]

    def _as_talk(self, statement: Statement, checked: Checked) -> Checked:
        """What has no value, name, quotation, citation or word of the evidence is nothing to flag: a few words are talk."""
        if (
            checked.state == "verified"
            or statement.cited
            or statement.kind == "row"
            or not self._is_bare(statement.text)
        ):
            return checked
        stems = english().stems(statement.text)
        if not stems.isdisjoint(self.evidence_stems):
            return checked
        state: State = "comment" if len(stems) <= TALK_STEMS_MAX else "plausible"
        return checked._replace(state=state, reason="" if state == "comment" else gettext(NOTHING))

    def _is_compared(self, statement: Statement) -> bool:
        values = read_values(statement.text)
        return self.is_foreign and bool(values.numbers or values.days or values.votes or QUOTED.search(statement.text))

    def _is_bare(self, text: str) -> bool:
        prose = Prose(text, known_names=self.known_names)
        values = prose.values
        has_values = values.numbers or values.votes or values.days or values.times or values.codes or prose.quotes
        return not has_values and not any(names_in(prose.undated, prose.known_names))

    @cached_property
    def evidence_stems(self) -> frozenset[str]:
        """The stems of the words of all sources and results."""
        return frozenset().union(*(each.stems for each in (*self.passages.values(), *(t.text for t in self.tables))))

    def _cited(self, n: int, part: Part, statement: Statement, finding: Finding) -> Cited:
        passage = self.passages[n]
        stems = english().stems(part.text)
        window = passage.window_of(stems) if stems else passage.windows[0]
        quote = passage.body[window.start : window.end]
        is_verified = not (finding.wrong or finding.weak or finding.denied)
        return Cited(n, statement.text, window.start, window.end, quote, round(cover(stems, passage), 3), is_verified)


def behind_interjection(text: str) -> str:
    """A sentence without the yes or no before it: that answers the question, and says nothing of what the sentence denies."""
    lead = _LEAD.match(text)
    return text[lead.end() :] if lead and lead[1].casefold() in english().sets["interjections"] else text


def is_comment(text: str, data: Set[str] = frozenset()) -> bool:
    """Whether a sentence speaks of the data, asks, introduces, or tells what the writer did: it claims nothing."""
    terms, wording = words(text), english()
    values = read_values(text)
    has_values = bool(values.votes or values.days) or any(not each.in_words for each in values.numbers)
    decides = any(not side.isdisjoint(terms) for pair in wording.opposites for side in pair)
    stems, end = len(wording.stems(text)), text.rstrip()[-1:]
    is_bare = stems < 2 and not has_values and not decides
    if wording.sets["interjections"].issuperset(terms) or is_bare or end == "?":
        return True
    is_own = not has_values and (terms[:1] == ["i"] or (end == ":" and stems < 4))
    return is_own or lacks_data(text, data)


def lacks_data(text: str, data: Set[str] = frozenset()) -> bool:
    """Whether a sentence says that the data, which these words may name too, does not tell something."""
    terms, wording = words(text), english()
    of_data = wording.has("comment_verbs", terms) and not (wording.sets["about_data"] | data).isdisjoint(terms)
    return of_data and wording.is_negated(terms) and not any(not each.in_words for each in read_values(text).numbers)


def _best(tries: Sequence[Finding]) -> Finding:
    return min(tries, key=lambda each: each.rank)


def _unfounded(prose: Prose) -> Finding:
    """What is said without any evidence: wrong where it gives values that the question does not."""
    values, question = prose.values, folded(prose.question)
    has_value = bool(values.votes) or any(folded(each) not in question for each in values.texts)
    return Finding([gettext(NOTHING)], []) if has_value else Finding([], [gettext(NOTHING)])


def _checked(statement: Statement, finding: Finding) -> Checked:
    wrong = [*finding.denied, *finding.wrong]
    state: State = "flagged" if wrong else "plausible" if finding.weak else "verified"
    reason = "; ".join(dict.fromkeys(wrong or finding.weak))
    return Checked(statement.start, statement.end, statement.text, state, reason)


def _is_english(text: str) -> bool | None:
    """Whether a text is in English; None where it is too short to say."""
    terms = {*_SMALL.findall(text)}
    if len(terms) < LANGUAGE_WORDS_MIN:
        return None
    return sum(word in STOP_WORDS or is_everyday(word) for word in terms) >= ENGLISH_SHARE_MIN * len(terms)


Certainty = Literal["given", "sure", "likely"]
UNREAD_CHARACTERS_MAX = 120


class Exact(NamedTuple):
    """The result of a query that a question was read as: how certain the reading is, and the words that no part of it reads. A
    query that was `given` was not read.
    """

    certainty: Certainty
    unread: Sequence[str] = ()

    @classmethod
    def read(cls, *, is_sure: bool, unread: Sequence[str] = ()) -> Self:
        """The result of a query that was read surely, or only likely meant."""
        return cls("sure" if is_sure else "likely", unread)


@dataclass(frozen=True)
class Passages:
    """Sentences of sources, as they stand."""


def level(
    basis: Verification | Exact | Passages, *, missing: Sequence[str] = (), is_talk: bool = False
) -> Trust | None:
    """How far an answer on this basis can be believed; None where it claims nothing. What is `missing` are parts of the data that
    could not be read: an answer without them is not trusted far. `is_talk`: the writer says that the text rests on no source and
    no result; it has a level only where the check finds a claim in it that is true or false, or one with a name, number or date
    that the question does not say.
    """
    match basis:
        case Passages():
            return None
        case Exact():
            trust = _of_reading(basis)
        case Verification():
            question = folded(basis.question)
            if not basis.claims or (is_talk and not any(_claims(each, question) for each in basis.claims)):
                return None
            trust = _of_statements(basis)
    if missing and trust.level != "low":
        return Trust("low", gettext("Low: {names} could not be searched", names=", ".join(missing)))
    return trust


def _claims(statement: Checked, question: str) -> bool:
    """Whether a statement claims something of the data that the `question` does not say, whatever its writer says it rests on."""
    if statement.state != "plausible":
        return True
    values = read_values(statement.text)
    if values.votes or values.codes:
        return True
    texts = [*values.texts, *map(" ".join, names_in(statement.text, frozenset()))]
    return bool(values.times) or any(folded(each) not in question for each in texts)


def _of_reading(basis: Exact) -> Trust:
    if basis.certainty == "given":
        return Trust("high", gettext("High: the exact result of the conditions that you set"))
    if basis.unread:
        words = shorten(", ".join(basis.unread), UNREAD_CHARACTERS_MAX)
        return Trust("low", gettext("Low: not read: {words}", words=words))
    if basis.certainty == "likely":
        return Trust("medium", gettext("Medium: this is probably what the question means"))
    return Trust("high", gettext("High: everything in the question was read"))


def _of_statements(basis: Verification) -> Trust:
    claims, flagged, verified = len(basis.claims), len(basis.of("flagged")), len(basis.of("verified"))
    if flagged:
        return Trust(
            "low",
            ngettext(
                "Low: {number} of {claims} is not in its source",
                "Low: {number} of {claims} are not in their sources",
                flagged,
                claims=claims,
            ),
        )
    compared = sum(each.is_compared for each in basis.claims)
    if not verified and 2 * compared >= claims:
        return Trust(
            "medium",
            gettext(
                "Medium: numbers, dates and quotations of {number} of {claims} statements checked",
                number=compared,
                claims=claims,
            ),
        )
    if not verified:
        alone = gettext("Low: the statement could not be checked")
        return Trust("low", alone if claims == 1 else gettext("Low: no statement could be checked"))
    if verified < claims:
        label = gettext("Medium: {number} of {claims} statements checked", number=verified, claims=claims)
        return Trust("medium", label)
    return Trust("high", ngettext("High: the statement is checked", "High: all {number} statements checked", claims))
