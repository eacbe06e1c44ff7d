"""How tests wait for what must happen."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_SECONDS = 60.0
"""How long a busy machine may take for what a test waits for: reached only where it never comes."""

PAUSE_SECONDS = 0.01


def wait_until(condition: Callable[[], object]) -> None:
    """Look again and again until `condition` holds. Fails after PATIENCE_SECONDS."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(PAUSE_SECONDS)


class FakeClock:
    """Monotonic seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now
