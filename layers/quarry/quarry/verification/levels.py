"""How far an answer can be believed, as one level with its ground in words: the same for every kind of answer, everywhere. Pure.

A written answer is as good as its statements; an exact result as the reading of its question; passages claim nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from quarry.platform.text import shorten
from quarry.verification.check import Checked, Verification
from quarry.verification.names import names_in
from quarry.verification.passages import folded
from quarry.verification.trust import Trust
from quarry.verification.values import read_values

Certainty = Literal["given", "sure", "likely", "doubtful"]
UNREAD_CHARACTERS_MAX = 120


@dataclass(frozen=True)
class Exact:
    """The result of a query that a question was read as: how certain the reading is, and the words that no part of it reads. A
    query that was `given` was not read.
    """

    certainty: Certainty
    unread: Sequence[str] = ()

    @classmethod
    def read(cls, *, is_sure: bool, unread: Sequence[str] = ()) -> Self:
        """The result of a query that was read surely, or only likely meant."""
        return cls("sure" if is_sure else "likely", unread)


@dataclass(frozen=True)
class Passages:
    """Sentences of sources, as they stand."""


def level(
    basis: Verification | Exact | Passages, *, missing: Sequence[str] = (), is_talk: bool = False
) -> Trust | None:
    """How far an answer on this basis can be believed; None where it claims nothing. What is `missing` are parts of the data that
    could not be read: an answer without them is not trusted far. `is_talk`: the writer says that the text rests on no source and
    no result; it has a level only where the check finds a claim in it that is true or false, or one with a name, number or date
    that the question does not say.
    """
    match basis:
        case Passages():
            return None
        case Exact():
            found = _of_reading(basis)
        case Verification():
            asked = folded(basis.question)
            if not basis.claims or (is_talk and not any(_claims(each, asked) for each in basis.claims)):
                return None
            found = _of_statements(basis)
    if missing and found.level != "low":
        return Trust("low", f"Low: {', '.join(missing)} could not be searched")
    return found


def _claims(statement: Checked, asked: str) -> bool:
    """Whether a statement claims something of the data that was not `asked`, whatever its writer says that it rests on."""
    if statement.state != "plausible":
        return True
    read = read_values(statement.text)
    if read.votes or read.codes:
        return True
    said = [*(each.text for each in read.numbers), *(each.text for each in read.days)]
    said += map(" ".join, names_in(statement.text, frozenset()))
    return bool(read.times) or any(folded(each) not in asked for each in said)


def _of_reading(basis: Exact) -> Trust:
    if basis.certainty == "given":
        return Trust("high", "High: the exact result of what you set")
    if basis.unread:
        return Trust("low", f"Low: not read: {shorten(', '.join(basis.unread), UNREAD_CHARACTERS_MAX)}")
    if basis.certainty == "doubtful":
        return Trust("low", "Low: the question may mean something else")
    if basis.certainty == "likely":
        return Trust("medium", "Medium: the question was likely meant like this")
    return Trust("high", "High: everything in the question was read")


def _of_statements(basis: Verification) -> Trust:
    claims, flagged, verified = len(basis.claims), len(basis.of("flagged")), len(basis.of("verified"))
    if flagged:
        where = "is not in its source" if flagged == 1 else "are not in their sources"
        return Trust("low", f"Low: {flagged} of {claims} {where}")
    if not verified:
        return Trust(
            "low", "Low: no statement could be checked" if claims > 1 else "Low: its statement could not be checked"
        )
    if verified < claims:
        return Trust("medium", f"Medium: {verified} of {claims} statements checked")
    return Trust("high", f"High: all {claims} statements checked" if claims > 1 else "High: its statement is checked")
