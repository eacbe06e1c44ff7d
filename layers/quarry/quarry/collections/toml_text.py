"""Writes values and names as TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping


def toml(value: object) -> str:
    """A text, a list of texts or a table of texts, in one line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key(name)} = {toml(each)}' for name, each in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    text = str(value)
    if '"' in text and "'" not in text and "\\" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def key(name: str) -> str:
    """A key, in quotes where it needs them."""
    return name if name.isascii() and name.replace("_", "a").replace("-", "a").isalnum() else toml(name)


def shown(name: str) -> str:
    """A name for a comment, in quotes where it could end the line or be misread."""
    return name if re.fullmatch(r"\w[\w ().]*(?<! )", name) and name.isprintable() else toml(name)


def table(schema: str, name: str) -> str:
    """A table's name for SQL and declarations, in quotes where it needs them."""
    return ".".join(
        part if part.isascii() and part.isidentifier() and part.islower() else '"' + part.replace('"', '""') + '"'
        for part in (schema, name)
    )
