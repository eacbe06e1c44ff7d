"""What declarations are told that do not fit the tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quarry.collections.checking import check
from quarry.collections.declaration import without_retired
from quarry.collections.declaration_file import DeclarationError, Lines, read_declarations
from quarry.collections.findings import Checked
from quarry.collections.relations import Reference, Relation
from quarry.collections.toml_text import toml
from tests.collections.made import catalog, column, table

AGENT = {"kind": "value", "by": "agent_id", "of": "agents", "title": "name"}
AGENTS = table("agents", [("id", "integer"), ("name", "text"), ("born", "date")], key=["id"])
TICKETS = table(
    "tickets",
    [
        ("id", "integer"), ("subject", "text"), ("body", "text"), ("meta", "json"), ("file", "bytea"), ("status", "mood"),
        ("amount", "numeric(10,2)"), ("is_open", "boolean"), ("tags", "text[]"), ("created_at", "timestamp with time zone"),
        ("opens", "time without time zone"), ("agent_id", "integer"), ("account_id", "uuid"), ("link", "text"),
        ("password", "text"), column("code", is_nullable=False), column("alias"),
    ],
    key=["id"],
    unique=[["code"], ["alias"]],
    references=[Reference(("agent_id",), ("public", "agents"), ("id",))],
)  # fmt: skip
VIEW = table("open_tickets", [("id", "integer"), ("subject", "text")], kind="view")
PLAIN = table("tickets", [("id", "integer"), ("subject", "text")], key=["id"])


def checked(settings: str, *tables: Relation) -> Checked:
    text = f"[collections.tickets]\n{settings}"
    declared = read_declarations(text)
    known = catalog(*(tables or (TICKETS, AGENTS, VIEW)))
    return check(declared, known, Lines(text, "quarry.toml"), own_schema="quarry")


def told(settings: str, *tables: Relation) -> str:
    """The only error, after the collection's name."""
    (error,) = checked(f'source = "tickets"\ntext = ["subject"]\n{settings}', *tables).errors
    return error.removeprefix("quarry.toml:")


def test_what_fits_is_told_nothing() -> None:
    found = checked(
        """
        source = "public.tickets"
        title = "{subject} of {code}"
        text = { subject = "A", body = "B", meta = "D" }
        date = "created_at"
        scope = "account_id"
        scope_setting = "app.account"
        url = "https://desk.example/{id}"
        hidden = ["password", "file"]
        language = "german"
        [collections.tickets.facets]
        status = "value"
        amount = { kind = "money", currency = "EUR" }
        is_open = "boolean"
        tags = "array"
        opened = { kind = "date", column = "created_at" }
        agent = { kind = "name", by = "agent_id", of = "agents", title = "name" }
        """
    )
    assert (found.errors, found.warnings) == ([], [])


def test_a_key_of_an_earlier_version_is_told_and_read_from_what_a_database_keeps() -> None:
    settings = 'source = "tickets"\ntext = ["subject"]\nfacets.code = { kind = "value", leads = ["of"] }'
    with pytest.raises(DeclarationError, match=r"facets\.code\.leads: has no effect any more: delete it"):
        checked(settings)
    kept = {"source": "t", "called_by": "code", "facets": {"code": {"kind": "value", "leads": ["of"]}}}
    assert without_retired(kept) == {"source": "t", "facets": {"code": {"kind": "value"}}}


def test_all_that_is_wrong_is_told_at_once_with_its_lines() -> None:
    assert checked('source = "tickets"\ntitle = "Subjekt"\ntext = { subject = "A", bodi = "B" }\nurl = "x"').errors == [
        "quarry.toml:3: collections.tickets.title: tickets has no column 'Subjekt'; did you mean 'subject'?",
        "quarry.toml:4: collections.tickets.text.bodi: tickets has no column 'bodi'; did you mean 'body'?",
        "quarry.toml:5: collections.tickets.url: names no column in braces, so that all rows would have one address",
    ]


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("support.tickets", "did you mean 'public.tickets'?"),
        ("opentickets", "did you mean 'public.open_tickets'?"),
        ("quarry.tickets", "belongs to the schema quarry"),
        ("pg_catalog.tickets", "belongs to the schema pg_catalog"),
    ],
)
def test_a_source_that_is_missing_or_quarrys_own_is_refused(source: str, answer: str) -> None:
    (error,) = checked(f'source = "{source}"\ntext = ["subject"]').errors
    assert error.startswith("quarry.toml:2: collections.tickets.source: ")
    assert answer in error


@pytest.mark.parametrize(
    ("source", "settings", "answer"),
    [
        (replace(PLAIN, may_select=False), "", "grant select on public.tickets"),
        (replace(PLAIN, is_row_security_active=True), "", "row-level security of public.tickets hides rows"),
        (table("tickets", [("subject", "text")]), "", "give it one, or search a view over it"),
        (table("tickets", [("subject", "text"), column("code", is_nullable=False)], unique=[["code"]]), "", "its keys: code"),
        (TICKETS, 'key = "alias"', "its keys: id | code"),
        (replace(PLAIN, is_partition=True), "", "through its parent"),
        (replace(PLAIN, may_trigger=False), "", "grant trigger on"),
        (replace(PLAIN, kind="view"), 'key = "id"', 'write sync = "sweep"'),
        (replace(PLAIN, kind="view"), 'sync = "sweep"', "key: is missing: a view has none of its own"),
    ],
)  # fmt: skip
def test_a_source_needs_rights_a_key_and_a_way_to_be_kept_in_step(source: Relation, settings: str, answer: str) -> None:
    assert answer in told(settings, source, AGENTS)


@pytest.mark.parametrize(
    ("setting", "answer"),
    [
        ('embed = ["boddy"]', "embed: tickets has no column 'boddy'; did you mean 'body'?"),
        ('cite = ["file"]', "cite: the column 'file' is bytea, not text"),
        ('cite = ["BODY"]', "cite: tickets has no column 'BODY'; did you mean 'body'?"),
        ('date = "opens"', "date: the column 'opens' is time without time zone, not a date"),
        ('hidden = ["id"]', "key: the column 'id' is hidden, and would be shown"),
        ('url = "link"', "url: names no column in braces, so that all rows would have one address: write {link}"),
        ('language = "de-AT"', "language: there is no text search configuration 'de-AT'; did you mean 'german'?"),
        ('language = "xx"', "language: there is no text search configuration 'xx'; 'simple' serves where none fits"),
        ('sync = { poll = "is_open" }', "sync.poll: the column 'is_open' is boolean, not a number"),
        ('hidden = ["status"]\nfacets.status = "value"', "facets.status: the column 'status' is hidden, and would be shown"),
    ],
)  # fmt: skip
def test_each_setting_is_checked(setting: str, answer: str) -> None:
    assert answer in told(setting)


def test_a_scope_without_its_setting_is_doubtful() -> None:
    found = checked('source = "tickets"\ntext = ["subject"]\nscope = "account_id"\nhidden = ["password"]')
    assert found.errors == []
    [warning] = found.warnings
    assert "without `scope_setting` every caller sees all rows" in warning


@pytest.mark.parametrize(
    ("settings", "keys"),
    [
        ('text = ["subject", "password"]', ["text.password"]),
        ('text = ["subject"]\ntitle = "{subject} {password}"\ncite = "password"', ["title", "cite"]),
        ('text = ["subject"]\nembed = ["password"]\nurl = "https://x.example/{password}"', ["url", "embed"]),
        ('text = ["subject"]\nfacets.password = "value"', ["facets.password"]),
        ('text = ["subject"]\ntopic = "password"\nauthor = "password"', ["topic", "author"]),
        (
            'text = ["subject"]\nhidden = "password"\n'
            'facets.keys = { kind = "value", by = "agent_id", of = "keys", title = "{name} {secret}" }',
            ["facets.keys"],
        ),
        ('text = ["subject"]\nhidden = "password"\npart_of = { by = "agent_id", of = "keys", show = "secret" }', ["part_of"]),
        ('text = ["subject"]', [""]),
        ('text = ["subject"]\nhidden = "password"', []),
    ],
)  # fmt: skip
def test_each_place_that_shows_what_may_be_a_secret_is_doubtful(settings: str, keys: list[str]) -> None:
    secret = table("keys", [("id", "integer"), ("name", "text"), ("secret", "text")], key=["id"])
    found = checked(f'source = "tickets"\n{settings}', TICKETS, AGENTS, secret)
    assert found.errors == []
    assert {warning.partition("tickets")[2].partition(":")[0].lstrip(".") for warning in found.warnings} == {*keys}
    assert all("may hold a secret (by its name)" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("facet", "answer"),
    [
        ('subject = "number"', "subject: the column 'subject' is text, not a number"),
        ('tags = "value"', "tags: the column 'tags' is text[], not a single value"),
        ('x = { kind = "money", expression = "amount * status" }', "x.expression: the column 'status' is mood, not a number"),
        ('x = { kind = "money", expression = "created_at - 1" }', "x.expression: the column 'created_at' is timestamp"),
        ('x = { kind = "value", column = "staus" }', "x.column: tickets has no column 'staus'; did you mean 'status'?"),
        (AGENT | {"by": "status"}, "by: the column 'status' is mood, and 'id' of agents is integer"),
        (AGENT | {"of": "agnts"}, "of: there is no table or view public.agnts; did you mean 'public.agents'?"),
        (AGENT | {"title": "nam"}, "title: agents has no column 'nam'; did you mean 'name'?"),
        (AGENT | {"kind": "number"}, "title: the column 'name' is text, not a number"),
        (AGENT | {"key": "name"}, "key: 'name' is no key of agents"),
        ({"kind": "value", "by": "agent_id", "of": "agents"}, "title: is missing: the column of agents that is the value"),
        (AGENT | {"of": "open_tickets", "title": "subject"}, "open_tickets has no key of one column"),
    ],
)  # fmt: skip
def test_what_facets_name_has_to_fit(facet: str | dict[str, str], answer: str) -> None:
    declared = facet if isinstance(facet, str) else f"agent = {toml(facet)}"
    assert answer in told(f"[collections.tickets.facets]\n{declared}")


def test_values_of_a_table_with_policies_are_doubtful() -> None:
    closed = table("agents", [("id", "integer"), ("name", "text")], key=["id"], is_row_security_active=True)
    settings = f'source = "tickets"\ntext = ["subject"]\nhidden = ["password"]\nfacets.agent = {toml(AGENT)}'
    found = checked(settings, TICKETS, closed)
    assert found.errors == []
    [warning] = found.warnings
    assert "row-level security of public.agents may hide values" in warning


class TestAgreement:
    """What a collection hides no other one over the same table may use."""

    def told(self, settings: str) -> Checked:
        return checked(f'source = "tickets"\ntext = ["subject"]\nhidden = ["password", "amount"]\n{settings}')

    @pytest.mark.parametrize(
        ("settings", "path", "column"),
        [
            ('title = "{subject} {password}"', "title", "password"),
            ('facets.secret = { kind = "value", column = "password" }', "facets.secret", "password"),
            ('facets.double = { kind = "number", expression = "2 * amount" }', "facets.double", "amount"),
        ],
    )
    def test_a_hidden_column_is_refused_with_both_names(self, settings: str, path: str, column: str) -> None:
        found = self.told(f'[collections.others]\nsource = "tickets"\ntext = ["subject"]\n{settings}\n')
        (error,) = found.errors
        assert f"collections.others.{path}" in error
        assert f"the column '{column}' of public.tickets is hidden by the collection 'tickets'" in error

    def test_a_reference_to_a_hidden_column_is_refused(self) -> None:
        found = self.told(
            '[collections.agents]\nsource = "agents"\ntext = ["name"]\n'
            'facets.ticket = { kind = "value", by = "id", of = "tickets", title = "password" }\n'
        )
        assert any("'password' of public.tickets is hidden" in error for error in found.errors)

    def test_a_whole_record_that_shows_one_is_doubted(self) -> None:
        other = '[collections.others]\nsource = "tickets"\ntext = ["subject"]\n'
        found = self.told(other)
        assert not found.errors
        assert any("whole records show the column 'password'" in warning for warning in found.warnings)
        assert not self.told(other + 'hidden = ["amount", "password"]\n').warnings

    def test_a_setting_has_one_claim(self) -> None:
        scoped = 'scope = "account_id"\nscope_setting = "app.account"\nscope_claim = "{}"\n'
        other = '[collections.others]\nsource = "tickets"\ntext = ["body"]\nhidden = ["password", "amount"]\n'
        (error,) = self.told(scoped.format("sub") + other + scoped.format("org")).errors
        assert "the setting app.account has the claim 'sub' in the collection 'tickets', and 'org' here" in error
        assert not self.told(scoped.format("sub") + other + scoped.format("sub")).errors
