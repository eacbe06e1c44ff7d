"""Tables of a house that lends tools, as somebody may have them: names written short, amounts in cents, dates until when
something is due, two references to the same people; and questions that people put to them, each with what SQL says.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.pairs import database_sql

SCHEMA = f"create schema tool_house; set search_path = tool_house; {database_sql('pinned_tool_house')} analyze;"

_NAME = "s.given_name || ' ' || s.family_name"
_WITH_TIES = "group by s.pers_no order by 2 desc fetch first 1 rows with ties"

NUMBERS: Mapping[str, str] = {
    # names written short
    "What is the average runtime by topic?": "select topic, avg(runtime_min) from films group by 1",
    "What is the average duration of films?": "select avg(runtime_min) from films",
    "How many films run longer than two hours?": "select count(*) from films where runtime_min > 120",
    # amounts in cents
    "What is the total fee of loans by phone?": "select sum(fee_cents) / 100.0 from loans where channel = 'phone'",
    "How many tools cost more than 500?": "select count(*) from tools where price_cents > 50000",
    # who a row refers to, whatever work is called so
    "How many tools have no curator?": "select count(*) from tools where curator_ref is null",
    "How many tools has each curator?":
        f"select {_NAME}, count(*) from tools left join staff s on s.pers_no = curator_ref group by s.pers_no",
    "Who curates the most films?":
        f"select {_NAME}, count(*) from films join staff s on s.pers_no = curator_ref {_WITH_TIES}",
    "Which curator has curated the most films?":
        f"select {_NAME}, count(*) from films join staff s on s.pers_no = curator_ref {_WITH_TIES}",
    # what is due, and not done
    "How many loans are overdue?": "select count(*) from loans where return_by < current_date and returned_on is null",
    "How many loans by phone are late?":
        "select count(*) from loans where return_by < current_date and returned_on is null and channel = 'phone'",
    "How many loans have no return date?": "select count(*) from loans where returned_on is null",
    "How many loans have not been returned?": "select count(*) from loans where returned_on is null",
    "How many fines are overdue?": "select count(*) from fines where due_on < current_date and settled_on is null",
    "How many fines are there per year?": "select to_char(due_on, 'YYYY-01-01'), count(*) from fines group by 1",
    # what rows are called is left out of what they have
    "What is the average price of tools by kind?":
        "select tool_kind, avg(price_cents) / 100.0 from tools group by 1",
    # what is made when it is booked
    "How many bookings were made by phone in 2025?":
        "select count(*) from bookings where channel = 'phone' and extract(year from booked_at at time zone 'utc') = 2025",
    # a number of which the rows are named again, or what is done with it
    "What is the average fee per loan?": "select avg(fee_cents) / 100.0 from loans",
    "How many films last at least 100 minutes?": "select count(*) from films where runtime_min >= 100",
    # a date by what happened then
    "How many of the staff have no birth date?": "select count(*) from staff where dob is null",
    # what several tables have
    "How many loans were neither by phone nor by web?": "select count(*) from loans where channel not in ('phone', 'web')",
    "What percentage of films is about safety?": "select count(*) from films where topic = 'safety'",
    # one row that refers to another
    "How many tools have at least one film?": "select count(distinct tool_ref) from films",
    "How many tools have more than one film?":
        "select count(*) from (select from films group by tool_ref having count(*) > 1) c",
}  # fmt: skip

NO_NUMBER = (
    # of which it is not said whether they still are
    "How many loans were late?",
    "How many loans were returned late?",
    "How many tools are overdue?",
    # of which nothing is called the kind, or is a number of what there is
    "What is the total amount of fines by sort?",
    "Which tool sold the most units?",
    "Which of the staff has the most tools?",
)
