"""What the guide says that a stack costs."""

from __future__ import annotations

import pytest

from tests.deployed.template import ROOT
from tools import costs
from tools.generate import with_costs


def test_the_guide_has_the_table_that_the_prices_give() -> None:
    page = (ROOT / "docs/deploy.md").read_text()
    assert page == with_costs(page), "run `make docs`"


def test_each_line_is_price_times_use() -> None:
    own, aurora = ({line.of: line.dollars for line in part} for part in costs.lines(costs.read_templates()))
    at_one = costs.RATES.index(1)
    assert own["API Gateway"][at_one] == pytest.approx(2.628 * 3.50)
    assert own["Lambda"][at_one] == pytest.approx(2.628e6 * (0.112 * 1769 / 1024 * 0.0000133334 + 0.0000002))
    assert own["traces"] == pytest.approx([0, 2.628 * 5, 2.628 * 1.45 * 5, 2.628 * 5.95 * 5])
    assert aurora["endpoint of Secrets Manager"][0] == pytest.approx(730 * 0.01)
    assert aurora["Aurora's units"][0] == pytest.approx(730 / 24 * 2 * 11 / 60 * 0.5 * 0.12)
    assert aurora["Aurora's units"][at_one] == pytest.approx(730 * 0.5 * 0.12)
    assert all(line == sorted(line) for line in [*own.values(), *aurora.values()])


def test_a_stack_over_ones_own_database_costs_nothing_at_rest_but_its_alarms_and_secret() -> None:
    own, aurora = costs.lines(costs.read_templates())
    at_rest = {line.of: line.dollars[0] for line in own if line.dollars[0]}
    assert at_rest == {"alarms and metrics": pytest.approx(0.4), "your database's secret": 0.4}
    assert sum(line.dollars[0] for line in aurora) < 11
