"""Slips of the pen are mended by what the companies found speak of, and nothing else is touched."""

from __future__ import annotations

import json
from functools import cache

import pytest

from quarry.companies.contract import Company
from quarry.companies.reading import read_question
from quarry.companies.spelling import mended
from quarry.local.judged import read_judged
from quarry.local.sample import sample_directory


@cache
def sample_companies() -> tuple[Company, ...]:
    lines = (sample_directory() / "companies" / "companies.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(Company.model_validate(json.loads(line)) for line in lines)


def topic(question: str) -> str:
    return mended(read_question(question), sample_companies()).topic


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("menatl helth for teens", "mental health for teens"),
        ("virtaul powr plant", "virtual power plant"),
        ("wildfire insurence", "wildfire insurance"),
        ("artifical inteligence for docters", "artificial intelligence for doctors"),
    ],
)
def test_slips_are_mended(question: str, meant: str) -> None:
    assert topic(question) == meant


@pytest.mark.parametrize("question", ["rent a wedding dress", "hair salon booking app", "nuclear fusion reactors"])
def test_a_word_that_merely_looks_like_one_of_theirs_stays(question: str) -> None:
    assert topic(question) == read_question(question).topic


def test_tags_are_read_anew() -> None:
    reading = mended(read_question("menatl helth for teens"), sample_companies())
    assert [tag.name for tag in reading.tags] == ["Mental Health"]


def test_without_companies_the_words_of_the_taxonomy_tell() -> None:
    assert mended(read_question("telemedecine"), []).topic == "telemedicine"


def test_questions_without_slips_are_read_as_they_stand() -> None:
    judged = read_judged(sample_directory() / "companies" / "judged.jsonl")
    questions = [query.query for query in judged if query.kind not in ("typo", "name")]
    assert [question for question in questions if topic(question) != read_question(question).topic] == []
