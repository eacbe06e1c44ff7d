"""What the check of answers finds, kind by kind."""

from __future__ import annotations

import datetime

import pytest

from quarry.query.contract import QueryResult
from quarry.schema.algebra import Query
from quarry.verification.check import Exact, Passages, Verification, Verifier, level
from quarry.verification.passages import names_in
from quarry.verification.wire import SourceText
from tests.verification.answers import TODAY, figures, result, verify

HARBOUR = SourceText(
    1,
    "Harbour wall",
    "The council approved repairs of the harbour wall, 6–3. Councillors Ruiz and Okafor voted no. The repairs cost "
    "$310,000 a year for four years. A motion by Ruiz to wait failed 2–7. The ferry sails from Pier Nine to Holm. "
    "The tenants were not told before the vote.",
    date=datetime.date(2026, 3, 5),
)
RUIZ = SourceText(2, "Statement", "I will not vote for a wall that the tide climbs over.", author="Ana Ruiz")
LOANS = result(
    [
        ("branch", "branch", "text", ""),
        ("count", "number of loans", "number", ""),
        ("sum(fee)", "total fee", "money", "EUR"),
    ],
    [["Mill Lane", 840, 1260.5], ["Station", 615, 902.0], ["Harbour", 210, 388.25], ["Old Town", 95, 101.0]],
    total=1760,
    sentence="1,760 loans in 2026 by branch: Mill Lane (840, EUR 1,260.5) and 3 more.",
)


def states(answer: str, question: str = "") -> list[str]:
    found = verify(answer, [HARBOUR, RUIZ], [LOANS], question=question, today=TODAY)
    return [each.state for each in found.statements]


@pytest.mark.parametrize(
    "answer",
    [
        "The council approved the repairs 6–3, with Ruiz and Okafor against [1].",
        "They cost $310,000 a year for four years [1].",
        "On March 5, 2026 the repairs of the harbour wall were approved [1].",
        "The ferry sails from Pier Nine to Holm [1].",
        "The tenants were not told before the vote [1].",
        "Ana Ruiz said that she would “not vote for a wall that the tide climbs over” [2].",
        "Mill Lane lent the most, 840, which is 47.7% of all 1,760 loans.",
        "Station and Harbour together lent 825.",
        "Mill Lane lent 225 more than Station.",
        "- **Station**: 615 loans, €902.00",
        "| Branch | Loans |\n|---|---|\n| Mill Lane | 840 |\n| Old Town | 95 |",
        "A loan at Mill Lane brought €1.50 on average.",
    ],
)
def test_what_the_evidence_bears_out_is_verified(answer: str) -> None:
    assert set(states(answer)) == {"verified"}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("The council approved the repairs 5–4, with Ruiz and Okafor against [1].", "5–4"),
        ("The council approved the repairs 6–3, with Ruiz and Okafor in favor [1].", "Ruiz"),
        ("The council rejected the repairs of the harbour wall [1].", "approved"),
        ("The council approved the repairs of the harbour wall unanimously [1].", "unanimous"),
        ("They cost $310,000 a month for four years [1].", "year"),
        ("They cost €310,000 a year for four years [1].", "USD"),
        ("On March 6, 2026 the repairs of the harbour wall were approved [1].", "March 6"),
        ("The ferry sails from Holm to Pier Nine [1].", "from"),
        ("The tenants were told before the vote [1].", "not told"),
        ("Ana Ruiz said that she would “vote for a wall that the tide climbs over at night” [2].", "does not say"),
        ("Okafor said that the tide climbs over the wall [2].", "Okafor"),
        ("The lighthouse keeper retired to Portugal [1].", "Portugal"),
        ("Mill Lane lent the most, 840, which is 57.7% of all 1,760 loans.", "57.7%"),
        ("Station lent the most, 615.", "not the most"),
        ("Station and Harbour together lent 925.", "925"),
        ("Mill Lane lent 225 fewer than Station.", "reverse"),
        ("- **Station**: 840 loans, €902.00", "840"),
        ("- **Station**: 615 loans, $902.00", "EUR"),
        ("| Branch | Loans |\n|---|---|\n| Mill Lane | 840 |\n| Pine Hill | 95 |", "Pine Hill"),
    ],
)
def test_what_contradicts_the_evidence_or_is_not_in_it_is_flagged_with_a_reason(answer: str, said: str) -> None:
    found = verify(answer, [HARBOUR, RUIZ], [LOANS], today=TODAY)
    [flagged] = found.of("flagged")
    assert said.lower() in flagged.reason.lower()
    assert answer[flagged.start : flagged.end].strip()


def test_a_word_in_the_place_of_another_makes_a_statement_plausible_only() -> None:
    assert states("The council approved gardens of the harbour wall [1].") == ["plausible"]


def test_another_language_is_checked_for_numbers_and_names_and_never_high() -> None:
    german = "Die Filiale Mill Lane hatte die meisten Ausleihen, nämlich {}, und Old Town hatte nur 95 davon."
    assert states(german.format("840")) == ["plausible"]
    assert states(german.format("480")) == ["flagged"]


@pytest.mark.parametrize("comment", ["The records do not say what it cost.", "Is that all?", "I counted by branch."])
def test_what_speaks_of_the_data_is_a_comment_and_claims_nothing(comment: str) -> None:
    found = verify(comment, [HARBOUR])
    assert [each.state for each in found.statements] == ["comment"]
    assert level(found) is None


@pytest.mark.parametrize("talk", ["Thanks, glad to help.", "Happy to help!", "Good week!"])
def test_a_few_words_that_say_nothing_of_the_evidence_are_talk(talk: str) -> None:
    assert states(f"{talk} The vote was 6–3 [1].") == ["comment", "verified"]


def test_a_currency_before_a_number_and_the_unit_of_a_range_are_read() -> None:
    source = SourceText(1, "Fees", "It raised USD 58000000. The fee went from 60 to 75 euros.")
    assert [
        each.state for each in verify("It raised $58 million [1]. The fee was 60 euros [1].", [source]).statements
    ] == ["verified"] * 2


def test_a_citation_is_verified_with_its_claim_and_quotes_the_passage() -> None:
    found = verify("A motion by Ruiz to wait failed 2–7 [1].", [HARBOUR])
    [citation] = found.citations
    assert citation.verified
    assert HARBOUR.body[citation.start : citation.end] == citation.quote == "A motion by Ruiz to wait failed 2–7."


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("The wall costs $310,000 a year [1].", "High: the statement is checked"),
        ("The vote was 6–3 [1]. A motion by Ruiz to wait failed 2–7 [1].", "High: all 2 statements checked"),
        ("The vote was 6–3 [1]. A motion by Ruiz to wait failed 3–6 [1].", "Low: 1 of 2 is not in its source"),
        (
            "The vote was 6–3 [1]. The council approved gardens of the harbour wall [1].",
            "Medium: 1 of 2 statements checked",
        ),
    ],
)
def test_the_level_follows_from_the_statements(answer: str, label: str) -> None:
    trust = level(verify(answer, [HARBOUR]))
    assert trust is not None
    assert trust.label == label


def test_the_level_of_a_result_follows_from_its_reading_and_passages_have_none() -> None:
    labels = [level(Exact("sure")), level(Exact("likely")), level(Exact("sure", ["unanimously"]))]
    assert [each and each.level for each in labels] == ["high", "medium", "low"]
    assert level(Passages()) is None
    partial = level(Exact("sure"), missing=["motions"])
    assert partial is not None
    assert partial.label == "Low: motions could not be searched"


def test_an_answer_that_is_mostly_flagged_is_not_backed() -> None:
    def backed(answer: str) -> Verification:
        return verify(answer, [HARBOUR], today=TODAY)

    assert not backed("The vote was 9–0 [1]. The wall costs $5 [1].").is_backed
    assert backed("The vote was 6–3 [1]. The wall costs $5 [1].").is_backed


DEALS = SourceText(
    1,
    "Deals",
    "Norrholm sued Castellan over a rudder in March. Ofen was bought by Harbour from Kestrel. The vet, Dr. Rouse, chased "
    "the otters out of the pond. Lund's captain Borg scored eleven goals for the guests. The anglers wait for a later start.",
)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Norrholm sued Castellan over a rudder [1].", "verified"),
        ("Castellan sued Norrholm over a rudder [1].", "flagged"),
        ("Castellan was sued by Norrholm over a rudder [1].", "verified"),
        ("Norrholm was sued by Castellan over a rudder [1].", "flagged"),
        ("Harbour bought Ofen from Kestrel [1].", "verified"),
        ("Harbour was bought by Ofen from Kestrel [1].", "flagged"),
        ("The captain of Lund, Borg, scored eleven goals for the guests [1].", "verified"),
        ("Dr. Rouse chased the otters out of the pond [1].", "verified"),
        ("The vet chased the otters out of the pond [1].", "verified"),
        ("Castellan chased the otters out of the pond [1].", "flagged"),
    ],
)
def test_who_does_what_to_whom_is_as_in_the_sentence_of_the_source(answer: str, state: str) -> None:
    assert [each.state for each in verify(answer, [DEALS]).statements] == [state]


@pytest.mark.parametrize("name", ["first", "second"])
def test_most_false_statements_are_flagged_and_hardly_a_true_one(name: str) -> None:
    found = figures(name)
    assert found["false statements flagged"] >= 0.75
    assert found["true statements flagged"] <= 0.05
    assert found["true answers High"] >= 0.6
    assert found["High is right, at half true"] >= 0.9


def test_what_is_said_is_by_the_author_of_its_source() -> None:
    source = SourceText(1, "Statement", "Okafor is wrong. The tide climbs over the wall.", author="Ana Ruiz")
    [checked] = verify("Okafor said that the tide climbs over the wall [1].", [source]).statements
    assert checked.state == "flagged"
    assert "is by Ana Ruiz" in checked.reason
    assert verify("Ruiz said that the tide climbs over the wall [1].", [source]).of("verified")


POSTERS = result(
    [("title", "title", "text", ""), ("assignee", "assignee", "text", "")],
    [["Ask for posters on line 7", "Tomasz"], ["Book the three-phase supply", "Ines"]],
    total=2,
    sentence="2 tasks (status: blocked).",
)


@pytest.mark.parametrize(
    ("answer", "is_flagged"),
    [
        ("Two tasks are blocked: the posters on line 7 with Tomasz and the three-phase supply with Ines.", False),
        ("Two tasks are blocked: the posters on line 9 with Tomasz and the three-phase supply with Ines.", True),
        ("Seven tasks are blocked, those of Tomasz and Ines.", True),
    ],
)
def test_a_number_that_a_cell_of_text_says_is_borne_out(answer: str, is_flagged: bool) -> None:
    found = verify(answer, [], [POSTERS], question="What is blocked?", today=TODAY)
    assert bool(found.of("flagged") or [each for each in found.statements if "not in the" in (each.reason or "")]) == (
        is_flagged
    )


DONE = result(
    [("project", "project", "text", ""), ("count", "number of tasks", "number", "")],
    [["Village hall", 3], ["Fieldnote", 2], ["Bakery", 2], ["Spring drive", 1]],
    total=8,
    sentence="8 tasks (status: done) by project: Village hall (3), Fieldnote (2), Bakery (2) and 1 more.",
)


@pytest.mark.parametrize(
    ("answer", "is_flagged"),
    [
        ("Village hall has 3 tasks done, Fieldnote and Bakery 2 each, and Spring drive 1.", False),
        ("Fieldnote and Bakery have 2 tasks each, Village hall has 3.", False),
        ("Village hall and Fieldnote have 3 tasks each, and Spring drive 1.", True),
    ],
)
def test_a_shared_number_is_that_of_the_rows_named_before_it(answer: str, is_flagged: bool) -> None:
    found = verify(answer, [], [DONE], question="How many tasks are done in each project?", today=TODAY)
    assert bool(found.of("flagged")) == is_flagged


def test_a_number_in_the_name_that_was_asked_for_is_borne_out() -> None:
    asked = Query.model_validate({"source": "rows", "where": [{"field": "pet", "value": "Rex 10"}]})
    visits = result([("reason", "reason", "text", "")], [["Will not eat"]], total=1, sentence="1 visit (pet: Rex 10).")
    visits = visits.model_copy(update={"query": asked})
    found = verify("Rex 10 was seen once: it would not eat.", [], [visits], question="", today=TODAY)
    assert found.of("flagged") == []
    assert verify("Rex 12 was seen once: it would not eat.", [], [visits], question="", today=TODAY).of("flagged")


@pytest.mark.parametrize(
    ("said", "has_level"),
    [
        ("Please tell me which wall you mean.", False),
        ("Tenants may always build whatever pleases them.", False),
        ("The repairs were stopped by Halloran Brightwater.", True),
        ("Repairs take 19 years everywhere.", True),
        ("Everything was cancelled on 4 May 2021.", True),
    ],
)
def test_talk_that_names_a_number_a_date_or_somebody_is_a_claim(said: str, has_level: bool) -> None:
    assert (level(verify(said, [], today=TODAY), is_talk=True) is not None) == has_level


FIRMS = result(
    [("name", "name", "text", ""), ("founded_year", "founding year", "year", ""), ("rule", "rule", "text", "")],
    [["Lodgekit", 2010, "A roof reaches a U-value of 0.18"], ["Stacklight", 2009, "A kitchen serves eighty at once"]],
)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Lodgekit was founded in 2010, Stacklight in 2009.", "verified"),
        ("Lodgekit was founded in 2009.", "flagged"),
        ("Stacklight dates from 2008.", "flagged"),
        ("The U-value of a roof is 0.18.", "verified"),
        ("The U-value of a roof is 0.28.", "flagged"),
        ("The kitchen of Stacklight serves eighty.", "verified"),
    ],
)
def test_years_and_the_numbers_within_texts_are_those_of_their_rows(answer: str, state: str) -> None:
    assert [each.state for each in verify(answer, [], [FIRMS], today=TODAY).statements] == [state]


def test_the_id_of_a_row_in_brackets_is_no_part_of_what_is_said() -> None:
    source = SourceText(
        1, "", "id: ad-no4-4 | Brand: Ardent No. 4 | Channel: TV\nid: ad-cash-5 | Brand: Cashline | Channel: TV"
    )
    channels = result([("channel", "channel", "text", ""), ("count", "ads", "number", "")], [["TV", 2], ["SMS", 3]])
    said = "TV: Ardent No. 4 [ad-no4-4] and Cashline [ad-cash-5]."
    assert [each.state for each in verify(said, [source], [channels], today=TODAY).statements] == ["verified"]


def test_a_bound_of_the_query_and_the_part_that_a_share_is_are_borne_out() -> None:
    columns = [("city", "city", "text", ""), ("count", "startups", "number", "")]
    none = result(columns, [], 247, "247 startups (more than 5) by city: no group.")
    none.query = Query.model_validate(
        {"source": "rows", "aggregate": "count", "group": "city", "having": {"field": "count", "op": ">", "value": 5}}
    )
    share = result([("share", "share", "number", ""), ("count", "matters", "number", "")], [[0.125, 16]])
    said = "No city has more than 5 startups. Of 16 matters 2 are on housing, 12.5 %. Of 16 matters 3 are on roads."
    found = verify(said, [], [none, share], question="Which cities have more than 5 startups?", today=TODAY)
    assert [each.state for each in found.statements] == ["verified", "verified", "flagged"]
    assert verify("7 cities are listed.", [], [none], today=TODAY).of("flagged")


def test_a_yes_or_no_before_a_sentence_denies_nothing_in_it() -> None:
    stages = result(
        [("stage", "stage", "text", ""), ("avg(team)", "average team", "number", "people")],
        [["Series B", 108.74], ["Series A", 56.71]],
        sentence="Average team of 173 startups by stage: Series B (108.74 people), Series A (56.71 people).",
    )
    asked = "Is the team of a Series A startup bigger than at Series B?"
    said = "No: Series A startups have 56.7 people on average, Series B ones 108.7."
    assert [each.state for each in verify(said, [], [stages], question=asked, today=TODAY).statements] == ["verified"]


def test_talk_that_repeats_the_names_of_its_question_has_no_level() -> None:
    asked = "How much did Lumen Bank spend on TV in 2025?"
    for said, has_level in [
        ("Campaigns do not hold what they cost, so I cannot say how much Lumen Bank spent on TV in 2025.", False),
        ("Campaigns do not hold what they cost, but Orla Mobile spent much on radio.", True),
    ]:
        assert (level(verify(said, question=asked, today=TODAY), is_talk=True) is not None) == has_level


OPPOSED = result(
    [("votes_against", "vote against", "text", ""), ("count", "number of motions", "number", "")],
    [["", 109], ["Tomas Wray", 48], ["Leland Frost", 33]],
    total=210,
    sentence="210 motions by vote against: none (109), Tomas Wray (48) and Leland Frost (33).",
)
QUARTERS = result(
    [("opened", "opened", "date", ""), ("count", "number of jobs", "number", "")],
    [["2026-Q1", 22], ["2026-Q2", 24], ["2026-Q3", 32], ["2026-Q4", 11]],
    total=89,
    sentence="89 jobs by quarter (opened): Q1 2026 (22), Q2 2026 (24), Q3 2026 (32) and 1 more.",
)


@pytest.mark.parametrize(
    ("answer", "is_flagged"),
    [
        ("Tomas Wray opposed 48 motions, and nobody opposed 109 of the 210.", False),
        ("Tomas Wray opposed 48 motions, and nobody opposed 119 of the 210.", True),
        ("22 jobs came in the first quarter, 24 in the second, 32 in the third and 11 in the fourth.", False),
        ("22 jobs came in the first quarter, 34 in the second, 32 in the third and 11 in the fourth.", True),
        ("22 jobs came in Q2, 24 in Q3 and 32 in Q4.", True),
    ],
)
def test_numbers_are_of_the_row_without_a_value_or_go_down_a_column(answer: str, is_flagged: bool) -> None:
    assert bool(verify(answer, [], [OPPOSED, QUARTERS], today=TODAY).of("flagged")) == is_flagged


@pytest.mark.parametrize(
    ("answer", "is_flagged"),
    [
        ("On 4 May 2026 the Parks Committee voted 6–3 for the repairs of the harbour wall [1].", False),
        ("On 9 May 2026 the Parks Committee voted 6–3 for the repairs of the harbour wall [1].", True),
        ("On 4 May 2026 the Zoning Committee voted 6–3 for the repairs of the harbour wall [1].", True),
        ("The council split 6–3 over the harbour wall, so that the repairs were rejected [1].", True),
    ],
)
def test_what_a_source_does_not_say_of_a_row_may_stand_in_a_result(answer: str, is_flagged: bool) -> None:
    columns = [("date", "date", "date", ""), ("body", "body", "text", ""), ("matter", "matter", "text", "")]
    rows = [["2026-05-04", "Parks Committee", "Harbour wall"], ["2026-05-09", "Zoning Committee", "Bike lanes"]]
    motions = result(columns, [[*row] for row in rows], sentence="2 motions.")
    assert bool(verify(answer, [HARBOUR], [motions], today=TODAY).of("flagged")) == is_flagged


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The bookings do not say who paid.", "comment"),
        ("Nothing in Harbour 2.0 rates how likely a flood is.", "plausible"),
        ("The Friday tour has no guide.", "verified"),
        ("The Sunday tour has no guide.", "flagged"),
        ("Of the three tours, that of Monday is with Ola.", "verified"),
    ],
)
def test_what_is_lacking_is_no_false_statement(answer: str, state: str) -> None:
    body = "Tour: Friday | Guide: none | Seats: 12\nTour: Sunday | Guide: Ana | Seats: 9\nTour: Monday | Guide: Ola"
    told, data = ["There are three tours."], {"bookings"}
    asked = "Which risks does Harbour 2.0 rate?"
    verifier = Verifier([SourceText(1, "", body)], question=asked, today=TODAY, earlier=told, data=data)
    assert [each.state for each in verifier.verify(answer).statements] == [state]


def test_an_answer_in_another_language_is_medium_where_its_values_are_borne_out() -> None:
    said = "Am 4. Mai 2026 wurden {} Stellen gemeldet. Die meisten Ausleihen hatte die Filiale Mill Lane, nämlich 840."
    jobs = result(
        [("day", "day", "date", ""), ("count", "jobs", "number", "")], [["2026-05-04", 17]], sentence="17 jobs."
    )
    for number, expected in [("17", "medium"), ("18", "low")]:
        trust = level(verify(said.format(number), [], [jobs, LOANS], today=TODAY))
        assert trust is not None
        assert trust.level == expected


def test_a_currency_within_a_text_of_a_row_is_named_by_the_result() -> None:
    rows = [["Twin town", "The city may spend up to $6,000 a year on exchanges."]]
    motion = result([("title", "title", "text", ""), ("summary", "summary", "text", "")], rows, sentence="1 motion.")
    assert states_of("The city may spend $6,000 a year.", motion) == ["verified"]
    assert states_of("The city may spend €6,000 a year.", motion) == ["flagged"]


def test_an_amount_is_in_the_only_currency_that_its_source_names() -> None:
    source = SourceText(1, "Worn fingerboard", "currency: EUR\nquoted: 450.00\nreturned at: 2025-07-16")
    found = verify("It was quoted at €450 [1]. It was quoted at $450 [1].", [source], today=TODAY)
    assert [each.state for each in found.statements] == ["verified", "flagged"]


def states_of(answer: str, rows: QueryResult) -> list[str]:
    return [each.state for each in verify(answer, [], [rows], today=TODAY).statements]


def test_a_shortened_verb_makes_no_name_of_a_pronoun() -> None:
    assert list(names_in("Yes, I'd pay, I've asked and I’ll stay; so did O'Neill's aunt.", frozenset())) == [
        ("o'neill",)
    ]
