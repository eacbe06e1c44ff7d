"""Forms of one word: one and several, a field and who works in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.language.word_forms import WORD_CHARACTERS_MAX, plural, singular, word_forms


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
    ("economist", "economy"),
    ("biologist", "biology"),
    ("physicist", "physics"),
    ("scientist", "science"),
    ("chemist", "chemistry"),
    ("journalists", "journalism"),
    ("therapist", "therapy"),
    ("pharmacist", "pharmacy"),
    ("psychiatrist", "psychiatry"),
    ("artist", "art"),
    ("mathematician", "mathematics"),
    ("politician", "politics"),
    ("musician", "music"),
    ("historian", "history"),
    ("librarian", "library"),
    ("engineers", "engineering"),
    ("designer", "design"),
    ("developer", "development"),
    ("managers", "management"),
    ("researcher", "research"),
    ("teachers", "teaching"),
    ("writer", "writing"),
    ("banker", "banking"),
    ("lawyers", "law"),
    ("photographer", "photography"),
    ("programmer", "programming"),
    ("investors", "investment"),
    ("educator", "education"),
    ("consultant", "consulting"),
    ("accountant", "accounting"),
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


def test_a_demonym_leads_to_its_place() -> None:
    assert word_forms("nigerians")[0] == "nigeria"
    assert word_forms("american")[0] == "united states"


@pytest.mark.parametrize("word", ["", "c++", "node.js", "2020", "Engineer", "x" * (WORD_CHARACTERS_MAX + 1)])
def test_what_is_no_plain_word_has_no_family(word: str) -> None:
    assert word_forms(word) == ()


@given(word=st.text("abcdefinorstyg", max_size=12))
def test_forms_are_other_words_each_once(word: str) -> None:
    forms = word_forms(word)
    assert word not in forms
    assert len(set(forms)) == len(forms) <= 40
    assert all(len(form) >= 3 for form in forms)
