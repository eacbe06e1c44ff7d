"""What holds for all patterns of the code."""

from __future__ import annotations

import re
from pathlib import Path

import quarry

_REPEATED_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{+[\d,]+\}+)\+")


def test_no_group_is_repeated_possessively() -> None:
    """Python before 3.11.5 reads such a pattern wrongly: of "1,000, and" it took the second comma, too."""
    files = sorted(Path(quarry.__file__).parent.rglob("*.py"))
    found = [
        f"{file.name}: {line.strip()}"
        for file in files
        for line in file.read_text().splitlines()
        if _REPEATED_GROUP.search(line)
    ]
    assert len(files) > 300
    assert found == []
