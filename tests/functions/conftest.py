"""The functions as Lambda runs them: their modules loaded by path, with settings in the environment."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from quarry.platform.settings import Settings

ROOT = Path(__file__).resolve().parents[2]

Event = dict[str, Any]


@dataclass
class Context:
    """The parts of Lambda's context that handlers read."""

    remaining_ms: int = 29_000
    aws_request_id: str = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


@pytest.fixture
def lambda_environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The environment of a Lambda function with no setting made."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "quarry-test")
    return monkeypatch


@pytest.fixture
def load_function(lambda_environment: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Loads `functions/<name>/app.py` as its own module; resources it opened are closed after the test."""
    loaded: list[ModuleType] = []

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"{name}_app", ROOT / "functions" / name / "app.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        loaded.append(module)
        return module

    yield load
    for module in loaded:
        if hasattr(module, "environment"):
            module.environment.close()


@pytest.fixture
def load_on_sample(
    load_function: Callable[[str], ModuleType], lambda_environment: pytest.MonkeyPatch, sample_url: str
) -> Callable[[str], ModuleType]:
    """Like `load_function`, on the sample data."""
    lambda_environment.setenv("DATABASE_URL", sample_url)
    return load_function


def recorded(path: str) -> Event:
    """A recorded event of `events/`."""
    event: Event = json.loads((ROOT / "events" / path).read_text())
    return event
