"""Other forms of words: plurals, inflections, demonyms, and words of one family ("economist", "economics", "economy")."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

from snowballstemmer.french_stemmer import FrenchStemmer
from snowballstemmer.german_stemmer import GermanStemmer

from quarry.language.tokens import keys, stem, unique
from quarry.platform.text import STOP_WORDS

_TABLE = Path(__file__).parent / "data" / "demonyms.tsv"


def place_of_demonym(words: str) -> str | None:
    """The usual name of the place, in lower case; None if `words` are not a demonym or its plural."""
    phrase = " ".join(keys(words))
    return demonyms().get(phrase) or demonyms().get(phrase.removesuffix("s"))


@cache
def demonyms() -> dict[str, str]:
    """Places by their singular demonyms."""
    rows = (line.split("\t") for line in _TABLE.read_text().splitlines() if not line.startswith("#"))
    return {demonym: place for demonyms_of_place, place in rows for demonym in demonyms_of_place.split(",")}


def is_everyday(word: str) -> bool:
    """Whether `word`, in any of its forms, is a common word. Names are not."""
    return stem(word) in _stems()


_LETTERS = re.compile(r"[^\W\d_]{2,}")


def is_asked_in_english(question: str) -> bool:
    """Whether at least half of a question's words are common in English; true of one with a single word. Of the questions in
    `tests/pairs`, 3 in 1,000 English ones are taken for others, and 6 in 100 German and 19 in 100 French ones for English.
    """
    found = {*_LETTERS.findall(question.lower())}
    return len(found) < 2 or 2 * sum(word in STOP_WORDS or is_everyday(word) for word in found) >= len(found)


def commonness(key: str) -> str:
    """s for a stop word, e for another common word, r for a rarer one."""
    return "s" if key in STOP_WORDS else "e" if is_everyday(key) else "r"


@cache
def _stems() -> frozenset[str]:
    lines = (Path(__file__).parent / "data" / "words.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


WORD_CHARACTERS_MAX = 40
ROOT_CHARACTERS_MIN = 3

_STEMMERS = {"german": GermanStemmer, "french": FrenchStemmer}
_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "german": ("", "e", "en", "er", "es", "em", "n", "s"),
    "french": ("", "e", "s", "es", "x"),
}
"""How inflected forms end."""


def inflections(word: str, languages: Sequence[str]) -> tuple[str, ...]:
    """Candidates for other forms of a word (in its form for comparison), in those of `languages` that are supported."""
    known = (_inflections(word, language) for language in languages if language in _ENDINGS)
    return tuple(dict.fromkeys(form for forms in known for form in forms))


@lru_cache(maxsize=4096)
def _inflections(word: str, language: str) -> tuple[str, ...]:
    if not word.isalpha() or not ROOT_CHARACTERS_MIN < len(word) <= WORD_CHARACTERS_MAX:
        return ()
    endings, root = _ENDINGS[language], _root(word, language)
    bases = (word.removesuffix(ending) for ending in endings)
    base = min((each for each in bases if len(each) >= ROOT_CHARACTERS_MIN and _root(each, language) == root), key=len)
    forms = dict.fromkeys(each + ending for each in (base, word) for ending in endings)
    return tuple(form for form in forms if form != word and _root(form, language) == root)


def _root(word: str, language: str) -> str:
    """The stem of the stem: without accents, a stemmer may take the endings of one word for two."""
    stemmer = _stemmer(language)
    return str(stemmer.stemWord(stemmer.stemWord(word)))


_local = threading.local()


def _stemmer(language: str) -> GermanStemmer | FrenchStemmer:
    """A stemmer per thread: it keeps the current word."""
    stemmers: dict[str, GermanStemmer | FrenchStemmer] = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = _STEMMERS[language]()
    return stemmers[language]


_ONE_OF = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"))


_DOER = re.compile(
    r"(?!.*(?:number|order|letter|paper|colou?r|floor|folder|offer|tier|layer|center|motor|sector|vector|factor|register|chapter|"
    r"water|power|summer|winter|computer|(?<!ob)server|river|matter|career|tower|user)$)[a-z]{2,}(?:er|or|ee|ist|ian|ant)"
)


def names_doer(noun: str) -> bool:
    """Whether the ending of a lower-case noun marks somebody who does something ("reviewer", "plumber")."""
    return _DOER.fullmatch(noun) is not None


def singular(noun: str) -> str:
    """A noun without its plural ending, as tables are named. Of several words, the last is changed."""
    for ending, instead in _ONE_OF:
        if noun.endswith(ending) and len(noun) > len(ending) + 1:
            return noun[: -len(ending)] + instead
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun


def plural(noun: str) -> str:
    """A noun with its plural ending; unchanged if it has one. Of several words, the last is changed."""
    if noun.endswith("s") and singular(noun) != noun:
        return noun
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def is_plural(noun: str) -> bool:
    """Whether the ending of a lower-case noun marks a plural."""
    return noun.endswith("s") and plural(singular(noun)) == noun


FORM_CHARACTERS_MIN = 3

_WORKERS: tuple[tuple[str, str], ...] = (
    # longest endings first, and only the first match counts: "-ologist" is not "-ist"
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
"""Endings that are added to a whole word: "designer", "artist", "comedian"."""
_BARE_CHARACTERS_MIN = 3


@lru_cache(maxsize=4096)
def word_forms(word: str) -> tuple[str, ...]:
    """Candidates for other words in the family of `word` (in its form for comparison), to be looked up: most are not words.

    A demonym starts with the name of its place. Without `word` itself; empty unless it is a plain word.
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
    """Candidates for the field of a worker called `word` ("chemists": "chemistry"); most are not words."""
    singular = word.removesuffix("s") if not word.endswith(("ss", "ics")) else word
    return unique(_of_worker(singular)) if singular.isalpha() and len(singular) <= WORD_CHARACTERS_MAX else ()


def _singulars(word: str) -> list[str]:
    """The singulars of plurals that no stemmer reduces: "midwives", "salesmen", "buses", "analyses"."""
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
