"""How found entities look in the terminal."""

from __future__ import annotations

import io

from rich.console import Console

from quarry.local.ontology_view import EntityListView
from quarry.ontology.contract import EntityResult, OntologySearchResponse


def shown(*results: EntityResult, message: str = "1 match.") -> str:
    console = Console(file=io.StringIO(), highlight=False, markup=False, emoji=False, width=200)
    EntityListView(console).show(OntologySearchResponse(results=list(results), total=len(results), message=message))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def result(**fields: object) -> EntityResult:
    given = {"type": "task", "id": "t1", "project_id": "p", "title": "Oak door", "snippet": "", "score": 0.5}
    return EntityResult.model_validate(given | fields)


def test_an_entity_is_shown_with_its_project_and_snippet() -> None:
    text = shown(result(project_name="Hall", snippet="an <mark>oak</mark> door &amp; a\nhandle"))
    assert text.splitlines() == ["task  Oak door", "  Hall · t1 · 0.500", "  an oak door & a handle", "1 match."]


def test_a_text_cannot_move_the_cursor() -> None:
    assert "\x1b" not in shown(result(title="Oak\x1b[2J", id="t\x1b1", snippet="\x1b[31mred"))


def test_where_nothing_was_found_the_message_says_so() -> None:
    assert shown(message="Nothing found.") == "Nothing found.\n"
