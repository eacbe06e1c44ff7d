"""The language of a question is recognised, or known to be uncertain."""

from __future__ import annotations

import pytest

from quarry.language.recognition import Language, language_of
from tools.fit.languages import read_questions


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How many invoices are overdue?", "english"),
        ("Wie viele Rechnungen sind überfällig?", "german"),
        ("Zeig mir die zehn teuersten Fahrräder", "german"),
        ("Combien de factures sont en retard ?", "french"),
        ("Quels clients n’ont rien commandé depuis janvier ?", "french"),
        ("¿Cuántas facturas están vencidas?", None),
        ("Quante fatture sono scadute?", None),
        ("2025", None),
        ("", None),
    ],
)
def test_a_question_has_a_language_or_none_that_is_certain(question: str, language: Language | None) -> None:
    assert language_of(question) == language


def test_questions_that_nothing_was_fitted_to_are_recognised() -> None:
    held_out = [(question, language) for question, language, is_out in read_questions() if is_out]
    found = [(language, language_of(question)) for question, language in held_out]
    assert len(held_out) > 2_000
    wrong = sum(one is not None and one != language for language, one in found)
    assert wrong <= 0.002 * len(found)
    for each, share in (("english", 0.97), ("german", 0.92), ("french", 0.93)):
        own = [one for language, one in found if language == each]
        assert sum(one == each for one in own) >= share * len(own)
