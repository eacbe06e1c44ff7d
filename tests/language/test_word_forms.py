"""Forms of one word: one and several, a field and who works in it."""

from __future__ import annotations

import pytest

from quarry.language.word_forms import plural, singular, word_forms


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


FAMILIES = [
    ("economists", "economics"),
    ("biologist", "biology"),
    ("chemist", "chemistry"),
    ("therapist", "therapy"),
    ("artist", "art"),
    ("mathematician", "mathematics"),
    ("historian", "history"),
    ("engineers", "engineering"),
    ("developer", "development"),
    ("researcher", "research"),
    ("lawyers", "law"),
    ("investors", "investment"),
    ("consultant", "consulting"),
]


@pytest.mark.parametrize(("worker", "field"), FAMILIES)
def test_who_works_in_a_field_and_the_field_lead_to_each_other(worker: str, field: str) -> None:
    assert field in word_forms(worker)
    assert worker.removesuffix("s") in word_forms(field)


@pytest.mark.parametrize(
    ("plural", "singular"), [("wolves", "wolf"), ("fishwives", "fishwife"), ("salesmen", "salesman")]
)
def test_a_plural_that_no_stemmer_knows_leads_to_its_singular(plural: str, singular: str) -> None:
    assert singular in word_forms(plural)
