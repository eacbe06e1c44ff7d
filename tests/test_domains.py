"""The one list of domains, and what is found by it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import quarry
from quarry import catalog
from quarry.companies import contract as companies
from quarry.companies.sources import COMPANIES
from quarry.domains import modules, searched_tables
from quarry.platform.contract import DOMAINS

PACKAGE = Path(quarry.__file__).parent


def test_every_folder_with_a_contract_is_a_domain() -> None:
    assert {path.parent.name for path in PACKAGE.glob("*/contract.py")} - {
        "answering",
        "kept",
        "platform",
        "query",
        "web",
    } == {*DOMAINS}


def test_each_domain_has_tables_that_are_searched() -> None:
    searched = searched_tables()
    assert [*searched] == [*DOMAINS]
    named = [name for tables in searched.values() for name in tables]
    assert [name for name in named if name in catalog.SEARCHED] == [*catalog.SEARCHED]
    assert {*named} - {*catalog.SEARCHED} == {"collections"}


def test_a_module_that_a_domain_lacks_is_left_out() -> None:
    assert "people" not in modules("model_answer")
    assert [*modules("routes")] == [*DOMAINS]


def test_a_condition_may_name_every_facet() -> None:
    assert {*get_args(companies.FieldName)} == {*COMPANIES.facets}
