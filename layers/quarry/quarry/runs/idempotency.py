"""Idempotency keys: a request that is sent twice with the same key runs once and gets the same answer twice.

The first call claims its key. Concurrent calls wait for its response, which is stored in the same transaction as the call's
effects. A claim is a lease, renewed while its call runs. If the process dies, another call takes it over, and a call that lost
its claim cannot store anything.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeVar

from psycopg.sql import SQL
from pydantic import BaseModel, StringConstraints

from quarry.platform.errors import Conflict
from quarry.platform.off_loop import leased
from quarry.postgres.pool import Connection, Database

LIFETIME_HOURS = 24
LEASE_SECONDS = 12.0
RENEWAL_SECONDS = 4.0
WAIT_SECONDS = 20.0
"""How long a call waits for the first call with the same key."""
FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 0.4
RETRY_AFTER_SECONDS = 5

OTHER_BODY = "This Idempotency-Key was used with another request; take a new one."
STILL_RUNNING = "The first request with this Idempotency-Key is still running; try again shortly."

KeyText = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=r"^[\x21-\x7e]+$")]
"""The header's value: 1 to 255 visible ASCII characters."""

Response = TypeVar("Response", bound=BaseModel)

# An expired key is free. So is a key whose call is gone, but only for the same body.
_FREE = SQL(
    "(k.expires_at <= now() or (k.response is null and k.claimed_until <= now() and k.body_hash = %(body_hash)s))"
)
_CLAIM = SQL(
    """insert into idempotency_keys as k (caller, endpoint, key, body_hash, claim, claimed_until, expires_at)
       values (%(caller)s, %(endpoint)s, %(key)s, %(body_hash)s, %(claim)s, now() + make_interval(secs => %(lease)s),
         now() + make_interval(hours => %(lifetime)s))
       on conflict (caller, endpoint, key) do update
       set body_hash = excluded.body_hash, claim = excluded.claim, claimed_until = excluded.claimed_until, response = null,
         expires_at = excluded.expires_at
       where {free}"""
).format(free=_FREE)
_EARLIER = SQL(
    """select k.body_hash = %(body_hash)s as same_body, k.response, {free} as free from idempotency_keys k
       where k.caller = %(caller)s and k.endpoint = %(endpoint)s and k.key = %(key)s"""
).format(free=_FREE)
_OWN = SQL(
    """where caller = %(caller)s and endpoint = %(endpoint)s and key = %(key)s and claim = %(claim)s
       and response is null"""
)
_RENEW = SQL("update idempotency_keys set claimed_until = now() + make_interval(secs => %(lease)s) {}").format(_OWN)
_STORE = SQL("update idempotency_keys set response = %(response)s {}").format(_OWN)
_RELEASE = SQL("delete from idempotency_keys {}").format(_OWN)


@dataclass(frozen=True)
class KeyedRequest:
    """A request with a key. A key belongs to one caller and endpoint, and stands for one body."""

    caller: str
    endpoint: str
    key: str
    body_hash: str

    @classmethod
    def of(cls, caller: str, endpoint: str, key: str, body: BaseModel) -> KeyedRequest:
        """Bodies are equal if they parse to the same values, whatever their formatting."""
        canonical = json.dumps(body.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return cls(caller, endpoint, key, hashlib.sha256(canonical.encode()).hexdigest())


@dataclass(frozen=True)
class Claim:
    """The right to answer a keyed request."""

    request: KeyedRequest
    id: uuid.UUID

    async def store(self, connection: Connection, response: BaseModel) -> None:
        """Stores the response in the transaction of `connection`. Raises Conflict if another call has taken over the claim."""
        cursor = await connection.execute(_STORE, _parameters(self) | {"response": response.model_dump_json()})
        if cursor.rowcount == 0:
            raise Conflict(STILL_RUNNING, retry_after_seconds=RETRY_AFTER_SECONDS)


async def once(
    database: Database,
    request: KeyedRequest,
    response_type: type[Response],
    work: Callable[[Claim], Awaitable[Response]],
) -> Response:
    """Returns the result of `work`, which must store it with its claim, or the stored one. An error in `work` releases the key.

    Raises Conflict if the key was used with another body, or if the first call still runs after WAIT_SECONDS.
    """
    claim = Claim(request, uuid.uuid4())
    stored = await _claim_or_wait(database, claim)
    if stored is not None:
        return response_type.model_validate_json(stored)
    renew, release = partial(database.execute, _RENEW, _parameters(claim)), partial(_release, database, claim)
    async with leased(renew, release, seconds=RENEWAL_SECONDS):
        return await work(claim)


async def _claim_or_wait(database: Database, claim: Claim) -> str | None:
    """Returns None once `claim` holds, or the response of the call that held it."""
    clock = asyncio.get_running_loop().time
    deadline, pause, may_be_free = clock() + WAIT_SECONDS, FIRST_PAUSE_SECONDS, True
    while clock() < deadline:
        if may_be_free and await database.execute(_CLAIM, _parameters(claim)):
            return None
        earlier = await database.row(_EARLIER, _parameters(claim))
        may_be_free = earlier is None or earlier["free"]
        if earlier is None or may_be_free:
            continue
        if not earlier["same_body"]:
            raise Conflict(OTHER_BODY)
        if earlier["response"] is not None:
            return str(earlier["response"])
        await asyncio.sleep(pause)
        pause = min(1.5 * pause, LONGEST_PAUSE_SECONDS)
    raise Conflict(STILL_RUNNING, retry_after_seconds=RETRY_AFTER_SECONDS)


async def _release(database: Database, claim: Claim) -> None:
    """Releases the key, unless a response was stored after all: a commit that failed for us may have gone through."""
    await database.execute(_RELEASE, _parameters(claim))


def _parameters(claim: Claim) -> dict[str, Any]:
    request = claim.request
    return {
        "caller": request.caller,
        "endpoint": request.endpoint,
        "key": request.key,
        "body_hash": request.body_hash,
        "claim": claim.id,
        "lease": LEASE_SECONDS,
        "lifetime": LIFETIME_HOURS,
    }
