"""Where: the countries, regions, states and cities that a text names, and what it says of them ("in", "-based", ", Canada")."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from quarry.language.tokens import Token, says_something_by_case, stem
from quarry.language.word_forms import is_everyday
from quarry.platform.text import STOP_WORDS
from quarry.spans.gazetteer import Entry, gazetteer, place_of
from quarry.spans.mention import Mention

NAME_WORDS_MAX = 6
KNOWN_CITY_THOUSANDS = 1000
"""A city of so many thousands of people is meant by its name alone."""
LED_CITY_THOUSANDS = 200
"""A smaller one is not even where "in" leads it, in a text where case says nothing."""

AREAS = frozenset("city town municipality village country region province county continent locality".split())
"""What a column is called that names places."""

_LEADS = frozenset(
    "in from near around across within outside inside throughout based located headquartered into visiting".split()
)
_LIST_GAP = re.compile(r"\s*(?:[,/&+]|,?\s*(?:\band\b|\bor\b|\bnor\b))\s*(?:the\s+)?", re.IGNORECASE)
_SHORT = frozenset("us la sf dc kl hk".split())
"""Abbreviations that are words or others' too in lower case."""
_OF_LANGUAGES = frozenset("speak speaker spoke learn teach fluent languag".split())
"""Stems of the words on either side of what people of a place are called by which that names their language."""
_BEFORE_LANGUAGES = frozenset("in into to from with without know knows knowing understand understands".split())


@dataclass(frozen=True)
class _Found:
    """A place that the words `first` to `last` (not included) name."""

    first: int
    last: int
    entry: Entry
    within: Entry | None = None
    is_supported: bool = False


def find_places(text: str, tokens: Sequence[Token]) -> list[Mention]:
    """The places that a text names, in order and apart; of overlapping names the longest.

    A place whose name is a word or a person's too, or that few know, is latent unless "in" or the like leads it, a country or
    state follows it, or it stands in a list with one that is not. What people and things of a place are called names the place.
    """
    by_case = says_something_by_case(tokens)
    mentions: list[Mention] = []
    before: _Found | None = None
    language: _Found | None = None
    place = 0
    while place < len(tokens):
        found = _longest(tokens, place)
        if found is None:
            place += 1
            continue
        found = _with_home(text, tokens, found)
        led = _is_led(tokens, found.first) or _is_listed(text, tokens, before, found)
        based = _key(tokens, found.last) in ("based", "headquartered") and not tokens[found.last].ends_clause
        found = replace(found, is_supported=led or based or found.within is not None)
        place = found.last
        if _is_language(tokens, found, is_listed=_is_listed(text, tokens, language, found)):
            language = replace(found, is_supported=True)
            continue
        if _is_no_place(tokens, found):
            continue
        before = found
        where = place_of(found.entry)
        if found.within:
            where = replace(where, within=found.within.name)
        start, end = tokens[found.first].start, _end(text, tokens[found.last - 1])
        mentions.append(Mention(where, start, end, is_latent=_is_latent(tokens, found, by_case=by_case)))
    return mentions


def _longest(tokens: Sequence[Token], first: int) -> _Found | None:
    """The place with the longest name that begins with the word at `first`."""
    best: _Found | None = None
    name = ""
    by_name = gazetteer().by_name
    for last in range(first, min(first + NAME_WORDS_MAX, len(tokens))):
        if last > first and tokens[last].ends_clause:
            break
        name = f"{name} {tokens[last].key}" if name else tokens[last].key
        singular = name.removesuffix("s") if len(name) > 4 else ""
        entries = by_name.get(name) or tuple(entry for entry in by_name.get(singular, ()) if entry.is_demonym)
        if entries:
            best = _Found(first, last + 1, entries[0])
            if _key(tokens, last + 1) in ("state", "province"):
                best = replace(
                    best, entry=next((each for each in entries if each.kind != "city" and each.state), entries[0])
                )
    return best


def _with_home(text: str, tokens: Sequence[Token], found: _Found) -> _Found:
    """A city with the state or country that follows it, once or twice: "Portland, OR, USA"."""
    if found.entry.kind != "city":
        return found
    name = " ".join(token.key for token in tokens[found.first : found.last])
    homes: Collection[str] = gazetteer().homes.get(name, frozenset())
    for _ in range(2):
        last = found.last
        if last >= len(tokens):
            break
        gap = text[tokens[last - 1].end : tokens[last].start]
        home = _home(tokens, last, is_behind_comma=re.fullmatch(r"\.?,\s{0,2}", gap) is not None)
        if home is None or not (found.within or _is_home(home.entry, homes)):
            break
        found = replace(found, last=home.last, within=found.within or home.entry)
    return found


def _is_home(entry: Entry, homes: Collection[str]) -> bool:
    """Whether cities of a name lie in a state or country; of other states than the United States' only the country is known."""
    return (entry.state in homes) if entry.country == "US" and entry.state else entry.country in homes


def _home(tokens: Sequence[Token], first: int, *, is_behind_comma: bool) -> _Found | None:
    """The country or state that begins at a word. An abbreviation in capitals needs no comma; one that is also a word of the
    language ("Cambridge, in 1950") is none in small letters.
    """
    token = tokens[first]
    abbreviated = gazetteer().by_abbreviation.get(token.key)
    is_written_so = token.text.isupper() or (is_behind_comma and token.key not in STOP_WORDS)
    if abbreviated and len(token.text) <= 3 and is_written_so:
        return _Found(first, first + 1, abbreviated)
    if not is_behind_comma:
        return None
    whole = _longest(tokens, first)
    if whole is None or whole.entry.is_demonym:
        return None
    name = " ".join(token.key for token in tokens[first : whole.last])
    entries = gazetteer().by_name.get(name, ())
    entry = next((each for each in entries if each.kind == "country" or (each.state and each.kind == "region")), None)
    return replace(whole, entry=entry) if entry else None


def _is_led(tokens: Sequence[Token], first: int) -> bool:
    place = first - 1
    if tokens[first].ends_clause or place < 0:
        return False
    if tokens[place].key == "the" and not tokens[place].ends_clause:
        place -= 1
    return place >= 0 and tokens[place].key in _LEADS


def _is_listed(text: str, tokens: Sequence[Token], before: _Found | None, found: _Found) -> bool:
    """Whether it goes on with a place that is meant: "in Berlin, Paris or Reading"."""
    if before is None or not before.is_supported:
        return False
    return bool(_LIST_GAP.fullmatch(text[tokens[before.last - 1].end : tokens[found.first].start]))


def _is_no_place(tokens: Sequence[Token], found: _Found) -> bool:
    """Whether a word is one of the language, or letters that only capitals or a lead make an abbreviation of a place."""
    if found.last - found.first > 1:
        return False
    token = tokens[found.first]
    if token.key in _SHORT:
        follows_the = found.first > 0 and tokens[found.first - 1].key == "the"
        return not (
            token.text.isupper() or _key(tokens, found.first - 1) == "in" or (follows_the and token.key == "us")
        )
    # "a wedding dress": of towns in lower case only those that many know may be meant
    entry = found.entry
    is_large = entry.is_usual and entry.thousands >= LED_CITY_THOUSANDS and not is_everyday(token.key)
    is_known = entry.kind != "city" or is_large
    return token.key in STOP_WORDS or not (is_known or found.is_supported or token.is_capital)


def _is_language(tokens: Sequence[Token], found: _Found, *, is_listed: bool) -> bool:
    """Whether what people of a place are called names what they speak: "speaks Dutch", "books in Dutch", "without Dutch", but
    "in Dutch towns". `is_listed`: it stands in a list with such a name.
    """
    if not found.entry.is_demonym:
        return False
    before, behind = _key(tokens, found.first - 1), _key(tokens, found.last)
    if not _OF_LANGUAGES.isdisjoint(map(stem, (before, behind))):
        return True
    describes = bool(behind) and behind not in STOP_WORDS and not tokens[found.last].ends_clause
    return (is_listed or before in _BEFORE_LANGUAGES) and not describes


def _is_latent(tokens: Sequence[Token], found: _Found, *, by_case: bool) -> bool:
    first, entry = tokens[found.first], found.entry
    if entry.is_demonym:
        return False
    is_one_word, is_city = found.last - found.first == 1, entry.kind == "city"
    if is_one_word and is_city and is_everyday(first.key):
        return not (found.is_supported and first.is_capital)
    if found.is_supported:
        is_small = is_city and entry.thousands < LED_CITY_THOUSANDS and not found.within
        return is_one_word and is_small and not first.is_capital
    if _is_in_a_name(tokens, found) and by_case:
        return True
    return is_city and (not entry.is_usual or entry.thousands < KNOWN_CITY_THOUSANDS)


def _is_in_a_name(tokens: Sequence[Token], found: _Found) -> bool:
    """Whether words beside it make a longer name of it: "Jack London", "Bank of Ireland", "Paris Hilton"."""
    behind = tokens[found.last] if found.last < len(tokens) else None
    if behind and behind.is_capital and not behind.ends_clause:
        return True
    if found.first == 0 or tokens[found.first].ends_clause:
        return False
    before = tokens[found.first - 1]
    if before.key == "of" and found.first > 1:
        return tokens[found.first - 2].is_capital
    return before.is_capital and found.first > 1


def _key(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].key if 0 <= place < len(tokens) else ""


def _end(text: str, token: Token) -> int:
    """The end of a word, with the last dot of "U.S."."""
    return token.end + ("." in token.text and text.startswith(".", token.end))
