"""What is kept for you: conversations and saved searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

from quarry.client.calls import given, route
from quarry.client.wire import Sent
from quarry.kept.contract import (
    Conversation,
    ConversationChange,
    ConversationEntry,
    Conversations,
    Domain,
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


class KeptRoutes:
    @route("GET /me/conversations", Conversations)
    def conversations(self) -> Sent:
        """Your conversations, the latest first, without their turns."""
        return Sent()

    @route("POST /me/conversations", Conversation, repeatable=False)
    def keep_conversation(self, domain: Domain, turns: Sequence[Turn], *, title: str | None = None) -> Sent:
        """Keep a conversation."""
        return Sent(body=given(NewConversation, domain=domain, turns=turns, title=title))

    @route("GET /me/conversations/{id}", Conversation)
    def conversation(self, id: str) -> Sent:
        """A whole conversation of yours."""
        return Sent(path={"id": id})

    @route("PATCH /me/conversations/{id}", ConversationEntry)
    def change_conversation(self, id: str, *, title: str | None = None, turns: Sequence[Turn] | None = None) -> Sent:
        """Rename a conversation of yours, or replace its turns."""
        return Sent(path={"id": id}, body=given(ConversationChange, title=title, turns=turns))

    @route("DELETE /me/conversations/{id}", NoneType)
    def delete_conversation(self, id: str) -> Sent:
        """Delete a conversation of yours."""
        return Sent(path={"id": id})

    @route("GET /me/searches", SavedSearches)
    def saved_searches(self) -> Sent:
        """Your saved searches, the latest first."""
        return Sent()

    @route("POST /me/searches", SavedSearch, repeatable=False)
    def save_search(
        self,
        domain: Domain,
        query: str,
        *,
        name: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        results: Sequence[ResultKey] | None = None,
    ) -> Sent:
        """Save a search, with what it shows now."""
        body = given(NewSavedSearch, domain=domain, query=query, name=name, parameters=parameters, results=results)
        return Sent(body=body)

    @route("PATCH /me/searches/{id}", SavedSearch)
    def rename_search(self, id: str, name: str) -> Sent:
        """Rename a saved search of yours."""
        return Sent(path={"id": id}, body=given(SavedSearchChange, name=name))

    @route("DELETE /me/searches/{id}", NoneType)
    def delete_search(self, id: str) -> Sent:
        """Delete a saved search of yours."""
        return Sent(path={"id": id})

    @route("POST /me/searches/{id}/opened", Opened, repeatable=False)
    def open_search(self, id: str, results: Sequence[ResultKey]) -> Sent:
        """Say what a saved search of yours shows now, after you searched again; the answer says what of it is new."""
        return Sent(path={"id": id}, body=given(Opening, results=results))
