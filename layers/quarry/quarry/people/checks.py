"""What a request names, against the values of the data: what nobody has is refused with what comes nearest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from pydantic import BaseModel

from quarry.people.contract import Constraints, EmploymentType, Intent, SeniorityLevel
from quarry.people.facets import PEOPLE
from quarry.people.normalisation import is_date, normalise
from quarry.people.places import alternatives_in
from quarry.platform.errors import FieldError, InvalidInput
from quarry.postgres.pool import Database
from quarry.retrieval.facets import NamedValue, nearest
from quarry.retrieval.known_values import existing_values, values_meant

_ORGANISATIONS = ("company", "school")
_PLACES = ("workplace", "home", "preferred_place")
_FACETS = {
    "company_norm": _ORGANISATIONS, "school_norm": _ORGANISATIONS, "team_norm": ("team",), "domain": ("domain",),
    "sub_domain": ("sub_domain",), "name": ("name",), "location": _PLACES, "city": _PLACES, "country": _PLACES,
    "location_text": _PLACES,
}  # fmt: skip
_REPLACED = frozenset({"company_norm", "school_norm", "team_norm", "domain", "sub_domain"})
"""What is met by equality, so that the values of the data must stand there."""
_TAXONOMIES = {"intent_primary": Intent, "employment_type": EmploymentType, "seniority_level": SeniorityLevel}
_DATES = ("time_start", "time_end", "started_from", "started_until", "ended_from", "ended_until")
_ANYWHERE = frozenset({"remote", "anywhere", "any", "worldwide"})


Named = tuple[BaseModel, str, NamedValue]
"""A part of the constraints, one of its fields, and a value there that the data may have."""


async def check_constraints(constraints: Constraints, query: str, database: Database) -> Constraints:
    """The constraints with the values as they stand in the data. Raises InvalidInput and DatabaseUnavailable."""
    parts = _parts(constraints)
    if errors := [error for name, part in parts.items() for error in _wrong(f"/constraints/{name}", part)]:
        raise InvalidInput(errors)
    given = _named(parts)
    meant = await values_meant(database, PEOPLE, [named for _, _, named in given], query)
    return _replaced(constraints, parts, given, meant)


async def as_in_data(constraints: Constraints, database: Database) -> Constraints:
    """The constraints with the values as they stand in the data; what nobody has is asked for as it is. Raises
    DatabaseUnavailable.
    """
    parts = _parts(constraints)
    given = _named(parts)
    existing = await existing_values(database, PEOPLE, [named for _, _, named in given])
    meant = [found or [named.value] for (_, _, named), found in zip(given, existing, strict=True)]
    return normalise(_replaced(constraints, parts, given, meant))


def _parts(constraints: Constraints) -> dict[str, BaseModel]:
    """The parts that hold values, apart from those of `constraints`."""
    return {name: getattr(constraints, name).model_copy() for name in ("must", "should", "exclude")}


def _named(parts: Mapping[str, BaseModel]) -> list[Named]:
    return [
        (part, field, NamedValue(facets, value, f"/constraints/{name}/{field}"))
        for name, part in parts.items()
        for field, facets in _FACETS.items()
        for value in _values(part, field)
        if value.lower() not in _ANYWHERE
    ]


def _replaced(
    constraints: Constraints, parts: Mapping[str, BaseModel], given: Sequence[Named], meant: Sequence[Sequence[str]]
) -> Constraints:
    """The constraints with the values that are meant where the others stood, as far as these are met by equality; the same words
    say them.
    """
    replaced: dict[tuple[int, str], tuple[BaseModel, list[str]]] = {}
    renamed: dict[tuple[str, str], str] = {}
    for (part, field, named), found in zip(given, meant, strict=True):
        if field in _REPLACED:
            replaced.setdefault((id(part), field), (part, []))[1].extend(found)
            renamed[named.pointer.removeprefix("/constraints/").replace("/", "."), named.value.lower()] = " or ".join(
                found
            )
    for (_, field), (part, values) in replaced.items():
        setattr(part, field, values)
    evidence = [
        each.model_copy(update={"value": renamed.get((each.field, each.value.lower()), each.value)})
        for each in constraints.evidence
    ]
    return constraints.model_copy(update={**parts, "evidence": evidence})


def _values(part: BaseModel, field: str) -> Sequence[str]:
    value = getattr(part, field, None)
    if field == "location_text" and isinstance(value, str):
        # beside a city or a country it is only how they were written
        isolated = not (getattr(part, "city", None) or getattr(part, "country", None))
        value = alternatives_in(value) if isolated else None
    given = value if isinstance(value, list) else [value] if value else []
    return [each for each in given if each.strip()]


def _wrong(pointer: str, part: BaseModel) -> Iterator[FieldError]:
    """Values that are not of the taxonomy, and dates that are none."""
    for field, taxonomy in _TAXONOMIES.items():
        known = get_args(taxonomy)
        for value in _values(part, field):
            if "_".join(value.lower().replace("-", " ").split()) not in known:
                near = " or ".join(map(repr, nearest(value, known))) or ", ".join(known)
                yield FieldError(
                    f"{pointer}/{field}", f"{value!r} is no {field.replace('_', ' ')}; did you mean {near}?"
                )
    for field in _DATES:
        if (date := getattr(part, field, None)) and not is_date(date):
            yield FieldError(f"{pointer}/{field}", "write the day as YYYY-MM-DD, YYYY-MM or YYYY")
