"""How likely the records that a search found answer its question, as one fitted probability.

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

from quarry.language.word_forms import STOP_WORDS, is_everyday
from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.platform.text import placed_words, significant_words, topic_text, words
from quarry.reader.features import chance_of
from quarry.records.contract import RecordKey
from quarry.records.evidence import ByRule
from quarry.records.finding import Searched, SearchToolset, with_forms
from quarry.records.passages import NEAREST_MAX, Quote, as_passages, chosen, nothing_near, read_sentences
from quarry.records.reading import is_asked
from quarry.records.retrieval import tables_seen
from quarry.records.sources import SearchedType

NEAREST = 10
"""Records whose similarities say how far the nearest stands out."""
ALL = 0.999
"""This share of a sum counts as all of it, because of rounding."""


async def passages_of(query: str, first: Searched, toolset: SearchToolset) -> tuple[ByRule, float]:
    """The best sentences of the records found, or that none is near; and how likely these answer, from 0 to 1. Raises
    DatabaseUnavailable.
    """
    if not first.ranked:
        return ByRule(nothing_near(()), is_found=False), 0.0
    authors, read = toolset.read.authors, toolset.read
    if read.words and read.is_dated and not first.is_beside:
        query = read.words  # the days are met
    query = with_forms(query, first.forms)
    sources = [each for each in first.sources if each.text.author in authors]
    found = await read_sentences(query, sources or first.sources, toolset.services)
    passages = ByRule(*as_passages(chosen(found), toolset.evidence.sources))
    if "query_embedding" in toolset.run.degraded and passages.pieces:
        # nobody knows what the failing model would have found
        return passages, 1.0
    with toolset.run.step("records_answerability"):
        question_words = await asked_words(query, first, toolset)
    has_meaning = any(each.has_meaning for each in toolset.types)
    fitted = fitted_for(toolset.services.embeddings.name if has_meaning else "")
    likely = fitted.probability(features_of(first, question_words, found))
    # a record with every word is near even a short question, and so are the words of the person asked about, and what is of
    # the days asked about where the question says little more
    is_near = not first.is_beside and (
        likely >= fitted.doubted_below
        or bool(sources)
        or _is_all_held(question_words)
        or not is_asked(query)
        or (read.is_dated and not any(each.is_missing and not is_everyday(each.word) for each in question_words))
    )
    if is_near and passages.pieces:
        # who asks what somebody said of something asks for their words
        return passages, 1.0 if sources and read.says_more else likely
    nearest = first.sources[:NEAREST_MAX]
    return ByRule(nothing_near(nearest, is_beside=first.is_beside), nearest, is_found=False), likely


def features_of(first: Searched, question_words: Sequence[QuestionWord], found: Sequence[Quote]) -> dict[str, float]:
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
    total = sum(each.weight for each in question_words)
    if total:
        missing = sum(each.weight for each in question_words if each.is_missing and not each.is_near)
        features |= {
            "held weight": math.log1p(_most_held(question_words) / max(each.weight for each in question_words)),
            "missing": missing / total,
            "title": float(_is_title_asked(question_words, found)),
        }
    return features


def _is_title_asked(question_words: Sequence[QuestionWord], found: Sequence[Quote]) -> bool:
    """Whether a record has all of the words in its title or topic, so that the whole record answers."""
    stems = {stem for each in question_words for stem in significant_words(each.word)}
    titles = {quote.source.n: f"{quote.source.text.title} {quote.source.text.topic or ''}" for quote in found}
    return bool(stems) and any(stems <= {*significant_words(title)} for title in titles.values())


def _most_held(question_words: Sequence[QuestionWord]) -> float:
    keys = {key for each in question_words for key in each.holders}
    return max((sum(each.weight for each in question_words if key in each.holders) for key in keys), default=0.0)


def _is_all_held(question_words: Sequence[QuestionWord]) -> bool:
    """Whether a single record holds all of the words."""
    return _most_held(question_words) > ALL * sum(each.weight for each in question_words)


WORDS_MAX = 24
"""Words of a question that are looked up."""
RECORDS_MAX = 24
"""The first records, which are checked for these words."""


@dataclass(frozen=True)
class QuestionWord:
    """A word of a question as it was written. `weight`: how rare it is among the records searched; `holders`: the records found
    that hold it; `is_missing`: no record holds it, and `is_near`: but one holds a word that is spelled nearly so.
    """

    word: str
    weight: float
    holders: frozenset[RecordKey]
    is_missing: bool = False
    is_near: bool = False


async def asked_words(query: str, first: Searched, toolset: SearchToolset) -> list[QuestionWord]:
    """The words of a question that carry a topic, and which records hold them. Raises DatabaseUnavailable."""
    terms = [word for word in words(query) if word not in STOP_WORDS] or words(topic_text(query))
    # words of a type's follow-up questions fit every record and carry no topic
    of_any = {stem for each in toolset.types for stem in significant_words(each.quoting.asked_of_any)}
    terms = [word for word in terms if of_any.isdisjoint(significant_words(word))] or terms
    terms = list(dict.fromkeys(terms))[:WORDS_MAX]
    languages = dict.fromkeys(language for each in toolset.types for language in each.languages)
    readings = [await _of_language(terms, first, toolset, language) for language in languages]
    written = {word: query[start:end] for word, start, end in placed_words(query)}
    return [_best(written[word], of_word) for word, *of_word in zip(terms, *readings, strict=True)] if readings else []


def _best(written: str, found: Sequence[QuestionWord]) -> QuestionWord:
    """A word in several languages: it is held where it is held in one of them."""
    held = [each for each in found if not each.is_missing] or found
    return QuestionWord(
        written,
        min(each.weight for each in held),
        frozenset[RecordKey]().union(*(each.holders for each in held)),
        held[0].is_missing,
        any(each.is_near for each in held),
    )


async def _of_language(
    terms: Sequence[str], first: Searched, toolset: SearchToolset, language: str | None
) -> list[QuestionWord]:
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
        {"words": list(terms), "tables": tables, "seen": seen, **ids},
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
