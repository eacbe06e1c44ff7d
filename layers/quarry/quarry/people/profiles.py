"""Profiles of people: the list of all, the public profile, and the profile within a search of the caller.

Hidden cards appear nowhere.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from psycopg.sql import SQL, Identifier
from pydantic import ValidationError

from quarry.language.messages import gettext_noop
from quarry.people.access import open_result, read_contact
from quarry.people.contract import DiscoveredPerson, DiscoverRequest, DiscoverResponse, GatedProfile, PublicProfile
from quarry.platform.contract import LazyModel
from quarry.platform.errors import FieldError, InvalidInput, NotFound
from quarry.platform.text import CleanText
from quarry.platform.text import Identifier as IdentifierText
from quarry.postgres.pool import Connection, Database
from quarry.services.services import Caller, Services

SUMMARIES_PER_PERSON = 3
"""How many summaries of the latest cards the list shows."""

BAD_CURSOR = "cursor: take the `next_cursor` of an earlier page as it is"

# as in describe_people
_LATEST_FIRST = SQL("c.end_date desc nulls first, c.start_date desc nulls last, c.id")

_PROFILE = SQL("select {} from people p where p.id = %s").format(
    SQL(", ").join(Identifier("p", field) for field in PublicProfile.model_fields if field != "cards")
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
    id: IdentifierText


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
