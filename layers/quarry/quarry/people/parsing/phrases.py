"""Known phrases, recognised in a text: as they are, written together, cut short, or with a slip of the pen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from quarry.people.parsing.tokens import Token, keys

JOINED_CHARACTERS_MIN = 6
"""A shorter name is not recognised when its words are written together."""
SLIP_CHARACTERS_MIN = 5
"""A shorter name must be spelt right: one letter makes another word of it."""
SLIP_CHARACTERS_MAX = 60
"""So must a longer one: its forms with a letter left out would take the square of its length."""
SHORT_FORM_CHARACTERS_MIN = 4


@dataclass(frozen=True)
class Found:
    """A known name and the number of words that it takes up."""

    value: str
    length: int


class PhraseBook:
    """Names, and what each stands for. Words are compared without case and accents.

    `names` are (as written, what it stands for); where two stand for different things, the first is taken.
    """

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self._values: dict[tuple[str, ...], str] = {}
        for written, value in names:
            if phrase := keys(written):
                self._values.setdefault(phrase, value)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, text: str) -> str | None:
        """What the whole of `text` stands for."""
        return self._values.get(keys(text))

    def longest_at(self, tokens: Sequence[Token], start: int) -> Found | None:
        """The longest name that begins with the word at `start`, or the one that this word writes together."""
        found = next(self._all_at(tokens, start), None)
        joined = tokens[start].key
        if found is None and len(joined) >= JOINED_CHARACTERS_MIN and (value := self._joined.get(joined)):
            return Found(value, 1)
        return found

    def all_in(self, tokens: Sequence[Token]) -> set[str]:
        """What all the names stand for that occur anywhere, also within longer ones."""
        return {found.value for start in range(len(tokens)) for found in self._all_at(tokens, start)}

    def _all_at(self, tokens: Sequence[Token], start: int) -> Iterator[Found]:
        """The names that begin with the word at `start`, the longest first."""
        for length in self._lengths.get(tokens[start].key, ()):
            phrase = tuple(token.key for token in tokens[start : start + length])
            if len(phrase) == length and (value := self._values.get(phrase)):
                yield Found(value, length)

    def short_form(self, word: str) -> str | None:
        """The only thing whose name begins with `word`: "Kosmo" for "Kosmo Retail"."""
        values = self._by_first_word.get(word, ())
        return next(iter(values)) if len(values) == 1 and len(word) >= SHORT_FORM_CHARACTERS_MIN else None

    def near(self, words: Sequence[str]) -> str | None:
        """The only thing whose name is `words` but for one letter left out, put in, changed or swapped with the next."""
        joined = "".join(words)
        if not SLIP_CHARACTERS_MIN <= len(joined) <= SLIP_CHARACTERS_MAX:
            return None
        values = {
            value
            for form in _with_one_left_out(joined)
            for name, value in self._slips.get(form, ())
            if name[0] == joined[0]
        }
        return values.pop() if len(values) == 1 else None

    @cached_property
    def _lengths(self) -> dict[str, tuple[int, ...]]:
        """The lengths of the names by their first word, the longest first."""
        lengths: dict[str, set[int]] = defaultdict(set)
        for phrase in self._values:
            lengths[phrase[0]].add(len(phrase))
        return {first: tuple(sorted(each, reverse=True)) for first, each in lengths.items()}

    @cached_property
    def _joined(self) -> dict[str, str]:
        return {"".join(phrase): value for phrase, value in self._values.items() if len(phrase) > 1}

    @cached_property
    def _by_first_word(self) -> dict[str, set[str]]:
        values: dict[str, set[str]] = defaultdict(set)
        for phrase, value in self._values.items():
            values[phrase[0]].add(value)
        return values

    @cached_property
    def _slips(self) -> dict[str, list[tuple[str, str]]]:
        """Names by every form of them with one letter left out. Two words one slip apart share such a form (the idea of
        SymSpell's deletion index), so that a look-up compares no pair of words.
        """
        slips: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for phrase, value in self._values.items():
            name = "".join(phrase)
            if SLIP_CHARACTERS_MIN <= len(name) <= SLIP_CHARACTERS_MAX:
                for form in _with_one_left_out(name):
                    slips[form].append((name, value))
        return slips


def phrase_table(table: str) -> PhraseBook:
    """Phrases out of lines such as `senior: senior, sr`: a value and what stands for it. An indented line goes on with it."""
    lines = [line.partition(":") for line in table.strip().replace("\n ", " ").split("\n")]
    return PhraseBook((phrase.strip(), value) for value, _, phrases in lines for phrase in phrases.split(","))


def _with_one_left_out(word: str) -> set[str]:
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}
