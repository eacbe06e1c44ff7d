"""Which mention a word belongs to, where several could claim it."""

from __future__ import annotations

import datetime

import pytest

from quarry.language.tokens import tokenise
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.cues import cues
from quarry.spans.lexicon import continued_in, lexicon_of
from quarry.spans.mention import (
    Asked,
    DateRange,
    Known,
    KnownValue,
    Mention,
    ParsedQuery,
    Phrase,
    Place,
    ValueMatch,
    Vocabulary,
    Word,
)
from quarry.spans.parser import parse
from tests.query.tables import BUILDINGS

TABLE = SearchTable(
    "films",
    ("film",),
    (
        Facet("studio", "name", "studio", "studio", "studios", leads=("by",)),
        Facet("actor", "name", "actor", "actor", "actors", leads=("starring",)),
        Facet("mood", "array", "moods", "mood", "moods"),
        Facet("shown", "date", "shown", "date", "dates"),
    ),
    date="shown",
)


def _parse(text: str, *matches: tuple[int, int, KnownValue], table: SearchTable = TABLE) -> ParsedQuery:
    vocabulary = Vocabulary(tuple(ValueMatch(*match) for match in matches))
    return parse(text, lexicon=lexicon_of(table), vocabulary=vocabulary, reference_date=datetime.date(2026, 3, 18))


def _known(parsed: ParsedQuery) -> list[list[str]]:
    return [
        [f"{value.facet}: {value.value}" for value in mention.value.values]
        for mention in parsed.mentions
        if isinstance(mention.value, Known)
    ]


def _said(parsed: ParsedQuery, kind: type) -> list[Mention]:
    return [mention for mention in parsed.mentions if isinstance(mention.value, kind)]


def test_a_longer_value_wins_over_a_shorter_one() -> None:
    parsed = _parse("films by Blue Lamp", (2, 4, KnownValue("studio", "Blue Lamp")), (2, 3, KnownValue("mood", "blue")))
    assert _known(parsed) == [["studio: Blue Lamp"]]


def test_a_word_that_leads_to_a_facet_decides_between_two() -> None:
    both = KnownValue("studio", "Marlow", 9), KnownValue("actor", "Marlow", 2)
    assert _known(_parse("films with Marlow", *((2, 3, each) for each in both))) == [
        ["studio: Marlow", "actor: Marlow"]
    ]
    assert _known(_parse("films starring Marlow", *((2, 3, each) for each in both))) == [["actor: Marlow"]]
    assert _known(_parse("the actor Marlow", *((2, 3, each) for each in both))) == [["actor: Marlow"]]


def test_an_everyday_word_is_a_value_only_where_something_says_so() -> None:
    match = (1, 2, KnownValue("studio", "First"))
    assert _known(_parse("the first film", match)) == []
    assert _said(_parse("the first film", match), Asked)
    assert _known(_parse("by First", match)) == [["studio: First"]]


def test_a_value_that_holds_a_year_is_no_date() -> None:
    parsed = _parse("from the summer 1999", (2, 4, KnownValue("mood", "Summer 1999")))
    assert _known(parsed) == [["mood: Summer 1999"]]
    assert _said(parsed, DateRange) == []


def test_a_part_of_a_name_counts_where_it_is_written_like_one() -> None:
    part = KnownValue("actor", "Ada Lamp", is_whole=False)
    (written_small,) = _said(_parse("a lamp that burns out", (1, 2, part)), Known)
    (written_large,) = _said(_parse("films with Lamp", (2, 3, part)), Known)
    assert written_small.is_latent
    assert not written_large.is_latent


@pytest.mark.parametrize(
    ("text", "first", "is_latent"),
    [
        ("paper moon films", 0, False),
        ("sad paper moon films", 1, False),
        ("films that fold a paper moon", 4, True),
        ("a paper moon, films", 1, True),
    ],
)
def test_everyday_words_that_are_a_name_are_meant_before_what_rows_are_called(
    text: str, first: int, is_latent: bool
) -> None:
    (mention,) = _said(_parse(text, (first, first + 2, KnownValue("studio", "Paper Moon"))), Known)
    assert mention.is_latent == is_latent


@pytest.mark.parametrize("text", ["Lamps", "lamp", "Lamp's"])
def test_a_whole_question_names_what_it_is_but_for_the_plural(text: str) -> None:
    assert _known(_parse(text, (0, 1, KnownValue("studio", "Lamp")))) == [["studio: Lamp"]]


def test_a_whole_question_of_one_stem_with_a_name_does_not_say_it() -> None:
    name, mood = KnownValue("studio", "Engine"), KnownValue("mood", "engineered", is_whole=False)
    assert _known(_parse("engineers", (0, 1, name))) == []
    assert _known(_parse("engineers", (0, 1, name), (0, 1, mood))) == [["mood: engineered"]]
    assert _known(_parse("by engineers", (1, 2, name))) == [["studio: Engine"]]


def test_a_whole_question_of_one_stem_with_words_of_a_name_does_not_say_it() -> None:
    name = KnownValue("studio", "Kiln Women's Pottery Press", is_whole=False)
    assert _known(_parse("women potters", (0, 2, name))) == []
    assert _known(_parse("Women's Pottery", (0, 2, name))) == [["studio: Kiln Women's Pottery Press"]]


@pytest.mark.parametrize("text", ["kenya", "buildings in kenya"])
def test_a_place_of_one_stem_with_a_name_is_a_place(text: str) -> None:
    last = len(text.split())
    parsed = _parse(text, (last - 1, last, KnownValue("architect", "Kenyan")), table=BUILDINGS.table)
    assert [mention.end for mention in _said(parsed, Place)] == [len(text)]


def test_quoted_words_are_to_be_found_as_they_are() -> None:
    parsed = _parse('films that say "not without you"')
    assert [mention.value for mention in _said(parsed, Phrase)] == [Phrase("not without you")]


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("films that say 'not without you'", [Phrase("not without you")]),
        ("films that say ‘not without you’", [Phrase("not without you")]),
        ("the boys' films and the girls' films", []),
        ("films of the '80s and '90s", []),
    ],
)
def test_words_between_single_quotes_are_to_be_found_as_they_are_where_they_are_no_apostrophes(
    text: str, phrases: list[Phrase]
) -> None:
    assert [mention.value for mention in _said(_parse(text), Phrase)] == phrases


def test_a_word_of_a_list_is_looked_up_with_what_the_first_shares_with_it() -> None:
    found = continued_in(tokenise("films of part 1, 2 or 3 and bold heroes"))
    assert [(each.first, each.phrase) for each in found] == [(4, "part 2"), (6, "part 3"), (8, "part bold")]


def test_a_short_word_of_a_list_is_a_value_that_it_shares_a_word_with() -> None:
    text = "films of part 1 or 2"
    parsed = _parse(text, (2, 4, KnownValue("mood", "part 1")), (5, 6, KnownValue("mood", "part 2")))
    assert _known(parsed) == [["mood: part 1"], ["mood: part 2"]]
    assert _known(_parse("films of 2", (2, 3, KnownValue("mood", "part 2")))) == []


def test_a_weekday_is_no_name() -> None:
    assert not any(
        getattr(mention.value, "is_name", False) for mention in _said(_parse("films shown on Sundays"), Word)
    )


@pytest.mark.parametrize("text", ["films by Zelda Quix", "films called wandering", "how many films has quix made"])
def test_what_stands_where_a_name_would_and_is_unknown_is_a_name(text: str) -> None:
    assert [mention for mention in _said(_parse(text), Word) if getattr(mention.value, "is_name", False)]


def test_a_title_before_a_person_says_nothing() -> None:
    parsed = _parse("Professor Lamp", (1, 2, KnownValue("actor", "Ada Lamp", is_whole=False)))
    assert [mention.value for mention in _said(parsed, Word)] == []


def test_every_cue_is_of_a_kind_that_is_known() -> None:
    assert cues().longest_at(("without",), 0) is not None
