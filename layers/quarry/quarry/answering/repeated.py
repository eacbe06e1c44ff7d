"""A text that repeats the prompt it was written for is no answer: a weak model goes on with its instructions, or writes the marks
that stand between the parts of a conversation. Nor is one that goes round in circles. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

from quarry.platform.errors import ModelOutputInvalid

WORDS_MIN = 8
"""So many words in a row are no chance: an answer begins with words of its own."""
CHARACTERS_MAX = 200
"""The opening of a text, which is looked at."""
_MARKS = ("<|", "|>", "<source", "</source", "<record", "<answer", "<campaign", "[INST]")
"""What separates the parts of a prompt, ours or a model's own; no answer begins with it."""


LOOP_CHARACTERS = 80
LOOPS_MAX = 3


def check_loop(text: str) -> None:
    """Raises ModelOutputInvalid for a text that says the same again and again."""
    end = text[-LOOP_CHARACTERS:]
    if len(end) == LOOP_CHARACTERS and len({*end}) > 1 and text.count(end) >= LOOPS_MAX:
        raise ModelOutputInvalid("The model repeated itself.")


class Repeated:
    """The words of a prompt, in which the opening of a text is looked for."""

    def __init__(self, prompts: Iterable[str]) -> None:
        self._said = f" {' '.join(' '.join(prompts).casefold().split())} "

    def may_be(self, text: str) -> bool:
        """Whether the text so far may become a repetition: all of its words stand in the prompt, in a row."""
        opening = text.lstrip()[:CHARACTERS_MAX]
        if any(mark.startswith(opening[: len(mark)]) for mark in _MARKS) and opening:
            return True
        words = opening.casefold().split()[:WORDS_MIN]
        return bool(words) and f" {' '.join(words)}" in self._said

    def check(self, text: str) -> None:
        """Raises ModelOutputInvalid for a text that repeats the prompt."""
        opening = text.lstrip()[:CHARACTERS_MAX]
        is_marked = opening.startswith(_MARKS)
        words = opening.casefold().split()[:WORDS_MIN]
        if is_marked or (len(words) == WORDS_MIN and f" {' '.join(words)}" in self._said):
            raise ModelOutputInvalid("The model repeated its instructions.")
