"""Slips of the pen: words of a question that no company found speaks of, but that are nearly words which some do. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache

from quarry.companies.contract import Company
from quarry.companies.reading import Reading, read_question
from quarry.companies.snippets import profile_text, profile_words
from quarry.companies.vocabulary import taxonomy_words
from quarry.core.text import STOP_WORDS, stem, words

CHARACTERS_MIN = 4
SIMILARITY_MIN = 0.85
"""Of two words: one letter more or less in a short one, another letter in one of seven, two in a long one."""
EXCHANGED_SIMILARITY = 0.9
"""What two words count that have the same letters in another order."""
LENGTH_DIFFERENCE_MAX = 2
MENDED_WORDS_MAX = 12
"""Words of a topic that are compared with all that are known; a question has few that no company speaks of."""
WORD_CHARACTERS_MAX = 40

SURE_SIMILARITY = 0.88
SURE_CHARACTERS_MIN = 6
"""A single slip is believed in a word so near and so long, or a "wedding" would become a "weeding". Two bear each other out."""


@dataclass(frozen=True)
class _Slip:
    """A word that is nearly `meant`."""

    word: str
    meant: str
    similarity: float

    @property
    def is_sure(self) -> bool:
        return self.similarity >= SURE_SIMILARITY and len(self.word) >= SURE_CHARACTERS_MIN


def mended(reading: Reading, companies: Sequence[Company]) -> Reading:
    """The reading with the slips in its topic mended, as far as the words of `companies` or of the taxonomy tell."""
    heard = frozenset[str]().union(*(profile_words(company) for company in companies))
    unheard = [word for word in words(reading.topic) if _may_be_a_slip(word) and stem(word) not in heard]
    if not unheard:
        return reading
    known = {*taxonomy_words()}.union(*(_spoken(profile_text(company)) for company in companies))
    suspects = list(dict.fromkeys(unheard))[:MENDED_WORDS_MAX]
    slips = [slip for word in suspects if (slip := _slip(word, known)) is not None]
    if len(slips) < 2 and not any(slip.is_sure for slip in slips):
        return reading
    meant = {slip.word: slip.meant for slip in slips}
    topic = " ".join(meant.get(word, word) for word in words(reading.topic))
    again = read_question(topic)
    return replace(reading, topic=topic, groups=again.groups or reading.groups, plain=again.plain)


def _may_be_a_slip(word: str) -> bool:
    return CHARACTERS_MIN <= len(word) <= WORD_CHARACTERS_MAX and word.isalpha() and word not in STOP_WORDS


def _slip(word: str, known: Collection[str]) -> _Slip | None:
    """The nearest of the known words that begin with the same letter; of equals the first in the alphabet."""
    candidates = (
        other for other in known if other[:1] == word[0] and abs(len(other) - len(word)) <= LENGTH_DIFFERENCE_MAX
    )
    slips = [_Slip(word, other, similarity) for other in candidates if (similarity := _similarity(word, other))]
    return min(slips, key=lambda slip: (-slip.similarity, slip.meant), default=None)


def _similarity(word: str, other: str) -> float:
    """How near two words are, 0 where not near enough."""
    if sorted(word) == sorted(other):
        return EXCHANGED_SIMILARITY
    matcher = SequenceMatcher(None, word, other, autojunk=False)
    near = matcher.real_quick_ratio() >= SIMILARITY_MIN and matcher.quick_ratio() >= SIMILARITY_MIN
    similarity = matcher.ratio() if near else 0.0
    return similarity if similarity >= SIMILARITY_MIN else 0.0


@lru_cache(maxsize=512)
def _spoken(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if _may_be_a_slip(word))
