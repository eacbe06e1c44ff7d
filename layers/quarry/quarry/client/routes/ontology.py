"""A project workspace."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.client.calls import given, route
from quarry.client.wire import Sent
from quarry.ontology.contract import EntityType, OntologySearchRequest, OntologySearchResponse, WholeEntity


class OntologyRoutes:
    @route("POST /ontology/search", OntologySearchResponse)
    def search_ontology(
        self, query: str, *, project_id: str | None = None, types: Sequence[EntityType] | None = None
    ) -> Sent:
        """Your own entities of every type, best first."""
        return Sent(body=given(OntologySearchRequest, query=query, project_id=project_id, types=types))

    @route("GET /ontology/{type}/{id}", WholeEntity)
    def entity(self, type: EntityType, id: str) -> Sent:
        """One of your entities, whole, with its project."""
        return Sent(path={"type": type, "id": id})
