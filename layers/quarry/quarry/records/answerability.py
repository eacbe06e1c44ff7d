"""How likely the records that a search found answer its question, as one fitted probability, and what to ask next.

A logistic regression weighs features of a search: how near the nearest record is, which words of the question the records
hold, and how well the best sentence answers by the pair model. `tools/fit/answerability.py` fits the weights to questions over
several collections and writes them to `weights/answerability.json`; `tests/pairs/README.md` says on what.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import fmean
from typing import Any, LiteralString

from psycopg.sql import SQL, Identifier, Literal, Placeholder

from quarry.language.tokens import phrase
from quarry.models.step import ModelStep, decide
from quarry.platform.budget import in_time
from quarry.platform.errors import TimeIsUp
from quarry.platform.links import plain_links
from quarry.platform.off_loop import off_loop
from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.platform.text import STOP_WORDS, placed_words, shorten, significant_words, topic_text, words
from quarry.postgres.failures import UNREADABLE
from quarry.reader.features import chance_of
from quarry.records.contract import RecordKey
from quarry.records.counts import counts_next
from quarry.records.evidence import EvidenceSource, RecordText
from quarry.records.extraction import (
    FOLLOWUPS_MAX,
    FOLLOWUPS_MIN,
    Facts,
    FollowupQuestions,
    Quote,
    chosen,
    doubt,
    followups_about,
    nothing_held,
    questions_about,
    read_sentences,
)
from quarry.records.finding import Searched, SearchToolset
from quarry.records.prompts import followup_messages
from quarry.records.reading import is_asked, words_to_look_up
from quarry.records.retrieval import Arm, coverages, latest_records, tables_seen
from quarry.records.scope import Conversation, types_with
from quarry.records.searched_types import SearchedType

NEAREST = 10
"""Records whose similarities say how far the nearest stands out."""
ALL = 0.999
"""This share of a sum counts as all of it, because of rounding."""


async def facts_of(query: str, first: Searched, toolset: SearchToolset) -> Facts:
    """Whether the records found answer the query: sentences to quote, a doubt, or a refusal that names the nearest. Raises
    DatabaseUnavailable.
    """
    authors = toolset.read.authors
    if not first.ranked:
        return Facts(authors=authors)
    said = [each for each in first.sources if each.text.author in authors]
    found = await read_sentences(query, said or first.sources, toolset.services)
    quotes = chosen(found)
    if "query_embedding" in toolset.run.degraded:
        # nobody knows what the failing model would have found
        return Facts(authors=authors, quotes=quotes, chance=1.0)
    with toolset.run.step("records_answerability"):
        asked = await asked_words(query, first, toolset)
    has_meaning = any(each.has_meaning for each in toolset.types)
    fitted = fitted_for(toolset.services.embeddings.name if has_meaning else "")
    likely = fitted.probability(features_of(first, asked, found))
    names = names_held_by_none(toolset, asked)
    missing = names or [each.word for each in asked if each.is_missing and not each.is_near]
    # a record with every word may answer even a short question, and so may the words of the person asked about
    may_answer = bool(said) or _is_all_held(asked)
    is_refused = bool(names) or (likely < fitted.refused_below and not may_answer)
    if is_refused and is_asked(query):
        return Facts(nothing_held(query, missing, first.sources), is_all=True, chance=min(likely, fitted.refused_below))
    doubted = doubt(missing) if likely < fitted.doubted_below else ""
    return Facts(authors=authors, doubt=doubted, quotes=quotes, chance=likely)


def features_of(first: Searched, asked: Sequence[AskedWord], found: Sequence[Quote]) -> dict[str, float]:
    """The features of a search: how much it found, how near the nearest is (cosine), its words, its sentences. Pure."""
    near = sorted((each.similarity or 0.0 for each in first.ranked), reverse=True)[:NEAREST]
    features = {
        "always": 1.0,
        # the nearest of many records is nearer by chance
        "found": math.log1p(len(first.ranked)),
        "similarity": near[0],
        "similarity gap": near[0] - fmean(near),
        "sentence share": max((each.share for each in found), default=0.0),
    }
    best = sorted((each.answers for each in found if each.answers is not None), reverse=True)
    if best:
        # the score of a sentence says less where others score the same
        features |= {"asked": 1.0, "answers": best[0], "answers gap": best[0] - best[min(1, len(best) - 1)]}
    total = sum(each.weight for each in asked)
    if total:
        missing = sum(each.weight for each in asked if each.is_missing and not each.is_near)
        features |= {
            "held weight": math.log1p(_most_held(asked) / max(each.weight for each in asked)),
            "missing": missing / total,
            "title": float(_is_title_asked(asked, found)),
        }
    return features


def _is_title_asked(asked: Sequence[AskedWord], found: Sequence[Quote]) -> bool:
    """Whether a record has all of the words in its title or topic, so that the whole record answers."""
    stems = {stem for each in asked for stem in significant_words(each.word)}
    titles = {quote.source.n: f"{quote.source.text.title} {quote.source.text.topic or ''}" for quote in found}
    return bool(stems) and any(stems <= {*significant_words(title)} for title in titles.values())


def _most_held(asked: Sequence[AskedWord]) -> float:
    keys = {key for each in asked for key in each.holders}
    return max((sum(each.weight for each in asked if key in each.holders) for key in keys), default=0.0)


def _is_all_held(asked: Sequence[AskedWord]) -> bool:
    """Whether a single record holds all of the words."""
    return _most_held(asked) > ALL * sum(each.weight for each in asked)


WORDS_MAX = 24
"""Words of a question that are looked up."""
RECORDS_MAX = 24
"""The first records, which are checked for these words."""


@dataclass(frozen=True)
class AskedWord:
    """A word of a question as it was written. `weight`: how rare it is among the records searched; `holders`: the records found
    that hold it; `is_missing`: no record holds it, and `is_near`: but one holds a word that is spelled nearly so.
    """

    word: str
    weight: float
    holders: frozenset[RecordKey]
    is_missing: bool = False
    is_near: bool = False


def names_held_by_none(toolset: SearchToolset, asked: Sequence[AskedWord]) -> list[str]:
    """The names in the question with a word that no searched record holds, nor one that is spelled nearly so."""
    unheld = {each.word for each in asked if each.is_missing and not each.is_near}
    said, names = toolset.read.read.said, list[str]()
    for each in said.texts:
        last = each.place.last
        # the first part of a name may be a known value
        while last < len(said.tokens) and said.tokens[last].is_capital:
            last += 1
        name = phrase(said.text, said.tokens, each.place.first, last)
        if not unheld.isdisjoint(name.split()):
            names.append(name)
    return names


async def asked_words(query: str, first: Searched, toolset: SearchToolset) -> list[AskedWord]:
    """The words of a question that carry a topic, and which records hold them. Raises DatabaseUnavailable."""
    said = [word for word in words(query) if word not in STOP_WORDS] or words(topic_text(query))
    # words of a type's follow-up questions fit every record and carry no topic
    of_any = {stem for each in toolset.types for stem in significant_words(each.quoting.asked_of_any)}
    said = [word for word in said if of_any.isdisjoint(significant_words(word))] or said
    said = list(dict.fromkeys(said))[:WORDS_MAX]
    languages = dict.fromkeys(language for each in toolset.types for language in each.languages)
    readings = [await _of_language(said, first, toolset, language) for language in languages]
    written = {word: query[start:end] for word, start, end in placed_words(query)}
    return [_best(written[word], of_word) for word, *of_word in zip(said, *readings, strict=True)] if readings else []


def _best(written: str, found: Sequence[AskedWord]) -> AskedWord:
    """A word in several languages: it is held where it is held in one of them."""
    held = [each for each in found if not each.is_missing] or found
    return AskedWord(
        written,
        min(each.weight for each in held),
        frozenset[RecordKey]().union(*(each.holders for each in held)),
        held[0].is_missing,
        any(each.is_near for each in held),
    )


async def _of_language(
    said: Sequence[str], first: Searched, toolset: SearchToolset, language: str | None
) -> list[AskedWord]:
    types: list[SearchedType] = [each for each in toolset.types if language in each.languages]
    tables, seen = tables_seen(types)
    found = [each.key for each in first.ranked[:RECORDS_MAX]]
    holding = [
        SQL(
            "select {type} as type, t.id, w.place from {rows} t, asked w where t.id = any({ids})"
            " and exists (select from unnest(w.lexemes) l (lexeme) where t.text_search @@ quote_literal(l.lexeme)::tsquery)"
        ).format(type=Literal(each.name), rows=Identifier(each.rows), ids=Placeholder(f"ids_{place}"))
        for place, each in enumerate(types)
    ]
    # ids may hold any character, also `%`
    ids = {f"ids_{place}": [id for name, id in found if name == each.name] for place, each in enumerate(types)}
    rows = await toolset.services.reader.rows(
        SQL(_ASKED).format(language=Literal(language), holding=SQL(" union all ").join(holding)),
        {"words": list(said), "tables": tables, "seen": seen, **ids},
    )
    return [
        AskedWord(
            row["word"],
            row["weight"],
            frozenset(zip(row["types"], row["ids"], strict=True)),
            row["is_missing"],
            row["is_near"],
        )
        for row in rows
    ]


_ASKED: LiteralString = """
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


@dataclass(frozen=True)
class Fitted:
    """The weights for one kind of embedding model. A question is refused below one probability and doubted below another."""

    weights: Features
    refused_below: float
    doubted_below: float

    def probability(self, features: Features) -> float:
        """The probability, from 0 to 1, that a question with these features is answered."""
        return chance_of(self.weights, features)


@cache
def _all_fitted() -> Mapping[str, Fitted]:
    text = (files("quarry.records") / "weights" / WEIGHTS_FILE).read_text(encoding="utf-8")
    read: dict[str, dict[str, Any]] = json.loads(text)
    return {name: Fitted(**each) for name, each in read.items()}


def fitted_for(model: str) -> Fitted:
    """The weights for an embedding model; those for words alone where none were fitted for it."""
    return _all_fitted()[BY_MEANING if model == LOCAL_EMBEDDING_MODEL else BY_WORDS]


FOLLOWUP_CHARACTERS_MAX = 200
FOLLOWUP_COVERAGE_MIN = 0.6
"""A follow-up is offered where a record holds this share of its words: the others would find nothing."""


async def suggest_followups(conversation: Conversation, answer: str, toolset: SearchToolset, facts: Facts) -> list[str]:
    """Two or three questions that the records can answer; after a count, questions about the type that was counted."""
    counted = facts.counted.filters.get("types", ()) if facts.counted else ()
    asked = counts_next(facts.counted, toolset.types, toolset.record_types.counted) if facts.counted else []
    if len(asked) >= FOLLOWUPS_MIN:
        return asked[:FOLLOWUPS_MAX]
    sources, pool = _found(toolset, counted)
    if not sources or (facts.is_all and facts.counted is None):
        return followups_about(await _latest_records(toolset, counted))
    step: ModelStep[str, FollowupQuestions] = ModelStep(
        "records_followups",
        lambda text: followup_messages(conversation.question, text, [record.topic or record.title for record in pool]),
        FollowupQuestions,
        lambda _: questions_about(conversation.question, sources, pool),
    )
    decided = await decide(step, answer, toolset.run)
    is_models = toolset.run.chat is not None and step.name not in toolset.run.degraded
    questions = await answered(decided.questions, toolset) if is_models else decided.questions
    return await filled_up(questions, conversation.question, toolset, counted)


def _found(toolset: SearchToolset, types: Sequence[str]) -> tuple[list[EvidenceSource], list[RecordText]]:
    """The sources and all the records that were found, of these types or of any."""
    sources = [each for each in toolset.evidence.sources if not types or each.text.type in types]
    return sources, [each for each in toolset.pool.values() if not types or each.type in types]


async def filled_up(
    questions: Sequence[str], question: str, toolset: SearchToolset, types: Sequence[str] = ()
) -> list[str]:
    """At most three of the questions, and at least two where records of these types, or of any, can answer others."""
    found = dict.fromkeys(questions)
    if len(found) < FOLLOWUPS_MIN:
        asked = await off_loop(questions_about, question, *_found(toolset, types))
        found |= dict.fromkeys(asked.questions)
    if len(found) < FOLLOWUPS_MIN:
        found |= dict.fromkeys(followups_about(await _latest_records(toolset, types)))
    return [*found][:FOLLOWUPS_MAX]


async def answered(questions: Sequence[str], toolset: SearchToolset) -> list[str]:
    """The questions whose words a searched record mostly holds; none where the look-up fails or takes too long."""
    asked = [plain_links(shorten(question, FOLLOWUP_CHARACTERS_MAX)) for question in dict.fromkeys(questions)]
    types = types_with(toolset.scope.facets, toolset.types)
    arms = [Arm(each, words_to_look_up(question), toolset.scope.given) for question in asked for each in types]
    try:
        async with in_time(toolset.run.budget.seconds_left):
            held = await coverages(toolset.services.reader, arms)
    except (TimeIsUp, *UNREADABLE):
        return []
    return [question for question in asked if held.get(words_to_look_up(question), 0.0) >= FOLLOWUP_COVERAGE_MIN]


async def _latest_records(toolset: SearchToolset, types: Sequence[str] = ()) -> list[RecordText]:
    """The latest records of these types, or of all that are searched, within the filters; none where the look-up fails or takes
    too long, since the answer is already given.
    """
    given = toolset.scope.given
    among = types_with(given, toolset.types)
    try:
        async with in_time(toolset.run.budget.seconds_left):
            return await latest_records(
                toolset.services.reader,
                toolset.record_types,
                FOLLOWUPS_MAX,
                among=[each for each in among if each.name in types] or among,
                given=given,
            )
    except (TimeIsUp, *UNREADABLE):
        return []
