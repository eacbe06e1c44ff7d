"""How the size of the code is counted."""

from __future__ import annotations

from tools.size import code_lines

MODULE = '''"""What it is
for."""

import os
from pathlib import (
    Path,
)

# why
NAMES = (
    "a",  # the first

    "b",
)


def first(path: Path) -> str:
    """The first name."""
    return """
    not a docstring
    """ + os.fspath(path)
'''


def test_only_lines_that_hold_code_are_counted() -> None:
    assert code_lines(MODULE) == 8


def test_a_module_of_comments_has_no_code() -> None:
    assert code_lines("# nothing\n\n") == 0
