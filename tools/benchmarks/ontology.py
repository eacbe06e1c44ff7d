"""`make bench`: ontology search compared with the literal function that it is based on, in one run.

For each size, fills an embedded Postgres with a generated workspace of several owners, and copies its seven tables into a
separate schema with the indexes of the literal design. By style of query it prints the server CPU of `onto_search_entities` for
matches alone, as the literal returns, and with the nearest others if there are few matches, as the service asks for; of the
literal function; of the literal with its optional trigram match on `props::text`; ratios for matches alone; and how often their
scores are the same, row for row.

The machine's noise is in every figure: read the ratios, not the milliseconds.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from quarry.ontology.contract import ENTITY_TYPES, EntityType
from quarry.ontology.tables import TABLES
from tests.bulk import copy_rows, indexes_built_afterwards
from tools.benchmarks.generated import Corpus, Query
from tools.benchmarks.measuring import (
    Connection,
    Timing,
    cpu_clock,
    measured_connection,
    median_ratio,
    migrated_server,
    spread,
    timed,
)

OWNERS = 20
PROJECTS_EACH = 7
ROWS_AT_ONCE = 5000

TITLE_COLUMNS = {
    table: "title" if name in ("task", "milestone", "document") else "text" if name == "requirement" else "name"
    for name, table in TABLES.items()
}

# The literal design: a union over the tables, a headline of title and raw JSON for every match, no actor in any index.
_ARM = """
select '{type}'::text as type, x.id, x.project_id, x.{title} as title, p.name as project_name,
  ts_rank(x.search_vector, tsq) * 0.6 + similarity(x.{title}, p_query) * 0.4 as score,
  ts_headline('english', coalesce(x.{title}, '') || ' ' || coalesce(x.props::text, ''), tsq,
    'MaxFragments=2,MinWords=5,MaxWords=18') as snippet
from {table} x left join onto_projects p on p.id = x.project_id
where x.created_by = p_actor_id and (p_project_id is null or x.project_id = p_project_id)
  and (p_types is null or '{type}' = any(p_types)) and (x.search_vector @@ tsq or x.{title} % p_query{props})
"""
_LITERAL = """
create function {name}(
  p_actor_id text, p_query text, p_project_id text default null, p_types text[] default null, p_limit int default 50
) returns table (type text, id text, score double precision, snippet text)
language plpgsql stable set search_path = literal, quarry, public as $$
declare tsq tsquery := websearch_to_tsquery('english', p_query);
begin
  return query select u.type, u.id, u.score::float8, u.snippet from ({arms}) u order by u.score desc limit least(p_limit, 50);
end $$
"""

MATCHES = "select score from onto_search_entities(%s, %s, p_few_matches => 0)"
WITH_NEAREST = "select score from onto_search_entities(%s, %s)"
LITERAL = "select score from literal_search(%s, %s)"
LITERAL_WITH_PROPS = "select score from literal_search_with_props(%s, %s)"


@dataclass(frozen=True)
class Measured:
    """One query: the times of our function and of the literal, with props if measured, and whether the scores agree."""

    matches: Timing
    with_nearest: Timing
    literal: Timing
    with_props: Timing | None
    same: bool


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.benchmarks ontology", description="Ontology search, measured."
    )
    parser.add_argument(
        "--rows", type=int, nargs="*", default=[10_000, 100_000], help="entities of all owners together"
    )
    parser.add_argument("--queries", type=int, default=12, help="queries of each of the six styles")
    parser.add_argument("--owners", type=int, default=OWNERS, help="owners of the entities")
    options, _ = parser.parse_known_args(arguments)
    for rows in options.rows:
        with migrated_server() as url, measured_connection(url) as connection:
            _measure(connection, rows, options.owners, options.queries)


def _measure(connection: Connection, rows: int, owners: int, per_style: int) -> None:
    corpus = Corpus()
    load_workspace(connection, corpus, rows, owners)
    _make_literal(connection)
    queries = corpus.queries(per_style)
    cpu_ms = cpu_clock(connection)
    for number, query in enumerate(queries[:4]):
        for statement in (MATCHES, WITH_NEAREST, LITERAL, LITERAL_WITH_PROPS):
            timed(connection, cpu_ms, statement.encode(), [f"owner-{number % owners}", query.text])
    by_style: dict[str, list[Measured]] = defaultdict(list)
    for number, query in enumerate(queries):
        # these take a second or more each, so three per style are enough
        with_props = len(by_style[query.style]) < 3
        by_style[query.style].append(_compare(connection, cpu_ms, f"owner-{number % owners}", query, with_props))
    _print_table(rows, owners, by_style)


def _compare(
    connection: Connection, cpu_ms: Callable[[], float], owner: str, query: Query, with_props: bool
) -> Measured:
    def time_of(statement: str) -> tuple[Timing, list[float]]:
        timing, rows = timed(connection, cpu_ms, statement.encode(), [owner, query.text])
        return timing, [float(row[0]) for row in rows]

    matches, found = time_of(MATCHES)
    with_nearest, _ = time_of(WITH_NEAREST)
    literal, expected = time_of(LITERAL)
    props = time_of(LITERAL_WITH_PROPS)[0] if with_props else None
    same = len(found) == len(expected) and np.allclose(found, expected)
    return Measured(matches, with_nearest, literal, props, same)


def load_workspace(connection: Connection, corpus: Corpus, count: int, owners: int) -> None:
    """`count` entities in equal parts of each type, spread over `owners`, each with a few projects."""
    random = np.random.default_rng(11)
    projects = ((f"project-{n}", f"owner-{n % owners}", f"Project {n}") for n in range(owners * PROJECTS_EACH))
    copy_rows(connection, "onto_projects (id, created_by, name)", projects)
    texts = list(_texts(corpus, count))
    with indexes_built_afterwards(connection, "onto_search_entries", *TABLES.values()):
        for place, name in enumerate(ENTITY_TYPES):
            table = TABLES[name]
            rows = _entities(random, texts, name, range(place, count, len(ENTITY_TYPES)), owners)
            copy_rows(connection, f"{table} (id, project_id, created_by, {TITLE_COLUMNS[table]}, props)", rows)


def _entities(
    random: np.random.Generator, texts: Sequence[str], name: EntityType, numbers: Iterable[int], owners: int
) -> Iterator[Sequence[str]]:
    for number in numbers:
        project = int(random.integers(0, owners * PROJECTS_EACH))
        title = " ".join(random.choice(texts[number].split(), int(random.integers(3, 8)), replace=False))
        body = "\n\n".join(texts[number : number + 4]) if name == "document" else texts[number]
        props = {"status": "open", "body_markdown" if name == "document" else "description": body}
        yield f"{name}-{number}", f"project-{project}", f"owner-{project % owners}", title, json.dumps(props)


def _texts(corpus: Corpus, count: int) -> Iterator[str]:
    for done in range(0, count, ROWS_AT_ONCE):
        yield from corpus.rows(corpus.topics(min(ROWS_AT_ONCE, count - done)))[0]


def _make_literal(connection: Connection) -> None:
    """Creates the literal's tables, indexes and functions, in a schema where none of ours can help it."""
    connection.execute("create schema literal")
    for table, title in TITLE_COLUMNS.items():
        for statement in (
            f"create table literal.{table} as select id, project_id, created_by, {title}, props, search_vector from {table}",
            f"create index on literal.{table} using gin (search_vector)",
            f"create index on literal.{table} using gin ({title} gin_trgm_ops)",
            f"create index on literal.{table} using gin ((props::text) gin_trgm_ops)",
            f"vacuum analyze literal.{table}",
        ):
            connection.execute(statement.encode())
    for function, props in (
        ("literal_search", ""),
        ("literal_search_with_props", " or x.props::text % p_query"),
    ):
        arms = " union all ".join(
            _ARM.format(type=name, table=table, title=TITLE_COLUMNS[table], props=props)
            for name, table in TABLES.items()
        )
        connection.execute(_LITERAL.format(name=function, arms=arms).encode())


def _print_table(rows: int, owners: int, by_style: dict[str, list[Measured]]) -> None:
    print(
        f"\nonto_search_entities, {rows:,} entities of {owners} owners, 50 results; milliseconds of server CPU, p50 (p95)"
    )
    print(
        f"{'style':18} {'n':>3} {'matches':>14} {'with nearest':>14} {'literal':>16} {'ratio':>7} {'wall ratio':>10}"
        f" {'literal with props':>18} {'ratio':>7} {'same scores':>11}"
    )
    everything = [measured for group in by_style.values() for measured in group]
    for style, group in [*by_style.items(), ("all", everything)]:
        _print_row(style, group)
    total = sum(m.literal.cpu_ms for m in everything) / sum(m.matches.cpu_ms for m in everything)
    print(f"matches, all queries together: {total:.1f} times less CPU than the literal without props")


def _print_row(style: str, group: Sequence[Measured]) -> None:
    matches = [measured.matches.cpu_ms for measured in group]
    literal = [measured.literal.cpu_ms for measured in group]
    wall = median_ratio([m.literal.wall_ms for m in group], [m.matches.wall_ms for m in group])
    both = [(m.with_props.cpu_ms, m.matches.cpu_ms) for m in group if m.with_props is not None]
    with_props, beside = [pair[0] for pair in both], [pair[1] for pair in both]
    print(
        f"{style:18} {len(group):3} {spread(matches):>14} {spread([m.with_nearest.cpu_ms for m in group]):>14}"
        f" {spread(literal):>16} {median_ratio(literal, matches):6.1f}x {wall:9.1f}x {spread(with_props):>18}"
        f" {median_ratio(with_props, beside):6.0f}x {sum(m.same for m in group) / len(group):11.3f}"
    )


if __name__ == "__main__":
    main()
