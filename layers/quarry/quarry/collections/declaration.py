"""What `quarry.toml` may say: which tables of a database are searched, and as what.

A file declares collections, each by its name; `read_declarations` reads one. Whether the tables and columns that it names exist
is seen later, against the database's catalog.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from quarry.collections.expression import expression_columns
from quarry.collections.json_paths import keys_of, overlap
from quarry.collections.predicate import fields_of, read_predicate
from quarry.collections.row_choice import VectorColumn, Vectors, Where
from quarry.language.writing import languages
from quarry.platform.contract import NAME_PATTERN
from quarry.platform.errors import ConfigurationError
from quarry.platform.lazy_model import LazyModel
from quarry.spans.quantities import dimension_of

FILE_NAME = "quarry.toml"

FacetKind = Literal["value", "name", "title", "number", "year", "money", "date", "boolean", "array", "place"]
"""What `retrieval/facets` calls so, of the kinds that a table of anybody's may have."""
Weight = Literal["A", "B", "C", "D"]

_SETTING = r"^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)+$"
_IDENTIFIER = re.compile(r'"((?:[^"]|"")+)"|([A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*)')

PARAMETERS = frozenset({"q", "type", "from", "to", "limit", "offset", "ranking", "must", "by", "of", "context"})
"""What a search's address says in words of its own: no facet is called so."""


class DeclarationError(ConfigurationError):
    """A file of collections that cannot be used; `problems` are all that was found, each with its place in the file."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


class _Declared(LazyModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


def _one_or_many(value: object) -> object:
    return [value] if isinstance(value, str) else value


Columns = Annotated[tuple[str, ...], BeforeValidator(_one_or_many)]


def _is_table(name: str) -> str:
    table_name(name)
    return name


TableName = Annotated[str, AfterValidator(_is_table)]


def _is_line(line: Any) -> Any:
    if isinstance(line, str):
        parse(line)
    return line


class Referred(_Declared):
    """A value in another table: the `title`, a line, of the row of table `of` whose `key` is in column `by`; or what such a row
    refers to itself.
    """

    by: str
    of: TableName
    key: str | None = None
    title: Annotated[str | Referred, AfterValidator(_is_line)]


class Parent(_Declared):
    """What rows are part of: the row of table `of` whose `key` is in column `by`, of which the columns `show` are shown."""

    by: str
    of: TableName
    key: str | None = None
    show: Annotated[Columns, Field(min_length=1)]


class LinkDeclaration(_Declared):
    """What rows refer to that gives them no name: the row of table `of` whose columns `key` hold what the columns `by` do. `of`
    and `key` are left out where a foreign key says them.
    """

    by: Annotated[Columns, Field(min_length=1)]
    of: TableName | None = None
    key: Columns = ()

    @model_validator(mode="before")
    @classmethod
    def _from_columns(cls, value: object) -> object:
        return {"by": value} if isinstance(value, str | list) else value

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.key and len(self.key) != len(self.by):
            raise ValueError("`by` and `key` name as many columns as each other")
        if self.key and self.of is None:
            raise ValueError("`key` are columns of the table `of`, which is missing")
        return self


class Quoting(_Declared):
    """How an answer that no model writes quotes a row. `unit`: sentences of the text; its first two lines together (lead); its
    first line whole (line), or where it is short (short_line). `weight` is by how much these count. `followup` is a question
    about the row, with places for its `{topic}`, its `{author}`, or its `{title}` after a colon.
    """

    unit: Literal["sentences", "lead", "line", "short_line"] = "sentences"
    weight: float = Field(default=1.0, gt=0, le=10)
    followup: str = Field(
        default="What do the records say about {topic}?", pattern=r"^(?:[^{}]|\{(?:topic|author|title)\})+$"
    )


def _is_expression(expression: str) -> str:
    expression_columns(expression)
    return expression


def _is_unit(unit: str) -> str:
    if dimension_of(unit) is None:
        raise ValueError(f"{unit!r} is no unit of measure that is known: minutes, km, kg and the like")
    return unit


class FacetDeclaration(_Declared):
    """What rows can be filtered, counted and grouped by. `column` is the facet's own name where it is left out. In its place an
    `expression` may reckon a number from several columns. `unit` is what a number is measured in.

    With `by`, the value is the `title` of the row of table `of` whose `key` is in column `by`: a column, a template (`parse`), or
    a value that this row refers to in its turn.
    With `through`, a row has those of all rows of `of` that the table `through` joins it with: `by` and `to` are the columns of
    that table which refer to the row and to `of`.
    """

    kind: FacetKind
    column: str | None = None
    label: str | None = Field(default=None, max_length=80)
    plural: str | None = Field(default=None, max_length=80)
    words: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()
    synonyms: Mapping[str, str] = {}
    wording: Annotated[str, Field(pattern=r"^[^{}]*\{\}[^{}]*$")] | None = None
    hard: Literal[True, False, "counted"] = True
    people: bool = False
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] | None = None
    by: str | None = None
    of: TableName | None = None
    through: TableName | None = None
    to: str | None = None
    key: str | None = None
    title: Annotated[str | Referred | None, AfterValidator(_is_line)] = None
    expression: Annotated[str, AfterValidator(_is_expression)] | None = None
    unit: Annotated[str, AfterValidator(_is_unit)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_kind(cls, value: object) -> object:
        return {"kind": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.through is None and self.to is not None:
            raise ValueError("`to` is a column of the table `through`, which is missing")
        if self.through is not None:
            return self._is_whole_through()
        if (self.by is None) != (self.of is None):
            raise ValueError("`by` names a column and `of` the table that it refers to: one is missing")
        if self.by is None and (self.title or self.key):
            raise ValueError("`title` and `key` are columns of the table `of`, which is missing")
        if self.by is not None and self.column is not None:
            raise ValueError("with `by` and `of` the value is the other table's `title`, not `column`")
        if self.currency is not None and self.kind != "money":
            raise ValueError("only money has a currency")
        if self.unit is not None and self.kind != "number":
            raise ValueError("only a number has a unit")
        if self.expression is not None and (self.column or self.of or self.kind not in ("number", "money")):
            raise ValueError("an `expression` is a number or money, of columns of the row itself: no `column`, no `of`")
        return self

    def _is_whole_through(self) -> Self:
        if self.of is None or not isinstance(self.title, str):
            raise ValueError("with `through` the value is the `title` of a row of the table `of`: one is missing")
        if self.column is not None:
            raise ValueError("with `through` the value is the other table's `title`, not `column`")
        if self.kind not in ("array", "value", "name", "title", "place"):
            raise ValueError(f"what a row has several of through another table is an array or names, no {self.kind}")
        return self

    @property
    def used_columns(self) -> tuple[str, ...]:
        """The columns of the row that it is made of, where it says so."""
        if self.through is not None:
            return ()
        named = self.by or self.column
        return expression_columns(self.expression) if self.expression else (named,) if named else ()

    @property
    def reference(self) -> Referred | None:
        """Where the value is, if in another table whose key a column of the row holds."""
        if self.by is None or self.of is None or self.through is not None:
            return None
        return Referred(by=self.by, of=self.of, key=self.key, title=self.title or "name")


def _is_predicate(text: str) -> str:
    read_predicate(text)
    return text


class Poll(_Declared):
    """Changes are found by a column that each of them raises."""

    poll: str


class LanguageColumn(_Declared):
    """Each row names its own language: a text search configuration, or a code of ISO 639-1 ("de")."""

    column: str


class CollectionDeclaration(_Declared):
    """One table, partitioned table, view or materialized view that is searched as it is.

    `key` is the primary key where it is left out. `text` are the columns that words are looked for in, with their weights; rows
    without it are counted, filtered and grouped by, but not searched, and nothing is kept beside them but their values;
    `embed` those that have meaning, with `heading` before each piece; `cite` the lines that answers may quote. `title` and
    `topic` say what a row is called and what it is about: the first of them that is not empty. Titles and lines are columns, or
    templates (`parse`). `author` is the column of who says what a row holds, `part_of` what it belongs to. `scope` holds whose a
    row is; callers see rows by the setting `scope_setting`, which is their verified claim `scope_claim`. `fields` are columns
    that a Query uses as well, and that are not shown: keys and codes. `links` are references that give a row no name.
    `predicates` are conditions with a name (`read_predicate`), which a Query uses as boolean fields. `bypasses_policies` says
    that every caller may read what a view shows of tables with policies. It has the rows that meet `where`, and with `vectors`
    it is searched by vectors that these hold, in place of `embed`.

    Wherever a column is named a key of a JSON column may be: `metadata.author`.
    """

    source: TableName
    where: Where | None = None
    key: Columns = ()
    title: Columns = ()
    text: Mapping[str, Weight] = {}
    embed: Columns | None = None
    vectors: VectorColumn | None = None
    heading: Columns | None = None
    cite: Columns = ()
    topic: Annotated[tuple[str | Referred, ...], BeforeValidator(_one_or_many)] = ()
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
    called_by: str | None = None
    describe: str | None = Field(default=None, max_length=500)
    language: str | LanguageColumn = "english"
    hidden: Columns = ()
    fields: Columns = ()
    links: Mapping[str, LinkDeclaration] = {}
    facets: Mapping[str, FacetDeclaration] = {}
    predicates: Mapping[str, Annotated[str, AfterValidator(_is_predicate)]] = {}

    @field_validator("text", mode="before")
    @classmethod
    def _weighed(cls, value: object) -> object:
        listed = _one_or_many(value)
        return dict.fromkeys(listed, "B") if isinstance(listed, list) else value

    @field_validator("facets", mode="before")
    @classmethod
    def _each_by_name(cls, value: object) -> object:
        """Facets of one kind may stand in a list of their columns, under the kind."""
        if not isinstance(value, dict):
            return value
        listed = {
            kind: names for kind, names in value.items() if isinstance(names, list) and kind in get_args(FacetKind)
        }
        single = {name: each for name, each in value.items() if name not in listed}
        names = [name for each in listed.values() for name in each]
        if not all(isinstance(name, str) for name in names):
            raise ValueError(f"under {_list(listed)} stand the names of columns")
        if twice := sorted({name for name in names if names.count(name) > 1 or name in single}):
            raise ValueError(f"{_list(twice)}: declared twice")
        return {name: kind for kind, names in listed.items() for name in names} | single

    @field_validator("facets")
    @classmethod
    def _has_usable_names(cls, facets: Mapping[str, FacetDeclaration]) -> Mapping[str, FacetDeclaration]:
        for name in facets:
            if not re.fullmatch(NAME_PATTERN, name) or name in PARAMETERS:
                raise ValueError(
                    f"a facet cannot be called {name!r}: lower-case letters, digits and _, none of {_list(PARAMETERS)}"
                )
        return facets

    @field_validator("predicates", "links")
    @classmethod
    def _has_plain_names(cls, named: Mapping[str, Any], info: ValidationInfo) -> Mapping[str, Any]:
        one = "predicate" if info.field_name == "predicates" else "link"
        for name in named:
            if not re.fullmatch(NAME_PATTERN, name):
                raise ValueError(f"a {one} cannot be called {name!r}: lower-case letters, digits and _")
        return named

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        named = [*self.predicates, *self.facets, *self.links]
        if both := sorted({name for name in named if named.count(name) > 1}):
            raise ValueError(f"{_list(both)}: facets, links and predicates cannot have the same name")
        if self.scope_setting is not None and self.scope is None:
            raise ValueError(
                "`scope_setting` says whose rows a caller sees, and `scope` is missing: the column that holds it"
            )
        if self.called_by is not None and self.called_by not in self.facets:
            raise ValueError(
                f"`called_by` names a facet, and {self.called_by!r} is none{nearest(self.called_by, self.facets)}"
            )
        if self.vectors is not None and self.embed is not None:
            raise ValueError("`vectors` are in the table, and `embed` has texts embedded anew: leave one out")
        used = {*self.embedded, *self.shown, *self.text, *self.fields, *(each.by for each in self.references.values())}
        used |= {column for each in self.links.values() for column in each.by}
        if both := sorted(name for name in used if any(overlap(name, hidden) for hidden in self.hidden)):
            raise ValueError(f"{_list(both)} cannot be hidden and searched or shown")
        if not self.text and (given := [name for name in ("embed", "cite") if getattr(self, name)]):
            raise ValueError(f"{_list(given)} needs `text`: rows without it are counted, and not searched")
        return self

    @property
    def is_searched(self) -> bool:
        """Whether words and meanings are looked for in its rows; else they are only counted."""
        return bool(self.text)

    @property
    def language_column(self) -> str | None:
        """The column that names each row's language; None where all rows are in one."""
        return self.language.column if isinstance(self.language, LanguageColumn) else None

    @property
    def embedded(self) -> tuple[str, ...]:
        """The columns whose texts are embedded; none where words alone are searched, or the table holds vectors."""
        if self.vectors is not None:
            return ()
        return tuple(self.text) if self.embed is None else self.embed

    @property
    def has_meaning(self) -> bool:
        """Whether its rows have vectors."""
        return self.vectors is not None or bool(self.embedded)

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns that stand before each piece that is embedded."""
        return line_columns(self.title) if self.heading is None else self.heading

    @property
    def cited(self) -> tuple[str, ...]:
        """The lines that answers quote, in order."""
        return self.cite or tuple(self.text)

    @property
    def texts(self) -> list[str]:
        """The columns that are a line of what is cited by themselves."""
        alone = [(line, columns) for line in self.cited if len(columns := line_columns([line])) == 1]
        return [columns[0] for line, columns in alone if line.strip("{}") == columns[0]]

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns that are shown of a row before it is opened."""
        own = [each for each in self.topic if isinstance(each, str)]
        return (*line_columns([*self.title, *self.cited, *own]), *([self.author] if self.author else []))

    @property
    def lines(self) -> Mapping[str, tuple[str, ...]]:
        """The columns of its own that keys of the declaration show of a row, but for its texts, its key and its address."""
        own = [each for each in self.topic if isinstance(each, str)]
        return {
            "title": line_columns(self.title),
            "embed": self.embed or (),
            "heading": self.heading or (),
            "cite": line_columns(self.cite),
            "topic": line_columns(own),
            "author": (self.author,) if self.author else (),
            "date": (self.date,) if self.date else (),
        }

    @property
    def paths_of_predicates(self) -> tuple[str, ...]:
        """The paths that predicates name by themselves, not by a facet."""
        named = (name for text in self.predicates.values() for name in fields_of(read_predicate(text)))
        return tuple(dict.fromkeys(name for name in named if keys_of(name) and name not in self.facets))

    @property
    def references(self) -> Mapping[str, Referred | Parent]:
        """What the declaration refers to in other tables, but for facets, each by the key that says so."""
        topics = {f"topic {place}": each for place, each in enumerate(self.topic) if isinstance(each, Referred)}
        return {**topics, **({"part_of": self.part_of} if self.part_of else {})}


@dataclass(frozen=True)
class Placed:
    """A column in a template."""

    column: str


Template = Sequence["str | Placed | Template"]
"""Texts, columns, and parts that are left out where a column in them is empty."""


def is_template(line: str) -> bool:
    """Whether it is more than the name of a column."""
    return "{" in line


def parse(template: str) -> Template:
    """A template, `"{title}[, {city}]"`: columns in braces, and in brackets parts that are left out where a column in them is
    empty. A text without braces is the name of a column. Raises ValueError for a bracket that is alone.
    """
    if not is_template(template):
        return [Placed(template)]
    open_parts: list[list[Any]] = [[]]
    for piece in re.findall(r"\{[^{}]+\}|[\[\]]|[^{}\[\]]+|[{}]", template):
        if piece == "[":
            open_parts.append([])
        elif piece == "]" and len(open_parts) > 1:
            part = open_parts.pop()
            open_parts[-1].append(part)
        elif piece in "[]{}":
            raise ValueError(f"{template!r} has a {piece} alone")
        else:
            open_parts[-1].append(Placed(piece[1:-1]) if piece[0] == "{" else piece)
    if len(open_parts) > 1:
        raise ValueError(f"{template!r} has a [ alone")
    return open_parts[0]


def line_columns(lines: Iterable[str]) -> tuple[str, ...]:
    """The columns that lines are made of, each once."""

    def of(template: Template) -> Iterator[str]:
        for part in template:
            if isinstance(part, Placed):
                yield part.column
            elif not isinstance(part, str):
                yield from of(part)

    return tuple(dict.fromkeys(column for line in lines for column in of(parse(line))))


def split_template(template: str) -> list[tuple[str, bool]]:
    """A template as its literal texts and the columns in braces, in order, each with whether it is a column."""
    pieces = re.split(r"\{([^{}]+)\}", template)
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]


def template_columns(template: str) -> list[str]:
    """The columns that a template names."""
    return [piece for piece, is_column in split_template(template) if is_column]


def table_name(name: str) -> tuple[str, str]:
    """Schema and name of a table, read as SQL reads them: `sales."Order Details"`; a name alone is one of `public`.

    Raises ValueError.
    """
    parts, place = [], 0
    while match := _IDENTIFIER.match(name, place):
        quoted, plain = match.groups()
        parts.append(quoted.replace('""', '"') if quoted is not None else plain.lower())
        place = match.end()
        if place == len(name):
            break
        if name[place] != ".":
            break
        place += 1
    if place != len(name) or not 1 <= len(parts) <= 2:
        raise ValueError(
            f"{name!r} is no name of a table: write schema.table, with quotes around what is not plain lower case"
        )
    return (parts[0], parts[1]) if len(parts) == 2 else ("public", parts[0])


def read_declarations(text: str, file: str = FILE_NAME) -> dict[str, CollectionDeclaration]:
    """The collections that a file declares, by their names. Raises DeclarationError, which names every line that is wrong."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DeclarationError([f"{file}: {error}"]) from None
    lines = Lines(text, file)
    problems = [
        lines.problem((name,), f"{name!r} means nothing here{nearest(name, ['collections'])}")
        for name in content
        if name != "collections"
    ]
    declared: dict[str, CollectionDeclaration] = {}
    collections = content.get("collections", {})
    if not isinstance(collections, dict):
        raise DeclarationError([lines.problem(("collections",), "collections are tables: [collections.NAME]")])
    for name, given in collections.items():
        path = ("collections", name)
        if not re.fullmatch(NAME_PATTERN, name):
            problems.append(
                lines.problem(path, f"a collection cannot be called {name!r}: lower-case letters, digits and _")
            )
        try:
            declared[name] = CollectionDeclaration.model_validate(given)
        except ValidationError as error:
            problems += [lines.problem((*path, *_keys(each["loc"])), _wording(each)) for each in error.errors()]
    if problems:
        raise DeclarationError(problems)
    return declared


def nearest(name: str, names: Iterable[str]) -> str:
    """ "; did you mean …?" where one of the names is spelt much like it, else nothing."""
    by_folded = {known.casefold(): known for known in names}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return f"; did you mean {by_folded[found[0]]!r}?" if found else ""


def nearest_language(name: str, configurations: Collection[str]) -> str:
    """As `nearest`; of a code ("de", "de-AT") the configuration of its language, and `simple` where none is like it."""
    code = re.split(r"[-_]", name.casefold())[0]
    meant = [
        known for known, each in languages().items() if code in (each.code, *each.also) and known in configurations
    ]
    if meant:
        return f"; did you mean {meant[0]!r}?"
    return nearest(name, configurations) or "; 'simple' serves where none fits"


class Lines:
    """Where in a TOML file a key stands."""

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        self._places = _places(text)

    def problem(self, path: Sequence[str], message: str) -> str:
        """The message, with the file, the line and the key that it is about."""
        known = next(
            (path[:length] for length in range(len(path), 0, -1) if tuple(path[:length]) in self._places), None
        )
        line = f":{self._places[tuple(known)]}" if known else ""
        return f"{self._file}{line}: {'.'.join(path)}: {message}"


_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_PATH = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"\s*\[+\s*({_PATH})\s*\]+")
_ASSIGNED = re.compile(rf"\s*({_PATH})\s*=\s*(\{{)?")
_INLINE = re.compile(rf"[{{,]\s*({_PATH})\s*=")


def _places(text: str) -> dict[tuple[str, ...], int]:
    """The line of each key's first appearance, by its whole path."""
    places: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _split_path(header[1])
            places.setdefault(table, number)
        elif assigned := _ASSIGNED.match(line):
            path = (*table, *_split_path(assigned[1]))
            places.setdefault(path, number)
            if assigned[2]:
                for inner in _INLINE.finditer(line, assigned.end() - 1):
                    places.setdefault((*path, *_split_path(inner[1])), number)
    return places


def _split_path(path: str) -> tuple[str, ...]:
    return tuple(key.strip("\"'") for key in re.findall(_KEY, path))


def _keys(location: Sequence[int | str]) -> list[str]:
    """The keys of a validation error's place: pydantic also names the arms of a union, which stand in no file."""
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
    "topic": Referred,
    "vectors": Vectors,
}
"""What is declared within a collection, by its key."""


def _wording(error: Mapping[str, Any]) -> str:
    kind, given, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        known = _PARTS.get(str(error["loc"][0]), CollectionDeclaration).model_fields
        return f"means nothing here{nearest(str(error['loc'][-1]), known)}"
    if kind == "literal_error":
        return f"{given!r} is none of {context['expected'].replace(' or ', ', ')}"
    if kind == "value_error":
        return str(context["error"])
    return (
        f"{error['msg'][0].lower()}{error['msg'][1:]}, not {given!r}"
        if not isinstance(given, dict)
        else str(error["msg"])
    )


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
