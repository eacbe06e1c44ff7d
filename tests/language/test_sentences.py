"""Splits text at the ends of sentences and nowhere else."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.language.word_forms import sentence_spans, sentences

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


@given(
    st.sampled_from(ABBREVIATED),
    st.sampled_from(["Ortiz", "Äpfel", "Ödön", "K. Lee", "7"]),
    st.sampled_from(["(", "“", ""]),
)
def test_no_abbreviation_before_a_name_ends_a_sentence(abbreviation: tuple[str, str], name: str, opening: str) -> None:
    text = f"That was {opening}{abbreviation[1]}. {name} said"
    assert sentences(f"{text}. Nobody knew. [1]") == [f"{text}.", "Nobody knew. [1]"]


@given(TEXTS)
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    found = sentences(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert [" ".join(text[start:end].split()) for start, end in sentence_spans(text)] == found
    assert all(text[start:end] == text[start:end].strip() for start, end in sentence_spans(text))
