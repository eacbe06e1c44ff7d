"""Methods made from docs/api/openapi.json by tools/client_routes.py; `make docs` writes this file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, Literal

from quarry.campaigns.contract import Campaign
from quarry.client.calls import request_of, route, with_values
from quarry.client.exchange import CallInput
from quarry.companies.contract import Company
from quarry.kept.contract import (
    Conversation,
    ConversationChange,
    ConversationEntry,
    Conversations,
    NewConversation,
    NewSavedSearch,
    Opened,
    Opening,
    ResultKey,
    SavedSearch,
    SavedSearchChange,
    SavedSearches,
    Turn,
)
from quarry.ontology.contract import OntologySearchRequest, OntologySearchResponse, WholeEntity
from quarry.people.contract import CreditBalance, PublicProfile, UnlockRequest, UnlockResponse
from quarry.query.contract import Explanation, ExplanationRequest
from quarry.records.contract import Collections, OwnAnswer, ShareRequest, WholeRecord
from quarry.web.contract import Feedback, PageConfig


class GeneratedRoutes:
    @route("POST /query/explain", Explanation)
    def explain(
        self,
        question: str,
        *,
        query: Mapping[str, Any] | None = None,
        sources: Sequence[str] | None = None,
        domain: str | None = None,
        after: str | None = None,
    ) -> CallInput:
        """How a question is read without a chat model: what its words may mean, the likeliest queries, and the unread
        words.
        """
        return CallInput(
            body=request_of(
                ExplanationRequest, question=question, query=query, sources=sources, domain=domain, after=after
            )
        )

    @route("GET /collections", Collections)
    def collections(self) -> CallInput:
        """The types of record, and what they can be filtered and counted by; of these and every other source the fields
        that a Query can name.
        """
        return CallInput()

    @route("GET /records/{type}/{id}", WholeRecord)
    def record(self, type: str, id: str) -> CallInput:
        """One whole record with what it is part of."""
        return CallInput(path={"type": type, "id": id})

    @route("GET /me/answers/{id}", OwnAnswer)
    def own_answer(self, id: str) -> CallInput:
        """Whether an answer is yours, so that you can revoke it, and whether its link opens it."""
        return CallInput(path={"id": id})

    @route("POST /me/answers/{id}/share", NoneType)
    def share_answer(self, id: str, *, shared: bool | None = None) -> CallInput:
        """Share an answer of yours: whoever has its link can open it from now on."""
        return CallInput(path={"id": id}, body=request_of(ShareRequest, shared=shared))

    @route("DELETE /answers/{id}", NoneType)
    def revoke_answer(self, id: str) -> CallInput:
        """Revoke an answer of the caller's. Its link stops working."""
        return CallInput(path={"id": id})

    @route("GET /campaigns/{id}", Campaign)
    def campaign(self, id: str) -> CallInput:
        """One whole campaign."""
        return CallInput(path={"id": id})

    @route("GET /companies/{id}", Company)
    def company(self, id: str) -> CallInput:
        """One whole company."""
        return CallInput(path={"id": id})

    @route("POST /people/{id}/unlock-contact", UnlockResponse)
    def unlock_contact(self, id: str, search_id: str, *, idempotency_key: str | None = None) -> CallInput:
        """The contact details of a person whom a search of yours found. The first time costs one credit, later ones
        nothing.
        """
        return CallInput(
            path={"id": id},
            headers=with_values({"Idempotency-Key": idempotency_key}),
            body=request_of(UnlockRequest, search_id=search_id),
        )

    @route("GET /people/{id}/profile", PublicProfile)
    def profile(self, id: str) -> CallInput:
        """What everyone may see of a person: who they are and their visible cards."""
        return CallInput(path={"id": id})

    @route("GET /credits", CreditBalance)
    def credits(self) -> CallInput:
        """How many credits you have."""
        return CallInput()

    @route("POST /ontology/search", OntologySearchResponse)
    def search_ontology(
        self,
        query: str,
        *,
        project_id: str | None = None,
        types: Sequence[Literal["task", "plan", "goal", "milestone", "document", "output", "requirement"]]
        | None = None,
    ) -> CallInput:
        """The caller's own entities of every type, best first."""
        return CallInput(body=request_of(OntologySearchRequest, query=query, project_id=project_id, types=types))

    @route("GET /ontology/{type}/{id}", WholeEntity)
    def entity(
        self, type: Literal["task", "plan", "goal", "milestone", "document", "output", "requirement"], id: str
    ) -> CallInput:
        """One of the caller's entities, whole, with its project."""
        return CallInput(path={"type": type, "id": id})

    @route("GET /me/conversations", Conversations)
    def conversations(self) -> CallInput:
        """Your conversations, the latest first, without their turns."""
        return CallInput()

    @route("POST /me/conversations", Conversation, repeatable=False)
    def keep_conversation(
        self,
        domain: Literal["companies", "people", "records", "ontology", "campaigns"],
        turns: Sequence[Turn],
        *,
        title: str | None = None,
    ) -> CallInput:
        """Keep a conversation: up to 200, of 50 turns and 200,000 bytes each."""
        return CallInput(body=request_of(NewConversation, domain=domain, title=title, turns=turns))

    @route("GET /me/conversations/{id}", Conversation)
    def conversation(self, id: str) -> CallInput:
        """A whole conversation of yours. No model is called, and nothing is charged."""
        return CallInput(path={"id": id})

    @route("PATCH /me/conversations/{id}", ConversationEntry)
    def change_conversation(
        self, id: str, *, title: str | None = None, turns: Sequence[Turn] | None = None
    ) -> CallInput:
        """Rename a conversation of yours, or replace its turns."""
        return CallInput(path={"id": id}, body=request_of(ConversationChange, title=title, turns=turns))

    @route("DELETE /me/conversations/{id}", NoneType)
    def delete_conversation(self, id: str) -> CallInput:
        """Delete a conversation of yours."""
        return CallInput(path={"id": id})

    @route("GET /me/searches", SavedSearches)
    def saved_searches(self) -> CallInput:
        """Your saved searches, the latest first."""
        return CallInput()

    @route("POST /me/searches", SavedSearch, repeatable=False)
    def save_search(
        self,
        domain: Literal["companies", "people", "records", "ontology", "campaigns"],
        query: str,
        *,
        name: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        results: Sequence[ResultKey] | None = None,
    ) -> CallInput:
        """Save a search, with what it shows now: up to 100."""
        return CallInput(
            body=request_of(
                NewSavedSearch, domain=domain, query=query, name=name, parameters=parameters, results=results
            )
        )

    @route("PATCH /me/searches/{id}", SavedSearch)
    def rename_search(self, id: str, name: str) -> CallInput:
        """Rename a saved search of yours."""
        return CallInput(path={"id": id}, body=request_of(SavedSearchChange, name=name))

    @route("DELETE /me/searches/{id}", NoneType)
    def delete_search(self, id: str) -> CallInput:
        """Delete a saved search of yours."""
        return CallInput(path={"id": id})

    @route("POST /me/searches/{id}/opened", Opened, repeatable=False)
    def open_search(self, id: str, results: Sequence[ResultKey]) -> CallInput:
        """Say what a saved search of yours shows now, after it was run again by its own route; the answer says what of it
        is new.
        """
        return CallInput(path={"id": id}, body=request_of(Opening, results=results))

    @route("DELETE /runs/{id}", NoneType)
    def cancel_run(self, id: str) -> CallInput:
        """End a running stream of the caller's, in whatever process it runs; its last event is then an error. `id` is the
        first part of its events' ids.
        """
        return CallInput(path={"id": id})

    @route("POST /runs/{id}/feedback", NoneType)
    def give_feedback(self, id: str, helpful: bool, *, reason: str | None = None) -> CallInput:
        """Say whether a run of the caller's helped; later feedback replaces earlier feedback."""
        return CallInput(path={"id": id}, body=request_of(Feedback, helpful=helpful, reason=reason))

    @route("GET /config.json", PageConfig)
    def config(self) -> CallInput:
        """What the page needs to know: domains that hold data, sign-in, path prefix, examples."""
        return CallInput()
