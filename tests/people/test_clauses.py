"""What is asked of people, in words."""

from __future__ import annotations

import pytest

from quarry.people.contract import Constraints, Exclude, Must, Should
from quarry.people.filters import CardFilters
from quarry.people.ranking import Standing, clauses_of, named_clauses, naming_alternatives, ruled_out_words
from quarry.platform.contract import Evidence

EITHER = clauses_of(CardFilters(roles=("editors|editor|editing|picture editor|painters|painter",)))


@pytest.mark.parametrize(
    ("role", "label", "alternatives"),
    [
        ("designers|design|designing", "designers", []),
        ("chemists|chemistry", "chemists", []),
        ("engineer|backend engineer", "engineer", []),
        ("nurses|nurse|lawyers|lawyer|law", "nurses or lawyers", ["nurses|nurse", "lawyers|lawyer|law"]),
    ],
)
def test_a_role_is_told_by_what_it_is_called_and_several_by_all(role: str, label: str, alternatives: list[str]) -> None:
    [clause] = clauses_of(CardFilters(roles=(role,)))
    assert (clause.label, clause.filters) == (label, CardFilters(roles=(role,)))
    assert [each.filters for each in clause.alternatives] == [CardFilters(roles=(each,)) for each in alternatives]


@pytest.mark.parametrize(
    ("met", "label"),
    [([False, True], "painters"), ([True, True], "editors and painters"), ([], "editors or painters")],
)
def test_of_alternative_roles_those_are_named_that_somebody_is(met: list[bool], label: str) -> None:
    stands = Standing(("in Pune", "editors or painters"), ("since 2020",))
    named = naming_alternatives(stands, EITHER, met)
    assert named == Standing(("in Pune", label), ("since 2020",))


def test_the_own_words_of_a_query_are_named_and_no_others() -> None:
    asked = Constraints(query_original="a pastry chef in Oslo", should=Should(keywords=["pastry", "chef", "baking"]))
    assert [clause.label for clause in named_clauses(asked)] == ["pastry", "chef"]


def test_what_one_word_rules_out_is_one_exclusion() -> None:
    said = [("exclude.keywords", "physicists or physics"), ("exclude.company_norm", "acme")]
    evidence = [Evidence(field=f, value=v, start=0, end=1, assertion="negated") for f, v in said]
    asked = Constraints(exclude=Exclude(keywords=["physicists", "physics", "smokers"]), evidence=evidence)
    assert ruled_out_words(asked) == [("physicists", "physics"), ("smokers",)]


def test_what_a_condition_tells_is_not_told_again_as_a_word() -> None:
    asked = Constraints(
        query_original="Glaziers at Fenwright who say Zorblax",
        must=Must(company_norm=["fenwright"], text=["Zorblax"]),
        should=Should(keywords=["fenwright", "zorblax", "glaziers"]),
    )
    assert [clause.label for clause in named_clauses(asked)] == ["glaziers"]
