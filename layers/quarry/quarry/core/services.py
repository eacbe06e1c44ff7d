"""What every search needs, built once per process. Nothing here connects, imports a model or reads a secret before first use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from quarry.core.errors import ConfigurationError
from quarry.core.model.interface import ChatModel, EmbeddingModel
from quarry.core.model.local_embedding import LocalEmbedding
from quarry.core.model.openai_embedding import OpenAIEmbedding
from quarry.core.model.openai_model import OpenAIChat
from quarry.core.model.query_embedding import QueryEmbedder
from quarry.core.postgres.pool import Database
from quarry.core.run_log import RunLog
from quarry.core.settings import Settings


@dataclass(frozen=True)
class Caller:
    """Who asks, as verified. `user_id` goes into every scoped query."""

    user_id: str


@dataclass(frozen=True)
class Services:
    """`chat` is None where no chat model is configured: the stand-ins answer."""

    settings: Settings
    database: Database
    chat: ChatModel | None
    embeddings: EmbeddingModel
    queries: QueryEmbedder
    run_log: RunLog
    now: Callable[[], datetime]

    async def close(self) -> None:
        """Write what is still to be written, then close what was opened."""
        await self.run_log.drain()
        if self.chat is not None:
            await self.chat.close()
        await self.embeddings.close()
        await self.database.close()


def build_services(settings: Settings, database_url: str | None = None) -> Services:
    """Wire the services. `database_url` overrides the setting (the embedded Postgres has its own).

    Raises ConfigurationError when there is no database URL.
    """
    url = database_url or (settings.database_url.get_secret_value() if settings.database_url else None)
    if url is None:
        raise ConfigurationError("DATABASE_URL is not set.")
    database = Database(
        url,
        pool_size=settings.database_pool_size,
        timeout_seconds=settings.database_timeout_seconds,
        pooled=settings.database_pooled,
    )
    embeddings = build_embedding_model(settings)
    return Services(
        settings=settings,
        database=database,
        chat=_build_chat_model(settings),
        embeddings=embeddings,
        queries=QueryEmbedder(embeddings, database),
        run_log=RunLog(database),
        now=lambda: datetime.now(UTC),
    )


def build_embedding_model(settings: Settings) -> EmbeddingModel:
    if settings.embeddings == "local":
        return LocalEmbedding()
    return OpenAIEmbedding(
        api_key=_api_key(settings),
        base_url=settings.openai_base_url,
        model=settings.openai_embedding_model,
        dimensions=settings.embedding_dimensions,
        max_retries=settings.model_max_retries,
        timeout_seconds=settings.model_timeout_seconds,
    )


def _build_chat_model(settings: Settings) -> ChatModel | None:
    if not settings.has_chat_model:
        return None
    return OpenAIChat(
        api_key=_api_key(settings),
        base_url=settings.openai_base_url,
        model=settings.openai_model,
        max_retries=settings.model_max_retries,
        timeout_seconds=settings.model_timeout_seconds,
    )


def _api_key(settings: Settings) -> str | None:
    return settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
