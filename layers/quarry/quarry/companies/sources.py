"""Companies as a source, and as a search reads and filters them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from psycopg.sql import SQL

from quarry.companies.facets import COMPANIES, NAME_FACETS
from quarry.query.schema import Field, Schema, Source, SqlHolds, of_row, source_of
from quarry.retrieval.facets import TEXT_KINDS, SearchTable
from quarry.retrieval.values import holds_one_of

SOURCES = {
    "companies": source_of(
        COMPANIES,
        "companies",
        title="t.company_name",
        description="Companies: what they do, where, since when, and their funding",
    )
}


def _searched(field: Field) -> Field:
    """A field that says its values as people do ("in Germany"), and compares them so that an index serves."""
    return replace(field, wording=COMPANIES.facet(field.name).wording, holds=_holds(field.name))


def _holds(name: str) -> SqlHolds | None:
    facet = COMPANIES.facet(name)
    if facet.kind not in TEXT_KINDS:
        return None
    return lambda row, values, parameters: holds_one_of(facet, SQL(of_row(facet.sql, row, row)), values, parameters)


def _source(fields: dict[str, Field]) -> Source:
    return replace(SOURCES["companies"], fields=fields)


_NOUNS = tuple(noun for noun in COMPANIES.nouns if noun != "startup")
"""What companies of every status are called."""


_FIELDS = {name: _searched(field) for name, field in SOURCES["companies"].fields.items()}

SEARCHED = Schema({"companies": _source(_FIELDS)})
"""What a company search filters by."""


@lru_cache(maxsize=8)
def read_schema(synonyms: tuple[tuple[str, str, str], ...] = (), empty: frozenset[str] = frozenset()) -> Schema:
    """What questions are read over: each field by all that it is called, with `synonyms`: a field, words, and the value that they
    stand for, without those whose columns are `empty`. A name is looked up by itself: a word of one is seldom meant as a filter.
    """
    table = _with_synonyms(synonyms)
    fields = {
        name: replace(each, listed=(table, name)) if each.listed else each
        for name, each in _FIELDS.items()
        if name not in NAME_FACETS and COMPANIES.facet(name).column not in empty
    }
    numbers = [COMPANIES.facet(name) for name, each in fields.items() if each.listed is None]
    called = [(each.name, word) for each in numbers for word in each.words if word not in fields]
    other = {word: replace(fields[name], name=word, label=word) for name, word in called}
    return Schema({"companies": replace(_source(fields | other), nouns=_NOUNS)})


def _with_synonyms(synonyms: Sequence[tuple[str, str, str]]) -> SearchTable:
    def of_facet(name: str) -> tuple[tuple[str, str], ...]:
        return tuple((said, value) for field, said, value in synonyms if field == name)

    facets = tuple(replace(each, synonyms=(*each.synonyms, *of_facet(each.name))) for each in COMPANIES.facets)
    return replace(COMPANIES, facets=facets)
