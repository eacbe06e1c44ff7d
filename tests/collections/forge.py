"""Tables of a forge as somebody may have them: work that is assigned and paid for, or not yet, with the hours it took; and
questions that people put to them, each with what SQL says.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.pairs import database_sql

SCHEMA = f"create schema forge; set search_path = forge; {database_sql('pinned_forge')} analyze;"

_HOURS = "stints h join smiths s on s.id = h.worker_id"
_WORK = "commissions c left join smiths s on s.id = c.assignee_id"
_STINTS = "select count(h.id) as n from commissions c left join stints h on h.commission_id = c.id group by c.id"

NUMBERS: Mapping[str, str] = {
    # who a row refers to, or does not
    "How many commissions are unassigned?": "select count(*) from commissions where assignee_id is null",
    "How many unassigned commissions are on hold?":
        "select count(*) from commissions where assignee_id is null and state = 'on_hold'",
    "How many open commissions have nobody assigned?":
        "select count(*) from commissions where assignee_id is null and state = 'open'",
    "How many commissions are not assigned yet?": "select count(*) from commissions where assignee_id is null",
    "How many commissions are assigned?": "select count(*) from commissions where assignee_id is not null",
    "How many commissions are assigned to Ada Falk?":
        f"select count(*) from {_WORK} where s.full_name = 'Ada Falk'",
    # what has not happened
    "How many commissions are unpaid?": "select count(*) from commissions where paid_on is null",
    "How many commissions are not yet paid?": "select count(*) from commissions where paid_on is null",
    # how many rows refer to one
    "How many commissions have more than three stints?": f"select count(*) from ({_STINTS}) c where n > 3",
    "How many commissions have at least 2 stints?": f"select count(*) from ({_STINTS}) c where n >= 2",
    "How many commissions have no stints?": f"select count(*) from ({_STINTS}) c where n = 0",
    "How many urgent commissions are without stints?":
        "select count(*) from commissions c where is_urgent and not exists (select from stints where commission_id = c.id)",
    "How many guilds have no smiths?": "select count(*) from guilds where guild_code not in (select guild_code from smiths)",
    # everyday words that are values
    "What is the average price of features?": "select avg(price) from commissions where kind = 'feature'",
    "How many commissions are on hold?": "select count(*) from commissions where state = 'on_hold'",
    # periods of the date that a verb speaks of
    "How many commissions were finished per month?":
        "select to_char(finished_on, 'YYYY-MM-01'), count(*) from commissions where finished_on is not null group by 1",
    # hours
    "How many hours did Ada Falk work?": f"select sum(hours) from {_HOURS} where s.full_name = 'Ada Falk'",
    "How many non-billable hours did Cleo Krug work?":
        f"select sum(hours) from {_HOURS} where s.full_name = 'Cleo Krug' and not is_billable",
    "Who worked the most hours?":
        f"select s.full_name, sum(hours) from {_HOURS} group by 1 order by 2 desc fetch first 1 rows with ties",
    # who is fastest, on average
    "Which assignee has the fastest commissions?":
        f"select s.full_name, avg(finished_on - begun_on) from {_WORK} where s.id is not null and finished_on is not null"
        " group by 1 order by 2 fetch first 1 rows with ties",
    # of two values
    "Are there more repairs or castings?":
        "select kind, count(*) from commissions where kind in ('repair', 'casting') group by 1",
    "Are there more repairs than features?":
        "select kind, count(*) from commissions where kind in ('repair', 'feature') group by 1",
    # a reference that is called after its table
    "What is the average daily wage by guild?":
        "select g.guild_name, avg(daily_wage) from smiths s join guilds g using (guild_code) group by 1",
    "Which guild has the most smiths?":
        "select g.guild_name, count(*) from smiths join guilds g using (guild_code) group by 1 order by 2 desc"
        " fetch first 1 rows with ties",
}  # fmt: skip

NO_NUMBER = (
    # one group of words is not understood
    "How many commissions are being worked on?",
    "How many commissions were assigned last month?",
    "How many commissions are assigned to smiths in the High Hall?",
    # a smith may be who does the work or who ordered it
    "How many smiths have more than three commissions?",
    "Which smith is the fastest?",
    "Are there more open repairs than castings?",
)

BILLS = """
create schema accounts;
set search_path = accounts;
create table bills (id int primary key, about text not null, kind text not null, total_amount numeric not null,
  issued_on date not null, paid_on date);
insert into bills select i, 'Bill ' || i, (array['coal', 'iron'])[1 + i % 2], 10 + i, date '2025-01-05' + i,
  case when i % 3 > 0 then date '2025-03-01' + i end from generate_series(1, 60) i;
analyze;
"""

PAID: Mapping[str, str] = {
    "How much was paid for coal?":
        "select sum(total_amount) from bills where kind = 'coal' and paid_on is not null",
    "How much was paid for bills?": "select sum(total_amount) from bills where paid_on is not null",
    "How much was paid in March 2025?":
        "select sum(total_amount) from bills where paid_on between '2025-03-01' and '2025-03-31'",
    "What is the total amount of unpaid bills?": "select sum(total_amount) from bills where paid_on is null",
}  # fmt: skip
