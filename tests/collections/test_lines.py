"""Lines of a declaration: columns, and templates with parts that may be left out."""

from __future__ import annotations

import psycopg
import pytest

from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.declaration_file import DeclarationError, read_declarations
from quarry.collections.own_table import OwnTable
from quarry.collections.templates import line_columns


def line(template: str) -> str:
    declared = CollectionDeclaration.model_validate({"source": "t", "text": ["name", "office"], "title": template})
    return OwnTable.of("t", declared).line(template, "t")


@pytest.mark.parametrize(
    ("template", "name", "office", "told"),
    [
        ("name", " Ada ", None, "Ada"),
        ("name", " ", None, None),
        ("{name}[, {office}]", "Ada", "clerk", "Ada, clerk"),
        ("{name}[, {office}]", "Ada", "", "Ada"),
        ("{name} {office}", None, "clerk", "clerk"),
        ("[By {name}[, {office}].]", "Ada", None, "By Ada."),
        ("[By {name}[, {office}].]", None, "clerk", None),
        ("{name}", "two \n lines", None, "two lines"),
        ("100 % {name}", "Ada", None, "100 % Ada"),
    ],
)
def test_a_line_is_told_without_what_is_empty(
    server_url: str, template: str, name: str | None, office: str | None, told: str | None
) -> None:
    with psycopg.connect(server_url) as connection:
        query = f"select {line(template)} from (select %s::text, %s::text) t (name, office)"
        assert connection.execute(query.encode(), [name, office]).fetchone() == (told,)


def test_the_columns_of_lines_are_told_once_each_in_order() -> None:
    assert line_columns(["{b}[, {a}[ {c}]]", "a", "d"]) == ("b", "a", "c", "d")


@pytest.mark.parametrize("template", ["{name}[, {office}", "{name}]", "{name", "[[{name}]"])
def test_a_bracket_alone_is_refused(template: str) -> None:
    with pytest.raises(DeclarationError, match="alone"):
        read_declarations(f'[collections.t]\nsource = "t"\ntext = "name"\ncite = "{template}"')
