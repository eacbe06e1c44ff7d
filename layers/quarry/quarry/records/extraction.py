"""The sentences of records that answer a question, quoted where no model writes, and the texts for where none answers.

A sentence is chosen by how well it answers by the pair model, by how much of the question it holds, rare words counting more, and
by how well its record was found. Pure but for `judged`, which runs the pair model.
"""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

from pydantic import Field

from quarry.language.tokens import is_code, sentences
from quarry.language.writing import writing_of
from quarry.platform.errors import ModelError
from quarry.platform.lazy_model import LazyModel
from quarry.platform.off_loop import off_loop
from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.platform.text import CleanText, shorten, significant_words, words
from quarry.reader.learned import PairModel, read_pair_model
from quarry.records.contract import AggregationEvent, UnderstoodEvent
from quarry.records.evidence import EvidenceSource, RecordText
from quarry.records.reading import is_asked, words_to_look_up
from quarry.services.services import Services

QUOTES_MAX = 5
QUOTES_PER_SOURCE_MAX = 3
JUDGED_MAX = 16
"""Sentences that the pair model reads: the best by their words. Each takes about 5 ms."""
BODY_CHARACTERS_MAX = 20_000
"""The beginning of a record that is read for sentences."""
QUOTED_CHARACTERS_MAX = 600
TITLE_CHARACTERS_MAX = 90
SENTENCE_WORDS_MAX = 70
LINE_WORDS_MAX = 50
WORDS_MIN = 4
"""A sentence with fewer significant words is quoted with the one before it."""
OVERLAP_MAX = 0.55
"""A sentence that shares more of its words with a chosen one repeats it."""
SCORE_SHARE_MIN, JUDGED_SHARE_MIN = 0.5, 0.65
"""A sentence that scores less than this share of the best one is left out: where words alone judge it, and the pair model too."""
TITLE_WEIGHT = 0.5
"""The weight of a word that stands only in the record's title."""
WORDS_WEIGHT, ANSWERS_WEIGHT, RANK_WEIGHT, NEAR_WEIGHT = 0.8, 0.5, 1.0, 0.6
EVEN = -2.0
"""Log-odds at which a sentence counts half: those of an answering sentence are often no higher."""
SPOKEN_WEIGHT = 0.8
"""Quotations of people rank below sentences of the record itself."""
_NAMED_VALUE = re.compile(r"[^\W\d_][\w ]{0,79}: \S.{0,200}")
"""A line that gives the value of a field, as `city: Oslo`."""
_YEAR = re.compile(r"\b[12]\d{3}\b")


@dataclass(frozen=True)
class Quote:
    """A sentence of a source. `share`: how much of the question's words it holds, by their weight, from 0 to 1; `near`: the
    similarity of its source, as a share of the nearest; `answers`: the log-odds that it answers, where the pair model read it;
    `has_title`: it begins with the title of its record.
    """

    source: EvidenceSource
    place: int
    text: str
    stems: frozenset[str]
    share: float
    near: float = 0.0
    answers: float | None = None
    has_title: bool = False

    @property
    def score(self) -> float:
        """How well it answers. Where the pair model did not read it, the words count for both."""
        likely = self.share if self.answers is None else 1 / (1 + math.exp(EVEN - self.answers))
        text = self.source.text
        score = WORDS_WEIGHT * self.share + ANSWERS_WEIGHT * likely + RANK_WEIGHT * self.source.weight
        return (score + NEAR_WEIGHT * self.near) * text.quoting.weight * (SPOKEN_WEIGHT if text.author else 1.0)


def candidates(question: str, sources: Sequence[EvidenceSource]) -> list[Quote]:
    """The sentences of the sources that hold a word of the question, best first by their words and the rank of their source."""
    asked = frozenset(significant_words(question))
    nearest = max((source.similarity or 0.0 for source in sources), default=0.0) or 1.0
    pool = [
        Quote(
            source,
            place,
            f"{title}{text}",
            frozenset(significant_words(text)),
            0.0,
            (source.similarity or 0.0) / nearest,
            has_title=bool(title),
        )
        for source in sources
        for place, (title, text) in enumerate(_units(source.text))
    ]
    # a sentence without a word beyond the question does not answer it
    pool = [each for each in pool if each.stems - asked] or pool
    holders = Counter(word for each in pool for word in each.stems & asked)
    weights = {word: math.log(1 + len(pool) / (1 + holders[word])) for word in asked}
    total = sum(weights.values()) or 1.0
    about = {source.n: asked.intersection(_about(source.text)) for source in sources}

    def share(quote: Quote) -> float:
        own = sum(weights[word] for word in quote.stems & asked)
        return (own + TITLE_WEIGHT * sum(weights[word] for word in about[quote.source.n] - quote.stems)) / total

    return _sorted(replace(each, share=share(each)) for each in pool)


async def read_sentences(question: str, sources: Sequence[EvidenceSource], services: Services) -> list[Quote]:
    """The sentences of the sources, best first: as the pair model and words judge them. Without the local model, or where nothing
    is asked, words alone do.
    """
    found = await off_loop(candidates, question, sources)
    if services.embeddings.name == LOCAL_EMBEDDING_MODEL and is_asked(question):
        with suppress(ModelError):
            found = await off_loop(judged, question, found)
    return found


def judged(question: str, found: Sequence[Quote]) -> list[Quote]:
    """The best sentences by their words with how well they answer, best first. Raises ModelUnavailable."""
    model, read = answer_model(), found[:JUDGED_MAX]
    if model is None or not read:
        return list(found)
    scores = model.scores(question, [f"{_context(each)}{each.text}" for each in read])
    return _sorted(replace(each, answers=score) for each, score in zip(read, scores, strict=True))


def chosen(found: Sequence[Quote]) -> list[Quote]:
    """The best sentences, none of which repeats another."""
    kept: list[Quote] = []
    of_source: Counter[int] = Counter()
    is_judged = any(each.answers is not None for each in found)
    least = (JUDGED_SHARE_MIN if is_judged else SCORE_SHARE_MIN) * found[0].score if found else 0.0
    for quote in found:
        if len(kept) == QUOTES_MAX or quote.score < least:
            break
        is_new = all(_overlap(quote, other) <= OVERLAP_MAX for other in kept)
        if is_new and of_source[quote.source.n] < QUOTES_PER_SOURCE_MAX:
            kept.append(quote)
            of_source[quote.source.n] += 1
    return kept


def quoted(quotes: Sequence[Quote]) -> Iterator[str]:
    """The sentences in Markdown with their citations, piece by piece: the first answers, the others follow as a list."""
    said = [f"{_date(quote, quotes)}{_cited(quote)}" for quote in quotes]
    yield from said[:1]
    if others := said[1:]:
        yield "\n\nAlso in the records:\n"
        for each in others:
            yield f"\n- {each}"


def read_body(text: RecordText) -> str:
    """The part of a record that sentences are taken from."""
    return text.body[:BODY_CHARACTERS_MAX]


def markdown_safe(text: str) -> str:
    """Source text must read neither as markup nor as a citation."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", text)


def _sorted(found: Iterator[Quote]) -> list[Quote]:
    return sorted(found, key=lambda each: (-each.score, each.source.n, each.place))


def _overlap(one: Quote, other: Quote) -> float:
    if one.has_title and other.has_title and one.source.n != other.source.n:
        return 0.0  # two records may have the same value
    smaller = min(len(one.stems), len(other.stems))
    return len(one.stems & other.stems) / smaller if smaller else 1.0


def _about(record: RecordText) -> list[str]:
    return significant_words(f"{record.title} {record.topic or ''}")


def _context(quote: Quote) -> str:
    """The topic of the record, which the sentence may not name."""
    record = quote.source.text
    title = record.topic or record.title
    return "" if quote.has_title or is_code(title) or record.body.startswith(title) else f"{title}: "


def _units(record: RecordText) -> Iterator[tuple[str, str]]:
    """The sentences that can be quoted, each with the title before it if it is a field's value."""
    title, prose = f"{shorten(record.title, TITLE_CHARACTERS_MAX)} – ", list[str]()
    for line in read_body(record).split("\n"):
        if _NAMED_VALUE.fullmatch(line) and line[:1].islower():
            # the title stands before each value already
            if line.partition(": ")[2] != record.title:
                yield title, line
        else:
            prose.append(line)
    yield from (("", unit) for unit in _sentences_of(record, prose))


def _sentences_of(record: RecordText, lines: Sequence[str]) -> list[str]:
    """The sentences of a record, as its type is quoted."""
    first, *rest = lines or [""]
    match record.quoting.unit:
        case "lead" if rest:
            return [f"{first} {rest[0]}", *_readable(rest[1:])]
        case "line":
            return [first] if first else []
        case "short_line" if first and len(words(first)) <= LINE_WORDS_MAX:
            return [first]
    return _readable(lines)


def _readable(lines: Sequence[str]) -> list[str]:
    """The sentences of some lines. A short one is joined with the next one of its line."""
    found: list[str] = []
    for line in lines:
        is_short = False
        for place, sentence in enumerate(sentences(line)):
            together = len(words(found[-1])) + len(words(sentence)) if place else 0
            if place and (is_short or _is_short(sentence)) and together <= SENTENCE_WORDS_MAX:
                found[-1] = f"{found[-1]} {sentence}"
            else:
                found.append(sentence)
            is_short = _is_short(found[-1])
    return found


def _is_short(sentence: str) -> bool:
    return len(significant_words(sentence)) < WORDS_MIN


def _cited(quote: Quote) -> str:
    """A sentence with who said it, and its citation."""
    record, text = quote.source.text, markdown_safe(shorten(quote.text, QUOTED_CHARACTERS_MAX))
    if record.author:
        text = f"{markdown_safe(shorten(record.title, 200))}: “{text.strip('“”')}”"
    return f"{text} [{quote.source.n}]"


def _date(quote: Quote, quotes: Sequence[Quote]) -> str:
    """The date of the record, for a sentence without one, where it tells when or which of several days."""
    record = quote.source.text
    if record.date is None or quote.has_title or _names_date(quote.text, record.date, record.language):
        return ""
    return f"**{writing_of(record.language).date(record.date)}**: " if _is_told_apart(quote, quotes) else ""


def _is_told_apart(quote: Quote, quotes: Sequence[Quote]) -> bool:
    days = {each.source.text.date for each in quotes}
    return len(days) > 1 or quote.text == quote.source.text.title


def _names_date(text: str, day: datetime.date, language: str) -> bool:
    return bool(_YEAR.search(text)) or writing_of(language).months[day.month - 1] in text


ADAPTERS_FILE = "answers.safetensors"


@cache
def answer_model() -> PairModel | None:
    """The model that compares questions with sentences, read at the first call. None and errors as `read_pair_model`."""
    return read_pair_model("quarry.records", ADAPTERS_FILE)


@dataclass(frozen=True)
class Facts:
    """What is known without a model: `text` begins the answer; `is_all`: it is the whole answer. `understood` says how the
    question was read, where a Query answers it.

    `authors`: the question asks what they said. `doubt`: that what the records found may not answer, where that is likely.
    `basis`: what the number was counted on. `quotes`: the sentences that answer, best first. `chance`: how likely the records
    found answer, from 0 to 1. `unread`: the words of the question that no part of a query reads.
    """

    text: str = ""
    counted: AggregationEvent | None = None
    understood: UnderstoodEvent | None = None
    is_all: bool = False
    authors: frozenset[str] = frozenset()
    doubt: str = ""
    basis: str = ""
    quotes: Sequence[Quote] = ()
    chance: float = 0.0
    unread: Sequence[str] = ()


PART_STEMS_MIN = 2
"""A part of a record that is called by fewer significant words ("Findings") is named with the whole."""
TOPIC_CHARACTERS_MAX = 90
NEAREST_MAX = 3
SOUGHT_CHARACTERS_MAX = 200
CALLED_CHARACTERS_MAX = 120
NOTHING_ANSWERS = "The records searched here hold nothing that answers this"
NOTHING_FOUND = f"{NOTHING_ANSWERS}. Other words, or fewer, may find more."
BROKEN_OFF = "\n\n*The answer broke off here. From the sources themselves:*\n\n"
UNSURE = "No record clearly answers this. The nearest say:"
IN_PART = "this may answer the question only in part"


def nothing_held(question: str, missing: Sequence[str], nearest: Sequence[EvidenceSource]) -> str:
    """The refusal: what was looked for, which of its words no record holds, and the nearest records."""
    sought = f"“{markdown_safe(shorten(words_to_look_up(question), SOUGHT_CHARACTERS_MAX))}”"
    said = f"{NOTHING_ANSWERS}. Looked for: {sought}"
    said += f"; none of them names {_listed(missing)}." if missing else "."
    kinds: dict[str, str] = {}
    for each in nearest:
        title = markdown_safe(shorten(called(each.text), CALLED_CHARACTERS_MAX))
        kinds.setdefault(title, each.text.type.replace("_", " "))
    lines = [f"\n- {title} ({kind})" for title, kind in list(kinds.items())[:NEAREST_MAX]]
    return "".join([said, "\n\nThe nearest records:\n", *lines]) if lines else said


def doubt(missing: Sequence[str]) -> str:
    """The doubt: the records found may not answer, with the words that no record holds."""
    return f"No record names {_listed(missing)}: {IN_PART}." if missing else UNSURE


def called(record: RecordText) -> str:
    """What a record is about: its topic or title, with its text where that is a number or a code."""
    name = record.topic or record.title
    is_code = all(any(map(str.isdigit, part)) for part in name.split())
    return f"{name}: {' '.join(record.body.split())}" if is_code else name


def _listed(names: Sequence[str]) -> str:
    return " or ".join(f"“{markdown_safe(name)}”" for name in names)


def question_about(text: RecordText) -> str | None:
    """A question that the record answers; None where its author or topic would be named, and is missing."""
    asked = text.quoting.followup
    if "{author}" in asked and not (text.author and text.topic):
        return None
    whole, _, part = text.title.partition(": ")
    if part and len(significant_words(part)) < PART_STEMS_MIN:
        part = f"{part} ({whole})"
    return asked.format(topic=topic(called(text)), title=topic(part or called(text)), author=text.author)


def topic(title: str) -> str:
    """A title as it stands in a question."""
    return shorten(title.strip().rstrip(".?!"), TOPIC_CHARACTERS_MAX)


FOLLOWUPS_MIN, FOLLOWUPS_MAX = 2, 3


class FollowupQuestions(LazyModel):
    """Questions that a reader of the answer is likely to ask next."""

    TOKENS_MAX: ClassVar[int] = 300

    questions: list[CleanText] = Field(
        json_schema_extra={"maxItems": FOLLOWUPS_MAX},
        description="Two or three short questions, each answerable from the same records.",
    )


def questions_about(
    question: str, asked_sources: Sequence[EvidenceSource], pool: Sequence[RecordText]
) -> FollowupQuestions:
    """Questions about records that were found but not used, so that each has an answer."""
    used = {source.text.key for source in asked_sources}
    own = set(significant_words(question))
    fresh = [text for text in pool if text.key not in used] + [source.text for source in asked_sources]
    questions: dict[str, None] = {}
    kinds: Counter[tuple[str, str]] = Counter()
    for text in fresh:
        candidate = question_about(text)
        if candidate is None or len(set(significant_words(candidate)) - own) < 1:
            continue
        kind, topic = (text.type, text.topic or text.title)
        if kinds[kind, ""] or kinds["", topic] > 1:
            continue
        kinds[kind, ""] += 1
        kinds["", topic] += 1
        questions[candidate] = None
        if len(questions) == FOLLOWUPS_MAX:
            break
    return FollowupQuestions(questions=list(questions))


def followups_about(records: Sequence[RecordText]) -> list[str]:
    """Questions about records that exist, for when nothing was found. Of a single record there are two."""
    asked = list(dict.fromkeys(question for record in records if (question := question_about(record))))
    if len(asked) < FOLLOWUPS_MIN:
        asked += [f"Which records mention {topic(called(record))}?" for record in records[:FOLLOWUPS_MIN]]
    return list(dict.fromkeys(asked))
