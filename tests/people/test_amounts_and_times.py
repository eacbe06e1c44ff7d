"""Salaries and times in a text, as people write them."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.people.parsing.periods import find_times, parse_period, relative_times
from quarry.people.parsing.salaries import find_salaries, offered_salary


@pytest.mark.parametrize(
    ("text", "inr_per_year"),
    [
        ("INR 80,000/month", 960_000),
        ("Rs. 80000 per month", 960_000),
        ("30k per month", 360_000),
        ("stipend 15k/month", 180_000),
        ("80,000 p.m.", 960_000),
        ("INR 20,000/- per month", 240_000),
        ("80k-1 lakh per month", 1_200_000),
        ("INR 960000/year", 960_000),
        ("₹18 lakh per year", 1_800_000),
        ("₹18,00,000", 1_800_000),
        ("Rs.12,00,000/-", 1_200_000),
        ("within ₹ 1,200,000 per annum", 1_200_000),
        ("12 LPA", 1_200_000),
        ("8lpa", 800_000),
        ("Rs 9.5 l.p.a.", 950_000),
        ("12-15 LPA", 1_500_000),
        ("12L to 15L", 1_500_000),
        ("between 12 and 15 LPA", 1_500_000),
        ("since 2020 and 12 LPA", 1_200_000),
        ("6 lacs", 600_000),
        ("under 15 lakhs", 1_500_000),
        ("8 lakhs p.a.", 800_000),
        ("18L max", 1_800_000),
        ("1.2 crore", 12_000_000),
        ("not more than 20 LPA", 2_000_000),
        ("paying at least 20 LPA", 2_000_000),
        ("budget 15 LPA", 1_500_000),
        # a salary, but not clear what is offered a year
        ("salary 50000", None),
        ("₹50,000", None),
        ("1 lakh", None),
        ("ctc 12", None),
        ("at least 20 LPA", None),
        ("earning above 30 LPA", None),
        ("$120,000 per year", None),
        ("salary under 50k", None),
    ],
)
def test_a_salary_is_read_as_rupees_a_year(text: str, inr_per_year: float | None) -> None:
    [mention] = find_salaries(text)
    assert mention.inr_per_year == inr_per_year
    assert text[mention.start : mention.end].strip() in text
    assert offered_salary(text) == inr_per_year


@pytest.mark.parametrize(
    "text",
    [
        "managed a 2 crore marketing budget", "10 lakh users", "₹40 crore revenue", "10k users", "20 papers per year", "in 2021",
        "a team of 12", "50% off", "5+ years", "raised 5 crore", "v1.2", "INR X/month", "saved 3 lakh per month", "range 2019",
    ],
)  # fmt: skip
def test_other_numbers_are_no_salary(text: str) -> None:
    assert find_salaries(text) == []


def test_of_several_salaries_none_is_the_offer() -> None:
    assert [mention.inr_per_year for mention in find_salaries("3 LPA or 30k per month")] == [300_000, 360_000]
    assert offered_salary("3 LPA or 30k per month") is None


@given(st.integers(1, 900), st.sampled_from(["LPA", "lakh per year", "lakhs p.a.", "lakh per annum"]))
def test_lakhs_a_year_are_counted_out(lakh: int, unit: str) -> None:
    assert offered_salary(f"up to {lakh} {unit}, Pune") == lakh * 100_000


@given(st.integers(1, 900), st.sampled_from(["INR {},000/month", "₹{}k per month", "Rs {}000 p.m."]))
def test_a_month_is_a_twelfth_of_a_year(thousand: int, form: str) -> None:
    assert offered_salary(form.format(thousand)) == (thousand * 12_000 if thousand * 12_000 >= 10_000 else None)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("in 2021", "2021-01-01", "2021-12-31"),
        ("during 2020", "2020-01-01", "2020-12-31"),
        ("between 2019 and 2022", "2019-01-01", "2022-12-31"),
        ("between 2022 and 2019", "2019-01-01", "2022-12-31"),
        ("from 2017 to 2019", "2017-01-01", "2019-12-31"),
        ("2017-19", "2017-01-01", "2019-12-31"),
        ("2019–2021", "2019-01-01", "2021-12-31"),
        ("from Jan 2020 to present", "2020-01-01", None),
        ("from june 2018 until 3 feb 2021", "2018-06-01", "2021-02-03"),
        ("from March to May 2020", "2020-03-01", "2020-05-31"),
        ("since March 2020", "2020-03-01", None),
        ("from 2020 onwards", "2020-01-01", None),
        ("2020+", "2020-01-01", None),
        ("after 2019", "2020-01-01", None),
        ("post-2020", "2021-01-01", None),
        ("before 2018", None, "2017-12-31"),
        ("until 2019", None, "2019-12-31"),
        ("in the 2010s", "2010-01-01", "2019-12-31"),
        ("Q3 2021", "2021-07-01", "2021-09-30"),
        ("in February 2020", "2020-02-01", "2020-02-29"),
        ("2020-02", "2020-02-01", "2020-02-29"),
        ("on 15 March 2020", "2020-03-15", "2020-03-15"),
        ("March 5, 2020", "2020-03-05", "2020-03-05"),
        ("class of 2018", "2018-01-01", "2018-12-31"),
        ("2018 batch", "2018-01-01", "2018-12-31"),
    ],
)
def test_a_time_is_read_as_its_first_and_last_day(text: str, start: str | None, end: str | None) -> None:
    [mention] = find_times(f"sailors {text}")
    assert (mention.time_start, mention.time_end) == tuple(
        day and datetime.date.fromisoformat(day) for day in (start, end)
    )


@pytest.mark.parametrize(
    "text", ["2000 users", "team of 2000 people", "in 2000 stores", "ISO 2021", "30 Feb 2020", "up 2021%"]
)
def test_other_numbers_are_no_time(text: str) -> None:
    assert find_times(text) == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("chefs in the last 2 years", "in the last 2 years"),
        ("over the past three years", "over the past three years"),
        ("3 years ago", "3 years ago"),
        ("at least 5 years", "at least 5 years"),
        ("5+ yrs of experience, Pune", "5+ yrs of experience"),
        ("this year", "this year"),
    ],
)
def test_a_time_that_depends_on_today_is_kept_as_it_is(text: str, kept: str) -> None:
    assert [text[start:end] for start, end in relative_times(text)] == [kept]
    assert find_times(text) == []


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2020", "2020-01-01", "2020-12-31"),
        ("2020-03", "2020-03-01", "2020-03-31"),
        ("03/2020", "2020-03-01", "2020-03-31"),
        ("2020-03-15", "2020-03-15", "2020-03-15"),
        ("15/03/2020", "2020-03-15", "2020-03-15"),
        ("2020-03-15T10:00:00Z", "2020-03-15", "2020-03-15"),
        (" Mar 2020 ", "2020-03-01", "2020-03-31"),
        ("Sept 2020", "2020-09-01", "2020-09-30"),
        ("Q2 2020", "2020-04-01", "2020-06-30"),
        ("mid-2020", "2020-01-01", "2020-12-31"),
    ],
)
def test_a_date_is_the_days_that_it_means(text: str, first: str, last: str) -> None:
    period = parse_period(text)
    assert period is not None
    assert (period.first.isoformat(), period.last.isoformat()) == (first, last)


@pytest.mark.parametrize(
    "text", ["", "soon", "2020-02-30", "2020-13", "13/2020", "0020", "3020", "20200101", "2020ish"]
)
def test_what_is_no_date_means_no_days(text: str) -> None:
    assert parse_period(text) is None


@given(st.dates(datetime.date(1950, 1, 1), datetime.date(2099, 12, 31)))
def test_a_day_means_itself(day: datetime.date) -> None:
    period = parse_period(day.isoformat())
    assert period is not None
    assert period.first == period.last == day


@given(st.text(st.sampled_from("0123456789-–/ .,:₹$kLPAlakhcroremonthyearsincebetweenandQJn\n"), max_size=80))
def test_mentions_are_in_order_and_do_not_overlap(text: str) -> None:
    for mentions in (find_salaries(text), find_times(text)):
        places = [place for mention in mentions for place in (mention.start, mention.end)]
        assert places == sorted(places)
        assert all(0 <= place <= len(text) for place in places)
    for time in find_times(text):
        assert time.time_start is None or time.time_end is None or time.time_start <= time.time_end
    assert all(mention.inr_per_year is None or 10_000 <= mention.inr_per_year <= 1e9 for mention in find_salaries(text))
