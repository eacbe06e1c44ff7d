"""What candidates hold, whatever the weights: they are well-typed, bounded, and no word means two things in one of them."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, LiteralString

import pytest

from quarry.query.execute import compile_query
from quarry.reader.candidates import CANDIDATES_MAX, Candidate, candidates
from quarry.reader.learned import learned
from quarry.reader.mentions import ValueLink
from quarry.schema.algebra import Query
from quarry.schema.source import Field, Schema, Source
from tests.query.desk_schema import DESK, column, to_many, to_one

TODAY = datetime.date(2026, 7, 1)
OPEN = ValueLink(2, 3, "tickets", "status", "Open", 3)
CLOSED = ValueLink(4, 5, "tickets", "status", "closed", 2)
QUESTIONS = (
    "How many tickets are open?", "average cost of tickets by status", "agents without tickets", "tickets per month in 2026",
    "which agent has the most tickets", "tickets over 20 euros opened since March", "overdue tickets", "", "?", "and or not",
    "teams with more than 1 agent and their names", "top 3 tickets by hours", "share of urgent tickets",
    'tickets called "Printer"',
)  # fmt: skip


def found(question: str, links: list[ValueLink] | None = None, before: Candidate | None = None) -> list[Candidate]:
    return list(candidates(question, DESK, links or [], TODAY, learned().weights, before).all)


def said(each: Candidate) -> str:
    return json.dumps(each.query)


def compared(query: Any) -> list[dict[str, Any]]:
    """Every comparison of a query, however deep."""
    if isinstance(query, dict):
        own = [query] if "op" in query and "field" in query else []
        return own + [each for value in query.values() for each in compared(value)]
    return [each for value in query for each in compared(value)] if isinstance(query, list) else []


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_candidate_can_be_asked(question: str) -> None:
    links = [OPEN] if "open" in question else []
    all_found = found(question, links)
    assert 0 < len(all_found) <= CANDIDATES_MAX
    for each in all_found:
        compile_query(Query.model_validate(each.query), DESK, TODAY)


def test_a_long_question_costs_a_small_multiple_of_a_short_one() -> None:
    def cost(question: str) -> float:
        began = time.process_time()
        for _ in range(3):
            found(question)
        return time.process_time() - began

    short = "tickets by agent and status with hours over 3 and cost below 100 in 2026"
    cost(short)
    assert cost(f"{short} " * 28) < 12 * cost(short)


def test_money_is_not_compared_with_another_currency() -> None:
    in_euros = [each for each in found("tickets that cost more than 20 euros") if '"cost", "op": ">"' in said(each)]
    in_dollars = [test for each in found("tickets that cost more than 20 dollars") for test in compared(each.query)]
    assert in_euros
    assert not [test for test in in_dollars if test["field"].endswith("cost") and test.get("value") == 20]


def test_a_year_is_either_a_time_or_a_number() -> None:
    for each in found("tickets opened in 2026"):
        tests = [test for test in compared(each.query) if "2026" in json.dumps(test.get("value", test.get("values")))]
        assert len(tests) <= 1


def test_what_is_asked_of_related_rows_is_asked_over_links() -> None:
    queries = [each.query for each in found("which agents have more than 2 tickets")]
    assert any(each.get("where") == [{"field": "count(tickets)", "op": ">", "value": 2}] for each in queries)
    queries = [each.query for each in found("agents without tickets")]
    assert any({"not": {"exists": "tickets"}} in each.get("where", ()) for each in queries)


def test_two_values_of_one_field_are_alternatives() -> None:
    queries = [each.query for each in found("tickets that open or closed", [OPEN, CLOSED])]
    wanted = [{"field": "status", "op": "=", "value": "Open"}, {"field": "status", "op": "=", "value": "closed"}]
    assert any(each.get("where") == [{"any_of": wanted}] for each in queries)


def test_alternatives_on_one_field_do_not_make_an_alternative_of_what_is_said_besides() -> None:
    for each in found("tickets are open or closed Mia", [OPEN, CLOSED, ValueLink(5, 6, "agents", "name", "Mia", 1)]):
        for condition in each.query.get("where", ()):
            fields = {test["field"] for test in condition.get("any_of", ())}
            assert len(fields) < 2 or len(fields) == len(condition["any_of"])


def test_a_field_with_one_value_is_never_two_values_at_once() -> None:
    for each in found("tickets are open and closed", [OPEN, CLOSED]):
        equal = [test for test in each.query.get("where", ()) if test.get("field") == "status" and test["op"] == "="]
        assert len(equal) < 2


@pytest.mark.parametrize(("question", "is_possible"), [("open tickets", False), ("tickets not open", True)])
def test_a_value_is_denied_only_where_a_word_may_deny_it(question: str, is_possible: bool) -> None:
    first = question.split().index("open")
    link = ValueLink(first, first + 1, "tickets", "status", "Open", 3)
    denied = [each for each in found(question, [link]) if '"op": "!="' in said(each)]
    assert bool(denied) == is_possible


def test_no_value_is_ruled_out_of_a_field_that_is_asked_for_another() -> None:
    all_found = found("anything but open and closed", [OPEN, CLOSED])
    assert any(said(each).count('"!="') == 2 for each in all_found)
    for each in all_found:
        if each.conditions.joined != "not":
            assert {test["op"] for test in compared(each.query) if test["field"] == "status"} != {"=", "!="}


def test_what_is_given_is_not_asked_for() -> None:
    for each in found("status of open tickets", [OPEN]):
        given = [test["field"] for test in each.query.get("where", ()) if test.get("op") == "=" and "value" in test]
        groups = [one["field"] if isinstance(one, dict) else one for one in each.query.get("group", ())]
        asked = [*each.query.get("select", ()), *groups]
        assert len(asked) != 1 or asked[0] not in given


@pytest.mark.parametrize(
    ("question", "group", "number"),
    [
        ("tickets by status and agent", [{"field": "status"}, "agent.name"], "count"),
        ("total cost by status and agent", [{"field": "status"}, "agent.name"], "sum(cost)"),
        ("tickets opened per month and status", [{"field": "opened_on", "period": "month"}, "status"], "count"),
    ],
)
def test_rows_are_grouped_by_two_fields_that_are_named(question: str, group: list[Any], number: str) -> None:
    assert {"source": "tickets", "group": group, "aggregate": [number]} in [each.query for each in found(question)]


def test_values_that_no_row_has_are_found_in_one_table() -> None:
    leaks = ValueLink(3, 4, "jobs", "status", "leak", 3)
    rows = {"source": "jobs", "select": ["engineer"], "where": [{"field": "status", "op": "=", "value": "leak"}]}
    none = [{"field": "engineer", "op": "not_null"}, {"field": "engineer", "op": "!=", "value": rows}]
    queries = of_jobs("engineers with no leak", column("engineer"), column("status"), links=[leaks])
    assert none in [each.get("where") for each in queries]


def test_parts_of_one_value_that_stand_together_mean_this_value() -> None:
    values = [(0, "Planning and Land Use Committee"), (1, "Finance Committee"), (1, "Planning and Land Use Committee")]
    links = [ValueLink(at, at + 1, "jobs", "status", value, 3, is_whole=False) for at, value in values]
    compared_with = [
        test for each in of_jobs("planning committee", column("status"), links=links) for test in compared(each)
    ]
    assert compared_with
    assert all(test.get("value") == values[0][1] for test in compared_with)


def test_when_something_happened_last_is_asked_of_a_date_that_is_not_named() -> None:
    last = {
        "source": "tickets",
        "select": ["opened_on"],
        "order": [{"by": "opened_on", "direction": "desc"}],
        "limit": 1,
    }
    assert last in [each.query for each in found("when was the last ticket")]
    assert ["opened_on"] in [each.query.get("select") for each in found("when was each ticket")]


def test_what_is_not_done_has_no_date_though_the_date_is_not_named() -> None:
    blank = {"field": "closed_at", "op": "is_null"}
    assert any(blank in each.query.get("where", ()) for each in found("tickets that are still unresolved"))


def of_jobs(question: str, *fields: Field, links: Sequence[ValueLink] = ()) -> list[Any]:
    """The queries for a question about jobs with these fields."""
    schema = Schema({"jobs": Source(
        "jobs", "Jobs", ("job",), "job", lambda row: f"{row}.id", lambda row: f"{row}.id", {each.name: each for each in fields},
    )})  # fmt: skip
    return [each.query for each in candidates(question, schema, links, TODAY, learned().weights).all]


@pytest.mark.parametrize(
    ("said_so", "called"),
    [
        ("description", "descr"), ("status", "quotestatus"), ("battery", "hasbattery"), ("department", "dept"),
        ("first name", "fname"), ("date of birth", "dob"), ("Rückgabe", "rueckgabe"),
    ],
)  # fmt: skip
def test_a_field_is_known_by_a_short_form_and_by_a_word_within_its_name(said_so: str, called: LiteralString) -> None:
    queries = of_jobs(f"jobs by {said_so}", column(called))
    assert {"source": "jobs", "group": [{"field": called}], "aggregate": ["count"]} in queries


def test_a_field_is_known_by_the_part_of_its_name_that_no_other_has() -> None:
    fields = (column("job_town_old"), column("job_kind_old"), column("job_crew_old"))
    assert {"source": "jobs", "group": [{"field": "job_crew_old"}], "aggregate": ["count"]} in of_jobs(
        "jobs by crew", *fields
    )


def test_a_number_is_known_by_its_unit() -> None:
    queries = of_jobs("total kilograms of jobs", column("load", "number", unit="kg"), column("price", "number"))
    assert {"source": "jobs", "aggregate": ["sum(load)"]} in queries


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("number of jobs and average price for each town", ["count", "avg(price)"]),
        ("lowest, average and highest price of jobs by town", ["avg(price)", "min(price)", "max(price)"]),
        ("number of different crews by town", ["count_distinct(crew)"]),
    ],
)
def test_groups_have_several_numbers_at_once(question: str, numbers: list[str]) -> None:
    queries = of_jobs(question, column("town"), column("crew"), column("price", "number"))
    assert {"source": "jobs", "group": [{"field": "town"}], "aggregate": numbers} in queries


def test_a_name_holds_its_small_words_and_ends_with_its_clause() -> None:
    texts = [
        test["value"]
        for query in of_jobs("which jobs are at The House of the Rising Sun, Mary", column("town"))
        for test in compared(query)
        if test["op"] == "contains"
    ]
    assert {"The House of the Rising Sun", "Mary"} <= {*texts}


def test_a_quoted_text_is_not_taken_for_values_that_hold_one_of_its_words() -> None:
    part = ValueLink(4, 5, "tickets", "status", "Open Again", 3, is_whole=False)
    queries = [said(each) for each in found('tickets called "wide open door"', [part])]
    assert any("wide open door" in each for each in queries)
    assert not any("Open Again" in each for each in queries)


def test_numbers_that_are_asked_for_together_are_all_given() -> None:
    best = of_jobs("lowest and highest price of all jobs", column("town"), column("price", "number"))[0]
    assert best["aggregate"] == ["min(price)", "max(price)"]


def test_an_average_is_compared_with_a_number_of_the_rows_that_is_not_named() -> None:
    queries = of_jobs("jobs above average", column("town"), column("price", "number"))
    average = {"source": "jobs", "aggregate": ["avg(price)"]}
    assert any({"field": "price", "op": ">", "value": average} in query.get("where", ()) for query in queries)


@pytest.mark.parametrize("question", ["list the people", "first names and last names of all people"])
def test_a_title_made_of_several_columns_may_be_shown_as_these(question: str) -> None:
    named = {"first_name": column("first_name"), "last_name": column("last_name"), "city": column("city")}
    schema = Schema({"people": Source(
        "people", "People", ("person", "people"), "person", lambda row: f"{row}.id",
        lambda row: f"{row}.first_name || ' ' || {row}.last_name", named,
    )})  # fmt: skip
    queries = [each.query for each in candidates(question, schema, [], TODAY, learned().weights).all]
    assert {"source": "people", "select": ["first_name", "last_name"]} in queries


def test_a_follow_up_changes_what_was_asked_before() -> None:
    before = next(
        each
        for each in found("how many open tickets", [OPEN])
        if each.ask.kind == "count" and said(each).count("Open") == 1 and each.ask.base.name == "tickets"
    )
    closed = [ValueLink(2, 3, "tickets", "status", "closed", 2)]
    queries = [each.query for each in found("and the closed ones?", closed, before)]
    where = [{"field": "status", "op": "=", "value": "closed"}]
    assert {"source": "tickets", "where": where, "aggregate": ["count"]} in queries


def numbers_for(field: str, question: str) -> list[Any]:
    """The numbers that a field is compared with."""
    tests = [test for each in found(question) for test in compared(each.query) if test["field"].endswith(field)]
    return [test["value"] for test in tests if isinstance(test.get("value"), int)]


def test_a_year_is_a_time_and_no_amount_unless_it_stands_beside_the_name_of_one() -> None:
    assert not numbers_for("hours", "average hours of tickets in 2026")
    assert 2026 in numbers_for("hours", "tickets with hours 2026")


@pytest.mark.parametrize("question", ["agents with more than one ticket", "agents with more than one urgent ticket"])
def test_a_number_before_the_name_of_rows_is_how_many_there_are(question: str) -> None:
    assert 1 in numbers_for("count(tickets)", question)
    assert not [number for field in ("cost", "hours") for number in numbers_for(field, question)]


def test_a_copied_column_of_another_row_is_not_that_rows_title() -> None:
    link = to_one("agent", "agents")
    copied = column("phone", related=replace(link, rows="agent"))
    ticket = replace(DESK.sources["tickets"], fields={**DESK.sources["tickets"].fields, "phone": copied})
    schema = Schema({**DESK.sources, "tickets": ticket})
    meant = ValueLink(1, 2, "tickets", "phone", "555", 2)
    queries = [each.query for each in candidates("tickets 555", schema, [meant], TODAY, learned().weights).all]
    assert "555" in json.dumps(queries)
    assert not [test for test in compared(queries) if test.get("value") == "555" and test["field"].endswith("name")]


@pytest.mark.parametrize("question", ["agents with no tickets in 2025", "agents who had no ticket in 2025"])
def test_what_is_said_of_missing_rows_is_said_of_them_and_not_of_others(question: str) -> None:
    in_2025 = {"field": "opened_on", "op": "between", "values": ["2025-01-01", "2025-12-31"]}
    missing = {"not": {"exists": "tickets", "where": [in_2025]}}
    assert any(each.query.get("where") == [missing] for each in found(question))


def test_an_unnamed_number_or_date_gives_the_most_and_the_key_of_a_row_does_not() -> None:
    fields = column("crew_id", "number"), column("price", "money"), column("weight", "number"), column("begun", "date")
    schema = Schema({"jobs": Source(
        "jobs", "Jobs", ("job",), "job", lambda row: f"{row}.id", lambda row: f"{row}.title",
        {each.name: each for each in (column("title"), *fields)}, {"crew": to_one("crew", "crews")},
    )})  # fmt: skip
    queries = [each.query for each in candidates("the best job", schema, [], TODAY, learned().weights).all]
    assert {each["order"][0]["by"] for each in queries if each.get("limit") == 1 and "select" in each} == {
        "price", "weight", "begun",
    }  # fmt: skip


def test_rows_are_named_without_their_keys() -> None:
    fields = column("job_id", "number"), column("town")
    schema = Schema({"jobs": Source(
        "jobs", "Jobs", ("job",), "job", lambda row: f"{row}.job_id", lambda row: f"{row}.town",
        {each.name: each for each in fields},
    )})  # fmt: skip

    def shown(question: str) -> list[Any]:
        all_found = candidates(question, schema, [], TODAY, learned().weights).all
        return [each.query.get("select") for each in all_found]

    assert ["job_id"] not in shown("urgent jobs")
    assert ["job_id"] in shown("job ids of urgent jobs")


def test_the_rows_of_the_only_source_need_no_name() -> None:
    groups = of_jobs("towns with more than two", column("town"), column("price", "number"))
    assert any(each.get("having") == [{"field": "count", "op": ">", "value": 2}] for each in groups)


@pytest.mark.parametrize(
    ("question", "unit", "number"), [("jobs over 20 hours", "hours", 20), ("jobs longer than 3 weeks", "days", 21)]
)
def test_a_length_of_time_is_compared_as_it_was_said(question: str, unit: str, number: int) -> None:
    tests = compared(of_jobs(question, column("spent", "number", unit=unit)))
    assert number in [test.get("value") for test in tests if test["field"] == "spent" and test["op"] == ">"]


@pytest.mark.parametrize(
    "question", ["tickets closed later than opened", "tickets whose closed day is past the opened day"]
)
def test_two_named_fields_of_a_row_are_compared_both_ways(question: str) -> None:
    tests = [
        test for each in found(question) for test in compared(each.query) if test["field"] in ("closed_at", "opened_on")
    ]
    both = {(test["op"], test["value"]["field"]) for test in tests if isinstance(test.get("value"), dict)}
    assert both in ({(">", "opened_on"), ("<", "opened_on")}, {(">", "closed_at"), ("<", "closed_at")})


def test_numbers_have_a_condition_each_and_share_the_others() -> None:
    question = "how many urgent tickets are open and how many closed in 2026"
    links = [ValueLink(5, 6, "tickets", "status", "Open", 3), ValueLink(9, 10, "tickets", "status", "closed", 2)]
    whole = [each.query for each in found(question, links) if len(each.query.get("aggregate", ())) == 2]
    stated = [[each["where"] for each in query["aggregate"]] for query in whole]
    assert [[{"field": "status", "op": "=", "value": value}] for value in ("Open", "closed")] in stated
    assert any("2026" in json.dumps(query["where"]) for query in whole if "where" in query)


CLUBS = Source(
    "clubs", "Clubs", ("club",), "club", lambda row: f"{row}.id", lambda row: f"{row}.name",
    {"name": column("name"), "city": column("city")},
    {name: to_many(name, "matches", by) for name, by in (("matches_home", "home_id"), ("matches_away", "away_id"))},
)  # fmt: skip
MATCHES = Source(
    "matches", "Matches", ("match",), "match", lambda row: f"{row}.id", lambda row: f"{row}.code",
    {"code": column("code"), "played": column("played", "date")},
    {"home": to_one("home", "clubs"), "away": to_one("away", "clubs")},
)  # fmt: skip
LEAGUE = Schema({"clubs": CLUBS, "matches": MATCHES})


def of_league(question: str, *links: ValueLink) -> list[Any]:
    return [each.query for each in candidates(question, LEAGUE, links, TODAY, learned().weights).all]


def test_rows_that_are_referred_to_twice_are_told_apart_by_role() -> None:
    seaport = ValueLink(3, 4, "clubs", "city", "Seaport", 2)
    compared_with = {test["field"] for test in compared(of_league("away matches from Seaport", seaport))}
    assert {"home.city", "away.city"} <= compared_with
    assert any(each.get("group") == [{"field": "away.city"}] for each in of_league("matches per away city"))


@pytest.mark.parametrize(("question", "condition"), [
    ("clubs without away matches", {"not": {"exists": "matches_away"}}),
    ("clubs with more than 2 away matches", {"field": "count(matches_away)", "op": ">", "value": 2}),
])  # fmt: skip
def test_related_rows_are_told_apart_by_their_role(question: str, condition: dict[str, Any]) -> None:
    assert any(each.get("where") == [condition] for each in of_league(question))


def test_no_rows_are_asked_for_by_a_name_of_themselves_behind_others() -> None:
    assert not [each for each in of_league("clubs by matches") if "matches_home.home.name" in json.dumps(each)]
