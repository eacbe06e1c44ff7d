"""Stems are those of Postgres."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import psycopg
import pytest

from quarry.language.tokens import stem
from quarry.local.sample import sample_directory


@cache
def sample_words() -> tuple[str, ...]:
    text = "\n".join(path.read_text() for path in sorted(sample_directory().glob("*/*.jsonl")))
    return tuple(sorted({word.lower() for word in re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text)}))


def test_every_word_of_the_sample_has_the_stem_that_postgres_gives_it(server_url: str) -> None:
    with psycopg.connect(server_url) as connection:
        rows = connection.execute(
            "select word, ts_lexize('english_stem', word) from unnest(%s::text[]) as word", [list(sample_words())]
        ).fetchall()
    # a stop word has no lexeme in Postgres; "added" is "ad" until Postgres 17, and "add" since
    lexemes = {word: found[0] for word, found in rows if found and found != ["add"]}
    assert len(lexemes) > 9_000
    assert {word: stem(word) for word in lexemes} == lexemes


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [("hearings", "hear"), ("warnings", "warn"), ("Companies", "compani"), ("the", "the"), ("c++", "c++"), ("", "")],
)
def test_the_stem_of(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


@pytest.mark.parametrize(
    "family",
    [
        "vote votes voted voting",
        "city cities city's",
        "plan plans planned planning",
        "study studies studied studying",
        "pass passes passed passing",
        "agree agrees agreed",
        "house houses housed housing",
        "class classes",
    ],
)
def test_inflections_of_a_word_share_a_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


def test_threads_do_not_disturb_each_other() -> None:
    words = sample_words()[:4000]
    alone = [stem.__wrapped__(word) for word in words]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: [stem.__wrapped__(word) for word in words], range(4)))
    assert all(each == alone for each in together)
