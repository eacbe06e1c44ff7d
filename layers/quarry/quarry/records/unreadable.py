"""Collections that cannot be read are left out, and the others answer.

A table may be renamed, a grant revoked, a policy may raise. Nothing is checked before a search: statements read all collections
together. Where one fails, the work is tried with fewer of them until it is known which are to blame. These are left out for a
while, so that the next requests do not pay for it, and are then tried again.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from psycopg import Error as PostgresError

from quarry.platform.errors import InvalidInput, QuarryError, SourceUnavailable
from quarry.postgres.failures import lasting_fault, lasting_fault_of
from quarry.records.contract import RecordType
from quarry.records.searched_types import RecordTypes
from quarry.services.services import Memory

LEFT_OUT_SECONDS = 15.0
LOGGED_SECONDS = 600.0
"""A collection that is left out again and again is logged so often."""

_OF_DEFINITION = "42"
"""The class of faults that every caller meets: names, types, rights. What else a policy or view raises may depend on who asks."""

T = TypeVar("T")
Fault = tuple[RecordType, PostgresError]

logger = logging.getLogger(__name__)


async def over_readable(types: RecordTypes, memory: Memory, work: Callable[[RecordTypes], Awaitable[T]]) -> T:
    """What `work` makes of these types, without the collections that cannot be read.

    Raises SourceUnavailable where the work asks for these alone, and else as `work` does.
    """
    try:
        return await _over(types, work)
    except (PostgresError, QuarryError) as error:
        if lasting_fault(error) is None:
            raise
    found = await _find(_collections(types), [], types, work)
    for name, fault in found:
        leave_out(memory, name, fault, types.acts_as)
    return await _over(types.without([name for name, _ in found]), work)


def remembered(types: RecordTypes, memory: Memory, acts_as: str) -> list[RecordType]:
    """The collections that could not be read lately, by a caller of these settings, and those whose table is gone or renamed."""
    left_out = [
        name
        for name in _collections(types)
        if any(memory.holds(key, seconds=LEFT_OUT_SECONDS) for key in (_key(name), _key(name, acts_as)))
    ]
    gone = [each.name for each in types.values() if each.collection and not each.collection.has_source]
    for name in gone:
        _log(memory, name, "its table is gone or renamed")
    return list(dict.fromkeys((*left_out, *gone)))


def _collections(types: RecordTypes) -> list[RecordType]:
    return [each.name for each in types.values() if each.collection]


async def _over(types: RecordTypes, work: Callable[[RecordTypes], Awaitable[T]]) -> T:
    try:
        return await work(types)
    except InvalidInput as error:
        if left_out := types.left_out():
            # the request was valid for all types: what it asks for, those that are left out have
            raise SourceUnavailable(left_out) from error
        raise


async def _find(
    suspects: Sequence[RecordType],
    sound: Sequence[RecordType],
    types: RecordTypes,
    work: Callable[[RecordTypes], Awaitable[object]],
) -> list[Fault]:
    """Those of the suspects with which the work fails, together with those that are known to be sound; half of them at a time."""
    fault = await _fault(types.without({*_collections(types)} - {*sound, *suspects}), work)
    if fault is None:
        return []
    if len(suspects) <= 1:
        return [(name, fault) for name in suspects]
    half = len(suspects) // 2
    first = await _find(suspects[:half], sound, types, work)
    failing = {name for name, _ in first}
    sound = [*sound, *(name for name in suspects[:half] if name not in failing)]
    return [*first, *await _find(suspects[half:], sound, types, work)]


async def _fault(types: RecordTypes, work: Callable[[RecordTypes], Awaitable[object]]) -> PostgresError | None:
    # work that asks for other types is refused
    return await lasting_fault_of(work(types), no_fault=(InvalidInput, SourceUnavailable))


def leave_out(memory: Memory, name: RecordType, fault: PostgresError, acts_as: str) -> None:
    """Leave a collection out for a while: for everybody, or for callers of these settings where the fault may be theirs alone."""
    is_everybodys = (fault.sqlstate or "").startswith(_OF_DEFINITION)
    memory.keep(_key(name, "" if is_everybodys else acts_as), True)
    _log(memory, name, type(fault).__name__)


def _log(memory: Memory, name: RecordType, reason: str) -> None:
    """The collection and the kind of fault: its message may hold values."""
    key = f"logged {name}: {reason}"
    if not memory.holds(key, seconds=LOGGED_SECONDS):
        memory.keep(key, True)
        logger.warning("collection %s is left out: %s; `quarry doctor` says what to mend", name, reason)


def _key(name: RecordType, acts_as: str = "") -> str:
    return f"unreadable {name} {acts_as}"
