"""Credits, stored searches, contact details and profiles.

A credit balance and the ledger entry that changes it are written by one statement, so the balance is always the ledger's sum, and
the database refuses one below zero. A search opens its results to its caller until it expires. Contact details are unlocked once
for a credit, and read nowhere but here. It imports neither the search nor a model.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from psycopg import sql
from psycopg.sql import SQL
from psycopg.types.json import Jsonb
from pydantic import ValidationError

from quarry.language.messages import gettext_noop
from quarry.people.contract import (
    Constraints,
    Contact,
    DiscoveredPerson,
    DiscoverRequest,
    DiscoverResponse,
    GatedProfile,
    PublicProfile,
    UnlockResponse,
)
from quarry.platform.contract import LazyModel, Request
from quarry.platform.errors import FieldError, Forbidden, Gone, InvalidInput, NotFound, PaymentRequired
from quarry.platform.settings import Settings
from quarry.platform.telemetry import CREDITS_SPENT
from quarry.platform.text import CleanText, Identifier
from quarry.postgres.pool import Connection, Database
from quarry.runs.idempotency import Claim, KeyedRequest, once
from quarry.services.services import LOCAL_USER, Caller, Services
from quarry.services.tenants import Quotas

if TYPE_CHECKING:
    from quarry.people.filters import CardFilters
    from quarry.people.ranking import RankedPerson

SEARCH_PRICE = 1
UNLOCK_PRICE = 1
LOCAL_USER_CREDITS = 100
GRANT_MAX = 1_000_000

NOT_ENOUGH = gettext_noop("You have no credits left.")
TENANT_NOT_ENOUGH = gettext_noop("Your organization has no credits left; ask its administrator.")

Reason = Literal["initial", "grant", "search", "unlock"]

NO_SUCH_RESULT = gettext_noop("None of your searches with this id found this person.")
EXPIRED = gettext_noop("This search has expired; search again.")

ENDPOINT = "POST /people/{id}/unlock-contact"
NOT_OPEN = gettext_noop("This person is open neither to work nor to contact.")


@dataclass(frozen=True)
class LedgerEntry:
    """One booking. `amount` is below zero where credits were spent; `reference` is the search, person or grant it was for."""

    amount: int
    reason: Reason
    reference: str
    created_at: datetime.datetime


def opening_balance(settings: Settings, user_id: str) -> int:
    """The credits that a user begins with."""
    is_local_user = settings.identity == "local" and user_id == LOCAL_USER
    return LOCAL_USER_CREDITS if is_local_user else settings.initial_credits


async def balance_of(connection: Connection, settings: Settings, user_id: str) -> int:
    """The user's credits, or their opening balance if they have no account yet."""
    cursor = await connection.execute("select balance from credit_accounts where user_id = %s", [user_id])
    row = await cursor.fetchone()
    return opening_balance(settings, user_id) if row is None else int(row["balance"])


async def open_account(connection: Connection, settings: Settings, user_id: str) -> int:
    """The balance of the user's account. Opens the account if there is none."""
    # the statement does not see an account that another call opens meanwhile: then it runs again
    while True:
        cursor = await connection.execute(
            """with known as (
                 select balance from credit_accounts where user_id = %(user_id)s
               ), opened as (
                 insert into credit_accounts (user_id, balance)
                 select %(user_id)s, %(opening)s where not exists (select from known)
                 on conflict do nothing
                 returning balance
               ), entry as (
                 insert into credit_ledger (user_id, amount, reason, reference)
                 select %(user_id)s, balance, 'initial', %(user_id)s from opened where balance > 0
               )
               select balance from known union all select balance from opened""",
            {"user_id": user_id, "opening": opening_balance(settings, user_id)},
        )
        if row := await cursor.fetchone():
            return int(row["balance"])


async def spend(
    connection: Connection, user_id: str, credits: int, reason: Reason, reference: str, quotas: Quotas | None = None
) -> int:
    """Book `credits` off an account that is open, and off a tenant's `quotas`; the new balance.

    Raises PaymentRequired where there are too few; the transaction must end with that.
    """
    balance = await _book(connection, user_id, -credits, reason, reference)
    if balance is None:
        raise PaymentRequired(NOT_ENOUGH)
    if quotas is not None:
        # last, since all users of the tenant wait from here for the end of the transaction
        booking = await connection.execute(
            """insert into credits_spent as s (credits) select %(credits)s where %(max)s = 0 or %(credits)s <= %(max)s
               on conflict (is_only) do update set credits = s.credits + excluded.credits
               where %(max)s = 0 or s.credits + excluded.credits <= %(max)s""",
            {"credits": credits, "max": quotas.credits},
        )
        if not booking.rowcount:
            raise PaymentRequired(TENANT_NOT_ENOUGH)
    return balance


async def require_credits_of_tenant(connection: Connection, credits: int, quotas: Quotas | None) -> None:
    """Raise PaymentRequired if the users of a tenant have fewer `credits` left together; `spend` checks again."""
    if quotas is not None and quotas.credits:
        cursor = await connection.execute(
            "select from credits_spent where credits + %s > %s", [credits, quotas.credits]
        )
        if await cursor.fetchone() is not None:
            raise PaymentRequired(TENANT_NOT_ENOUGH)


async def grant(database: Database, settings: Settings, user_id: str, credits: int) -> int:
    """Give a user `credits`, 1 to GRANT_MAX; the new balance."""
    async with database.transaction() as connection:
        await open_account(connection, settings, user_id)
        balance = await _book(connection, user_id, credits, "grant", str(uuid.uuid4()))
    assert balance is not None
    return balance


async def _book(connection: Connection, user_id: str, amount: int, reason: Reason, reference: str) -> int | None:
    """The balance after a booking. None, with nothing booked, if it would be below zero or there is no account."""
    cursor = await connection.execute(
        """with account as (
             update credit_accounts set balance = balance + %(amount)s
             where user_id = %(user_id)s and balance + %(amount)s >= 0
             returning balance
           ), entry as (
             insert into credit_ledger (user_id, amount, reason, reference)
             select %(user_id)s, %(amount)s, %(reason)s, %(reference)s from account
           )
           select balance from account""",
        {"user_id": user_id, "amount": amount, "reason": reason, "reference": reference},
    )
    row = await cursor.fetchone()
    return None if row is None else int(row["balance"])


async def latest_entries(connection: Connection, user_id: str, limit: int) -> list[LedgerEntry]:
    """The last bookings on a user's account, newest first."""
    cursor = await connection.execute(
        """select amount, reason, reference, created_at from credit_ledger
           where user_id = %s order by entry_number desc limit %s""",
        [user_id, limit],
    )
    return [LedgerEntry(**row) async for row in cursor]


@dataclass(frozen=True)
class OpenedResult:
    """A result that its caller may open. `reachable`: the person is open to work or to contact."""

    why_matched: list[str]
    reachable: bool


async def hold_people(connection: Connection, person_ids: Sequence[str]) -> set[str]:
    """The ids of the people who still exist, locked until the end of the transaction."""
    cursor = await connection.execute("select hold_people(%s) as id", [list(person_ids)])
    return {row["id"] async for row in cursor}


async def store_search(
    connection: Connection,
    *,
    search_id: uuid.UUID,
    user_id: str,
    constraints: Constraints,
    filters: CardFilters,
    fallback_tier: int,
    ranked: Sequence[RankedPerson],
    reasons: Mapping[str, Sequence[str]],
    lifetime_hours: float,
) -> None:
    """Store a search with its results, best first, and the reasons for each person by id."""
    await connection.execute(
        """insert into people_searches (id, user_id, query_text, parsed_constraints, filters, fallback_tier, expires_at)
           values (%s, %s, %s, %s, %s, %s, now() + make_interval(secs => %s))""",
        [
            search_id,
            user_id,
            constraints.query_original,
            Jsonb(constraints.model_dump(mode="json")),
            Jsonb(asdict(filters), dumps=partial(json.dumps, default=str)),
            fallback_tier,
            lifetime_hours * 3600,
        ],
    )
    if ranked:
        await connection.execute(
            """insert into people_search_results (search_id, person_id, rank, score, extra)
               select %s, r.* from unnest(%s::text[], %s::int[], %s::float8[], %s::jsonb[]) r""",
            [
                search_id,
                [each.person_id for each in ranked],
                list(range(1, len(ranked) + 1)),
                [each.score for each in ranked],
                [
                    Jsonb(
                        {
                            "matched_parent_ids": each.matched_card_ids,
                            "matched_child_ids": each.matched_child_ids,
                            "why_matched": reasons[each.person_id],
                        }
                    )
                    for each in ranked
                ],
            ],
        )


async def open_result(connection: Connection, user_id: str, search_id: str, person_id: str) -> OpenedResult:
    """The result of a search of this user's. Raises NotFound where there is none, Gone where the search has expired."""
    cursor = await connection.execute(
        """select s.expires_at <= now() as expired, r.extra -> 'why_matched' as why_matched,
             p.open_to_work or p.open_to_contact as reachable
           from people_searches s join people_search_results r on r.search_id = s.id join people p on p.id = r.person_id
           where s.id = %s and s.user_id = %s and r.person_id = %s""",
        [as_uuid(search_id), user_id, person_id],
    )
    row = await cursor.fetchone()
    if row is None:
        raise NotFound(NO_SUCH_RESULT)
    if row["expired"]:
        raise Gone(EXPIRED)
    return OpenedResult(row["why_matched"], row["reachable"])


def as_uuid(text: str) -> uuid.UUID | None:
    """The id in `text`; None if it is not one."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


class _Unlock(Request):
    """The request that the idempotency key of an unlock stands for."""

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
        # contact details are not stored with the answer: they are read only while the person is open to contact
        contact = await read_contact(connection, caller.user_id, search_id, person_id)
    if contact is None:
        raise Forbidden(NOT_OPEN)
    return answer.model_copy(update={"contact": contact})


async def _unlock(
    person_id: str, search_id: str, caller: Caller, services: Services, claim: Claim | None
) -> UnlockResponse:
    user_id = caller.user_id
    async with services.database.transaction() as connection:
        # waits for a deletion of this person that is under way, and then does not find them
        await hold_people(connection, [person_id])
        result = await open_result(connection, user_id, search_id, person_id)
        if not result.reachable:
            raise Forbidden(NOT_OPEN)
        # of simultaneous unlocks, one inserts the row and pays; the others wait for it and find the row
        unlock = await connection.execute(
            """insert into contact_unlocks (user_id, person_id, search_id) values (%s, %s, %s)
               on conflict (user_id, person_id) do nothing""",
            [user_id, person_id, as_uuid(search_id)],
        )
        charged = unlock.rowcount == 1
        if charged:
            balance = await spend(
                connection, user_id, UNLOCK_PRICE, "unlock", f"{search_id}/{person_id}", services.quotas
            )
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
        "select email, phone, links from contact_of_person(%s, %s, %s)", [user_id, as_uuid(search_id), person_id]
    )
    row = await cursor.fetchone()
    return None if row is None else Contact(**row)


# ---- profiles: hidden cards appear nowhere ----

SUMMARIES_PER_PERSON = 3
"""How many summaries of the latest cards the list shows."""

BAD_CURSOR = "cursor: take the `next_cursor` of an earlier page as it is"

# as in describe_people
_LATEST_FIRST = SQL("c.end_date desc nulls first, c.start_date desc nulls last, c.id")

_PROFILE = SQL("select {} from people p where p.id = %s").format(
    SQL(", ").join(sql.Identifier("p", field) for field in PublicProfile.model_fields if field != "cards")
)
_FAMILIES = SQL(
    "select card_family(c) as family from experience_cards c where c.person_id = %s and c.visible order by {}"
).format(_LATEST_FIRST)
_DISCOVER = SQL(
    """select p.id, p.name, p.city, array(
         select c.summary from experience_cards c
         where c.person_id = p.id and c.visible and c.summary is not null
         order by {latest_first} limit %(summaries)s) as summaries
       from people p
       where exists (select from experience_cards c where c.person_id = p.id and c.visible) and {after}
       order by p.name is null, lower(coalesce(p.name, '')), p.id
       limit %(limit)s"""
)
_FROM_THE_START = SQL("true")
_AFTER = SQL(
    """(p.name is null, lower(coalesce(p.name, '')), p.id)
       > (%(name)s::text is null, lower(coalesce(%(name)s::text, '')), %(id)s::text)"""
)


class _Place(LazyModel):
    """The end of a page of the list."""

    name: CleanText | None
    id: Identifier


async def discover(request: DiscoverRequest, database: Database) -> DiscoverResponse:
    """A page of the people with a visible card, by name. Raises InvalidInput for a cursor that no page gave."""
    after = _decode(request.cursor) if request.cursor else None
    statement = _DISCOVER.format(latest_first=_LATEST_FIRST, after=_AFTER if after else _FROM_THE_START)
    fields: dict[str, Any] = after.model_dump() if after else {}
    # one row more shows whether a page follows
    rows = await database.rows(statement, fields | {"summaries": SUMMARIES_PER_PERSON, "limit": request.limit + 1})
    people = [DiscoveredPerson(**row) for row in rows[: request.limit]]
    more = len(rows) > len(people)
    return DiscoverResponse(
        people=people, next_cursor=_encode(_Place(name=people[-1].name, id=people[-1].id)) if more else None
    )


async def public_profile(person_id: str, database: Database) -> PublicProfile:
    """What everyone may see of a person. Raises NotFound."""
    return PublicProfile(**await database.read(lambda connection: _profile(connection, person_id)))


async def gated_profile(person_id: str, search_id: str, caller: Caller, services: Services) -> GatedProfile:
    """A person as the caller's search lets them be seen, with contact details once these were unlocked.

    Raises NotFound where it is not the caller's search or did not find the person, and Gone where it has expired.
    """
    async with services.database.transaction() as connection:
        result = await open_result(connection, caller.user_id, search_id, person_id)
        profile = await _profile(connection, person_id)
        contact = await read_contact(connection, caller.user_id, search_id, person_id)
    return GatedProfile(
        **profile,
        search_id=search_id,
        why_matched=result.why_matched,
        contact_unlocked=contact is not None,
        contact=contact,
    )


async def _profile(connection: Connection, person_id: str) -> dict[str, Any]:
    """The fields of a PublicProfile. Raises NotFound."""
    cursor = await connection.execute(_PROFILE, [person_id])
    person = await cursor.fetchone()
    if person is None:
        raise NotFound(gettext_noop("There is no person with this id."))
    families = await connection.execute(_FAMILIES, [person_id])
    return person | {"cards": [row["family"] async for row in families]}


def _encode(place: _Place) -> str:
    return base64.urlsafe_b64encode(place.model_dump_json().encode()).decode().rstrip("=")


def _decode(cursor: str) -> _Place:
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        return _Place.model_validate_json(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, UnicodeEncodeError, ValidationError):
        raise InvalidInput([FieldError("/cursor", BAD_CURSOR)]) from None
