"""A help desk: teams, agents, tickets and their comments, as a schema and as tables with untidy values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, LiteralString

from quarry.language.word_forms import plural
from quarry.schema.algebra import Aggregate, Query
from quarry.schema.source import Field, Kind, Link, Measure, Schema, Source, SqlOf

TABLES = """
create table team (id int primary key, name text);
create table agent (id int primary key, name text, team_id int references team, hidden boolean not null default false);
create table ticket (
  id int primary key, title text, status text, agent_id int references agent, opened_on date, closed_at timestamptz,
  cost numeric(10, 2), hours double precision, tags text[], urgent boolean
);
create table comment (id int primary key, ticket_id int references ticket, author text, words int, written_at timestamp);
insert into team values (1, 'Field'), (2, 'Desk'), (3, 'Empty');
insert into agent values (1, 'Ada', 1, false), (2, 'Bob', 2, false), (3, 'Cy', 1, true), (4, 'Di', null, false);
insert into ticket values
  (1, 'Printer', 'Open',   1,    '2026-01-05', null,                     10.10, 0.1, '{hardware,Office}', true),
  (2, 'Mail',    'open ',  1,    '2026-01-20', '2026-02-01 23:30:00+00', 20.20, 0.2, '{mail}',            false),
  (3, 'Login',   'CLOSED', 2,    '2026-04-02', '2026-04-03 00:30:00+00', 30.30, 0.3, '{}',                null),
  (4, 'Screen',  'closed', 2,    '2026-04-30', '2026-05-01 12:00:00+00', null,  null, null,              true),
  (5, '100% cpu', '  ',    3,    null,         null,                     5,     1,   '{hardware,hardware}', false),
  (6, 'a_b',     null,     null, '2026-04-02', null,                     7,     2,   '{office}',          false),
  (7, 'Open door', 'Open', 4,    '2026-06-30', null,                     0,     3,   '{mail,hardware}',   true);
insert into comment values
  (1, 1, 'Ada', 10, '2026-01-05 10:00'), (2, 1, 'ada ', 20, '2026-01-06 10:00'), (3, 2, 'Bob', 30, '2026-01-20 10:00'),
  (4, 3, 'Ada', 5, '2026-04-02 10:00'), (5, 3, 'Cy', null, '2026-04-02 23:59'), (6, 7, null, 1, '2026-06-30 00:00');
analyze;
"""


def column(name: LiteralString, kind: Kind = "text", **more: Any) -> Field:
    """A field that is a column."""
    label = name.replace("_", " ")
    return Field(name, kind, lambda row: f"{row}.{name}", label, plural(label), **more)


def _fields(**kinds: Kind) -> Mapping[str, Field]:
    return {name: column(name, kind) for name, kind in kinds.items()}


def _key(row: LiteralString) -> LiteralString:
    return f"{row}.id"


def _named(column: LiteralString) -> SqlOf:
    return lambda row: f"{row}.{column}"


def to_one(name: LiteralString, target: str) -> Link:
    """A reference by the column `NAME_id`."""
    return Link(name, name, lambda row, other: f"{other}.id = {row}.{name}_id", is_many=False, target=target)


def to_many(name: LiteralString, target: LiteralString, by: LiteralString) -> Link:
    """The rows of a source that refer to a row by the column `by`."""
    return Link(name, name, lambda row, other: f"{other}.{by} = {row}.id", is_many=True, target=target)


TEAM = Source(
    "teams", "Teams", ("team",), "team", _key, _named("name"), _fields(name="text"),
    {"agents": to_many("agents", "agents", "team_id")},
)  # fmt: skip
AGENT = Source(
    "agents", "Agents", ("agent",), "agent", _key, _named("name"), _fields(name="text"),
    {"team": to_one("team", "teams"), "tickets": to_many("tickets", "tickets", "agent_id")},
    guard=lambda row: f"not {row}.hidden",
    predicates={"idle": Query.model_validate({"source": "agents", "where": [{"not": {"exists": "tickets"}}]}).where},
)  # fmt: skip
TICKET = Source(
    "tickets", "Tickets", ("ticket",), "ticket", _key, _named("title"),
    {
        **_fields(status="text", opened_on="date", closed_at="datetime", hours="number", urgent="boolean"),
        "cost": column("cost", "money", currency="EUR"),
        "tags": column("tags", is_array=True),
        "commenters": column(
            "author",
            related=Link("commented", "commented", lambda row, other: f"{other}.ticket_id = {row}.id", True, rows="comment"),
        ),
    },
    {"agent": to_one("agent", "agents"), "comments": to_many("comments", "comments", "ticket_id")},
    holds_words=lambda row, words: f"to_tsvector('english', {row}.title) @@ plainto_tsquery('english', {words})",
    dated="opened_on",
    predicates={
        "overdue": Query.model_validate(
            {
                "source": "tickets",
                "where": [
                    {"field": "opened_on", "op": "<", "value": "today-30d"},
                    {"field": "closed_at", "op": "is_null"},
                ],
            }
        ).where
    },
    measures={
        name: Measure(name, Aggregate.model_validate(given), name.replace("_", " "), unit, tuple(synonyms))
        for name, given, unit, *synonyms in (
            ("spent", {"sum": "cost", "where": [{"field": "status", "op": "!=", "value": "closed"}]}, "EUR", "expenses"),
            ("per_hour", {"ratio": ["spent", "sum(hours)"]}, None),
            ("closed_part", {"ratio": [{"fn": "count", "where": [{"field": "status", "value": "closed"}]}, "count"]}, "%"),
        )
    },
)  # fmt: skip
COMMENT = Source(
    "comments", "Comments", ("comment",), "comment", _key, _named("author"),
    _fields(author="text", words="number", written_at="datetime"), {"ticket": to_one("ticket", "tickets")},
)  # fmt: skip

DESK = Schema({source.name: source for source in (TEAM, AGENT, TICKET, COMMENT)})
