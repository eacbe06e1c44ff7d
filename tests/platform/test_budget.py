from __future__ import annotations

from quarry.platform.budget import Budget


class FakeClock:
    """Monotonic seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make_budget(clock: FakeClock | None = None, *, reserved_seconds: float = 0.0) -> Budget:
    return Budget(
        max_turns=2,
        max_calls=3,
        max_seconds=60.0,
        max_tokens=100,
        reserved_seconds=reserved_seconds,
        clock=clock or FakeClock(),
    )


def test_the_reserve_ends_work_before_the_answer_must_end() -> None:
    clock = FakeClock()
    budget = make_budget(clock, reserved_seconds=20)
    clock.now += 39
    assert budget.seconds_for_work == 1
    assert budget.allows_turn()
    clock.now += 1
    assert not budget.allows_turn()
    assert (budget.seconds_for_work, budget.seconds_left) == (0, 20)


def test_turns_run_out() -> None:
    budget = make_budget()
    budget.spend_turn()
    assert budget.allows_turn()
    budget.spend_turn()
    assert not budget.allows_turn()
