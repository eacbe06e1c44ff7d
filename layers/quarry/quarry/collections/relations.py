"""The tables and views of a database: columns, keys, references, sizes, and what the role may do. Keys of JSON
columns can be named like columns: `metadata.author`; the values at one may differ in type, a path has one. And the
shapes of the values that a column holds. Pure.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import Literal, LiteralString, NamedTuple

from quarry.files.forms import ANY, BOOLEANS, NEARLY, cell_types, form_of
from quarry.schema.source import FacetKind, identifier
from quarry.spans.numbers import currency_code

VALUES_MIN = 3
"""Fewer values do not show the shape of a column."""
MOST = 0.9
TOKEN_CHARACTERS_MIN, CAPITALS_MIN = 16, 20
"""The least length of a token; without small letters it must be longer, since serial numbers are written in capitals."""
MIXED_MIN = 0.15
"""The least share of neighbours that are a letter and a digit. Codes made by people have long runs of each."""


TRUTHS = (*BOOLEANS, ("on", "off"))
"""The words for yes and no that Postgres reads, in pairs."""


class Shape(StrEnum):
    """What most values look like. The text completes "its values …"."""

    CREDENTIALS = "look like keys, tokens or password hashes"
    LINKS = "are addresses with credentials in them"
    ACCOUNTS = "look like card or bank account numbers"
    RANDOM = "look random, as tokens do"
    WORDS = "are written in words"
    OTHER = "have no known form"


class ValueTraits(NamedTuple):
    """What is known of a column's values without storing any.

    Their shape, the keys in JSON that hold text, whether most are numbers or dates in any notation, whether most are names
    (they begin with a capital and hold no digit), whether all are one pair of words for yes and no, and whether most are codes
    of currencies.
    """

    shape: Shape
    keys: frozenset[str] = frozenset()
    are_figures: bool = False
    are_names: bool = False
    are_truths: bool = False
    are_currencies: bool = False


_CREDENTIAL = re.compile(
    r"""\$[\w-]{1,20}\$\S{6,}                                            # crypt: bcrypt, argon2, scrypt, phpass
    | (?:pbkdf2|bcrypt|argon2|scrypt|sha\d|md5)[\w:-]*\$\S{6,}           # Django, Werkzeug
    | \{(?:ss?ha|smd5|md5|crypt|pbkdf2|bcrypt|argon2|scrypt)[\w-]*\}\S+  # LDAP, Spring
    | scram-sha-\d+\$\S+ | md5[0-9a-f]{32}                               # Postgres
    | eyj[\w-]{5,}\.[\w-]{5,}\S*                                         # JSON Web Tokens
    | -----begin\ [a-z0-9 ]*private\ key[\s\S]* | putty-user-key-file[\s\S]* | age-secret-key-1\S+
    | (?:sk-)?(?:ssh-\w+|ecdsa-sha2-[\w-]+)(?:@\S+)?\ aaaa\S+.*
    | (?:bearer|basic)\ [\w.~+/=-]{8,} | otpauth://\S+
    | (?:sk|pk|rk)_(?:live|test)_\w{8,} | sk-[\w-]{16,} | whsec_\S{8,} | gh[pousr]_\w{16,} | github_pat_\w{16,}
    | gl[a-z]{2,6}-[\w-]{16,} | xox[a-z]-[\w-]{8,} | xapp-[\w-]{8,} | (?:akia|asia)[a-z0-9]{16} | aiza[\w-]{30,}
    | ya29\.[\w-]{10,} | gocspx-[\w-]{10,} | sg\.[\w-]{16,}\.[\w-]{16,} | (?:hf|npm)_\w{20,} | pypi-[\w-]{20,}
    | do[opr]_v1_\w{16,} | shp[a-z]{2}_\w{16,} | sq0[a-z]{3}-[\w-]{16,} | hv[sb]\.[\w-]{16,} | key-[0-9a-f]{32}""",
    re.IGNORECASE | re.VERBOSE,
)
_CREDENTIALS_IN_ADDRESS = re.compile(
    r"""[a-z][\w+.-]*://[^/\s:@]*:[^/\s@]+@\S*
    | https?://(?:hooks\.|[\w.-]*\bwebhook\.|\S+/api/webhooks/)\S+
    | (?=.*\b(?:server|host|data\ source|user\ id|user|uid|dbname)\s*=).*\b(?:password|pwd)\s*=.*""",
    re.IGNORECASE | re.VERBOSE,
)
_TOKEN_IN_ADDRESS = re.compile(
    r"https?://\S*[?&#;][\w-]*(?:token|sig|signature|key|auth|secret|jwt|password|code|hash)=[\w.~%+/-]{12,}\S*",
    re.IGNORECASE,
)
_NO_FIGURES = ANY | {"boolean"}
_TOKEN = re.compile(rf"(?!.*\.[a-z]\w{{1,4}}$)[A-Za-z0-9+/_=.~-]{{{TOKEN_CHARACTERS_MIN},}}")
_JSON_TEXT = re.compile(r'"((?:[^"\\]|\\.){1,60})"\s*:\s*"[^"]')


def traits_of(values: Sequence[str]) -> ValueTraits | None:
    """What these values look like, each truncated to some hundred characters; None where there are none."""
    texts = [stripped for value in values if (stripped := value.strip())]
    if not texts:
        return None
    objects = [value for value in texts if value[0] in "{["]
    keys = frozenset(key for value in objects for key in _JSON_TEXT.findall(value))
    figures = sum(bool(cell_types(value) - _NO_FIGURES) or form_of(value).sort != "other" for value in texts)
    are_names = _share(_is_name, texts) >= MOST
    terms = {value.lower() for value in texts}
    return ValueTraits(
        _shape(texts),
        keys,
        are_figures=figures >= NEARLY * len(texts),
        are_names=are_names,
        are_truths=any(terms == {*pair} for pair in TRUTHS),
        are_currencies=_share(lambda value: currency_code(value.lower()) == value, texts) >= MOST,
    )


def _is_name(value: str) -> bool:
    return value[0].isupper() and not any(sign.isdigit() or sign in "@_" for sign in value)


def _shape(values: Sequence[str]) -> Shape:
    if any(map(_CREDENTIAL.fullmatch, values)):
        return Shape.CREDENTIALS
    if any(map(_CREDENTIALS_IN_ADDRESS.fullmatch, values)) or _share(_TOKEN_IN_ADDRESS.fullmatch, values) >= 1 / 2:
        return Shape.LINKS
    if len(values) >= VALUES_MIN:
        if _share(_is_card, values) >= MOST or _share(_is_iban, values) >= MOST:
            return Shape.ACCOUNTS
        if _share(_may_be_token, values) >= MOST and _mixed(values) >= MIXED_MIN:
            return Shape.RANDOM
    return Shape.WORDS if _share(_has_words, values) >= 1 / 2 else Shape.OTHER


def _share(holds: Callable[[str], object], values: Sequence[str]) -> float:
    return sum(bool(holds(value)) for value in values) / len(values)


def _may_be_token(value: str) -> bool:
    """Whether it is as long as a token and has only characters of tokens. UUIDs are no secrets."""
    is_long = len(value) >= CAPITALS_MIN or any(sign.islower() for sign in value)
    return bool(is_long and _TOKEN.fullmatch(value)) and not _is_uuid(value)


def _has_words(value: str) -> bool:
    """Whether it contains two neighbouring words of letters."""
    return any(one[-1].isalpha() and other[0].isalpha() for one, other in pairwise(value.split()))


def _is_uuid(value: str) -> bool:
    parts = value.strip("{}").split("-")
    return [*map(len, parts)] == [8, 4, 4, 4, 12] and set("".join(parts)) <= {*string.hexdigits}


def _mixed(values: Iterable[str]) -> float:
    """The share of neighbouring characters that are a letter and a digit."""
    pairs = [pair for value in values for pair in pairwise(value)]
    return sum(one.isalnum() and other.isalnum() and one.isdigit() != other.isdigit() for one, other in pairs) / len(
        pairs
    )


def _is_card(value: str) -> bool:
    """Whether it is a card number, by its length, first digit and check digit (Luhn)."""
    digits = value.replace(" ", "").replace("-", "")
    is_usual = len(digits) in (13, 14, 16, 17, 18, 19) and digits[0] in "23456"
    if not digits.isdecimal() or not (is_usual or (len(digits) == 15 and digits[:2] in ("34", "37"))):
        return False
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(doubled) + sum(map(int, digits[-1::-2]))) % 10 == 0


def _is_iban(value: str) -> bool:
    """Whether it is an international bank account number, by its form and check digits (ISO 7064)."""
    joined = value.replace(" ", "").upper()
    is_formed = 15 <= len(joined) <= 34 and joined.isascii() and joined.isalnum() and joined[:2].isalpha()
    if not is_formed or not joined[2:4].isdecimal():
        return False
    return int("".join(str(int(character, 36)) for character in joined[4:] + joined[:4])) % 97 == 1


JSON_TYPES = frozenset(("json", "jsonb"))
NUMBER, MOMENT, TRUTH, TEXT = "numeric", "timestamp with time zone", "boolean", "text"
CATEGORIES: Mapping[str, str] = {NUMBER: "N", MOMENT: "D", TRUTH: "B", TEXT: "S", "bigint": "N", "uuid": "U"}
"""The types that a path may have, each with its category in Postgres."""
_READ_BY: Mapping[str, LiteralString] = {
    NUMBER: "json_number", MOMENT: "json_moment", TRUTH: "json_truth", "bigint": "json_whole_number", "uuid": "json_uuid",
}  # fmt: skip


TYPES_OF_KINDS: Mapping[FacetKind, str] = {
    "number": NUMBER, "money": NUMBER, "year": NUMBER, "date": MOMENT, "boolean": TRUTH,
}  # fmt: skip
"""The type of a path, by the kind of the facet that uses it; text for all other kinds."""
_WHOLE_NUMBERS = frozenset(("bigint", "integer", "smallint"))


class PathType(NamedTuple):
    """The type of the values at a path: one of `CATEGORIES`, or an array of it."""

    base: str = TEXT
    is_array: bool = False


def type_of_kind(kind: FacetKind) -> PathType:
    """The type of a path that a facet of this kind uses."""
    return PathType(TYPES_OF_KINDS.get(kind, TEXT), kind == "array")


def type_to_compare(base: str) -> PathType:
    """The type of a path that is compared with a column of the type `base`."""
    base = "bigint" if base in _WHOLE_NUMBERS else base
    return PathType(base if base in CATEGORIES else TEXT)


def keys_of(name: str) -> tuple[str, ...]:
    """The column that a path begins with, and its keys; empty for a plain name."""
    parts = tuple(name.split("."))
    return parts if len(parts) > 1 and all(parts) else ()


def own_name(name: str) -> str:
    """The name of a column, or the last key of a path."""
    return (keys_of(name) or (name,))[-1]


def overlap(name: str, other: str) -> bool:
    """Whether one of two names contains the other or equals it: `metadata` and `metadata.author`."""
    return covers(name, other) or covers(other, name)


def covers(name: str, other: str) -> bool:
    """Whether `other` equals the column or path `name`, or is within it."""
    return name == other or other.startswith(f"{name}.")


def covered(name: str, names: Iterable[str]) -> bool:
    """Whether one of several columns and paths equals this one or contains it."""
    return any(covers(each, name) for each in names)


def path_sql(keys: Sequence[str], type: PathType, row: LiteralString) -> LiteralString:
    """The value at a path in the row `row`, in SQL."""
    column, *inner, last = keys
    holder = f"{row}.{identifier(column)}" + "".join(f" -> {literal(key)}" for key in inner)
    text = f"({holder} ->> {literal(last)})"
    if type.is_array:
        json = f"({holder} -> {literal(last)})::jsonb"
        return (
            f"(case when jsonb_typeof({json}) = 'array' then array(select jsonb_array_elements_text({json}))"
            f" when {text} is not null and jsonb_typeof({json}) <> 'object' then array[{text}] end)"
        )
    read_by = _READ_BY.get(type.base)
    return f"{read_by}({text})" if read_by else text


def without_path(document: LiteralString, keys: Sequence[str]) -> LiteralString:
    """A document in SQL without the value at a path."""
    return f"json_without({document}, array[{', '.join(map(literal, keys))}])"


def literal(text: str) -> LiteralString:
    """A text as an SQL literal. A statement with parameters reads `%`: it is escaped."""
    escaped = text.replace("\\", "\\\\").replace("'", "''").replace("%", r"\x25")
    return f"E'{escaped}'" if "\\" in escaped else f"'{escaped}'"


RelationKind = Literal["table", "partitioned table", "view", "materialized view", "foreign table"]

_DATE_TYPES = frozenset({"date", "timestamp with time zone", "timestamp without time zone"})


@dataclass(frozen=True)
class Column:
    """A column. `type` is its SQL type, `base` the type without domains and arrays; `width` is in bytes.

    `distinct` is the planner's estimate of the number of values: negative for a share of the rows, None before ANALYZE.
    `least` and `most` are the extremes of the numbers in the statistics, `traits` describe the texts in them. `is_html`: a
    sample of the texts has elements of HTML.
    """

    name: str
    number: int
    type: str
    base: str
    category: str
    is_array: bool
    is_nullable: bool
    width: int | None
    distinct: float | None
    comment: str | None
    least: float | None = None
    most: float | None = None
    traits: ValueTraits | None = None
    is_html: bool = False


def is_date_type(base: str) -> bool:
    """Whether a `base` type holds days or moments: no times of day, and no ranges."""
    return base in _DATE_TYPES


@dataclass(frozen=True)
class Reference:
    """A foreign key: these columns hold the key `target_columns` of the table `target`. `is_guessed`: there is no constraint."""

    columns: tuple[str, ...]
    target: tuple[str, str]
    target_columns: tuple[str, ...]
    is_guessed: bool = False


@dataclass(frozen=True)
class Relation:
    """A table or view. `rows` is the planner's estimate, None before ANALYZE and for views.

    `is_partition`: its rows are part of a parent table. `is_row_security_active`: policies may hide rows from the current role.
    `may_select` and `may_trigger` are the rights of that role. `bypassed` are the tables with policies that a view reads with
    its owner's rights, or that a materialized view has copied: no policy hides their rows from readers of the view.
    `reads` are the columns that a view reads: schema, table and column. `knows_user`: a policy shows each database user other
    rows, whether it is in force or not. `unreadable` are columns that were left out because a read failed, each with the reason.
    `documents` are the keys in a sample of its JSON columns, as columns named by paths (`metadata.author`).
    """

    oid: int
    schema: str
    name: str
    kind: RelationKind
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...]
    unique_keys: tuple[tuple[str, ...], ...]
    references: tuple[Reference, ...]
    rows: int | None
    is_partition: bool
    has_row_security: bool
    is_row_security_active: bool
    may_select: bool
    may_trigger: bool
    comment: str | None
    bypassed: tuple[str, ...] = ()
    reads: tuple[tuple[str, str, str], ...] = ()
    knows_user: bool = False
    unreadable: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[Column, ...] = ()

    @property
    def qualified(self) -> tuple[str, str]:
        """Schema and name."""
        return self.schema, self.name

    @property
    def keys(self) -> list[tuple[str, ...]]:
        """The keys: the primary key, then the unique keys whose columns are never null."""
        never_null = {column.name for column in self.columns if not column.is_nullable}
        unique = [key for key in self.unique_keys if never_null.issuperset(key)]
        return [self.primary_key, *unique] if self.primary_key else unique

    def without(self, unreadable: Mapping[str, str]) -> Relation:
        """The table without columns that cannot be read, unless rows are identified or joined by them."""
        joining = {name for each in self.references for name in each.columns}
        reasons = {
            name: why
            for name, why in unreadable.items()
            if name in self.by_name and name not in {*self.primary_key, *joining}
        }
        columns = tuple(each for each in self.columns if each.name not in reasons)
        return replace(self, columns=columns, unreadable={**self.unreadable, **reasons})

    @property
    def by_name(self) -> Mapping[str, Column]:
        """The columns, by name."""
        return {column.name: column for column in self.columns}

    @property
    def names(self) -> list[str]:
        """All names that a declaration can use: columns, and keys that were seen in JSON."""
        return [*self.by_name, *(each.name for each in self.documents)]

    def at(self, name: str, type: PathType | None = None) -> Column | None:
        """A column; or a path as a column of the given type, of the type seen there, or of text.

        None where the column does not exist, or the path begins with a column that holds no JSON.
        """
        keys = keys_of(name)
        if name in self.by_name or not keys:
            return self.by_name.get(name)
        holder = self.by_name.get(keys[0])
        if holder is None or holder.is_array or holder.base not in JSON_TYPES:
            return None
        documented = next((each for each in self.documents if each.name == name), None)
        column = documented or Column(name, holder.number, TEXT, TEXT, "S", False, True, None, None, None)
        if type is None:
            return column
        return replace(column, type=type.base, base=type.base, category=CATEGORIES[type.base], is_array=type.is_array)


@dataclass(frozen=True)
class Embedding:
    """The model that embeds questions, and the length of its vectors."""

    model: str
    dimensions: int


@dataclass(frozen=True)
class Catalog:
    """What a declaration is checked against: the tables that it names, and the names of all others.

    `languages` are text search configurations. `vectors` is the model that vectors of tables must match, where it is known.
    """

    relations: Mapping[tuple[str, str], Relation]
    names: frozenset[tuple[str, str]]
    languages: frozenset[str]
    vectors: Embedding | None = None
