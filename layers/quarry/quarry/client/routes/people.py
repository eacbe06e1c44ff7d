"""People, and the credits that searching them costs."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from quarry.client.calls import given, route
from quarry.client.wire import Sent
from quarry.people.contract import (
    Constraints,
    DiscoverRequest,
    DiscoverResponse,
    GatedProfile,
    PeopleSearchRequest,
    PeopleSearchResponse,
)


class PeopleRoutes:
    @route("POST /people/search", PeopleSearchResponse)
    def search_people(
        self,
        query: str,
        *,
        open_to_work_only: bool | None = None,
        preferred_locations: Sequence[str] | None = None,
        salary_min: float | None = None,
        salary_max: float | None = None,
        constraints: Constraints | None = None,
        idempotency_key: str | None = None,
        only_kept: bool = False,
    ) -> Sent:
        """The people who fit best, at most five, with reasons. Costs one credit, however often it has to be sent: all tries of a
        call have one key. Name a key of your own to be answered as before in a later call, for nothing; with `only_kept` that
        call never searches: NotFound where nothing is kept under the key.
        """
        body = given(
            PeopleSearchRequest,
            query=query,
            open_to_work_only=open_to_work_only,
            preferred_locations=preferred_locations,
            salary_min=salary_min,
            salary_max=salary_max,
            constraints=constraints,
        )
        return Sent(
            query={"only_kept": "true"} if only_kept else None,
            body=body,
            headers={"Idempotency-Key": idempotency_key or str(uuid4())},
        )

    @route("GET /people", DiscoverResponse)
    def people(self, *, limit: int | None = None, cursor: str | None = None) -> Sent:
        """Everyone with a visible card, by name, a page at a time: `next_cursor` leads to the next one."""
        return Sent(query=given(DiscoverRequest, limit=limit, cursor=cursor))

    @route("GET /people/{id}", GatedProfile)
    def person(self, id: str, *, search_id: str) -> Sent:
        """A person whom a search of yours found, with contact details once you have unlocked them."""
        return Sent(path={"id": id}, query={"search_id": search_id})
