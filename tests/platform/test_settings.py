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


@pytest.mark.parametrize("schema", ["public", "pg_catalog", "information_schema", "Quarry", "my schema", "7", "a" * 64])
def test_a_schema_is_a_plain_name_and_nobody_elses(schema: str) -> None:
    assert "DATABASE_SCHEMA" in refusal(DATABASE_SCHEMA=schema)
    assert read(DATABASE_SCHEMA="city_2").database_schema == "city_2"


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"IDENTITY": "local", "AWS_LAMBDA_FUNCTION_NAME": "f"}, "IDENTITY=local trusts the client"),
        ({"EMBEDDINGS": "local", "EMBEDDING_DIMENSIONS": "1536"}, "unset EMBEDDING_DIMENSIONS"),
        ({"EMBEDDINGS": "openai"}, "EMBEDDINGS=openai needs OPENAI_API_KEY"),
        ({"OPENAI_API_KEY": KEY, "OPENAI_SECRET_ARN": ARN}, "are both set"),
        ({"MODEL_PROMPT_PRICE": "0.15"}, "set both or neither"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(environment: dict[str, str], told: str) -> None:
    message = refusal(**environment)
    assert told in message
    assert "Value error" not in message


def test_one_variable_may_hold_settings_as_json_and_each_variable_of_its_own_stands_above_it() -> None:
    given = '{"INITIAL_CREDITS": 25, "DATABASE_POOLED": true, "LOG_LEVEL": "DEBUG"}'
    settings = read(QUARRY_SETTINGS=given, LOG_LEVEL="ERROR", DATABASE_POOL_SIZE="")
    assert (settings.initial_credits, settings.database_pooled, settings.log_level) == (25, True, "ERROR")
    assert read(QUARRY_SETTINGS="{}") == read()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("INITIAL_CREDITS=25", "is not JSON"),
        ("[25]", "is an object of settings"),
        ('{"CREDITS": 25}', "names no setting, or a secret: CREDITS"),
        (f'{{"OPENAI_API_KEY": "{KEY}"}}', "OPENAI_API_KEY"),
        ('{"INITIAL_CREDITS": "many"}', "INITIAL_CREDITS"),
    ],
)
def test_json_that_holds_no_valid_settings_is_refused(given: str, told: str) -> None:
    message = refusal(QUARRY_SETTINGS=given)
    assert told in message
    assert KEY not in message


def test_secrets_are_never_shown() -> None:
    settings = read(DATABASE_URL=URL, OPENAI_API_KEY=KEY)
    shown = f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    assert "very-secret" not in shown
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == KEY


def test_a_secret_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "url").write_text(f"{URL}\n")
    (tmp_path / "key").write_text(KEY)
    settings = read(DATABASE_URL_FILE=str(tmp_path / "url"), OPENAI_API_KEY_FILE=str(tmp_path / "key"))
    assert settings == read(DATABASE_URL=URL, OPENAI_API_KEY=KEY)
