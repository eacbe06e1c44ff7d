"""One and several of what a noun names."""

from __future__ import annotations

import pytest

from quarry.language.word_forms import plural, singular


@pytest.mark.parametrize(
    ("one", "several"),
    [
        ("ticket", "tickets"),
        ("category", "categories"),
        ("day", "days"),
        ("address", "addresses"),
        ("box", "boxes"),
        ("branch", "branches"),
        ("support ticket", "support tickets"),
    ],
)
def test_one_and_several(one: str, several: str) -> None:
    assert (plural(one), singular(several)) == (several, one)


def test_what_only_ends_like_a_plural_stays() -> None:
    assert [singular(word) for word in ("status", "address", "news", "ties")] == ["status", "address", "new", "tie"]
    assert [plural(word) for word in ("tickets", "addresses")] == ["tickets", "addresses"]
