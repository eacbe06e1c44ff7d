"""The words and sentences of a text with their positions, the forms in which two words are equal (folded, or stemmed as Postgres'
`english_stem` does, so that reading and searching agree), and other forms of words: plurals, inflections, demonyms, and words of
one family ("economist", "economics", "economy").

A full stop after an abbreviation or initial does not end a sentence. `data/abbreviations.toml` lists abbreviations by language.
The language of a text is not known here, so the lists of all languages apply. Finding sentences takes linear time.
"""

from __future__ import annotations

import re
import threading
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from snowballstemmer.english_stemmer import EnglishStemmer
from snowballstemmer.french_stemmer import FrenchStemmer
from snowballstemmer.german_stemmer import GermanStemmer

# The words that carry no topic: Postgres' English stop words, contractions and the small talk of questions.
STOP_WORDS = frozenset(
    """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its itself
    they them their theirs themselves what which who whom whose this that these those am is are was were be been being have has
    had having do does did doing a an the and but if or because as until while of at by for with about against between into
    through during before after above below to from up down in out on off over under again further then once here there when
    where why how all any both each few more most other some such no nor not only own same so than too very s t can will just
    don should now could would may might must shall also ever get got go goes going gone come came make made let us tell explain
    describe please show find give know way thing things happen happened much many lot really still yet want wants someone anyone
    something anything there's what's who's didn't doesn't isn't wasn't aren't weren't won't can't it's they're we're you're i'm
    that's
    """.split()
)

# A word may hold dots and apostrophes ("node.js", "o'brien") and end in signs ("c++", "c#"); ".net" begins with its dot.
_TOKEN = re.compile(r"(?:(?<![^\W_])\.(?=[^\W\d_]))?[^\W_]+(?:['’.][^\W_]+)*(?:\+\+|#)?|[&@]")
_CLAUSE_END = re.compile(r"[,;:!?()\n\[\]]|\.(?:\s|$)|\s[-–—]\s")

CODE_DIGITS_MIN = 3
"""Fewest digits of a code: "B2B" and "COVID-19" are not codes."""
_AROUND = ".,;:!?()'’\""
TITLE_CASE_SHARE_MIN = 0.7
TITLE_CASE_WORDS_MIN = 3


class Token(NamedTuple):
    """A word at `text[start:end]` of the query. `key` is its form for comparison. `ends_clause`: punctuation comes before it."""

    text: str
    key: str
    start: int
    end: int
    ends_clause: bool

    @property
    def is_capital(self) -> bool:
        return self.text.lstrip(".")[:1].isupper()


def tokenise(text: str) -> tuple[Token, ...]:
    tokens: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        gap = text[end : match.start()]
        tokens.append(
            Token(match.group(), fold(match.group()), match.start(), match.end(), bool(_CLAUSE_END.search(gap)))
        )
        end = match.end()
    return tuple(tokens)


def fold(word: str) -> str:
    """A word without case, accents and possessive ending; `&` is "and"."""
    if word == "&":
        return "and"
    return without_accents(word.lower().replace("’", "'")).removesuffix("'s")


def without_accents(text: str) -> str:
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def keys(text: str) -> tuple[str, ...]:
    """The words of a name in their form for comparison."""
    return tuple(fold(match.group()) for match in _TOKEN.finditer(text))


def is_code(word: str) -> bool:
    """Whether a word's letters and digits make it the code of one thing: "AB-1017", "K20415"."""
    is_whole = all(part.isalnum() for part in word.split("-"))
    return is_whole and any(map(str.isalpha, word)) and sum(map(str.isdigit, word)) >= CODE_DIGITS_MIN


def codes_in(text: str) -> list[str]:
    """The codes among the words of a text, without the characters around them."""
    return [word for word in (each.strip(_AROUND) for each in text.split()) if is_code(word)]


def says_something_by_case(tokens: Sequence[Token]) -> bool:
    """Whether capitals mark names in this text: some words have them, but not nearly all."""
    alphabetic = [token for token in tokens if token.text[:1].isalpha()]
    capitals = sum(token.is_capital for token in alphabetic)
    if capitals == 0:
        return False
    return len(alphabetic) <= TITLE_CASE_WORDS_MIN or capitals < TITLE_CASE_SHARE_MIN * len(alphabetic)


def unique(values: Iterable[str], key: Callable[[str], Hashable] = str) -> tuple[str, ...]:
    """The non-empty values, without duplicates: the first of those with the same key."""
    by_key: dict[Hashable, str] = {}
    for value in values:
        if value:
            by_key.setdefault(key(value), value)
    return tuple(by_key.values())


STEM_CACHE_SIZE = 16_384
STEMMED_CHARACTERS_MAX = 100
"""A longer word is not an English word and is not stemmed."""


@lru_cache(maxsize=STEM_CACHE_SIZE)
def stem(word: str) -> str:
    """The stem of one lower-case word. Stop words, which Postgres drops, also have one."""
    return str(_stemmer().stemWord(word.lower())) if len(word) <= STEMMED_CHARACTERS_MAX else word.lower()


def stems_of(text: str) -> tuple[str, ...]:
    """The stems of a text's words."""
    return tuple(stem(key) for key in keys(text))


_local = threading.local()


def _stemmer() -> EnglishStemmer:
    """A stemmer per thread: it keeps the current word, so threads must not share one."""
    if not hasattr(_local, "stemmer"):
        _local.stemmer = EnglishStemmer()
    stemmer: EnglishStemmer = _local.stemmer
    return stemmer


def slips(word: str, other: str) -> int:
    """The number of typos between two words: missing, extra or wrong letters, and swapped neighbours."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, start=1):
        before, above, row = row, before, [i]
        for j, expected in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != expected))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == expected:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
    return row[-1]


def phrase(text: str, tokens: Sequence[Token], first: int, last: int) -> str:
    """The words from `first` to before `last` as written in the text."""
    return text[tokens[first].start : tokens[last - 1].end]


def runs(mask: int) -> Iterator[tuple[int, int]]:
    """The runs of adjacent words in a bit mask: the first word of each, and the one after its last."""
    first = 0
    while mask >> first:
        last = first
        while mask >> last & 1:
            last += 1
        if last > first:
            yield first, last
        first = last + 1


# What may lie between two sentences: quotes, brackets and citations of the first one, and white space; or the end of a line.
_GAP = re.compile(r"(?<=[.!?])((?:[\"”’»)*_]*+(?>(?: ?\[\d{1,3}\])*)))\s++(?=\S)|\n+")
_BEGINNING = re.compile(r"[\"“‘„«(*_\[]{0,3}([^\W_]+\.?|[$€£¥])")
_LAST_WORD = re.compile(r"(?<![^\W_])([^\W_](?:[^\W_]|[.-]{1,2}(?=[^\W_]))*)\.$")
_ABBREVIATION_CHARACTERS_MAX = 12
_BEGINNING_CHARACTERS_MAX = 40
_ORDINAL_DIGITS_MAX = 2
_INDENT_MAX = 4
_LETTERS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
"""An initial, or an abbreviation of letters alone: "J", "U.S"."""


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The start and end of each sentence, without the white space around it. A citation after a full stop belongs to it."""
    cuts = [0]
    for gap in _GAP.finditer(text):
        if _is_end(text, gap, cuts[-1]):
            cuts.append(max(gap.start(), gap.end(1)))
    spans = (_trimmed(text, start, end) for start, end in pairwise([*cuts, len(text)]))
    return [(start, end) for start, end in spans if start < end]


def sentences(text: str) -> list[str]:
    """The sentences of `text`, each on one line."""
    return [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def _is_end(text: str, gap: re.Match[str], begin: int) -> bool:
    """Whether the sentence that began at `begin` ends at this gap."""
    lines = text.count("\n", gap.end(1), gap.end())
    if gap.end(1) < 0 or lines > 1:
        return True
    beginning = _BEGINNING.match(text, gap.end(), gap.end() + _BEGINNING_CHARACTERS_MAX)
    following = beginning[1] if beginning else ""
    if not lines and (not following or following[0].islower()):
        return False
    before = _LAST_WORD.search(text, max(begin, gap.start() - _ABBREVIATION_CHARACTERS_MAX), gap.start())
    if before is None:
        return True
    if before[1].isdigit() and len(before[1]) <= _ORDINAL_DIGITS_MAX:
        # the number of a list item; an ordinal
        is_listed = before.start() - begin <= _INDENT_MAX and not text[begin : before.start()].strip()
        return not is_listed and following.lower() not in _abbreviations()["ordinals"]
    return _ends_with(before[1], following, is_line=lines > 0)


def _ends_with(word: str, following: str, *, is_line: bool) -> bool:
    """Whether a sentence may end with this word and a full stop, before the following word."""
    abbreviations = _abbreviations()
    if word in abbreviations["never"] or (word in abbreviations["before_number"] and following[:1].isdigit()):
        return False
    if word in abbreviations["may_end"] or _LETTERS.fullmatch(word):
        return is_line or following.lower() in abbreviations["begins"]
    return True


@cache
def _abbreviations() -> dict[str, frozenset[str]]:
    """The lists of all languages, by kind."""
    text = files("quarry.language").joinpath("data/abbreviations.toml").read_text(encoding="utf-8")
    listed: dict[str, frozenset[str]] = defaultdict(frozenset)
    for lists in tomllib.loads(text).values():
        for name, words in lists.items():
            listed[name] |= frozenset(re.split(r"[,\s]+", words.strip()))
    return listed


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
    forms_by_language = (_inflections(word, language) for language in languages if language in _ENDINGS)
    return tuple(dict.fromkeys(form for forms in forms_by_language for form in forms))


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
    stemmer = _stemmer_of(language)
    return str(stemmer.stemWord(stemmer.stemWord(word)))


def _stemmer_of(language: str) -> GermanStemmer | FrenchStemmer:
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
