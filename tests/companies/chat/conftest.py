"""What the tests of the chat share: the web application over the sample data, without a model and with one."""

from __future__ import annotations

import pytest

from quarry.companies import planning
from tests.shared_sample import client, model_client, shared_model_client, shared_sample_url

__all__ = ["client", "model_client", "shared_model_client", "shared_sample_url"]


@pytest.fixture(autouse=True)
def _no_plan_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are told to answer the same question in many ways."""
    monkeypatch.setattr(planning, "PLANS_KEPT_MAX", 0)
