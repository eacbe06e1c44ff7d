"""Companies as a source, and conditions on them: in words, as SQL, and which companies meet them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from psycopg.sql import Composable

from quarry.companies.facets import COLLECTION, COMPANIES, NAME_FACETS
from quarry.postgres.pool import Database
from quarry.query import execute as by_row
from quarry.query.of_collection import own_source
from quarry.query.phrases import Phrases
from quarry.schema.algebra import Condition
from quarry.schema.source import Field, Schema, Source

_NAME = "companies"

SOURCES = {_NAME: own_source(COLLECTION, COMPANIES)}


_NOUNS = tuple(noun for noun in COMPANIES.nouns if noun != "startup")
"""The nouns for companies of any status."""


def _as_said(field: Field) -> Field:
    """The field, worded as people say it, with texts compared by their spellings in the data."""
    facet = COMPANIES.fields[field.name]
    return replace(field, place=facet.place, folds=facet.folds, wording=facet.wording)


_FIELDS = {name: _as_said(each) for name, each in SOURCES[_NAME].fields.items()}

SEARCHED = Schema({_NAME: replace(SOURCES[_NAME], fields=_FIELDS)})
"""The schema of a company search's filters."""


@lru_cache(maxsize=8)
def read_schema(synonyms: tuple[tuple[str, str, str], ...] = (), empty: frozenset[str] = frozenset()) -> Schema:
    """The schema that questions are read with: each field under all its names, without fields whose columns are `empty`.
    `synonyms` are a field, words, and the value that they stand for. Names are left out, since they are looked up separately.
    """
    table = _with_synonyms(synonyms)
    fields = {
        name: replace(each, listed=(table, name)) if each.listed else each
        for name, each in _FIELDS.items()
        if name not in NAME_FACETS and each.column not in empty
    }
    numbers = [each for each in fields.values() if each.listed is None]
    called = [(each.name, word) for each in numbers for word in each.words if word not in fields]
    other = {word: replace(fields[name], name=word, label=word) for name, word in called}
    return Schema({_NAME: replace(SOURCES[_NAME], fields=fields | other, nouns=_NOUNS)})


def _with_synonyms(synonyms: Sequence[tuple[str, str, str]]) -> Source:
    fields = {
        name: replace(
            each, synonyms=(*each.synonyms, *((word, value) for field, word, value in synonyms if field == name))
        )
        for name, each in COMPANIES.facets.items()
    }
    return replace(COMPANIES, fields=fields)


# ---- conditions ----

# dates stay absolute
PHRASES = Phrases(SEARCHED, SEARCHED.sources[_NAME], datetime.date.min)


def labels(conditions: Sequence[Condition]) -> list[str]:
    """The conditions in words that can follow a noun."""
    return [PHRASES.condition(each) for each in conditions]


def met(conditions: Sequence[Condition], parameters: dict[str, Any] | None = None) -> Composable:
    """The SQL condition that a row `t` of companies meets all conditions. Values are added to `parameters`, or quoted without it.
    Raises InvalidInput for unknown fields and wrong kinds of values.
    """
    return by_row.RowConditions(_NAME, SEARCHED, _today(), parameters).met(conditions)


async def meets_and_misses(
    database: Database, conditions: Sequence[Condition], ids: Sequence[str]
) -> dict[str, list[bool]]:
    """For each company, whether it meets each condition. Raises DatabaseUnavailable."""
    return await by_row.meets_and_misses(database, conditions, _NAME, SEARCHED, ids, _today())


async def costs(database: Database, conditions: Sequence[Condition]) -> list[tuple[str, int]]:
    """How many companies meet the other conditions, for each condition; most first. Raises DatabaseUnavailable."""
    return await by_row.costs(database, conditions, PHRASES, _today())


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()
