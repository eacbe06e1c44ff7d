"""What the tests of linear work hold readers to."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.linear import measuring
from tests.linear.measuring import RATIO_MAX, assert_linear, repeated

Cost = Callable[[int], float]


def taking(seconds: Cost, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], object]:
    """A reader that takes so many seconds of the processor for a text of a length."""
    monkeypatch.setattr(measuring, "cpu_seconds", lambda read, text: read(text))
    return lambda text: seconds(len(text))


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(lambda length: 1e-9 * length**2, id="quadratic"),
        pytest.param(lambda length: 1e-9 * length**2 + 1e-6 * length, id="quadratic and linear"),
        pytest.param(lambda length: 1e-12 * length**3, id="cubic"),
    ],
)
def test_what_takes_more_than_its_length_is_found(seconds: Cost, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match="times as long"):
        assert_linear(taking(seconds, monkeypatch), repeated("a"), 10_000)


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(lambda length: 1e-6 * length, id="linear"),
        pytest.param(lambda length: 1e-6 * length * (4 if length > 15_000 else 1), id="a step"),
        pytest.param(lambda length: 1e-16 * length**3, id="too little to tell"),
        pytest.param(lambda length: 0.1, id="constant"),
    ],
)
def test_what_takes_its_length_is_let_pass_and_so_is_a_single_step(
    seconds: Cost, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_linear(taking(seconds, monkeypatch), repeated("a"), 10_000)


def test_one_reading_that_was_held_up_is_no_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    held_up = iter([10 * RATIO_MAX])
    read = taking(lambda length: 1e-6 * length * next(held_up, 1.0), monkeypatch)
    assert_linear(read, repeated("a"), 10_000)


def test_a_pattern_that_backtracks_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "TRIES", 1)
    monkeypatch.setattr(measuring, "DOUBLINGS", 1)
    with pytest.raises(AssertionError, match="times as long"):
        assert_linear(re.compile("(a|a)*b").match, repeated("a"), 11)
