"""A text that repeats the prompt it was written for is no answer: a weak model goes on with its instructions. Nor is one that
goes round in circles. Where the marks begin that stand between the parts of a conversation, an answer is over. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

from quarry.platform.errors import ModelOutputInvalid

WORDS_MIN = 8
"""So many words in a row are no chance: an answer begins with words of its own."""
CHARACTERS_MAX = 200
"""The opening of a text, which is looked at."""
_MARKS = (
    *(
        "<source n=",
        "</source>",
        "<record",
        "</record",
        "<answer>",
        "</answer>",
        "<rest>",
        "</rest>",
        "<result>",
        "</result>",
    ),
    *("<campaign", "</campaign", "<companies>", "</companies>", "<seed_company>"),
    *("<|", "|>", "<start_of_turn>", "<end_of_turn>", "</s>", "[INST]", "[/INST]"),
)
"""What separates the parts of a prompt, ours or a model's own."""

LOOP_CHARACTERS = 80
LOOPS_MAX = 3


def check_loop(text: str) -> None:
    """Raises ModelOutputInvalid for a text that says the same again and again."""
    end = text[-LOOP_CHARACTERS:]
    is_rule = len({*end}) == 1 and not text.endswith(end * LOOPS_MAX)
    if len(end) == LOOP_CHARACTERS and not is_rule and text.count(end) >= LOOPS_MAX:
        raise ModelOutputInvalid("The model repeated itself.")


class UntilMark:
    """Feed it a model's text; it gives back what stands before the first mark, and holds back what may become one."""

    def __init__(self) -> None:
        self.is_over = False
        self._held = ""

    def feed(self, piece: str) -> str:
        """The text that is known to be no mark; nothing once there was one."""
        text, self._held = self._held + piece, ""
        places = [place for place in map(text.find, _MARKS) if place >= 0]
        if self.is_over or places:
            given = "" if self.is_over else text[: min(places)]
            self.is_over = True
            return given
        for size in range(min(len(text), _MARK_CHARACTERS_MAX - 1), 0, -1):
            if any(mark.startswith(text[-size:]) for mark in _MARKS):
                text, self._held = text[:-size], text[-size:]
                break
        return text

    def finish(self) -> str:
        """The rest, once no more text comes."""
        text, self._held = self._held, ""
        return text


_MARK_CHARACTERS_MAX = max(map(len, _MARKS))


class Repeated:
    """The words of a prompt, in which the opening of a text is looked for."""

    def __init__(self, prompts: Iterable[str]) -> None:
        self._said = f" {' '.join(' '.join(prompts).casefold().split())} "

    def may_be(self, text: str) -> bool:
        """Whether the text so far may become a repetition: all of its words stand in the prompt, in a row."""
        words = text.lstrip()[:CHARACTERS_MAX].casefold().split()[:WORDS_MIN]
        return bool(words) and f" {' '.join(words)}" in self._said

    def check(self, text: str) -> None:
        """Raises ModelOutputInvalid for a text that repeats the prompt."""
        words = text.lstrip()[:CHARACTERS_MAX].casefold().split()[:WORDS_MIN]
        if len(words) == WORDS_MIN and f" {' '.join(words)}" in self._said:
            raise ModelOutputInvalid("The model repeated its instructions.")
