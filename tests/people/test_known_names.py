"""Names in a query that the data or the gazetteer knows: exactly, written together, cut short, misspelt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.people.found import Vocabulary
from quarry.people.parsing.find_names import company_like_phrases
from quarry.people.parsing.known import PHRASES_MAX, KnownNames, phrases_to_look_up
from quarry.people.parsing.phrases import PhraseBook
from quarry.people.parsing.places import country_of, known_place, places_in, spellings, usual_name
from quarry.people.parsing.tokens import keys, tokenise

COMPANIES = ("tarang pay", "kosmo retail", "kosmo foods", "nilgiri systems", "fort & apollo", "acme")
KNOWN = KnownNames(Vocabulary(companies=frozenset(COMPANIES)))
WORD = st.text(st.sampled_from("abcdefgh"), min_size=5, max_size=9)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("tarang pay", "tarang pay"),
        ("Tarang  Pay", "tarang pay"),
        ("tarangpay", "tarang pay"),
        ("tarrang pay", "tarang pay"),
        ("tarang pya", "tarang pay"),
        ("nilgiri", "nilgiri systems"),
        ("fort and apollo", "fort & apollo"),
        ("kosmo", "kosmo"),  # two companies begin like this
        ("acne", "acne"),  # too short to be a slip
        ("turing pay", "turing pay"),
        ("", ""),
    ],
)
def test_a_company_is_known_where_it_can_mean_only_one(name: str, meant: str) -> None:
    assert KNOWN.company(name) == meant


@given(WORD, st.integers(0, 8), st.sampled_from("abcxyz"))
def test_one_slip_is_forgiven_behind_the_first_letter(word: str, place: int, letter: str) -> None:
    book = PhraseBook([(word, word)])
    place = 1 + place % (len(word) - 1)
    left_out = word[:place] + word[place + 1 :]
    put_in = word[:place] + letter + word[place:]
    changed = word[:place] + letter + word[place + 1 :]
    swapped = word[: place - 1] + word[place] + word[place - 1] + word[place + 1 :] if place > 1 else word
    for slip in (left_out, put_in, changed, swapped):
        assert book.near([slip]) == (word if len(slip) >= 5 else None)


def test_a_slip_that_could_be_two_names_is_neither() -> None:
    assert PhraseBook([("marlin", "a"), ("merlin", "b")]).near(["mxrlin"]) is None


def test_the_longest_name_is_taken() -> None:
    tokens = tokenise("works at New York Times")
    book = PhraseBook([("new york", "city"), ("new york times", "paper"), ("york times square", "x")])
    found = book.longest_at(tokens, 2)
    assert found is not None
    assert (found.value, found.length) == ("paper", 3)
    assert book.longest_at(tokens, 3) is None


def test_words_are_compared_without_case_accents_and_possessives() -> None:
    assert keys("São Paulo’s C++, C#, .NET & Node.js") == ("sao", "paulo", "c++", "c#", ".net", "and", "node.js")


@given(st.text(max_size=200))
def test_every_run_of_words_up_to_a_length_is_looked_up(query: str) -> None:
    phrases = phrases_to_look_up(query)
    assert len(phrases) == len(set(phrases)) <= PHRASES_MAX
    assert all(phrase == phrase.lower() for phrase in phrases)


def test_names_are_looked_up_as_the_data_may_spell_them() -> None:
    phrases = phrases_to_look_up("Designers at Fort and Apollo, St Alban's College in Pune who know Go")
    assert {"fort and apollo", "fort & apollo", "st alban's college", "st alban’s college", "pune", "go"} <= set(
        phrases
    )
    assert not {"at", "who", "at fort"} & set(phrases)


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ("engineers at google in bangalore", ["google", "google in bangalore"]),
        ("ex-Kosmo designers", ["kosmo", "kosmo designers"]),
        ("alumni of the National Institute of Computing", ["national institute of computing"]),
        ("backend engineers from pune", []),
        ("nurses", []),
    ],
)
def test_what_may_be_a_misspelt_company_is_what_stands_where_a_name_would(query: str, phrases: list[str]) -> None:
    found = company_like_phrases(query)
    assert set(phrases) <= set(found)
    assert bool(found) == bool(phrases)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("bengaluru", {"bangalore", "blr"}),
        ("bombay", {"mumbai"}),
        ("gurgaon", {"gurugram"}),
        ("sao paulo", {"são paulo"}),
        ("uk", {"united kingdom", "england"}),
        ("kerala", {"kochi", "cochin", "trivandrum"}),
        ("delhi ncr", {"noida", "gurgaon", "new delhi"}),
        ("east africa", {"kenya", "uganda"}),
    ],
)
def test_a_place_has_all_its_spellings(name: str, same: set[str]) -> None:
    assert spellings(name)[0] == name
    assert same <= set(spellings(name))


def test_an_unknown_place_has_one_spelling() -> None:
    assert spellings("atlantis") == ("atlantis",)
    assert known_place("atlantis") is None
    assert usual_name("atlantis", "city") == "atlantis"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("pune or mumbai", {"pune", "poona", "mumbai", "bombay"}),
        ("chennai / kochi", {"chennai", "madras", "kochi", "cochin"}),
        ("pune, mumbai", {"pune", "poona", "mumbai", "bombay"}),
        ("whitefield, bengaluru, india", {"whitefield"}),
        ("", set()),
    ],
)
def test_a_free_text_names_places(text: str, places: set[str]) -> None:
    assert set(places_in(text)) == places


def test_a_name_of_a_city_and_its_country_is_either() -> None:
    assert (
        usual_name("singapore", "city") == usual_name("singapore", "country") == country_of("singapore") == "singapore"
    )
    assert (usual_name("bangalore", "city"), usual_name("usa", "country")) == ("bengaluru", "united states")
    assert country_of("bengaluru") == "india"


@given(st.text(max_size=60))
def test_the_spellings_of_a_place_are_stable(name: str) -> None:
    assert known_place(name) is None or set(spellings(name)) >= set(spellings(usual_name(name, "city")))
