"""A help desk whose tickets refer to agents, and these to teams, and queries about it."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

TABLES = """
create schema desk;
create table desk.teams (id int primary key, name text not null, city text);
create table desk.agents (
  id int primary key, name text not null, email text, team_id int references desk.teams, password_hash text
);
create table desk.tickets (
  id int primary key, account_id text not null, agent_id int references desk.agents, status text, subject text not null,
  body text, price numeric, days_open numeric, tags text[] not null default '{}', opened_on date not null, due_on date,
  closed_on date, internal_note text
);
insert into desk.teams values (1, 'Field', 'Oslo'), (2, 'Phone', 'Bergen'), (3, 'Night', null);
insert into desk.agents values
  (1, 'Ada Palmer', 'ada@desk.example', 1, 'x1'), (2, 'Boris Krug', 'boris@desk.example', 1, 'x2'),
  (3, 'Cleo Ruiz', null, 2, 'x3'), (4, 'Dan Idle', 'dan@desk.example', 3, 'x4');
insert into desk.tickets
  (id, account_id, agent_id, status, subject, body, price, days_open, tags, opened_on, due_on, closed_on) values
  (1, 'north', 1, 'open', 'The printer smokes', 'After the toner.', 12.5, 2, '{fire,hardware}', '2026-10-01', '2026-10-05', null),
  (2, 'north', 1, 'Open', 'Cannot sign in', 'No mail comes.', 30, 3, '{access}', '2026-10-07', '2026-10-20', '2026-10-10'),
  (3, 'south', 2, 'closed', 'Invoice is wrong', 'It counts twice.', 99, 4, '{billing}', '2026-10-12', null, '2026-10-16'),
  (4, 'south', 2, 'closed', 'Fan is loud', 'It hums.', null, 3, '{hardware}', '2026-10-20', '2026-11-02', '2026-10-23'),
  (5, 'north', 2, 'waiting', 'Screen flickers', 'Only at night.', 45, 5, '{hardware}', '2026-10-28', '2026-11-20', null),
  (6, 'north', 1, 'closed', 'Badge is lost', 'A new one is needed.', 5, 6, '{}', '2026-09-03', null, '2026-09-09'),
  (7, 'south', 1, 'closed', 'Door is stuck', 'It sticks when it rains.', 80, 10, '{}', '2026-09-14', '2026-09-20', '2026-09-24'),
  (8, 'south', 3, 'open', 'Phone is dead', 'No tone.', 20, 7, '{hardware}', '2026-08-02', '2026-08-20', null),
  (9, 'north', null, null, 'Nobody has looked', 'Not yet.', 10, 1, '{}', '2026-11-01', null, null);
"""

DECLARED = """
[collections.tickets]
source = "desk.tickets"
title = "subject"
text = { subject = "A", body = "B" }
embed = []
date = "opened_on"
describe = "Customers' questions"
hidden = ["internal_note"]

[collections.tickets.facets]
status = { kind = "value", synonyms = { pending = "waiting" } }
price = { kind = "money", currency = "EUR" }
days_open = { kind = "number", unit = "days" }
tags = "array"
agent = { kind = "name", by = "agent_id", of = "desk.agents", title = "name" }
team = { kind = "value", by = "agent_id", of = "desk.agents", title = { by = "team_id", of = "desk.teams", title = "name" } }

[collections.tickets.predicates]
overdue = "due_on < today and closed_on is null"
late = "closed_on > due_on"

[collections.tickets.measures]
lateness = { ratio = [{ count = true, where = "late" }, "count"], unit = "%", synonyms = ["delay"] }
misspelt = { count = "*", where = "status = 'opne'" }
open_ones = { count = true, where = "closed_on is null" }

[collections.agents]
source = "desk.agents"
title = "name"
text = ["name"]
embed = []

[collections.agents.facets]
team = { kind = "value", by = "team_id", of = "desk.teams", title = "name" }

[collections.teams]
source = "desk.teams"
title = "name"
text = ["name"]
embed = []
"""

FIELD_TEAM = {"field": "agent.team.name", "op": "=", "value": "Field"}
BY_MONTH = {
    "source": "tickets",
    "where": [FIELD_TEAM],
    "aggregate": [{"fn": "count"}, {"fn": "avg", "field": "days_open"}],
    "group": [{"field": "opened_on", "period": "month"}],
    "order": [{"by": "count", "direction": "desc"}],
}
"""The contract's example."""


def asked(client: TestClient, query: dict[str, Any], user: str = "demo") -> dict[str, Any]:
    """What a query gives."""
    response = client.post("/query", json=query, headers={"Authorization": f"Bearer {user}"})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def refused(client: TestClient, query: dict[str, Any], user: str = "demo") -> dict[str, str]:
    """What is wrong with a query, by the pointers to its parts."""
    response = client.post("/query", json=query, headers={"Authorization": f"Bearer {user}"})
    assert response.status_code == 422, response.text
    return {each["pointer"]: each["message"] for each in response.json()["errors"]}


def column(result: dict[str, Any], place: int = 0) -> list[Any]:
    """The values of one column."""
    return [row[place] for row in result["rows"]]
