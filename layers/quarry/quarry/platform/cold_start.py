"""Import this module first: without garbage collection and pydantic's plugins, the other imports take a third less time.

The first request for a page or an answer imports as much again.
"""

from __future__ import annotations

import gc
import os

gc.disable()
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def is_ahead_of_requests() -> bool:
    """Whether this environment starts before a request needs it, because of provisioned concurrency."""
    return os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "provisioned-concurrency"


def end() -> None:
    """End the imports. Garbage collection never looks at what was imported. Where it collects already, nothing is done."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def go_on() -> None:
    """Let the first request import too, until `end`."""
    gc.disable()
