"""`quarry psql`: Postgres' own terminal on the database that Quarry uses."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from quarry.local.database import LocalDatabase
from quarry.platform.errors import ConfigurationError


def open_psql(database: LocalDatabase, arguments: Sequence[str]) -> bool:
    """Run psql with these arguments until it ends; False if it failed. Raises ConfigurationError where there is no psql."""
    # the embedded server's own has its version
    program = database.server.program("psql") if database.server else shutil.which("psql")
    if program is None:
        raise ConfigurationError("psql is not installed: install the Postgres client")
    parameters = conninfo_to_dict(database.url)
    # a password stays out of the list of processes
    password = {"PGPASSWORD": str(secret)} if (secret := parameters.pop("password", None)) else {}
    command = [program, make_conninfo("", **parameters), *arguments]
    return subprocess.run(command, env=os.environ | password, check=False).returncode == 0
