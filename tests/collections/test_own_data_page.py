"""What the pages about own tables show in SQL: their views are made over tables of such columns, and do what the pages say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from quarry.catalog import LOADABLE
from quarry.postgres.load import load_file
from tests.conftest import clone_database

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "own-data-guide.md").read_text() + (DOCS / "declaration.md").read_text()
LOADED = ("companies", "people", "experience_cards", "experience_card_children")

TABLES = """
create schema hr; create schema crm; create schema support;
create table hr.employees (
  employee_no int primary key, given_name text, family_name text,
  about text, town text, country text, mail text, looking boolean);
create table hr.positions (
  id int primary key, employee_no int, role text, employer text, grade text, began date,
  finished date, notes text, is_private boolean);
create table hr.position_skills (position_id int, skill text);
create table hr.projects (id int primary key, position_id int, name text, outcome text);
create table crm.accounts (
  id int primary key, legal_name text, one_liner text, about text, branch text, town text, country text,
  staff int, raised_eur numeric,
  founded date, homepage text, state text);
create table crm.founders (account_id int, name text);
insert into hr.employees values
  (1, 'Marit', 'Solberg', E'Keeps turbines "turning" \\\\ patiently\nand well', 'Bergen', 'Norway', null, true);
insert into hr.positions values (10, 1, 'Mechanic', 'Havvind', 'junior', '2014-01-01', null, null, false);
insert into hr.position_skills values (10, 'welding'), (10, 'planning');
insert into hr.projects values (7, 10, 'Gearbox monitoring', 'Found a worn bearing.');
insert into crm.accounts values
  (1, 'Havvind AS', null, 'Repairs turbines.', null, 'Bergen', 'Norway', 12, 1000000, '2011-05-01', null, 'closed');
create table support.topics (id int primary key, name text);
create table support.messages (id int primary key, subject text, body text, tags text, properties jsonb, is_done int);
create table support.message_topics (message_id int, topic_id int);
insert into support.topics values (1, 'Billing'), (2, 'Printers');
insert into support.messages values (1, 'Toner', '<p>Empty</p>', '<printer><toner>', '{"device": "L200"}', 1);
insert into support.message_topics values (1, 1), (1, 2);
"""


@pytest.fixture(scope="module")
def url(server_url: str, migrated_template: str) -> Iterator[str]:
    """A database with the tables and all that the page makes over them."""
    with clone_database(server_url, migrated_template) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(TABLES.encode())
            for block in re.findall(r"^```sql\n(create .*?)^```", PAGE, re.MULTILINE | re.DOTALL):
                connection.execute(block.encode())
        yield url


def test_the_views_of_companies_and_people_can_be_loaded_and_what_went_deleted(url: str, tmp_path: Path) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for table in LOADED:
            rows = connection.execute(f"select row_to_json(v)::text from searched.{table} v".encode()).fetchall()
            file = tmp_path / f"{table}.jsonl"
            file.write_text("\n".join(row for (row,) in rows))
            assert load_file(url, LOADABLE[table], file).changed == 1, table
        [person] = connection.execute("select name, bio from quarry.people").fetchall()
        assert person == ("Marit Solberg", 'Keeps turbines "turning" \\ patiently\nand well')
        [card] = connection.execute(
            "select seniority_level, skills, is_current from quarry.experience_cards"
        ).fetchall()
        assert card == ("entry", ["planning", "welding"], True)
        connection.execute("delete from hr.employees; delete from crm.accounts")
        [went] = re.findall(r"^```sql\n(delete .*?)^```", PAGE, re.MULTILINE | re.DOTALL)
        connection.execute(went.encode())
        left = "select (select count(*) from quarry.companies) + (select count(*) from quarry.experience_cards)"
        assert connection.execute(left).fetchone() == (0,)
