"""Contact details: unlocked once for a credit, and read nowhere but here."""

from __future__ import annotations

from quarry.people.access.credits import UNLOCK_PRICE, balance_of, spend
from quarry.people.access.searches import as_uuid, hold_people, open_result
from quarry.people.contract import Contact, UnlockResponse
from quarry.platform.errors import Forbidden
from quarry.platform.metrics import CREDITS_SPENT
from quarry.postgres.pool import Connection
from quarry.services.services import Caller, Services

NOT_OPEN = "This person is open neither to work nor to contact."


async def unlock_contact(person_id: str, search_id: str, caller: Caller, services: Services) -> UnlockResponse:
    """The contact details of a person whom the caller's search found. The first unlock costs a credit, later ones nothing.

    Raises NotFound, Gone, Forbidden where the person is open to neither work nor contact, and PaymentRequired; then nothing is
    unlocked or charged.
    """
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
    if charged:
        services.metrics.count(CREDITS_SPENT, UNLOCK_PRICE)
    return UnlockResponse(charged=charged, balance=balance, contact=contact)


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
