"""What chance may have done to a mean: the laws of the interval and of the paired test."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarry_tools.significance import EXACT_PAIRS_MAX, bootstrap_interval, randomisation_p

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=30)
DIFFERENCES = st.lists(st.floats(-1, 1), max_size=30)

laws = settings(max_examples=40)


@laws
@given(SHARES)
def test_an_interval_holds_the_mean_within_the_values(values: list[float]) -> None:
    low, high = bootstrap_interval(values)
    assert min(values) - 1e-9 <= low <= sum(values) / len(values) + 1e-9
    assert sum(values) / len(values) - 1e-9 <= high <= max(values) + 1e-9


def test_an_interval_of_a_share_draws_what_is_counted_with_what_it_is_of() -> None:
    assert bootstrap_interval([1, 2, 0], [2, 4, 0]) == (0.5, 0.5)
    with pytest.raises(ValueError):
        bootstrap_interval([0], [0])


@laws
@given(DIFFERENCES)
def test_the_paired_test_is_symmetric_in_the_two_runs_and_does_not_depend_on_order(differences: list[float]) -> None:
    p = randomisation_p(differences)
    assert 0 < p <= 1
    assert randomisation_p([-difference for difference in differences]) == pytest.approx(p)
    assert randomisation_p(differences[::-1]) == pytest.approx(p)


def test_few_pairs_are_tested_exactly_and_many_nearly_so() -> None:
    assert randomisation_p([]) == 1
    assert randomisation_p([0.3] * 5) == 2 / 2**5
    assert randomisation_p([0.1, 0.2, -0.3]) == 1
    assert randomisation_p([1.0] * 10) == 2 / 2**10
    # 3 of 14 against: the binomial's two-sided tail
    many = [1.0] * 11 + [-1.0] * 3
    assert len(many) > EXACT_PAIRS_MAX
    assert randomisation_p(many) == pytest.approx(0.0574, abs=0.01)
