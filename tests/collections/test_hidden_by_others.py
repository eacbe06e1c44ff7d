"""A view cannot show a column that a collection of its table hides, unless the file says so."""

from __future__ import annotations

import pytest

from quarry.collections.catalog_reading import read_catalog
from quarry.collections.checking import check
from quarry.collections.declaration import Lines, read_declarations
from quarry.collections.uses import referenced_tables
from quarry.postgres.schema import SyncConnection

TABLES = """
create table staff (id int primary key, name text not null, pay numeric, papers jsonb);
create view plain as select id, name, pay from staff;
create view renamed as select id, name, pay as band from staff;
create view computed as select id, name, round(pay / 1000) as band from staff;
create view nested as select id, name, band from renamed;
create materialized view copied as select id, name, pay as band from staff;
create view whole as select s.id, to_jsonb(s) as row from staff s;
create view keyed as select id, name, papers ->> 'passport' as number from staff;
create view apart as select id, name from staff;
"""
STAFF = '[collections.staff]\nsource = "staff"\ntext = ["name"]\nhidden = ["{}"]\n'
OF_VIEW = '[collections.others]\nsource = "{}"\nkey = ["id"]\ntext = ["{}"]\nsync = "sweep"\n{}'


def errors(connection: SyncConnection, text: str) -> list[str]:
    declared = read_declarations(text)
    catalog = read_catalog(connection, referenced_tables(declared))
    return check(declared, catalog, Lines(text, "quarry.toml"), own_schema="quarry").errors


@pytest.mark.parametrize(("view", "hidden", "is_refused"), [
    ("plain", "pay", True), ("renamed", "pay", True), ("computed", "pay", True), ("nested", "pay", True), ("copied", "pay", True),
    ("whole", "pay", True), ("keyed", "papers.passport", True), ("keyed", "pay", False), ("apart", "pay", False),
])  # fmt: skip
def test_a_view_that_reads_a_hidden_column_is_refused(
    empty: SyncConnection, view: str, hidden: str, is_refused: bool
) -> None:
    empty.execute(TABLES)
    text = "id" if view == "whole" else "name"
    own = STAFF.format(hidden)
    [*found] = errors(empty, own + OF_VIEW.format(view, text, ""))
    told = f"the view reads the column {hidden!r} of public.staff, which the collection 'staff' hides"
    assert [told in error for error in found] == [True] * is_refused, found
    assert not errors(empty, own + OF_VIEW.format(view, text, f'shows = ["{hidden}"]\n'))
    if view == "plain":
        assert not errors(empty, own + OF_VIEW.format(view, text, f'hidden = ["{hidden}"]\n'))
