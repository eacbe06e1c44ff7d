"""What `quarry.toml` can declare: which tables of a database are searched, and how.

A file declares collections by name; `read_declarations` reads it. Whether the tables and columns exist is checked later,
against the database's catalog.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from quarry.collections.declaration_parts import (
    Columns,
    Declared,
    FacetDeclaration,
    KeptWith,
    LinkDeclaration,
    Parent,
    Quoting,
    Referred,
    RelatedRows,
    RowCondition,
    TableName,
    Vectors,
    line_columns,
    one_or_many,
    problem_of_zone,
    readable,
)
from quarry.collections.names import nearest
from quarry.collections.predicate import check_measures, fields_of, is_measure, read_predicate
from quarry.collections.relations import keys_of
from quarry.platform.contract import NAME_PATTERN, LazyModel
from quarry.platform.errors import ConfigurationError
from quarry.schema.source import BusinessHours, Calendar, FacetKind

Weight = Literal["A", "B", "C", "D"]

_SETTING = r"^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)+$"

PARAMETERS = frozenset({"q", "type", "from", "to", "limit", "offset", "ranking", "must", "by", "of", "context"})
"""Query parameters of a search. A facet cannot have one of these names."""


RETIRED = frozenset({"leads", "called_by"})
"""Keys of earlier versions, which stored declarations may still contain."""


def without_retired(stored: Any) -> Any:
    """A stored declaration without the retired keys of the collection and its facets."""
    facets = {name: _current(facet) for name, facet in stored.get("facets", {}).items()}
    return _current(stored) | ({"facets": facets} if facets else {})


def _current(value: Any) -> Any:
    return {key: each for key, each in value.items() if key not in RETIRED} if isinstance(value, dict) else value


class Poll(Declared):
    """Changes are found by a column that every change increases."""

    poll: str


class LanguageColumn(Declared):
    """Each row names its own language: a text search configuration, or an ISO 639-1 code ("de")."""

    column: str


class CollectionDeclaration(Declared):
    """One table, partitioned table, view or materialized view, searched in place.

    `key` defaults to the primary key. `text` are the columns searched by words, with weights. Without it, rows are counted,
    filtered and grouped by, but not searched, and only their values are stored. `embed` are the columns searched by meaning,
    with `heading` in front of each window, and `cite` the lines that answers may quote. Of several `title`s or `topic`s, the
    first that is not empty counts. Titles and lines are columns or templates (`parse`).

    `author` is the column with a row's author, `part_of` the row that it belongs to. `scope` holds the owner of a row:
    callers see the rows whose owner is the setting `scope_setting`, which is set to their verified claim `scope_claim`.
    `hidden` columns are never shown; those in `shows` are, although another collection hides them. `fields` are columns
    that a Query can use although they are not shown, such as keys and codes. `links` are references that give a row no
    name. `predicates` are named conditions (`read_predicate`), which a Query uses as boolean fields, and `measures`
    named numbers (`read_measure`). With
    `bypasses_policies`, every caller may read what a view shows of tables with policies. The collection holds the rows that
    meet `where` and whose columns in `kept_with` refer to rows that meet the conditions there. With `vectors`, rows are
    searched by vectors of the table instead of `embed`. `related` are rows of other tables that belong to its rows.

    Texts of a column named in `markup` are searched, quoted and shown as plain text.

    A key of a JSON column can stand for a column anywhere: `metadata.author`.
    """

    source: TableName
    where: RowCondition | None = None
    kept_with: Mapping[str, KeptWith] = {}
    key: Columns = ()
    title: Columns = ()
    text: Mapping[str, Weight] = {}
    embed: Columns | None = None
    vectors: Vectors | None = None
    heading: Columns | None = None
    markup: Mapping[str, Literal["html"]] = {}
    cite: Columns = ()
    topic: Annotated[tuple[str | Referred, ...], BeforeValidator(one_or_many)] = ()
    author: str | None = None
    part_of: Parent | None = None
    quoting: Quoting = Quoting()
    date: str | None = None
    scope: str | None = None
    scope_setting: Annotated[str, Field(pattern=_SETTING)] | None = None
    scope_claim: str = Field(default="sub", pattern=r"^[A-Za-z0-9_:.-]{1,100}$")
    bypasses_policies: bool = False
    url: str | None = None
    sync: Literal["trigger", "sweep"] | Poll = "trigger"
    label: str | None = Field(default=None, max_length=80)
    nouns: Columns = ()
    describe: str | None = Field(default=None, max_length=500)
    language: str | LanguageColumn = "english"
    hidden: Columns = ()
    shows: Columns = ()
    fields: Columns = ()
    links: Mapping[str, LinkDeclaration] = {}
    related: Mapping[str, RelatedRows] = {}
    facets: Mapping[str, FacetDeclaration] = {}
    predicates: Mapping[str, Annotated[str, readable(read_predicate)]] = {}
    measures: Mapping[str, Annotated[Mapping[str, Any], BeforeValidator(is_measure)]] = {}
    calendar: Calendar | None = None
    """The calendar of the whole file, which each of its collections keeps."""

    @field_validator("text", mode="before")
    @classmethod
    def _weighed(cls, value: object) -> object:
        listed = one_or_many(value)
        return dict.fromkeys(listed, "B") if isinstance(listed, list) else value

    @field_validator("facets", mode="before")
    @classmethod
    def _each_by_name(cls, value: object) -> object:
        """Accept lists of columns under the kind that their facets have in common."""
        if not isinstance(value, dict):
            return value
        kinds = get_args(FacetKind)
        listed = {kind: names for kind, names in value.items() if isinstance(names, list) and kind in kinds}
        single = {name: each for name, each in value.items() if name not in listed}
        names = [name for each in listed.values() for name in each]
        if not all(isinstance(name, str) for name in names):
            raise ValueError(f"{_list(listed)}: a list under a kind holds names of columns")
        if twice := sorted({name for name in names if names.count(name) > 1 or name in single}):
            raise ValueError(f"{_list(twice)}: declared twice")
        return {name: kind for kind, names in listed.items() for name in names} | single

    @field_validator("facets")
    @classmethod
    def _has_usable_names(cls, facets: Mapping[str, FacetDeclaration]) -> Mapping[str, FacetDeclaration]:
        for name in facets:
            if not re.fullmatch(NAME_PATTERN, name) or name in PARAMETERS:
                rule = f"use lower-case letters, digits and _, and none of {_list(PARAMETERS)}"
                raise ValueError(f"a facet cannot be called {name!r}: {rule}")
        return facets

    @field_validator("predicates", "links", "related", "measures")
    @classmethod
    def _has_plain_names(cls, names: Mapping[str, Any], info: ValidationInfo) -> Mapping[str, Any]:
        nouns = {"predicates": "a predicate", "links": "a link", "measures": "a measure"}
        for name in names:
            if not re.fullmatch(NAME_PATTERN, name):
                one = nouns.get(info.field_name or "", "related rows")
                raise ValueError(f"{one} cannot be called {name!r}: lower-case letters of any script, digits and _")
        return names

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        check_measures(self.measures)
        names = [*self.predicates, *self.facets, *self.links, *self.related, *self.measures]
        if both := sorted({name for name in names if names.count(name) > 1}):
            rule = "facets, links, related rows, predicates and measures cannot have the same name"
            raise ValueError(f"{_list(both)}: {rule}")
        if lacking := sorted({each.related for each in self.facets.values() if each.related} - {*self.related}):
            raise ValueError(f"{_list(lacking)}: no related rows have this name: declare them in `related`")
        if self.scope_setting is not None and self.scope is None:
            raise ValueError("`scope_setting` needs `scope`, the column that holds the owner of a row")
        if self.vectors is not None and self.embed is not None:
            raise ValueError("`vectors` takes vectors from the table and `embed` makes new ones: remove one of them")
        if not self.text and (parts := [name for name in ("embed", "cite") if getattr(self, name)]):
            raise ValueError(f"{_list(parts)} needs `text`: rows without it are not searched")
        return self

    @property
    def is_searched(self) -> bool:
        """Whether its rows are searched by words and meaning, rather than only counted."""
        return bool(self.text)

    @property
    def language_column(self) -> str | None:
        """The column that names each row's language; None where all rows have the same."""
        return self.language.column if isinstance(self.language, LanguageColumn) else None

    @property
    def embedded(self) -> tuple[str, ...]:
        """The columns whose texts are embedded; none where rows are searched by words alone, or the table holds vectors."""
        if self.vectors is not None:
            return ()
        return tuple(self.text) if self.embed is None else self.embed

    @property
    def has_meaning(self) -> bool:
        """Whether its rows have vectors."""
        return self.vectors is not None or bool(self.embedded)

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns that precede each window that is embedded."""
        return line_columns(self.title) if self.heading is None else self.heading

    @property
    def cited(self) -> tuple[str, ...]:
        """The lines that answers quote, in order."""
        return self.cite or tuple(self.text)

    @property
    def texts(self) -> list[str]:
        """The columns that are a cited line by themselves."""
        alone = [(line, columns) for line in self.cited if len(columns := line_columns([line])) == 1]
        return [columns[0] for line, columns in alone if line.strip("{}") == columns[0]]

    @property
    def lines(self) -> Mapping[str, tuple[str, ...]]:
        """The columns of the source that keys of the declaration show, except its texts, key, date and address."""
        own = [each for each in self.topic if isinstance(each, str)]
        return {
            "title": line_columns(self.title),
            "embed": self.embed or (),
            "heading": self.heading or (),
            "cite": line_columns(self.cite),
            "topic": line_columns(own),
            "author": (self.author,) if self.author else (),
        }

    @property
    def paths_of_predicates(self) -> tuple[str, ...]:
        """The paths that predicates name directly, not by a facet."""
        fields = (name for text in self.predicates.values() for name in fields_of(read_predicate(text)))
        return tuple(dict.fromkeys(name for name in fields if keys_of(name) and name not in self.facets))

    @property
    def references(self) -> Mapping[str, Referred | Parent]:
        """The references to other tables, except those of facets, by key of the declaration."""
        topics = {f"topic {place}": each for place, each in enumerate(self.topic) if isinstance(each, Referred)}
        return {**topics, **({"part_of": self.part_of} if self.part_of else {})}


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


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
        message = "write each collection as a table: [collections.NAME]"
        raise DeclarationError([lines.problem(("collections",), message)])
    for name, value in collections.items():
        path = ("collections", name)
        if not re.fullmatch(NAME_PATTERN, name):
            message = f"a collection cannot be called {name!r}: lower-case letters of any script, digits and _"
            problems.append(lines.problem(path, message))
        if isinstance(value, dict) and "calendar" in value:
            message = "all collections have one calendar: write it as [calendar]"
            problems.append(lines.problem((*path, "calendar"), message))
        try:
            declaration = CollectionDeclaration.model_validate(_whole(name, value, collections, lines))
            declared[name] = declaration.model_copy(update={"calendar": calendar})
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
        places = [(("calendar", *_keys(each["loc"])), _wording(each, _CALENDAR)) for each in error.errors()]
        problems += [lines.problem(place, message) for place, message in places]
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
        names = [each for each, declared in others.items() if "like" not in declared]
        base = str(value["like"])
        message = f"`like` must name a collection without `like`; there is none called {base!r}{nearest(base, names)}"
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
        place = next(
            (path[:length] for length in range(len(path), 0, -1) if tuple(path[:length]) in self._places), None
        )
        line = f":{self._places[tuple(place)]}" if place else ""
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


_CALENDAR: Mapping[str, type[LazyModel]] = {"": Calendar, "business_hours": BusinessHours}


def _wording(error: Mapping[str, Any], parts: Mapping[str, type[LazyModel]] = _PARTS) -> str:
    kind, declared, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        key, part = str(error["loc"][-1]), parts.get(str(error["loc"][0])) or parts.get("", CollectionDeclaration)
        if key in RETIRED:
            return "no longer has any effect: delete it"
        return f"is unknown here{nearest(key, part.model_fields)}"
    if kind == "literal_error":
        return f"{declared!r} is not one of {context['expected'].replace(' or ', ', ')}"
    if kind == "value_error":
        return str(context["error"])
    if not isinstance(declared, dict):
        return f"{error['msg'][0].lower()}{error['msg'][1:]}, not {declared!r}"
    return str(error["msg"])
