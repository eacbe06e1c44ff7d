"""Phrases of a closed list in a text, the words that a table brings, and what else is to be looked up for a question."""

from __future__ import annotations

from quarry.language.tokens import tokenise
from quarry.spans.lexicon import Found, PhraseTable, stems
from quarry.spans.mention import Cue, FacetName
from quarry.spans.parser import look_ups
from tests.query.tables import TODAY, lexicon

TABLE = PhraseTable([("new york", "city"), ("new", "age"), ("new york city", "city"), ("new", "never")])


def test_the_longest_phrase_at_a_word_is_found() -> None:
    assert TABLE.longest_at(("new", "york", "city", "hall"), 0) == Found(0, 3, "city")
    assert TABLE.longest_at(("new", "york"), 0) == Found(0, 2, "city")


def test_a_phrase_that_the_text_breaks_off_is_not_found() -> None:
    assert TABLE.longest_at(("new", "york", "city"), 2) is None
    assert TABLE.longest_at(("new",), 0) == Found(0, 1, "age")


def test_of_a_phrase_given_twice_the_first_meaning_holds() -> None:
    assert TABLE.longest_at(("new", "age"), 0) == Found(0, 1, "age")


def test_rows_and_facets_are_called_by_any_form_of_their_names() -> None:
    tokens = tokenise("architects houses cities year storeys")
    words = [token.key for token in tokens]
    terms = [lexicon("buildings").term_at(words, stems(tokens), place) for place in range(len(words))]
    assert [term.meaning for term in terms if term] == [
        FacetName(("architect",)),
        Cue("noun"),
        FacetName(("city",)),
        FacetName(("completed",), "year"),
        FacetName(("floors",)),
    ]


def test_other_words_for_a_value_are_looked_up_as_the_value() -> None:
    found = look_ups("a pudding with cream", lexicon=lexicon("recipes"), reference_date=TODAY)
    assert [(each.first, each.last, each.phrase, each.facet) for each in found] == [(1, 2, "dessert", "course")]


def test_the_names_of_a_place_are_looked_up_where_a_table_has_places() -> None:
    found = look_ups("museums in Burma", lexicon=lexicon("buildings"), reference_date=TODAY)
    assert "myanmar" in {each.phrase.lower() for each in found}
    assert look_ups("dishes from Burma", lexicon=lexicon("recipes"), reference_date=TODAY) == []
