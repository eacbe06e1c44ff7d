"""Wire types that belong to no domain: feedback, health, and the configuration of the page."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StringConstraints

from quarry.models.circuit_breaker import CircuitState
from quarry.platform.contract import LazyModel, Request
from quarry.platform.text import Storable

REASON_MAX_CHARACTERS = 2_000
"""The most characters of the reason in feedback."""


class Feedback(Request):
    """`POST /runs/{id}/feedback`."""

    helpful: StrictBool
    reason: (
        Annotated[str, StringConstraints(strip_whitespace=True, max_length=REASON_MAX_CHARACTERS), Storable] | None
    ) = Field(default=None, examples=["It answers another question."])


class Health(LazyModel):
    """`status` is "ok", or "unavailable" with 503 when the database does not answer. One that pauses when idle is "not asked",
    which would keep it awake, unless `deep` is given. `chat_model` is null without one.

    `models` says of each model on another machine whether it answers: "failing" while it is left alone because its calls kept
    failing, "recovering" while one call tries whether it answers again; fallbacks answer meanwhile. Absent without such models.

    `reader` says whether searches go to the replica ("ok") or to the database, while the replica lags ("behind") or does not
    answer ("unavailable"). Absent without one.
    """

    status: Literal["ok", "unavailable"]
    database: Literal["ok", "unavailable", "not asked"]
    embedding_model: str
    chat_model: str | None
    models: dict[Literal["chat", "embedding"], CircuitState] | None = None
    reader: Literal["ok", "behind", "unavailable"] | None = None


class SignIn(LazyModel):
    """How to sign in: authorization code with PKCE at the managed login under `domain`, asking for `scopes`. The access token
    is the API's bearer token.
    """

    domain: str
    client_id: str
    scopes: list[str]


class PageConfig(LazyModel):
    """`domains` are those that hold data; `sign_in` is null where nobody signs in; `prefix` comes before every path.
    `examples` are questions to try, for each domain whose sample data is loaded.
    """

    domains: list[str]
    sign_in: SignIn | None
    prefix: str
    examples: dict[str, list[str]] = {}
