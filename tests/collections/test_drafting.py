"""Drafts of quarry.toml: usable as they are, whatever the tables."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarry.collections.checking import check, tables_named
from quarry.collections.date_kinds import date_kinds
from quarry.collections.declaration_file import Lines, read_declarations
from quarry.collections.drafting import SEARCHED_MAX, Draft, draft
from quarry.collections.naming import table_name
from quarry.collections.reference_declarations import Referred
from quarry.collections.relations import Column, Reference, Relation, read_catalog, relations_of_schema
from quarry.collections.secrets import suspicion
from quarry.collections.value_shapes import seen_of
from quarry.models.local_embedding import LocalEmbedding
from tests.collections.conftest import SCHEMAS, opened
from tests.collections.made import TYPES, catalog, column, table

Drafts = Mapping[str, tuple[Draft, dict[str, Any]]]
"""Of each schema what was drafted, and the collections that this declares."""


def collections_in(text: str) -> dict[str, Any]:
    """What a draft declares, each facet by its name."""
    found = dict(tomllib.loads(text).get("collections", {}))
    for each in found.values():
        facets = each.get("facets", {}).items()
        listed = {name: kind for kind, names in facets if isinstance(names, list) for name in names}
        single = {name: facet for name, facet in facets if not isinstance(facet, list)}
        each |= {"facets": listed | single} if facets else {}
    return found


def declared(text: str, *tables: Relation) -> dict[str, Any]:
    """What a draft declares, once it is read and nothing in it is wrong."""
    read = read_declarations(text)
    checked = check(read, catalog(*tables), Lines(text, "quarry.toml"), own_schema="quarry")
    assert checked.errors == []
    assert not [warning for warning in checked.warnings if "secret" in warning]
    return collections_in(text)


def drafted(*tables: Relation) -> dict[str, Any]:
    return declared(draft("public", tables).text, *tables)


@pytest.mark.parametrize(
    ("began", "ended", "days"),
    [
        ("opened_at", "closed_at", "closed_at - opened_at"),
        ("created", "Resolved on", '"Resolved on" - created'),
        ("check_in", "check_out", "check_out - check_in"),
        ("seen_on", "paid_on", None),
    ],
)
def test_what_lasts_from_one_date_to_another_is_reckoned_in_days(began: str, ended: str, days: str | None) -> None:
    dates = [(began, "timestamp with time zone"), (ended, "timestamp with time zone")]
    loans = table("loans", [("id", "integer"), ("note", "text"), *dates], key=["id"])
    duration = drafted(loans)["loans"].get("facets", {}).get("duration")
    assert duration == (days and {"kind": "number", "expression": days, "unit": "days"})


@pytest.mark.parametrize(
    ("due", "other", "type", "overdue"),
    [
        ("due_on", "paid_on", "date", "due_on < today and paid_on is null"),
        ("Payment due", "closed_at", "date", '"Payment due" < today and closed_at is null'),
        ("deadline", "is_done", "boolean", "deadline < today and not is_done"),
        ("due_date", "created_at", "date", None),
        ("birth_date", "closed_at", "date", None),
    ],
)
async def test_what_is_due_and_not_done_is_overdue(due: str, other: str, type: str, overdue: str | None) -> None:
    bills = table("bills", [("id", "integer"), ("note", "text"), (due, "date"), (other, type)], key=["id"])
    made = draft("public", [bills], kinds=await date_kinds([bills], LocalEmbedding()))
    assert declared(made.text, bills)["bills"].get("predicates") == (overdue and {"overdue": overdue})


def test_a_column_that_names_owners_is_counted_by_and_one_that_holds_their_keys_keeps_rows_from_others() -> None:
    names = seen_of(["Hunan Broadcasting System (HBS)", "CCTV", "Mara Quill"] * 5)
    keys = seen_of(["ann", "bob", "c.lee@desk.example"] * 5)
    columns = [("id", "integer"), ("title", "text")]
    shows = table("shows", [*columns, column("owner", seen=names, distinct=3)], key=["id"], rows=200)
    notes = table("notes", [*columns, column("owner", seen=keys, distinct=3)], key=["id"], rows=200)
    made = draft("public", [shows, notes])
    assert declared(made.text, shows, notes)["shows"]["facets"] == {"owner": "value"}
    assert '# where callers may see their own rows alone: scope = "owner"' in made.text
    assert made.commented == ("notes",)


def test_who_owns_what_is_told_of_is_a_facet_where_owners_are_told_of_too() -> None:
    owners = table("owners", [("id", "integer"), ("full_name", "text"), ("likes", "text")], key=["id"])
    columns = [("id", "integer"), ("name", "text"), ("owner_id", "integer")]
    to_owners = Reference(("owner_id",), ("public", "owners"), ("id",))
    boats = table("boats", columns, key=["id"], references=[to_owners])
    assert drafted(owners, boats)["boats"]["facets"]["owner"]["kind"] == "name"
    assert "# scope = " in draft("public", [table("boats", columns, key=["id"])]).text


@pytest.fixture(scope="module")
def schemas(server_url: str) -> Drafts:
    """What is drafted of each schema: the draft, and what it declares, which the catalog bears out."""
    found = {}
    for name in SCHEMAS:
        with opened(server_url, name) as (_, connection):
            made = draft("public", relations_of_schema(connection, "public"))
            read = read_declarations(made.text)
            known = read_catalog(connection, tables_named(read))
            assert check(read, known, Lines(made.text, "quarry.toml"), own_schema="quarry").errors == [], name
            found[name] = made, collections_in(made.text)
    return found


def test_every_schema_has_a_draft_that_fits_it(schemas: Drafts) -> None:
    assert {name: sorted(made.collections) for name, (made, _) in schemas.items()} == {
        "composite_keys": ["guides", "notes", "pairs", "ranges", "sites", "tours", "visits"],
        "forum": ["ballots", "marks", "members", "replies", "threads", "threadtypes"],
        "kinds": ["families", "garden_beds", "gardeners", "gate_log", "plants", "waterings"],
        "library": [
            "address", "author", "book", "book_author", "book_category", "branch", "category", "city", "copy", "country",
            "language", "letter", "payment", "reader", "staff",
        ],
        "odd_names": [
            "a23456789012345678901234567890123456789012345678", "a_b_c", "coloured", "grosse", "line_end", "not_a_comment",
            "select", "select_2", "table", "table_1st",
        ],
        "records_shop": [
            "album", "artist", "customer", "employee", "genre", "invoice", "invoice_line", "media_type", "playlist",
            "playlist_track", "track",
        ],
        "secrets": ["invites", "lessons_sessions", "letters", "mail_servers", "members", "sessions", "site_options"],
        "service": ["accounts", "events", "logins"],
        "trade": [
            "categories", "customers", "employee_territories", "employees", "order_details", "orders", "products", "region",
            "shippers", "suppliers", "territories",
        ],
        "views_only": [],
    }  # fmt: skip


def test_what_is_left_out_is_named_with_its_reason(schemas: Drafts) -> None:
    made, _ = schemas["library"]
    assert made.left_out == {
        "letter_2030": "a partition: its parent is searched",
        "letter_2031": "a partition: its parent is searched",
        "loans_by_category": 'a materialized view: declare it with its key and sync = "sweep" if it is to be searched',
        "payment_2030": "a partition: its parent is searched",
        "reader_list": 'a view: declare it with its key and sync = "sweep" if it is to be searched',
    }
    assert all(f"#   {name}: {reason}\n" in made.text for name, reason in made.left_out.items())


def test_a_table_is_drafted_with_all_that_its_columns_are_for(schemas: Drafts) -> None:
    made, collections = schemas["library"]
    assert collections["book"] == {
        "source": "public.book",
        "title": "title",
        "text": {"title": "A", "description": "B"},
        "cite": ["description"],
        "describe": "What can be borrowed",
        "fields": ["book_id", "last_update"],
        "facets": {
            "print_year": "year",
            "language": {"kind": "value", "by": "language_id", "of": "public.language", "title": "name"},
            "original_language": {
                "kind": "value",
                "by": "original_language_id",
                "of": "public.language",
                "title": "name",
            },
            "loan_fee": "money",
            "pages": "number",
            "audience": "value",
            "editions": "array",
            "author": {
                "kind": "array",
                "through": "public.book_author",
                "of": "public.author",
                "title": "{first_name} {last_name}",
            },
            "category": {
                "kind": "array",
                "through": "public.book_category",
                "of": "public.category",
                "title": "name",
            },
        },
    }
    assert "# left out: fulltext (tsvector)\n" in made.text


@pytest.mark.parametrize(
    ("width", "notes", "embedded"),
    [(12, [], []), (None, [], None), (12, [column("notes", width=200)], None)],
)
def test_only_short_names_have_no_vectors(width: int | None, notes: list[Column], embedded: list[str] | None) -> None:
    """Those of a width that statistics tell: beside prose, and before it is known, names are embedded."""
    name = column("name", width=width, distinct=-1)
    collection = drafted(table("parts", [("id", "integer"), name, *notes], key=["id"]))["parts"]
    assert collection["text"]["name"] == "A"
    assert collection.get("embed") == embedded


def test_rows_are_told_by_what_their_references_lead_to(schemas: Drafts) -> None:
    made, collections = schemas["trade"]
    facets = collections["order_details"]["facets"]
    in_order = {"by": "order_id", "of": "public.orders"}
    assert facets["date"] == {"kind": "date", **in_order, "title": "order_date"}
    assert facets["ship_country"] == {"kind": "place", **in_order, "title": "ship_country"}
    assert facets["customer"]["title"] == {"by": "customer_id", "of": "public.customers", "title": "company_name"}
    assert facets["customer_country"]["title"] == {"by": "customer_id", "of": "public.customers", "title": "country"}
    # whether a discount is a share is not known before ANALYZE, so neither is what a line comes to
    assert "revenue" not in facets
    assert 'expression = "unit_price * quantity * (1 - discount)"' in made.text
    assert "employee_country" not in facets


def test_amounts_in_hundredths_are_in_whole_units_however_their_names_are_written() -> None:
    columns = [
        ("id", "integer"),
        ("slug", "text"),
        ("entryFeeCents", "integer"),
        ("ratePence", "integer"),
        ("score", "integer"),
    ]
    facets = drafted(table("shows", columns, key=["id"]))["shows"]["facets"]
    assert facets["entry_fee"] == {"kind": "money", "expression": '"entryFeeCents" / 100'}
    assert facets["rate"] == {"kind": "money", "expression": '"ratePence" / 100'}


def test_secrets_are_hidden_and_nothing_else_is_said_of_them(schemas: Drafts) -> None:
    made, collections = schemas["service"]
    collections = collections_in(taken_in(made))
    assert collections["users"]["hidden"] == ["password_hash", "apiKey", "otp_secret", "salt", "session_token"]
    assert collections["customers"]["hidden"] == ["iban", "card_number", "ssn", "tax_id"]
    assert schemas["library"][1]["staff"]["hidden"] == ["password", "picture"]
    for secret in ("password_hash", "apiKey", "iban", "card_number"):
        assert made.text.count(secret) == 1
    assert [name for name, reason in made.left_out.items() if "secret" in reason] == ["api_keys", "password_resets"]
    assert collections["logins"] == {"source": "public.logins", "hidden": ["token"], "fields": ["note"]}


def taken_in(made: Draft) -> str:
    """The draft with what it comments out in use."""
    head, _, rest = made.text.partition("\n# Rows of somebody")
    rows = rest.partition("\n# Left out:")[0]
    return head + re.sub(r"^# ?", "", rows.partition("\n\n")[2], flags=re.MULTILINE)


def messages(*ends: str, text: str = "body") -> list[Relation]:
    people = table("users", [("id", "integer"), ("name", "text")], key=["id"])
    refer = [Reference((end,), people.qualified, ("id",)) for end in ends]
    columns = [("id", "integer"), (text, "text"), *((end, "integer") for end in ends)]
    letters = table("letters", columns, key=["id"], references=refer)
    refers = Reference(("letter_id",), letters.qualified, ("id",))
    parts = table(
        "parts", [("id", "integer"), ("name", "text"), ("letter_id", "integer")], key=["id"], references=[refers]
    )
    return [people, letters, parts]


@pytest.mark.parametrize(
    ("ends", "scope"),
    [
        (("sender_id", "recipient_id"), "recipient_id"),
        (("from_user_id", "to_user_id"), "to_user_id"),
        (("useridfrom", "useridto"), "useridto"),
    ],
)
def test_messages_and_what_belongs_to_them_are_commented_out(ends: tuple[str, ...], scope: str) -> None:
    tables = messages(*ends)
    made = draft("public", tables)
    assert (made.collections, made.commented) == (("users",), ("letters", "parts"))
    assert f'# scope = "{scope}"\n# scope_setting = "app.caller"\n' in made.text
    assert "brings the column which says whose they are, as `scope`" in made.text
    assert [*declared(taken_in(made), *tables)] == ["users", "letters", "parts"]


def test_names_are_written_so_that_they_are_read_again(schemas: Drafts) -> None:
    _, collections = schemas["odd_names"]
    assert collections["select_2"]["facets"]["select_2_limit"] == {"kind": "number", "column": "limit"}
    assert collections["a_b_c"]["text"] == {'na"me': "A", "it's": "D", "back\\slash": "D"}
    assert collections["line_end"]["source"] == 'public."line\nend"'
    assert collections["table"]["text"] == {"題名": "B", "本文": "C"}


def test_what_the_role_may_not_do_is_left_out_or_swept() -> None:
    columns = [("id", "integer"), ("title", "text")]
    made = draft(
        "public",
        [
            table("closed", columns, key=["id"], may_select=False),
            table("guarded", columns, key=["id"], is_row_security_active=True),
            table("read_only", columns, key=["id"], may_trigger=False),
        ],
    )
    assert tomllib.loads(made.text)["collections"] == {
        "read_only": {
            "source": "public.read_only",
            "title": "title",
            "text": {"title": "A"},
            "sync": "sweep",
            "fields": ["id"],
        }
    }
    assert [*made.left_out] == ["closed", "guarded"]


def test_what_is_referred_to_in_another_schema_is_a_facet() -> None:
    agents = table("agents", [("id", "integer"), ("name", "text")], key=["id"], schema="staff")
    refers = Reference(("agent_id",), ("staff", "agents"), ("id",))
    tickets = table(
        "tickets", [("id", "integer"), ("subject", "text"), ("agent_id", "integer")], key=["id"], references=[refers]
    )
    made = draft("public", [tickets], [agents])
    assert declared(made.text, tickets, agents)["tickets"]["facets"] == {
        "agent": {"kind": "name", "by": "agent_id", "of": "staff.agents", "title": "name"}
    }


_ALPHABET = st.characters(codec="utf-8", exclude_characters="\x00")
_PARTS = """id name title first_ last_ _at created_ updated_ password token body status city country url price type from _id
    account_""".split()
_NAMES = st.one_of(
    st.text(_ALPHABET, min_size=1, max_size=12),
    st.lists(st.sampled_from(_PARTS), min_size=1, max_size=3).map("".join),
)
_COLUMNS = st.builds(
    column,
    _NAMES,
    st.sampled_from([*TYPES, "text[]", "integer[]", "mood[]", "bytea[]"]),
    is_nullable=st.booleans(),
    width=st.none() | st.integers(1, 500),
    distinct=st.none() | st.floats(-1, 100),
)


@st.composite
def schema_of_any_kind(draw: st.DrawFn) -> list[Relation]:
    """Tables with any names, columns and keys, which refer to each other's keys."""
    relations: list[Relation] = []
    for name in draw(st.lists(_NAMES, unique=True, min_size=1, max_size=6)):
        columns: Sequence[Column] = draw(st.lists(_COLUMNS, min_size=1, max_size=6, unique_by=lambda each: each.name))
        names = [each.name for each in columns]
        keys = st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)
        key = draw(st.just([]) | keys)
        references = [
            Reference((draw(st.sampled_from(names)),), other.qualified, other.primary_key)
            for other in draw(st.lists(st.sampled_from(relations), max_size=3) if relations else st.just([]))
            if len(other.primary_key) == 1
        ]
        relations.append(
            table(
                name,
                [replace(each, is_nullable=each.is_nullable and each.name not in key) for each in columns],
                key=key,
                unique=draw(st.lists(keys, max_size=2)),
                references=references,
                kind=draw(st.sampled_from(["table", "table", "table", "partitioned table", "view", "foreign table"])),
                rows=draw(st.none() | st.integers(0, 10**9)),
                comment=draw(st.none() | st.text(_ALPHABET, max_size=600)),
                **{
                    fact: draw(st.integers(0, 9)) == 0
                    for fact in ("is_partition", "has_row_security", "is_row_security_active")
                },
                may_select=draw(st.integers(0, 9)) > 0,
                may_trigger=draw(st.booleans()),
            )
        )
    return relations


def columns_of(link: Any) -> list[str]:
    """The columns that a link leads on by."""
    by = link["by"] if isinstance(link, dict) else link
    return [by] if isinstance(by, str) else by


def searched(collection: dict[str, Any]) -> set[str]:
    """The columns of its own that a collection searches, shows or counts by."""
    facets = collection.get("facets", {})
    return {
        *collection.get("text", []), *collection.get("embed", []), *collection.get("cite", []), *collection.get("key", []),
        *collection.get("fields", []), *(column for by in collection.get("links", {}).values() for column in columns_of(by)),
        *re.findall(r"\{([^{}]+)\}", collection.get("title", "") + collection.get("url", "")), collection.get("title"),
        *(name if isinstance(facet, str) else facet.get("column") for name, facet in facets.items()),
    }  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(schema_of_any_kind())
def test_a_draft_of_any_tables_fits_them_and_tells_no_secret(relations: list[Relation]) -> None:
    made = draft("public", relations)
    declared(taken_in(made), *relations)
    collections = declared(made.text, *relations)
    assert sorted(collections) == sorted(made.collections)
    assert sum("text" in each for each in collections.values()) <= SEARCHED_MAX
    assert len(made.collections) + len(made.commented) + len(made.left_out) == len(relations)
    by_name = {relation.qualified: relation for relation in relations}
    for name, collection in read_declarations(made.text).items():
        table = by_name[table_name(collection.source)]
        secrets = {each.name for each in table.columns if suspicion(each, table)}
        assert {*collections[name].get("hidden", [])} == secrets
        assert not secrets & searched(collections[name])
        for facet in collection.facets.values():
            of, title = facet.of, facet.title
            while isinstance(title, Referred):
                of, title = title.of, title.title
            other = by_name[table_name(of)] if of else table
            assert of is None or not suspicion(other.by_name[title or ""], other)
