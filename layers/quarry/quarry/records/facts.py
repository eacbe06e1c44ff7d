"""What is known of an answer before anything is written: a number, or that the records do not hold what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quarry.platform.text import shorten
from quarry.records.candidates import RecordText
from quarry.records.contract import AggregationEvent, Citation, ConfidenceLevel
from quarry.records.evidence import EvidenceSource
from quarry.records.extraction import Quote, markdown_safe
from quarry.records.intent import words_to_look_up


@dataclass(frozen=True)
class Facts:
    """What is known for sure: `text` begins the answer; `is_all`: nothing else can answer it.

    `authors`: the question asks what they said. `doubt`: that what the records found may not answer, where that is likely.
    `basis`: what the number was counted on. `quotes`: the sentences that answer, best first. `chance`: how likely the records
    found answer, from 0 to 1, and `likely` the level that follows, where it is known.
    """

    text: str = ""
    counted: AggregationEvent | None = None
    is_all: bool = False
    authors: frozenset[str] = frozenset()
    doubt: str = ""
    basis: str = ""
    quotes: Sequence[Quote] = ()
    chance: float = 0.0
    likely: ConfidenceLevel | None = None

    def is_doubted_with(self, citations: Sequence[Citation]) -> bool:
        """Whether an answer with these citations answers in part at most. One that cites nothing says nothing of the records."""
        return bool(self.doubt) or (self.counted is None and not self.basis and not citations)


NEAREST_MAX = 3
SOUGHT_CHARACTERS_MAX = 200
CALLED_CHARACTERS_MAX = 120
NOTHING_ANSWERS = "The records searched here hold nothing that answers this"
NOTHING_FOUND = f"{NOTHING_ANSWERS}. Other words, or fewer, may find more."
UNSURE = "No record clearly answers this. The nearest say:"
IN_PART = "this may answer the question only in part"


def nothing_held(question: str, missing: Sequence[str], nearest: Sequence[EvidenceSource]) -> str:
    """That the records do not answer: what was looked for, which words of it no record holds, and what is nearest."""
    sought = f"“{markdown_safe(shorten(words_to_look_up(question), SOUGHT_CHARACTERS_MAX))}”"
    said = f"{NOTHING_ANSWERS}. Looked for: {sought}"
    said += f"; none of them names {_listed(missing)}." if missing else "."
    kinds: dict[str, str] = {}
    for each in nearest:
        title = markdown_safe(shorten(called(each.text), CALLED_CHARACTERS_MAX))
        kinds.setdefault(title, each.text.type.replace("_", " "))
    lines = [f"\n- {title} ({kind})" for title, kind in list(kinds.items())[:NEAREST_MAX]]
    return "".join([said, "\n\nThe nearest records:\n", *lines]) if lines else said


def doubt(missing: Sequence[str]) -> str:
    """That what was found may not answer the question, and which of its words no record holds."""
    return f"No record names {_listed(missing)}: {IN_PART}." if missing else UNSURE


def called(record: RecordText) -> str:
    """What a record is about, in words: one that is called by a number or a code, by what it says."""
    name = record.topic or record.title
    is_code = all(any(map(str.isdigit, part)) for part in name.split())
    return f"{name}: {' '.join(record.body.split())}" if is_code else name


def _listed(names: Sequence[str]) -> str:
    return " or ".join(f"“{markdown_safe(name)}”" for name in names)
