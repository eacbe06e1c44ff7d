"""A view that shows every caller what the policies of its tables hide is not searched, unless that is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarry.collections.catalog_reading import relations_by_name
from quarry.collections.declaration import DeclarationError
from quarry.local.apply import apply_file
from quarry.local.doctor import collection_findings
from quarry.platform.settings import DEFAULT_SCHEMA, LOCAL_EMBEDDING_MODEL
from quarry.postgres.migrate import connect
from tests.collections.support import HELP_DESK, owner

VIEWS = """
alter table support.tickets enable row level security;
create policy own on support.tickets using (account_id::text = current_setting('app.account', true));
create view support.as_owner as select * from support.tickets;
create view support.as_reader with (security_invoker = true) as select * from support.tickets;
create view support.as_reader_of_owner with (security_invoker = on) as select * from support.as_owner;
create view support.as_owner_of_reader as select * from support.as_reader;
create view support.joined as select a.id, a.name, (select max(subject) from support.as_reader) as subject from support.agents a;
create view support.not_any_more with (security_invoker = false) as select * from support.tickets;
create materialized view support.copied as select * from support.as_reader;
create view support.of_others as select * from support.agents
"""
DECLARED = """
[collections.tickets]
source = "support.{view}"
key = ["id"]
text = ["subject"]
sync = "sweep"
"""
REFERRING = """
[collections.agents]
source = "support.agents"
text = ["name"]
[collections.agents.facets]
subject = {{ kind = "value", by = "id", of = "support.{view}", key = "id", title = "subject" }}
"""


@pytest.fixture
def url(database_url: str) -> str:
    owner(database_url, HELP_DESK, *VIEWS.split(";"))
    return database_url


BYPASSING = {"as_owner", "as_reader_of_owner", "as_owner_of_reader", "joined", "not_any_more", "copied"}
OTHERS = {"as_reader", "of_others", "tickets"}


def test_what_a_view_reads_as_its_owner_bypasses_policies(url: str) -> None:
    with connect(url, DEFAULT_SCHEMA) as connection:
        relations = relations_by_name(connection, [("support", view) for view in BYPASSING | OTHERS]).values()
    bypassed = {relation.name: relation.bypassed for relation in relations}
    assert bypassed == dict.fromkeys(BYPASSING, ("support.tickets",)) | dict.fromkeys(OTHERS, ())


@pytest.mark.parametrize(
    ("declared", "view", "told"),
    [(DECLARED, "as_owner", "set (security_invoker = true)"), (REFERRING, "copied", "instead")],
)
def test_it_is_refused_unless_it_is_meant_and_found_where_it_is_searched(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, declared: str, view: str, told: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    path, text = tmp_path / "quarry.toml", declared.format(view=view)
    path.write_text(text)
    with pytest.raises(DeclarationError, match="whose policies it bypasses") as refused:
        apply_file(path, only_plan=False, embed=False)
    assert told in str(refused.value)
    meant = text.replace("source =", "bypasses_policies = true\nsource =")
    path.write_text(meant)
    assert apply_file(path, only_plan=False, embed=False)
    assert statuses(url) == ["ok"]
    # one that was applied before views were looked at
    owner(url, "update quarry.collections set declaration = (declaration::jsonb - 'bypasses_policies')::json")
    assert statuses(url) == ["broken"]


def statuses(url: str) -> list[str]:
    """What doctor says of each collection."""
    with connect(url, DEFAULT_SCHEMA) as connection:
        return [each.status for each in collection_findings(connection, "other than " + LOCAL_EMBEDDING_MODEL)]
