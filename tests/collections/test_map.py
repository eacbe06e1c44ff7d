"""`quarry map` on databases, and what the catalog says of their tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from quarry.collections.declaration import CollectionDeclaration, FacetDeclaration, FacetKind
from quarry.collections.declaration_file import read_declarations
from quarry.collections.relations import Relation, relations_named, relations_of_schema
from quarry.local.collections import map_schema
from quarry.platform.errors import ConfigurationError
from quarry.postgres.schema import SyncConnection
from tests.collections.conftest import opened


@pytest.fixture
def library(server_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[SyncConnection]:
    """A connection to the database that the commands work on, which holds a schema of tables."""
    with opened(server_url, "library") as (url, connection):
        monkeypatch.setenv("DATABASE_URL", url)
        yield connection


def only(connection: SyncConnection, name: str) -> Relation:
    return relations_named(connection, [("public", name)])["public", name]


class TestCommand:
    def test_what_can_be_asked_is_explained_in_a_table(
        self,
        library: SyncConnection,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("COLUMNS", "120")
        file = tmp_path / "quarry.toml"
        map_schema("public", file, force=False, explain=True)
        assert "book" in read_declarations(file.read_text())
        printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        assert printed[1:9] == [
            "book           counted           about 300 rows",
            "               searched          title, description",
            "               summed, averaged  loan_fee (money), pages",
            "               grouped by        language, original_language, audience, editions, author, category",
            "               by period         print_year",
            "               leads to          language (language), original_language (language)",
            "               has many          author, category, author_book, book_author, book_category, copy",
            "               also asked        book_id, last_update",
        ]

    def test_a_file_is_not_overwritten_unasked(
        self, library: SyncConnection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "quarry.toml"
        map_schema("public", file, force=False)
        written = file.read_text()
        with pytest.raises(ConfigurationError, match="--force"):
            map_schema("public", file, force=False)
        library.execute("drop table letter")
        map_schema("public", file, force=True)
        assert "collections.letter]" in written
        assert "collections.letter]" not in file.read_text()
        assert capsys.readouterr().out == ""


class TestCatalog:
    def test_tables_of_extensions_are_not_anybodys(self, empty: SyncConnection) -> None:
        empty.execute("create extension pg_stat_statements; create table own (id int)")
        assert [relation.name for relation in relations_of_schema(empty, "public")] == ["own"]

    def test_a_partitioned_table_has_the_rows_and_statistics_of_its_partitions(self, empty: SyncConnection) -> None:
        empty.execute(
            """create table letters (id int, kind text) partition by range (id);
               create table early partition of letters for values from (0) to (500);
               create table late partition of letters for values from (500) to (1000);
               insert into letters select n, 'plain' from generate_series(0, 999) n"""
        )
        assert only(empty, "letters").rows is None
        empty.execute("analyze letters")
        letters = only(empty, "letters")
        assert (letters.rows, letters.by_name["kind"].distinct) == (1000, 1)


class TestRowSecurity:
    """Seen by a role that policies apply to."""

    @pytest.fixture
    def guarded(self, empty: SyncConnection) -> Iterator[SyncConnection]:
        empty.execute(
            """create table t (id int primary key); alter table t enable row level security;
               drop role if exists map_reader; create role map_reader; grant select on t to map_reader"""
        )
        yield empty
        empty.execute("reset role; drop owned by map_reader; drop role map_reader")

    @pytest.mark.parametrize(
        ("policies", "is_hidden"),
        [
            ("", True),
            ("create policy a on t using (id = 1)", True),
            ("create policy a on t for select to map_reader using (true)", False),
            ("create policy a on t using (id = 1); create policy b on t to map_reader using (true)", False),
            ("create policy a on t for update using (true)", True),
            ("create policy a on t to pg_monitor using (true)", True),
            ("create policy a on t using (true); create policy b on t as restrictive using (id = 1)", True),
            (
                "create policy a on t using (true); create policy b on t as restrictive to pg_monitor using (id = 1)",
                False,
            ),
        ],
    )
    def test_only_a_policy_for_all_rows_shows_all(
        self, guarded: SyncConnection, policies: str, is_hidden: bool
    ) -> None:
        guarded.execute(policies.encode() or b"select")
        assert not only(guarded, "t").is_row_security_active
        guarded.execute("set role map_reader")
        assert only(guarded, "t").is_row_security_active is is_hidden
        assert not only(guarded, "t").may_trigger


class TestPage:
    """What docs/own-data.md says of the file."""

    PAGE = (Path(__file__).resolve().parents[2] / "docs/own-data.md").read_text()

    def keys(self, heading: str) -> list[str]:
        """The names in the first column of a table."""
        table = self.PAGE.partition(f"\n| {heading} |")[2].partition("\n\n")[0]
        return [name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])]

    def test_it_has_every_key_and_kind(self) -> None:
        assert self.keys("key of a collection") == [*CollectionDeclaration.model_fields]
        assert sorted(self.keys("key of a facet")) == sorted(FacetDeclaration.model_fields)
        assert sorted(self.keys("kind")) == sorted(get_args(FacetKind))

    def test_its_example_is_read(self) -> None:
        example = "\n".join(re.findall(r"^```toml\n(.*?)^```", self.PAGE, re.MULTILINE | re.DOTALL))
        assert [*read_declarations(example)] == ["tickets"]
