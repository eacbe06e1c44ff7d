"""How long a reader takes, in seconds of this thread's processor, so that a busy machine changes nothing; nor does what else the
process keeps, which each search for garbage would read. A bound is told in pieces of a work that stays the same, done right after
what is held to it: a slow machine, or one that is slow for a moment, takes as many of them.
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
    """Reading took so long that nobody waited for its end."""


def assert_linear(read: Callable[[str], object], hostile: Callable[[int], str], length: int) -> None:
    """`read` takes about twice as long for a text of twice the `length`. Where it does not, longer texts decide: what is
    quadratic stays so however long they are, and a single step, such as memory to be asked for anew beyond some size, does not.
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
    """How many times as long `twice` takes as `once`, or 0.0 where it takes too little to tell: of each the least of some tries
    counts, since another's work on the same processor makes any of them longer, and none shorter.
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
    """How many pieces of work this thread's processor does in so many seconds now: by the longer of two."""
    longest = 0.0
    for _ in range(2):
        start = time.thread_time()
        counts = {str(number): number for number in PIECE_OF_WORK}
        sorted(counts, key=lambda text: counts[text] % 997)
        longest = max(longest, time.thread_time() - start)
    return seconds / longest


@contextmanager
def _alone() -> Iterator[None]:
    """Without the search for garbage meanwhile, and stopped after STOPPED_AFTER_SECONDS."""

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
    """Texts of `piece` over and over, between `before` and `after`, by their length."""

    def text(length: int) -> str:
        room = length - len(before) - len(after)
        return before + (piece * (room // len(piece) + 1))[:room] + after

    return text
