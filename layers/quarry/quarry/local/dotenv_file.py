"""The file `.env` of the folder that a command is called in: settings for those that the environment does not set."""

from __future__ import annotations

import os
from pathlib import Path

from quarry.platform.errors import ConfigurationError
from quarry.platform.settings import Settings

DOTENV = Path(".env")


def take_dotenv() -> frozenset[str]:
    """Set what the file says and the environment does not; the variables that were set. Others than Quarry's are left alone.

    Raises ConfigurationError where there is a file that cannot be read.
    """
    if not DOTENV.is_file():
        return frozenset()
    from dotenv import dotenv_values

    try:
        values = dotenv_values(DOTENV)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{DOTENV} cannot be read: {error}") from error
    taken = {name: value for name in Settings.variables() if (value := values.get(name)) and not _is_set(name)}
    os.environ.update(taken)
    return frozenset(taken)


def _is_set(name: str) -> bool:
    """Whether the environment has a value of the setting, be it in the variable of its file."""
    plain = name.removesuffix("_FILE") if name.removesuffix("_FILE") in Settings.variables() else name
    return any(os.environ.get(each) for each in (plain, f"{plain}_FILE"))
