"""Reads the `quarry.toml` in this folder, which declares a city's records as collections."""

from __future__ import annotations

from pathlib import Path

from quarry.collections.declaration_file import FILE_NAME, read_declarations
from quarry.collections.own_table import OwnTable

_FILE = Path(__file__).with_name(FILE_NAME)

COLLECTIONS = tuple(
    OwnTable.of(name, declaration)
    for name, declaration in read_declarations(_FILE.read_text(encoding="utf-8"), str(_FILE)).items()
)
