"""Import this module before all others: without garbage collection and pydantic's plugins they take a third less time."""

from __future__ import annotations

import gc
import os

gc.disable()
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def is_ahead_of_requests() -> bool:
    """Whether this environment is started before a request needs it: it is kept started, which Lambda says of itself."""
    return os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "provisioned-concurrency"


def end() -> None:
    """All is imported. It stays, so that no search for garbage ever goes through it."""
    gc.freeze()
    gc.enable()
