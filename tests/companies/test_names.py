"""Companies by their names: search_exact_name_v1, and find_names over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.companies.seeded import Connection, add_company

NAME = "select * from search_exact_name_v1(%s, %s, %s)"


def named(
    connection: Connection, text: str | None, statuses: Sequence[str] | None = ("startup",), limit: int = 5
) -> list[Any]:
    return connection.execute(NAME, [text, None if statuses is None else list(statuses), limit]).fetchall()


def key(connection: Connection, name: str) -> str:
    return str(connection.execute("select name_key(%s) as key", [name]).fetchone().key)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("Loop-Line", "LOOPLINE"),
        ("Kestrel.ai", "Kestrel AI"),
        ("O'Malley Robotics", "O’Malley Robotics"),
        ("Salt & Pepper", "salt and pepper"),
        ("Café Soleil", "cafe soleil"),
        ("Straße", "STRASSE"),
        ("Łódź Æther", "Lodz Aether"),
        ("北京电力", "北京电力"),
        ("!!!", "!!!"),
    ],
)
def test_case_accents_spaces_and_punctuation_do_not_matter(connection: Connection, name: str, asked: str) -> None:
    add_company(connection, "a", company_name=name)
    add_company(connection, "b", company_name="Something Else")
    [row] = named(connection, asked)
    assert (row.company_id, row.company_name, row.name_score, row.matched) == ("a", name, 1, "name")


def test_all_companies_of_a_name_are_found_names_before_former_names_and_those_before_domains(
    connection: Connection,
) -> None:
    add_company(connection, "domain", company_name="Third", website_url="https://har.bor")
    add_company(connection, "former", company_name="Second", former_names=["Harbor"])
    add_company(connection, "punctuated", company_name="Har.bor")
    add_company(connection, "as asked", company_name="Harbor")
    add_company(connection, "near", company_name="Harbor Labs")
    rows = [(row.company_id, row.name_score == 1) for row in named(connection, "harbor")]
    assert rows == [("as asked", True), ("punctuated", True), ("former", True), ("near", False)]
    assert [row.company_id for row in named(connection, "Har.bor")][:4] == [
        "punctuated",
        "as asked",
        "former",
        "domain",
    ]


@pytest.mark.parametrize("text", [None, " ", "%%%", "a_b%", "___", "\\", "am", "'", "x" * 2000])
def test_wildcards_and_scraps_match_nobody(connection: Connection, text: str | None) -> None:
    add_company(connection, "a", company_name="Lumenforge", website_url="https://example.com/aXb")
    assert named(connection, text) == []


def test_names_of_the_seed_have_the_scores_of_the_formula(seeded: Connection) -> None:
    for asked in ["Firm12 of word12", "FIRM12 OF WORD12", "firm12 word12", "irm2999 of word89", "word5", "nobody"]:
        literal = seeded.execute(
            "select name_score from literal_search_exact_name(%s, '{startup}')", [asked]
        ).fetchall()
        assert [row.name_score for row in named(seeded, asked)] == pytest.approx([row.name_score for row in literal])


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=30).filter(
        str.strip
    )
)
@example("İ")
@example("ﬁ & ﬂ")
@example("́")
def test_every_name_finds_itself(connection: Connection, name: str) -> None:
    with connection.transaction(force_rollback=True):
        add_company(connection, "a", company_name=name)
        add_company(connection, "b", company_name="B", former_names=[name])
        assert [row.company_id for row in named(connection, name)] == ["a", "b"]
    assert key(connection, name)
