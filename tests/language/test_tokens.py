"""Words recognised by their letters alone, and stems, which equal those of Postgres."""

from __future__ import annotations

import re
from functools import cache

import psycopg
import pytest

from quarry.language.recognition import is_likely_english
from quarry.language.word_forms import codes_in, stem
from quarry.local.data import sample_directory
from quarry.platform.text import left_out


def test_codes_are_found_without_surrounding_characters() -> None:
    assert codes_in("Is AB-10417 (or K20415) open?") == ["AB-10417", "K20415"]


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
    ("question", "is_english"),
    [
        ("How many campaigns ran on Instagram?", True),
        ("Zalando", True),
        ("top 5 brands by offers", True),
        ("Wie viele Kampagnen liefen auf Instagram?", False),
        ("Welche Marken hatten die meisten Angebote?", False),
        ("Quelles marques ont le plus d'offres ?", False),
        ("¿Cuántas campañas tiene cada marca?", False),
    ],
)
def test_a_question_in_another_language_is_known_by_its_words(question: str, is_english: bool) -> None:
    assert is_likely_english(question) is is_english


@pytest.mark.parametrize(
    ("question", "arguments", "expected"),
    [
        ("European startups for soil", '{"country": "Europe", "need": "soil"}', ["startups"]),
        ("Latin American banks", '{"country": "Latin America", "need": "bank"}', []),
        ("South Korean or German chips", '{"country": "South Korea", "need": "chips"}', ["german"]),
    ],
)
def test_the_words_that_a_search_leaves_out_are_said_in_no_form(
    question: str, arguments: str, expected: list[str]
) -> None:
    assert left_out(question, arguments) == expected
