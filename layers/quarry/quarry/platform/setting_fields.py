"""What every setting is called, takes and does, and its default."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

LOCAL_EMBEDDING_MODEL = "all-MiniLM-L6-v2"
LOCAL_EMBEDDING_DIMENSIONS = 384

DEFAULT_SCHEMA = "quarry"

_ARN = r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:"
_LOGIN = r"(?:serving|loading)=(?:iam:[a-z_][a-z0-9_]*|arn:aws[a-z-]*:secretsmanager:[^,=]+)"
_LOGINS = f"^{_LOGIN}(?:,{_LOGIN})?$"


class SettingFields(BaseModel):
    """The settings, by their environment variable in lower case. The order is that of docs/settings.md."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database_url: SecretStr | None = Field(
        default=None,
        description="Postgres 15 or newer with pgvector 0.8 or newer, pg_trgm, btree_gin and fuzzystrmatch. "
        "Unset: the embedded Postgres.",
    )
    database_secret_arn: str | None = Field(
        default=None,
        pattern=_ARN,
        description="A secret in AWS Secrets Manager with the database URL as its text, as `url` of a JSON object, or"
        " as RDS's own JSON object. Parts of DATABASE_URL take precedence, such as the host of a proxy.",
    )
    database_iam: bool = Field(
        default=False,
        description="Connect to RDS or RDS Proxy as the URL's user with a token signed by the process's AWS "
        "credentials, without a password.",
    )
    database_logins: str | None = Field(
        default=None,
        pattern=_LOGINS,
        description="For the function `migrate`: the users that serve and load, as `serving=…,loading=…`, each a "
        "secret in RDS's format, or `iam:NAME`, a user without a password.",
    )
    database_reader_url: SecretStr | None = Field(
        default=None,
        description="A replica, or Aurora's reader endpoint. Searches and records by id are read there while it is up"
        " to date. DATABASE_SECRET_ARN fills in user and password.",
    )
    database_reader_lag_seconds: float = Field(
        default=5.0,
        gt=0,
        le=3600,
        description="A replica further behind than this is not used until it has caught up.",
    )
    database_schema: str = Field(
        default=DEFAULT_SCHEMA,
        pattern=r"^[a-z_][a-z0-9_]{0,62}$",
        description="The schema with all of Quarry's tables and functions, created by `quarry migrate`. Two "
        "installations in one database need two.",
    )
    database_pooled: bool = Field(
        default=False, description="True behind RDS Proxy or PgBouncer: prepared statements are turned off."
    )
    database_pool_size: int = Field(
        default=8,
        ge=1,
        le=100,
        description="The most connections of one process. Outside Lambda it opens up to three more, for health "
        "checks, for the page, and for the run log.",
    )
    database_timeout_seconds: float = Field(
        default=10.0,
        gt=0,
        le=300,
        description="The longest that a statement or an idle transaction lasts; a wait for a lock ends after half of "
        "it.",
    )
    database_wake_seconds: float = Field(
        default=0.0,
        ge=0,
        le=120,
        description="How long a paused database takes to wake (15 for an Aurora with a minimum of 0). Requests "
        "meanwhile get a 503 with `Retry-After`. 0: it never pauses.",
    )
    quarry_data_dir: Path = Field(default=Path(".quarry"), description="Where the embedded Postgres keeps its data.")

    openai_api_key: SecretStr | None = Field(
        default=None, description="Unset (and no OPENAI_BASE_URL): no chat model; the fallbacks answer."
    )
    openai_secret_arn: str | None = Field(
        default=None,
        pattern=_ARN,
        description="A secret in AWS Secrets Manager with the key as its text or as `api_key` of a JSON object. "
        "Replaces OPENAI_API_KEY.",
    )
    openai_base_url: str | None = Field(default=None, description="Any OpenAI-compatible server.")
    openai_model: str = Field(default="gpt-4o-mini", description="The chat model.")
    openai_embedding_model: str = Field(default="text-embedding-3-small", description="The embedding model.")
    model_provider: Literal["openai", "bedrock"] = Field(
        default="openai",
        description="The provider of the chat model. openai: OpenAI or OPENAI_BASE_URL; bedrock: Amazon Bedrock, with"
        " the role of the process.",
    )
    bedrock_model: str = Field(
        default="amazon.nova-lite-v1:0",
        min_length=1,
        description="The chat model at Bedrock: an id or ARN of a model or inference profile that supports tool "
        "choice (Amazon Nova, Anthropic Claude).",
    )
    bedrock_embedding_model: str = Field(
        default="amazon.titan-embed-text-v2:0",
        min_length=1,
        description="The embedding model at Bedrock: Titan Text Embeddings V2 (256, 512 or 1024 dimensions) or Cohere's Embed "
        "(3: 1024; 4: 256 to 1536).",
    )
    bedrock_region: str | None = Field(default=None, description="Bedrock's region. Unset: that of the process.")
    bedrock_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^/\s]+",
        description="Another address of Bedrock, such as that of a VPC endpoint.",
    )
    embeddings: Literal["openai", "bedrock", "local"] = Field(
        default="local",
        description="The provider of embeddings. Default: bedrock with MODEL_PROVIDER=bedrock, openai if a key is "
        "set, else local.",
    )
    embedding_dimensions: int = Field(
        default=LOCAL_EMBEDDING_DIMENSIONS,
        ge=1,
        le=4000,
        description="Dimensions of the stored vectors. Default: 384 with the local model, 1024 at Bedrock, else 1536.",
    )
    model_timeout_seconds: float = Field(
        default=20.0, gt=0, le=600, description="One model call, its retries included, takes no longer."
    )
    model_max_retries: int = Field(
        default=2, ge=0, le=10, description="Retries of a model call after a 429, a 5xx or a broken connection."
    )
    model_failures_max: int = Field(
        default=5,
        ge=0,
        le=1000,
        description="Failures in a row after which a model is left alone for 2 seconds, doubling up to a minute. 0: "
        "never.",
    )
    model_decision_tokens: int = Field(
        default=6_000,
        ge=100,
        description="The most tokens of one structured decision, reasoning included. Lower it for a model with a "
        "small context.",
    )
    model_turn_tokens: int = Field(
        default=3_000, ge=100, description="Tokens that it may write in one turn that can call tools."
    )
    model_answer_tokens: int = Field(default=3_000, ge=100, description="Tokens that it may write for one answer.")
    openai_tokens_field: Literal["max_completion_tokens", "max_tokens"] | None = Field(
        default=None,
        description="The name of the token limit in requests. Default: max_completion_tokens at OpenAI and Azure, "
        "max_tokens elsewhere.",
    )

    identity: Literal["local", "gateway"] = Field(
        default="local",
        description="local: the bearer token's text is the user; gateway: the verified Cognito `sub`. Default: "
        "gateway inside Lambda, where local is refused.",
    )
    rate_limit_per_minute: int | None = Field(
        default=None,
        ge=0,
        description="Requests a minute for one user and class of route; 0 turns the limit off. "
        "Unset: 30 for routes that call a chat model, 120 for others.",
    )
    heartbeat_seconds: float = Field(
        default=10.0, gt=0, le=60, description="A stream that is quiet this long sends a heartbeat."
    )
    stream_grace_seconds: float = Field(
        default=10.0,
        ge=0,
        le=600,
        description="How long a search continues after its client lost the connection. 0: it ends.",
    )
    answer_lifetime_days: int = Field(default=30, ge=1, description="How long a finished answer can be opened.")
    run_log_days: int = Field(default=90, ge=1, description="How long the run log is kept.")
    records_ask_seconds: float = Field(default=60.0, gt=0, description="The longest that answering a question takes.")
    records_ask_tokens: int = Field(default=60_000, ge=1000, description="Model tokens that one answer may use.")
    records_semantic_weight: float = Field(
        default=0.4,
        ge=0,
        le=1,
        description="The weight of meaning in the ranking of records; words have the rest. It doubles where words "
        "match little. Unset: what `quarry tune` stored; the same holds for COMPANY_SEMANTIC_WEIGHT, "
        "COMPANY_KEYWORD_WEIGHT and COMPANY_NICHE_WEIGHT.",
    )
    people_search_seconds: float = Field(
        default=15.0,
        gt=0,
        description="The longest that models may take in one people search; then fallbacks answer.",
    )
    people_search_tokens: int = Field(
        default=20_000, ge=1000, description="Model tokens that one people search may use."
    )
    initial_credits: int = Field(
        default=10, ge=0, le=1_000_000, description="Credits of a new user. The local user `demo` begins with 100."
    )
    search_result_expiry_hours: float = Field(
        default=24.0, gt=0, le=8760, description="How long the people that a search found can be opened and unlocked."
    )
    company_planner: Literal["always", "auto", "never"] = Field(
        default="auto",
        description="Whether a chat model plans a company search. auto: not if the question is just a name in the "
        "taxonomy.",
    )
    company_max_iterations: int = Field(default=10, ge=1, le=50, description="Rounds of one company search.")
    company_max_tool_calls: int = Field(
        default=40, ge=1, le=1000, description="Searches and look-ups of one company search."
    )
    company_max_seconds: float = Field(default=60.0, gt=0, description="The longest that a company search takes.")
    company_max_tokens: int = Field(
        default=60_000, ge=1000, description="Model tokens that one company search may use."
    )
    company_exact_name_min: float = Field(
        default=0.95, ge=0, le=1, description="A company whose name scores at least this is the one asked for."
    )
    company_seed_name_min: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description="A company whose name scores at least this is the one that others should resemble.",
    )
    company_confidence_target: float = Field(
        default=0.74, ge=0, le=1, description="A company search may stop when its ranking is this sure."
    )
    company_accepted_confidence_min: float = Field(
        default=0.2, ge=0, le=1, description="Below this confidence, the answer says that no company fits."
    )
    company_name_similarity_min: float = Field(
        default=0.35, ge=0, le=1, description="The least trigram similarity of a matching name."
    )
    company_semantic_min: float = Field(
        default=0.25, ge=-1, le=1, description="The least cosine similarity of a company that matches by meaning."
    )
    company_semantic_weight: float = Field(default=0.58, ge=0, le=1, description="Hybrid score: weight of the meaning.")
    company_keyword_weight: float = Field(default=0.27, ge=0, le=1, description="Hybrid score: weight of the words.")
    company_niche_weight: float = Field(default=0.15, ge=0, le=1, description="Hybrid score: weight of the niches.")
    company_keyword_only_weight: float = Field(
        default=0.85, ge=0, le=1, description="Keyword score: weight of the words."
    )
    company_niche_only_weight: float = Field(
        default=0.15, ge=0, le=1, description="Keyword score: weight of the niches."
    )
    company_variants_executed: int = Field(default=6, ge=1, le=20, description="Phrasings searched for in one round.")
    company_variants_held: int = Field(default=8, ge=1, le=50, description="The most phrasings waiting to be searched.")
    company_retrieved_max: int = Field(
        default=120, ge=1, le=1000, description="The most companies found for one phrasing."
    )
    company_taxonomy_max: int = Field(
        default=500, ge=1, le=5000, description="The most companies found by the taxonomy."
    )
    company_hydrated_max: int = Field(default=80, ge=1, le=500, description="The most companies read in full.")
    company_filtered_max: int = Field(default=40, ge=1, le=500, description="The most companies kept after filtering.")
    company_reranked_max: int = Field(default=30, ge=1, le=100, description="The most companies ranked.")
    company_reranked_share_min: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Companies below this share of the best score are not sent to the ranking model, except the first"
        " ten.",
    )
    model_prompt_price: float | None = Field(
        default=None,
        ge=0,
        description="US dollars per million tokens that the chat model reads. Unset: tokens are counted without a "
        "price.",
    )
    model_completion_price: float | None = Field(
        default=None, ge=0, description="US dollars per million tokens that the chat model writes."
    )
    campaigns_chat_seconds: float = Field(
        default=60.0, gt=0, description="The longest that an answer about campaigns takes."
    )
    campaigns_chat_tokens: int = Field(
        default=60_000, ge=1000, description="The most model tokens of one answer about campaigns."
    )
    otel_exporter_otlp_endpoint: str | None = Field(
        default=None,
        pattern=r"^https?://[^/\s]+",
        description="An OpenTelemetry collector for OTLP over HTTP; `/v1/traces` is appended. Turns tracing on if the"
        " extra `otel` is installed. OpenTelemetry's other variables apply too.",
    )
    otel_exporter_otlp_traces_endpoint: str | None = Field(
        default=None, pattern=r"^https?://[^/\s]+", description="The same as a complete address; takes precedence."
    )
    otel_traces_exporter: str | None = Field(
        default=None,
        description="otlp: trace requests, to http://localhost:4318 if no address is set. Any other value: do not.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(default="INFO", description="Least level logged.")
    aws_lambda_function_name: str | None = Field(default=None, description="Set by AWS Lambda; not for you to set.")
    aws_lambda_log_stream_name: str | None = Field(
        default=None,
        description="Set by AWS Lambda, which reserves it; not for you to set.",
    )
    aws_sam_local: bool = Field(
        default=False, description="Set by `sam local`, whose gateway takes no stream; not for you to set."
    )

    # --- for the local server, and for pages of another origin
    quarry_allowed_hosts: str | None = Field(
        default=None,
        pattern=r"^\s*[A-Za-z0-9._:\[\]-]*(\s*,\s*[A-Za-z0-9._:\[\]-]+)*\s*$",
        description="Comma-separated names and addresses, without ports, that the local server accepts in `Host` and "
        "`Origin` in addition to loopback names.",
    )
    allowed_origin: str | None = Field(
        default=None,
        pattern=r"^(\*|https?://[^/\s]+)$",
        description="The origin whose pages may call the API from a browser, such as https://city.example.org, or * "
        "for any. Unset: only the service's own pages.",
    )
