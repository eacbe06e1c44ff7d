"""What the tests of the chat share: the web application over the sample data, without a model and with one."""

from __future__ import annotations

from tests.shared_sample import client, model_client, shared_model_client, shared_sample_url

__all__ = ["client", "model_client", "shared_model_client", "shared_sample_url"]
