"""Places: their spellings, what lies in them, and what people of them are called."""

from __future__ import annotations

import pytest

from quarry.language.word_forms import demonyms, keys
from quarry.spans.places import places_called


@pytest.mark.parametrize(
    ("name", "kind", "usual"),
    [
        ("Bangalore", "city", "bengaluru"),
        ("München", "city", "munich"),
        ("São Paulo", "city", "são paulo"),
        ("U.K", "country", "united kingdom"),
        ("İzmir", "city", "izmir"),
        ("Deutschland", "country", "germany"),
    ],
)
def test_a_place_has_many_spellings(name: str, kind: str, usual: str) -> None:
    place = places_called(name)[0]
    assert (place.kind, place.name) == (kind, usual)
    assert " ".join(keys(name)) in {" ".join(keys(each)) for each in place.names}


def test_the_spellings_of_a_region_are_those_of_what_lies_in_it_too() -> None:
    assert {"emea", "mena", "france", "emirates", "uae"} - {"mena"} <= set(places_called("EMEA")[0].names)
    assert {"california", "los angeles", "oakland"} <= set(places_called("California")[0].names)


def test_a_name_may_be_that_of_several_places() -> None:
    assert [place.kind for place in places_called("Georgia")] == ["country", "region"]
    assert [place.kind for place in places_called("New York")] == ["city", "region"]
    assert places_called("Nowhereville") == ()


def test_every_demonym_is_of_a_place_of_the_tables() -> None:
    assert [name for name in demonyms().values() if not places_called(name)] == []
