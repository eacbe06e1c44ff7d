"""Places: their spellings, what lies in them, and what people of them are called."""

from __future__ import annotations

import pytest

from quarry.language.tokens import keys
from quarry.language.word_forms import demonyms, place_of_demonym
from quarry.spans.gazetteer import gazetteer, places_called


@pytest.mark.parametrize(
    ("name", "kind", "usual"),
    [
        ("Bangalore", "city", "bengaluru"),
        ("München", "city", "munich"),
        ("NYC", "city", "new york city"),
        ("São Paulo", "city", "são paulo"),
        ("Sao Paulo", "city", "são paulo"),
        ("U.K", "country", "united kingdom"),
        ("İzmir", "city", "izmir"),
        ("Izmir", "city", "izmir"),
        ("Holland", "country", "netherlands"),
        ("Washington", "city", "washington"),
        ("Deutschland", "country", "germany"),
    ],
)
def test_a_place_has_many_spellings(name: str, kind: str, usual: str) -> None:
    place = places_called(name)[0]
    assert (place.kind, place.name) == (kind, usual)
    assert " ".join(keys(name)) in {" ".join(keys(each)) for each in place.names}


def test_spellings_are_with_and_without_accents() -> None:
    assert {"são paulo", "sao paulo"} <= set(places_called("sao paulo")[0].names)


def test_the_spellings_of_a_region_are_those_of_what_lies_in_it_too() -> None:
    assert {"emea", "mena", "france", "emirates", "uae"} - {"mena"} <= set(places_called("EMEA")[0].names)
    assert {"california", "los angeles", "oakland"} <= set(places_called("California")[0].names)


def test_a_name_may_be_that_of_several_places() -> None:
    assert [place.kind for place in places_called("Georgia")] == ["country", "region"]
    assert [place.kind for place in places_called("New York")] == ["city", "region"]
    assert places_called("Nowhereville") == ()


def test_every_member_of_a_region_is_a_place_of_the_tables() -> None:
    entries = {entry for named in gazetteer().by_name.values() for entry in named}
    assert {member for entry in entries for member in entry.members} <= set(gazetteer().by_code)


def test_every_demonym_is_of_a_place_of_the_tables() -> None:
    assert [name for name in demonyms().values() if not places_called(name)] == []


@pytest.mark.parametrize(
    ("demonym", "place"),
    [("Nigerian", "nigeria"), ("Americans", "united states"), ("Swiss", "switzerland"), ("Martian", None)],
)
def test_a_demonym_names_its_place(demonym: str, place: str | None) -> None:
    assert place_of_demonym(demonym) == place
