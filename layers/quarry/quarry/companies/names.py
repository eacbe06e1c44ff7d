"""Names in a question: which companies it may name, and whether it asks for others like them.

Pure. Candidates are guesses; a name that no company bears does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from quarry.platform.text import STOP_WORDS, words

NAMES_MAX = 16
NAME_CHARACTERS_MAX = 120
NAME_WORDS_MAX = 8
BEHIND_CHARACTERS_MAX = 200
"""So many characters at the end of a question may say no more than "this one"."""


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

# What may stand before and behind a name without saying more than "this one".
_POLITENESS = r"(?:(?:please|hi|hey|hello|ok|so|and|now)[,!]? )*(?:(?:can|could|would) you )?(?:please )?"
_REQUEST = _any(
    "(?:tell|show|give|find|get) (?:me|us) ", "find ", "show ", "open ", "look up ", "search (?:for )?", "looking for ",
    "i(?:'m| am) looking for ", "do you (?:know|have) ", "have you heard of ", "(?:what|who)(?:'s| is| are| was| were) ",
    "what(?:ever)? happened to ", "what (?:does|do|did) ", "who (?:founded|runs?|owns?|acquired|bought|started) ", "where is ",
    "when was ", "is ", "does ",
)  # fmt: skip
_BEFORE = re.compile(
    rf"^{_POLITENESS}{_REQUEST}?(?:(?:all|more|something|anything|everything|info(?:rmation)?|details?) )?(?:about |on |of )?"
    "(?:the )?(?:(?:acquired|closed|defunct|public|listed|former) )?(?:(?:compan(?:y|ies)|startups?|firms?) )?"
    "(?:(?:called|named) )?",
    re.IGNORECASE,
)
_BEHIND_WORDS = _any(
    "(?:the )?(?:company|startup|start-up|firm)", "do(?:es)?", "did", "sell", "make", "offer", "based", "founded", "located",
    "headquartered", "still", "now", "today", "been", "is", "was", "were", "acquired", "closed", "shut down", "public", "a", "an",
    "up to", "called", "it", "they", "after", "when", "before", "by", "who", "in", "listed", "alive", "around", "please",
)  # fmt: skip
_BEHIND = re.compile(rf"(?: {_BEHIND_WORDS}| ?[?!.,;]){{1,12}}$", re.IGNORECASE)
_NAME_END = re.compile(
    r" ?(?:[,;?!]|\.(?: |$)| "
    + _any(
        "but", "that", "which", "who", "also", "in", "from", "with", "for", "based", "only", "and (?:also|are|is|that)", "or",
        "including", "founded", "except", "not", "please",
    )
    + r" ).*$",
    re.IGNORECASE | re.DOTALL,
)  # fmt: skip
_ASKS_FOR_FACTS = re.compile(
    _any(
        "is",
        "are",
        "was",
        "were",
        "did",
        "does",
        "do",
        "has",
        "have",
        "had",
        "when",
        "where",
        "why",
        "how",
        "who",
        "what happened",
    )
    + r"\b",
    re.IGNORECASE,
)
_NOT_A_NAME = re.compile(
    _any(
        "the",
        "an?",
        "th(?:is|at|ese|ose)",
        "it",
        "them",
        "ones?",
        "of",
        "to",
        "with",
        "compan(?:y|ies)",
        "tell",
        "what",
        "where",
    ),
    re.IGNORECASE,
)
_ASKED_OF_COMPANIES = frozenset(
    """
    company companies startup startups firm firms one ones find show look open give list search among even please defunct listed
    called named based located headquartered founded founder founders founding started start year old age ceo
    raise raised funding funded money investors stage series round employees people staff big size many much acquired bought
    buy owns owner owned closed shut status public active alive still compare compared comparison difference differences between
    versus vs business website site web address product products customers profile details information info happened became
    today now
    """.split()
)


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
    """Whether a question asks something of a company ("Was Harbor acquired?") and does not demand it."""
    return bool(_ASKS_FOR_FACTS.match(question.strip()))


def is_about(question: str, names: Sequence[str]) -> bool:
    """Whether a question that holds `names` says nothing beside them but what is asked about any company."""
    left = words(_without(question, names))
    return all(word in STOP_WORDS or word in _ASKED_OF_COMPANIES for word in left)


def _without(text: str, names: Sequence[str]) -> str:
    for name in names:
        text = re.sub(re.escape(name), " ", text, flags=re.IGNORECASE)
    return " ".join(text.split())


def _after_similarity(question: str) -> str | None:
    """What follows the words that ask for similar companies; None where nothing asks for them."""
    matches = [match for pattern in (_SIMILARITY, _LIKE) if (match := pattern.search(question))]
    if not matches:
        return None
    return question[max(match.end() for match in matches) :].strip()


# "Harbor alternatives", "Harbor's competitors?"
_BEFORE_THE_END = re.compile(r"(?:['’]s)? (?:alternatives?|competitors?|rivals?|lookalikes?)\W*$", re.IGNORECASE)


def _before_versus(question: str) -> str | None:
    versus = re.search(r"\s(?:vs\.?|versus)\s", question, re.IGNORECASE)
    return _bare(question[: versus.start()]) if versus else None


def _named_after(text: str) -> list[str]:
    """`text` cut where the name is likely to end; the longer readings first."""
    text = re.sub(r"^(?:the (?:company|startup) |that of |what |those of )", "", text, flags=re.IGNORECASE)
    cut = _NAME_END.sub("", text)
    first = re.match(_CAPITALISED, cut)
    return [cut, _without_ending(cut), *([first.group()] if first else [])]


def _bare(question: str) -> str:
    """The question without what only says "tell me about"."""
    return _without_ending(_BEFORE.sub("", question.strip(), count=1))


def _without_ending(text: str) -> str:
    """`text` without the words at its end that say nothing more; only its end is looked at."""
    return text[:-BEHIND_CHARACTERS_MAX] + _BEHIND.sub("", text[-BEHIND_CHARACTERS_MAX:])


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
        if _NOT_A_NAME.fullmatch(cleaned):
            continue
        seen.add(key)
        yield cleaned
