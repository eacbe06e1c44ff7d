"""Names of tables and the nearest that exist; and the meanings of words in names of columns and tables, in several languages:
`data/names.toml` lists them. Values and names as TOML writes them.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
import unicodedata
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import count

from quarry.language.word_forms import is_everyday, singular, stem
from quarry.language.writing import languages
from quarry.platform.contract import NAME_PATTERN

_IDENTIFIER = re.compile(r'"((?:[^"]|"")+)"|((?:[A-Za-z_]|[^\x00-\x7f])(?:[A-Za-z0-9_$]|[^\x00-\x7f])*)')


def table_name(name: str) -> tuple[str, str]:
    """Schema and name of a table, read as in SQL: `sales."Order Details"`. The default schema is `public`.

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
            f"{name!r} is not a table name: write schema.table, with quotes around names that are not plain lower case"
        )
    return (parts[0], parts[1]) if len(parts) == 2 else ("public", parts[0])


def slug(name: str, otherwise: str) -> str:
    """A valid name for a collection or facet. `otherwise` prefixes a name that does not begin with a letter."""
    if name.isascii() and re.fullmatch(NAME_PATTERN, name):
        return name
    called = re.sub(r"\W+", "_", "_".join(words(name))).strip("_")
    called = (called if called[:1].isalpha() else f"{otherwise}_{called}")[:48].rstrip("_")
    return called if re.fullmatch(NAME_PATTERN, called) else otherwise


def unique(name: str, taken: Container[str]) -> str:
    """The name, with a number appended where it is taken."""
    if name not in taken:
        return name
    return next(each for number in count(2) if (each := f"{name[:44]}_{number}") not in taken)


def nearest(name: str, names: Iterable[str]) -> str:
    """ "; did you mean …?" where one of the names is spelt much like this one, else ""."""
    by_folded = {known.casefold(): known for known in names}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return f"; did you mean {by_folded[found[0]]!r}?" if found else ""


def nearest_language(name: str, configurations: Collection[str]) -> str:
    """Like `nearest`. For a code ("de", "de-AT") the configuration of its language, and `simple` where nothing is near."""
    code = re.split(r"[-_]", name.casefold())[0]
    meanings = [
        known for known, each in languages().items() if code in (each.code, *each.also) and known in configurations
    ]
    if meanings:
        return f"; did you mean {meanings[0]!r}?"
    return nearest(name, configurations) or "; use 'simple' for a language without one"


_HEAD_CHARACTERS_MIN = 4
_NAMED_MIN, _NAMED_SHARE = 2, 1 / 3
_LATIN_END = "\u0250"
"""The first character after the Latin letters that accents are part of."""


@cache
def _lists() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(files("quarry.collections").joinpath("data/names.toml").read_text(encoding="utf-8"))


@cache
def listed(meaning: str) -> tuple[str, ...]:
    """The words with this meaning, language by language. Raises KeyError."""
    found = [each[meaning] for each in _lists().values() if meaning in each]
    if not found:
        raise KeyError(meaning)
    return tuple(" ".join(found).split())


@cache
def known(meaning: str) -> frozenset[str]:
    """The words of `listed` as a set."""
    return frozenset(listed(meaning))


@cache
def known_stems(*meanings: str) -> frozenset[str]:
    """The stems of the words with one of these meanings."""
    return frozenset(stem(word) for meaning in meanings for word in listed(meaning))


def says(name: str, meaning: str) -> bool:
    """Whether any word of a name has this meaning."""
    return not known(meaning).isdisjoint(words(name))


def ends_in(name: str, meaning: str) -> bool:
    """Whether the last word of a name has this meaning."""
    return not known(meaning).isdisjoint(words(name)[-1:])


def is_called(name: str, *meanings: str) -> bool:
    """Whether any word of a name, in the singular, has one of these meanings."""
    terms = {singular(word) for word in words(name)}
    return any(terms & known(meaning) for meaning in meanings)


def joined(name: str) -> str:
    """The words of a name, run together."""
    return "".join(words(name))


def language_of(names: Sequence[str]) -> str | None:
    """The text search configuration for the language of the columns' names, if they are clearly not English."""
    terms = [{*words(name)} for name in names]
    own = {language: {*" ".join(each.values()).split()} for language, each in _lists().items() if "other" in each}
    found = {language: sum(bool(each & spoken) for each in terms) for language, spoken in own.items()}
    best = max(found, key=lambda language: found[language])
    is_plain = found[best] >= max(_NAMED_MIN, len(terms) * _NAMED_SHARE) and [*found.values()].count(found[best]) == 1
    return best if is_plain else None


@lru_cache(maxsize=10_000)
def words(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case and without accents: of `orderDate`, `order_date` or `orderdate`."""
    plain = _without_accents(name)
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", plain)
    terms = (part for word in re.split(r"[\W_]+", parted.casefold()) if word for part in _parted(word))
    return tuple(full for part in terms for full in _lists()["short"].get(part, part).split())


def _without_accents(name: str) -> str:
    """A name with Latin letters bare. In other scripts, marks make other letters."""
    kept: list[str] = []
    is_latin = True
    for sign in unicodedata.normalize("NFKD", name):
        if not unicodedata.combining(sign):
            is_latin = sign < _LATIN_END
        elif is_latin:
            continue
        kept.append(sign)
    return unicodedata.normalize("NFC", "".join(kept))


def written_out(name: str) -> str:
    """A name with its abbreviated words written out: `seat_count` for `seat_cnt`."""
    is_short = any(part in _lists()["short"] for part in re.split(r"[\W_]+", name.casefold()))
    return "_".join(words(name)) if is_short else name


def _parted(word: str) -> tuple[str, ...]:
    """The words of a name that is run together, as Postgres leaves one that was written without quotes."""
    for tail in listed("tail"):
        head = word.removesuffix(tail)
        if len(word) > len(head) >= _HEAD_CHARACTERS_MIN and not is_everyday(word):
            return (*_parted(head), tail)
    return (word,)


def as_toml(value: object) -> str:
    """A text, a list of texts or a table of texts, in one line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{toml_key(name)} = {as_toml(each)}' for name, each in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    text = str(value)
    if '"' in text and "'" not in text and "\\" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A key, in quotes where it needs them."""
    return name if name.isascii() and name.replace("_", "a").replace("-", "a").isalnum() else as_toml(name)


def shown_name(name: str) -> str:
    """A name for a comment, in quotes where it could end the line or be misread."""
    return name if re.fullmatch(r"\w[\w ().]*(?<! )", name) and name.isprintable() else as_toml(name)


def written_table(schema: str, name: str) -> str:
    """A table's name for SQL and declarations, in quotes where it needs them."""
    return ".".join(
        part if part.isascii() and part.isidentifier() and part.islower() else '"' + part.replace('"', '""') + '"'
        for part in (schema, name)
    )
