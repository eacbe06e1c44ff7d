"""Text is cut at the ends of sentences and nowhere else."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.language.sentences import sentence_spans, sentences
from tests.linear.measuring import assert_linear, repeated

TEXTS = st.text(alphabet=st.sampled_from("aB1 .!?\n\t\"”)('’,:—–-é[]"), max_size=80)
LISTED = tomllib.loads(files("quarry.language").joinpath("data/abbreviations.toml").read_text(encoding="utf-8"))
ABBREVIATED = [
    (language, word.strip())
    for language, lists in LISTED.items()
    for name in ("never", "may_end")
    for word in lists[name].split(",")
]


@pytest.mark.parametrize(
    "text",
    [
        "It passed.| Was it close?| Yes!| Six to three.",
        "Mr. Lee, Dr. Kim and J. R. Ortiz spoke at St. Mary Ave. 5.| Nobody else did.",
        "The U.S. Senate met at 5 p.m. Monday.| The roof cost $1.5M.| It leaks.",
        "It rose 3.5 percent to $4.20 per unit.| $2 remain.",
        "He said “No more.”| Then (as agreed.)| “Good.”",
        "A heading|\nA line without a full stop|\n\nthe last line",
        "See No. 5 and pp. 3 of it.| He said no.| It was over by 9 p.m.| The end.",
        "J. A. Smith of Acme Inc. asked.| Plan B.| It failed.",
        "Es gab z. B. Äpfel, ca. 12 Kg bzw. Birnen.| Über den 3. Mai sprach Hr. Lang.| Ärger gab es nicht.",
        "M. Petit et Mme. Roux sont là.| Été comme hiver.",
        "It is deep. [1]| Divers saw it [2].| “Yes.” [1][2]| **Then** it closed.",
        "1. First of all. [1]|\n2. Second",
        "lower case. goes on, as in example.com or at 3.30",
    ],
)
def test_text_is_cut_at_the_ends_of_sentences_and_nowhere_else(text: str) -> None:
    assert sentences(text.replace("|", "")) == [part.strip() for part in text.split("|")]


def test_a_sentence_goes_on_over_a_line_break_after_an_abbreviation() -> None:
    assert sentences("Moved by Mr.\nLee. Seconded.") == ["Moved by Mr. Lee.", "Seconded."]


@given(
    st.sampled_from(ABBREVIATED),
    st.sampled_from(["Ortiz", "Äpfel", "Ödön", "K. Lee", "7"]),
    st.sampled_from(["(", "“", ""]),
)
def test_no_abbreviation_before_a_name_ends_a_sentence(abbreviation: tuple[str, str], name: str, opening: str) -> None:
    text = f"That was {opening}{abbreviation[1]}. {name} said"
    assert sentences(f"{text}. Nobody knew. [1]") == [f"{text}.", "Nobody knew. [1]"]


@given(st.sampled_from([each for each in ABBREVIATED if each[1] in LISTED[each[0]]["may_end"].split(", ")]), st.data())
def test_what_may_end_a_sentence_does_before_a_word_that_begins_one(
    abbreviation: tuple[str, str], data: st.DataObject
) -> None:
    begins = [word for word in LISTED[abbreviation[0]]["begins"].split() if len(word) > 1]
    word = data.draw(st.sampled_from(begins)).capitalize()
    assert sentences(f"That was {abbreviation[1]}. {word} goes on") == [
        f"That was {abbreviation[1]}.",
        f"{word} goes on",
    ]


@given(TEXTS)
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    found = sentences(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert [" ".join(text[start:end].split()) for start, end in sentence_spans(text)] == found
    assert all(text[start:end] == text[start:end].strip() for start, end in sentence_spans(text))


@pytest.mark.parametrize(
    "hostile",
    [
        repeated("A. "),
        repeated("Mr. "),
        repeated(" [1]", "x."),
        repeated(" ", "x.", "y"),
        repeated(")", "x.", "y"),
        repeated("\n"),
    ],
)
def test_twice_the_text_takes_about_twice_as_long(hostile: Callable[[int], str]) -> None:
    assert_linear(sentences, hostile, 100_000)
