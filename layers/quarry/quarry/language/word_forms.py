"""Words of one family: a field and who works in it ("economist", "economics", "economy"; "engineers", "engineering")."""

from __future__ import annotations

from functools import lru_cache

from quarry.language.demonyms import place_of_demonym
from quarry.language.tokens import unique

WORD_CHARACTERS_MAX = 40
ROOT_CHARACTERS_MIN = 3
FORM_CHARACTERS_MIN = 3

_WORKERS: tuple[tuple[str, str], ...] = (
    # the longest endings first, of which one alone holds: "-ologist" is not "-ist"
    ("mathematician", "mathematics maths math"),
    ("ologist", "ology ological"),
    ("ographer", "ography ographic"),
    ("onomist", "onomics onomy onomic"),
    ("entist", "ence entistry entific"),
    ("iatrist", "iatry iatric"),
    ("rapist", "rapy rapeutic"),
    ("acist", "acy"),
    ("icist", "ics ical"),
    ("emist", "emistry emical"),
    ("ician", "ic ics ical icine"),
    ("arian", "ary"),
    ("orian", "ory orical"),
    ("eer", "eering"),
    ("ator", "ation ating ate"),
    ("estor", "estment esting est"),
    ("ger", "gement ging ge"),
    ("oper", "opment oping op"),
    ("ctor", "ction cting ct"),
    ("wyer", "w"),
    ("tter", "tting tt t"),
    ("mmer", "mming m"),
    ("nner", "nning n"),
    ("iter", "iting ite"),
    ("ultant", "ulting ultancy ult"),
    ("untant", "unting untancy"),
    ("ist", "ism istry ic y"),
    ("ian", "y ia"),
    ("er", "ing e y"),
    ("or", "ion ing"),
    ("ant", "ance ancy ing"),
)
"""How words for people end, and with the same root those for what they do."""
_WHOLE = ("er", "ist", "ian")
"""Endings that are put to a whole word: "designer", "artist", "comedian"."""
_BARE_CHARACTERS_MIN = 3


@lru_cache(maxsize=4096)
def word_forms(word: str) -> tuple[str, ...]:
    """Candidates for other words of the family of `word` (as it is compared), to be looked up: most of them are no words.

    A demonym has its place's name first. Without `word` itself; none for what is no plain word.
    """
    if not word.isalpha() or not word.islower() or len(word) > WORD_CHARACTERS_MAX:
        return ()
    singular = word.removesuffix("s") if not word.endswith(("ss", "ics")) else word
    place = place_of_demonym(word)
    forms = [
        place or "",
        *_singulars(word),
        *_of_worker(singular),
        *_of_field(word),
        *(_of_field(singular) if singular != word else ()),
    ]
    return unique(form for form in forms if form not in (word, singular) and len(form) >= FORM_CHARACTERS_MIN)


def fields_of_worker(word: str) -> tuple[str, ...]:
    """Candidates for what somebody does who is called `word` ("chemists": "chemistry"); most of them are no words."""
    singular = word.removesuffix("s") if not word.endswith(("ss", "ics")) else word
    return unique(_of_worker(singular)) if singular.isalpha() and len(singular) <= WORD_CHARACTERS_MAX else ()


def _singulars(word: str) -> list[str]:
    """Of plurals that no stemmer takes for that of their singular: "midwives", "salesmen", "buses", "analyses"."""
    if word.endswith("ves"):
        return [f"{word[:-3]}f", f"{word[:-3]}fe"]
    if word.endswith("ses"):
        return [word[:-2], f"{word[:-2]}is"]
    return [f"{word[:-3]}man"] if word.endswith("men") else []


def _of_worker(word: str) -> list[str]:
    forms: list[str] = []
    for ending, fields in _WORKERS:
        root = word.removesuffix(ending)
        if root != word and (len(root) >= ROOT_CHARACTERS_MIN or len(ending) > ROOT_CHARACTERS_MIN):
            forms += [root + field for field in fields.split()]
            break
    bare = (word.removesuffix(ending) for ending in _WHOLE if word.endswith(ending))
    return [*forms, *(root for root in bare if len(root) >= _BARE_CHARACTERS_MIN)]


def _of_field(word: str) -> list[str]:
    """The workers whose rule leads to this word."""
    forms = [
        word.removesuffix(field) + ending
        for ending, fields in _WORKERS
        for field in fields.split()
        if word.endswith(field) and len(word) - len(field) + len(ending) > len(ending)
    ]
    return [form for form in (*forms, *(word + ending for ending in _WHOLE)) if word in _of_worker(form)]
