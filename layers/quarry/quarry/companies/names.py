"""Names in a question: which companies it may name, and whether it asks for others like them.

Pure. Candidates are guesses; a name that no company bears does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from quarry.companies.contract import STATUSES
from quarry.companies.facets import COMPANIES, STATUS
from quarry.language.stemming import stem
from quarry.platform.text import STOP_WORDS, placed_words, words

NAMES_MAX = 16
NAME_CHARACTERS_MAX = 120
NAME_WORDS_MAX = 8


def _any(*alternatives: str) -> str:
    return f"(?:{'|'.join(alternatives)})"


_SIMILARITY = re.compile(
    r"\b"
    + _any(
        "similar(?:ly)?(?: to)?", "alternatives?(?: to| for)?", "competitors?(?: of| to| for)?", "compet(?:es?|ing)(?: with)?",
        "rivals?(?: of| to)?", "comparable (?:to|with)", "compared? (?:to|with)", "resembl(?:es?|ing)", "peers? of",
        "lookalikes?(?: of| for)?", "replacements? for", "same (?:[a-z]+ ){0,2}as",
        "do(?:es|ing)? what", "in the (?:vein|style) of", "versus", r"vs\.?",
    )
    + r"(?!\w)",
    re.IGNORECASE,
)  # fmt: skip
# "like" compares companies only beside a word that stands for one: "I would like" and "feels like home" do not.
_LIKE = re.compile(
    r"\b"
    + _any(
        "compan(?:y|ies)", "start-?ups?", "firms?", "business(?:es)?", "tools?", "products?", "apps?", "services?", "platforms?",
        "ones?", "others?", "else", "more", "anything", "something", "anyone", "someone", "just", "those", "these", "is there",
        "are there",
    )
    + r" (?:there )?(?:(?:is|are) (?:there )?)?like\b|^like\b",
    re.IGNORECASE,
)  # fmt: skip

_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]{2,120})[\"“”«»]|(?<!\w)['‘]([^'‘’]{2,120})['’](?!\w)")
_WITH_DIGITS = re.compile(r"(?<![\w.:&'-])(?=[\w&.:'-]*[^\W\d_])(?=[\w&.:'-]*\d)[\w&.:'-]*\w(?![\w-])")
_ADDRESS = re.compile(r"(?<![\w.-])(?:https?://)?(?:[\w-]+\.)+[a-z]{2,}(?:/\S*)?", re.IGNORECASE)
_CAPITAL_WORD = r"[^\W\d_a-zß-öø-ÿ][\w&.:'’+-]*"
_CAPITALISED = re.compile(
    rf"(?<![\w&.:'’+-])(?:{_CAPITAL_WORD}|\d[\w&.:'’+-]*[^\W\d_][\w&.:'’+-]*)"
    rf"(?:[ ](?:(?:and|of|the|&|und|de)[ ])?{_CAPITAL_WORD})*"
)

# "Harbor alternatives", "Harbor's competitors?"
_BEFORE_THE_END = re.compile(r"(?:['’]s)? (?:alternatives?|competitors?|rivals?|lookalikes?)\W*$", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[,;?!]|\.(?: |$)")
_ASKS_FOR_FACTS = frozenset("is are was were did does do has have had what when where why how who".split())
"""What a question begins with that asks something of a company ("Was Harbor acquired?") and does not demand it."""
_SMALL_TALK = frozenset(
    """
    hello hi hey ok look looking search open heard among even called named founded based located headquartered alive around today
    sell offer info information details profile
    """.split()
)
"""What is said before or behind a name, besides stop words and what says of which status the company is."""
_ASKED_OF_COMPANIES = frozenset(
    """
    one ones list big old ceo investors money compare compared comparison difference differences versus vs became product products
    customers web address owns owned
    """.split()
)
"""What is asked about a company, besides what its fields are called."""


@cache
def _status_words() -> frozenset[str]:
    """The words that say of which status a company is."""
    said = (said for said, _ in COMPANIES.facet(STATUS).synonyms)
    return frozenset(word for text in (*STATUSES, *said) for word in words(text))


@cache
def _field_stems() -> frozenset[str]:
    """The stems of the words by which the fields of companies, and companies themselves, are called."""
    texts = [text for each in COMPANIES.facets for text in (each.label, each.plural, *each.words)]
    return frozenset(stem(word) for text in (*texts, *COMPANIES.nouns) for word in words(text))


@dataclass(frozen=True)
class NameQuestion:
    """What a question says of names.

    `whole`: texts that are, but for politeness, all of the question; a company of such a name is what is meant.
    `mentioned`: texts inside a longer question that may be names. `similar`: others like the named one are wanted.
    """

    whole: tuple[str, ...]
    mentioned: tuple[str, ...]
    similar: bool

    @property
    def names(self) -> tuple[str, ...]:
        """All candidates, the likeliest first, at most `NAMES_MAX`."""
        return tuple(dict.fromkeys((*self.whole, *self.mentioned)))[:NAMES_MAX]


def read_names(question: str) -> NameQuestion:
    """The names that a question may hold, and whether it asks for companies like them."""
    question = " ".join(question.split())
    after = _after_similarity(question)
    similar = after is not None
    mentioned: list[str] = []
    if after:
        mentioned += _named_after(after)
    before = _before_versus(question) or (_BEFORE_THE_END.sub("", question) if similar else None)
    mentioned += [before] if before else []
    mentioned += [one or other for one, other in _QUOTED.findall(question)]
    mentioned += _ADDRESS.findall(question)
    mentioned += _WITH_DIGITS.findall(question)
    for run in _CAPITALISED.findall(question):
        parts = [run, *re.split(" and | & ", run)]
        # a sentence begins with a capital whether it begins with a name or not
        mentioned += [*parts, *(part.partition(" ")[2] for part in parts)]
    whole = () if similar else tuple(_cleaned([question, _bare(question)]))
    return NameQuestion(whole, tuple(_cleaned(mentioned)), similar)


def without_names(question: str, names: Sequence[str]) -> str:
    """A question without names and without the words that ask for companies like them, with spaces in their place."""
    patterns = [_SIMILARITY, _LIKE, *(re.compile(re.escape(name), re.IGNORECASE) for name in names)]
    for pattern in patterns:
        question = pattern.sub(lambda match: " " * len(match.group()), question)
    return question


def asks_for_facts(question: str) -> bool:
    """Whether a question asks something of a company and does not demand it."""
    return next(iter(words(question)), "") in _ASKS_FOR_FACTS


def is_about(question: str, names: Sequence[str]) -> bool:
    """Whether a question that holds `names` says nothing beside them but what is asked about any company."""
    for name in names:
        question = re.sub(re.escape(name), " ", question, flags=re.IGNORECASE)
    left = [word for word in words(question) if not _is_small(word)]
    return all(word in _ASKED_OF_COMPANIES or stem(word) in _field_stems() for word in left)


def _is_small(word: str) -> bool:
    """Whether a word at either end of a question is no part of a name."""
    return word in STOP_WORDS or word in _SMALL_TALK or word in COMPANIES.nouns or word in _status_words()


def _after_similarity(question: str) -> str | None:
    """What follows the words that ask for similar companies; None where nothing asks for them."""
    matches = [match for pattern in (_SIMILARITY, _LIKE) if (match := pattern.search(question))]
    if not matches:
        return None
    return question[max(match.end() for match in matches) :].strip()


def _before_versus(question: str) -> str | None:
    versus = re.search(r"\s(?:vs\.?|versus)\s", question, re.IGNORECASE)
    return _bare(question[: versus.start()]) if versus else None


def _named_after(text: str) -> list[str]:
    """`text` cut where the name is likely to end, at punctuation or at a small word; the longer readings first."""
    text = _PUNCTUATION.split(text, maxsplit=1)[0]
    placed = [(start, end) for word, start, end in placed_words(text) if word not in STOP_WORDS]
    first = placed[0][0] if placed else 0
    end = next((start for word, start, _ in placed_words(text) if start > first and word in STOP_WORDS), len(text))
    capitalised = _CAPITALISED.search(text)
    return [text[first:], text[first:end], *([capitalised.group()] if capitalised else [])]


def _bare(question: str) -> str:
    """The question without what only says "tell me about" at its ends."""
    placed = [(start, end) for word, start, end in placed_words(question) if not _is_small(word)]
    return question[placed[0][0] : placed[-1][1]] if placed else ""


def _cleaned(names: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        cleaned = " ".join(name.split()).strip(" \t\"“”«»'‘’?!,;()").rstrip(".")
        cleaned = re.sub(r"['’]s$", "", cleaned)
        key = cleaned.lower()
        if (
            len(cleaned) < 2
            or len(cleaned) > NAME_CHARACTERS_MAX
            or len(words(cleaned)) > NAME_WORDS_MAX
            or key in seen
        ):
            continue
        if all(word in STOP_WORDS or word in COMPANIES.nouns for word in words(cleaned)):
            continue
        seen.add(key)
        yield cleaned
