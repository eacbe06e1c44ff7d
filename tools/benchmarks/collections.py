"""`make bench`: the cost that keeping a collection in step adds to writes on its table.

The same writes go to a table of prose with two indexes, alternately with the collection's triggers and without.

The machine's noise is in every figure: read the ratios, not the milliseconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from psycopg.sql import SQL, Literal

from tests.collections.support import TICKETS, apply_file, owner
from tools.benchmarks.measuring import Connection, cpu_clock, measured_connection, migrated_server

SINGLE = 60
TABLE = """
create schema support;
create table support.agents (id int primary key, name text not null);
insert into support.agents values (1, 'Ada Palmer');
create table support.tickets (
  id bigint primary key, account_id int, agent_id int, status text, subject text, body text, price numeric, tags text[],
  opened_at timestamptz, seen int
);
create index on support.tickets (account_id);
create index on support.tickets (opened_at)
"""
ROWS = """
select i, i %% 400, 1, 'open', 'subject ' || i, (select string_agg(md5((i * 7 + j)::text), ' ') from generate_series(1, 15) j),
  i, array['a', 'b'], now(), null
from generate_series(1, %s) i
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.benchmarks collections", description="Writes to a collection."
    )
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the table")
    parser.add_argument("--turns", type=int, default=4, help="repetitions; the least is reported")
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as folder, migrated_server() as url, measured_connection(url) as connection:
        Path(folder).chmod(0o777)
        owner(url, TABLE)
        rows = SQL(ROWS.replace("%s", "{}").replace("%%", "%")).format(given.rows)
        connection.execute(SQL("copy ({}) to {}").format(rows, Literal(f"{folder}/rows")))
        turns: Mapping[str, list[dict[str, float]]] = {"": [], TICKETS: []}
        for _ in range(given.turns):
            for declared, measured in turns.items():
                apply_file(url, declared)
                measured.append(_measure(connection, f"{folder}/rows", given.rows))
    _print_table(given.rows, *turns.values())


def _measure(connection: Connection, file: str, rows: int) -> dict[str, float]:
    """Milliseconds of server CPU for each kind of write."""
    clock = cpu_clock(connection)

    def cost(statement: SQL | str, *parameters: object) -> float:
        before = clock()
        connection.execute(statement, parameters or None)
        return clock() - before

    connection.execute("truncate support.tickets")
    connection.execute("delete from collection_changes")
    connection.execute("checkpoint")
    return {
        f"copy {rows:,}": cost("copy support.tickets from '" + file + "'"),
        "update 1": median(
            cost("update support.tickets set subject = subject || '.' where id = %s", 1 + i) for i in range(SINGLE)
        ),
        f"update {rows:,}, text": cost("update support.tickets set subject = subject || '!'"),
        f"update {rows:,}, a column that is not used": cost("update support.tickets set seen = 1"),
        f"delete {rows // 2:,}": cost("delete from support.tickets where id > %s", rows // 2),
    }


def _print_table(rows: int, without: Sequence[dict[str, float]], triggers: Sequence[dict[str, float]]) -> None:
    print(
        f"\nwrites to a table of {rows:,} rows, milliseconds of server CPU\n{'':44}{'without':>9}{'triggers':>10}{'ratio':>8}"
    )
    for kind in without[0]:
        before, after = (min(turn[kind] for turn in turns) for turns in (without, triggers))
        print(f"{kind:44}{before:9.1f}{after:10.1f}{after / before:7.2f}x")
