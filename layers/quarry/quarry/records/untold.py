"""What a question asks for that what was found for it does not tell, however near it is.

Pure: the same inputs give the same words.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

from quarry.language.nouns import names_doer
from quarry.language.sentences import sentences
from quarry.language.stemming import stem
from quarry.language.writing import ENGLISH
from quarry.platform.text import shorten, significant_words, words
from quarry.records.candidates import RecordText
from quarry.records.deeds import asked_deed
from quarry.records.evidence import EvidenceSource
from quarry.records.fallbacks import IN_PART, LEANS_ON_PREVIOUS, extractive_answer, markdown_safe, read_body, values_of
from quarry.records.intent import parts
from quarry.records.quantities import DATE, REASON, Count, Quantity, asked_quantity

_YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")
_VALUE_ADDED = re.compile(r"[A-Z]\w{0,30}(?: \w{1,30}){0,2}: ")
"""What is told of the sentence before as "Against: Ada"."""
ALL_WORTH = 0.999
"""So much of what the best source holds of a question is as much, whatever it was rounded to."""
MOST = 0.6
"""This share of what is asked is spoken of where a date is told: some date stands in nearly every record."""
NAME_CHARACTERS_MAX = 120
"""So much of a question is said again."""


def untold(question: str, sources: Sequence[EvidenceSource], authors: Set[str] = frozenset()) -> str | None:
    """That neither the sources which hold most of a question, nor the sentences that answer it, tell an age, a price, a date, a
    number of things or the like where they speak of what it asks this of; that they do not speak of what was done, by or to
    somebody or something that is asked for, beside what else it says; or that none is of a year that it names. Empty where they
    do; None where nothing of the kind is asked for, or cannot be seen.
    """
    asked = [
        (kind, deed, part)
        for part in parts(question)
        for kind, deed in [(asked_quantity(part), asked_deed(part))]
        if kind or deed
    ]
    years = _YEAR.findall(question)
    about = _about(question, sources) if years or asked else []
    if not about or any(text.language != ENGLISH or _tells_values(text) for text in about):
        return None
    answer = list(extractive_answer(question, question, sources, authors))
    told = [answer[0], *(f"{text.title}\n{read_body(text)}" for text in about)]
    pieces = ((who, said) if said else ("", who) for who, _, said in (piece.partition(": “") for piece in answer))
    passages = [*_passages(pieces), *_passages((text.title, read_body(text)) for text in about)]
    others = frozenset(significant_words(question))
    lacking, unsaid = dict[str, None](), dict[str, None]()
    for kind, deed, part in asked:
        if deed:
            speaking = [said for context, said in passages if deed.is_told(f"{context} {said}", others)]
        elif kind == DATE:
            of = frozenset(significant_words(part))
            held = ((said, of.intersection(significant_words(f"{context} {said}"))) for context, said in passages)
            speaking = [said for said, words_held in held if len(words_held) >= MOST * len(of)] or [""]
        else:
            speaking = told
        # a reason may stand in any sentence beside what it is of
        telling = told if kind == REASON else speaking or told
        is_told = kind is None or (any(map(kind.is_told, told)) and any(map(kind.is_told, telling)))
        if kind and not (is_told or _is_called_otherwise(kind, told)):
            lacking[f"tell no {kind.name}"] = None
        elif deed and not speaking:
            unsaid[f"do not {markdown_safe(shorten(deed.name, NAME_CHARACTERS_MAX))}"] = None
    for year in years:
        if not any(_is_of(year, text) for text in about):
            unsaid[f"tell nothing of {year}"] = None
    if not (lacking or unsaid):
        return "" if asked else None
    return f"Of this the records found {' and '.join([*lacking, *unsaid])}: {IN_PART}."


def _is_called_otherwise(kind: Quantity | Count, told: Sequence[str]) -> bool:
    """Whether things that are to be counted are called by another name wherever they are spoken of: by that they are counted."""
    return isinstance(kind, Count) and not any(stem(word) == kind.noun for text in told for word in words(text))


def _is_of(year: str, text: RecordText) -> bool:
    """Whether a record is dated in a year or speaks of it, be it as the end of two ("2023–24")."""
    spoken = re.search(rf"\b{year}\b|\d[-–/]{year[2:]}\b", f"{text.title}\n{read_body(text)}")
    return spoken is not None or (text.date is not None and text.date.year == int(year))


def _about(question: str, sources: Sequence[EvidenceSource]) -> list[RecordText]:
    """The sources that hold most of a question, its rarer words counting more."""
    asked = set(significant_words(question))
    held = [asked.intersection(significant_words(f"{each.text.title}\n{read_body(each.text)}")) for each in sources]
    holders = Counter(word for words_held in held for word in words_held)
    worth = [sum(math.log(1 + len(sources) / holders[word]) for word in words_held) for words_held in held]
    return [each.text for each, worth_held in zip(sources, worth, strict=True) if worth_held >= ALL_WORTH * max(worth)]


def _tells_values(text: RecordText) -> bool:
    """Whether it has values with a number, whose unit their name may say, or nobody, or of who did something."""
    values = (line.partition(": ") for line in values_of(text))
    return any(any(map(str.isdigit, value)) or names_doer(label) for label, _, value in values)


def _passages(texts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Each sentence of texts with a title, behind that and the sentence before, where it leans on it or adds a value to it."""
    for title, text in texts:
        before = spoken_of = ""
        for line in text.split("\n"):
            for sentence in sentences(line):
                if _VALUE_ADDED.match(sentence):
                    context = spoken_of
                else:
                    context, spoken_of = before if LEANS_ON_PREVIOUS.match(sentence) else "", sentence
                yield f"{title}\n{context}", sentence
                before = sentence
