"""The names that the data holds, as far as they concern one query: what to look up for it, and how they are recognised in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from quarry.core.text import STOP_WORDS
from quarry.people.found import Vocabulary
from quarry.people.parsing.phrases import Found, PhraseBook
from quarry.people.parsing.places import gazetteer_book
from quarry.people.parsing.terms import skill_alias_book
from quarry.people.parsing.tokens import Token, keys, tokenise

PHRASE_WORDS_MAX = 6
PHRASES_MAX = 600

_NO_END = STOP_WORDS - {"go"}
_NO_START = _NO_END - {"the"}


def phrases_to_look_up(query: str) -> list[str]:
    """What may be a name in the data: every run of up to PHRASE_WORDS_MAX words as it is written, in lower case, with "and" for
    "&" and the other way round. The shorter runs first, at most PHRASES_MAX.
    """
    tokens = tokenise(query)
    phrases: dict[str, None] = {}
    for length in range(1, PHRASE_WORDS_MAX + 1):
        for start in range(len(tokens) - length + 1):
            run = tokens[start : start + length]
            if run[-1].key not in _NO_END and run[0].key not in _NO_START:
                phrases.update(dict.fromkeys(_written(query, run)))
        if len(phrases) >= PHRASES_MAX:
            break
    return list(phrases)[:PHRASES_MAX]


def _written(query: str, run: Sequence[Token]) -> Iterator[str]:
    text = " ".join(query[run[0].start : run[-1].end].lower().replace("’", "'").split())
    for form in (text, text.removesuffix("'s"), text.replace("'", "’")):
        yield form
        if len(run) > 2:
            yield form.replace(" and ", " & ")
            yield form.replace(" & ", " and ")


class KnownNames:
    """A vocabulary made ready to be recognised in text."""

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self._vocabulary = vocabulary or Vocabulary()

    @cached_property
    def companies(self) -> PhraseBook:
        return PhraseBook([*((name, name) for name in sorted(self._vocabulary.companies)), *self._without_place()])

    @cached_property
    def teams(self) -> PhraseBook:
        return _book(self._vocabulary.teams)

    @cached_property
    def sub_domains(self) -> PhraseBook:
        return _book(self._vocabulary.sub_domains)

    @cached_property
    def domains(self) -> PhraseBook:
        return _book(self._vocabulary.domains)

    @cached_property
    def skills(self) -> PhraseBook:
        return _book(self._vocabulary.skills)

    @cached_property
    def _own_places(self) -> PhraseBook:
        return PhraseBook(
            [
                *((name, f"city:{name}") for name in sorted(self._vocabulary.cities)),
                *((name, f"country:{name}") for name in sorted(self._vocabulary.countries)),
            ]
        )

    def company(self, name: str) -> str:
        """The known company that `name` must mean; `name` itself where none is like it, or several are."""
        words = keys(name)
        meant = self.companies.get(name) or self.companies.near(words)
        if meant is None and len(words) == 1:
            meant = self.companies.short_form(words[0])
        return meant or name

    def place_at(self, tokens: Sequence[Token], start: int) -> Found | None:
        """The place whose name begins with the word at `start`, as "kind:usual name"."""
        found = (gazetteer_book().longest_at(tokens, start), self._own_places.longest_at(tokens, start))
        return max((each for each in found if each), key=lambda each: each.length, default=None)

    def place_near(self, words: Sequence[str]) -> str | None:
        """The place that `words` is a slip of the pen for."""
        return self._own_places.near(words) or gazetteer_book().near(words)

    def skill_at(self, tokens: Sequence[Token], start: int) -> Found | None:
        """The skill or tool whose name or usual abbreviation begins with the word at `start`."""
        found = (self.skills.longest_at(tokens, start), skill_alias_book().longest_at(tokens, start))
        return max((each for each in found if each), key=lambda each: each.length, default=None)

    def _without_place(self) -> Iterator[tuple[str, str]]:
        """ "National Institute of Computing, Hyderabad" is called "National Institute of Computing" too."""
        for name in sorted(self._vocabulary.companies):
            first, comma, _ = name.partition(",")
            if comma:
                yield first, name


def _book(names: frozenset[str]) -> PhraseBook:
    return PhraseBook((name, name) for name in sorted(names))
