"""What is asked of people, in words."""

from __future__ import annotations

import pytest

from quarry.people.clauses import Standing, clauses_of, named_clauses, naming_alternatives
from quarry.people.contract import Constraints, Must, Should
from quarry.people.filters import CardFilters
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


def test_who_misses_alternative_roles_misses_them_all() -> None:
    stands = Standing(misses=("editors or painters",))
    assert naming_alternatives(stands, EITHER, [False, False]) == stands


def test_who_is_asked_for_is_named_though_the_word_is_an_everyday_one() -> None:
    asked = Constraints(query_original="plumbers in Oslo", should=Should(keywords=["plumbers", "good"]))
    assert [clause.label for clause in named_clauses(asked)] == ["plumbers"]
    for query, noun in (("a pastry chef in Oslo", "chef"), ("astronauts", "astronauts")):
        asked = Constraints(query_original=query, should=Should(keywords=["pastry", noun]))
        assert [clause.label for clause in named_clauses(asked)] == [noun]
    who = Constraints(query_original="vet who likes cats", should=Should(keywords=["vet"]))
    assert [clause.label for clause in named_clauses(who)] == ["vet"]
    place = Evidence(field="must.location_text", value="oslo", start=7, end=11, assertion="affirmed")
    there = Constraints(
        query_original="vet in Oslo", query_cleaned="A vet in Oslo", should=Should(keywords=["vet"]), evidence=[place]
    )
    assert [clause.label for clause in named_clauses(there)] == ["vet"]
    assert named_clauses(there.model_copy(update={"evidence": []})) == []
    assert named_clauses(Constraints(query_original="good water", should=Should(keywords=["good", "water"]))) == []


def test_what_a_condition_tells_is_not_told_again_as_a_word() -> None:
    asked = Constraints(
        query_original="Glaziers at Fenwright who say Zorblax",
        must=Must(company_norm=["fenwright"], text=["Zorblax"]),
        should=Should(keywords=["fenwright", "zorblax", "glaziers"]),
    )
    assert [clause.label for clause in named_clauses(asked)] == ["glaziers"]
