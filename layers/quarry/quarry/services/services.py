"""What every search needs, built once per process. Nothing connects, imports a model or reads a secret before its first use."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

from quarry.models.answers import OutputLimits
from quarry.models.circuit_breaker import CircuitBreaker, GuardedChat
from quarry.models.connections import ANSWER_BYTES_MAX, BedrockConnection, OpenAIConnection, import_boto, import_openai
from quarry.models.interface import ChatModel, EmbeddingModel, Prices
from quarry.models.query_embedding import QueryEmbedder
from quarry.platform.budget import Budget
from quarry.platform.errors import ConfigurationError
from quarry.platform.secrets import Secret, api_key_secret, database_secret
from quarry.platform.settings import Settings
from quarry.platform.telemetry import Metrics, Tracing
from quarry.postgres import connections
from quarry.postgres.connections import Address, IamAddress
from quarry.postgres.pool import Database
from quarry.postgres.reader import Reader, Replica
from quarry.runs.run_log import Run, RunLog
from quarry.services.tenants import Memory, Quotas, Tenants
from quarry.streaming.runs import RunStore, RunStreams

TUNED_NAMES = ("records_semantic_weight", "company_semantic_weight", "company_keyword_weight", "company_niche_weight")
"""The settings that a database can store."""


def with_weights(settings: Settings, stored: Mapping[str, float]) -> Settings:
    """The settings, with stored weights where the environment sets none."""
    return settings.model_copy(
        update={name: stored[name] for name in TUNED_NAMES if name in stored and name not in settings.model_fields_set}
    )


async def stored_weights(database: Database) -> dict[str, float]:
    """The stored weights by the name of their setting. Raises DatabaseUnavailable."""
    rows = await database.rows("select name, weight from tuned_weights order by name")
    return {row["name"]: row["weight"] for row in rows}


LOCAL_USER = "demo"
"""The local user who gives no name."""

_PROVIDERS = {"openai": "openai", "bedrock": "aws.bedrock", "local": "local"}
"""The names of providers in traces, by their names in the settings."""


@dataclass(frozen=True)
class Caller:
    """The verified caller. `user_id` goes into every scoped query. `claims` is what else the token says; `sub` is always the same
    as `user_id`.
    """

    user_id: str
    claims: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "claims", {**self.claims, "sub": self.user_id})


@dataclass(frozen=True)
class Services:
    """`chat` is None where no chat model is configured: the fallbacks answer.

    `reader` is for reads that may be seconds old: a Reader if there is a replica, else `database`. `memory` holds values that are
    read now and then. `breakers` has those of remote models, as "chat" and "embedding". `tenants` is None without TENANT_CLAIM,
    and in the services of a tenant, which alone have `quotas`.
    """

    settings: Settings
    database: Database
    reader: Database
    chat: ChatModel | None
    embeddings: EmbeddingModel
    queries: QueryEmbedder
    run_log: RunLog
    streams: RunStreams
    memory: Memory
    metrics: Metrics
    tracing: Tracing
    breakers: Mapping[str, CircuitBreaker] = field(default_factory=dict, hash=False)
    tenants: Tenants | None = None
    quotas: Quotas | None = None

    @property
    def rows_max(self) -> int:
        """How many rows may be held; 0: any number."""
        return self.quotas.rows if self.quotas else 0

    async def of(self, caller: Caller) -> Services:
        """The services that a caller may use: those of the caller's tenant. Raises Forbidden where there is none, and
        DatabaseUnavailable.
        """
        return self if self.tenants is None else await self.tenants.services_of(caller, self)

    async def tuned_settings(self) -> Settings:
        """The settings with the weights that this database stores, where the environment sets none. They are read once.

        Raises DatabaseUnavailable.
        """
        stored = await self.memory.read("tuned weights", lambda: stored_weights(self.database), seconds=math.inf)
        return with_weights(self.settings, stored)

    @contextmanager
    def run(
        self,
        domain: str,
        caller: Caller,
        query: str,
        request: Mapping[str, Any],
        budget: Budget | None = None,
        request_id: str | None = None,
        run_id: UUID | None = None,
    ) -> Iterator[Run]:
        """A run of a search, which the run log records at the end of the block. `request` is the request to repeat it. Without a
        `budget` no model is called.
        """
        chat = self.chat if budget else None
        budget = budget or Budget.without_model(self.settings.database_timeout_seconds)
        budget.patience = self.settings.model_timeout_seconds
        run = Run(domain, caller.user_id, query, budget, chat, request_id, run_id or uuid4(), request=request)
        with self.run_log.record(run):
            yield run

    def acting(self, settings: Mapping[str, str]) -> Services:
        """The same services, with databases whose transactions begin with these settings."""
        if not settings:
            return self
        database = self.database.acting(settings)
        return replace(
            self, database=database, reader=database if self.reader is self.database else self.reader.acting(settings)
        )

    async def drain(self) -> None:
        """Finish writing the runs that have ended."""
        await asyncio.gather(*(each.run_log.drain() for each in (self, *(self.tenants or ()))))

    async def close(self) -> None:
        """Finish pending writes, then close everything."""
        await self.streams.close()
        await asyncio.gather(*(each.run_log.close() for each in (self, *(self.tenants or ()))))
        if self.chat is not None:
            await self.chat.close()
        await self.embeddings.close()
        await self.reader.close()
        await self.database.close()
        if self.tenants is not None:
            await self.tenants.close()
        await self.tracing.close()


def build_services(settings: Settings, address: Address | None = None) -> Services:
    """Build the services. `address` overrides the setting, for the embedded Postgres.

    Raises ConfigurationError if there is no database URL.
    """
    database = Database(
        address or database_address(settings),
        pool_size=settings.database_pool_size,
        timeout_seconds=settings.database_timeout_seconds,
        schema=settings.database_schema,
        pooled=settings.database_pooled,
        # a Lambda does one thing at a time
        sets_aside=not settings.aws_lambda_function_name,
        wake_seconds=settings.database_wake_seconds,
    )
    reader = _build_reader(settings, database)
    embeddings, chat = build_embedding_model(settings), _build_chat_model(settings)
    metrics = Metrics()
    breakers: dict[str, CircuitBreaker] = {}
    if chat is not None:
        breakers["chat"] = _breaker(chat.name, settings)
    if settings.embeddings != "local":
        breakers["embedding"] = _breaker(embeddings.name, settings)
    return Services(
        settings=settings,
        database=database,
        reader=reader,
        chat=GuardedChat(chat, breakers["chat"], _PROVIDERS[settings.model_provider]) if chat else None,
        embeddings=embeddings,
        queries=QueryEmbedder(embeddings, reader, breakers.get("embedding"), _PROVIDERS[settings.embeddings]),
        run_log=RunLog(database, metrics, Prices(settings.model_prompt_price, settings.model_completion_price)),
        streams=RunStreams(
            RunStore(database.background),
            grace_seconds=settings.stream_grace_seconds,
            # a Lambda is frozen when it has answered
            unattended_max=0 if settings.aws_lambda_function_name else settings.database_pool_size // 2,
        ),
        memory=Memory(),
        metrics=metrics,
        tracing=Tracing(settings.traces_endpoint),
        breakers=breakers,
        tenants=Tenants(settings.tenant_claim) if settings.tenant_claim else None,
    )


def _breaker(model: str, settings: Settings) -> CircuitBreaker:
    return CircuitBreaker(
        model, failures_max=settings.model_failures_max, patience_seconds=settings.model_timeout_seconds
    )


def _build_reader(settings: Settings, database: Database) -> Database:
    if settings.database_reader_url is None:
        return database
    replica = Replica(
        _address(settings, settings.database_reader_url.get_secret_value()),
        pool_size=settings.database_pool_size,
        timeout_seconds=settings.database_timeout_seconds,
        schema=settings.database_schema,
        pooled=settings.database_pooled,
        lag_seconds=settings.database_reader_lag_seconds,
    )
    return Reader(database, replica)


def database_address(settings: Settings) -> str | Secret:
    """The URL of the database, or the secret with it. Raises ConfigurationError if neither is set."""
    url = settings.database_url.get_secret_value() if settings.database_url else ""
    if not settings.names_database:
        raise ConfigurationError("Neither DATABASE_URL nor DATABASE_SECRET_ARN is set.")
    return _address(settings, url)


def _address(settings: Settings, url: str) -> str | Secret:
    address = database_secret(settings.database_secret_arn, value=url) if settings.database_secret_arn else url
    return IamAddress(address) if settings.database_iam else address


def read_database_url(settings: Settings) -> str:
    """The URL of the database, read now. Raises ConfigurationError, and Unavailable if its secret cannot be read."""
    address = database_address(settings)
    return address if isinstance(address, str) else address.read_now()


def import_what_services_use(settings: Settings) -> None:
    """Import the packages that are otherwise imported on first use, so that a snapshot of the process contains them."""
    if settings.has_openai:
        import_openai()
    if "bedrock" in (settings.model_provider, settings.embeddings):
        import_boto()
    if settings.embeddings == "local":
        from quarry.models.local_embedding import LocalEmbedding

        LocalEmbedding.import_numpy()
    if settings.database_iam:
        connections.import_sdk()
    if settings.database_secret_arn or settings.openai_secret_arn:
        import aws_lambda_powertools.utilities.parameters  # noqa: F401


def build_embedding_model(settings: Settings) -> EmbeddingModel:
    if settings.embeddings == "local":
        from quarry.models.local_embedding import LocalEmbedding

        return LocalEmbedding()
    from quarry.models.served_embedding import VECTORS_BYTES_MAX, BedrockEmbedding, OpenAIEmbedding

    if settings.embeddings == "bedrock":
        return BedrockEmbedding(_bedrock(settings), settings.bedrock_embedding_model, settings.embedding_dimensions)
    connection = _openai(settings, max_bytes=VECTORS_BYTES_MAX)
    return OpenAIEmbedding(connection, settings.openai_embedding_model, settings.embedding_dimensions)


def _build_chat_model(settings: Settings) -> ChatModel | None:
    if not settings.has_chat_model:
        return None
    limits = OutputLimits(
        decision_tokens=settings.model_decision_tokens,
        reasoning_tokens=settings.model_reasoning_tokens,
        answer_tokens=settings.model_answer_tokens,
        tokens_field=settings.openai_tokens_field,
    )
    if settings.model_provider == "bedrock":
        from quarry.models.bedrock_model import BedrockChat

        return BedrockChat(_bedrock(settings), settings.bedrock_model, limits)
    from quarry.models.openai_model import OpenAIChat

    return OpenAIChat(_openai(settings), settings.openai_model, limits)


def _bedrock(settings: Settings) -> BedrockConnection:
    return BedrockConnection(
        settings.bedrock_region, settings.bedrock_url, settings.model_max_retries, settings.model_timeout_seconds
    )


def _openai(settings: Settings, max_bytes: int = ANSWER_BYTES_MAX) -> OpenAIConnection:
    """Raises ConfigurationError if the key or the base URL is invalid, or both are missing."""
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    return OpenAIConnection(
        api_key_secret(settings.openai_secret_arn) if settings.openai_secret_arn else key,
        settings.openai_base_url,
        settings.model_max_retries,
        settings.model_timeout_seconds,
        max_bytes=max_bytes,
    )
