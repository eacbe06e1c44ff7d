"""How likely the records that a search found answer its question: one fitted probability.

A logistic regression weighs what is known of a search: how near the nearest records are and how far before the others, which
words of the question they hold, and how well the best sentence answers by the pair model. `tools/fit/answerability.py` fits the
weights to questions over several collections and writes them to `weights/answerability.json`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import fmean
from typing import Any, LiteralString

from psycopg.sql import SQL, Identifier, Literal

from quarry.language.said_numbers import is_number, words_of
from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.platform.text import STOP_WORDS, placed_words, topic_text, words
from quarry.records.candidates import RecordKey
from quarry.records.extraction import Quote, extract
from quarry.records.facts import Facts
from quarry.records.intent import is_asked
from quarry.records.refusals import doubt, nothing_held
from quarry.records.retrieval import tables_seen
from quarry.records.searched_types import SearchedType
from quarry.records.tools import Searched, SearchToolset

WORDS_MAX = 24
"""Words of a question that are looked up."""
RECORDS_MAX = 24
"""Records found that are asked which words they hold."""
NEAREST = 10
"""Records whose similarities say how far the nearest stands out."""
WEIGHTS_FILE = "answerability.json"
BY_MEANING, BY_WORDS = "meaning", "words"
"""The two sets of weights: with the local embedding model, and where words are all that is known."""

Features = Mapping[str, float]


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


@dataclass(frozen=True)
class Fitted:
    """The weights for one kind of embedding model. A question is refused below one probability and doubted below another; `low`
    and `high` bound the levels of confidence.
    """

    weights: Features
    refused_below: float
    doubted_below: float
    low: float
    high: float

    def probability(self, features: Features) -> float:
        """How likely a question with these features is answered, from 0 to 1."""
        score = sum(self.weights.get(name, 0.0) * value for name, value in features.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


async def facts_of(query: str, first: Searched, toolset: SearchToolset) -> Facts:
    """What is known before anything is quoted: that the records hold nothing that answers, with the nearest that they do hold; or
    that what is quoted may not answer. Raises DatabaseUnavailable.
    """
    authors = toolset.reading.authors
    if not first.ranked:
        return Facts(authors=authors)
    said = [each for each in first.sources if each.text.author in authors]
    quotes = await extract(query, said or first.sources, toolset.services)
    if "query_embedding" in toolset.run.degraded:
        # what a failing model would have found is not known
        return Facts(authors=authors, quotes=quotes, chance=1.0)
    with toolset.run.step("records_answerability"):
        asked = await asked_words(query, first, toolset)
    fitted = fitted_for(toolset.services.embeddings.name if _has_meaning(first) else "")
    likely = fitted.probability(features_of(query, first, asked, quotes))
    missing = [each.word for each in asked if each.is_missing and not each.is_near]
    if likely < fitted.refused_below:
        return Facts(nothing_held(query, missing, first.sources), is_all=True, chance=likely)
    doubted = doubt(missing) if likely < fitted.doubted_below else ""
    return Facts(authors=authors, doubt=doubted, quotes=quotes, chance=likely)


@cache
def _all_fitted() -> Mapping[str, Fitted]:
    text = (files("quarry.records") / "weights" / WEIGHTS_FILE).read_text(encoding="utf-8")
    read: dict[str, dict[str, Any]] = json.loads(text)
    return {name: Fitted(**each) for name, each in read.items()}


def fitted_for(model: str) -> Fitted:
    """The weights for an embedding model; for one that none were fitted with, those that use words alone."""
    return _all_fitted()[BY_MEANING if model == LOCAL_EMBEDDING_MODEL else BY_WORDS]


def _has_meaning(first: Searched) -> bool:
    return any(each.similarity is not None for each in first.ranked)


def features_of(query: str, first: Searched, asked: Sequence[AskedWord], quotes: Sequence[Quote]) -> dict[str, float]:
    """What is known of a search, by name. Pure."""
    found = {"always": 1.0}
    found |= _nearness(first, quotes if is_asked(query) else ())
    found |= _coverage(asked)
    found |= dict(_held_by_quotes(query, quotes))
    return found


def _nearness(first: Searched, quotes: Sequence[Quote]) -> dict[str, float]:
    """How near the nearest record is (cosine), how far it stands out, and how well the best sentence answers (log-odds)."""
    near = sorted((each.similarity or 0.0 for each in first.ranked), reverse=True)[:NEAREST]
    found = {"similarity": near[0], "similarity gap": near[0] - fmean(near)}
    answers = [each.answers for each in quotes if each.answers is not None]
    return found | ({"asked": 1.0, "answers": max(answers)} if answers else {})


def _coverage(asked: Sequence[AskedWord]) -> dict[str, float]:
    """How much of the question's words, by their weight, the best record holds, and how much no record does."""
    total = sum(each.weight for each in asked)
    if not total:
        return {}
    keys = {key for each in asked for key in each.holders}
    most_held = max((sum(each.weight for each in asked if key in each.holders) for key in keys), default=0.0)
    rarest = sorted(asked, key=lambda each: -each.weight)[:2]
    together = frozenset[RecordKey].intersection(*(each.holders for each in rarest))
    return {
        "held": most_held / total,
        "held weight": math.log1p(most_held / rarest[0].weight),
        "rarest together": float(bool(together)),
        "all held": float(most_held > 0.999 * total),
        "missing": sum(each.weight for each in asked if each.is_missing and not each.is_near) / total,
        "words": math.log1p(len(asked)),
    }


def _held_by_quotes(query: str, quotes: Sequence[Quote]) -> Iterator[tuple[str, float]]:
    """How much of the question, of its numbers and of its names the best sentences hold."""
    yield "sentence share", max((quote.share for quote in quotes), default=0.0)
    said = {word for quote in quotes for word in words_of(f"{quote.source.text.title} {quote.text}")}
    numbers = [word for word in words_of(query) if is_number(word)]
    names = [query[start:end] for _, start, end in placed_words(query) if start and query[start].isupper()]
    if numbers:
        yield "numbers lacking", sum(word not in said for word in numbers) / len(numbers)
    if names:
        yield "names lacking", sum(name.lower() not in said for name in names) / len(names)


async def asked_words(query: str, first: Searched, toolset: SearchToolset) -> list[AskedWord]:
    """The words of a question that carry a topic, as the records that are searched hold them. Raises DatabaseUnavailable."""
    said = [word for word in words(query) if word not in STOP_WORDS] or words(topic_text(query))
    said = list(dict.fromkeys(said))[:WORDS_MAX]
    languages = dict.fromkeys(language for each in toolset.types for language in each.languages)
    readings = [await _of_language(said, first, toolset, language) for language in languages]
    written = {word: query[start:end] for word, start, end in placed_words(query)}
    return [_best(written[word], of_word) for word, *of_word in zip(said, *readings, strict=True)] if readings else []


def _best(written: str, found: Sequence[AskedWord]) -> AskedWord:
    """A word as several languages read it: it is held where one holds it."""
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
        ).format(
            type=Literal(each.name),
            rows=Identifier(each.rows),
            ids=Literal([id for name, id in found if name == each.name]),
        )
        for each in types
    ]
    rows = await toolset.services.reader.rows(
        SQL(_ASKED).format(language=Literal(language), holding=SQL(" union all ").join(holding)),
        {"words": list(said), "tables": tables, "seen": seen},
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
