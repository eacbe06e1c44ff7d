"""The settings, read from an environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarry.platform.errors import ConfigurationError
from quarry.platform.settings import Settings

KEY = "sk-very-secret"
URL = "postgresql://quarry:very-secret@db.example/quarry"
ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:key-Ab3dEf"


def read(**environment: str) -> Settings:
    return Settings.from_environment(environment)


def refusal(**environment: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read(**environment)
    return caught.value.message


def test_nothing_needs_to_be_set() -> None:
    settings = read()
    assert settings.database_url is None
    assert settings.identity == "local"
    assert (settings.embeddings, settings.embedding_dimensions) == ("local", 384)
    assert settings.embedding_model_name == "all-MiniLM-L6-v2"
    assert not settings.has_chat_model


def test_with_a_key_chat_and_embeddings_are_the_providers() -> None:
    settings = read(OPENAI_API_KEY=KEY)
    assert settings.has_chat_model
    assert (settings.openai_model, settings.embedding_model_name) == ("gpt-4o-mini", "text-embedding-3-small")
    assert (settings.embeddings, settings.embedding_dimensions) == ("openai", 1536)


def test_bedrock_gives_chat_and_embeddings_without_a_key() -> None:
    settings = read(MODEL_PROVIDER="bedrock")
    assert settings.has_chat_model
    assert (settings.chat_model_name, settings.embedding_model_name) == (
        "amazon.nova-lite-v1:0", "amazon.titan-embed-text-v2:0",
    )  # fmt: skip
    assert (settings.embeddings, settings.embedding_dimensions) == ("bedrock", 1024)
    assert read(MODEL_PROVIDER="bedrock", EMBEDDINGS="local").embedding_dimensions == 384


def test_a_key_that_is_a_secret_counts_as_one() -> None:
    settings = read(OPENAI_SECRET_ARN=ARN)
    assert settings.has_chat_model
    assert (settings.embeddings, settings.embedding_dimensions) == ("openai", 1536)
    assert settings.openai_api_key is None


def test_a_server_without_a_key_gives_chat_and_leaves_embeddings_local() -> None:
    settings = read(OPENAI_BASE_URL="http://127.0.0.1:9999/v1")
    assert settings.has_chat_model
    assert settings.embeddings == "local"


def test_what_is_set_wins_over_what_is_derived() -> None:
    settings = read(OPENAI_API_KEY=KEY, EMBEDDINGS="local")
    assert (settings.embeddings, settings.embedding_dimensions) == ("local", 384)
    assert read(OPENAI_API_KEY=KEY, EMBEDDING_DIMENSIONS="256").embedding_dimensions == 256


def test_inside_lambda_the_gateway_says_who_calls() -> None:
    assert read(AWS_LAMBDA_FUNCTION_NAME="quarry-search").identity == "gateway"


def test_an_empty_variable_is_unset() -> None:
    assert read(OPENAI_API_KEY="", RATE_LIMIT_PER_MINUTE="", LOG_LEVEL="") == read()


def test_other_variables_are_ignored() -> None:
    assert read(PATH="/usr/bin", database_url=URL) == read()


def test_the_environment_is_that_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUN_LOG_DAYS", "7")
    assert Settings.from_environment().run_log_days == 7


def test_sam_local_says_that_it_is_there() -> None:
    assert read(AWS_SAM_LOCAL="true").aws_sam_local
    assert not read().aws_sam_local


@pytest.mark.parametrize("schema", ["public", "pg_catalog", "information_schema", "Quarry", "my schema", "7", "a" * 64])
def test_a_schema_is_a_plain_name_and_nobody_elses(schema: str) -> None:
    assert "DATABASE_SCHEMA" in refusal(DATABASE_SCHEMA=schema)
    assert read(DATABASE_SCHEMA="city_2").database_schema == "city_2"


@pytest.mark.parametrize("name", ["DATABASE_SECRET_ARN", "OPENAI_SECRET_ARN"])
def test_a_secret_is_named_by_its_arn(name: str) -> None:
    assert name in refusal(**{name: "a-name"})


def test_every_wrong_variable_is_named() -> None:
    message = refusal(DATABASE_POOL_SIZE="0", LOG_LEVEL="LOUD", MODEL_TIMEOUT_SECONDS="soon")
    for name in ("DATABASE_POOL_SIZE: ", "LOG_LEVEL: ", "MODEL_TIMEOUT_SECONDS: "):
        assert name in message


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"IDENTITY": "local", "AWS_LAMBDA_FUNCTION_NAME": "f"}, "IDENTITY=local trusts the client"),
        ({"EMBEDDINGS": "local", "EMBEDDING_DIMENSIONS": "1536"}, "unset EMBEDDING_DIMENSIONS"),
        ({"EMBEDDINGS": "openai"}, "EMBEDDINGS=openai needs OPENAI_API_KEY"),
        ({"OPENAI_API_KEY": KEY, "OPENAI_SECRET_ARN": ARN}, "two keys"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(environment: dict[str, str], told: str) -> None:
    message = refusal(**environment)
    assert told in message
    assert "Value error" not in message


def test_secrets_are_never_shown() -> None:
    settings = read(DATABASE_URL=URL, OPENAI_API_KEY=KEY)
    shown = f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    assert "very-secret" not in shown
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == KEY


def test_a_refusal_repeats_no_value() -> None:
    assert "very-secret" not in refusal(DATABASE_URL=URL, OPENAI_API_KEY=KEY, EMBEDDING_DIMENSIONS="very-secret")


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        read().log_level = "DEBUG"


def test_a_secret_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "url").write_text(f"{URL}\n")
    (tmp_path / "key").write_text(KEY)
    settings = read(DATABASE_URL_FILE=str(tmp_path / "url"), OPENAI_API_KEY_FILE=str(tmp_path / "key"))
    assert settings == read(DATABASE_URL=URL, OPENAI_API_KEY=KEY)


def test_what_is_no_secret_is_not_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "level").write_text("DEBUG")
    assert read(LOG_LEVEL_FILE=str(tmp_path / "level")) == read()


def test_a_file_that_tells_no_secret_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "bytes").write_bytes(b"\xff")
    for name, told in (("empty", "is empty"), ("bytes", "is not UTF-8"), ("nowhere", "No such file")):
        assert f"DATABASE_URL_FILE: {tmp_path / name}" in refusal(DATABASE_URL_FILE=str(tmp_path / name))
        assert told in refusal(DATABASE_URL_FILE=str(tmp_path / name))


def test_a_secret_is_given_once(tmp_path: Path) -> None:
    (tmp_path / "url").write_text(URL)
    message = refusal(DATABASE_URL=URL, DATABASE_URL_FILE=str(tmp_path / "url"))
    assert "DATABASE_URL and DATABASE_URL_FILE are two values" in message
    assert "very-secret" not in message
