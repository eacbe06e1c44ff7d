"""`quarry map`, unedited, on the tables of well-known applications, reconstructed in shape."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quarry.collections.declaration_file import read_declarations
from quarry.collections.drafting import Draft, draft
from quarry.collections.naming import table_name
from quarry.collections.relations import Relation, relations_of_schema
from quarry.collections.secrets import suspicion
from quarry.local.collections import explained
from quarry.platform.setting_fields import DEFAULT_SCHEMA
from quarry.postgres.migrate import connect
from tests.collections.support import apply_file, owner, work_off
from tests.conftest import clone_database

_DIRECTORY = Path(__file__).parent / "applications"
LINES_MAX = 400

PRIVATE = {"campus": ("mdl_message",), "chat": ("direct_messages", "direct_message_files")}
SECRETS: Mapping[str, set[str]] = {
    "blog": {"user_pass", "user_activation_key", "post_password", "option_value", "meta_value"},
    "campus": {"password", "secret", "auth", "value"},
    "chat": {"password", "authdata", "mfasecret", "inviteid", "token"},
    "shop": {"encrypted_password", "reset_password_token", "code"},
    "tracker": {"hashed_password", "salt", "twofa_totp_key", "digest", "value"},
}
"""Columns that some table of each application hides."""


def drafted(url: str) -> tuple[Draft, list[Relation]]:
    with connect(url, DEFAULT_SCHEMA) as connection:
        relations = relations_of_schema(connection, "public")
    return draft("public", relations), relations


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_a_draft_is_applied_as_it_is_and_shows_no_secret(server_url: str, migrated_template: str, name: str) -> None:
    with clone_database(server_url, migrated_template) as url:
        owner(url, (_DIRECTORY / f"{name}.sql").read_text(), "analyze")
        made, relations = drafted(url)
        assert {change.action for change in apply_file(url, made.text)} == {"create"}
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, work_off(url)).result()
        told = {collection for collection, _, _ in explained(made.text, relations)} - {""}
    assert made.commented == PRIVATE.get(name, ())
    assert told == {*made.collections}
    by_name = {relation.qualified: relation for relation in relations}
    declared = read_declarations(made.text).values()
    assert {column for each in declared for column in each.hidden} == SECRETS[name]
    for each in declared:
        table = by_name[table_name(each.source)]
        assert {column.name for column in table.columns if suspicion(column, table)} == {*each.hidden}


def test_a_draft_of_sixty_tables_is_read_in_two_minutes(server_url: str, migrated_template: str) -> None:
    with clone_database(server_url, migrated_template) as url:
        owner(url, *((_DIRECTORY / f"{name}.sql").read_text() for name in ("tracker", "shop", "campus")), "analyze")
        made, relations = drafted(url)
    assert len(relations) == 58
    assert len(made.collections) + len(made.commented) + len(made.left_out) == 58
    assert len(made.text.splitlines()) <= LINES_MAX
