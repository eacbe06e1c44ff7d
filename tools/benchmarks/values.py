"""`make bench`: looking up a question's words among the values of the data, and the cost of keeping these values for writes.

The look-up runs over generated values of one to four words, Zipf-distributed. Questions contain one of the values, common words
and unknown words, and half of them have a typo. Writes are compared with the same writes without the triggers.

The machine's noise is in every figure: read the ratios, not the milliseconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from tools.benchmarks.generated import Corpus
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

FACETS = ("name", "company", "school", "team", "skill")
ROWS_AT_ONCE = 20_000
EVERYDAY = ("who", "works", "at", "in", "the", "with", "and", "show", "me", "people", "from", "for")
_LOOK_UP = "select count(*) from look_up_values_v2(array['people'], %s, p_doubtful => %s, p_owners => array[''])"
_INSERT = """insert into companies (id, company_name, tagline, description, niches, sectors, hq_city, hq_country, founders)
  select 'w' || %s || '-' || g, initcap(w.name) || ' ' || g, w.name, w.text, w.tags, w.tags[1:1], w.tags[2], w.tags[3],
    array[w.name]
  from generate_series(1, %s) g, lateral (
    select v.words[1 + g %% 1000] as name, repeat(v.words[1 + g %% 1000] || ' ', 100) as text,
      array[v.words[1 + g %% 977], v.words[1 + g %% 983], v.words[1 + g %% 991]] as tags
    from (select %s::text[] as words) v
  ) w returning 1"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks values", description="The values of the data.")
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000], help="number of values")
    parser.add_argument("--queries", type=int, default=100, help="questions")
    given = parser.parse_args(arguments)
    for count in given.rows:
        with migrated_server() as url, measured_connection(url) as connection:
            _measure_look_up(connection, count, given.queries)
    with migrated_server() as url, measured_connection(url) as connection:
        _measure_writes(connection)


def _measure_look_up(connection: Connection, count: int, queries: int) -> None:
    values = list(_values(count))
    clock = cpu_clock(connection)
    _fill(connection, values)
    size = connection.execute(
        "select pg_size_pretty(pg_total_relation_size('facet_values') + pg_total_relation_size('facet_words'))"
    ).fetchone()
    questions = list(_questions(values, queries))
    for label, doubtful in (("right", False), ("one slip", True)):
        times = [timed(connection, clock, _LOOK_UP, [words, [6] if doubtful else []])[0] for words in questions[:20]]
        times = [
            timed(connection, clock, _LOOK_UP, [_slipped(words) if doubtful else words, [6] if doubtful else []])[0]
            for words in questions
        ]
        print(
            f"look-up, {count:,} values ({size and size[0]}), {label}: CPU {spread([t.cpu_ms for t in times])} ms,"
            f" wall {spread([t.wall_ms for t in times])} ms"
        )


def _values(count: int) -> Iterator[tuple[str, str]]:
    random = np.random.default_rng(11)
    words = Corpus().known_words(20_000)
    for number in range(count):
        length = 1 + number % 4
        places = np.minimum((random.pareto(0.6, length) * 20).astype(int), len(words) - 1)
        tail = f" {words[number % len(words)]}{number // len(words) or ''}" if length == 1 else ""
        yield FACETS[number % len(FACETS)], (" ".join(words[place] for place in places) + tail).title()


def _fill(connection: Connection, values: Sequence[tuple[str, str]]) -> None:
    with connection.cursor().copy("copy facet_values (table_name, facet, scope, value) from stdin") as copy:
        for facet, value in values:
            copy.write_row(("people", facet, "", value))
    connection.execute(
        "insert into facet_words (table_name, stem, value_count)"
        " select 'people', s.stem, count(*) from facet_values f, unnest(f.stems) s (stem) group by s.stem"
    )
    connection.execute("vacuum analyze facet_values")
    connection.execute("vacuum analyze facet_words")


def _questions(values: Sequence[tuple[str, str]], count: int) -> Iterator[list[str]]:
    random = np.random.default_rng(5)
    for _ in range(count):
        first, second = (values[place][1].lower().split() for place in random.integers(0, len(values), 2))
        everyday = [str(word) for word in random.choice(EVERYDAY, 6)]
        yield [*everyday[:5], *first[:1], *second[-1:], *everyday[5:], *second[:2]]


def _slipped(words: list[str]) -> list[str]:
    word = words[6] + "en"
    return [*words[:6], word[:2] + "x" + word[3:], *words[7:]]


def _measure_writes(connection: Connection) -> None:
    words = Corpus().known_words(1000)
    clock = cpu_clock(connection)
    times: dict[tuple[str, bool], list[Timing]] = {}
    for run in range(8):
        kept = run % 2 == 0
        with _triggers(connection, kept):
            for label, rows, times_over in (("insert 5,000", 5000, 1), ("insert 1", 1, 40)):
                for again in range(times_over):
                    given = [f"{run}-{rows}-{again}", rows, words]
                    times.setdefault((label, kept), []).append(timed(connection, clock, _INSERT.encode(), given)[0])
            update = b"update companies set tagline = tagline || '.' where id like %s returning 1"
            times.setdefault(("update 5,000", kept), []).append(timed(connection, clock, update, [f"w{run}-5000-%"])[0])
    for label in ("insert 5,000", "insert 1", "update 5,000"):
        kept_ms, plain_ms = ([t.cpu_ms for t in times[label, kept]] for kept in (True, False))
        print(
            f"{label}: CPU {spread(kept_ms)} ms, without the triggers {spread(plain_ms)} ms,"
            f" ratio {median_ratio(kept_ms, plain_ms):.2f}"
        )
    timing, _ = timed(connection, clock, "select refresh_facet_values('companies')", [])
    print(f"refresh of {_count(connection):,} values: CPU {timing.cpu_ms:.0f} ms")


def _count(connection: Connection) -> int:
    row = connection.execute("select count(*) from facet_values").fetchone()
    return int(row[0]) if row else 0


@contextmanager
def _triggers(connection: Connection, kept: bool) -> Iterator[None]:
    connection.execute(f"alter table companies {'enable' if kept else 'disable'} trigger user".encode())
    yield
