"""Imported by each function before all else: what its imports are spared, a third of their time.

While they go on, nothing is looked through for garbage: they leave none. And no package is looked through for plugins of
pydantic, which the layer has none of.
"""

from __future__ import annotations

import gc
import os

gc.disable()
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def end() -> None:
    """All is imported. It stays, so that no search for garbage ever goes through it."""
    gc.freeze()
    gc.enable()
