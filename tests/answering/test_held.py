"""What of a text is held back until it is checked."""

from __future__ import annotations

import pytest

from quarry.answering.answer import ReleaseGate
from quarry.verification.check import Verifier
from quarry.verification.wire import MarkedText
from tests.verification.answers import TODAY
from tests.verification.test_check import HARBOUR, LOANS


def passed(text: str, size: int) -> tuple[str, str]:
    """What is sent before the end, and what is held back."""
    held = ReleaseGate(Verifier([HARBOUR], [LOANS], today=TODAY))
    for at in range(0, len(text), size):
        held.take(text[at : at + size])
        held.released()
    return held.sent_text, held.buffer


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(
    ("sent", "held"),
    [
        ("The ferry sails from ", "Holm to Pier Nine [1]. More."),
        ("The vote was 6–3 [1]. A motion to wait failed ", "3–6 [1]. It is a wall."),
        ("1. Mill Lane: 840\n2. Station: ", "616\n3. Harbour: 210"),
        ("| Branch | Loans |\n|---|---|\n| Mill Lane | 840 |\n", "| Station | 616 |\nDone."),
    ],
)
def test_the_text_from_the_first_false_value_on_is_held_back(sent: str, held: str, size: int) -> None:
    whole, rest = passed(sent + held, size)
    assert whole + rest == sent + held
    assert sent.startswith(whole)
    assert size > 4 or whole.startswith(sent[:-4])


def test_words_without_a_value_leave_at_once() -> None:
    assert passed("The tenants were not told", 1) == ("The tenants were not told", "")


def test_daggers_stand_behind_what_is_flagged_however_the_text_was_cut() -> None:
    text = "It is so [1]. | a | b |"
    for size in (1, 5, 100):
        marked = MarkedText()
        shown = "".join(marked.feed(text[at : at + size]) for at in range(0, len(text), size))
        assert (shown + marked.finish([len(text)])).endswith("| b†|")
