"""Commands for the tenants of an installation."""

from __future__ import annotations

from quarry.local.cli.command import Argument, Group, add, add_group, flag, formats, option


def add_tenants(group: Group) -> None:
    actions = add_group(
        group, "tenant", "add, list, move or remove tenants",
        "Add, list, move or remove tenants. Each has its data in a schema of its own; TENANT_CLAIM names the claim of a verified "
        "token that says whose request it is. `quarry --tenant NAME COMMAND` runs a command for one of them.",
        "quarry tenant add acme",
    )  # fmt: skip
    name = Argument("name", "NAME", "the claim's value")
    add(
        actions, "add", "quarry.local.tenants:add", "add a tenant", "quarry tenant add acme", name,
        option("--schema", metavar="NAME", help="its schema (default: made from its name)"),
        option("--node", metavar="HOST:PORT", help="the server to put it on (default: that of the database; on Citus, a worker)"),
        facts={"tenants": []},
    )  # fmt: skip
    add(
        actions, "list", "quarry.local.tenants:list_all", "list the tenants: schema, node, state, size", "quarry tenant list",
        *formats(), json=None,
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
