"""What values of a column look like: credentials, random tokens, card numbers, JSON or sentences."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from quarry.files.forms import ANY, BOOLEANS, NEARLY, cell_types, form_of
from quarry.spans.quantities import currency_code

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


@dataclass(frozen=True)
class ValueTraits:
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


def seen_of(values: Sequence[str]) -> ValueTraits | None:
    """What these values look like, each truncated to some hundred characters; None where there are none."""
    held = [stripped for value in values if (stripped := value.strip())]
    if not held:
        return None
    objects = [value for value in held if value[0] in "{["]
    keys = frozenset(key for value in objects for key in _JSON_TEXT.findall(value))
    figures = sum(bool(cell_types(value) - _NO_FIGURES) or form_of(value).sort != "other" for value in held)
    are_names = _share(_is_name, held) >= MOST
    terms = {value.lower() for value in held}
    return ValueTraits(
        _shape(held),
        keys,
        are_figures=figures >= NEARLY * len(held),
        are_names=are_names,
        are_truths=any(terms == {*pair} for pair in TRUTHS),
        are_currencies=_share(lambda value: currency_code(value.lower()) == value, held) >= MOST,
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
