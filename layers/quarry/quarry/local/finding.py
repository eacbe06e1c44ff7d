"""What an examination tells of one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "broken", "absent"]
"""absent: not there, and Quarry works without it."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what it is, how it stands, and, unless it is ok, what to do."""

    status: Status
    subject: str
    detail: str
    advice: str = ""
