"""The words and names of a question, and which of the searched records hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString

from psycopg.sql import SQL, Identifier, Literal, Placeholder

from quarry.language.tokens import phrase
from quarry.platform.text import STOP_WORDS, placed_words, significant_words, topic_text, words
from quarry.records.candidates import RecordKey
from quarry.records.retrieval import tables_seen
from quarry.records.searched_types import SearchedType
from quarry.records.tools import Searched, SearchToolset

WORDS_MAX = 24
"""Words of a question that are looked up."""
RECORDS_MAX = 24
"""Records found that are asked which words they hold."""


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
    said, names = toolset.reading.read.said, list[str]()
    for each in said.texts:
        last = each.place.last
        # what is known of a name may be its first part
        while last < len(said.tokens) and said.tokens[last].is_capital:
            last += 1
        name = phrase(said.text, said.tokens, each.place.first, last)
        if not unheld.isdisjoint(name.split()):
            names.append(name)
    return names


async def asked_words(query: str, first: Searched, toolset: SearchToolset) -> list[AskedWord]:
    """The words of a question that carry a topic, as the records that are searched hold them. Raises DatabaseUnavailable."""
    said = [word for word in words(query) if word not in STOP_WORDS] or words(topic_text(query))
    # what a type's own follow-up questions say of every record is no topic
    of_any = {stem for each in toolset.types for stem in significant_words(each.quoting.asked_of_any)}
    said = [word for word in said if of_any.isdisjoint(significant_words(word))] or said
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
        ).format(type=Literal(each.name), rows=Identifier(each.rows), ids=Placeholder(f"ids_{place}"))
        for place, each in enumerate(types)
    ]
    # ids hold any character, also those that stand for a parameter
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
