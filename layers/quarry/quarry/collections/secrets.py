"""Which columns hold secrets, by their names, those of their tables, and what the planner's statistics show of their values.

Drafts hide them. What is uncertain is hidden too: a person can show it by taking it out of `hidden`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from quarry.collections.guessing import is_category, is_text, words
from quarry.collections.json_paths import covers, keys_of
from quarry.collections.relations import Column, Relation
from quarry.collections.secret_names import Certainty, is_link, is_secret_number, secrecy_of
from quarry.collections.value_shapes import Seen, Shape
from quarry.language.word_forms import singular

BY_NAME = "by its name"
BY_TABLE = "by its table's name"
BYTES = "bytes"

_NEVER = ("B", "D", "E", "G", "I", "R", "T")
"""Categories of types that only tell something about a secret: when it was changed, whether there is one, from where it came."""
_DOCUMENTS = ("json", "jsonb", "hstore", "xml")
_IDENTIFIERS = frozenset(
    """id uuid guid ref reference sha sha1 sha256 commit revision rev checksum md5 crc etag slug path filename file image avatar
    color colour mac serial imei vin""".split()
)
"""Last words of what names or compares something: it may look random, and lets nobody in."""
_GENERIC = frozenset("code key value val data url uri link endpoint number no nr hash string content field".split())
"""Words that say nothing by themselves: such a column is what its table is called after, as the `code` of `invites`."""
_SETTINGS = (
    "config",
    "configuration",
    "setting",
    "option",
    "preference",
    "parameter",
    "variable",
    "environment",
    "meta",
    "env",
)
"""Ends of what tables of names and values are called. One of the values may be a password."""
_VALUES = ("value", "val", "data")
_DOCUMENTS_OF_SETTINGS = frozenset(
    """config cfg conf configuration setting option preference parameter param env environment header payload auth raw session
    state request response variable extra""".split()
)
"""Names of documents that often hold credentials among other things."""
_TEXTS_OF_SETTINGS = frozenset("config cfg conf configuration settings payload headers env".split())
"""Last words of texts that are such documents."""
_LOGINS = frozenset("payload data sess session sid agent useragent ip hostname expire expires".split())
"""What a table of sessions has where these are logins, not lessons."""
_SESSION = frozenset("id sid key sess session payload data value state".split())
_POSTAL = frozenset("city town state district address street village country".split())


@dataclass(frozen=True)
class Suspicion:
    """Why a column is taken for a secret, and whether that is certain."""

    reason: str
    is_certain: bool


def suspicion(column: Column, relation: Relation) -> Suspicion | None:
    """Why a column of a table may hold a secret; None where nothing says so. Of a key in JSON, its column may too."""
    keys = keys_of(column.name)
    if keys and (holder := relation.by_name.get(keys[0])) is not None:
        return suspicion(holder, relation) or suspicion(replace(column, name="_".join(keys[1:])), relation)
    if column.base == "bytea":
        return _by_name(column, relation) or Suspicion(BYTES, is_certain=True)
    if column.category in _NEVER:
        return None
    if column.category == "N":
        is_secret = is_secret_number(column.name) and not _is_postal(column, relation)
        return Suspicion(BY_NAME, is_certain=False) if is_secret else None
    return _by_known_form(column) or _by_name(column, relation) or _by_randomness(column, relation)


def with_keys(relation: Relation) -> Relation:
    """A table with the keys that were seen in its JSON columns as columns too. Those that are secrets are hidden by themselves,
    and make no secret of what else is in the column.
    """
    columns = (_without_known_secrets(column, relation.documents) for column in relation.columns)
    return replace(relation, columns=(*columns, *relation.documents), documents=())


def _without_known_secrets(column: Column, documents: Sequence[Column]) -> Column:
    known = {key for each in documents if covers(column.name, each.name) for key in keys_of(each.name)[1:]}
    if not known:
        return column
    seen = column.seen or Seen(Shape.OTHER)
    keys = (seen.keys | known) - {key for key in known if secrecy_of(key) == "certain"}
    return replace(column, seen=replace(seen, keys=keys))


def is_secret_table(name: str) -> bool:
    """Whether a table is called after secrets."""
    return secrecy_of(name) == "certain"


def _by_known_form(column: Column) -> Suspicion | None:
    seen = column.seen
    if seen is None:
        return None
    if any(secrecy_of(key) == "certain" for key in seen.keys):
        return Suspicion("its values are JSON with secrets in it", is_certain=True)
    is_known = seen.shape in (Shape.CREDENTIALS, Shape.LINKS, Shape.ACCOUNTS)
    return Suspicion(f"its values {seen.shape}", is_certain=True) if is_known else None


def _by_name(column: Column, relation: Relation) -> Suspicion | None:
    certainty = secrecy_of(column.name)
    if certainty == "certain":
        return Suspicion(BY_NAME, is_certain=True)
    if _is_document(column) and column.seen is not None and column.seen.keys:
        return None
    if _holds_settings(column, relation):
        return Suspicion(BY_TABLE if is_text(column) else BY_NAME, is_certain=False)
    if _is_ordinary(column, relation):
        return None
    is_uuid_key = column.base == "uuid" and words(column.name)[-1:] == ("id",)
    if certainty and not is_uuid_key and not _is_postal(column, relation):
        return Suspicion(BY_NAME, is_certain=False)
    is_by_table = _secrecy_in(relation.name, column.name) or _is_of_login(column, relation)
    return Suspicion(BY_TABLE, is_certain=False) if is_by_table else None


def _by_randomness(column: Column, relation: Relation) -> Suspicion | None:
    """Text that looks random, where nothing else explains that: keys, references and checksums look so too."""
    if column.seen is None or column.seen.shape != Shape.RANDOM:
        return None
    names_something = {*words(column.name)[-1:]} & _IDENTIFIERS or is_link(column.name)
    if names_something or _is_key(column, relation) or is_category(column, relation.rows):
        return None
    return Suspicion(f"its values {Shape.RANDOM}", is_certain=False)


def _is_ordinary(column: Column, relation: Relation) -> bool:
    """Whether values that were seen speak against a name that may mean something else: categories, and sentences."""
    is_written = column.seen is not None and column.seen.shape == Shape.WORDS
    return is_written or (column.distinct is not None and is_category(column, relation.rows))


def _is_key(column: Column, relation: Relation) -> bool:
    return any((column.name,) == key for key in (relation.primary_key, *(each.columns for each in relation.references)))


def _is_document(column: Column) -> bool:
    return column.base.rpartition(".")[2] in _DOCUMENTS


def _holds_settings(column: Column, relation: Relation) -> bool:
    """Whether it is the value of each name in a table of settings, or a document of settings or of requests."""
    said = words(column.name)
    is_named_so = (
        _DOCUMENTS_OF_SETTINGS & {*map(singular, said)} if _is_document(column) else {*said[-1:]} & _TEXTS_OF_SETTINGS
    )
    if is_named_so or "".join(said) == "extradata":
        return not _is_ordinary(column, relation)
    is_value = (is_text(column) or _is_document(column)) and "".join(said).endswith(_VALUES)
    return is_value and any(singular(word).endswith(_SETTINGS) for word in words(relation.name))


@lru_cache(maxsize=20_000)
def _secrecy_in(table: str, column: str) -> Certainty | None:
    """What a column's name says of secrets together with its table's, where it says nothing by itself."""
    is_of_table = {*words(column)} <= _GENERIC or is_link(column)
    return secrecy_of(f"{singular('_'.join(words(table)))}_{column}") if is_of_table else None


def _is_of_login(column: Column, relation: Relation) -> bool:
    """Whether it tells which login a session is, or what that keeps."""
    if not (singular(words(relation.name)[-1]) if words(relation.name) else "").endswith(("session", "sess")):
        return False
    others = {word for each in relation.columns if each is not column for word in words(each.name)}
    is_text_key = is_text(column) and column.name not in {name for each in relation.references for name in each.columns}
    return bool(_LOGINS & others) and (is_text_key or _is_document(column)) and {*words(column.name)} <= _SESSION


def _is_postal(column: Column, relation: Relation) -> bool:
    """Whether a `pincode` is a place's: next to a city, it is India's postal code."""
    said = words(column.name)
    beside = {word for each in relation.columns for word in words(each.name)}
    return "".join(said) == "pincode" and bool(_POSTAL & beside)
