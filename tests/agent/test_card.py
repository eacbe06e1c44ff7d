"""What a model is told of the data before it answers."""

from __future__ import annotations

from quarry.agent.card import SOURCES_MAX, MatchedValue, card
from quarry.agent.description import _told
from quarry.agent.matches import _telling
from quarry.language.tokens import tokenise
from quarry.query.contract import SourceDescription, SourceField
from quarry.spans.mention import KnownValue, ValueMatch


def described(name: str, *fields: str) -> SourceDescription:
    listed = [SourceField(name=field, kind="text", label=field) for field in fields]
    return SourceDescription(name=name, label=name, description="", fields=listed, related=[])


def test_the_sources_that_a_question_names_are_described_and_the_others_named() -> None:
    sources = {name: described(name) for name in (*(f"filler{n}" for n in range(SOURCES_MAX)), "instructor")}
    lines = card(sources, "Which instructor advises most students?").splitlines()
    assert any(line.startswith("instructor") for line in lines)
    assert "filler7" in lines[-1]


def test_a_value_that_several_fields_have_is_told_once() -> None:
    matched = [MatchedValue(source, "body", "City Council", "council") for source in ("motion", "agenda_item")]
    assert card({}, "", matched).endswith("“council”: motion.body, agenda_item.body = City Council")


def test_a_title_is_shown_whole_and_not_by_its_last_words() -> None:
    values = ["Manager", "Sales Manager", "IT Manager", "sales manager"]
    assert _told(values, is_title=True) == ["Sales Manager", "IT Manager"]
    assert _told(["Metal", "Heavy Metal"], is_title=False) == ["Metal", "Heavy Metal"]


def test_small_words_and_parts_of_what_is_explained_mean_no_value() -> None:
    tokens = tokenise("a budget for bike lanes")
    spans = {"A": (0, 1), "Bike Lanes": (3, 5), "Lanes": (4, 5)}
    matches = [ValueMatch(first, last, KnownValue("f", value)) for value, (first, last) in spans.items()]
    assert [match.value.value for match in _telling(matches, tokens)] == ["Bike Lanes"]
