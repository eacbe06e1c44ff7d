"""Every setting of Quarry, read from the environment and validated once. No other module reads the environment.

`docs/settings.md` is generated from this class. The defaults work on a laptop without keys.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Self, get_args

from pydantic import SecretStr, ValidationError, field_validator, model_validator

from quarry.platform.errors import ConfigurationError
from quarry.platform.setting_fields import LOCAL_EMBEDDING_DIMENSIONS, LOCAL_EMBEDDING_MODEL, SettingFields
from quarry.platform.validation import plain_words

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
        given = json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"{JSON_VARIABLE} is not JSON: {error}.") from None
    if not isinstance(given, dict):
        raise ConfigurationError(f'{JSON_VARIABLE} is an object of settings, such as {{"INITIAL_CREDITS": 25}}.')
    known = {name.upper() for name in Settings.model_fields.keys() - Settings.secrets()}
    if unknown := sorted(given.keys() - known):
        raise ConfigurationError(f"{JSON_VARIABLE} names no setting, or a secret: {', '.join(unknown)}.")
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}
    return texts | {name: value for name, value in environment.items() if value}
