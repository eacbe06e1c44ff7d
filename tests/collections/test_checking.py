"""What declarations are told that do not fit the tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quarry.collections.checking import check, tables_named
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


def checked(settings: str, *tables: Relation) -> Checked:
    text = f"[collections.tickets]\n{settings}"
    declared = read_declarations(text)
    return check(
        declared, catalog(*(tables or (TICKETS, AGENTS, VIEW))), Lines(text, "quarry.toml"), own_schema="quarry"
    )


def told(settings: str, *tables: Relation) -> str:
    """The only error, after the collection's name."""
    (error,) = checked(f'source = "tickets"\ntext = ["subject"]\n{settings}', *tables).errors
    return error.removeprefix("quarry.toml:")


def facet(declared: str) -> str:
    return told(f"[collections.tickets.facets]\n{declared}").partition("facets.")[2]


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


def test_all_that_is_wrong_is_told_at_once_with_its_lines() -> None:
    assert checked('source = "tickets"\ntitle = "Subjekt"\ntext = { subject = "A", bodi = "B" }\nurl = "x"').errors == [
        "quarry.toml:3: collections.tickets.title: tickets has no column 'Subjekt'; did you mean 'subject'?",
        "quarry.toml:4: collections.tickets.text.bodi: tickets has no column 'bodi'; did you mean 'body'?",
        "quarry.toml:5: collections.tickets.url: names no column in braces, so that all rows would have one address",
    ]


class TestSource:
    @pytest.mark.parametrize(
        ("source", "meant"),
        [
            ("support.tickets", "'public.tickets'"),
            ("public.ticket", "'public.tickets'"),
            ("opentickets", "'public.open_tickets'"),
        ],
    )
    def test_one_that_is_missing_is_told_the_nearest(self, source: str, meant: str) -> None:
        (error,) = checked(f'source = "{source}"\ntext = ["subject"]').errors
        assert error.startswith("quarry.toml:2: collections.tickets.source: there is no table or view ")
        assert error.endswith(f"; did you mean {meant}?")

    @pytest.mark.parametrize("schema", ["quarry", "pg_catalog", "information_schema"])
    def test_tables_of_quarry_and_of_postgres_are_not_searched(self, schema: str) -> None:
        (error,) = checked(f'source = "{schema}.tickets"\ntext = ["subject"]').errors
        assert f"belongs to the schema {schema}" in error

    def test_its_rows_have_to_be_readable(self) -> None:
        unreadable = table("tickets", [("id", "integer"), ("subject", "text")], key=["id"], may_select=False)
        assert "grant select on public.tickets" in told("", unreadable)

    def test_policies_that_hide_rows_are_refused(self) -> None:
        hidden = table("tickets", [("id", "integer"), ("subject", "text")], key=["id"], is_row_security_active=True)
        assert told("", hidden).startswith(
            "2: collections.tickets.source: row-level security of public.tickets hides rows"
        )


class TestKey:
    def test_a_table_without_a_primary_key_is_told_its_unique_ones(self) -> None:
        keyless = table("tickets", [("subject", "text"), column("code", is_nullable=False)], unique=[["code"]])
        assert told("", keyless) == "1: collections.tickets.key: is missing: tickets has no primary key; its keys: code"
        assert checked('source = "tickets"\ntext = ["subject"]\nkey = "code"', keyless).errors == []

    def test_a_table_without_any_needs_one(self) -> None:
        assert told("", table("tickets", [("subject", "text")])).endswith("give it one, or search a view over it")

    @pytest.mark.parametrize("key", ["subject", "alias"])
    def test_columns_that_repeat_or_may_be_null_are_none(self, key: str) -> None:
        assert told(f'key = "{key}"').endswith("its keys: id | code")

    def test_a_view_needs_one(self) -> None:
        (error,) = checked('source = "open_tickets"\ntext = ["subject"]\nsync = "sweep"').errors
        assert "key: is missing: a view has none of its own" in error
        assert checked('source = "open_tickets"\ntext = ["subject"]\nsync = "sweep"\nkey = "id"').errors == []


class TestColumns:
    @pytest.mark.parametrize(
        ("setting", "answer"),
        [
            ('embed = ["boddy"]', "embed: tickets has no column 'boddy'; did you mean 'body'?"),
            ('cite = ["file"]', "cite: the column 'file' is bytea, not text"),
            ('date = "opens"', "date: the column 'opens' is time without time zone, not a date"),
            ('hidden = ["passwort"]', "hidden: tickets has no column 'passwort'; did you mean 'password'?"),
            ('hidden = ["id"]', "key: the column 'id' is hidden, and would be shown"),
            ('url = "https://x.example/{nr}"', "url: tickets has no column 'nr'"),
            ('url = "link"', "url: names no column in braces, so that all rows would have one address: write {link}"),
            ('language = "de-AT"', "language: there is no text search configuration 'de-AT'; did you mean 'german'?"),
            ('language = "xx"', "language: there is no text search configuration 'xx'; 'simple' serves where none fits"),
            ('language = "germann"', "language: there is no text search configuration 'germann'; did you mean 'german'?"),
        ],
    )  # fmt: skip
    def test_each_setting_is_checked(self, setting: str, answer: str) -> None:
        assert answer in told(setting).replace("1: collections.tickets.key", "key")

    def test_a_scope_without_its_setting_is_doubtful(self) -> None:
        found = checked('source = "tickets"\ntext = ["subject"]\nscope = "account_id"\nhidden = ["password"]')
        assert found.errors == []
        assert [warning.partition(": ")[2] for warning in found.warnings] == [
            "collections.tickets.scope: without `scope_setting` every caller sees all rows"
        ]

    @pytest.mark.parametrize(
        ("settings", "keys"),
        [
            ('text = ["subject", "password"]', ["text.password"]),
            ('text = ["subject"]\ntitle = "{subject} {password}"\ncite = "password"', ["title", "cite"]),
            ('text = ["subject"]\nembed = ["password"]\nurl = "https://x.example/{password}"', ["url", "embed"]),
            ('text = ["subject"]\n[collections.tickets.facets]\npassword = "value"', ["facets.password"]),
            ('text = ["subject"]\ntopic = "password"\nauthor = "password"', ["topic", "author"]),
            (
                'text = ["subject"]\nhidden = "password"\n[collections.tickets.facets]\n'
                'keys = { kind = "value", by = "agent_id", of = "keys", title = "{name} {secret}" }',
                ["facets.keys"],
            ),
            ('text = ["subject"]\nhidden = "password"\npart_of = { by = "agent_id", of = "keys", show = "secret" }', ["part_of"]),
            ('text = ["subject"]', [""]),
            ('text = ["subject"]\nhidden = "password"', []),
        ],
    )  # fmt: skip
    def test_each_place_that_shows_what_may_be_a_secret_is_doubtful(self, settings: str, keys: list[str]) -> None:
        secret = table("keys", [("id", "integer"), ("name", "text"), ("secret", "text")], key=["id"])
        found = checked(f'source = "tickets"\n{settings}', TICKETS, AGENTS, secret)
        assert found.errors == []
        assert [warning.partition("tickets")[2].partition(":")[0].lstrip(".") for warning in found.warnings] == keys
        assert all("may hold a secret (by its name)" in warning for warning in found.warnings)


class TestSync:
    def test_views_are_swept(self) -> None:
        (error,) = checked('source = "open_tickets"\ntext = ["subject"]\nkey = "id"').errors
        assert error.endswith('sync: a view has no triggers of this kind: write sync = "sweep"')

    def test_partitions_and_tables_of_others_are_swept(self) -> None:
        readable = table("tickets", [("id", "integer"), ("subject", "text")], key=["id"])
        for fitting, answer in (
            (replace(readable, is_partition=True), "through its parent"),
            (replace(readable, may_trigger=False), "grant trigger on"),
        ):
            assert answer in told("", fitting)
            assert checked('source = "tickets"\ntext = ["subject"]\nsync = "sweep"', fitting).errors == []

    @pytest.mark.parametrize(
        ("column", "answer"),
        [("is_open", "the column 'is_open' is boolean, not a number"), ("updated", "tickets has no column")],
    )
    def test_a_poll_needs_a_column_that_grows(self, column: str, answer: str) -> None:
        assert told(f'sync = {{ poll = "{column}" }}').startswith(f"4: collections.tickets.sync.poll: {answer}")


class TestFacets:
    @pytest.mark.parametrize(
        ("declared", "answer"),
        [
            ('subject = "number"', "subject: the column 'subject' is text, not a number"),
            ('amount = "date"', "amount: the column 'amount' is numeric(10,2), not a date or timestamp"),
            ('status = "boolean"', "status: the column 'status' is mood, not a boolean"),
            ('status = "array"', "status: the column 'status' is mood, not an array"),
            ('tags = "value"', "tags: the column 'tags' is text[], not a single value"),
            ('meta = "value"', "meta: the column 'meta' is json, not a single value"),
            ('amount = "place"', "amount: the column 'amount' is numeric(10,2), not text"),
            ('x = { kind = "money", expression = "amount * status" }', "x.expression: the column 'status' is mood, not a number"),
            ('x = { kind = "money", expression = "amount * amounts" }', "x.expression: tickets has no column 'amounts'; did"),
            ('x = { kind = "number", expression = "created_at - amount" }', "x.expression: the column 'created_at' is timestamp"),
            ('x = { kind = "money", expression = "created_at - 1" }', "x.expression: the column 'created_at' is timestamp"),
            ('stat = "value"', "stat: tickets has no column 'stat'; did you mean 'status'?"),
            ('x = { kind = "value", column = "staus" }', "x.column: tickets has no column 'staus'; did you mean 'status'?"),
        ],
    )  # fmt: skip
    def test_their_columns_have_to_fit(self, declared: str, answer: str) -> None:
        assert facet(declared).startswith(answer)

    @pytest.mark.parametrize(
        ("changed", "answer"),
        [
            ({"by": "agent"}, "by: tickets has no column 'agent'"),
            ({"by": "status"}, "by: the column 'status' is mood, and 'id' of agents is integer"),
            ({"of": "agnts"}, "of: there is no table or view public.agnts; did you mean 'public.agents'?"),
            ({"title": "nam"}, "title: agents has no column 'nam'; did you mean 'name'?"),
            ({"kind": "number"}, "title: the column 'name' is text, not a number"),
            ({"key": "name"}, "key: 'name' is no key of agents"),
        ],
    )
    def test_what_they_refer_to_has_to_fit(self, changed: dict[str, str], answer: str) -> None:
        assert facet(f"agent = {toml(AGENT | changed)}").startswith(f"agent.{answer}")

    def test_a_reference_says_which_column_is_the_value(self) -> None:
        untitled = {name: value for name, value in AGENT.items() if name != "title"}
        assert facet(f"agent = {toml(untitled)}") == "agent.title: is missing: the column of agents that is the value"

    def test_a_view_is_referred_to_by_a_key_that_is_said(self) -> None:
        to_view = AGENT | {"of": "open_tickets", "title": "subject"}
        assert facet(f"agent = {toml(to_view)}").startswith("agent: open_tickets has no key of one column")
        declared = f"[collections.tickets.facets]\nagent = {toml(to_view | {'key': 'id'})}"
        assert checked(f'source = "tickets"\ntext = ["subject"]\n{declared}').errors == []

    def test_a_hidden_column_is_none(self) -> None:
        found = told('hidden = ["status"]\n[collections.tickets.facets]\nstatus = "value"')
        assert found.endswith("facets.status: the column 'status' is hidden, and would be shown")

    def test_values_of_a_table_with_policies_are_doubtful(self) -> None:
        closed = table("agents", [("id", "integer"), ("name", "text")], key=["id"], is_row_security_active=True)
        declared = f"agent = {toml(AGENT)}"
        found = checked(
            f'source = "tickets"\ntext = ["subject"]\nhidden = ["password"]\n[collections.tickets.facets]\n{declared}',
            TICKETS, closed,
        )  # fmt: skip
        assert found.errors == []
        assert [warning.partition("security ")[2] for warning in found.warnings] == ["of public.agents may hide values"]


def test_the_nearest_name_is_looked_for_whatever_its_case() -> None:
    assert told('cite = ["BODY"]').endswith("tickets has no column 'BODY'; did you mean 'body'?")


def test_a_facet_refers_to_a_table_that_can_be_named() -> None:
    with pytest.raises(DeclarationError, match="'my agents' is no name of a table"):
        checked(
            f'source = "tickets"\ntext = ["subject"]\n[collections.tickets.facets]\nagent = {toml(AGENT | {"of": "my agents"})}'
        )


def test_tables_are_collected_from_sources_and_facets() -> None:
    declared = read_declarations(
        """
        [collections.tickets]
        source = 'support."Ticket"'
        text = ["subject"]
        [collections.tickets.facets]
        agent = { kind = "value", by = "agent_id", of = "agents", title = "name" }
        """
    )
    assert tables_named(declared) == {("support", "Ticket"), ("public", "agents")}


class TestAgreement:
    """What a collection hides no other one over the same table may use."""

    def told(self, settings: str) -> Checked:
        text = (
            '[collections.tickets]\nsource = "tickets"\ntext = ["subject"]\nhidden = ["password", "amount"]\n'
            + settings
        )
        declared = read_declarations(text)
        return check(declared, catalog(TICKETS, AGENTS, VIEW), Lines(text, "quarry.toml"), own_schema="quarry")

    @pytest.mark.parametrize(
        ("settings", "path"),
        [
            ('title = "password"', "title"),
            ('title = "{subject} {password}"', "title"),
            ('facets.password = "value"', "facets.password"),
            ('facets.secret = { kind = "value", column = "password" }', "facets.secret"),
            ('facets.double = { kind = "number", expression = "2 * amount" }', "facets.double"),
        ],
    )
    def test_a_hidden_column_is_refused_with_both_names(self, settings: str, path: str) -> None:
        found = self.told(f'[collections.others]\nsource = "tickets"\ntext = ["subject"]\n{settings}\n')
        column = "amount" if "amount" in settings else "password"
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
