"""Contact details: unlocked once for a credit, and read nowhere but here."""

from __future__ import annotations

from quarry.people.access.credits import UNLOCK_PRICE, balance_of, spend
from quarry.people.access.searches import as_uuid, hold_people, open_result
from quarry.people.contract import Contact, UnlockResponse
from quarry.platform.contract import Request
from quarry.platform.errors import Forbidden
from quarry.platform.metrics import CREDITS_SPENT
from quarry.platform.text import Identifier
from quarry.postgres.pool import Connection
from quarry.runs.idempotency import Claim, KeyedRequest, once
from quarry.services.services import Caller, Services

ENDPOINT = "POST /people/{id}/unlock-contact"
NOT_OPEN = "This person is open neither to work nor to contact."


class _Unlock(Request):
    """What a key of an unlock stands for."""

    person_id: Identifier
    search_id: Identifier


async def unlock_contact(
    person_id: str, search_id: str, caller: Caller, services: Services, *, idempotency_key: str | None = None
) -> UnlockResponse:
    """The contact details of a person whom the caller's search found. The first unlock costs a credit, later ones nothing; under
    a key that was used before it is answered as it was then.

    Raises NotFound, Gone, Forbidden where the person is open to neither work nor contact, PaymentRequired, and Conflict as `once`
    does; then nothing is unlocked or charged.
    """

    async def work(claim: Claim | None) -> UnlockResponse:
        return await _unlock(person_id, search_id, caller, services, claim)

    if idempotency_key is None:
        return await work(None)
    keyed = KeyedRequest.of(
        caller.user_id, ENDPOINT, idempotency_key, _Unlock(person_id=person_id, search_id=search_id)
    )
    answer = await once(services.database, keyed, UnlockResponse, work)
    async with services.database.transaction() as connection:
        # contact details are not kept with the answer: they are read while the person may be reached
        contact = await read_contact(connection, caller.user_id, search_id, person_id)
    if contact is None:
        raise Forbidden(NOT_OPEN)
    return answer.model_copy(update={"contact": contact})


async def _unlock(
    person_id: str, search_id: str, caller: Caller, services: Services, claim: Claim | None
) -> UnlockResponse:
    user_id = caller.user_id
    async with services.database.transaction() as connection:
        # who is being forgotten at this moment is waited for, and not found then
        await hold_people(connection, [person_id])
        result = await open_result(connection, user_id, search_id, person_id)
        if not result.reachable:
            raise Forbidden(NOT_OPEN)
        # of unlocks at once one inserts the row and pays; the others wait here for its end, and find it
        unlock = await connection.execute(
            """insert into contact_unlocks (user_id, person_id, search_id) values (%s, %s, %s)
               on conflict (user_id, person_id) do nothing""",
            [user_id, person_id, as_uuid(search_id)],
        )
        charged = unlock.rowcount == 1
        if charged:
            balance = await spend(connection, user_id, UNLOCK_PRICE, "unlock", f"{search_id}/{person_id}")
        else:
            balance = await balance_of(connection, services.settings, user_id)
        contact = await read_contact(connection, user_id, search_id, person_id)
        if contact is None:
            raise Forbidden(NOT_OPEN)
        response = UnlockResponse(charged=charged, balance=balance, contact=contact)
        if claim is not None:
            await claim.store(connection, response.model_copy(update={"contact": Contact()}))
    if charged:
        services.metrics.count(CREDITS_SPENT, UNLOCK_PRICE)
    return response


async def read_contact(connection: Connection, user_id: str, search_id: str, person_id: str) -> Contact | None:
    """How to reach a person, for a user who has unlocked it, within a search of theirs that found the person and has not expired;
    None otherwise, and while the person is open to neither work nor contact.
    """
    cursor = await connection.execute(
        "select email, phone, links from contact_of_person(%s, %s, %s)",
        [user_id, as_uuid(search_id), person_id],
    )
    row = await cursor.fetchone()
    return None if row is None else Contact(**row)
