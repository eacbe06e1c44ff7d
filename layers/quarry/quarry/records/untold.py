"""What a question asks for that what was found for it does not tell, however near it is.

Pure: the same inputs give the same words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence, Set

from quarry.core.language.nouns import names_doer
from quarry.core.language.sentences import sentences
from quarry.core.language.writing import ENGLISH
from quarry.core.text import shorten, significant_words
from quarry.records.candidates import RecordText
from quarry.records.deeds import asked_deed
from quarry.records.evidence import EvidenceSource
from quarry.records.fallbacks import IN_PART, extractive_answer, markdown_safe, read_body, values_of
from quarry.records.intent import parts
from quarry.records.quantities import asked_quantity

ALL_WORTH = 0.999
"""So much of what the best source holds of a question is as much, whatever it was rounded to."""
NAME_CHARACTERS_MAX = 120
"""So much of a question is said again."""


def untold(question: str, sources: Sequence[EvidenceSource], authors: Set[str] = frozenset()) -> str:
    """That neither the sources which hold most of a question, nor the sentence that leads its answer, tell an age, a price, a
    date, a number of things or the like that it asks for; or that nowhere in these or its whole answer what it asks this of, or
    what somebody did who is asked for, is spoken of beside anything else that it says. Empty where nothing of the kind is asked
    for, or it is told.
    """
    asked = [(asked_quantity(part), asked_deed(part)) for part in parts(question)]
    about = _about(question, sources) if any(map(any, asked)) else []
    if not about or any(text.language != ENGLISH or _tells_values(text) for text in about):
        return ""
    answer = list(extractive_answer(question, question, sources, authors))
    told = [answer[0], *(f"{text.title}\n{read_body(text)}" for text in about)]
    others = frozenset(significant_words(question))
    lacking, unsaid = dict[str, None](), dict[str, None]()
    for kind, deed in asked:
        if kind and not any(map(kind.is_told, told)):
            lacking[f"tell no {kind.name}"] = None
        elif deed and not any(deed.is_told(each, others) for each in (*answer, *_passages(about))):
            unsaid[f"do not {markdown_safe(shorten(deed.name, NAME_CHARACTERS_MAX))}"] = None
    return f"Of this the records found {' and '.join([*lacking, *unsaid])}: {IN_PART}." if lacking or unsaid else ""


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


def _passages(texts: Sequence[RecordText]) -> Iterator[str]:
    """Each sentence of these with those beside it, and its title."""
    for text in texts:
        several = [sentence for line in read_body(text).split("\n") for sentence in sentences(line)]
        for place in range(len(several)):
            yield f"{text.title}\n{' '.join(several[max(place - 1, 0) : place + 2])}"
