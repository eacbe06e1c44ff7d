"""Numbers that are reckoned from columns: a grammar of its own, and nothing else of SQL."""

from __future__ import annotations

import pytest

from quarry.collections.expression import expression_columns, expression_sql
from quarry.retrieval.facets import identifier


def test_columns_numbers_and_signs_are_reckoned_as_people_write_them() -> None:
    sql = expression_sql('price * "Count of items" - (1 - coalesce(rebate, 0)) / -2.5', lambda name: identifier(name))
    assert sql == '(("price" * "Count of items") - ((1 - coalesce("rebate", 0)) / nullif((- 2.5), 0)))'
    assert expression_columns("a + b * a") == ("a", "b")


@pytest.mark.parametrize(
    "text",
    ["", "1 + 2", "price *", "(price", "price; drop table x", "sum(price)", "price % 2", "a" * 301],
)
def test_what_is_no_such_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        expression_columns(text)
