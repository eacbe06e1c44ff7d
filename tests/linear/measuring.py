"""Measures how long a reader takes, in CPU seconds of this thread, so that other processes do not matter; nor do other objects
in memory, which garbage collection would scan. Bounds are in units of a fixed piece of work, run right after the measurement,
so that a slow machine, or a slow moment, affects both.
"""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

RATIO_MAX = 3.0
"""Twice the text may take so many times as long: 2 where reading is linear, 4 where it is quadratic."""
TOO_LITTLE_TO_COMPARE = 0.008
TRIES = 12
DOUBLINGS = 3
STOPPED_AFTER_SECONDS = 10.0
PIECE_OF_WORK = range(20_000)
"""What `pieces_of_work` makes texts of, looks up and puts in order: about 5 ms of a fast machine."""
SECONDS_OF_A_PIECE_MIN = 0.002
"""No machine does a piece of work in less."""


class Stopped(AssertionError):
    """Reading took so long that it was stopped."""


def assert_linear(read: Callable[[str], object], hostile: Callable[[int], str], length: int) -> None:
    """Asserts that `read` takes about twice as long for a text of twice the `length`. If not, longer texts decide: quadratic
    time remains at any length, while a single step, such as a larger memory allocation, does not.
    """
    ratios = []
    for doubled in range(DOUBLINGS):
        once, twice = (hostile(length << step) for step in (doubled, doubled + 1))
        read(once[:100])
        ratio = _ratio(read, once, twice)
        if ratio < RATIO_MAX:
            return
        ratios.append(f"{ratio:.1f}")
    raise AssertionError(f"twice the text took {', then '.join(ratios)} times as long: {once[:60]!r}…")


def _ratio(read: Callable[[str], object], once: str, twice: str) -> float:
    """How many times as long `twice` takes as `once`, or 0.0 if it is too short to measure. The minimum of several tries
    counts, because other work on the CPU can only make a try longer.
    """
    least_once = least_twice = float("inf")
    for _ in range(TRIES):
        least_twice = min(least_twice, cpu_seconds(read, twice))
        if least_twice < TOO_LITTLE_TO_COMPARE:
            return 0.0
        least_once = min(least_once, cpu_seconds(read, once))
        if least_twice < RATIO_MAX * least_once:
            break
    return least_twice / least_once


def cpu_seconds(read: Callable[[str], object], text: str) -> float:
    """Raises Stopped after STOPPED_AFTER_SECONDS, within a pattern too."""
    with _alone():
        start = time.thread_time()
        read(text)
        return time.thread_time() - start


def pieces_of_work(seconds: float) -> float:
    """How many pieces of work this thread's CPU does in these seconds now: by the slower of two."""
    longest = 0.0
    for _ in range(2):
        start = time.thread_time()
        counts = {str(number): number for number in PIECE_OF_WORK}
        sorted(counts, key=lambda text: counts[text] % 997)
        longest = max(longest, time.thread_time() - start)
    return seconds / longest


@contextmanager
def _alone() -> Iterator[None]:
    """Without garbage collection, and stopped after STOPPED_AFTER_SECONDS."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped(f"reading had not ended after {STOPPED_AFTER_SECONDS} s of the processor")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, STOPPED_AFTER_SECONDS)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def repeated(piece: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """Texts that repeat `piece`, between `before` and `after`, by their length."""

    def text(length: int) -> str:
        room = length - len(before) - len(after)
        return before + (piece * (room // len(piece) + 1))[:room] + after

    return text
