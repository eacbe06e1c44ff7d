"""The tenant that a command works on."""

from __future__ import annotations

from contextvars import ContextVar

chosen_tenant: ContextVar[str | None] = ContextVar("chosen_tenant", default=None)
"""The name after `--tenant`; None: the installation's own schema."""

OF_INSTALLATION = (
    "completion",
    "config",
    "demo",
    "doctor",
    "eval",
    "map",
    "psql",
    "tenant",
    "tools",
    "tune",
    "uninstall",
)
"""Commands that know of no tenant."""
