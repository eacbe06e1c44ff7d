"""What reaches a client of the citations that a model writes."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quarry.answering.written import INLINE_CODE_CHARACTERS_MAX, MARKER_CHARACTERS_MAX, CitationFilter
from tests.linear.measuring import assert_linear, repeated

SOURCES = {1, 2, 3, 11}

LINE_PREFIX = r"(?>(?:[ \t>*+-]|\d{1,9}[.)])*)"
CODE = re.compile(
    rf"^{LINE_PREFIX}(`{{3,}})(?!`)[^`\n]*$.*?(?:^{LINE_PREFIX}\1`*[ \t]*$|\Z)"
    rf"|(?<!`)(`+)(?!`)[^\n]{{0,{INLINE_CODE_CHARACTERS_MAX}}}?(?<!`)\2(?!`)",
    re.DOTALL | re.MULTILINE,
)
"""Code in a whole answer, as the filter sees it."""

# Text in which almost every character matters to the filter.
TRICKY = st.text(st.sampled_from("[[[]]]【】［］1239 ,;&^†–-\n`axnds"), max_size=60)
PARTS = st.lists(
    st.sampled_from(
        [
            "[1]",
            "[9]",
            "[1, 9]",
            "[[2]]",
            "[2[9]7]",
            "【3】",
            "[1-3]",
            " ",
            "word",
            "`",
            "```",
            "\n",
            "[",
            "]",
            "[1 and 9]",
            "[^1]",
            "【1†source】",
            "［9］",
            "[Source 2",
            "and",
            "†",
        ]
    ),
    max_size=20,
).map("".join)


def filtered(text: str, cuts: list[int] | None = None, sources: set[int] = SOURCES) -> str:
    """`text` through the filter, cut at the places `cuts`."""
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts or [])})
    citations = CitationFilter(sources)
    return "".join(citations.feed(text[start:end]) for start, end in pairwise(places)) + citations.finish()


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("Kept [1-3].", "Kept [1][2][3]."),
        ("Kept [[1]].", "Kept [1]."),
        ("Kept 【1】.", "Kept [1]."),
        ("Kept ［1］.", "Kept [1]."),
        ("Kept 【1†source】【9†L4-L8】【2†the minutes.pdf】.", "Kept [1][2]."),
        ("Kept [^1][^9].", "Kept [1]."),
        ("Kept [1 and 2].", "Kept [1][2]."),
        ("Kept [Source 1].", "Kept [1]."),
        ("Kept [sources 1-3 and 11].", "Kept [1][2][3][11]."),
        ("[sources] and [source code]", "[sources] and [source code]"),
        ("Kept [1, 9].", "Kept [1]."),
        ("Kept [7-12].", "Kept [11]."),
        ("Kept [9][1].", "Kept[1]."),
        ("In [2024] and [1234567].", "In and."),
        ("- [ ] to do, [x] done", "- [ ] to do, [x] done"),
        ("[see the report]", "[see the report]"),
        ("A split one: [2[9]7]", "A split one: [2 7]"),
        ("Kept [" + ", ".join(["1", "2", "3"] * 30) + "].", "Kept [1][2][3]."),
        ("Kept [1](https://example.org).", "Kept [1] (https://example.org)."),
    ],
)
def test_only_markers_that_name_a_source_are_sent(written: str, sent: str) -> None:
    assert filtered(written) == sent


@pytest.mark.parametrize(
    "code",
    [
        "`row[9]`",
        "```python\nrow[9] = `[9]`\n```",
        "```\nnever closed [9]",
        "- ```\n  row[9]\n  ```",
    ],
)
def test_code_is_left_alone(code: str) -> None:
    assert filtered(f"See\n{code}") == f"See\n{code}"
    assert filtered(f"See\n{code}", list(range(len(code) + 5))) == f"See\n{code}"


def test_text_is_sent_as_soon_as_it_cannot_become_a_marker() -> None:
    citations = CitationFilter({1})
    sent = [citations.feed(chunk) for chunk in ["The elm", " stays ", "[", "1", "]", " for now"]]
    assert sent == ["The elm", " stays", "", "", " [1]", " for now"]


def test_what_is_held_back_is_bounded() -> None:
    citations = CitationFilter({1})
    assert "".join(citations.feed(character) for character in "[" + "1," * MARKER_CHARACTERS_MAX)
    assert "".join(citations.feed(character) for character in "`" + "x" * 2 * INLINE_CODE_CHARACTERS_MAX)


@given(st.text() | TRICKY | PARTS, st.lists(st.integers(min_value=0), max_size=30))
@example("[1, 2, 3, 11, 1, 2, 3, 11, 1, 2, 3, 11, 1, 2, 3]", list(range(60)))
@example("a  [9]", [2])
def test_however_an_answer_is_cut_the_same_is_sent(text: str, cuts: list[int]) -> None:
    assert filtered(text, cuts) == filtered(text)


@given(TRICKY | PARTS)
@example("[2[9]7]")
@example("`[9]`[9]`")
def test_every_number_in_brackets_outside_code_names_a_source(text: str) -> None:
    outside = CODE.sub(" ", filtered(text))
    assert {int(number) for number in re.findall(r"\[(\d{1,38})\]", outside)} <= SOURCES


@given(
    st.text(st.characters(exclude_characters="[【［")),
    st.text(st.characters(exclude_characters="[【［`")).filter(lambda after: not after.startswith("(")),
)
def test_a_good_marker_changes_nothing_around_it(before: str, after: str) -> None:
    assert filtered(f"{before}[1]{after}x") == f"{before}[1]{after}x"


@pytest.mark.parametrize("unit", ["[", "[1,", "`", "[source "])
def test_twice_the_text_takes_about_twice_as_long(unit: str) -> None:
    def read(text: str) -> None:
        citations = CitationFilter(SOURCES)
        for start in range(0, len(text), 7):
            citations.feed(text[start : start + 7])
        citations.finish()

    assert_linear(read, repeated(unit, "["), 25_000)
