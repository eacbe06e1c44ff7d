"""A slip of the pen: a letter left out, put in, changed, or swapped with the next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

SLIP_CHARACTERS_MIN = 5
"""A shorter word must be spelt right: one letter makes another word of it."""
SLIP_CHARACTERS_MAX = 60
"""So must a longer one: its forms with a letter left out would take the square of its length."""


class Spelling:
    """The words of a small closed lexicon by every form of them with one letter left out.

    Two words one slip apart share such a form (SymSpell's deletion index), so that a look-up compares no pair of words.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)
        self._forms: dict[str, set[str]] = defaultdict(set)
        for word in self._words:
            if SLIP_CHARACTERS_MIN <= len(word) <= SLIP_CHARACTERS_MAX:
                for form in _with_one_left_out(word):
                    self._forms[form].add(word)

    def near(self, word: str) -> str | None:
        """The only word of the lexicon that is `word` but for one slip behind the first letter; `word` itself where it is one."""
        if word in self._words:
            return word
        if not SLIP_CHARACTERS_MIN <= len(word) <= SLIP_CHARACTERS_MAX:
            return None
        near = {
            known
            for form in _with_one_left_out(word)
            for known in self._forms.get(form, ())
            if known[0] == word[0] and is_one_slip(word, known)
        }
        return near.pop() if len(near) == 1 else None


def is_one_slip(first: str, second: str) -> bool:
    """Whether one letter left out, put in, changed, or swapped with the next makes one word of the other."""
    if first == second or abs(len(first) - len(second)) > 1:
        return False
    start = next((place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
    if start is None:
        return True
    rest, other = first[start:], second[start:]
    is_swapped = rest[:2] == other[1::-1] and rest[2:] == other[2:]
    return rest[1:] == other[1:] or rest[1:] == other or rest == other[1:] or is_swapped


def _with_one_left_out(word: str) -> set[str]:
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}
