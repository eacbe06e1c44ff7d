"""Companies, schools and teams in a query: those that the data knows anywhere, others where the words around them say so."""

from __future__ import annotations

from quarry.people.parsing.known import KnownNames
from quarry.people.parsing.phrases import Found
from quarry.people.parsing.places import AMBIGUOUS
from quarry.people.parsing.reading import BOUNDARIES, Reading
from quarry.people.parsing.terms import (
    FILLERS,
    NO_COMPANY,
    PLACE_IN_NAME,
    ROLES,
    domain_book,
    employment_book,
    seniority_book,
    skill_alias_book,
)

NAME_WORDS_MAX = 6
LOWER_CASE_NAME_WORDS_MAX = 3
LIKE_PHRASES_MAX = 12
SLIP_ANYWHERE_CHARACTERS_MIN = 8

_BEFORE_COMPANY = frozenset({"at", "@", "ex", "from", "joined", "left"})
_BEFORE_LOWER_CASE_COMPANY = frozenset({"at", "@", "ex"})
_WORKED = frozenset("work works worked working employed hired engaged interned consulted consulting".split())
_WHO_OF = frozenset(
    """
    employee employees alumni alumnus alumna graduate graduates founder founders cofounder ceo cto cfo head people staff folks
    """.split()
)
_TEAM_WORDS = frozenset("team department dept division desk squad".split())
_BEFORE_TEAM = frozenset("in on from within of".split())
_JOINTS = frozenset({"of", "the", "de", "do"})
_ARTICLES = frozenset({"the", "their", "its"})


def find_known_companies(reading: Reading) -> None:
    """Names in the data, wherever they stand."""
    for place in list(reading.free()):
        found = reading.names.companies.longest_at(reading.tokens, place) or _misspelt_at(reading, place)
        if found is None:
            continue
        one_plain_word = found.length == 1 and is_ordinary(reading, place)
        if not one_plain_word or _is_led_in(reading, place):
            reading.add("company", found.value, place, place + found.length)


def find_companies(reading: Reading) -> None:
    """What follows "at", "ex-", "worked for" and the like, and what is listed beside a company."""
    for place in list(reading.free()):
        start = _name_start(reading, place)
        if start is not None:
            _take_name(reading, start, place)
        elif (
            reading.key(place) in PLACE_IN_NAME
            and place + 1 < len(reading.tokens)
            and _place_starts(reading, place + 1)
        ):
            reading.add("company", _written(reading, place, place + 2), place, place + 2)
    for span in reading.of_kind("company"):
        _take_listed(reading, span.last)


def company_like_phrases(query: str) -> list[str]:
    """What may be a company's name misspelt or cut short, lower case: what stands where a name would, or looks like one."""
    reading = Reading(query, KnownNames())
    phrases: dict[str, None] = {}
    for place in range(len(reading.tokens)):
        start = _name_start(reading, place)
        if start is None and reading.is_name_like(place):
            start = place
        if start is None or is_ordinary(reading, start):
            continue
        longest = max(_capitalised_end(reading, start) - start, LOWER_CASE_NAME_WORDS_MAX)
        for end in range(start + 1, min(start + longest, len(reading.tokens)) + 1):
            if end - start > 1 and reading.starts_clause(end - 1):
                break
            if reading.key(end - 1) not in BOUNDARIES:
                phrases[_written(reading, start, end)] = None
    return list(phrases)[:LIKE_PHRASES_MAX]


def find_teams(reading: Reading) -> None:
    """ "In the risk team", "Tarang Pay's checkout team": the words before "team", back to what leads them in."""
    for place in list(reading.free()):
        if reading.key(place) not in _TEAM_WORDS:
            continue
        first = place
        while first > 0 and place - first < 3 and _may_be_in_team_name(reading, first - 1):
            first -= 1
        lead = first - 2 if reading.key(first - 1) in _ARTICLES else first - 1
        known = reading.names.teams.longest_at(reading.tokens, first) if first < place else None
        led_in = reading.key(lead) in _BEFORE_TEAM or reading.kind_at(lead) == "company"
        if first < place and (led_in or (known and known.length == place - first)):
            name = " ".join(token.text for token in reading.tokens[first:place]).lower()
            reading.add("team", known.value if known else name, first, place + 1)


def is_ordinary(reading: Reading, place: int) -> bool:
    """Whether the word means something else than a name: a role, a skill, a place, small talk."""
    word = reading.key(place)
    if word in FILLERS or word in ROLES or word in BOUNDARIES or word.isdigit():
        return True
    books = (
        domain_book(),
        employment_book(),
        seniority_book(),
        skill_alias_book(),
        reading.names.sub_domains,
        reading.names.domains,
    )
    return (
        any(book.longest_at(reading.tokens, place) for book in books)
        or reading.names.skill_at(reading.tokens, place) is not None
        or _place_starts(reading, place)
    )


def _misspelt_at(reading: Reading, place: int) -> Found | None:
    """A known name of several words with a slip in it: too much of a coincidence to be anything else."""
    for length in (4, 3, 2):
        words = [token.key for token in reading.tokens[place : place + length]]
        long_enough = len(words) == length and len("".join(words)) >= SLIP_ANYWHERE_CHARACTERS_MIN
        if long_enough and (near := reading.names.companies.near(words)):
            return Found(near, length)
    return None


def _name_start(reading: Reading, place: int) -> int | None:
    """Where a name begins, if the word at `place` leads in one."""
    start = place + 1
    if not _leads_in(reading, place):
        return None
    if reading.key(start) == "the":
        start += 1
    return (
        start
        if start < len(reading.tokens) and not reading.starts_clause(start) and reading.is_free(start, start + 1)
        else None
    )


def _leads_in(reading: Reading, place: int) -> bool:
    word, before = reading.key(place), reading.key(place - 1)
    return (
        word in _BEFORE_COMPANY or (word in ("for", "by") and before in _WORKED) or (word == "of" and before in _WHO_OF)
    )


def _is_led_in(reading: Reading, place: int) -> bool:
    return _leads_in(reading, place - 1) or (reading.key(place - 1) == "the" and _leads_in(reading, place - 2))


def _take_name(reading: Reading, start: int, cue: int) -> None:
    """A name that begins at `start`: a known one misspelt or cut short, or one that looks like a name."""
    for length in (3, 2, 1):
        words = [token.key for token in reading.tokens[start : start + length]]
        if len(words) == length and reading.is_free(start, start + length) and not is_ordinary(reading, start):
            near = reading.names.companies.near(words) or (length == 1 and reading.names.companies.short_form(words[0]))
            if near:
                reading.add("company", near, start, start + length)
                return
    end = start
    if reading.is_name_like(start):
        end = _capitalised_end(reading, start)
    elif _may_be_lower_case(reading, cue):
        most = 1 if reading.key(cue) == "ex" else LOWER_CASE_NAME_WORDS_MAX
        end = _lower_case_end(reading, start, most)
    if end > start and not _is_generic(reading, start, end):
        reading.add("company", _written(reading, start, end), start, end)


def _may_be_lower_case(reading: Reading, cue: int) -> bool:
    """Behind "from" anything may stand; behind "at" and "worked for" mostly names."""
    return not reading.has_case and (
        reading.key(cue) in _BEFORE_LOWER_CASE_COMPANY or reading.key(cue) in ("for", "by")
    )


def _capitalised_end(reading: Reading, start: int) -> int:
    """The end of a run of capitalised words; "of", "the" or "&" may stand between two."""
    end = start
    while end - start < NAME_WORDS_MAX:
        joints = 0
        while end > start and (reading.key(end + joints) in _JOINTS or reading.text_at(end + joints) == "&"):
            joints += 1
        if not _is_name_word(reading, start, end + joints):
            break
        end += joints + 1
    return end


def _is_name_word(reading: Reading, start: int, place: int) -> bool:
    if place >= len(reading.tokens) or not reading.is_free(place, place + 1):
        return False
    if place == start:
        return reading.tokens[place].is_capital
    if reading.starts_clause(place):
        return False
    if _place_starts(reading, place):
        return reading.key(start) in PLACE_IN_NAME or reading.key(place - 1) == "of"
    return reading.tokens[place].is_capital or reading.tokens[place].text[0].isdigit()


def _lower_case_end(reading: Reading, start: int, most: int) -> int:
    end = start
    while (
        end < len(reading.tokens)
        and end - start < most
        and reading.is_free(end, end + 1)
        and not (end > start and (reading.starts_clause(end) or _stops_lower_case(reading, start, end)))
        and not is_ordinary(reading, start)
    ):
        end += 1
    return end


def _stops_lower_case(reading: Reading, start: int, place: int) -> bool:
    if _place_starts(reading, place) and reading.key(start) in PLACE_IN_NAME:
        return False
    return is_ordinary(reading, place)


def _is_generic(reading: Reading, start: int, end: int) -> bool:
    """Whether the words name a kind of employer ("at early stage startups"), or no employer at all ("from Marketing")."""
    if not reading.is_name_like(start) and {reading.key(start), reading.key(end - 1)} & NO_COMPANY:
        return True
    meaningless = (
        reading.key(place) in NO_COMPANY or len(reading.key(place)) == 1 or is_ordinary(reading, place)
        for place in range(start, end)
    )
    return all(meaningless) or _place_starts(reading, start)


def _take_listed(reading: Reading, place: int) -> None:
    """Further names in a list that goes on with "or" or "and": "at Acme, Initech or Hooli"."""
    found: list[tuple[int, int]] = []
    closed = 0
    while place < len(reading.tokens):
        joined = reading.key(place) in ("or", "and")
        start = place + 1 if joined else place
        if start >= len(reading.tokens) or (not joined and reading.text[reading.tokens[place - 1].end] not in ",/"):
            break
        if (known := reading.span_at(start)) and known.kind == "company":
            end = known.last
        else:
            end = _listed_end(reading, start, reading.key(start - 1) == "or")
            if end == start or _is_generic(reading, start, end):
                break
            found.append((start, end))
        closed = len(found) if joined else closed
        place = end
    for start, end in found[:closed]:
        reading.add("company", _written(reading, start, end), start, end)


def _listed_end(reading: Reading, start: int, is_alternative: bool) -> int:
    """Behind "or", a word in lower case is a name like the one before it."""
    if reading.is_name_like(start):
        return _capitalised_end(reading, start)
    return _lower_case_end(reading, start, 1) if is_alternative and not reading.has_case else start


def _written(reading: Reading, start: int, end: int) -> str:
    text = reading.text[reading.tokens[start].start : reading.tokens[end - 1].end].lower().replace("’", "'")
    return " ".join(text.split()).removesuffix("'s")


def _place_starts(reading: Reading, place: int) -> bool:
    found = reading.names.place_at(reading.tokens, place)
    return found is not None and not (found.length == 1 and reading.key(place) in AMBIGUOUS)


def _may_be_in_team_name(reading: Reading, place: int) -> bool:
    key = reading.key(place)
    return (
        reading.is_free(place, place + 1)
        and not reading.starts_clause(place + 1)
        and (key not in BOUNDARIES or key == "and")
        and not key.isdigit()
        and key not in ("person", "member", "strong", "small", "large", "big")
    )
