"""Questions made over invented databases: each has an answer, in the languages of its words, and they are the same each time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.pairs import DATABASES
from tools.fit.invented import Maker, invented_pairs, wordings
from tools.fit.pairs import OWN, Pair
from tools.fit.training import Fit
from tools.fit.world import World

SPOKEN = sorted(path.stem for path in DATABASES.glob("*.toml"))


@pytest.fixture(scope="module")
def fit(shared_url: str) -> Iterator[Fit]:
    with psycopg.connect(shared_url, autocommit=True) as connection:
        yield Fit(World(connection, Path(), DATABASES.parent), [])


def _of(name: str) -> Pair:
    return Pair(f"{OWN}{name}", "", None)


@pytest.mark.parametrize("name", SPOKEN)
def test_questions_are_made_in_each_language_and_have_an_answer(fit: Fit, name: str) -> None:
    made = invented_pairs(fit, _of(name), 30)
    languages = {
        line[1:3] for line in (DATABASES / f"{name}.toml").read_text(encoding="utf-8").splitlines() if line[:1] == "["
    }
    assert len(made) > 15
    assert {each.language for each in made} == languages
    assert len({each.question for each in made}) == len(made)
    assert all(fit.world.database(each.database).gold(each) for each in made)
    assert not [each.question for each in made if "{" in each.question]


def test_the_same_questions_are_made_each_time(fit: Fit) -> None:
    assert invented_pairs(fit, _of("librairie"), 20) == invented_pairs(fit, _of("librairie"), 20)


def test_words_for_a_field_that_does_not_exist_are_refused(fit: Fit) -> None:
    one = invented_pairs(fit, _of("librairie"), 1)[0]
    with pytest.raises(LookupError, match="livres has no couverture"):
        Maker(
            fit.world.database(one.database),
            "fr",
            {"livres": {"_": "le livre; livres", "couverture": "couverture"}},
            one.today,
        )


def test_languages_are_worded_in_the_same_forms_and_each_form_in_several_ways() -> None:
    forms = {language: {*each} for language, each in wordings().items()}
    assert forms["en"] == forms["de"] == forms["fr"]
    asked = [
        form
        for form in wordings()["en"]
        if "{R}" in str(wordings()["en"][form]) or "{many}" in str(wordings()["en"][form])
    ]
    assert all(len(wordings()[language][form]) > 1 for language in forms for form in asked)
