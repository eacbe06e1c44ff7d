from __future__ import annotations

import pytest

from quarry.postgres.migrate import function_files, migration_files, sql_directory
from quarry.postgres.schema import statements_of


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("select 1; select 2", ["select 1", "select 2"]),
        ("select 1;\n;\n -- nothing\n/* ; */", ["select 1"]),
        ("select ';', \";\", 'it''s;'; select 2;", ["select ';', \";\", 'it''s;'", "select 2"]),
        (r"select E'\';'; select 2", [r"select E'\';'", "select 2"]),
        ("do $$ begin; end $$; select $a$ ; $$ ; $a$", ["do $$ begin; end $$", "select $a$ ; $$ ; $a$"]),
        ("select $1; select 2", ["select $1", "select 2"]),
        ("select 1 /* a; /* b; */ c; */; select 2", ["select 1 /* a; /* b; */ c; */", "select 2"]),
        ("create rule r as on insert to t do (select 1; select 2); select 3",
         ["create rule r as on insert to t do (select 1; select 2)", "select 3"]),
        ("create function f() begin atomic select case when a then b end; select 2; end; select 3",
         ["create function f() begin atomic select case when a then b end; select 2; end", "select 3"]),
        ("begin; select 1; end; select 2", ["begin", "select 1", "end", "select 2"]),
    ],
)  # fmt: skip
def test_a_text_is_split_where_a_statement_ends(text: str, statements: list[str]) -> None:
    assert [*statements_of(text)] == statements


def test_nothing_of_a_file_is_lost() -> None:
    directory = sql_directory()
    for file in (*migration_files(directory), *function_files(directory)):
        place = 0
        for statement in statements_of(file.text):
            place = file.text.index(statement, place) + len(statement)
        assert not [*statements_of(file.text[place:])], file.name
