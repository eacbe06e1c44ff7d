"""What the tests of records share: the web application over the sample data, without a model and with one."""

from tests.shared_sample import client, model_client, shared_model_client, shared_sample_url

__all__ = ["client", "model_client", "shared_model_client", "shared_sample_url"]
