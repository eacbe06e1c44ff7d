"""What declarations are told that do not fit the tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quarry.collections.checking import Checked, check
from quarry.collections.declaration import DeclarationError, Lines, read_declarations, without_retired
from quarry.collections.names import as_toml
from quarry.collections.relations import Reference, Relation
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


def test_what_fits_is_told_nothing_but_where_rows_may_show_or_hide() -> None:
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
    found = checked('source = "tickets"\ntext = ["subject"]\nscope = "account_id"\nhidden = ["password"]')
    assert "without `scope_setting` every caller sees all rows" in str(found.warnings)
    closed = replace(AGENTS, is_row_security_active=True)
    settings = f'source = "tickets"\ntext = ["subject"]\nhidden = ["password"]\nfacets.agent = {as_toml(AGENT)}'
    assert "row-level security of public.agents may hide values" in str(checked(settings, TICKETS, closed).warnings)


def test_a_key_of_an_earlier_version_is_told_and_read_from_what_a_database_keeps() -> None:
    settings = 'source = "tickets"\ntext = ["subject"]\nfacets.code = { kind = "value", leads = ["of"] }'
    with pytest.raises(DeclarationError, match=r"facets\.code\.leads: no longer has any effect: delete it"):
        checked(settings)
    kept = {"source": "t", "called_by": "code", "facets": {"code": {"kind": "value", "leads": ["of"]}}}
    assert without_retired(kept) == {"source": "t", "facets": {"code": {"kind": "value"}}}


def test_an_expression_is_a_number_of_columns_and_no_other_sql() -> None:
    for text in ("amount; drop table x", "sum(amount)", "(amount", "1 + 2", ""):
        with pytest.raises(DeclarationError, match=r"facets\.x\.expression"):
            checked(f'source = "tickets"\ntext = ["subject"]\nfacets.x = {{ kind = "number", expression = "{text}" }}')


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('related.jobs = { of = "a", by = "b", where = "c > today" }', "cannot name `today`"),
        ('facets.firm = { kind = "name", related = "work" }', "no related rows have this name"),
        ('facets.home = { kind = "name", columns = ["a", "b"] }', "the parts of a place"),
        ('facets.home = { kind = "name", wording = "at" }', "`wording` needs {}"),
        ('facets.long = { kind = "number", unit = "minuts" }', "did you mean 'minutes'"),
        ('like = "nothing"', "there is none called"),
        ('predicates.late = "due between 1 and other"', "predicates.late: .* a number, a text"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(line: str, problem: str) -> None:
    with pytest.raises(DeclarationError, match=rf"quarry.toml:\d: .*{problem}"):
        checked(f'source = "tickets"\n{line}')


def test_all_that_is_wrong_is_told_at_once_with_its_lines() -> None:
    found = checked('source = "tickets"\ntitle = "Subjekt"\ntext = { subject = "A", bodi = "B" }\nurl = "x"')
    assert sorted(found.errors) == [
        "quarry.toml:3: collections.tickets.title: tickets has no column 'Subjekt'; did you mean 'subject'?",
        "quarry.toml:4: collections.tickets.text.bodi: tickets has no column 'bodi'; did you mean 'body'?",
        "quarry.toml:5: collections.tickets.url: names no column in braces, so all rows would have one address",
    ]
    for source, answer in {"support.tickets": "did you mean 'public.tickets'?", "quarry.tickets": "belongs to"}.items():
        assert answer in checked(f'source = "{source}"\ntext = ["subject"]').errors[0]


@pytest.mark.parametrize(
    ("source", "settings", "answer"),
    [
        (replace(PLAIN, may_select=False), "", "grant select on public.tickets"),
        (replace(PLAIN, is_row_security_active=True), "", "row-level security of public.tickets hides rows"),
        (table("tickets", [("subject", "text"), column("code", is_nullable=False)], unique=[["code"]]), "", "its keys: code"),
        (replace(PLAIN, may_trigger=False), "", "grant trigger on"),
        (replace(PLAIN, kind="view"), 'key = "id"', 'write sync = "sweep"'),
        (replace(PLAIN, kind="view"), 'sync = "sweep"', "key: is missing: a view has none"),
    ],
)  # fmt: skip
def test_a_source_needs_rights_a_key_and_a_way_to_be_kept_in_step(source: Relation, settings: str, answer: str) -> None:
    assert answer in told(settings, source, AGENTS)


@pytest.mark.parametrize(
    ("setting", "answer"),
    [
        ('embed = ["boddy"]', "embed: tickets has no column 'boddy'; did you mean 'body'?"),
        ('date = "opens"', "date: the column 'opens' is time without time zone, not a date"),
        ('hidden = ["id"]', "key: the column 'id' is hidden, and would be shown"),
        ('language = "de-AT"', "language: there is no text search configuration 'de-AT'; did you mean 'german'?"),
        ('sync = { poll = "is_open" }', "sync.poll: the column 'is_open' is boolean, not a number"),
        ('hidden = ["status"]\nfacets.status = "value"', "facets.status: the column 'status' is hidden, and would be shown"),
        ('facets.subject = "number"', "subject: the column 'subject' is text, not a number"),
        ('facets.x = { kind = "money", expression = "amount * status" }', "the column 'status' is mood, not a number"),
        (f'facets.agent = {as_toml(AGENT | {"by": "status"})}', "the column 'status' is mood, and 'id' of agents is integer"),
        (f'facets.agent = {as_toml(AGENT | {"key": "name"})}', "key: 'name' is no key of agents"),
        ('predicates.dear = "amont > 100"', "dear: there is no facet or column 'amont'; did you mean 'amount'?"),
        ("""hidden = "link"\npredicates.linked = "link = 'x'\"""", "linked.link: the column 'link' is hidden"),
        ('predicates.amount = "id > 1"', "amount: tickets has a column of this name"),
        ('measures.worth = { sum = "amont" }', "worth: there is no facet or column 'amont'; did you mean 'amount'?"),
        ('measures.worth = { sum = "amount * 2 - codes" }', "no facet or column 'codes'"),
        ("""measures.worth = { sum = "amount", where = "stat != 'x'" }""", "no facet or column 'stat'"),
        ('measures.amount = { sum = "amount" }', "amount: tickets has a column of this name"),
        ('related.agents = { of = "agents", by = "name" }', "'name' is text, and 'id' of tickets is integer"),
        ('related.agents = { of = "agents", by = "id", where = "old" }', "where: agents has no column 'old'"),
        ('facets.said = { kind = "words", column = "body" }', "facets.said: is for Quarry's own tables"),
    ],
)  # fmt: skip
def test_each_setting_is_checked(setting: str, answer: str) -> None:
    assert answer in told(setting)


@pytest.mark.parametrize(
    ("settings", "keys"),
    [
        ('text = ["subject", "password"]', ["text.password"]),
        ('text = ["subject"]\ntitle = "{subject} {password}"\ncite = "password"', ["title", "cite"]),
        ('text = ["subject"]\nfacets.password = "value"', ["facets.password"]),
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
        [error] = [each for each in found.errors if f"collections.others.{path}" in each]
        assert f"the column '{column}' of public.tickets is hidden by the collection 'tickets'" in error

    def test_a_whole_record_that_shows_one_is_refused_unless_the_file_says_so(self) -> None:
        other = '[collections.others]\nsource = "tickets"\ntext = ["subject"]\n'
        errors = self.told(other).errors
        assert len(errors) == 2
        assert any("whole records show the column 'password'" in error for error in errors)
        both = '["amount", "password"]'
        for allowed in (f"hidden = {both}", f"shows = {both}", 'shows = "amount"\nhidden = "password"'):
            assert not self.told(f"{other}{allowed}\n").errors
        shown = other + 'title = "{subject} {amount}"\nhidden = ["password"]\n'
        assert "hidden by the collection 'tickets'" in " ".join(self.told(shown).errors)
        assert not self.told(shown + 'shows = ["amount"]\n').errors

    def test_a_setting_has_one_claim(self) -> None:
        scoped = 'scope = "account_id"\nscope_setting = "app.account"\nscope_claim = "{}"\n'
        other = '[collections.others]\nsource = "tickets"\ntext = ["body"]\nhidden = ["password", "amount"]\n'
        (error,) = self.told(scoped.format("sub") + other + scoped.format("org")).errors
        assert "the setting app.account has the claim 'sub' in the collection 'tickets', and 'org' here" in error
        assert not self.told(scoped.format("sub") + other + scoped.format("sub")).errors
