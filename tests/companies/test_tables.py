"""What a file of companies may hold, and what of a company is embedded."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from quarry import catalog
from quarry.companies.tables import EMBEDDED, CompanyRow
from tests.companies.seeded import Connection, add_company

ROW: dict[str, Any] = {"id": "c-1", "company_name": "Loop-Line"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("categories", ["x"] * 101),
        ("business_models", [""]),
        ("status", "dead"),
        ("founded_year", 20),
        ("total_funding_usd", 1.5),
        ("company_name", " "),
        ("tagline", "nul\0"),
        ("description", "x" * 20_001),
        ("id", "x" * 65),
        ("colour", "blue"),
    ],
)
def test_a_wrong_field_is_refused_by_its_name(field: str, value: object) -> None:
    with pytest.raises(ValidationError) as refused:
        CompanyRow.model_validate(ROW | {field: value})
    assert [error["loc"][0] for error in refused.value.errors()] == [field]


def test_the_profile_is_embedded_and_the_name_is_not(connection: Connection) -> None:
    add_company(
        connection,
        "a",
        tagline="Roofs",
        description="Long.",
        niches=["solar", "roofs"],
        categories=["Solar"],
        hq_city="Bonn",
    )
    row = connection.execute("select * from companies").fetchone()
    assert row is not None
    [table] = EMBEDDED
    assert catalog.EMBEDDED["companies"] is table
    assert table.texts(row._asdict()) == {"searchable_profile": "Roofs\nLong.\nsolar, roofs\nSolar"}


@pytest.mark.parametrize(
    ("column", "value", "changes"),
    [
        ("company_name", "Other", False),
        ("sectors", ["Fintech"], False),
        ("differentiator", "Cheap", True),
        ("categories", ["Solar"], True),
    ],
)
def test_a_company_waits_to_be_embedded_again_when_its_profile_changes(
    connection: Connection, column: str, value: object, changes: bool
) -> None:
    add_company(connection, "a", tagline="Roofs", niches=["solar"])
    connection.execute("update companies set embedded_hash = content_hash")
    connection.execute(f"update companies set {column} = %s".encode(), [value])
    row = connection.execute("select embedded_hash is distinct from content_hash as pending from companies").fetchone()
    assert row is not None
    assert row.pending is changes


def test_very_long_values_can_be_stored(connection: Connection) -> None:
    add_company(
        connection,
        "a",
        company_name="ž " * 1000,
        former_names=["ž" * 2000],
        website_url="https://" + "x" * 1900,
        description=" ".join(f"word{number}" for number in range(2000)),
        niches=["niche " * 33] * 100,
        sectors=["s" * 2000, None],
        categories=[""],
    )
    row = connection.execute("select company_name from search_exact_name_v1(%s)", ["ž " * 1000]).fetchone()
    assert row is not None
