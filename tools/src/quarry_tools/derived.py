"""Derived data, and how it can differ from its sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from psycopg.rows import dict_row
from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from quarry import catalog
from quarry.ontology.tables import TABLES as ONTOLOGY_TABLES
from quarry.platform.tables import BLANKS, EmbeddedTable
from quarry.postgres.migrate import sql_directory
from quarry.postgres.schema import SyncConnection


@dataclass(frozen=True)
class Difference:
    """A kind of deviation from the sources, which occurs `count` times."""

    table: str
    detail: str
    count: int


class Derived(Protocol):
    """One kind of derived data, of one table."""

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        """Yields the differences. Changes nothing."""

    def rebuild(self, connection: SyncConnection) -> None:
        """Rebuilds it. What needs a model is marked as waiting for it."""


def trusted(text: str) -> SQL:
    """SQL that Postgres or a file of ours wrote, not a caller."""
    return SQL(text)


@dataclass(frozen=True)
class Index:
    """An index that a database should have. `rest` is the part of its statement after the table."""

    name: str
    table: str
    is_unique: bool
    rest: str

    def create(self) -> Composed:
        kind = SQL("create unique index" if self.is_unique else "create index")
        return SQL("{} concurrently {} on {} {}").format(
            kind, Identifier(self.name), Identifier(self.table), trusted(self.rest)
        )


_INDEX = re.compile(r"^CREATE (UNIQUE )?INDEX (\w+) ON (?:\w+\.)?(\w+) (USING .*);$", re.MULTILINE)
_LEFT_OVER = re.compile(r"_cc(?:new|old)\d*$")
_SCHEMA = re.compile(r"\b(?:public|quarry)\.")


def expected_indexes() -> list[Index]:
    """The indexes in `schema.sql`, in order, without those of partitioned tables, which contain nothing themselves.

    Raises ConfigurationError if the file is missing.
    """
    text = (sql_directory() / "schema.sql").read_text(encoding="utf-8")
    # the search path includes the schemas of our tables and of the extensions
    return [
        Index(name, table, bool(unique), _SCHEMA.sub("", rest)) for unique, name, table, rest in _INDEX.findall(text)
    ]


@dataclass(frozen=True)
class Indexes:
    """The indexes of a table, compared with the schema. An index is invalid if building it was interrupted."""

    table: str

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        for index in self._missing(connection):
            yield Difference(self.table, f"index {index.name} is missing", 1)
        for name in self._invalid(connection):
            yield Difference(self.table, f"index {name} is invalid", 1)

    def rebuild(self, connection: SyncConnection) -> None:
        for name in self._invalid(connection):
            # the remains of an interrupted index build are useless
            statement = "drop index concurrently {}" if _LEFT_OVER.search(name) else "reindex index concurrently {}"
            connection.execute(SQL(statement).format(Identifier(name)))
        for index in self._missing(connection):
            connection.execute(index.create())
        connection.execute(SQL("reindex table concurrently {}").format(Identifier(self.table)))

    def _missing(self, connection: SyncConnection) -> list[Index]:
        existing = self._of_table(connection)
        return [index for index in expected_indexes() if index.table == self.table and index.name not in existing]

    def _invalid(self, connection: SyncConnection) -> list[str]:
        return [name for name, is_valid in self._of_table(connection).items() if not is_valid]

    def _of_table(self, connection: SyncConnection) -> dict[str, bool]:
        """Whether each index of the table is valid, by name."""
        return dict(
            connection.execute(
                "select c.relname, i.indisvalid and i.indisready from pg_index i join pg_class c on c.oid = i.indexrelid"
                " where i.indrelid = %s::regclass order by 1",
                [self.table],
            ).fetchall()
        )


ESTIMATE_SHARE = 0.2
ESTIMATE_ROWS = 50
"""An estimate of a table's rows that is off by more than both of these counts as outdated."""


def derived_of(table: str | None = None) -> list[Derived]:
    """All derived data, or that of one loadable table; dependencies come first."""
    names = [table] if table else list(catalog.LOADABLE)
    embedded = [catalog.EMBEDDED[name] for name in names if name in catalog.EMBEDDED]
    tables = [*names, *(each.embeddings for each in embedded)]
    return [
        *(Columns(name) for name in names),
        *(SearchEntries(kind, name) for kind, name in ONTOLOGY_TABLES.items() if name in names),
        *([Experience()] if "people" in names else []),
        *(Values(name) for name in names if name in catalog.SEARCHED),
        *(Words(each.name) for each in embedded),
        *(Vectors(each) for each in embedded),
        *(Indexes(name) for name in (tables if table else sorted({index.table for index in expected_indexes()}))),
        *(Statistics(name) for name in tables),
    ]


@dataclass(frozen=True)
class Columns:
    """The generated columns of a table, compared with their expressions."""

    table: str

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        differing = self._differing(connection)
        if differing:
            counts = SQL(", ").join(SQL("count(*) filter (where {})").format(each) for each in differing.values())
            row = _row(connection, SQL("select {} from {}").format(counts, Identifier(self.table)))
            yield from differences_of(
                self.table, dict(zip(differing, row, strict=True)), "rows whose {} is not what it is made of"
            )

    def rebuild(self, connection: SyncConnection) -> None:
        differing = self._differing(connection)
        if differing:
            columns = [name for name, expression in self._columns(connection) if expression is None]
            # writing a source column recomputes a generated column
            same = SQL(", ").join(SQL("{0} = {0}").format(Identifier(name)) for name in columns)
            connection.execute(
                SQL("update {} set {} where {}").format(
                    Identifier(self.table), same, SQL(" or ").join(differing.values())
                )
            )

    def _differing(self, connection: SyncConnection) -> dict[str, Composable]:
        """The condition that a generated column differs from its expression, by the column's name."""
        return {
            name: SQL("{} is distinct from ({})").format(Identifier(name), trusted(expression))
            for name, expression in self._columns(connection)
            if expression is not None
        }

    def _columns(self, connection: SyncConnection) -> list[tuple[str, str | None]]:
        return connection.execute(
            "select a.attname, case when a.attgenerated <> '' then pg_get_expr(d.adbin, d.adrelid) end"
            " from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum"
            " where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum",
            [self.table],
        ).fetchall()


@dataclass(frozen=True)
class SearchEntries:
    """The entries by which projects are searched, compared with the rows of one of their tables."""

    kind: str
    table: str

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        rows = counts(
            connection,
            SQL(
                "select count(*) filter (where {stale}) as stale, count(*) filter (where t.id is null) as gone from"
                " (select * from onto_search_entries where type = {kind}) e full join {table} t on t.id = e.id {titles}"
            ),
            self._parts(),
        )
        details = {
            "rows whose search entries are missing or outdated": rows["stale"],
            "search entries of rows that are gone": rows["gone"],
        }
        yield from differences_of(self.table, details, "{}")

    def rebuild(self, connection: SyncConnection) -> None:
        for statement in (
            "delete from onto_search_entries e where e.type = {kind} and not exists (select from {table} t where t.id = e.id)",
            "update {table} set id = id where id in (select t.id from {table} t"
            " left join onto_search_entries e on e.type = {kind} and e.id = t.id {titles} where {stale})",
        ):
            connection.execute(SQL(statement).format(**self._parts()))

    def _parts(self) -> dict[str, Composable]:
        stale = (
            "t.id is not null and (e.id is null"
            " or (e.project_id, e.created_by, e.title, e.search_vector, e.readable_text) is distinct from"
            " (t.project_id, t.created_by, n.title, t.search_vector, onto_readable_text(t.props)))"
        )
        kind = Literal(self.kind)
        titles = SQL("left join onto_entities n on n.type = {} and n.id = t.id").format(kind)
        return {"kind": kind, "table": Identifier(self.table), "stale": SQL(stale), "titles": titles}


@dataclass(frozen=True)
class Experience:
    """The total duration of people's work, compared with their experience."""

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        [differing] = _row(connection, SQL("select count(*) from ({}) d").format(_DIFFERING_EXPERIENCE))
        yield from differences_of("people", {"people": differing}, "{} whose years of experience are others")

    def rebuild(self, connection: SyncConnection) -> None:
        connection.execute(SQL("select count_experience(array({}))").format(_DIFFERING_EXPERIENCE))


_DIFFERING_EXPERIENCE = SQL(
    "select p.id from people p join experience_of(array(select id from people)) w using (id)"
    " where (p.experience_days, p.experience_since) is distinct from (w.experience_days, w.experience_since)"
)

_VALUES = (
    SQL("select (v.facet, v.scope, v.value)::text as key, v.row_count as n from {values}() v"),
    SQL(
        "select (f.facet, f.scope, f.value)::text as key, sum(f.row_count) as n from facet_values f"
        " where f.table_name = {table} group by 1 having sum(f.row_count) <> 0"
    ),
)
_WORDS = (
    SQL(
        "select s.stem as key, count(*) as n from facet_values f, unnest(f.stems) s (stem)"
        " where f.table_name = {table} group by 1"
    ),
    SQL(
        "select w.stem as key, sum(w.value_count) as n from facet_words w"
        " where w.table_name = {table} group by 1 having sum(w.value_count) <> 0"
    ),
)
"""The counted values and the stored ones, as rows whose counts add up."""


@dataclass(frozen=True)
class Values:
    """The values of a searched table's facets and their words, compared with its rows.

    For inexact facets, values are recorded when they are new and recounted every day, so only missing values are reported.
    """

    table: str
    is_exact: bool = True

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        parts: dict[str, Composable] = {"table": Literal(self.table), "values": Identifier(f"{self.table}_values")}
        for noun, (there, stored) in (("values", _VALUES), ("words of values", _WORDS)):
            rows = counts(
                connection,
                SQL(
                    "with counted as ({counted}), held as ({held})"
                    " select count(*) filter (where h.n is null) as missing,"
                    " count(*) filter (where c.n is null) as gone, count(*) filter (where h.n <> c.n) as miscounted"
                    " from counted c full join held h on h.key = c.key"
                ),
                {"counted": there.format(**parts), "held": stored.format(**parts)},
            )
            details = {
                "that are not held": rows["missing"],
                "that no row has": rows["gone"] if self.is_exact else 0,
                "that are miscounted": rows["miscounted"] if self.is_exact else 0,
            }
            yield from differences_of(self.table, details, f"{noun} {{}}")

    def rebuild(self, connection: SyncConnection) -> None:
        connection.execute("select refresh_facet_values(%s)", [self.table])


_BEST_ROWS = SQL(
    """
with kept as (
  select c.lexeme, c.of_table, c.best_rows from lexeme_counts c where c.of_table = {name} and c.best_rows is not null
), best as (
  select h.word, h.ids
  from text_totals m, (select array_agg(k.lexeme) as words, array_agg(cardinality(k.best_rows)) as limits from kept k) a,
    champion_lists({name}, a.words, a.limits, m.rows, m.lexemes / nullif(m.rows, 0)::float8) h
  where m.of_table = {name}
)
select count(*) filter (where l.held[:l.shorter] is distinct from l.there[:l.shorter]) as others
from kept k join best h on h.word = k.lexeme, lateral (
  select c.held, c.there, least(cardinality(c.held), cardinality(c.there)) as shorter
  from (
    select array(
        select b.id from unnest(k.best_rows) with ordinality b (id, place)
        where exists (select from {table} t where t.id = b.id)
          and not exists (select from text_changes n where n.of_table = k.of_table and n.id = b.id)
        order by b.place
      ) as held, array(
        select b.id from unnest(h.ids) with ordinality b (id, place)
        where not exists (select from text_changes n where n.of_table = k.of_table and n.id = b.id)
        order by b.place
      ) as there
  ) c
) l
"""
)
"""Search also reads rows written since, in addition to the best ones, and deleted rows do no harm."""


_WORD_ROWS = SQL(
    """
with counted as (
  select coalesce(w.ndoc, 0) as rows, c.rows as counted_rows, abs(coalesce(w.ndoc, 0) - coalesce(c.rows, 1)) as error
  from ts_stat({texts}) w
  full join (select lexeme, rows from lexeme_counts where of_table = {name}) c on c.lexeme = w.word
  where c.lexeme is not null or length(w.word) <= 200
)
select case
  when {known} > 0 and count(counted_rows) = 0 then count(*) filter (where rows > 1)
  when sum(error) > sum(rows) * greatest({share}, {slack}::float8 / {rows})
    then count(*) filter (where error > {share} * rows)
    else count(*) filter (where error > greatest({slack}, {share} * rows))
  end as rows from counted
"""
)
"""As many rows as may have come or gone unnoticed may all hold one word: that is the slack of each. Of all words together it is
the share that these rows are. Where none is kept, all are missing. Words of a single row are not kept, nor those that are none
for their length (count_lexemes).
"""


@dataclass(frozen=True)
class Words:
    """The counts of the words in a table's texts, used to weigh words, and the best rows of common words, compared with its
    rows.
    """

    table: str

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        rows, totals = _row(
            connection,
            SQL(
                "select (select count(*) from {}), coalesce((select t.rows from text_totals t where t.of_table = {}), 0)"
            ).format(Identifier(self.table), Literal(self.table)),
        )
        if _is_off(rows, totals):
            yield Difference(
                self.table, f"rows more or fewer than the {totals:,} whose words are counted", abs(rows - totals)
            )
        elif rows:
            parts: dict[str, Composable] = {
                "texts": Literal(
                    SQL("select text_search from {}").format(Identifier(self.table)).as_string(connection)
                ),
                "name": Literal(self.table),
                "rows": Literal(rows),
                "known": Literal(totals),
                "share": Literal(ESTIMATE_SHARE),
                "slack": Literal(ESTIMATE_ROWS),
            }
            yield from differences_of(
                self.table,
                counts(connection, _WORD_ROWS, parts),
                "words that are in more or fewer {} than were counted",
            )
        differing = counts(connection, _BEST_ROWS, {"table": Identifier(self.table), "name": Literal(self.table)})
        yield from differences_of(self.table, differing, "common words whose best rows are {}")

    def rebuild(self, connection: SyncConnection) -> None:
        connection.execute("select count_lexemes(%s)", [self.table])


@dataclass(frozen=True)
class Vectors:
    """The vectors of a table's rows, compared with the hashes of the texts they were made from."""

    of: EmbeddedTable

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        rows = counts(
            connection,
            SQL(
                "select count(*) filter (where embedded_hash is null) as never,"
                " count(*) filter (where embedded_hash <> content_hash) as stale, count(*) filter (where {lost}) as lost"
                " from {table} t"
            ),
            self._parts(),
        )
        details = {
            "rows that have no vectors yet": rows["never"],
            "rows whose vectors are of an earlier text": rows["stale"],
            "rows whose vectors are lost": rows["lost"],
        }
        yield from differences_of(self.of.name, details, "{}")

    def rebuild(self, connection: SyncConnection) -> None:
        connection.execute(SQL("update {table} t set embedded_hash = null where {lost}").format(**self._parts()))

    def _parts(self) -> dict[str, Composable]:
        # a list without values is as empty as a text without letters
        texts = (
            SQL("coalesce(btrim({}::text, {}), '') not in ('', '{{}}')").format(self._text(c), Literal(BLANKS))
            for c in self.of.text_columns
        )
        lost = SQL(
            "t.embedded_hash = t.content_hash and ({}) and not exists (select from {} e where e.record_id = t.id)"
        ).format(SQL(" or ").join(texts), Identifier(self.of.embeddings))
        return {"table": Identifier(self.of.name), "lost": lost}

    def _text(self, column: str) -> Composable:
        elsewhere = self.of.expressions.get(column)
        return SQL("t.{}").format(Identifier(column)) if elsewhere is None else trusted(elsewhere)


@dataclass(frozen=True)
class Statistics:
    """Postgres' statistics of a table, used to weigh words and plan queries, compared with its rows."""

    table: str

    def verify(self, connection: SyncConnection) -> Iterator[Difference]:
        rows, estimate, has_statistics = _row(
            connection,
            SQL(
                "select (select count(*) from {0}), greatest(0, c.reltuples)::bigint, exists (select from pg_stats s"
                " where s.schemaname = c.relnamespace::regnamespace::name and s.tablename = c.relname)"
                " from pg_class c where c.oid = {1}::regclass"
            ).format(Identifier(self.table), Literal(self.table)),
        )
        if rows and not has_statistics:
            yield Difference(self.table, "rows that there are no statistics of", rows)
        elif _is_off(rows, estimate):
            yield Difference(self.table, f"rows that are estimated wrongly, as {estimate:,}", abs(rows - estimate))

    def rebuild(self, connection: SyncConnection) -> None:
        connection.execute(SQL("analyze {}").format(Identifier(self.table)))


def _is_off(rows: int, estimate: int) -> bool:
    return abs(rows - estimate) > max(ESTIMATE_ROWS, ESTIMATE_SHARE * rows)


def differences_of(table: str, counts: dict[str, int], wording: str) -> Iterator[Difference]:
    """The counts that are not zero, as differences."""
    for name, count in counts.items():
        if count:
            yield Difference(table, wording.format(name), count)


def _row(connection: SyncConnection, statement: Composable) -> Sequence[int]:
    row = connection.execute(statement.as_bytes(connection)).fetchone()
    assert row is not None
    return row


def counts(connection: SyncConnection, statement: SQL, parts: dict[str, Composable]) -> dict[str, int]:
    """The columns of a single-row statement of counts, by name."""
    row = connection.cursor(row_factory=dict_row).execute(statement.format(**parts)).fetchone()
    assert row is not None
    return row
