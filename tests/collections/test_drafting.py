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
from quarry.collections.declaration_file import Lines, read_declarations
from quarry.collections.drafting import SEARCHED_MAX, Draft, draft
from quarry.collections.naming import table_name
from quarry.collections.reference_declarations import Referred
from quarry.collections.relations import Column, Reference, Relation, read_catalog, relations_of_schema
from quarry.collections.secrets import suspicion
from quarry.collections.table_draft import FACETS_MAX
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
        ("rental_date", "return_date", "return_date - rental_date"),
        ("arrives_on", "leaves_on", "leaves_on - arrives_on"),
        ("check_in", "check_out", "check_out - check_in"),
        ("ordered_at", "shipped_at", "shipped_at - ordered_at"),
    ],
)
def test_what_lasts_from_one_date_to_another_is_reckoned_in_days(began: str, ended: str, days: str) -> None:
    dates = [(began, "timestamp with time zone"), (ended, "timestamp with time zone")]
    loans = table("loans", [("id", "integer"), ("note", "text"), *dates], key=["id"])
    duration = drafted(loans)["loans"]["facets"]["duration"]
    assert duration == {"kind": "number", "expression": days, "unit": "days"}


@pytest.mark.parametrize(
    "names",
    [("opened_at",), ("opened_at", "created_at", "closed_at"), ("seen_on", "paid_on"), ("ordered_at", "deliver_by")],
)
def test_no_duration_is_reckoned_of_dates_that_are_no_beginning_and_end(names: tuple[str, ...]) -> None:
    loans = table("loans", [("id", "integer"), ("note", "text"), *((name, "date") for name in names)], key=["id"])
    assert "duration" not in drafted(loans)["loans"].get("facets", {})


@pytest.mark.parametrize(("name", "date"), [("stays", "arrives_on"), ("bookings", "booked_at")])
def test_a_stay_is_of_the_day_when_it_begins_but_a_booking_of_that_when_it_is_made(name: str, date: str) -> None:
    dates = [("booked_at", "timestamp with time zone"), ("arrives_on", "date"), ("leaves_on", "date")]
    assert drafted(table(name, [("id", "integer"), ("note", "text"), *dates], key=["id"]))[name]["date"] == date


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


def test_what_joins_others_and_lists_of_names_are_counted_and_have_no_words(schemas: Drafts) -> None:
    library = schemas["library"][1]
    assert library["book_author"] == {
        "source": "public.book_author",
        "links": {"author": "author_id", "book": "book_id"},
        "fields": ["last_update"],
    }
    assert library["city"] == {
        "source": "public.city",
        "title": "city",
        "facets": {"city": "place"},
        "links": {"country": "country_id"},
        "fields": ["city_id", "last_update"],
    }
    unsearched = [name for name, each in library.items() if "text" not in each]
    assert sorted(unsearched) == [
        "book_author", "book_category", "branch", "category", "city", "copy", "country", "language",
    ]  # fmt: skip


def test_columns_that_no_facet_is_made_of_are_asked_about_all_the_same(schemas: Drafts) -> None:
    assert schemas["trade"][1]["orders"]["fields"] == ["order_id"]
    assert schemas["service"][0].commented == ("tickets", "customers", "articles", "invoices", "users")
    assert schemas["kinds"][1]["waterings"]["links"] == {"garden_bed": ["bed_house", "bed_row"]}
    assert schemas["composite_keys"][1]["notes"]["source"] == "public.notes"
    assert "key" not in schemas["composite_keys"][1]["notes"]


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
    [(12, [], []), (None, [], None), (45, [], None), (12, [column("notes", width=200)], None)],
)
def test_only_short_names_have_no_vectors(width: int | None, notes: list[Column], embedded: list[str] | None) -> None:
    """Those of a width that statistics tell: beside prose, and before it is known, names are embedded."""
    name = column("name", width=width, distinct=-1)
    collection = drafted(table("parts", [("id", "integer"), name, *notes], key=["id"]))["parts"]
    assert collection["text"]["name"] == "A"
    assert collection.get("embed") == embedded


def test_what_tells_how_much_is_counted_though_it_has_no_text(schemas: Drafts) -> None:
    assert schemas["library"][1]["payment"]["title"] == "payment {payment_id}"
    assert schemas["records_shop"][1]["invoice"]["title"] == "invoice {InvoiceId}"
    lines = schemas["trade"][1]["order_details"]
    assert lines["text"] == {"order_id": "D", "product_id": "D"}
    assert lines["embed"] == []
    facets = lines["facets"]
    assert facets["product"] == {"kind": "value", "by": "product_id", "of": "public.products", "title": "product_name"}
    assert (facets["unit_price"], facets["quantity"], facets["discount"]) == ("money", "number", "number")
    assert schemas["kinds"][1]["waterings"]["date"] == "watered_at"


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


def test_references_are_known_by_names_where_no_foreign_key_tells(schemas: Drafts) -> None:
    made, collections = schemas["forum"]
    assert collections["threads"]["facets"]["thread_type"] == {
        "kind": "value", "by": "threadtypeid", "of": "public.threadtypes", "title": "name",
    }  # fmt: skip
    assert collections["threads"]["facets"]["opening_member"]["by"] == "openingmemberid"
    assert "owneruserid" not in collections["threads"]["facets"]
    assert collections["replies"]["facets"]["member"]["kind"] == "name"
    assert made.text.count("guessed by its name: no foreign key") == 8


def test_names_that_were_run_together_are_read(schemas: Drafts) -> None:
    _, collections = schemas["forum"]
    assert collections["threads"]["date"] == "creationdate"
    assert collections["threads"]["hidden"] == ["passcode"]
    assert collections["members"]["title"] == "displayname"
    assert collections["members"]["url"] == "{websiteurl}"


def test_titles_and_keys_that_repeat_are_counted_by(schemas: Drafts) -> None:
    assert schemas["forum"][1]["marks"]["facets"]["name"] == "value"
    assert "title" not in schemas["forum"][1]["threads"]["facets"]
    assert schemas["kinds"][1]["waterings"]["facets"]["bed_house"] == "value"
    assert schemas["kinds"][1]["garden_beds"]["facets"]["house"] == {"kind": "value", "column": "House"}


def test_the_largest_come_first(schemas: Drafts) -> None:
    made, _ = schemas["library"]
    assert made.collections[:3] == ("book", "address", "author")


def test_somebody_is_called_by_both_names_and_a_title_is_their_work(schemas: Drafts) -> None:
    _, collections = schemas["trade"]
    assert collections["employees"]["title"] == "{first_name} {last_name}"
    assert collections["employees"]["facets"]["title"] == "title"
    assert collections["employees"]["embed"] == ["notes"]
    assert collections["orders"]["facets"]["employee"] == {
        "kind": "name", "by": "employee_id", "of": "public.employees", "title": "{first_name} {last_name}",
    }  # fmt: skip


def test_what_tells_every_row_apart_is_a_title_unless_it_is_an_address() -> None:
    telling = column("brand", width=10, distinct=-1)
    where = column("street", width=10, distinct=-1)
    found = drafted(
        table("a", [("id", "integer"), where, telling], key=["id"]),
        table("b", [("id", "integer"), where, ("phone", "text")], key=["id"]),
    )
    assert found["a"]["title"] == "brand"
    assert found["b"]["title"] == "b {id}"


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


def test_what_is_called_like_prose_and_is_short_is_a_title_or_a_category() -> None:
    described = column("description", width=9, distinct=-1)
    reason = column("reason", width=9, distinct=4)
    rope = table("ropes", [("rope_no", "text"), described], key=["rope_no"], rows=200)
    loss = table("losses", [("id", "integer"), reason, ("amount", "integer")], key=["id"], rows=200)
    found = drafted(rope, loss)
    assert found["ropes"]["title"] == "description"
    assert found["losses"]["facets"]["reason"] == "value"


def test_lines_of_what_is_sold_have_its_date_though_they_have_a_text() -> None:
    to_bill = Reference(("bill_id",), ("public", "invoices"), ("id",))
    bills = table("invoices", [("id", "integer"), ("issued_on", "date")], key=["id"])
    lines = [
        ("id", "integer"),
        ("bill_id", "integer"),
        ("label", "text"),
        ("quantity", "integer"),
        ("unit_price", "numeric(10,2)"),
    ]
    date = drafted(bills, table("invoice_lines", lines, key=["id"], references=[to_bill]))["invoice_lines"]["facets"][
        "date"
    ]
    assert (date["by"], date["title"]) == ("bill_id", "issued_on")


@pytest.mark.parametrize(("name", "facet"), [("isbn", "title"), ("title_isbn", "title"), ("lent_isbn", "lent")])
def test_a_reference_that_is_called_by_its_code_alone_is_named_after_its_table(name: str, facet: str) -> None:
    to_titles = Reference((name,), ("public", "titles"), ("isbn",))
    titles = table("titles", [("isbn", "text"), ("name", "text"), ("pages", "integer")], key=["isbn"])
    copies = table(
        "copies", [("id", "integer"), (name, "text"), ("bought_on", "date")], key=["id"], references=[to_titles]
    )
    found = drafted(titles, copies)
    assert facet in found["copies"]["facets"]
    assert found["titles"]["nouns"] == ["title", "book"]


def test_a_date_is_of_what_happened(schemas: Drafts) -> None:
    service, library = collections_in(taken_in(schemas["service"][0])), schemas["library"][1]
    assert service["tickets"]["date"] == "happened_on"
    assert service["articles"]["date"] == "published_at"
    assert service["users"]["date"] == "created_at"
    assert schemas["trade"][1]["orders"]["date"] == "order_date"
    assert library["letter"]["date"] == "sent_at"
    assert "date" not in library["book"]


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


def test_rows_of_tenants_are_commented_out_with_the_lines_that_show_callers_their_own(schemas: Drafts) -> None:
    made, collections = schemas["service"]
    assert made.text.count('# scope = "account_id"\n# scope_setting = "app.caller"\n') == 5
    used = collections_in(taken_in(made))
    assert [*used] == [*collections, *made.commented]
    assert all(used[name]["scope_setting"] == "app.caller" for name in made.commented)


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


def test_ways_from_one_place_to_another_are_no_messages() -> None:
    columns = [("id", "integer"), ("name", "text"), ("from_port", "integer"), ("to_port", "integer")]
    assert draft("public", [table("routes", columns, key=["id"])]).commented == ()


def test_names_are_written_so_that_they_are_read_again(schemas: Drafts) -> None:
    _, collections = schemas["odd_names"]
    assert collections["select_2"]["facets"]["select_2_limit"] == {"kind": "number", "column": "limit"}
    assert collections["a_b_c"]["text"] == {'na"me': "A", "it's": "D", "back\\slash": "D"}
    assert collections["line_end"]["source"] == 'public."line\nend"'
    assert collections["table"]["text"] == {"題名": "B", "本文": "C"}


def test_a_unique_key_serves_where_there_is_no_primary_one(schemas: Drafts) -> None:
    made, collections = schemas["composite_keys"]
    keys = {name: collection["key"] for name, collection in collections.items() if "key" in collection}
    assert keys == {"pairs": ["a", "b"], "tours": ["reference"]}
    assert collections["tours"]["facets"]["guide"]["by"] == "guide_code"
    assert made.left_out == {"scores": "no key that can be shown"}


def test_the_twelve_with_most_text_are_searched_and_the_others_counted() -> None:
    columns = [("id", "integer"), ("title", "text"), ("made_at", "date")]
    tables = [table(f"t{number}", columns, key=["id"], rows=1000 - number) for number in range(20)]
    collections = drafted(*tables)
    assert [*collections] == [f"t{number}" for number in range(20)]
    assert [name for name, each in collections.items() if "text" in each] == [f"t{number}" for number in range(12)]
    assert collections["t19"]["facets"] == {"title": "value"}


def test_a_table_without_statistics_comes_between_large_and_empty_ones() -> None:
    columns = [("id", "integer"), ("title", "text")]
    made = [
        table(name, columns, key=["id"], rows=rows)
        for name, rows in (("empty", 0), ("unknown", None), ("large", 10**6))
    ]
    assert draft("public", made).collections == ("large", "unknown", "empty")


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


def test_facets_are_not_more_than_people_read() -> None:
    wide = table(
        "wide", [("id", "integer"), ("title", "text"), *((f"amount{n}", "integer") for n in range(40))], key=["id"]
    )
    collection = drafted(wide)["wide"]
    assert len(collection["facets"]) == FACETS_MAX
    assert {*collection["facets"], *collection["fields"]} == {"id", *(f"amount{n}" for n in range(40))}


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


def test_what_columns_are_called_in_another_language_is_drafted_like_english() -> None:
    tools = table(
        "werkzeuge",
        [
            ("id", "integer"),
            ("bezeichnung", "text"),
            ("beschreibung", "text"),
            ("hersteller", "text"),
            ("preis", "numeric(10,2)"),
            ("geändert", "date"),
            ("gekauft", "date"),
        ],
        key=["id"],
    )
    made = drafted(tools)["werkzeuge"]
    assert (made["title"], made["language"], made["date"]) == ("bezeichnung", "german", "gekauft")
    assert made["text"]["beschreibung"] == "B"
    assert made["facets"] == {"preis": "money"}


def test_the_date_is_of_what_was_done_rather_than_of_when_something_is_to_be_had() -> None:
    flats = table(
        "flats", [("id", "integer"), ("title", "text"), ("available_from", "date"), ("listed_at", "date")], key=["id"]
    )
    assert drafted(flats)["flats"]["date"] == "listed_at"
