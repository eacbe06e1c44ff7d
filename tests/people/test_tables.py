"""The tables of people: what may be loaded, what the database itself holds to, and what is embedded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from psycopg.sql import SQL, Identifier

from quarry.people.tables import LOADABLE
from quarry.postgres.load import LoadError, load_file
from tests.people.cards import Connection, add_card, add_child, add_person

TABLES = {table.name: table for table in LOADABLE}


def load(url: str, directory: Path, table: str, *rows: dict[str, Any]) -> None:
    path = directory / f"{table}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    load_file(url, TABLES[table], path)


PERSON = {"id": "p", "name": "Asha"}
CARD = {"id": "c", "person_id": "p", "title": "Engineer", "intent_primary": "work"}
CHILD = {"id": "k", "card_id": "c", "child_type": "project", "title": "A bridge"}


def test_a_person_with_a_card_and_a_child_is_loaded(url: str, connection: Connection, tmp_path: Path) -> None:
    load(url, tmp_path, "people", PERSON | {"work_preferred_locations": [" Goa ", "PUNE"]})
    load(url, tmp_path, "experience_cards", CARD | {"company_name": "Kosmo Retail", "city": "São Paulo"})
    load(url, tmp_path, "experience_card_children", CHILD)
    row = connection.execute(
        """select p.work_preferred_locations_norm, c.company_norm, c.city_norm, c.visible, k.title
           from people p join experience_cards c on c.person_id = p.id join experience_card_children k on k.card_id = c.id"""
    ).fetchone()
    assert row == (["goa", "pune"], "kosmo retail", "são paulo", True, "A bridge")


@pytest.mark.parametrize(
    ("table", "row", "field"),
    [
        ("people", PERSON | {"work_preferred_salary_min": -1}, "work_preferred_salary_min"),
        ("experience_cards", CARD | {"intent_primary": "hobby"}, "intent_primary"),
        ("experience_cards", CARD | {"start_date": "2020-02-01", "end_date": "2020-01-31"}, "end_date"),
        ("experience_cards", CARD | {"person_id": "nobody"}, "person_id"),
        ("experience_card_children", CHILD | {"child_type": "secret"}, "child_type"),
        ("experience_card_children", CHILD | {"card_id": "none"}, "card_id"),
    ],
)
def test_a_wrong_row_is_named_by_its_field(
    url: str, connection: Connection, tmp_path: Path, table: str, row: dict[str, Any], field: str
) -> None:
    add_person(connection, "p")
    add_card(connection, "c", "p")
    with pytest.raises(LoadError, match=f"line 1, {field}"):
        load(url, tmp_path, table, row | {"id": "new"})


def test_the_longest_names_fit_into_the_indexes(url: str, connection: Connection, tmp_path: Path) -> None:
    longest = "".join(chr(0x1F300 + n) for n in range(200))
    names = dict.fromkeys(("company_name", "team", "domain", "sub_domain", "city", "country"), longest)
    load(url, tmp_path, "people", PERSON | {"work_preferred_locations": [longest]})
    load(url, tmp_path, "experience_cards", CARD | names | {"skills": [longest]})
    with pytest.raises(LoadError, match="line 1, company_name"):
        load(url, tmp_path, "experience_cards", CARD | {"company_name": longest + "!"})


def test_a_person_goes_with_all_that_is_theirs(connection: Connection) -> None:
    add_card(connection, "p")
    add_child(connection, "k", "p")
    add_card(connection, "q")
    connection.execute("delete from people where id = 'p'")
    for table, left in [
        ("experience_cards", 1),
        ("experience_card_children", 0),
        ("experience_card_embeddings", 1),
        ("experience_card_child_embeddings", 0),
    ]:
        assert connection.execute(SQL("select count(*) from {}").format(Identifier(table))).fetchone() == (left,)
