"""HTTP for what a user keeps: conversations and saved searches. No one else's are ever read or changed."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter

from quarry.kept import storage
from quarry.kept.contract import (
    Conversation,
    ConversationChange,
    ConversationEntry,
    Conversations,
    NewConversation,
    NewSavedSearch,
    Opened,
    Opening,
    SavedSearch,
    SavedSearchChange,
    SavedSearches,
)
from quarry.platform.errors import Forbidden, NotFound
from quarry.web.problems import documented
from quarry.web.requests import PlainCaller, ServicesDependency

router = APIRouter(tags=["kept"], prefix="/me")


@router.get("/conversations")
async def list_conversations(caller: PlainCaller, services: ServicesDependency) -> Conversations:
    """Your conversations, the latest first, without their turns."""
    return Conversations(conversations=await storage.list_conversations(services.database, caller.user_id))


@router.post("/conversations", status_code=201, responses=documented(Forbidden))
async def keep_conversation(body: NewConversation, caller: PlainCaller, services: ServicesDependency) -> Conversation:
    """Keep a conversation: up to 200, of 50 turns and 200,000 bytes each."""
    return await storage.keep_conversation(services.database, caller.user_id, body)


@router.get("/conversations/{id}", responses=documented(NotFound))
async def read_conversation(id: UUID, caller: PlainCaller, services: ServicesDependency) -> Conversation:
    """A whole conversation of yours. No model is called, and nothing is charged."""
    return await storage.read_conversation(services.database, caller.user_id, id)


@router.patch("/conversations/{id}", responses=documented(NotFound))
async def change_conversation(
    id: UUID, body: ConversationChange, caller: PlainCaller, services: ServicesDependency
) -> ConversationEntry:
    """Rename a conversation of yours, or replace its turns."""
    return await storage.change_conversation(services.database, caller.user_id, id, body)


@router.delete("/conversations/{id}", status_code=204, responses=documented(NotFound))
async def delete_conversation(id: UUID, caller: PlainCaller, services: ServicesDependency) -> None:
    """Delete a conversation of yours."""
    await storage.delete_conversation(services.database, caller.user_id, id)


@router.get("/searches")
async def list_searches(caller: PlainCaller, services: ServicesDependency) -> SavedSearches:
    """Your saved searches, the latest first."""
    return SavedSearches(searches=await storage.list_searches(services.database, caller.user_id))


@router.post("/searches", status_code=201, responses=documented(Forbidden))
async def save_search(body: NewSavedSearch, caller: PlainCaller, services: ServicesDependency) -> SavedSearch:
    """Save a search, with what it shows now: up to 100."""
    return await storage.save_search(services.database, caller.user_id, body)


@router.patch("/searches/{id}", responses=documented(NotFound))
async def rename_search(
    id: UUID, body: SavedSearchChange, caller: PlainCaller, services: ServicesDependency
) -> SavedSearch:
    """Rename a saved search of yours."""
    return await storage.rename_search(services.database, caller.user_id, id, body.name)


@router.delete("/searches/{id}", status_code=204, responses=documented(NotFound))
async def delete_search(id: UUID, caller: PlainCaller, services: ServicesDependency) -> None:
    """Delete a saved search of yours."""
    await storage.delete_search(services.database, caller.user_id, id)


@router.post("/searches/{id}/opened", responses=documented(NotFound))
async def open_search(id: UUID, body: Opening, caller: PlainCaller, services: ServicesDependency) -> Opened:
    """Say what a saved search of yours shows now, after it was run again by its own route; the answer says what of it is new."""
    return await storage.open_search(services.database, caller.user_id, id, body.results)
