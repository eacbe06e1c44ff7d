"""`quarry map` on databases, and what the catalog says of their tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from quarry.collections.catalog_reading import read_catalog, relations_by_name
from quarry.collections.checking import check
from quarry.collections.declaration import CollectionDeclaration, DeclarationError, Lines, read_declarations
from quarry.collections.relations import Relation
from quarry.local.apply import apply_file, map_schema
from quarry.platform.errors import ConfigurationError
from quarry.postgres.schema import SyncConnection
from quarry_map.drafting import draft
from tests.collections.conftest import opened


@pytest.fixture
def library(server_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[SyncConnection]:
    """A connection to the database that the commands work on, which holds a schema of tables."""
    with opened(server_url, "library") as (url, connection):
        monkeypatch.setenv("DATABASE_URL", url)
        yield connection


def only(connection: SyncConnection, name: str) -> Relation:
    return relations_by_name(connection, [("public", name)])["public", name]


class TestCommand:
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

    def test_html_is_noticed_however_long_and_rare(
        self, library: SyncConnection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        library.execute(
            """create table pages (id int primary key, title text, body text, plain text);
               insert into pages select n, 'Page ' || n, 'Water the ferns, a < b.', 'if x > 2 and y < 3'
               from generate_series(1, 30) n;
               update pages set body = '<p>' || repeat('Water <b>ferns</b>. ', 500) || '</p>' where id = 7;
               analyze pages"""
        )
        map_schema("public", tmp_path / "quarry.toml", force=False)
        assert read_declarations((tmp_path / "quarry.toml").read_text())["pages"].markup == {"body": "html"}

    def test_a_column_that_cannot_be_read_is_left_out_with_the_reason(
        self, library: SyncConnection, tmp_path: Path
    ) -> None:
        library.execute(
            """create table batches (id int primary key, label text, used int, held int,
                 share numeric generated always as (held::numeric / used) virtual);
               insert into batches select n, 'Batch ' || n, 0, n from generate_series(1, 30) n"""
        )
        map_schema("public", tmp_path / "quarry.toml", force=False)
        text = (tmp_path / "quarry.toml").read_text()
        assert "share" not in read_declarations(text)["batches"].facets
        assert "# left out: share (cannot be read: division by zero)\n" in text
        declared = '[collections.batches]\nsource = "public.batches"\ntext = "label"\nfacets.share = "number"\n'
        (tmp_path / "quarry.toml").write_text(declared)
        with pytest.raises(DeclarationError, match=r"quarry.toml:4: .*'share' cannot be read: division by zero"):
            apply_file(tmp_path / "quarry.toml", only_plan=True, embed=False)


class TestCatalog:
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
        ("condition", "knows_user"),
        [
            ("writer = current_user", True),
            ("writer = (select session_user)", True),
            ("writer = user", True),
            ("id = current_setting('app.member', true)::int", True),
            ("id > 5", False),
        ],
    )
    def test_rows_that_a_policy_shows_to_single_users_are_not_drafted_openly(
        self, empty: SyncConnection, condition: str, knows_user: bool
    ) -> None:
        made = f"""create table logs (id int primary key, note text, writer text);
                   alter table logs enable row level security; create policy own on logs for select using ({condition})"""
        empty.execute(made.encode())
        drafted = draft("public", [only(empty, "logs")])
        assert (drafted.commented, drafted.collections) == ((("logs",), ()) if knows_user else ((), ("logs",)))
        declared = {"logs": CollectionDeclaration.model_validate({"source": "logs", "text": "note"})}
        found = read_catalog(empty, [("public", "logs")])
        warnings = check(declared, found, Lines("[collections.logs]", "f"), own_schema="quarry").warnings
        assert any("shows each user other rows" in each for each in warnings) is knows_user

    POLICIES = (
        ("select", True),
        ("create policy a on t using (id = 1)", True),
        ("create policy b on t for select to map_reader using (true)", False),
        ("create policy c on t as restrictive to pg_monitor using (id = 1)", False),
        ("create policy d on t as restrictive using (id = 1)", True),
    )
    """One after the other, and whether they leave some rows hidden."""

    def test_only_a_policy_for_all_rows_shows_all(self, guarded: SyncConnection) -> None:
        for policy, is_hidden in self.POLICIES:
            guarded.execute(policy.encode())
            assert not only(guarded, "t").is_row_security_active
            guarded.execute("set role map_reader")
            assert only(guarded, "t").is_row_security_active is is_hidden, policy
            assert not only(guarded, "t").may_trigger
            guarded.execute("reset role")
