"""The SQL of ontology search, on a real Postgres."""

from __future__ import annotations

import json
import re

import pytest
from psycopg.sql import SQL, Identifier, Literal

from quarry.ontology.contract import ENTITY_TYPES
from quarry.ontology.tables import TABLES, TITLES
from tests.ontology.conftest import Connection, add_task, found

# The literal search: every table, its own generated vector, the score as it is defined; nothing that the query excludes (`out`).
_ARM = SQL(
    """select {type}::text as type, x.id,
         0.6 * ts_rank(x.search_vector, websearch_to_tsquery('english', %(q)s)) + 0.4 * similarity(x.{title}, %(q)s) as score
       from {table} x where x.created_by = %(actor)s
         and (x.search_vector @@ websearch_to_tsquery('english', %(q)s) or x.{title} %% %(q)s)
         and (%(out)s = '' or x.search_vector @@ websearch_to_tsquery('english', %(out)s))"""
)
LITERAL = SQL(" union all ").join(
    _ARM.format(type=Literal(name), title=Identifier(TITLES[name]), table=Identifier(TABLES[name]))
    for name in ENTITY_TYPES
)

QUERIES = ["marketing plan", '"bus line"', "plan -marketing", "roof or kitchen", "the"]


def matches(connection: Connection, query: str, actor: str = "demo") -> dict[tuple[str, str], float]:
    return {(row.type, row.id): row.score for row in found(connection, query, actor=actor, few_matches=0)}


def literal(connection: Connection, query: str, actor: str = "demo") -> dict[tuple[str, str], float]:
    given = {"q": query, "actor": actor, "out": " ".join(word for word in query.split() if word.startswith("-"))}
    return {(row.type, row.id): row.score for row in connection.execute(LITERAL, given)}


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("actor", ["demo", "noor"])
def test_matches_and_scores_are_those_of_the_literal_search(sample: Connection, query: str, actor: str) -> None:
    expected = literal(sample, query, actor)
    assert len(expected) <= 50
    assert matches(sample, query, actor) == pytest.approx(expected, abs=1e-6)


class TestNearest:
    """The entities that follow if there are few matches."""

    def test_a_misspelling_is_corrected_from_the_callers_rows_and_the_right_word_marked(
        self, connection: Connection
    ) -> None:
        add_task(connection, "t1", "Report", '{"text": "The insurance is paid."}')
        add_task(connection, "theirs", "Report", '{"text": "The insulation is soaked."}', owner="bob")
        assert found(connection, "insulaton") == []
        add_task(connection, "t2", "Report", '{"text": "The insulation is soaked."}')
        [row] = found(connection, "insulaton")
        assert (row.id, row.is_match) == ("t2", False)
        assert "\ue000insulation\ue001" in row.snippet

    def test_excluded_words_and_quoted_phrases_still_apply(self, connection: Connection) -> None:
        add_task(connection, "t1", "Task", '{"text": "oak door, painted"}')
        add_task(connection, "t2", "Task", '{"text": "oak gate"}')
        assert [row.id for row in found(connection, "oak hinges -gate")] == ["t1"]
        assert [row.id for row in found(connection, '"oak gate" hinges')] == ["t2"]

    def test_a_quoted_phrase_in_no_row_does_not_empty_the_list(self, connection: Connection) -> None:
        add_task(connection, "t1", "Task", '{"text": "a gate of oak"}')
        add_task(connection, "t2", "Task", '{"text": "an oak barrel, by the gate"}')
        assert {row.id for row in found(connection, '"oak gate"')} == {"t1", "t2"}
        assert [row.id for row in found(connection, '"oak gate" hinges -barrel')] == ["t1"]
        assert not any(row.is_match for row in found(connection, '"oak gate" hinges'))


class TestSnippets:
    """The snippets of entities."""

    def test_the_snippet_of_a_long_text_is_the_passage_with_most_words(self, connection: Connection) -> None:
        text = (
            "A word about oak. " + "Nothing here. " * 400 + "The oak door has a brass handle. " + "Nothing here. " * 400
        )
        add_task(connection, "t1", "T", json.dumps({"text": text}))
        [row] = found(connection, "oak brass handle")
        assert "\ue000oak\ue001 door has a \ue000brass\ue001 \ue000handle\ue001" in row.snippet
        assert row.snippet.startswith("The ")
        assert row.snippet.endswith(".")
        assert len(row.snippet) < 300

    @pytest.mark.parametrize("text", ["木" * 2000, "\n" * 300 + "oak" + "\n" * 300])
    def test_a_text_of_any_shape_has_a_snippet(self, connection: Connection, text: str) -> None:
        add_task(connection, "t1", "Oak", json.dumps({"text": text}))
        [row] = found(connection, "oak")
        assert 0 < len(re.sub("[\ue000\ue001]", "", row.snippet)) < 300


class TestEntries:
    """The entries that search reads are kept in step with their tables."""

    @staticmethod
    def entries(connection: Connection) -> list[tuple[str, str, str, str]]:
        rows = connection.execute("select type, id, created_by, title from onto_search_entries order by 1, 2")
        return [tuple(row) for row in rows]

    def test_search_entries_change_move_and_are_deleted_with_their_rows(self, connection: Connection) -> None:
        for type in ENTITY_TYPES:
            table, title = Identifier(TABLES[type]), Identifier(TITLES[type])
            connection.execute(
                SQL("insert into {} (id, project_id, created_by, {}) values ('x', 'ours', 'ada', 'Thing')").format(
                    table, title
                )
            )
            assert self.entries(connection) == [(type, "x", "ada", "Thing")]
            connection.execute(SQL("truncate {}").format(table))
            assert self.entries(connection) == []
        add_task(connection, "t1", "Old words")
        add_task(connection, "t2", "Words")
        connection.execute(
            "update onto_tasks set id = 't3', title = 'New words', props = '{\"text\": \"fresh\"}', created_by = 'bob'"
            " where id = 't1'"
        )
        connection.execute("delete from onto_tasks where id = 't2'")
        assert self.entries(connection) == [("task", "t3", "bob", "New words")]
        assert found(connection, "fresh") == []
        assert [row.id for row in found(connection, "fresh", actor="bob")] == ["t3"]


def scans_of(connection: Connection) -> dict[str, tuple[int, int]]:
    """How often each table has been read completely, and through an index. Includes earlier transactions whose counts the
    server receives late, between two transactions.
    """
    return {
        row.relname: (row.seq_scan, row.idx_scan)
        for row in connection.execute("select relname, seq_scan, idx_scan from pg_stat_xact_user_tables")
    }


def test_a_search_scans_no_table(connection: Connection) -> None:
    connection.execute(
        """insert into onto_tasks (id, project_id, created_by, title, props)
           select 't' || n, 'ours', 'ada' || n % 50, 'Task ' || md5(n::text), jsonb_build_object('text', md5((n / 7)::text))
           from generate_series(1, 3000) n"""
    )
    connection.execute("analyze onto_tasks")
    # of these the service's database may know nothing: nobody analyses the entries before autovacuum does
    with connection.transaction():
        before = scans_of(connection)
        for query in ("task", "which oak door of the old mill is painted?", "tsk"):
            found(connection, query, actor="ada7")
        connection.execute("select * from onto_entity_details('ada7', 'task', 't7')")
        scans = scans_of(connection)
    for table in ("onto_search_entries", "onto_tasks"):
        sequential, by_index = (now - then for now, then in zip(scans[table], before[table], strict=True))
        assert sequential == 0
        assert by_index > 0
