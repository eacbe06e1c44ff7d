"""Reads the collections that a `quarry.toml` declares. Errors name the line and the key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from quarry.collections.declaration import RETIRED, CollectionDeclaration
from quarry.collections.declaration_parts import (
    BusinessHours,
    Calendar,
    FacetDeclaration,
    LinkDeclaration,
    Parent,
    Quoting,
    Referred,
    RelatedRows,
    Vectors,
    problem_of_zone,
)
from quarry.collections.names import nearest
from quarry.platform.contract import NAME_PATTERN
from quarry.platform.errors import ConfigurationError
from quarry.platform.lazy_model import LazyModel

FILE_NAME = "quarry.toml"


class DeclarationError(ConfigurationError):
    """A file of collections that cannot be used. `problems` are all errors, each with its place in the file."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


def read_declarations(text: str, file: str = FILE_NAME) -> dict[str, CollectionDeclaration]:
    """The collections that a file declares, by name. Raises DeclarationError, which names every line that is wrong."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DeclarationError([f"{file}: {error}"]) from None
    lines = Lines(text, file)
    problems = [
        lines.problem((name,), f"{name!r} is unknown here{nearest(name, ['calendar', 'collections'])}")
        for name in content
        if name not in ("calendar", "collections")
    ]
    calendar = _calendar(content.get("calendar"), lines, problems)
    declared: dict[str, CollectionDeclaration] = {}
    collections = content.get("collections", {})
    if not isinstance(collections, dict):
        raise DeclarationError(
            [lines.problem(("collections",), "write each collection as a table: [collections.NAME]")]
        )
    for name, value in collections.items():
        path = ("collections", name)
        if not re.fullmatch(NAME_PATTERN, name):
            problems.append(
                lines.problem(
                    path, f"a collection cannot be called {name!r}: lower-case letters of any script, digits and _"
                )
            )
        if isinstance(value, dict) and "calendar" in value:
            problems.append(
                lines.problem((*path, "calendar"), "all collections have one calendar: write it as [calendar]")
            )
        try:
            read = CollectionDeclaration.model_validate(_whole(name, value, collections, lines))
            declared[name] = read.model_copy(update={"calendar": calendar})
        except ValidationError as error:
            problems += [lines.problem((*path, *_keys(each["loc"])), _wording(each)) for each in error.errors()]
    if problems:
        raise DeclarationError(problems)
    return declared


def _calendar(declared: Any, lines: Lines, problems: list[str]) -> Calendar | None:
    """The calendar of the file; what is wrong with it is added to `problems`."""
    if declared is None:
        return None
    try:
        calendar = Calendar.model_validate(declared)
    except ValidationError as error:
        problems += [
            lines.problem(("calendar", *_keys(each["loc"])), _wording(each, _CALENDAR)) for each in error.errors()
        ]
        return None
    if wrong := problem_of_zone(calendar.time_zone):
        problems.append(lines.problem(("calendar", "time_zone"), wrong))
    return calendar


def _whole(name: str, value: Any, others: Mapping[str, Any], lines: Lines) -> Any:
    """The declaration of a collection; what it leaves out is taken from the collection that it is `like`."""
    if not isinstance(value, dict) or "like" not in value:
        return value
    like = others.get(value["like"]) if isinstance(value["like"], str) else None
    if not isinstance(like, dict) or "like" in like:
        known = [each for each, declared in others.items() if "like" not in declared]
        called = str(value["like"])
        message = (
            f"`like` must name a collection without `like`; there is none called {called!r}{nearest(called, known)}"
        )
        raise DeclarationError([lines.problem(("collections", name, "like"), message)])
    return {key: each for key, each in {**like, **value}.items() if key != "like"}


class Lines:
    """The lines of the keys in a TOML file."""

    def __init__(self, text: str, file: str) -> None:
        self._file, self._text = file, text

    @cached_property
    def _places(self) -> Mapping[tuple[str, ...], int]:
        return _places(self._text)

    def problem(self, path: Sequence[str], message: str) -> str:
        """The message, with file, line and key."""
        known = next(
            (path[:length] for length in range(len(path), 0, -1) if tuple(path[:length]) in self._places), None
        )
        line = f":{self._places[tuple(known)]}" if known else ""
        return f"{self._file}{line}: {'.'.join(path)}: {message}"


_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_PATH = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"\s*\[+\s*({_PATH})\s*\]+")
_ASSIGNED = re.compile(rf"\s*({_PATH})\s*=")


def _places(text: str) -> dict[tuple[str, ...], int]:
    """The line of each key, by its path. Keys of an inline table stand on the line of that table."""
    places: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _split_path(header[1])
            places.setdefault(table, number)
        elif assigned := _ASSIGNED.match(line):
            places.setdefault((*table, *_split_path(assigned[1])), number)
    return places


def _split_path(path: str) -> tuple[str, ...]:
    return tuple(key.strip("\"'") for key in re.findall(_KEY, path))


def _keys(location: Sequence[int | str]) -> list[str]:
    """The keys of a validation error's place, without the members of unions that pydantic adds."""
    return [
        str(part)
        for part in location
        if isinstance(part, str) and part not in _ARMS and not part.startswith(("literal", "tuple"))
    ]


_ARMS = frozenset({"Poll", "str", "Referred", "LanguageColumn", "sql"})
_PARTS: Mapping[str, type[LazyModel]] = {
    "facets": FacetDeclaration,
    "links": LinkDeclaration,
    "quoting": Quoting,
    "part_of": Parent,
    "related": RelatedRows,
    "topic": Referred,
    "vectors": Vectors,
}
"""The tables within a collection, by key."""


def _part_of(location: Sequence[int | str], parts: Mapping[str, type[LazyModel]]) -> type[LazyModel]:
    return parts.get(str(location[0])) or parts.get("", CollectionDeclaration)


_CALENDAR: Mapping[str, type[LazyModel]] = {"": Calendar, "business_hours": BusinessHours}


def _wording(error: Mapping[str, Any], parts: Mapping[str, type[LazyModel]] = _PARTS) -> str:
    kind, declared, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        key, known = str(error["loc"][-1]), _part_of(error["loc"], parts).model_fields
        return "no longer has any effect: delete it" if key in RETIRED else f"is unknown here{nearest(key, known)}"
    if kind == "literal_error":
        return f"{declared!r} is not one of {context['expected'].replace(' or ', ', ')}"
    if kind == "value_error":
        return str(context["error"])
    return (
        f"{error['msg'][0].lower()}{error['msg'][1:]}, not {declared!r}"
        if not isinstance(declared, dict)
        else str(error["msg"])
    )
