"""What a model is told of the data before it answers."""

from __future__ import annotations

from quarry.agent.sources import SOURCES_MAX, _distinct, card
from quarry.query.contract import SourceDescription, SourceField


def described(name: str, *fields: str) -> SourceDescription:
    listed = [SourceField(name=field, kind="text", label=field) for field in fields]
    return SourceDescription(name=name, label=name, description="", fields=listed, related=[])


def test_the_sources_that_a_question_names_are_described_and_the_others_named() -> None:
    sources = {name: described(name) for name in (*(f"filler{n}" for n in range(SOURCES_MAX)), "instructor")}
    lines = card(sources, "Which instructor advises most students?").splitlines()
    assert any(line.startswith("instructor") for line in lines)
    assert "filler7" in lines[-1]


def test_a_title_is_shown_whole_and_not_by_its_last_words() -> None:
    values = ["Manager", "Sales Manager", "IT Manager", "sales manager"]
    assert _distinct(values, is_title=True) == ["Sales Manager", "IT Manager"]
    assert _distinct(["Metal", "Heavy Metal"], is_title=False) == ["Metal", "Heavy Metal"]
