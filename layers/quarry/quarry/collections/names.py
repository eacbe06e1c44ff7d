"""Names of tables and columns: the nearest that exist, the meanings of their words in several languages (`data/names.toml` lists
them), and what a column is likely to hold by its name, its type and the planner's statistics. Names and values in TOML.
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
from typing import Literal

from quarry.collections.relations import Column, Relation, is_date_type
from quarry.language.word_forms import is_everyday, singular, stem
from quarry.language.writing import languages
from quarry.platform.contract import NAME_PATTERN
from quarry.spans.numbers import dimension_of, unit_named
from quarry.spans.places import AREAS

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
    name_in_words = re.sub(r"\W+", "_", "_".join(words(name))).strip("_")
    name_in_words = (name_in_words if name_in_words[:1].isalpha() else f"{otherwise}_{name_in_words}")[:48].rstrip("_")
    return name_in_words if re.fullmatch(NAME_PATTERN, name_in_words) else otherwise


def unique(name: str, existing: Container[str]) -> str:
    """The name, with a number appended where it is taken."""
    if name not in existing:
        return name
    return next(each for number in count(2) if (each := f"{name[:44]}_{number}") not in existing)


def nearest(name: str, names: Iterable[str]) -> str:
    """ "; did you mean …?" where one of the names is spelt much like this one, else ""."""
    by_folded = {each.casefold(): each for each in names}
    matches = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return f"; did you mean {by_folded[matches[0]]!r}?" if matches else ""


def nearest_language(name: str, configurations: Collection[str]) -> str:
    """Like `nearest`. For a code ("de", "de-AT") the configuration of its language, and `simple` where nothing is near."""
    code = re.split(r"[-_]", name.casefold())[0]
    meanings = [
        configuration
        for configuration, each in languages().items()
        if code in (each.code, *each.also) and configuration in configurations
    ]
    if meanings:
        return f"; did you mean {meanings[0]!r}?"
    return nearest(name, configurations) or "; use 'simple' for a language without one"


_HEAD_CHARACTERS_MIN = 4
_NAMES_MIN, _NAMES_SHARE = 2, 1 / 3
_LATIN_END = "\u0250"
"""The first character after the Latin letters that accents are part of."""


@cache
def _lists() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(files("quarry.collections").joinpath("data/names.toml").read_text(encoding="utf-8"))


@cache
def word_list(meaning: str) -> tuple[str, ...]:
    """The words with this meaning, language by language. Raises KeyError."""
    lists = [each[meaning] for each in _lists().values() if meaning in each]
    if not lists:
        raise KeyError(meaning)
    return tuple(" ".join(lists).split())


@cache
def word_set(meaning: str) -> frozenset[str]:
    """The words of `listed` as a set."""
    return frozenset(word_list(meaning))


@cache
def stem_set(*meanings: str) -> frozenset[str]:
    """The stems of the words with one of these meanings."""
    return frozenset(stem(word) for meaning in meanings for word in word_list(meaning))


def says(name: str, meaning: str) -> bool:
    """Whether any word of a name has this meaning."""
    return not word_set(meaning).isdisjoint(words(name))


def ends_in(name: str, meaning: str) -> bool:
    """Whether the last word of a name has this meaning."""
    return not word_set(meaning).isdisjoint(words(name)[-1:])


def means(name: str, *meanings: str) -> bool:
    """Whether any word of a name, in the singular, has one of these meanings."""
    terms = {singular(word) for word in words(name)}
    return any(terms & word_set(meaning) for meaning in meanings)


def joined(name: str) -> str:
    """The words of a name, run together."""
    return "".join(words(name))


def language_of(names: Sequence[str]) -> str | None:
    """The text search configuration for the language of the columns' names, if they are clearly not English."""
    terms = [{*words(name)} for name in names]
    vocabularies = {
        language: {*" ".join(each.values()).split()} for language, each in _lists().items() if "other" in each
    }
    counts = {language: sum(bool(each & vocabulary) for each in terms) for language, vocabulary in vocabularies.items()}
    best = max(counts, key=lambda language: counts[language])
    is_plain = (
        counts[best] >= max(_NAMES_MIN, len(terms) * _NAMES_SHARE) and [*counts.values()].count(counts[best]) == 1
    )
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
    letters: list[str] = []
    is_latin = True
    for sign in unicodedata.normalize("NFKD", name):
        if not unicodedata.combining(sign):
            is_latin = sign < _LATIN_END
        elif is_latin:
            continue
        letters.append(sign)
    return unicodedata.normalize("NFC", "".join(letters))


def full_name(name: str) -> str:
    """A name with its abbreviated words written out: `seat_count` for `seat_cnt`."""
    is_short = any(part in _lists()["short"] for part in re.split(r"[\W_]+", name.casefold()))
    return "_".join(words(name)) if is_short else name


def _parted(word: str) -> tuple[str, ...]:
    """The words of a name that is run together, as Postgres leaves one that was written without quotes."""
    for tail in word_list("tail"):
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


def comment_name(name: str) -> str:
    """A name for a comment, in quotes where it could end the line or be misread."""
    return name if re.fullmatch(r"\w[\w ().]*(?<! )", name) and name.isprintable() else as_toml(name)


def quoted_table(schema: str, name: str) -> str:
    """A table's name for SQL and declarations, in quotes where it needs them."""
    return ".".join(
        part if part.isascii() and part.isidentifier() and part.islower() else '"' + part.replace('"', '""') + '"'
        for part in (schema, name)
    )


FACET_VALUES_MAX = 50
"""The most values of a category. Enumerations are always categories."""

FEW_ROWS = 50
"""With fewer rows, statistics do not show whether values repeat; names decide too."""

PROSE_WIDTH = 60
"""Texts of at least this average width, in bytes, are sentences."""
LABEL_WIDTH = 20
"""Names of kinds of things are at most this wide on average, in bytes."""
SHORT_WIDTH = 12
"""The assumed width in bytes of a text before ANALYZE, unless its name promises prose."""

DatePurpose = Literal["happened", "created", "other", "later", "bookkeeping"]

_WHOLE_NUMBERS = ("smallint", "integer", "bigint")
EPOCH_LEAST, EPOCH_END = 315_532_800, 4_102_444_800
"""Seconds since 1970: the beginnings of 1980 and 2100."""
CODES_MIN = 2
"""A comment with fewer pairs explains no codes."""
_NAME_OF_CODE = r"[^\W\d_][\w -]{0,38}[^\W_]|[^\W\d_]"
_CODE_FIRST = re.compile(
    rf"(?<![\w.])(-?\d{{1,9}}|\w{{1,8}})['\"]?(?:\s*(?:=>|->|=|:|→)\s*|\s+[-–]\s+)['\"]?({_NAME_OF_CODE})(?![\w(])"
)
_NAME_FIRST = re.compile(rf"({_NAME_OF_CODE})\s*\((-?\d{{1,9}}|[A-Z]{{1,4}})\)")
_IN_UNIT = re.compile(r"\b(?:in|unit:?|measured in)\s+([A-Za-z]+)", re.IGNORECASE)
RECENT_LEAST = 1500
"""A column called by an unknown participle holds years if they begin at this one or later."""
YEAR_LEAST, YEAR_MOST = 1000, 2100
"""Numbers outside this range are no years."""


def is_writable(name: str) -> bool:
    """Whether a declaration can name the column: braces make a template, and outer spaces are stripped."""
    return name == name.strip() and not set(name) & set("{}")


def is_text(column: Column) -> bool:
    """Whether it holds characters for people."""
    return column.category == "S" and not column.is_array and column.base not in ('"char"', "name")


def is_prose(column: Column) -> bool:
    """Whether it holds sentences: by its name, unless it is measured to be short, or by its width."""
    is_named_so = says(column.name, "prose") and (column.width or PROSE_WIDTH) > LABEL_WIDTH
    return is_text(column) and (is_named_so or (column.width or 0) >= PROSE_WIDTH)


def is_machine_text(column: Column) -> bool:
    """Whether it holds text that nobody searches by words: identifiers, paths, addresses of pictures."""
    terms = words(column.name)
    return bool(terms) and bool({terms[-1], "".join(terms)} & word_set("machine") or is_address(column))


def is_contact(column: Column) -> bool:
    """Whether it holds contact details."""
    return is_text(column) and any(word.rstrip("0123456789") in word_set("contact") for word in words(column.name))


def is_numbered(column: Column) -> bool:
    """Whether it holds a number or code that identifies something, whatever its type."""
    terms = words(column.name)
    return ends_in(column.name, "numbered") or "".join(terms[-2:]) in word_set("numbered")


def are_people(name: str) -> bool:
    """Whether the rows of a table with this name are people."""
    return (words(name) or ("",))[-1] == "owner" or means("_".join(words(name)[-1:]), "people", "serving")


def is_role(column: Column) -> bool:
    """Whether it holds the occupation of a person."""
    return is_text(column) and joined(column.name) in word_set("occupation")


def is_address(column: Column) -> bool:
    """Whether it holds the address of a page."""
    terms = words(column.name)
    return is_text(column) and bool(word_set("address") & {*terms, "".join(terms), "".join(terms[-2:])})


def is_page(column: Column) -> bool:
    """Whether it holds the address of a page about the row, not of a picture."""
    return is_address(column) and not says(column.name, "picture")


def is_scope(column: Column) -> bool:
    """Whether it may identify the owner of a row, as the service knows its caller. A column of owners' names does not."""
    terms = words(column.name)
    return (
        bool(terms)
        and terms[0] in word_set("owner")
        and terms[1:] in ((), ("id",), ("uuid",), ("key",))
        and not names_owner(column)
    )


def names_owner(column: Column) -> bool:
    """Whether it holds the names of owners, as far as its values were seen."""
    return words(column.name)[1:] == () and is_text(column) and column.traits is not None and column.traits.are_names


def is_correspondent(column: Column, end: str) -> bool:
    """Whether it says who a message is for or from, its `end`, by its last word, or by the one before `id`."""
    terms = words(column.name)
    return not column.is_array and bool(word_set(end) & {*terms[-1:], *(terms[-2:-1] if is_numbered(column) else ())})


def is_place(column: Column, relation: Relation) -> bool:
    """Whether it names a place. A `state` does next to a city; otherwise it is a condition."""
    terms = [word for word in words(column.name) if word != "name"]
    if not terms or not is_text(column):
        return False
    others = {word for other in relation.columns for word in words(other.name)}
    return terms[-1] in AREAS | word_set("place") or (
        terms[-1] == "state" and bool(others & {"city", "zip", "zipcode", "postcode"})
    )


def is_category(column: Column, rows: int | None) -> bool:
    """Whether it holds few values, many times each. Before ANALYZE, and with few rows, its name decides."""
    if column.category == "E" and not column.is_array:
        return True
    if not _may_be_label(column):
        return False
    is_named_so = says(column.name, "category")
    count = _values(column, rows)
    if rows is None or count is None:
        return is_named_so
    return (is_named_so and rows < FEW_ROWS) or 1 < count <= min(FACET_VALUES_MAX, rows / 2)


def comes_again(column: Column, rows: int | None) -> bool:
    """Whether a table of few rows, too few to hold each value many times, has a short text more than once."""
    count = _values(column, rows)
    if rows is None or count is None or rows >= FEW_ROWS or text_width(column) > LABEL_WIDTH:
        return False
    return _may_be_label(column) and 1 < round(count) < rows


def _may_be_label(column: Column) -> bool:
    return is_text(column) and not (is_prose(column) or is_contact(column) or is_numbered(column))


def _values(column: Column, rows: int | None) -> float | None:
    """The estimated number of values; None before ANALYZE."""
    if column.distinct is None or column.distinct >= 0:
        return column.distinct
    return None if rows is None else -column.distinct * rows


def is_date(column: Column) -> bool:
    """Whether it holds days or moments, not times of day."""
    return not column.is_array and is_date_type(column.base)


def date_purpose(column: Column) -> DatePurpose:
    """What a date is about: the event itself, the writing of the row, what followed later, or its last change."""
    if any(word.startswith("last") for word in words(column.name)):
        return "bookkeeping"
    purposes: tuple[DatePurpose, ...] = ("bookkeeping", "later", "created", "happened")
    return next((each for each in purposes if says(column.name, each)), "other")


def text_width(column: Column) -> int:
    """The average width of a text in bytes, as measured, or else as its name suggests."""
    return column.width or (PROSE_WIDTH if is_prose(column) else SHORT_WIDTH)


def is_year(column: Column) -> bool:
    """Whether it holds years: by its name, or by a name that dates something together with its values."""
    if column.category != "N" or column.is_array:
        return False
    terms = words(column.name)
    if any(_is_year(word) for word in (*terms[-1:], *(terms[:1] if {*terms[1:]} <= word_set("dated_by_year") else ()))):
        return column.least is None or column.most is None or lies_in(column, YEAR_LEAST, YEAR_MOST)
    if len(terms) != 1 or not lies_in(column, YEAR_LEAST, YEAR_MOST):
        return False
    return terms[0] in word_set("dated_by_year") or (
        _is_participle(terms[0]) and lies_in(column, RECENT_LEAST, YEAR_MOST)
    )


def lies_in(column: Column, least: float, most: float) -> bool:
    """Whether the numbers of a column are known to lie in a range, both ends included."""
    return column.least is not None and column.most is not None and least <= column.least <= column.most <= most


def _is_participle(word: str) -> bool:
    return word.endswith("ed") and len(word) > len("shed")


def _is_year(word: str) -> bool:
    """Whether a word means a year. German words may end in it ("baujahr")."""
    return word in word_set("year") or (word.endswith("jahr") and not word.startswith("halb"))


def is_number(column: Column) -> bool:
    """Whether it holds quantities, not numbers that identify something."""
    if column.category != "N" or column.is_array or column.base.startswith(("oid", "reg")):
        return False
    return not is_numbered(column) and words(column.name)[-1:] != ("by",)


def is_amount(column: Column) -> bool:
    """Whether it holds amounts of money."""
    terms = words(column.name)
    is_named_so = says(column.name, "amount") and not ends_in(column.name, "no_amount") and not _counts_things(column)
    is_named_so = is_named_so or (len(terms) > 1 and ends_in(column.name, "always_hundredths"))
    is_named_so = is_named_so or (
        "rate" in terms and says(column.name, "rate_of") and {*terms} <= word_set("rate_of") | {"rate", "per"}
    )
    if "discount" in terms and not _is_called_amount(terms) and (column.most is None or is_share(column)):
        # a share of the price, or an amount
        return False
    return is_number(column) and (column.base == "money" or is_named_so)


def _is_called_amount(terms: Sequence[str]) -> bool:
    """Whether the name of a discount says that it is an amount: `discount_cents`, `discount_amount`."""
    return bool({*terms} & word_set("always_hundredths") or {*terms} & word_set("amount") - {"discount"})


def _counts_things(column: Column) -> bool:
    """Whether it counts several things, in whole numbers: `total_replies`."""
    last = words(column.name)[-1]
    return column.base in _WHOLE_NUMBERS and singular(last) != last


def in_hundredths(column: Column) -> bool:
    """Whether an amount of money is in hundredths of its currency, by its last word: `price_cents`, `priceCents`."""
    terms = words(column.name)
    return is_amount(column) and len(terms) > 1 and ends_in(column.name, "hundredths")


def is_truth(column: Column) -> bool:
    """Whether its texts say yes or no, as far as they were seen: Y and N."""
    return is_text(column) and column.traits is not None and column.traits.are_truths


def is_epoch(column: Column) -> bool:
    """Whether it holds seconds or milliseconds since 1970, by its name and as measured."""
    if column.base not in _WHOLE_NUMBERS or column.is_array:
        return False
    terms = words(column.name)
    is_dated = terms[-1:] in (("at",), ("on",)) or any(
        says(column.name, meaning) for meaning in ("epoch", "created", "happened", "bookkeeping", "later", "due")
    )
    return is_dated and any(lies_in(column, EPOCH_LEAST * unit, EPOCH_END * unit - 1) for unit in (1, 1000))


def codes_of(column: Column) -> dict[str, str]:
    """What the comment of a column says of its codes, by name: `{"idle": "0"}` for "0 = idle, 1 = running"."""
    is_code = column.base in _WHOLE_NUMBERS or (is_text(column) and (column.width or SHORT_WIDTH) <= SHORT_WIDTH)
    if column.is_array or not is_code:
        return {}
    comment = column.comment or ""
    for pairs in ([(name, code) for code, name in _CODE_FIRST.findall(comment)], _NAME_FIRST.findall(comment)):
        codes = {name.strip().lower(): code for name, code in pairs}
        are_of_type = is_text(column) or all(code.lstrip("-").isdecimal() for code in codes.values())
        if len(codes) >= CODES_MIN and len({*codes.values()}) == len(codes) and are_of_type:
            return codes
    return {}


def is_flag(column: Column) -> bool:
    """Whether it is a yes or no as a number: by its name, and by holding only 0 and 1."""
    terms = words(column.name)
    if column.category != "N" or column.is_array or not terms or not lies_in(column, 0, 1):
        return False
    return terms[0] in word_set("flag_first") or terms[-1] in word_set("flag") or _is_participle(terms[-1])


def is_share(column: Column) -> bool:
    """Whether it holds fractions from 0 to 1, as measured: a discount of 0.05."""
    return is_number(column) and lies_in(column, 0, 1)


def in_percent(column: Column) -> bool:
    """Whether it holds percentages, by its name and as measured: a `discount_pct` of 5."""
    is_named_so = words(column.name)[-1:] in (("percent",), ("percentage",))
    return is_number(column) and is_named_so and lies_in(column, 0, 100) and not lies_in(column, 0, 1)


def unit_of(column: Column) -> str | None:
    """The unit of a number according to its comment, where its name does not say it."""
    if not is_number(column) or unit_named([column.name]):
        return None
    terms = _IN_UNIT.search(column.comment or "")
    return terms[1].lower() if terms and dimension_of(terms[1].lower()) else None
