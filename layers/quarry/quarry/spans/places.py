"""The places that a text names. A log-linear model decides whether a name is meant as a place. Its weights were fitted to texts
with marked places (tools/fit/places).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple, get_args

from quarry.language.log_linear import Weights, chances_of, stored_weights
from quarry.language.word_forms import STOP_WORDS, Token, commonness, says_something_by_case
from quarry.spans.gazetteer import Entry, gazetteer, place_of
from quarry.spans.mention import Mention

Sense = Literal["place", "latent", "language", "none"]
"""What a name in the gazetteer is meant as. latent: a place only if something else confirms it. language: "speaks Dutch"."""
SENSES: tuple[Sense, ...] = get_args(Sense)

NAME_WORDS_MAX = 6
GAP_CHARACTERS_MAX = 10
"""Most characters between the names of a list: ", and the "."""
LENGTH_MAX = 3
"""Longer names share one feature."""
WEIGHTS_FILE = "places.json.zz"

AREAS = frozenset("city town municipality village country region province county continent locality".split())
"""Names of columns that hold places."""


class NamedPlace(NamedTuple):
    """The words `first` to `last` (exclusive) are the name of a place. `lead` is the word before it or before its list, and
    `link` is what connects it with the previous name.
    """

    first: int
    last: int
    entry: Entry
    within: Entry | None = None
    lead: str = ""
    link: str = ""


@cache
def learned() -> Weights:
    """The weights in the package."""
    return stored_weights("quarry.spans", WEIGHTS_FILE)


def find_places(text: str, tokens: Sequence[Token]) -> list[Mention]:
    """The places that a text names, in order; the longest of overlapping names.

    A place is latent if its name may also be a word or a person's name, or if the place is little known, unless nearby words
    show that it is meant. A demonym names its place.
    """
    mentions: list[Mention] = []
    for found, sense in senses_of(text, tokens, learned()):
        if sense in ("place", "latent"):
            where = place_of(found.entry)
            if found.within:
                where = where._replace(within=found.within.name)
            start, end = tokens[found.first].start, _end(text, tokens[found.last - 1])
            mentions.append(Mention(where, start, end, is_latent=sense == "latent"))
    return mentions


def senses_of(text: str, tokens: Sequence[Token], weights: Weights) -> Iterator[tuple[NamedPlace, Sense]]:
    """The place names in a text, each with its likeliest sense."""
    by_case = says_something_by_case(tokens)
    before: Sense = "none"
    for found in candidates(text, tokens):
        chances = chances_of(evidence_of(tokens, found, before, by_case=by_case), SENSES, weights)
        before = max(SENSES, key=lambda sense: chances[sense])
        yield found, before


def candidates(text: str, tokens: Sequence[Token]) -> Iterator[NamedPlace]:
    """The place names in a text, meant as places or not, in order and without overlaps."""
    before: NamedPlace | None = None
    place = 0
    while place < len(tokens):
        found = _longest(tokens, place)
        if found is None:
            place += 1
            continue
        lead = _key_before(tokens, place)
        gap = text[tokens[before.last - 1].end : tokens[place].start] if before else ""
        if before and len(gap) <= GAP_CHARACTERS_MAX:
            found = found._replace(link=" ".join(gap.lower().split()) or "-", lead=before.lead)
        before = _with_home(text, tokens, found._replace(lead=found.lead or lead))
        yield before
        place = before.last


def evidence_of(tokens: Sequence[Token], found: NamedPlace, before: Sense, *, by_case: bool) -> list[str]:
    """The evidence for the sense of a name: what it names, its spelling, and the words around it. `before` is the sense of the
    previous name; `by_case`: capitals are significant in this text.
    """
    inside = tokens[found.first : found.last]
    name = " ".join(each.key for each in inside)
    kind = _kind(found.entry)
    what = f"{kind}{found.entry.thousands.bit_length()}{found.entry.is_usual:d}{'>' if found.within else ''}"
    case = "A" if inside[0].is_capital else "a"
    case = "U" if len(inside[0].text) > 1 and inside[0].text.isupper() else case
    case += f"{by_case:d}{'' if found.first else '^'}"
    common = "".join(commonness(each.key) for each in inside[:LENGTH_MAX])
    near, far = _key_before(tokens, found.first), _key_behind(tokens, found.last)
    beside = f"{_look(near, tokens[found.first - 1 : found.first])}|{_look(far, tokens[found.last : found.last + 1])}"
    link = f"{before} {found.link}" if found.link else ""
    form = f"{kind} {case}"
    second = _look(_key_before(tokens, found.first - 1), tokens[max(0, found.first - 2) : found.first - 1])
    return [
        "",
        *_each("what:", what, case, common),
        *_each(f"form:{form} ", common, what),
        *_each(f"within:{found.within is not None:d} ", "", kind, case),
        f"all:{what} {case} {common}",
        *_each(f"w:{name} ", "", case, f"b:{near}", f"a:{far}"),
        *_each(f"b:{near} ", "", kind, case, common, form, f"{form} {common}", f"{what} {case}", f"a:{_look(far)}"),
        *_each(f"a:{far} ", "", kind, case, common, form),
        *_each(f"lead:{found.lead} ", "", kind, form, link),
        *_each(f"list:{link} ", "", kind, case, common),
        *_each(f"beside:{beside} ", "", kind, case, form, f"{case} {common}"),
        *_each(f"far:{second} {near} ", "", kind, case, form),
        f"b2:{_key_before(tokens, found.first - 1)} {near}",
        f"a2:{far} {_key_behind(tokens, found.last + 1)}",
    ]


def _each(start: str, *ends: str) -> Iterator[str]:
    return (start + end for end in ends)


def _kind(entry: Entry) -> str:
    return "demonym" if entry.is_demonym else "state" if entry.state and entry.kind == "region" else entry.kind


def _look(key: str, tokens: Sequence[Token] = ()) -> str:
    """The appearance of a neighbour: punctuation as it is; for a word, how common it is and whether it is capitalised."""
    if not key[:1].isalnum():
        return key
    return commonness(key) + ("A" if tokens and tokens[0].is_capital else "")


def _key_before(tokens: Sequence[Token], place: int) -> str:
    """The word before a position in the text; a comma if a clause ends there, and empty at the start."""
    return "" if place <= 0 else "," if tokens[place].ends_clause else tokens[place - 1].key


def _key_behind(tokens: Sequence[Token], place: int) -> str:
    return "" if place >= len(tokens) else "," if tokens[place].ends_clause else tokens[place].key


def _longest(tokens: Sequence[Token], first: int) -> NamedPlace | None:
    """The place with the longest name that starts with the word at `first`."""
    best: NamedPlace | None = None
    name = ""
    named = gazetteer().named
    for last in range(first, min(first + NAME_WORDS_MAX, len(tokens))):
        if last > first and tokens[last].ends_clause:
            break
        name = f"{name} {tokens[last].key}" if name else tokens[last].key
        entries = named(name) or tuple(entry for entry in named(_singular(name)) if entry.is_demonym)
        if entries:
            best = NamedPlace(first, last + 1, entries[0])
            if last + 1 < len(tokens) and tokens[last + 1].key in ("state", "province"):
                best = best._replace(
                    entry=next((each for each in entries if each.kind != "city" and each.state), entries[0])
                )
    return best


def _singular(name: str) -> str:
    return name.removesuffix("s") if len(name) > 4 else ""


def _with_home(text: str, tokens: Sequence[Token], found: NamedPlace) -> NamedPlace:
    """A city with the state or country that follows it, once or twice: "Portland, OR, USA"."""
    if found.entry.kind != "city":
        return found
    name = " ".join(token.key for token in tokens[found.first : found.last])
    homes: Collection[str] = gazetteer().homes(name)
    for _ in range(2):
        last = found.last
        if last >= len(tokens):
            break
        gap = text[tokens[last - 1].end : tokens[last].start]
        home = _home(tokens, last, is_behind_comma=gap.strip() in (",", ".,"))
        if home is None or not (found.within or _is_home(home.entry, homes)):
            break
        found = found._replace(last=home.last, within=found.within or home.entry)
    return found


def _is_home(entry: Entry, homes: Collection[str]) -> bool:
    """Whether cities of this name are in a state or country. Outside the United States, only countries are known."""
    return (entry.state in homes) if entry.country == "US" and entry.state else entry.country in homes


def _home(tokens: Sequence[Token], first: int, *, is_behind_comma: bool) -> NamedPlace | None:
    """The country or state that starts at a word. An abbreviation in capitals needs no comma; in lower case, one that is also a
    word ("Cambridge, in 1950") does not count.
    """
    token = tokens[first]
    abbreviated = gazetteer().by_abbreviation.get(token.key)
    is_written_so = token.text.isupper() or (is_behind_comma and token.key not in STOP_WORDS)
    if abbreviated and len(token.text) <= 3 and is_written_so:
        return NamedPlace(first, first + 1, abbreviated)
    if not is_behind_comma:
        return None
    whole = _longest(tokens, first)
    if whole is None or whole.entry.is_demonym:
        return None
    name = " ".join(token.key for token in tokens[first : whole.last])
    entries = gazetteer().named(name)
    entry = next((each for each in entries if each.kind == "country" or (each.state and each.kind == "region")), None)
    return whole._replace(entry=entry) if entry else None


def _end(text: str, token: Token) -> int:
    """The end of a word, including the last dot of "U.S."."""
    return token.end + ("." in token.text and text.startswith(".", token.end))
