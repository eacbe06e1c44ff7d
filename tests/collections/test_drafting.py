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

from quarry.collections.catalog_reading import read_catalog, relations_of_schema
from quarry.collections.checking import check
from quarry.collections.declaration import Lines, read_declarations
from quarry.collections.declaration_parts import Referred
from quarry.collections.names import table_name
from quarry.collections.relations import Column, Reference, Relation, traits_of
from quarry.collections.secrets import suspicion
from quarry.collections.uses import referenced_tables
from quarry.models.local_embedding import LocalEmbedding
from quarry_map.drafting import SEARCHED_MAX, Draft, draft
from quarry_map.table_guess import date_kinds
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
    ("began", "ended", "days"), [("created", "Resolved on", '"Resolved on" - created'), ("seen_on", "paid_on", None)]
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
        ("deadline", "is_done", "boolean", "deadline < today and not is_done"),
        ("birth_date", "closed_at", "date", None),
    ],
)
async def test_what_is_due_and_not_done_is_overdue(due: str, other: str, type: str, overdue: str | None) -> None:
    bills = table("bills", [("id", "integer"), ("note", "text"), (due, "date"), (other, type)], key=["id"])
    made = draft("public", [bills], kinds=await date_kinds([bills], LocalEmbedding()))
    assert declared(made.text, bills)["bills"].get("predicates") == (overdue and {"overdue": overdue})


@pytest.mark.parametrize(
    ("columns", "measures"),
    [
        (["fee_eur"], {"total_fee_eur": {"sum": "fee_eur", "unit": "EUR"}}),
        (["total", "tax_amount"], {"sum_of_total": {"sum": "total"}, "total_tax_amount": {"sum": "tax_amount"}}),
        (["unit_price", "quantity"], {"total_amount": {"sum": "amount"}}),
        (["weight_kg"], None),
    ],
)
def test_sums_of_money_are_measures_to_uncomment(columns: Sequence[str], measures: dict[str, Any] | None) -> None:
    numbers = [(name, "numeric(10,2)") for name in columns]
    bills = table("bills", [("id", "integer"), ("note", "text"), *numbers], key=["id"])
    text = draft("public", [bills]).text
    assert "measures" not in collections_in(text)["bills"]
    assert declared(text.replace("# measures.", "measures."), bills)["bills"].get("measures") == measures


def test_a_column_that_names_owners_is_counted_by_and_one_that_holds_their_keys_keeps_rows_from_others() -> None:
    names = traits_of(["Hunan Broadcasting System (HBS)", "CCTV", "Mara Quill"] * 5)
    keys = traits_of(["ann", "bob", "c.lee@desk.example"] * 5)
    columns = [("id", "integer"), ("title", "text")]
    shows = table("shows", [*columns, column("owner", traits=names, distinct=3)], key=["id"], rows=200)
    notes = table("notes", [*columns, column("owner", traits=keys, distinct=3)], key=["id"], rows=200)
    made = draft("public", [shows, notes])
    assert declared(made.text, shows, notes)["shows"]["facets"] == {"owner": "value"}
    assert '# to show callers only their own rows: scope = "owner"' in made.text
    assert made.commented == ("notes",)


def facets_of(*columns: Column | tuple[str, str], name: str = "things", rows: int = 200) -> dict[str, Any]:
    """The facets that are drafted of a table with a key, a note and these columns."""
    made = table(name, [("id", "integer"), ("note", "text"), *columns], key=["id"], rows=rows)
    return dict(drafted(made)[name].get("facets", {}))


@pytest.mark.parametrize(
    ("discount", "expression"),
    [
        (column("discount_cents", "integer", least=0, most=1), "discount_cents / 100"),
        (column("rebate_cents", "integer", least=0, most=900), "rebate_cents / 100"),
        (column("discount_amount", "numeric(10,2)", least=0, most=0.9), None),
    ],
)
def test_a_discount_that_is_called_an_amount_is_no_share_of_the_price(discount: Column, expression: str | None) -> None:
    facets = facets_of(column("unit_price", "integer"), column("quantity", "integer"), discount)
    assert "amount" not in facets
    found = facets.get(discount.name.removesuffix("_cents"), facets.get(discount.name))
    assert found == ({"kind": "money", "expression": expression} if expression else "money")


def test_a_share_of_the_price_is_reckoned_in() -> None:
    share = column("discount", "numeric(10,2)", least=0, most=0.3)
    facets = facets_of(column("unit_price", "integer"), column("quantity", "integer"), share)
    assert facets["amount"]["expression"] == "unit_price * quantity * (1 - coalesce(discount, 0))"


@pytest.mark.parametrize("base", ["daterange", "datemultirange", "tstzrange", "tsrange", "int4range"])
def test_ranges_are_no_dates(base: str) -> None:
    span = replace(column("booked", "inet"), type=base, base=base, category="R")
    made = drafted(table("stays", [("id", "integer"), ("note", "text"), span], key=["id"]))["stays"]
    assert "date" not in made
    assert "booked" in made["fields"]


@pytest.mark.parametrize(
    ("rows", "job", "name", "title"),
    [
        ("staff", column("title"), column("name"), "name"),
        ("employees", column("title", distinct=-1), column("full_name", distinct=-1), "full_name"),
        ("crew", column("title", distinct=4), column("name", distinct=-1), "name"),
        ("films", column("title", distinct=-1), column("name", distinct=-1), "title"),
        ("talks", column("title", distinct=-1), column("speaker_name", distinct=-0.2), "title"),
    ],
)
def test_people_are_called_by_their_names_not_by_their_jobs(rows: str, job: Column, name: Column, title: str) -> None:
    made = table(rows, [("id", "integer"), job, name, ("hired_on", "date")], key=["id"], rows=300)
    assert drafted(made)[rows]["title"] == title


def test_a_reference_keeps_its_name_as_a_link() -> None:
    status = column("status", distinct=3)
    shipments = table("shipments", [("id", "integer"), status], key=["id"], rows=200)
    columns = [("id", "integer"), ("note", "text"), ("shipment_id", "integer")]
    reference = Reference(("shipment_id",), shipments.qualified, ("id",))
    boxes = table("boxes", columns, key=["id"], rows=200, references=[reference])
    made = drafted(shipments, boxes)["boxes"]
    assert made["links"] == {"shipment": "shipment_id"}
    assert made["facets"]["status"]["by"] == "shipment_id"


@pytest.mark.parametrize(
    ("comment", "type", "synonyms"),
    [
        ("0 = idle, 1 = running, 2 = broken", "integer", {"idle": "0", "running": "1", "broken": "2"}),
        ("State: 0 - new; 1 - in progress", "integer", {"new": "0", "in progress": "1"}),
        ("low (1), high (2)", "integer", {"low": "1", "high": "2"}),
        ("'Q': queued, 'D': done", "varchar(40)", {"queued": "Q", "done": "D"}),
    ],
)
def test_codes_that_a_comment_explains_are_values_with_names(comment: str, type: str, synonyms: dict[str, str]) -> None:
    facet = facets_of(column("phase", type, comment=comment, distinct=3, width=1))["phase"]
    assert facet == {"kind": "value", "column": "phase", "synonyms": synonyms}


@pytest.mark.parametrize("comment", ["Set by hand, see page 3", "1 = one", "kg per m2: at 20 C"])
def test_other_comments_explain_no_codes(comment: str) -> None:
    assert facets_of(column("phase", "integer", comment=comment)) == {"phase": "number"}


@pytest.mark.parametrize(
    ("values", "kind"), [("YN", "boolean"), (["yes", "No"], "boolean"), ("MF", "value"), ("Y", "value")]
)
def test_texts_that_say_yes_and_no_are_truths(values: Sequence[str], kind: str) -> None:
    assert facets_of(column("insured", traits=traits_of([*values] * 5), distinct=2, width=2)) == {"insured": kind}


def test_seconds_since_1970_are_told_and_not_summed() -> None:
    seen = column("seen_at", "bigint", least=1.7e9, most=1.8e9)
    made = draft("public", [table("visits", [("id", "integer"), ("note", "text"), seen], key=["id"])])
    assert "seen_at" not in collections_in(made.text)["visits"].get("facets", {})
    assert "# seen_at holds seconds since 1970" in made.text
    assert "to_timestamp(seen_at)" in made.text


def test_names_in_any_script_are_names_of_collections_and_facets() -> None:
    orders = table("Заказы", [("id", "integer"), ("Сумма", "integer"), ("Скидка %", "integer")], key=["id"])
    made = drafted(orders)["заказы"]
    facets = {"сумма": {"kind": "number", "column": "Сумма"}, "скидка": {"kind": "number", "column": "Скидка %"}}
    assert made["facets"] == facets


@pytest.fixture(scope="module")
def schemas(server_url: str) -> Drafts:
    """What is drafted of each schema: the draft, and what it declares, which the catalog bears out."""
    found = {}
    for name in SCHEMAS:
        with opened(server_url, name) as (_, connection):
            made = draft("public", relations_of_schema(connection, "public"))
            read = read_declarations(made.text)
            known = read_catalog(connection, referenced_tables(read))
            assert check(read, known, Lines(made.text, "quarry.toml"), own_schema="quarry").errors == [], name
            found[name] = made, collections_in(made.text)
    return found


def test_a_table_is_drafted_with_all_that_its_columns_are_for(schemas: Drafts) -> None:
    made, collections = schemas["library"]
    book, facets = collections["book"], collections["book"]["facets"]
    assert (book["source"], book["title"], book["cite"]) == ("public.book", "title", ["description"])
    assert book["text"] == {"title": "A", "description": "B"}
    plain = {"print_year": "year", "loan_fee": "money", "pages": "number", "audience": "value", "editions": "array"}
    assert {name: facets[name] for name in plain} == plain
    assert facets["language"] == {"kind": "value", "by": "language_id", "of": "public.language", "title": "name"}
    through = {"through": "public.book_author", "of": "public.author"}
    assert facets["author"] == {"kind": "array", "title": "{first_name} {last_name}", **through}
    assert "# left out: fulltext (tsvector)\n" in made.text
    assert {*made.skipped} == {"letter_2030", "letter_2031", "loans_by_category", "payment_2030", "reader_list"}
    assert all(f"#   {name}: {reason}\n" in made.text for name, reason in made.skipped.items())


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


def taken_in(made: Draft) -> str:
    """The draft with what it comments out in use."""
    head, _, rest = made.text.partition("\n# Private: these rows")
    rows = rest.partition("\n# Left out:")[0]
    return head + re.sub(r"^# ?", "", rows.partition("\n\n")[2], flags=re.MULTILINE)


def test_messages_and_what_belongs_to_them_are_commented_out() -> None:
    people = table("users", [("id", "integer"), ("name", "text")], key=["id"])
    ends = ("sender_id", "recipient_id")
    columns = [("id", "integer"), ("body", "text"), *((end, "integer") for end in ends)]
    to_people = [Reference((end,), people.qualified, ("id",)) for end in ends]
    letters = table("letters", columns, key=["id"], references=to_people)
    to_letters = [Reference(("letter_id",), letters.qualified, ("id",))]
    columns = [("id", "integer"), ("name", "text"), ("letter_id", "integer")]
    tables = [people, letters, table("parts", columns, key=["id"], references=to_letters)]
    made = draft("public", tables)
    assert (made.collections, made.commented) == (("users",), ("letters", "parts"))
    assert '# scope = "recipient_id"\n# scope_setting = "app.caller"\n' in made.text
    assert [*declared(taken_in(made), *tables)] == ["users", "letters", "parts"]


def test_names_are_written_so_that_they_are_read_again(schemas: Drafts) -> None:
    _, collections = schemas["odd_names"]
    assert collections["select_2"]["facets"]["select_2_limit"] == {"kind": "number", "column": "limit"}
    assert collections["a_b_c"]["text"] == {'na"me': "A", "it's": "D", "back\\slash": "D"}
    assert collections["line_end"]["source"] == 'public."line\nend"'
    [other_script] = [each for name, each in collections.items() if not name.isascii()]
    assert other_script["text"] == {"題名": "B", "本文": "C"}


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
    assert {name: each["sync"] for name, each in collections_in(made.text).items()} == {"read_only": "sweep"}
    assert [*made.skipped] == ["closed", "guarded"]


_ALPHABET = st.characters(codec="utf-8", exclude_characters="\x00")
_PARTS = """id name title first_ last_ _at created_ updated_ password token body status city country url price type from _id
    account_""".split()
_NAMES = st.one_of(
    st.text(_ALPHABET, min_size=1, max_size=12), st.lists(st.sampled_from(_PARTS), min_size=1, max_size=3).map("".join)
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


@settings(max_examples=40, deadline=None)
@given(schema_of_any_kind())
def test_a_draft_of_any_tables_fits_them_and_tells_no_secret(relations: list[Relation]) -> None:
    made = draft("public", relations)
    declared(taken_in(made), *relations)
    collections = declared(made.text, *relations)
    assert sorted(collections) == sorted(made.collections)
    assert sum("text" in each for each in collections.values()) <= SEARCHED_MAX
    assert len(made.collections) + len(made.commented) + len(made.skipped) == len(relations)
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
