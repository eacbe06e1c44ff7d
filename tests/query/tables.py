"""Tables that nobody serves, each with the values that it holds, and a plain look-up of a question's words in them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from quarry.language.stemming import stem
from quarry.language.tokens import keys, tokenise
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.interpretation import interpret
from quarry.spans.lexicon import Lexicon, lexicon_of
from quarry.spans.mention import KnownValue, ParsedQuery, ValueMatch, Vocabulary
from quarry.spans.parser import look_ups, parse
from quarry.spans.question import Question

TODAY = datetime.date(2026, 3, 18)
PHRASE_WORDS_MAX = 6


@dataclass(frozen=True)
class Filled:
    """A table and the values of its facets."""

    table: SearchTable
    values: Mapping[str, Sequence[str]]


RECIPES = Filled(
    SearchTable(
        "recipes",
        ("recipe", "dish"),
        (
            Facet("cuisine", "value", "cuisine", "cuisine", "cuisines"),
            Facet("course", "value", "course", "course", "courses", synonyms=(("pudding", "dessert"),)),
            Facet("ingredient", "array", "ingredients", "ingredient", "ingredients", leads=("with",)),
            Facet("trait", "array", "traits", "trait", "traits", words=("property",)),
            Facet("cook", "name", "cook", "cook", "cooks", words=("chef", "author"), leads=("by",)),
            Facet("minutes", "number", "minutes", "cooking time", "cooking times", units=("minute",), words=("long",)),
            Facet("has_video", "boolean", "has_video", "video", "videos"),
            Facet("added", "date", "added_on", "date added", "dates added", words=("added",)),
        ),
        date="added",
        recent_days=30,
    ),
    {
        "cuisine": ("Thai", "Italian", "Mexican", "French", "Japanese"),
        "course": ("soup", "dessert", "main course", "salad"),
        "ingredient": ("garlic", "onion", "butter", "chicken", "tofu", "peanuts", "cream", "pork", "beef", "red wine"),
        "trait": ("spicy", "vegan", "cheap", "festive"),
        "cook": ("Ada Brook", "Tomás Rey", "Kitchen Nine", "Mill & Co"),
    },
)

BUILDINGS = Filled(
    SearchTable(
        "buildings",
        ("building", "house"),
        (
            Facet("architect", "name", "architect", "architect", "architects", words=("designer",), leads=("by",)),
            Facet("style", "value", "style", "style", "styles"),
            Facet("city", "place", "city", "city", "cities", leads=("in",)),
            Facet("country", "place", "country", "country", "countries", leads=("in", "from")),
            Facet("use", "array", "uses", "use", "uses"),
            Facet("height", "number", "height", "height", "heights", units=("metre",), words=("tall", "high")),
            Facet("floors", "number", "floors", "floor", "floors", units=("floor", "storey")),
            Facet("cost", "money", "cost", "cost", "costs", words=("price", "expensive", "cheap"), currency="EUR"),
            Facet("completed", "date", "completed_on", "completion", "completions", words=("completed", "built")),
            Facet("status", "value", "status", "status", "statuses", is_hard=False),
        ),
        date="completed",
    ),
    {
        "architect": ("Lina Moro", "Otto Vance", "Studio Kern"),
        "style": ("Gothic", "Brutalist", "Baroque", "Art Deco"),
        "city": ("Porto", "Ghent", "Lyon", "Kyoto"),
        "country": ("Portugal", "Belgium", "France", "Japan"),
        "use": ("library", "museum", "station", "hospital"),
        "status": ("demolished", "standing"),
    },
)

BOOKS = Filled(
    SearchTable(
        "books",
        ("book", "title", "volume"),
        (
            Facet("author", "name", "author", "author", "authors", words=("writer",), leads=("by",)),
            Facet("publisher", "value", "publisher", "publisher", "publishers", words=("press",), leads=("from", "at")),
            Facet("genre", "array", "genres", "genre", "genres"),
            Facet("language", "value", "language", "language", "languages", leads=("in",)),
            Facet("branch", "value", "branch", "branch", "branches", leads=("at",)),
            Facet("pages", "number", "pages", "length", "lengths", units=("page",), words=("long",)),
            Facet("year", "number", "year", "year", "years", words=("published",)),
        ),
    ),
    {
        "author": ("Ines Falk", "R. Odoyo", "Marta Quill"),
        "publisher": ("Heron House", "Saltmarsh", "Ninth Gate"),
        "genre": ("crime", "romance", "poetry", "travel"),
        "language": ("Welsh", "Danish", "English", "Danish sign"),
        "branch": ("Harbour", "Old Town", "Mill Lane"),
    },
)

TABLES = {filled.table.name: filled for filled in (RECIPES, BUILDINGS, BOOKS)}
SERVED: dict[str, Filled] = {}
"""Tables of a domain, with values, where its tests need them."""


@cache
def lexicon(name: str) -> Lexicon:
    return lexicon_of((TABLES | SERVED)[name].table)


def vocabulary(text: str, filled: Filled) -> Vocabulary:
    """What the data knows of the words of `text`: whole values, and the last name of somebody."""
    words = [stem(token.key) for token in tokenise(text)]
    matches = []
    for facet, value, phrase, is_whole in _phrases(filled.table.name):
        for first in range(len(words) - len(phrase) + 1):
            if tuple(words[first : first + len(phrase)]) == phrase:
                known = KnownValue(facet, value, rows=3, is_whole=is_whole)
                matches.append(ValueMatch(first, first + len(phrase), known))
    wanted = look_ups(text, lexicon=lexicon(filled.table.name), reference_date=TODAY)
    for look_up in wanted:
        phrase = tuple(stem(key) for key in keys(look_up.phrase))
        for facet, value, known_phrase, is_whole in _phrases(filled.table.name):
            if is_whole and phrase == known_phrase and look_up.facet in (None, facet):
                matches.append(ValueMatch(look_up.first, look_up.last, KnownValue(facet, value, rows=3)))
    return Vocabulary(tuple(matches))


@cache
def _phrases(name: str) -> tuple[tuple[str, str, tuple[str, ...], bool], ...]:
    filled = (TABLES | SERVED)[name]
    phrases = []
    for facet, values in filled.values.items():
        for value in values:
            words = tuple(stem(key) for key in keys(value))
            phrases.append((facet, value, words, True))
            if filled.table.facet(facet).kind == "name" and len(words) > 1:
                phrases.append((facet, value, words[-1:], False))
    return tuple(phrases)


def read(text: str, filled: Filled) -> ParsedQuery:
    return parse(text, lexicon=lexicon(filled.table.name), vocabulary=vocabulary(text, filled), reference_date=TODAY)


def asked(text: str, filled: Filled, earlier: Sequence[str] = ()) -> Question:
    """The question that `text` puts, after those before it."""
    question: Question | None = None
    for each in (*earlier, text):
        question = interpret(read(each, filled), filled.table, question)
    assert question is not None
    return question
