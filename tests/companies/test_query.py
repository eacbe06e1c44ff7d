"""What a question seeks: counts, statuses, stages, years, sizes, places, tags, topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.companies.facets import COMPANIES
from quarry.companies.query import CLAUSES_MAX, COUNT_MAX, EXCLUDED_MAX, Sought
from quarry.companies.store import RuledOut, row_filter
from quarry.query.worded import labels
from quarry.spans.question import Clause, Condition
from tests.companies.asking import asked


def conditions(sought: Sought, facet: str) -> list[Condition]:
    return [each for clause in sought.stated for each in clause if each.facet == facet]


def values(sought: Sought, facet: str, *, is_negated: bool = False) -> set[str]:
    return {value for each in conditions(sought, facet) if each.is_negated is is_negated for value in each.values}


def said(sought: Sought) -> set[str]:
    return set(labels(COMPANIES, sought.stated))


def tags(sought: Sought, *, demanded: bool | None = None) -> set[str]:
    return {
        value
        for group in sought.tags
        if demanded in (None, group.is_demanded)
        for each in group.conditions
        for value in each.values
    }


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("top 5 fintech companies", 5),
        ("show me three climate startups", 3),
        ("list 12 insurers", 12),
        ("the best two banks", 2),
        ("seven companies like Harbor", 7),
        ("give me a few startups", 3),
        ("100 startups", 20),
        ("show me 0 startups", 1),
        ("startups with 5 employees", None),
        ("founded in 2020", None),
        ("companies for one person", None),
        ("3Fold", None),
    ],
)  # fmt: skip
def test_the_number_wanted(question: str, count: int | None) -> None:
    assert asked(question).count == count


@pytest.mark.parametrize(
    ("question", "statuses"),
    [
        ("acquired fintech companies", ("acquired",)),
        ("banks that have been acquired", ("acquired",)),
        ("public companies in insurance", ("public",)),
        ("publicly traded insurers", ("public",)),
        ("publicly listed insurers", ("public",)),
        ("listed companies", ("public",)),
        ("listed German insurance companies", ("public",)),
        ("companies listed under insurance", ()),
        ("robotics companies that went public", ("public",)),
        ("defunct drone startups", ("closed",)),
        ("drone makers that went out of business", ("closed",)),
        ("shops that shut down", ("closed",)),
        ("failed startups in education", ("closed",)),
        ("startups that failed", ("closed",)),
        ("closed or acquired banks", ("acquired", "closed")),
        ("banks, also acquired ones", ("startup", "acquired")),
        ("banks including those that closed", ("startup", "closed")),
        ("banks that are still active", ("startup",)),
        ("public transit planning", ()),
        ("closed-loop recycling", ()),
        ("failed payments recovery", ()),
        ("startups that recover failed payments", ()),
        ("tools for public schools", ()),
        ("fintech startups", ()),
    ],
)
def test_the_statuses_named(question: str, statuses: tuple[str, ...]) -> None:
    assert values(asked(question), "status") == set(statuses)


@pytest.mark.parametrize(
    ("question", "stages"),
    [
        ("seed stage banks", {"seed"}),
        ("seed startups", {"seed"}),
        ("seed companies for farmers", {"seed"}),
        ("companies that sell seed to farmers", set()),
        ("seed banks for farmers", set()),
        ("pre-seed startups", {"pre_seed"}),
        ("series-b banks", {"series_b"}),
        ("Series C or later", {"series_c", "growth", "public"}),
        ("series a or earlier", {"pre_seed", "seed", "series_a"}),
        ("seed or series A startups", {"seed", "series_a"}),
        ("startups in Germany: seed, series A or series B", {"seed", "series_a", "series_b"}),
        ("startups at seed or pre-seed", {"seed", "pre_seed"}),
        ("bootstrapped or seed startups", {"bootstrapped", "seed"}),
        ("companies that are bootstrapped or seed", {"bootstrapped", "seed"}),
        ("companies that sell seed or growth", set()),
        ("Series C+ startups", {"series_c", "growth", "public"}),
        ("series C and above", {"series_c", "growth", "public"}),
        ("unfunded startups", {"bootstrapped"}),
        ("startups that never raised money", {"bootstrapped"}),
        ("startups that did not raise funding", {"bootstrapped"}),
        ("startups that raised no money", {"bootstrapped"}),
        ("banks that have raised nothing", {"bootstrapped"}),
        ("startups not yet funded", {"bootstrapped"}),
        ("companies that have not raised any money", {"bootstrapped"}),
        ("early stage banks", {"pre_seed", "seed"}),
        ("late stage startups", {"series_c", "growth"}),
        ("bootstrapped startups", {"bootstrapped"}),
        ("bootstrapped music companies", {"bootstrapped"}),
    ],
)
def test_the_funding_stages_named(question: str, stages: set[str]) -> None:
    assert values(asked(question), "funding_stage") == stages


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("banks founded in 2020", "founded in 2020"),
        ("banks founded after 2019", "founded since 2020"),
        ("banks since 2019", "founded since 2019"),
        ("banks founded in 2020 or later", "founded since 2020"),
        ("banks started before 2010", "founded until 2009"),
        ("founded between 2015 and 2018", "founded between 2015 and 2018"),
        ("banks founded before 2010 and after 2015", "founded until 2009"),
        ("banks founded before 2010 and after 2015", "founded since 2016"),
        ("banks founded after 2015 and before 2020", "founded since 2016"),
        ("banks founded in the last five years", "founded between 2021 and 2026"),
        ("banks older than 20 years", "founded until 2005"),
        ("banks that are at least 20 years old", "founded until 2006"),
        ("banks less than ten years old", "founded since 2017"),
        ("banks younger than 10 years", "founded since 2017"),
        ("banks older than 5000 years", "founded until 1"),
        ("companies that closed in 2021", "closed in 2021"),
        ("companies with more than 80 employees", "with more than 80 employees"),
        ("companies with at least 1,000 staff", "with at least 1,000 employees"),
        ("banks with fewer than 50 people", "with fewer than 50 employees"),
        ("companies with no more than 50 employees", "with at most 50 employees"),
        ("startups that raised more than $20M", "with more than USD 20,000,000 raised"),
        ("startups that raised less than 5 million", "with less than USD 5,000,000 raised"),
        ("companies acquired by Square", "acquired by Square"),
        ("companies acquired by Square or Brattlow Group", "acquired by Square or Brattlow Group"),
        ("founded by Ines Vadaro or Ola Brenn", "founded by Ines Vadaro or Ola Brenn"),
        ("founded by Ola Brenn, acquired by Square", "founded by Ola Brenn"),
        ("what did Brattlow Group acquire?", "acquired by Brattlow Group"),
        ("companies that Brattlow Group bought", "acquired by Brattlow Group"),
        ("companies that Ines Vadaro founded", "founded by Ines Vadaro"),
        ("companies that never took funding", "without a total funding"),
    ],
)
def test_conditions_on_fields(question: str, label: str) -> None:
    assert label in said(asked(question))


@pytest.mark.parametrize(
    ("question", "countries"),
    [
        ("banks in Germany", {"Germany"}),
        ("German banking startups", {"Germany"}),
        ("startups from the UK", {"United Kingdom"}),
        ("startups in the us", {"United States"}),
        ("US startups", {"United States"}),
        ("help us find startups", set()),
        ("only the British ones", {"United Kingdom"}),
        ("startups in Denmark or Sweden", {"Denmark", "Sweden"}),
        ("startups in the Baltics", {"Estonia"}),
        ("Polish startups", {"Poland"}),
        ("companies that polish floors", set()),
        ("startups for African farmers", set()),
        ("startups selling to Germany", set()),
        ("startups in South Korea", {"South Korea"}),
        ("startups based in the Netherlands", {"Netherlands"}),
        ("seed stage Danish and Swedish fintech companies", {"Denmark", "Sweden"}),
        ("startups teaching French", set()),
        ("companies helping German hospitals", set()),
        ("logistics in Germany", {"Germany"}),
    ],
)
def test_the_countries_that_companies_are_to_be_in(question: str, countries: set[str]) -> None:
    assert values(asked(question), "country") == countries


@pytest.mark.parametrize(
    ("question", "excluded"),
    [
        ("startups outside the US", {"United States"}),
        ("banks, but companies not in France", {"France"}),
        ("companies, except in France", {"France"}),
        ("companies like that but in France", set()),
    ],
)
def test_the_countries_that_companies_are_not_to_be_in(question: str, excluded: set[str]) -> None:
    assert values(asked(question), "country", is_negated=True) == excluded


@pytest.mark.parametrize(
    ("question", "cities"),
    [
        ("startups in Berlin", {"Berlin"}),
        ("banks from New York", {"New York"}),
        ("banks in Berlin or Leeds", {"Berlin", "Leeds"}),
        ("startups in Germany", set()),
        ("startups in Healthcare", set()),
        ("in SaaS", set()),
        ("banks in berlin", {"Berlin"}),
        ("getting things done in Slack", set()),
    ],
)  # fmt: skip
def test_the_cities_that_companies_are_to_be_in(question: str, cities: set[str]) -> None:
    assert values(asked(question), "city") == cities


def test_regions_are_the_countries_that_the_data_holds_of_them() -> None:
    countries = values(asked("startups in Europe"), "country")
    assert {"Germany", "United Kingdom", "Norway"} <= countries
    assert "United States" not in countries


def test_startups_are_meant_where_no_status_is_named() -> None:
    assert [clause[0].values for clause in asked("fintech").assumed] == [("startup",)]
    assert asked("acquired fintech companies").assumed == ()
    assert asked("fintech companies of any status").assumed == ()


def test_of_what_is_assumed_the_status_is_left_out_first() -> None:
    status: Clause = (Condition("status", ("startup",), strength="inferred"),)
    place: Clause = (Condition("country", ("Norway",), strength="inferred"),)
    read = replace(asked("fintech"), assumed=(place, status))
    assert (read.relaxed().assumed, read.relaxed().relaxed().assumed) == ((place,), ())
    assert (read.is_stated, asked("fintech").is_stated) == (True, False)


@pytest.mark.parametrize(
    ("question", "demanded", "named"),
    [
        ("insurtech startups", {"Insurance"}, {"Insurance"}),
        ("car insurance", {"Auto Insurance"}, {"Auto Insurance"}),
        (
            "drone or self-driving companies",
            {"Drone Delivery", "Autonomous Driving"},
            {"Drone Delivery", "Autonomous Driving"},
        ),
        ("tools for developers", set(), {"Developer & Data Infrastructure"}),
        (
            "open source companies selling to developers",
            {"Open Core"},
            {"Open Core", "Developer & Data Infrastructure"},
        ),
        ("something about submarines", set(), set()),
    ],
)
def test_a_name_demands_its_tag_where_it_says_what_companies_are(
    question: str, demanded: set[str], named: set[str]
) -> None:
    read = asked(question)
    assert tags(read, demanded=True) == demanded
    assert tags(read) == named


def test_tags_that_or_joins_are_one_of_which_any_is_enough() -> None:
    joined, apart = (asked(f"vaccines {word} podcasts").tags for word in ("or", "and"))
    assert [len(group.values("category")) for group in joined] == [2]
    assert [len(group.values("category")) for group in apart] == [1, 1]


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("companies founded by Ines Vadaro", ""),
        ("companies that Ines Vadaro founded", ""),
        ("companies whose customers are bakers", "bakers"),
        ("companies with happy customers", "happy customers"),
    ],
)
def test_words_that_only_lead_to_a_name_are_no_topic(question: str, topic: str) -> None:
    assert asked(question).topic == topic


def test_a_tag_that_is_not_wanted_rules_companies_out_in_words_too() -> None:
    read = asked("climate companies without payments")
    assert values(read, "category", is_negated=True) == {"Payments"}
    assert (tags(read), read.excluded, read.topic) == ({"Climate & Energy"}, ("payments",), "climate")


@pytest.mark.parametrize(
    "question",
    [
        "companies in Germany that are not startups",
        "German companies that aren't startups",
        "companies in Germany, no startups",
        "companies in Germany that are no longer startups",
    ],
)
def test_startups_are_ruled_out_as_a_status(question: str) -> None:
    found = asked(question)
    assert values(found, "status", is_negated=True) == {"startup"}
    assert values(found, "country") == {"Germany"}
    assert not found.assumed


def test_startups_that_are_elsewhere_or_not_alone_are_not_ruled_out() -> None:
    for question in ("no startups in Germany", "not only startups in Germany", "startups that are not in Germany"):
        assert not values(asked(question), "status", is_negated=True)


@pytest.mark.parametrize(
    ("question", "country", "excluded"),
    [
        ("startups that don't sell to Germany", {"Germany"}, ()),
        ("startups not selling in Germany", {"Germany"}, ()),
        ("startups that do not sell toys", set(), ("toys",)),
        ("startups that do not sell to the zoos", set(), ("zoos",)),
    ],
)
def test_a_verb_of_what_all_companies_do_is_not_what_is_ruled_out(
    question: str, country: set[str], excluded: tuple[str, ...]
) -> None:
    found = asked(question)
    assert values(found, "country", is_negated=True) == country
    assert found.excluded == excluded
    assert not values(found, "niche", is_negated=True)


def test_a_tag_goes_with_a_part_of_it_that_is_ruled_out() -> None:
    read = asked("climate companies without accounting")
    assert values(read, "category", is_negated=True) == {"Accounting & Tax"}
    assert values(asked("climate companies for accounting"), "category") == set()


@pytest.mark.parametrize(
    ("question", "excluded"),
    [
        ("machines for growers, no payments please", ("payments",)),
        ("machines for growers, please no herbicides", ("herbicides",)),
        ("machines for growers who need no herbicides", ()),
    ],
)
def test_what_is_ruled_out_behind_a_comma_is_said_of_companies(question: str, excluded: tuple[str, ...]) -> None:
    assert asked(question).excluded == excluded


@pytest.mark.parametrize("question", ["banks with headquarters in Berlin", "banks in the city of Berlin"])
def test_the_name_of_a_place_says_nothing_beside_which_one_it_is(question: str) -> None:
    read = asked(question)
    assert (said(read), read.topic) == ({"in Berlin"}, "banks")


def test_when_money_was_raised_is_not_when_a_company_was_founded() -> None:
    read = asked("banks that raised money in 2023")
    assert said(read) == set()
    assert [missing.text for missing in read.question.unanswerable] == ["in 2023"]


@pytest.mark.parametrize(
    ("question", "untold"),
    [
        ("banks acquired in 2021", "acquired in 2021"),
        ("acquired banks since 2019", "acquired banks since 2019"),
        ("companies that went public before 2020", "went public before 2020"),
    ],
)
def test_when_a_company_was_acquired_or_went_public_is_not_when_it_was_founded(question: str, untold: str) -> None:
    read = asked(question)
    assert len(said(read)) == 1
    assert said(read) <= {"acquired", "public"}
    assert [missing.text for missing in read.question.unanswerable] == [untold]


def test_a_status_beside_a_founding_year_does_not_date_it() -> None:
    assert said(asked("acquired banks founded in 2010")) == {"acquired", "founded in 2010"}
    assert said(asked("closed, founded in 2010")) == {"closed", "founded in 2010"}


@pytest.mark.parametrize(
    ("question", "untold"),
    [
        ("banks whose revenue is above $5M", "revenue is above $5M"),
        ("banks valued at over $1 billion", "valued at over $1 billion"),
        ("banks with $5M in sales", "$5M in sales"),
    ],
)
def test_an_amount_of_something_else_is_not_what_was_raised(question: str, untold: str) -> None:
    read = asked(question)
    assert said(read) == set()
    assert [missing.text for missing in read.question.unanswerable] == [untold]


def test_an_amount_that_nothing_names_is_what_was_raised() -> None:
    assert said(asked("banks with over $5M")) == {"with more than USD 5,000,000 raised"}
    assert said(asked("banks that raised over $5M, with little revenue")) == {"with more than USD 5,000,000 raised"}


def test_one_of_the_things_that_a_tag_lists_names_it() -> None:
    assert tags(asked("Reptiles / Amphibians")) == {"Reptiles / Amphibians"}


def test_what_others_lack_is_no_word_against_a_company() -> None:
    read = asked("machines that pull out weeds so the grower needs no payments")
    assert (read.stated, read.excluded) == ((), ())
    assert "payments" not in read.topic


def test_a_word_that_is_a_name_too_demands_nothing() -> None:
    read = asked("money back when my plane leaves late")
    assert read.stated == ()
    assert "plane" in read.topic


def test_words_that_say_whom_others_are_like_are_not_sought() -> None:
    read = asked("companies like Harbor in Berlin", named=["Harbor"])
    assert (read.topic, values(read, "city")) == ("", {"Berlin"})


@pytest.mark.parametrize(
    ("question", "topic", "plain"),
    [
        ("show me the top 5 fintech companies in Germany founded after 2018", "fintech", True),
        ("who is building things for submarines?", "submarines", False),
        ("only the British ones", "", False),
        ("startups", "", False),
        ("series C or later in Germany", "", False),
        ("homes and above", "homes and above", False),
    ],
)
def test_the_topic_is_what_is_left(question: str, topic: str, plain: bool) -> None:
    read = asked(question)
    assert (read.topic, read.is_plain) == (topic, plain)


@pytest.mark.parametrize(
    ("question", "narrows"),
    [("only the British ones", True), ("which of these sell hardware", True), ("just those in Leeds", True),
     ("fintech in Leeds", False), ("restaurants", False)],
)  # fmt: skip
def test_a_question_may_speak_of_what_was_shown(question: str, narrows: bool) -> None:
    assert asked(question).narrows is narrows


@pytest.mark.parametrize(
    ("earlier", "question", "topic", "countries"),
    [
        (["solar companies", "only in Spain"], "and in Italy?", "solar", {"Italy"}),
        (["solar companies"], "payments in Italy", "payments", {"Italy"}),
        ([], "and in Italy?", "", {"Italy"}),
    ],
)
def test_a_follow_up_keeps_what_it_does_not_change(
    earlier: Sequence[str], question: str, topic: str, countries: set[str]
) -> None:
    read = asked(question, earlier)
    assert (read.topic, values(read, "country")) == (topic, countries)


FILTER_CHARACTERS_MAX = 10_000
YEARS = " ".join(f"founded after {year}" for year in range(1900, 2020))[:2000]


@pytest.mark.parametrize(
    "question",
    [
        YEARS,
        ("companies " + ", ".join(f"no x{number}" for number in range(400)))[:2000],
        ("companies " + ", ".join(f"no left{number} boots" for number in range(200)))[:2000],
        ("fintech insurance payments " * 100)[:2000],
        " ".join(f"preferably founded after {year}" for year in range(1950, 2010))[:2000],
    ],
    ids=["conditions", "words ruled out", "phrases ruled out", "tags", "preferences"],
)
def test_however_many_conditions_are_said_a_bounded_number_is_looked_for(question: str) -> None:
    read = asked(question)
    kinds = (read.stated, read.assumed, read.preferred, read.tags)
    assert max(map(len, kinds)) <= CLAUSES_MAX
    assert len(read.excluded) <= EXCLUDED_MAX
    assert read.has_more
    assert len(row_filter(read.clauses, RuledOut(read.excluded))) < FILTER_CHARACTERS_MAX


def test_the_first_of_many_conditions_are_those_that_hold() -> None:
    read = asked(YEARS)
    assert labels(COMPANIES, read.stated) == [f"founded since {1901 + place}" for place in range(CLAUSES_MAX)]


def test_a_condition_that_is_said_again_is_one() -> None:
    read = asked("banks with more than 5 employees not in France with more than 5 employees not in France " * 8)
    assert said(read) == {"with more than 5 employees", "not in France"}
    assert len(read.stated) == 2
    assert not read.has_more


def test_of_several_conditions_none_is_left_out() -> None:
    read = asked(
        "seed stage insurance startups in Germany, France or Norway founded between 2012 and 2020 with 10 to 80 employees that "
        "raised more than 5 million, but no lending, no drones and no payments"
    )
    assert said(read) >= {"at seed", "founded between 2012 and 2020", "with more than USD 5,000,000 raised"}
    assert values(read, "country") == {"Germany", "France", "Norway"}
    assert len(read.excluded) == 3
    assert not read.has_more


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=300))
def test_any_text_can_be_read(question: str) -> None:
    read = asked(question)
    assert read.count is None or 1 <= read.count <= COUNT_MAX
    assert all(clause for clause in read.clauses)
    assert read == asked(question)


@pytest.mark.parametrize(
    ("question", "facet", "value", "is_negated"),
    [
        ("closed pharmacies", "status", "closed", False),
        ("pharmacies closed in 2020", "status", "closed", False),
        ("bootstrapped tutoring", "funding_stage", "bootstrapped", False),
        ("insurers that are not bootstrapped", "funding_stage", "bootstrapped", True),
        ("public transport", "status", "public", None),
        ("seed banks", "funding_stage", "seed", None),
    ],
)
def test_a_status_or_stage_is_said_of_what_companies_are_filed_under(
    question: str, facet: str, value: str, is_negated: bool | None
) -> None:
    found = {each.is_negated for each in conditions(asked(question), facet) if value in each.values}
    assert found == ({is_negated} if is_negated is not None else set())


def test_words_that_describe_funding_are_no_words_that_profiles_must_lack() -> None:
    found = asked("insurers without venture funding")
    assert said(found) == {"without a total funding"}
    assert found.excluded == ()


def test_the_most_money_is_the_amount_that_is_named() -> None:
    found = asked("which insurers raised the most money?")
    assert (found.question.ask.kind, found.question.ask.facet, found.question.ask.ascending) == (
        "extreme",
        "funding",
        False,
    )
    assert "money" not in found.topic
