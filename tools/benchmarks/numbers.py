"""`make bench`: numbers of groups, compared with SQL written by hand, in one run.

Tickets refer to agents, and these to teams; each ticket has comments. Times are of Postgres with the statement of a Query, and of
the hand-written one. Read the ratios, not the milliseconds.
"""

from __future__ import annotations

import argparse
import datetime
import time
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from quarry.query.execute import compile_query
from quarry.schema.algebra import Query
from tests.query.desk_schema import DESK, TABLES
from tools.benchmarks.measuring import migrated_server

ROWS: LiteralString = """
truncate comment, ticket, agent, team;
insert into team select i, 'Team ' || i from generate_series(1, 20) i;
insert into agent select i, 'Agent ' || i, 1 + i % 20, false from generate_series(1, 2000) i;
insert into ticket select i, 'Ticket ' || i, (array['open', 'closed', 'new', 'stuck'])[1 + i % 4], 1 + i * 13 % 2000,
  date '2020-01-01' + i % 2000, null, i % 5000 + 0.5, i % 90, array['a'], i % 7 = 0 from generate_series(1, {rows}) i;
insert into comment select i, 1 + i * 17 % {rows}, 'Ada', i % 50, timestamp '2024-01-01' from generate_series(1, {rows}) i;
create index on ticket (agent_id); create index on comment (ticket_id);
"""
QUERIES: Mapping[str, tuple[dict[str, Any], LiteralString]] = {
    "two measures by a value": (
        {"source": "tickets", "group": ["status"], "aggregate": ["spent", "per_hour"]},
        "select lower(btrim(status)), sum(cost) filter (where lower(btrim(status)) is distinct from 'closed'),"
        " sum(cost) filter (where lower(btrim(status)) is distinct from 'closed') / nullif(sum(hours::numeric), 0)"
        " from ticket group by 1",
    ),
    "two measures by a reference of a reference": (
        {"source": "tickets", "group": ["agent.team.name"], "aggregate": ["spent", "per_hour"]},
        "select m.name, sum(t.cost) filter (where lower(btrim(t.status)) is distinct from 'closed'),"
        " sum(t.cost) filter (where lower(btrim(t.status)) is distinct from 'closed') / nullif(sum(t.hours::numeric), 0)"
        " from ticket t left join agent a on a.id = t.agent_id left join team m on m.id = a.team_id group by m.id, m.name",
    ),
    "a measure by month, and its change": (
        {
            "source": "tickets", "group": [{"field": "opened_on", "period": "month"}],
            "aggregate": ["spent", {"name": "growth", "change": ["spent", {"previous": "spent"}]}],
        },
        "select month, s, (s - lag(s) over (order by month)) / nullif(lag(s) over (order by month), 0) from ("
        "select date_trunc('month', opened_on) as month, sum(cost) filter (where lower(btrim(status)) is distinct from"
        " 'closed') as s from ticket group by 1) g",
    ),
    "a sum of each ticket once, over comments": (
        {"source": "comments", "group": ["ticket.status"], "aggregate": ["sum(ticket.cost)", "avg(ticket.hours)"]},
        "select lower(btrim(status)), sum(cost), avg(hours::numeric) from ticket t"
        " where exists (select from comment c where c.ticket_id = t.id) group by 1",
    ),
    "related rows of each ticket, by status": (
        {"source": "tickets", "group": ["status"], "aggregate": ["sum(comments.words)", "sum(cost)"]},
        "select lower(btrim(t.status)), sum(c.words), sum(t.cost) from ticket t left join (select ticket_id, sum(words) as"
        " words from comment group by 1) c on c.ticket_id = t.id group by 1",
    ),
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks numbers", description="Numbers of groups.")
    parser.add_argument("--rows", type=int, default=200_000, help="tickets, and as many comments")
    parser.add_argument("--turns", type=int, default=5, help="runs of each; the least is reported")
    given = parser.parse_args(arguments)
    with migrated_server() as url, psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        connection.execute("create schema bench; set search_path = bench, quarry, public")
        connection.execute(TABLES)
        connection.execute(sql.SQL(ROWS).format(rows=sql.Literal(given.rows)))
        connection.execute("vacuum analyze")
        print(f"{given.rows:,} rows{'':36}{'Query':>9}{'by hand':>9}{'ratio':>8}")
        for name, (query, by_hand) in QUERIES.items():
            ours, theirs = _least(connection, query, by_hand, given.turns)
            print(f"{name:48}{ours * 1000:7.0f}ms{theirs * 1000:7.0f}ms{ours / theirs:7.2f}x")


def _least(
    connection: psycopg.Connection[dict[str, Any]], query: Mapping[str, Any], by_hand: LiteralString, turns: int
) -> tuple[float, float]:
    """The least seconds of a query and of the SQL by hand, run in turns."""
    statement = compile_query(Query.model_validate(query), DESK, datetime.date(2026, 1, 1))
    times: list[tuple[float, float]] = []
    for _ in range(turns):
        started = time.perf_counter()
        connection.execute(statement.sql, statement.parameters).fetchall()
        between = time.perf_counter()
        connection.execute(by_hand).fetchall()
        times.append((between - started, time.perf_counter() - between))
    ours, theirs = zip(*times, strict=True)
    return min(ours), min(theirs)


if __name__ == "__main__":
    main()
