"""Fitting and judging in several processes that share the weights. Each has its own databases.

All processes synchronise after a few questions, and their changes are added in a fixed order. So the same seed and number of
processes give the same weights.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from zlib import crc32

import psycopg

from quarry.platform.settings import DEFAULT_SCHEMA
from quarry.reader.features import DIMENSIONS
from tools.fit.pairs import Pair
from tools.fit.training import Fit
from tools.fit.world import World

ROUND = 4
"""Questions that a process reads between synchronisations."""
DOUBLE_BYTES = 8
Found = TypeVar("Found")


@dataclass(frozen=True)
class Place:
    """Where the databases are: the server, the folders to load from, and the folder with the results of queries."""

    url: str
    spider: Path
    own: Path
    kept: Path


def shared_weights(weights: Sequence[float]) -> memoryview[float]:
    """The weights in shared memory."""
    shared = memoryview(mmap.mmap(-1, DIMENSIONS * DOUBLE_BYTES)).cast("d")
    for place, weight in enumerate(weights):
        if weight:
            shared[place] = weight
    return shared


class Workers:
    """Processes that read pairs, each on its own databases, with weights that they share with this one."""

    def __init__(self, place: Place, weights: Sequence[float], number: int) -> None:
        context = get_context("fork")
        self._stack = ExitStack()
        self._pipes: list[Connection] = []
        for _ in range(number):
            own, other = context.Pipe()
            process = context.Process(target=_work, args=(other, place, weights), daemon=True)
            process.start()
            other.close()
            self._pipes.append(own)
            self._stack.callback(process.join)
            self._stack.callback(own.send, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, at: TracebackType | None
    ) -> None:
        self._stack.close()

    def each(self, task: Callable[[Fit, Pair], Found], pairs: Sequence[Pair]) -> Iterator[Found]:
        """The results of a task for each pair. They come in rounds, in the order of the processes."""
        waiting: list[list[Pair]] = [[] for _ in self._pipes]
        for pair in reversed(pairs):
            waiting[crc32(pair.database.encode()) % len(waiting)].append(pair)
        while any(waiting):
            busy: list[Connection] = []
            for pipe, own in zip(self._pipes, waiting, strict=True):
                if own:
                    pipe.send((task, [own.pop() for _ in range(min(ROUND, len(own)))]))
                    busy.append(pipe)
            for results in [pipe.recv() for pipe in busy]:
                yield from results


def _work(pipe: Connection, place: Place, weights: Sequence[float]) -> None:
    options = f"-c search_path=public,{DEFAULT_SCHEMA}"
    with psycopg.connect(place.url, autocommit=True, options=options) as connection:
        world = World(connection, place.spider, place.own, place.kept)
        fit = Fit(world, weights)
        given: tuple[Callable[[Fit, Pair], Any], list[Pair]] | None
        while (given := pipe.recv()) is not None:
            task, pairs = given
            pipe.send([task(fit, pair) for pair in pairs])
        world.keep()
