"""The passages that answer without a model: sentences of records, as they stand. They claim nothing.

A sentence is chosen by how well it answers by the pair model, by how much of the question it holds, rare words counting more, and
by how well its record was found. How likely they answer the question at all is calibrated on what
the search found. Pure but for `judged`, which runs the pair model.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cache
from importlib.resources import files
from statistics import fmean
from typing import LiteralString, NamedTuple

from psycopg.sql import SQL, Identifier, Literal, Placeholder

from quarry.language.messages import gettext, gettext_noop, language
from quarry.language.word_forms import STOP_WORDS, is_code, is_everyday, sentences
from quarry.language.writing import writing_of
from quarry.platform.errors import ModelError
from quarry.platform.off_loop import off_loop
from quarry.platform.settings import LOCAL_EMBEDDING_MODEL
from quarry.platform.text import MATCH_END, MATCH_START, placed_words, shorten, significant_words, topic_text, words
from quarry.reader.features import chance_of
from quarry.reader.learned import PairModel, read_pair_model
from quarry.records.answer_cache import RuleAnswer
from quarry.records.contract import RecordKey
from quarry.records.finding import Searched, SearchToolset, with_forms
from quarry.records.reading import is_question
from quarry.records.retrieval import SOURCES_MAX, EvidenceSource, RecordText, word_tables
from quarry.services.services import Services
from quarry.verification.check import Passages
from quarry.verification.values import side_of

NEAREST = 10
"""Records whose similarities say how far the nearest stands out."""
ALL = 0.999
"""This share of a sum counts as all of it, because of rounding."""


async def passages_of(query: str, first: Searched, toolset: SearchToolset) -> tuple[RuleAnswer, float]:
    """The best sentences of the records found, or that none is near; and how likely these answer, from 0 to 1. Raises
    DatabaseUnavailable.
    """
    if not first.ranked:
        return RuleAnswer(nothing_near(()), Passages(), is_found=False), 0.0
    authors, reading = toolset.reading_by_rule.authors, toolset.reading_by_rule
    if reading.words and reading.is_dated and not first.is_beside:
        query = reading.words  # the days are met
    query = with_forms(query, first.forms)
    sources = [each for each in first.sources if each.text.author in authors]
    quotes = await read_sentences(query, sources or first.sources, toolset.services)
    pieces, evidence = as_passages(select_quotes(quotes), toolset.evidence.sources)
    passages = RuleAnswer(pieces, Passages(), evidence)
    if "query_embedding" in toolset.run.degraded and passages.pieces:
        # nobody knows what the failing model would have found
        return passages, 1.0
    with toolset.run.step("records_answerability"):
        question_words = await question_words_of(query, first, toolset)
    has_meaning = any(each.has_meaning for each in toolset.types)
    fitted = fitted_for(toolset.services.embeddings.name if has_meaning else "")
    likely = fitted.probability(features_of(first, question_words, quotes))
    # a record with every word is near even a short question, and so are the words of the person asked about, and what is of
    # the days asked about where the question says little more
    is_near = not first.is_beside and (
        likely >= fitted.doubted_below
        or bool(sources)
        or _greatest_weight(question_words) > ALL * sum(each.weight for each in question_words)
        or not is_question(query)
        or (reading.is_dated and not any(each.is_missing and not is_everyday(each.word) for each in question_words))
    )
    if is_near and passages.pieces:
        # who asks what somebody said of something asks for their words
        return passages, 1.0 if sources and reading.says_more else likely
    nearest = first.sources[:NEAREST_MAX]
    nothing = nothing_near(nearest, is_beside=first.is_beside)
    return RuleAnswer(nothing, Passages(), nearest, is_found=False), likely


def features_of(first: Searched, question_words: Sequence[QuestionWord], quotes: Sequence[Quote]) -> dict[str, float]:
    """The features of a search: how much it found, how near the nearest is (cosine), its words, its sentences. Pure."""
    near = sorted([each.similarity or 0.0 for each in first.ranked], reverse=True)[:NEAREST]
    features = {
        "always": 1.0,
        # the nearest of many records is nearer by chance
        "found": math.log1p(len(first.ranked)),
        "similarity": near[0],
        "similarity gap": near[0] - fmean(near),
        "sentence share": max((each.share for each in quotes), default=0.0),
    }
    best = sorted((each.answers for each in quotes if each.answers is not None), reverse=True)
    if best:
        # the score of a sentence says less where others score the same
        features |= {"asked": 1.0, "answers": best[0], "answers gap": best[0] - best[min(1, len(best) - 1)]}
    total = sum(each.weight for each in question_words)
    if total:
        missing = sum(each.weight for each in question_words if each.is_missing and not each.is_near)
        features |= {
            "held weight": math.log1p(_greatest_weight(question_words) / max(each.weight for each in question_words)),
            "missing": missing / total,
            "title": float(_is_about_a_title(question_words, quotes)),
        }
    return features


def _is_about_a_title(question_words: Sequence[QuestionWord], quotes: Sequence[Quote]) -> bool:
    """Whether a record has all of the words in its title or topic, so that the whole record answers."""
    stems = {stem for each in question_words for stem in significant_words(each.word)}
    titles = {quote.source.n: f"{quote.source.text.title} {quote.source.text.topic or ''}" for quote in quotes}
    return bool(stems) and any(stems <= {*significant_words(title)} for title in titles.values())


def _greatest_weight(question_words: Sequence[QuestionWord]) -> float:
    """The weight of the words that the record with the most of them holds."""
    keys = {key for each in question_words for key in each.holders}
    return max((sum(each.weight for each in question_words if key in each.holders) for key in keys), default=0.0)


WORDS_MAX = 24
"""Words of a question that are looked up."""
RECORDS_MAX = 24
"""The first records, which are checked for these words."""


class QuestionWord(NamedTuple):
    """A word of a question as it was written. `weight`: how rare it is among the records searched; `holders`: the records found
    that hold it; `is_missing`: no record holds it, and `is_near`: but one holds a word that is spelled nearly so.
    """

    word: str
    weight: float
    holders: frozenset[RecordKey]
    is_missing: bool = False
    is_near: bool = False


async def question_words_of(query: str, first: Searched, toolset: SearchToolset) -> list[QuestionWord]:
    """The words of a question that carry a topic, and which records hold them. Raises DatabaseUnavailable."""
    terms = [word for word in words(query) if word not in STOP_WORDS] or words(topic_text(query))
    # words of a type's follow-up questions fit every record and carry no topic
    of_any = {stem for each in toolset.types for stem in significant_words(each.quoting.general_followup)}
    terms = [word for word in terms if of_any.isdisjoint(significant_words(word))] or terms
    terms = list(dict.fromkeys(terms))[:WORDS_MAX]
    languages = dict.fromkeys(language for each in toolset.types for language in each.languages)
    readings = [await _of_language(terms, first, toolset, language) for language in languages]
    spellings = {word: query[start:end] for word, start, end in placed_words(query)}
    return (
        [_best(spellings[word], of_word) for word, *of_word in zip(terms, *readings, strict=True)] if readings else []
    )


def _best(spelling: str, words_by_language: Sequence[QuestionWord]) -> QuestionWord:
    """A word in several languages: it is held where it is held in one of them."""
    existing = [each for each in words_by_language if not each.is_missing] or words_by_language
    return QuestionWord(
        spelling,
        min(each.weight for each in existing),
        frozenset[RecordKey]().union(*(each.holders for each in existing)),
        existing[0].is_missing,
        any(each.is_near for each in existing),
    )


async def _of_language(
    terms: Sequence[str], first: Searched, toolset: SearchToolset, language: str | None
) -> list[QuestionWord]:
    types = [each for each in toolset.types if language in each.languages]
    tables, conditions = word_tables(types)
    keys = [each.key for each in first.ranked[:RECORDS_MAX]]
    holding = [
        SQL(
            "select {type} as type, t.id, w.place from {rows} t, asked w where t.id = any({ids})"
            " and exists (select from unnest(w.lexemes) l (lexeme) where t.text_search @@ quote_literal(l.lexeme)::tsquery)"
        ).format(type=Literal(each.name), rows=Identifier(each.rows), ids=Placeholder(f"ids_{place}"))
        for place, each in enumerate(types)
    ]
    # ids may hold any character, also `%`
    ids = {f"ids_{place}": [id for name, id in keys if name == each.name] for place, each in enumerate(types)}
    rows = await toolset.services.reader.rows(
        SQL(_WORDS_IN_RECORDS).format(language=Literal(language), holding=SQL(" union all ").join(holding)),
        {"words": list(terms), "tables": tables, "seen": conditions, **ids},
    )
    return [
        QuestionWord(
            row["word"],
            row["weight"],
            frozenset(zip(row["types"], row["ids"], strict=True)),
            row["is_missing"],
            row["is_near"],
        )
        for row in rows
    ]


_WORDS_IN_RECORDS: LiteralString = """
with asked as materialized (
  select s.place, s.word, l.lexemes, q.words as weighed, q.weights, l.lexemes <> '{{}}'
    and unwritten(%(tables)s, l.lexemes, %(seen)s) = l.lexemes as is_missing
  from unnest(%(words)s::text[]) with ordinality s (word, place)
  cross join lateral (select tsvector_to_array(said_words({language}::regconfig, s.word)) as lexemes) l
  cross join lateral weigh_query(%(tables)s, s.word, p_language => {language}::regconfig, p_seen => %(seen)s) q
), rarest as (
  select coalesce(max(w.weight), 1) as weight from asked a, unnest(a.weights) w (weight)
), held as ({holding})
select a.word, a.is_missing, a.is_missing and not a.weighed <@ a.lexemes as is_near,
  case when a.lexemes = '{{}}' then 0 when a.is_missing then r.weight
    else coalesce((select min(w.weight) from unnest(a.weights) w (weight)), r.weight) end::float8 as weight,
  array(select h.type from held h where h.place = a.place order by h.type, h.id) as types,
  array(select h.id from held h where h.place = a.place order by h.type, h.id) as ids
from asked a, rarest r order by a.place
"""

WEIGHTS_FILE = "answerability.json"
BY_MEANING, BY_WORDS = "meaning", "words"
"""The two sets of weights: for the local embedding model, and for words alone."""
Features = Mapping[str, float]


class Fitted(NamedTuple):
    """The weights for one kind of embedding model. A question is refused below one probability and doubted below another."""

    weights: Features
    refused_below: float
    doubted_below: float

    def probability(self, features: Features) -> float:
        """The probability, from 0 to 1, that a question with these features is answered."""
        return chance_of(self.weights, features)


@cache
def fitted_for(model: str) -> Fitted:
    """The weights for an embedding model; those for words alone where none were fitted for it."""
    text = (files("quarry.records") / "weights" / WEIGHTS_FILE).read_text(encoding="utf-8")
    return Fitted(**json.loads(text)[BY_MEANING if model == LOCAL_EMBEDDING_MODEL else BY_WORDS])


QUOTES_MAX = 5
QUOTES_PER_SOURCE_MAX = 3
JUDGED_MAX = 16
"""Sentences that the pair model reads: the best by their words. Each takes about 5 ms."""
BODY_CHARACTERS_MAX = 20_000
"""The beginning of a record that is read for sentences."""
QUOTED_CHARACTERS_MAX = 600
AROUND_CHARACTERS = 100
"""The text before and behind a quoted sentence that a source shows."""
NEAREST_MAX = 3
NOTHING_NEAR = gettext_noop("No record surely answers this.")
NOTHING_THEN = gettext_noop("No record of that time surely answers this.")
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
FIELD_WEIGHT = 0.8
"""Values of fields rank below sentences of the same record."""
ON_SIDE_WEIGHT, OPPOSITE_WEIGHT = 1.3, 0.5
SPOKEN_WEIGHT = 0.8
"""Quotations of people rank below sentences of the record itself."""
_NAMED_VALUE = re.compile(r"[^\W\d_][\w ]{0,79}: \S.{0,200}")
"""A line that gives the value of a field, as `city: Oslo`."""
_YEAR = re.compile(r"\b[12]\d{3}\b")


class Quote(NamedTuple):
    """A sentence of a source. `share`: how much of the question's words it holds, by their weight, from 0 to 1; `near`: the
    similarity of its source, as a share of the nearest; `answers`: the log-odds that it answers, where the pair model read it;
    `has_title`: it is a field's value and begins with the title of its record; `is_beside`: that value and its field's name hold
    no word of the question; `is_on_side`: whether it is for or against, as the question asks; None where one says neither.
    """

    source: EvidenceSource
    place: int
    text: str
    stems: frozenset[str]
    share: float
    near: float = 0.0
    answers: float | None = None
    has_title: bool = False
    is_beside: bool = False
    is_on_side: bool | None = None

    @property
    def score(self) -> float:
        """How well it answers. Where the pair model did not read it, the words count for both."""
        likely = self.share if self.answers is None else 1 / (1 + math.exp(EVEN - self.answers))
        text = self.source.text
        score = WORDS_WEIGHT * self.share + ANSWERS_WEIGHT * likely + RANK_WEIGHT * self.source.weight
        of_kind = FIELD_WEIGHT if self.has_title and text.is_prose else SPOKEN_WEIGHT if text.author else 1.0
        of_kind *= {None: 1.0, True: ON_SIDE_WEIGHT, False: OPPOSITE_WEIGHT}[self.is_on_side]
        return (score + NEAR_WEIGHT * self.near) * text.quoting.weight * of_kind


def candidates(question: str, sources: Sequence[EvidenceSource]) -> list[Quote]:
    """The sentences of the sources that hold a word of the question, best first by their words and the rank of their source."""
    question_words = frozenset(significant_words(question))
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
            is_beside=bool(title) and question_words.isdisjoint(significant_words(text)),
        )
        for source in sources
        for place, (title, text) in enumerate(_units(source.text))
    ]
    # a sentence or a field's value without a word beyond the question does not answer it
    pool = [each for each in pool if _quote_words(each) - question_words] or pool
    holders = Counter(word for each in pool for word in each.stems & question_words)
    weights = {word: math.log(1 + len(pool) / (1 + holders[word])) for word in question_words}
    total = sum(weights.values()) or 1.0
    about = {source.n: question_words.intersection(_about(source.text)) for source in sources}

    def share(quote: Quote) -> float:
        own = sum(weights[word] for word in quote.stems & question_words)
        return (own + TITLE_WEIGHT * sum(weights[word] for word in about[quote.source.n] - quote.stems)) / total

    return _sorted(each._replace(share=share(each)) for each in pool)


async def read_sentences(question: str, sources: Sequence[EvidenceSource], services: Services) -> list[Quote]:
    """The sentences of the sources, best first: as the pair model and words judge them. Without the local model, or where nothing
    is asked, words alone do.
    """
    quotes = await off_loop(candidates, question, sources)
    quotes = await off_loop(of_side, question, quotes)
    if services.embeddings.name == LOCAL_EMBEDDING_MODEL and is_question(question):
        with suppress(ModelError):
            quotes = await off_loop(judged, question, quotes)
    return quotes


def of_side(question: str, quotes: Sequence[Quote]) -> list[Quote]:
    """The sentences: first those on the side that the question asks about, then those on neither, then the opposite ones."""
    is_for = side_of(question.lower())
    if is_for is None:
        return list(quotes)
    sides = ((each, side_of(each.text.lower())) for each in quotes)
    return _sorted(each._replace(is_on_side=None if side is None else side is is_for) for each, side in sides)


def judged(question: str, quotes: Sequence[Quote]) -> list[Quote]:
    """The best sentences by their words with how well they answer, best first. Raises ModelUnavailable."""
    model, best = answer_model(), quotes[:JUDGED_MAX]
    if model is None or not best:
        return list(quotes)
    scores = model.scores(question, [f"{_context(each)}{each.text}" for each in best])
    return _sorted(each._replace(answers=score) for each, score in zip(best, scores, strict=True))


def select_quotes(quotes: Sequence[Quote]) -> list[Quote]:
    """The best sentences, none of which repeats another. A field's value that is only beside the question may be the answer, but
    follows none.
    """
    selected: list[Quote] = []
    of_source: Counter[int] = Counter()
    is_judged = any(each.answers is not None for each in quotes)
    least = (JUDGED_SHARE_MIN if is_judged else SCORE_SHARE_MIN) * quotes[0].score if quotes else 0.0
    for quote in quotes:
        if len(selected) == QUOTES_MAX or quote.score < least:
            break
        is_new = all(_overlap(quote, other) <= OVERLAP_MAX for other in selected)
        if is_new and not (selected and quote.is_beside) and of_source[quote.source.n] < QUOTES_PER_SOURCE_MAX:
            selected.append(quote)
            of_source[quote.source.n] += 1
    return selected


def quoted(quotes: Sequence[Quote]) -> list[str]:
    """The passages in Markdown with their citations, each a paragraph, best first."""
    parts = [f"{_date(each, quotes)}{_cited(each)}" for each in quotes]
    return [*parts[:1], *(f"\n\n{each}" for each in parts[1:])]


def as_passages(quotes: Sequence[Quote], evidence: Sequence[EvidenceSource]) -> tuple[list[str], list[EvidenceSource]]:
    """The passages in Markdown, and the sources: first those of the passages, numbered anew in this order and with what is quoted
    marked, then the rest of the `evidence`.
    """
    first = list({each.source.n: each.source for each in quotes}.values())
    others = [each for each in evidence if each not in first]
    number = {each.n: n for n, each in enumerate((*first, *others)[:SOURCES_MAX], start=1)}
    marked = {each.n: _marked([quote for quote in quotes if quote.source is each]) for each in first}
    sources = [
        each._replace(n=number[each.n], marked=marked.get(each.n, "")) for each in (*first, *others)[:SOURCES_MAX]
    ]
    renumbered = [each._replace(source=sources[number[each.source.n] - 1]) for each in quotes]
    return quoted(renumbered), sources


def nothing_near(nearest: Sequence[EvidenceSource], *, is_beside: bool = False) -> list[str]:
    """That no record surely answers the question, and links to the nearest in Markdown. These are `is_beside`, where none is of
    the days that the question asks about.
    """
    lines = [f"\n- {_link(each.text)}" for each in nearest]
    nothing = gettext(NOTHING_THEN if is_beside else NOTHING_NEAR)
    return [nothing, *(["\n\n" + gettext("The nearest:") + "\n", *lines] if lines else [])]


def broken_off() -> str:
    """What stands where a model's answer ends too early, before passages of its sources."""
    return "\n\n*" + gettext("The answer broke off here. From the sources themselves:") + "*\n\n"


def _link(record: RecordText) -> str:
    title = markdown_safe(shorten(record.title, TITLE_CHARACTERS_MAX))
    return f"[{title}](<{record.url}>)" if record.url else title


def _marked(quotes: Sequence[Quote]) -> str:
    """The quoted sentences of one source with a little of the text around them, each between MATCH_START and MATCH_END."""
    record = quotes[0].source.text
    body, parts = " ".join(record.body.split()), list[str]()
    for quote in sorted(quotes, key=lambda each: each.place):
        text = " ".join(quote.text.removeprefix(_title(record) if quote.has_title else "").split())
        before, match, after = body.partition(text)
        around = (before[-AROUND_CHARACTERS:], after[:AROUND_CHARACTERS]) if match else ("", "")
        parts.append(f"{around[0]}{MATCH_START}{text}{MATCH_END}{around[1]}")
    return " … ".join(parts)


def read_body(text: RecordText) -> str:
    """The part of a record that sentences are taken from."""
    return text.body[:BODY_CHARACTERS_MAX]


def markdown_safe(text: str) -> str:
    """Source text must read neither as markup nor as a citation."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", text)


def _sorted(quotes: Iterator[Quote]) -> list[Quote]:
    return sorted(quotes, key=lambda each: (-each.score, each.source.n, each.place))


def _overlap(one: Quote, other: Quote) -> float:
    if one.has_title and other.has_title and one.source.n != other.source.n:
        return 0.0  # two records may have the same value
    smaller = min(len(one.stems), len(other.stems))
    return len(one.stems & other.stems) / smaller if smaller else 1.0


def _quote_words(quote: Quote) -> Set[str]:
    """The stems of a sentence; of a field, those of its value."""
    value = quote.text.removeprefix(_title(quote.source.text)).partition(": ")[2]
    return {*significant_words(value)} if quote.has_title else quote.stems


def _about(record: RecordText) -> list[str]:
    """The stems of what tells which record it is: its title, topic, author and fields."""
    fields = (line.partition(": ")[2] for line in read_body(record).split("\n") if _is_field(line))
    return significant_words(" ".join((record.title, record.topic or "", record.author or "", *fields)))


def _is_field(line: str) -> bool:
    return line[:1].islower() and _NAMED_VALUE.fullmatch(line) is not None


def _context(quote: Quote) -> str:
    """The topic of the record, which the sentence may not name."""
    record = quote.source.text
    title = record.topic or record.title
    return "" if quote.has_title or is_code(title) or record.body.startswith(title) else f"{title}: "


def _units(record: RecordText) -> Iterator[tuple[str, str]]:
    """The sentences that can be quoted, each with the title before it if it is a field's value."""
    title, prose = _title(record), list[str]()
    for line in read_body(record).split("\n"):
        if _is_field(line):
            # the title stands before each value already, and the author before each quotation
            if line.partition(": ")[2] not in (record.title, record.author):
                yield title, line
        else:
            prose.append(line)
    units = _sentences_of(record, prose)
    yield from (("", unit) for unit in units if unit != record.title or len(units) == 1)


def _title(record: RecordText) -> str:
    return f"{shorten(record.title, TITLE_CHARACTERS_MAX)} – "


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
    units: list[str] = []
    for line in lines:
        is_short = False
        for place, sentence in enumerate(sentences(line)):
            together = len(words(units[-1])) + len(words(sentence)) if place else 0
            if place and (is_short or _is_short(sentence)) and together <= SENTENCE_WORDS_MAX:
                units[-1] = f"{units[-1]} {sentence}"
            else:
                units.append(sentence)
            is_short = _is_short(units[-1])
    return units


def _is_short(sentence: str) -> bool:
    return len(significant_words(sentence)) < WORDS_MIN


def _cited(quote: Quote) -> str:
    """A sentence with who said it, and its citation."""
    record, text = quote.source.text, markdown_safe(shorten(quote.text, QUOTED_CHARACTERS_MAX))
    if record.author:
        title, author = shorten(record.title, 200), shorten(record.author, 200)
        speaker = title if author in title else f"{author} ({title})"
        text = f"{markdown_safe(speaker)}: “{text.strip('“”')}”"
    return f"{text} [{quote.source.n}]"


def _date(quote: Quote, quotes: Sequence[Quote]) -> str:
    """The date of the record, for a sentence without one, where it tells when or which of several days."""
    record, days = quote.source.text, {each.source.text.date for each in quotes}
    if record.date is None or quote.has_title or (len(days) == 1 and quote.text != record.title):
        return ""
    if _YEAR.search(quote.text) or writing_of(record.language).months[record.date.month - 1] in quote.text:
        return ""  # the sentence names its date
    return f"**{writing_of(language() or record.language).date(record.date)}**: "


ADAPTERS_FILE = "answers.safetensors"


@cache
def answer_model() -> PairModel | None:
    """The model that compares questions with sentences, read at the first call. None and errors as `read_pair_model`."""
    return read_pair_model("quarry.records", ADAPTERS_FILE)
