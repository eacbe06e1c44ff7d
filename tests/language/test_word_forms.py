"""A field leads to who works in it, and back."""

from __future__ import annotations

import pytest

from quarry.language.word_forms import word_forms

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
