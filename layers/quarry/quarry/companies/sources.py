"""Companies as a source, and conditions on them: in words, as SQL, and which companies meet them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, get_args

from psycopg.sql import Composable

from quarry.collections.facets import facet_source, own_tables
from quarry.companies import contract
from quarry.companies.tables import LOADABLE
from quarry.language.messages import gettext
from quarry.platform.contract import EVIDENCE_MAX, Evidence
from quarry.postgres.pool import Database
from quarry.query import execute as by_row
from quarry.query.contract import Understood
from quarry.query.describe import affirmed, evidence_of, excluded_words, understood
from quarry.query.of_collection import own_source
from quarry.query.phrases import Phrases
from quarry.schema.algebra import AnyOf, Comparison, Condition, Not, Query, Scalar, Words
from quarry.schema.source import Schema, Source

if TYPE_CHECKING:
    from quarry.companies.state import CompanyIntent

[COLLECTION] = own_tables(__file__, LOADABLE)
COMPANIES = facet_source(COLLECTION)
NAME_FACETS = frozenset(("name", "former_name", "domain"))

_NAME = "companies"

SOURCES = {_NAME: own_source(COLLECTION, COMPANIES)}


_NOUNS = tuple(noun for noun in COMPANIES.nouns if noun != "startup")
"""The nouns for companies of any status."""


# worded as people say it, with texts compared by their spellings in the data
_FIELDS = {
    name: replace(each, place=facet.place, folds=facet.folds, wording=facet.wording)
    for name, each in SOURCES[_NAME].fields.items()
    for facet in [COMPANIES.fields[name]]
}

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
    names = [(each.name, word) for each in numbers for word in each.words if word not in fields]
    other = {word: replace(fields[name], name=word, label=word) for name, word in names}
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


def conditions_in_words(intent: CompanyIntent) -> list[str]:
    """The conditions of a question as users read them."""
    return labels(intent.stated) + [gettext("without “{words}”", words=words) for words in intent.excluded]


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


_FIELD_NAMES = frozenset(get_args(contract.FieldName))


def united_exclusions(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions, with those that exclude the same of several fields, and of the text, as one."""
    groups: dict[object, list[Condition]] = {}
    for place, each in enumerate(conditions):
        inner, is_excluded = affirmed(each)
        words = _words(inner) if is_excluded else ()
        groups.setdefault(words or place, []).append(each)
    return tuple(
        group[0] if len(group) == 1 else Not(negated=AnyOf(any_of=tuple(affirmed(each)[0] for each in group)))
        for group in groups.values()
    )


def field_by_field(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """The same, each field by itself."""
    for each in conditions:
        if isinstance(each, Not) and isinstance(each.negated, AnyOf):
            for one in each.negated.any_of:
                is_equal = isinstance(one, Comparison) and one.op == "="
                yield one.model_copy(update={"op": "!="}) if is_equal else Not(negated=one)
        else:
            yield each


def _words(condition: Condition) -> tuple[str, ...]:
    if isinstance(condition, Words):
        return (condition.words.casefold(),)
    return tuple(str(each).casefold() for each in condition.scalars) if isinstance(condition, Comparison) else ()


def constraints_of(understood: Understood, evidence: Sequence[Evidence] = ()) -> contract.Constraints:
    """How a question was understood, as constraints, which cannot express everything."""
    where = [*field_by_field(understood.query.where)]
    parts = [(each, "required") for each in where if not excluded_words([each])]
    parts += [
        *((each, "assumed") for each in understood.assumed),
        *((each, "preferred") for each in understood.preferred),
    ]
    conditions = [
        _on_the_wire(one, strength, place if isinstance(each, AnyOf) else None)
        for place, (each, strength) in enumerate(parts[: contract.CONDITIONS_MAX])
        for one in comparisons_in(each)
        if one.field in _FIELD_NAMES
    ]
    excluded = excluded_words(where)[: contract.CONDITIONS_MAX]
    return contract.Constraints(
        topic=understood.about,
        conditions=conditions[: contract.CONDITIONS_MAX],
        excluded=[words[: contract.VALUE_CHARACTERS_MAX].strip() for words in excluded],
        evidence=list(evidence)[:EVIDENCE_MAX] or evidence_of(understood),
    )


def understood_as(constraints: contract.Constraints) -> Understood:
    """Constraints of a request as the same in the one form."""
    where = (
        *_conditions(constraints.conditions, "required"),
        *(Not(negated=Words(words=each)) for each in constraints.excluded),
    )
    return understood(
        Query(source=COMPANIES.name, where=where),
        PHRASES,
        assumed=[*_conditions(constraints.conditions, "assumed")],
        preferred=[*_conditions(constraints.conditions, "preferred")],
        about=constraints.topic,
        evidence=constraints.evidence,
    )


def comparisons_in(condition: Condition) -> Iterator[Comparison]:
    """The comparisons of a condition; for alternatives, each of them."""
    if isinstance(condition, Comparison):
        yield condition
    elif isinstance(condition, AnyOf):
        for each in condition.any_of:
            yield from comparisons_in(each)
    elif isinstance(condition, Not) and isinstance(condition.negated, Comparison) and condition.negated.op == "=":
        yield condition.negated.model_copy(update={"op": "!="})


def name_of(condition: Condition) -> str:
    return " ".join(dict.fromkeys(str(value) for each in comparisons_in(condition) for value in each.scalars))


def _on_the_wire(condition: Comparison, strength: str, group: int | None) -> contract.Condition:
    is_measured = condition.field in contract.MEASURED_FIELDS
    least, most = _bounds(condition) if is_measured else (None, None)
    return contract.Condition.model_validate(
        {
            "field": condition.field,
            "values": [] if is_measured else list(map(str, condition.scalars))[: contract.VALUES_MAX],
            "least": least,
            "most": most,
            "negated": condition.op in ("!=", "is_null"),
            "strength": strength,
            "group": group,
            "label": labels([condition])[0][: contract.VALUE_CHARACTERS_MAX],
        }
    )


def _bounds(condition: Comparison) -> tuple[float | None, float | None]:
    """The inclusive bounds of a comparison of whole numbers."""
    numbers = [float(value) for value in condition.scalars if isinstance(value, int | float)]
    if not numbers:
        return None, None
    first, last = numbers[0], numbers[-1]
    return {
        ">": (first + 1, None), ">=": (first, None), "<": (None, last - 1), "<=": (None, last), "between": (first, last)
    }.get(condition.op, (first, last))  # fmt: skip


def _conditions(conditions: Sequence[contract.Condition], strength: str) -> Iterator[Condition]:
    """The conditions of one strength. Those of a group become alternatives."""
    groups: dict[object, list[Condition]] = {}
    for place, condition in enumerate(conditions):
        if condition.strength == strength:
            key = ("alone", place) if condition.group is None else condition.group
            groups.setdefault(key, []).append(_condition(condition))
    for group in groups.values():
        yield AnyOf.of(group)


def _condition(condition: contract.Condition) -> Condition:
    if condition.values:
        return Comparison(field=condition.field, op="!=" if condition.negated else "=", values=tuple(condition.values))
    least, most = condition.least, condition.most
    if least is None and most is None:
        return Comparison(field=condition.field, op="is_null" if condition.negated else "not_null")
    if least is not None and most is not None:
        met = Comparison(field=condition.field, op="between", values=_scalars((least, most)))
    elif least is not None:
        met = Comparison(field=condition.field, op=">=", values=_scalars((least,)))
    else:
        met = Comparison(field=condition.field, op="<=", values=_scalars((most,)))
    return Not(negated=met) if condition.negated else met


def _scalars(numbers: Iterable[float | None]) -> tuple[Scalar, ...]:
    """Numbers as in JSON: whole ones without decimals."""
    return tuple(int(each) if each.is_integer() else each for each in numbers if each is not None)
