"""Forms of irregular verbs find each other."""

from __future__ import annotations

import pytest

from quarry.language.irregular import is_past, other_forms


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("break", ("broke", "broken")),
        ("breaks", ("broke", "broken")),
        ("broken", ("break", "broke")),
        ("hung", ("hang",)),
        ("paid", ("pay",)),
        ("mended", ()),
    ],
)
def test_a_verb_has_the_forms_that_its_stem_does_not_bring_together(word: str, forms: tuple[str, ...]) -> None:
    assert other_forms(word) == forms


@pytest.mark.parametrize(
    ("word", "past"), [("sold", True), ("worn", True), ("sell", False), ("children", False), ("buses", False)]
)
def test_the_past_is_of_verbs_alone(word: str, past: bool) -> None:
    assert is_past(word) is past
