"""Commands for the tenants of an installation."""

from __future__ import annotations

import click

from quarry.local.cli.command import Argument, Group, add, add_group, flag, formats, option

USE_SETTING = -1  # of quarry.postgres.tenants, which takes long to import
QUOTA_MAX = 10**15


def _quota(text: str) -> int:
    """A quota; USE_SETTING for that of the settings. Raises BadParameter."""
    return USE_SETTING if text == "default" else int(click.IntRange(0, QUOTA_MAX).convert(text, None, None))


def add_tenants(group: Group) -> None:
    actions = add_group(
        group, "tenant", "add, list, limit, move or remove tenants",
        "Add, list, limit, move or remove tenants. Each has its data in a schema of its own; TENANT_CLAIM names the claim of a "
        "verified token that says whose request it is. `quarry --tenant NAME COMMAND` runs a command for one of them.",
        "quarry tenant add acme",
    )  # fmt: skip
    name = Argument("name", "NAME", "the claim's value")
    of_settings = "0: any number; default: as the setting"
    quotas = [
        option(
            "--requests-per-minute", metavar="N", type=_quota,
            help=f"requests of all its users together ({of_settings} TENANT_REQUESTS_PER_MINUTE)",
        ),
        option("--rows", "rows_max", metavar="N", type=_quota, help=f"rows that it may hold ({of_settings} TENANT_ROWS)"),
        option(
            "--credits", "credits_max", metavar="N", type=_quota,
            help=f"credits that its users may spend in all ({of_settings} TENANT_CREDITS)",
        ),
    ]  # fmt: skip
    add(
        actions, "add", "quarry.local.tenants:add", "add a tenant", "quarry tenant add acme", name,
        option("--schema", metavar="NAME", help="its schema (default: made from its name)"),
        option("--node", metavar="HOST:PORT", help="the server to put it on (default: that of the database; on Citus, a worker)"),
        *quotas,
        facts={"tenants": []},
    )  # fmt: skip
    add(
        actions, "list", "quarry.local.tenants:list_all", "list the tenants: schema, node, state, size, quotas",
        "quarry tenant list", *formats(), json=None,
    )  # fmt: skip
    add(
        actions, "quota", "quarry.local.tenants:show_quotas", "set or show what a tenant may use",
        "quarry tenant quota acme --rows 100000", name, *quotas, *formats(), json=None,
        about="Set what all users of a tenant may use together, and show how much of it they use. A server takes up a "
        "new value within seconds.",
    )  # fmt: skip
    add(
        actions, "move", "quarry.local.tenants:move", "move a tenant to another server while it serves",
        "quarry tenant move acme db-2.internal:5432",
        name, Argument("node", "NODE", "the server, as host:port"),
        about="Move a tenant to another server while it serves. User, password and database are those of DATABASE_URL. Needs "
        "wal_level = logical where the tenant is, pg_dump here, and a network between the servers.",
        facts={"moved": []},
    )  # fmt: skip
    add(
        actions, "remove", "quarry.local.tenants:remove", "drop a tenant with all its data", "quarry tenant remove acme --yes",
        name, flag("--yes", "confirmed", help="do not ask for confirmation"),
        facts={"removed": []},
    )  # fmt: skip
