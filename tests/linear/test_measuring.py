"""What the tests of linear work hold readers to."""

from __future__ import annotations

import pytest

from tests.linear import measuring
from tests.linear.measuring import TOO_LITTLE_TO_COMPARE, assert_linear, cpu_seconds, repeated


def test_quadratic_work_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "TRIES", 2)

    def read(text: str) -> None:
        for start in range(0, len(text), 4):
            text[start:].count("zz")

    with pytest.raises(AssertionError, match="times as long"):
        assert_linear(read, repeated("a"), 6_000)


def test_a_step_is_not_taken_for_quadratic_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "TRIES", 2)

    def read(text: str) -> None:
        for _ in range(4 if len(text) > 15_000 else 1):
            for _ in range(10):
                text.count("zz")
                sorted(text)

    once, twice = repeated("ab")(10_000), repeated("ab")(20_000)
    assert cpu_seconds(read, twice) > max(4 * cpu_seconds(read, once), TOO_LITTLE_TO_COMPARE)
    assert_linear(read, repeated("ab"), 10_000)
