"""Whether a text says anything. A weak model gives the question back, breaks off within a sentence, or speaks of something that
neither the question nor the data is about, or repeats its prompt: none of that is an answer. A refusal, small talk and a question
back are. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from quarry.language.writing import LIST_MARK
from quarry.models.interface import Message
from quarry.platform.errors import ModelOutputInvalid
from quarry.platform.text import placed_words, words
from quarry.verification.check import Verification, Verifier
from quarry.verification.wording import english

REPEATED_WORDS_MIN = 3
"""So many words of the question at the beginning of a text are no chance."""
UNFINISHED_STEMS_MIN, UNFINISHED_WORDS_MIN = 3, 8
"""A text that has no end and is shorter, as "Yes" is, is not broken off."""
ELSEWHERE_STEMS_MIN = 10
"""Fewer words of a topic may all be new in a refusal: the longest of 60 that were tried has eight."""
PROMPT_STEMS_MAX = 1
"""Who says what cannot be answered uses more words of the prompt."""
_END = re.compile(r"[.!?…。！？؟।]")
_MARKERS = re.compile(r"(?:\s*\[[^\]\n]{1,40}\])+(?=\W*$)")


def says_nothing(
    text: str, found: Verification, verifier: Verifier, messages: Sequence[Message], *, is_formed: bool, is_cut: bool
) -> bool:
    """Whether a text is no answer to the last of the messages, by what the check found in it. `is_formed`: it has the form of an
    answer, which only a model writes that can follow its prompt. `is_cut`: it ended where a part of a prompt began.
    """
    question, stems = verifier.question.rpartition("\n")[2], english().stems
    rest, is_within = _behind_question(text, [question, messages[-1].content])
    if not any(map(str.isalnum, rest)):
        return True
    own, has_number = stems(rest) - stems(question), any(map(str.isdigit, rest))
    is_borne_out = any(each.state == "verified" for each in found.statements)
    is_long = len(stems(text)) >= UNFINISHED_STEMS_MIN or len(words(text)) >= UNFINISHED_WORDS_MIN
    if (is_within or is_long) and not _is_finished(text):
        return not (is_borne_out and (has_number or not own.isdisjoint(verifier.evidence_stems)))
    if is_borne_out:
        return False
    is_given_back = not own and not has_number and len(stems(text)) > 1
    return is_given_back or (not is_formed and (is_cut or _is_elsewhere(found, verifier, messages, stems(text))))


def _behind_question(text: str, asked: Sequence[str]) -> tuple[str, bool]:
    """The text behind the words of a question that it begins with, and whether it leaves the question before its end."""
    mine = [*placed_words(text)]
    most, is_within = 0, False
    for each in asked:
        theirs = words(each)
        common = sum(1 for _ in takewhile(lambda pair: pair[0][0] == pair[1], zip(mine, theirs, strict=False)))
        if common > most and common >= REPEATED_WORDS_MIN:
            most, is_within = common, common < len(theirs)
    return text[mine[most - 1][2] :] if most else text, is_within


def _is_finished(text: str) -> bool:
    """Whether a text ends as a sentence, an item of a list or a row of a table does."""
    line = text.rstrip().rpartition("\n")[2]
    if line.lstrip().startswith("|") or LIST_MARK.match(line):
        return True
    said = _MARKERS.sub("", line)
    last = max((place for place, sign in enumerate(said) if sign.isalnum()), default=-1)
    return _END.search(said, last + 1) is not None


def _is_elsewhere(found: Verification, verifier: Verifier, messages: Sequence[Message], stems: frozenset[str]) -> bool:
    """Whether a longer text in English has no word of the question and the data, and hardly one of the prompt."""
    if verifier.is_foreign or len(stems) < ELSEWHERE_STEMS_MIN or not found.claims:
        return False
    wording = english()
    known = wording.stems(verifier.question) | verifier.evidence_stems
    prompt = wording.stems(" ".join(each.content for each in messages if each.role == "system"))
    return stems.isdisjoint(known) and len(stems & prompt) <= PROMPT_STEMS_MAX


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
