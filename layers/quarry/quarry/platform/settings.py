"""Every setting of Quarry, read from the environment and validated once. No other module reads the environment.

`docs/settings.md` is generated from this class. The defaults work on a laptop without keys.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from quarry.platform.contract import LazyModel, plain_words
from quarry.platform.errors import ConfigurationError

LOCAL_EMBEDDING_MODEL = "all-MiniLM-L6-v2"
LOCAL_EMBEDDING_DIMENSIONS = 384

DEFAULT_SCHEMA = "quarry"

_ARN = r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:"
_LOGIN = r"(?:serving|loading)=(?:iam:[a-z_][a-z0-9_]*|arn:aws[a-z-]*:secretsmanager:[^,=]+)"
_LOGINS = f"^{_LOGIN}(?:,{_LOGIN})?$"


def setting(default: Any, description: str, **constraints: Any) -> Any:
    """A setting with its description in docs/settings.md."""
    return Field(default=default, description=description, **constraints)


class SettingFields(LazyModel):
    """The settings, by their environment variable in lower case. The order is that of docs/settings.md."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database_url: SecretStr | None = setting(
        None,
        "Postgres 15 or newer with pgvector 0.8 or newer, pg_trgm, btree_gin and fuzzystrmatch. Unset: the embedded "
        "Postgres.",
    )
    database_secret_arn: str | None = setting(
        None,
        "A secret in AWS Secrets Manager with the database URL as its text, as `url` of a JSON object, or as RDS's "
        "own JSON object. Parts of DATABASE_URL take precedence, such as the host of a proxy.",
        pattern=_ARN,
    )
    database_iam: bool = setting(
        False,
        "Connect to RDS or RDS Proxy as the URL's user with a token signed by the process's AWS credentials, without "
        "a password.",
    )
    database_logins: str | None = setting(
        None,
        "For the function `migrate`: the users that serve and load, as `serving=…,loading=…`, each a secret in RDS's "
        "format, or `iam:NAME`, a user without a password.",
        pattern=_LOGINS,
    )
    database_reader_url: SecretStr | None = setting(
        None,
        "A replica, or Aurora's reader endpoint. Searches and records by id are read there while it is up to date. "
        "DATABASE_SECRET_ARN fills in user and password.",
    )
    database_reader_lag_seconds: float = setting(
        5.0, "A replica further behind than this is not used until it has caught up.", gt=0, le=3600
    )
    database_schema: str = setting(
        DEFAULT_SCHEMA,
        "The schema with all of Quarry's tables and functions, created by `quarry migrate`. Two installations in one "
        "database need two.",
        pattern=r"^[a-z_][a-z0-9_]{0,62}$",
    )
    database_pooled: bool = setting(False, "True behind RDS Proxy or PgBouncer: prepared statements are turned off.")
    database_pool_size: int = setting(
        8,
        "The most connections of one process. Outside Lambda it opens up to three more, for health checks, for the "
        "page, and for the run log.",
        ge=1,
        le=100,
    )
    database_timeout_seconds: float = setting(
        10.0,
        "The longest that a statement or an idle transaction lasts; a wait for a lock ends after half of it.",
        gt=0,
        le=300,
    )
    database_wake_seconds: float = setting(
        0.0,
        "How long a paused database takes to wake (15 for an Aurora with a minimum of 0). Requests meanwhile get a "
        "503 with `Retry-After`. 0: it never pauses.",
        ge=0,
        le=120,
    )
    quarry_data_dir: Path = setting(Path(".quarry"), "Where the embedded Postgres keeps its data.")

    openai_api_key: SecretStr | None = setting(
        None, "Unset (and no OPENAI_BASE_URL): no chat model; the fallbacks answer."
    )
    openai_secret_arn: str | None = setting(
        None,
        "A secret in AWS Secrets Manager with the key as its text or as `api_key` of a JSON object. Replaces "
        "OPENAI_API_KEY.",
        pattern=_ARN,
    )
    openai_base_url: str | None = setting(None, "Any OpenAI-compatible server.")
    openai_model: str = setting("gpt-4o-mini", "The chat model.")
    openai_embedding_model: str = setting("text-embedding-3-small", "The embedding model.")
    model_provider: Literal["openai", "bedrock"] = setting(
        "openai",
        "The provider of the chat model. openai: OpenAI or OPENAI_BASE_URL; bedrock: Amazon Bedrock, with the role of"
        " the process.",
    )
    bedrock_model: str = setting(
        "amazon.nova-lite-v1:0",
        "The chat model at Bedrock: an id or ARN of a model or inference profile that supports tool choice (Amazon "
        "Nova, Anthropic Claude).",
        min_length=1,
    )
    bedrock_embedding_model: str = setting(
        "amazon.titan-embed-text-v2:0",
        "The embedding model at Bedrock: Titan Text Embeddings V2 (256, 512 or 1024 dimensions) or Cohere's Embed (3:"
        " 1024; 4: 256 to 1536).",
        min_length=1,
    )
    bedrock_region: str | None = setting(None, "Bedrock's region. Unset: that of the process.")
    bedrock_url: str | None = setting(
        None, "Another address of Bedrock, such as that of a VPC endpoint.", pattern=r"^https?://[^/\s]+"
    )
    embeddings: Literal["openai", "bedrock", "local"] = setting(
        "local",
        "The provider of embeddings. Default: bedrock with MODEL_PROVIDER=bedrock, openai if a key is set, else local.",
    )
    embedding_dimensions: int = setting(
        LOCAL_EMBEDDING_DIMENSIONS,
        "Dimensions of the stored vectors. Default: 384 with the local model, 1024 at Bedrock, else 1536.",
        ge=1,
        le=4000,
    )
    model_timeout_seconds: float = setting(
        20.0,
        "One model call takes no longer, its retries and its whole text included; nor do all calls of one request that bring "
        "neither a valid decision nor a result. What was not written by then is answered without a model.",
        gt=0,
        le=600,
    )
    model_max_retries: int = setting(
        2, "Retries of a model call after a 429, a 5xx or a broken connection.", ge=0, le=10
    )
    model_failures_max: int = setting(
        5,
        "Failures in a row after which a model is left alone for 2 seconds, doubling up to a minute. 0: never.",
        ge=0,
        le=1000,
    )
    model_decision_tokens: int = setting(
        6_000,
        "The most tokens of one structured decision, reasoning included. Lower it for a model with a small context.",
        ge=100,
    )
    model_reasoning_tokens: int = setting(
        4_000,
        "Tokens of thinking that a structured decision may take in addition to its own. 0 for a model that does not think.",
        ge=0,
    )
    model_answer_tokens: int = setting(3_000, "Tokens that it may write for one answer.", ge=100)
    openai_tokens_field: Literal["max_completion_tokens", "max_tokens"] | None = setting(
        None,
        "The name of the token limit in requests. Default: max_completion_tokens at OpenAI and Azure, max_tokens "
        "elsewhere.",
    )

    identity: Literal["local", "gateway"] = setting(
        "local",
        "local: the bearer token's text is the user; gateway: the verified Cognito `sub`. Default: gateway inside "
        "Lambda, where local is refused.",
    )
    tenant_claim: str | None = setting(
        None,
        "The claim of a verified token that names the caller's tenant, such as `custom:tenant`. Each tenant has its own data "
        "in a schema of its own (`quarry tenant add`); a caller of none gets a 403. Locally, `Bearer NAME@TENANT` is a user of "
        "TENANT. Unset: the installation serves its one schema.",
        pattern=r"^[A-Za-z0-9_:.\-/]{1,200}$",
    )
    tenant_requests_per_minute: int = setting(
        0,
        "Requests a minute for all users of a tenant together; 0: any number. `quarry tenant quota` sets another for one "
        "tenant, also of the next two.",
        ge=0,
    )
    tenant_rows: int = setting(0, "Rows that a tenant may hold; 0: any number.", ge=0)
    tenant_credits: int = setting(0, "Credits that the users of a tenant may spend in all; 0: any number.", ge=0)
    rate_limit_per_minute: int | None = setting(
        None,
        "Requests a minute for one user and class of route; 0 turns the limit off. Unset: 30 for routes that call a "
        "chat model, 600 for suggestions while somebody types, 120 for others.",
        ge=0,
    )
    heartbeat_seconds: float = setting(10.0, "A stream that is quiet this long sends a heartbeat.", gt=0, le=60)
    stream_grace_seconds: float = setting(
        10.0, "How long a search continues after its client lost the connection. 0: it ends.", ge=0, le=600
    )
    answer_lifetime_days: int = setting(30, "How long a finished answer can be opened.", ge=1)
    shared_answers: Literal["link", "explicit"] = setting(
        "link",
        "link: whoever has a finished answer's unguessable link can open it. explicit: only after its owner shared it.",
    )
    run_log_days: int = setting(90, "How long the run log is kept.", ge=1)
    records_ask_seconds: float = setting(60.0, "The longest that answering a question takes.", gt=0)
    records_ask_tokens: int = setting(60_000, "Model tokens that one answer may use.", ge=1000)
    records_semantic_weight: float = setting(
        0.4,
        "The weight of meaning in the ranking of records; words have the rest. It doubles where words match little. "
        "Unset: what `quarry tune` stored; the same holds for COMPANY_SEMANTIC_WEIGHT, COMPANY_KEYWORD_WEIGHT and "
        "COMPANY_NICHE_WEIGHT.",
        ge=0,
        le=1,
    )
    people_search_seconds: float = setting(
        15.0, "The longest that models may take in one people search; then fallbacks answer.", gt=0
    )
    people_search_tokens: int = setting(20_000, "Model tokens that one people search may use.", ge=1000)
    initial_credits: int = setting(
        10, "Credits of a new user. The local user `demo` begins with 100.", ge=0, le=1_000_000
    )
    search_result_expiry_hours: float = setting(
        24.0, "How long the people that a search found can be opened and unlocked.", gt=0, le=8760
    )
    company_planner: Literal["always", "auto", "never"] = setting(
        "auto", "Whether a chat model plans a company search. auto: not if the question is just a name in the taxonomy."
    )
    company_max_iterations: int = setting(10, "Rounds of one company search.", ge=1, le=50)
    company_max_tool_calls: int = setting(40, "Searches and look-ups of one company search.", ge=1, le=1000)
    company_max_seconds: float = setting(60.0, "The longest that a company search takes.", gt=0)
    company_max_tokens: int = setting(60_000, "Model tokens that one company search may use.", ge=1000)
    company_exact_name_min: float = setting(
        0.95, "A company whose name scores at least this is the one asked for.", ge=0, le=1
    )
    company_seed_name_min: float = setting(
        0.8, "A company whose name scores at least this is the one that others should resemble.", ge=0, le=1
    )
    company_confidence_target: float = setting(
        0.74, "A company search may stop when its ranking is this sure.", ge=0, le=1
    )
    company_accepted_confidence_min: float = setting(
        0.2, "Below this confidence, the answer says that no company fits.", ge=0, le=1
    )
    company_name_similarity_min: float = setting(0.35, "The least trigram similarity of a matching name.", ge=0, le=1)
    company_semantic_min: float = setting(
        0.25, "The least cosine similarity of a company that matches by meaning.", ge=-1, le=1
    )
    company_semantic_weight: float = setting(0.58, "Hybrid score: weight of the meaning.", ge=0, le=1)
    company_keyword_weight: float = setting(0.27, "Hybrid score: weight of the words.", ge=0, le=1)
    company_niche_weight: float = setting(0.15, "Hybrid score: weight of the niches.", ge=0, le=1)
    company_keyword_only_weight: float = setting(0.85, "Keyword score: weight of the words.", ge=0, le=1)
    company_niche_only_weight: float = setting(0.15, "Keyword score: weight of the niches.", ge=0, le=1)
    company_variants_executed: int = setting(6, "Phrasings searched for in one round.", ge=1, le=20)
    company_variants_held: int = setting(8, "The most phrasings waiting to be searched.", ge=1, le=50)
    company_retrieved_max: int = setting(120, "The most companies found for one phrasing.", ge=1, le=1000)
    company_taxonomy_max: int = setting(500, "The most companies found by the taxonomy.", ge=1, le=5000)
    company_hydrated_max: int = setting(80, "The most companies read in full.", ge=1, le=500)
    company_filtered_max: int = setting(40, "The most companies kept after filtering.", ge=1, le=500)
    company_reranked_max: int = setting(30, "The most companies ranked.", ge=1, le=100)
    company_reranked_share_min: float = setting(
        0.5,
        "Companies below this share of the best score are not sent to the ranking model, except the first ten.",
        ge=0,
        le=1,
    )
    model_prompt_price: float | None = setting(
        None,
        "US dollars per million tokens that the chat model reads. Unset: tokens are counted without a price.",
        ge=0,
    )
    model_completion_price: float | None = setting(
        None, "US dollars per million tokens that the chat model writes.", ge=0
    )
    campaigns_chat_seconds: float = setting(60.0, "The longest that an answer about campaigns takes.", gt=0)
    campaigns_chat_tokens: int = setting(60_000, "The most model tokens of one answer about campaigns.", ge=1000)
    otel_exporter_otlp_endpoint: str | None = setting(
        None,
        "An OpenTelemetry collector for OTLP over HTTP; `/v1/traces` is appended. Turns tracing on if the extra "
        "`otel` is installed. OpenTelemetry's other variables apply too.",
        pattern=r"^https?://[^/\s]+",
    )
    otel_exporter_otlp_traces_endpoint: str | None = setting(
        None, "The same as a complete address; takes precedence.", pattern=r"^https?://[^/\s]+"
    )
    otel_traces_exporter: str | None = setting(
        None, "otlp: trace requests, to http://localhost:4318 if no address is set. Any other value: do not."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = setting("INFO", "Least level logged.")
    aws_lambda_function_name: str | None = setting(None, "Set by AWS Lambda; not for you to set.")
    aws_lambda_function_version: str | None = setting(None, "Set by AWS Lambda; not for you to set.")
    aws_lambda_log_stream_name: str | None = setting(None, "Set by AWS Lambda, which reserves it; not for you to set.")
    aws_sam_local: bool = setting(False, "Set by `sam local`, whose gateway takes no stream; not for you to set.")

    # --- for the local server, and for pages of another origin
    quarry_allowed_hosts: str | None = setting(
        None,
        "Comma-separated names and addresses, without ports, that the local server accepts in `Host` and `Origin` in "
        "addition to loopback names.",
        pattern=r"^\s*[A-Za-z0-9._:\[\]-]*(\s*,\s*[A-Za-z0-9._:\[\]-]+)*\s*$",
    )
    allowed_origin: str | None = setting(
        None,
        "The origin whose pages may call the API from a browser, such as https://city.example.org, or * for any. "
        "Unset: only the service's own pages.",
        pattern=r"^(\*|https?://[^/\s]+)$",
    )


OPENAI_EMBEDDING_DIMENSIONS = 1536
BEDROCK_EMBEDDING_DIMENSIONS = 1024

EMULATED_LOG_STREAM = "$LATEST"
TRACES_COLLECTOR = "http://localhost:4318"
"""Where OpenTelemetry's convention looks for a collector."""


JSON_VARIABLE = "QUARRY_SETTINGS"
"""Holds settings as one JSON object, for a deployment that has one parameter for all of them."""


class Settings(SettingFields):
    """The settings from the environment."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Self:
        """Read and validate the settings. An empty variable counts as unset; NAME_FILE names the file of a secret.

        Raises ConfigurationError, naming each wrong variable.
        """
        source = _with_json(os.environ if environment is None else environment)
        set_values = {name: source[name.upper()] for name in cls.model_fields if source.get(name.upper())}
        set_values |= {name: _read_secret(name.upper(), source) for name in cls.secrets() if source.get(_file_of(name))}
        try:
            return cls.model_validate(set_values)
        except ValidationError as error:
            problems = (
                ": ".join([*(str(part).upper() for part in problem["loc"]), plain_words(problem)])
                for problem in error.errors(include_input=False, include_url=False)
            )
            raise ConfigurationError(f"Wrong settings: {'; '.join(problems)}.") from None

    @classmethod
    def secrets(cls) -> frozenset[str]:
        """The names of settings that are never shown."""
        return frozenset(name for name, field in cls.model_fields.items() if SecretStr in get_args(field.annotation))

    @classmethod
    def variables(cls) -> frozenset[str]:
        """Every environment variable that is read."""
        return frozenset({name.upper() for name in cls.model_fields} | {_file_of(name) for name in cls.secrets()})

    @model_validator(mode="before")
    @classmethod
    def _derive_defaults(cls, values: dict[str, object]) -> dict[str, object]:
        derived = dict(values)
        has_key = values.get("openai_api_key") or values.get("openai_secret_arn")
        at_bedrock = values.get("model_provider") == "bedrock"
        derived.setdefault("embeddings", "bedrock" if at_bedrock else "openai" if has_key else "local")
        dimensions = {"local": LOCAL_EMBEDDING_DIMENSIONS, "bedrock": BEDROCK_EMBEDDING_DIMENSIONS}
        derived.setdefault(
            "embedding_dimensions", dimensions.get(str(derived["embeddings"]), OPENAI_EMBEDDING_DIMENSIONS)
        )
        derived.setdefault("identity", "gateway" if values.get("aws_lambda_function_name") else "local")
        return derived

    @field_validator("database_schema")
    @classmethod
    def _is_a_schema_of_its_own(cls, schema: str) -> str:
        if schema in ("public", "information_schema") or schema.startswith("pg_"):
            raise ValueError("belongs to Postgres; name a schema for Quarry alone")
        return schema

    @field_validator("database_url", "database_reader_url")
    @classmethod
    def _is_a_database_url(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None and not re.match(r"postgres(?:ql)?://", url.get_secret_value()):
            raise ValueError("is not a Postgres URL: postgresql://user:password@host/name")
        return url

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.identity == "local" and self.aws_lambda_function_name and not self.is_emulated:
            raise ValueError("IDENTITY=local trusts the client and is refused inside Lambda")
        if self.database_reader_url and not self.names_database:
            raise ValueError("DATABASE_READER_URL needs DATABASE_URL or DATABASE_SECRET_ARN for the primary database")
        if (self.model_prompt_price is None) != (self.model_completion_price is None):
            raise ValueError("MODEL_PROMPT_PRICE and MODEL_COMPLETION_PRICE belong together; set both or neither")
        if self.openai_api_key and self.openai_secret_arn:
            raise ValueError("OPENAI_API_KEY and OPENAI_SECRET_ARN are both set; set only one")
        if self.embeddings == "openai" and not self.has_openai:
            raise ValueError("EMBEDDINGS=openai needs OPENAI_API_KEY, OPENAI_SECRET_ARN or OPENAI_BASE_URL")
        if self.embeddings == "local" and self.embedding_dimensions != LOCAL_EMBEDDING_DIMENSIONS:
            raise ValueError(f"the local model has {LOCAL_EMBEDDING_DIMENSIONS} dimensions; unset EMBEDDING_DIMENSIONS")
        return self

    @property
    def names_database(self) -> bool:
        """Whether there is a database of one's own, by its URL or by a secret."""
        return bool(self.database_url or self.database_secret_arn)

    @property
    def logins(self) -> dict[str, str]:
        """DATABASE_LOGINS by kind of work."""
        return dict(login.split("=", 1) for login in (self.database_logins or "").split(",") if login)

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """The names of QUARRY_ALLOWED_HOSTS in lower case, IPv6 addresses without brackets."""
        names = (name.strip().lower().strip("[]") for name in (self.quarry_allowed_hosts or "").split(","))
        return frozenset(filter(None, names))

    @property
    def is_emulated(self) -> bool:
        """Whether `sam local` runs the function. AWS_SAM_LOCAL could also be set on a deployed one, but only Lambda sets the name
        of the log stream: there it begins with a date, or is absent under SnapStart.
        """
        return self.aws_sam_local and self.aws_lambda_log_stream_name == EMULATED_LOG_STREAM

    @property
    def traces_endpoint(self) -> str | None:
        """Where traces are sent by OTLP over HTTP; None if they are off or use another protocol."""
        base, whole = self.otel_exporter_otlp_endpoint, self.otel_exporter_otlp_traces_endpoint
        if (self.otel_traces_exporter or ("otlp" if whole or base else "none")) != "otlp":
            return None
        return whole or f"{(base or TRACES_COLLECTOR).rstrip('/')}/v1/traces"

    @property
    def has_openai(self) -> bool:
        return any((self.openai_api_key, self.openai_secret_arn, self.openai_base_url))

    @property
    def has_chat_model(self) -> bool:
        return self.model_provider == "bedrock" or self.has_openai

    @property
    def chat_model_name(self) -> str:
        """The chat model, if there is one."""
        return self.bedrock_model if self.model_provider == "bedrock" else self.openai_model

    @property
    def embedding_model_name(self) -> str:
        """The name of the model that a database records for its vectors."""
        names = {"local": LOCAL_EMBEDDING_MODEL, "bedrock": self.bedrock_embedding_model}
        return names.get(self.embeddings, self.openai_embedding_model)


def _file_of(secret: str) -> str:
    return f"{secret.upper()}_FILE"


def _read_secret(variable: str, source: Mapping[str, str]) -> str:
    """The content of a secret's file, stripped. Raises ConfigurationError."""
    name = _file_of(variable)
    if source.get(variable):
        raise ConfigurationError(f"Wrong settings: {variable} and {name} are both set; set only one.")
    try:
        value = Path(source[name]).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not UTF-8"
        raise ConfigurationError(f"Wrong settings: {name}: {source[name]}: {reason}.") from error
    if not value:
        raise ConfigurationError(f"Wrong settings: {name}: {source[name]} is empty.")
    return value


def _with_json(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment, with what QUARRY_SETTINGS holds where a variable of its own is unset. Raises ConfigurationError."""
    text = environment.get(JSON_VARIABLE)
    if not text:
        return environment
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"{JSON_VARIABLE} is not JSON: {error}.") from None
    if not isinstance(settings, dict):
        raise ConfigurationError(f'{JSON_VARIABLE} is an object of settings, such as {{"INITIAL_CREDITS": 25}}.')
    names = {name.upper() for name in Settings.model_fields.keys() - Settings.secrets()}
    if unknown := sorted(settings.keys() - names):
        raise ConfigurationError(f"{JSON_VARIABLE} names no setting, or a secret: {', '.join(unknown)}.")
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
    return texts | {name: value for name, value in environment.items() if value}
