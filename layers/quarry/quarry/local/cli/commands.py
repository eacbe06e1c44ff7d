"""All commands: their arguments, their help and the functions that they call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quarry import __version__
from quarry.local.cli.command import (
    DONE,
    FAILED,
    FILE,
    PORT,
    POSITIVE,
    Argument,
    Arguments,
    Group,
    WrongUsage,
    add,
    add_group,
    calling,
    flag,
    formats,
    option,
    tenant_option,
    user_name,
)
from quarry.platform.contract import DOMAINS

if TYPE_CHECKING:
    from quarry.collections.file_table import Mode
    from quarry.files.forms import ReadOptions
    from quarry.services.s3 import S3Object


_EPILOG = """\
environment:
  DATABASE_URL     a Postgres of your own; unset: the embedded one
  QUARRY_DATA_DIR  where the embedded one keeps its data (default: .quarry)
  NO_COLOR         set to anything: no colours
  QUARRY_TOKEN     your token for the server of --server; for a local server, any name
  docs/settings.md describes OPENAI_API_KEY, OPENAI_BASE_URL and all other settings;
  the file .env of this folder sets what the environment does not

exit status:
  0 done, 1 failed, 2 wrong usage

`quarry COMMAND --help` describes a command.
"""


_OF_OWN_TABLES = ("key", "append", "replace", "decimal", "dates", "empty")
"""Options of `load` that do not apply to built-in tables: the fields of these define how they are written."""


def _load(arguments: Arguments) -> int:
    from quarry.local.data import fetched, load_table
    from quarry.local.file_collection import load_collection, table_of

    if arguments.append and arguments.replace:
        raise WrongUsage("use --append or --replace, not both")
    options, files = _read_options(arguments), arguments.files
    skip_invalid, embed = arguments.skip_invalid, not arguments.no_embed
    if arguments.collection is None:
        table, *files = files
        _check_table(table, files, arguments)
        with fetched(map(_file, files)) as paths:
            well = load_table(table, paths, options=options, skip_invalid=skip_invalid, embed=embed)
        return DONE if well else FAILED
    name, key = table_of(arguments.collection), arguments.key
    mode: Mode = "append" if arguments.append else "replace" if arguments.replace else "update"
    with fetched(map(_file, files)) as paths:
        well = load_collection(name, paths, options=options, mode=mode, key=key, skip_invalid=skip_invalid, embed=embed)
    return DONE if well else FAILED


def _check_table(table: str, files: list[str], arguments: Arguments) -> None:
    from quarry import catalog

    if alone := [name for name in _OF_OWN_TABLES if getattr(arguments, name)]:
        raise WrongUsage(f"--{alone[0]} only works with --as NAME")
    if table not in catalog.LOADABLE:
        advice = "; --as NAME makes a table of a file" if Path(table).exists() else ""
        raise WrongUsage(f"there is no table {table!r}; the tables are {', '.join(catalog.LOADABLE)}{advice}")
    if not files:
        raise WrongUsage("name the files to load")


def _read_options(arguments: Arguments) -> ReadOptions:
    from quarry.files.encodings import encoding_name
    from quarry.files.forms import ReadOptions, Writing

    try:
        encoding = arguments.encoding and encoding_name(arguments.encoding)
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    writing = Writing(arguments.decimal, arguments.dates, frozenset(arguments.empty))
    header = 0 if arguments.no_header else arguments.header
    return ReadOptions(arguments.format, encoding, header, arguments.total, arguments.sheet, writing)


def _file(text: str, refusal: Callable[[str], Exception] = WrongUsage) -> Path | S3Object:
    from quarry.services.s3 import SCHEME, S3Object

    try:
        return S3Object.parse(text) if text.startswith(SCHEME) else Path(text)
    except ValueError as error:
        raise refusal(str(error)) from error


def _file_argument(text: str) -> Path | S3Object:
    return _file(text, click.BadParameter)


def add_data(group: Group) -> None:
    add(
        group, "sample", "quarry.local.data:load_samples", "load the sample data of every domain", "quarry sample",
        facts={"loaded": []},
    )  # fmt: skip
    add(
        group, "migrate", "quarry.local.installation:migrate_database", "bring the database up to date, with all tenants",
        "quarry migrate", tenant_option(), facts={"migrations": [], "functions": [], "tenants": []},
    )  # fmt: skip
    _add_declaring(group)
    _add_load(group)
    add(
        group, "embed", "quarry.local.data:embed_tables", "embed the rows that have no vectors yet",
        "quarry embed --stale",
        option("--stale", "scope", flag_value="stale", default="new", help="also the rows whose text has changed since"),
        option(
            "--all", "scope", flag_value="all",
            help="drop every vector and embed everything again, as after a change of model",
        ),
        facts={"tables": []},
    )  # fmt: skip
    _add_index(group)
    add(group, "cleanup", "quarry.local.data:clean_up", "delete what has expired", "quarry cleanup")
    add(
        group, "uninstall", "quarry.local.installation:uninstall", "remove Quarry and its data from the database",
        "quarry uninstall --yes", flag("--yes", "confirmed", help="do not ask for confirmation"), json=None,
    )  # fmt: skip


def _add_declaring(group: Group) -> None:
    add(
        group, "map", "quarry.local.apply:map_schema", "draft quarry.toml from tables that exist",
        "quarry map support --output quarry.toml",
        Argument("schema", "SCHEMA", "default: public", default="public"),
        option("--output", metavar="FILE", type=FILE, help="write a new file (default: standard output)"),
        flag("--force", help="overwrite the file"),
        flag("--explain", help="print a table of what can be asked, not the draft"),
        json=None,
        about="Draft quarry.toml from the tables of a schema. `map` reads their names, types, keys and statistics, and some "
        "rows: up to 500 of each table with JSON or long texts, and 20 of each table to try its columns. It changes nothing. "
        "Review the draft: docs/declaration.md explains it.",
    )  # fmt: skip
    add(
        group, "apply", "quarry.local.apply:apply_file", "create, change and drop collections as quarry.toml says",
        "quarry apply --plan",
        Argument("path", "FILE", "a file, or s3://BUCKET/KEY (default: quarry.toml)", type=_file_argument, default="quarry.toml"),
        flag("--plan", "only_plan", help="only show the changes"),
        tenant_option(),
        flag(
            "--no-embed", "embed", flag_value=False, default=True,
            help="do not embed now; `quarry embed` or `serve` does it later",
        ),
        facts={"changes": [], "collections": [], "tables": []},
    )  # fmt: skip
    add(
        group, "reconcile", "quarry.local.apply:reconcile",
        "compare collections with their tables, and correct differences", "quarry reconcile",
        Argument("name", "COLLECTION", "only this collection", required=False),
        facts={"differing": [], "collections": [], "tables": []},
    )  # fmt: skip


def _add_load(group: Group) -> None:
    load = add(
        group, "load", _load, "load files into a table", "quarry load tickets.csv --as tickets",
        Argument(
            "files", "TABLE FILE...",
            "one of the tables below (omit it with --as), and files, folders of files, s3://BUCKET/KEY, or - for standard input",
            nargs=-1, required=True,
        ),
        option(
            "--as", "collection", metavar="NAME",
            help="make a table NAME or SCHEMA.NAME of the files, and search it as a collection",
        ),
        option("--key", metavar="COLUMN", help="with --as: the key column, instead of the guessed one"),
        flag("--append", help="with --as: add rows even if the same file was loaded before"),
        flag("--replace", help="with --as: keep only the rows of the files"),
        *_reading(),
        flag("--skip-invalid", help="skip invalid rows and keep the others"),
        flag("--no-embed", help="do not embed now; `quarry embed` does it later"),
        tenant_option(),
        facts={"files": [], "tables": []},
        about="Load a table from files: CSV, JSON Lines, JSON, spreadsheets or Parquet, each gzipped or not. Every row is "
        "validated, then inserted, or updated if its id exists. If a row is invalid, it is reported and nothing of its "
        "file is loaded. New rows are then embedded. With --as the files become a table of their own, which is declared "
        "in quarry.toml and searched: see docs/own-data.md. Quarry guesses how to read a file unless an option says so.",
    )  # fmt: skip
    load.appendix = _loadable_tables


def _reading() -> list[click.Parameter]:
    """Options for what a file does not say about itself."""
    formats = click.Choice(("csv", "jsonl", "json", "parquet", "sheet"))
    return [
        option("--format", type=formats, help="default: by the file's ending or content"),
        option("--encoding", metavar="NAME", help="encoding of the text, such as windows-1252 or utf-16"),
        option("--header", metavar="LINE", type=click.IntRange(1), help="number of the line that names the columns"),
        flag("--no-header", help="no line names the columns"),
        option("--total/--no-total", default=None, help="whether the last line holds totals, which are left out"),
        option("--sheet", metavar="NAME", help="which sheet of a spreadsheet"),
        option(
            "--decimal", type=click.Choice((".", ",")),
            help="with --as: the decimal separator, as in 1,234.50 or 1.234,50",
        ),
        option(
            "--dates", type=click.Choice(("dmy", "mdy")),
            help="with --as: order of day and month, as in 31.12.2024 or 12/31/2024",
        ),
        option(
            "--empty", metavar="TEXT", multiple=True,
            help="with --as: a text that means no value, such as n/a; repeatable",
        ),
    ]  # fmt: skip


def _add_index(group: Group) -> None:
    actions = add_group(
        group, "index", "verify or rebuild search data",
        "Verify what search reads against the data that it is made of, or rebuild it: generated columns, "
        "rows of collections, values of facets, vectors, indexes, statistics. Searches continue meanwhile.",
        "quarry index verify motions",
    )  # fmt: skip
    only = Argument("table", "TABLE", "only this table of `quarry load --help`, or this collection", required=False)
    for name, summary in (
        ("verify", "list differences from the data; status 1 if there are any"),
        ("rebuild", "rebuild it; embed only rows whose vectors are missing or old"),
    ):
        add(actions, name, f"quarry_tools.index:{name}", summary, f"quarry index {name} motions", only)


def _loadable_tables() -> str:
    from quarry.local.data import describe_tables

    return f"\ntables, in the order in which they refer to each other, and their fields:\n\n{describe_tables()}\n"


_DOMAIN = click.Choice(sorted(DOMAINS))
_DOMAIN_NAMES = {"projects" if domain == "ontology" else domain: domain for domain in DOMAINS}
"""The domains as people call them; the API's names serve too."""
_QUESTION = Argument("question", "QUESTION", "in plain words, up to 2,000 characters")


def _ask(arguments: Arguments) -> int:
    arguments.domain, arguments.question = _domain_and_question(arguments)
    return calling("quarry.local.ask:ask")(arguments)


def _ask_server(arguments: Arguments) -> int:
    arguments.domain, arguments.question = _domain_and_question(arguments)
    if arguments.domain is None:
        raise WrongUsage(f"with --server, name what to ask: {', '.join(sorted(_DOMAIN_NAMES))}")
    return calling("quarry.local.ask:ask_server")(arguments)


def _domain_and_question(arguments: Arguments) -> tuple[str | None, str]:
    domain, question = [None, *arguments.words][-2:]
    if len(arguments.words) > 2:
        raise WrongUsage("put the question in quotes")
    if domain is not None and domain not in {*_DOMAIN_NAMES, *DOMAINS}:
        raise WrongUsage(f"there is no domain {domain!r}; choose one of {', '.join(sorted(_DOMAIN_NAMES))}")
    return _DOMAIN_NAMES.get(domain or "", domain), question


def _show_credits(arguments: Arguments) -> int:
    if arguments.user_id is None:
        raise WrongUsage("name the user")
    return calling("quarry.local.users:show_credits")(arguments)


def _show_own_credits(arguments: Arguments) -> int:
    if arguments.user_id is not None:
        raise WrongUsage("a server shows only your own credits: omit the user")
    return calling("quarry.local.ask:show_own_credits")(arguments)


def _grant_credits(arguments: Arguments) -> int:
    from quarry.people.access import GRANT_MAX

    if arguments.credits > GRANT_MAX:
        raise WrongUsage(f"at most {GRANT_MAX:,} credits are granted at once")
    return calling("quarry.local.users:grant_credits")(arguments)


def _completion(arguments: Arguments) -> int:
    from click.shell_completion import get_completion_class

    shell = get_completion_class(arguments.shell)
    assert shell is not None
    print(shell(command_line(), {}, "quarry", "_QUARRY_COMPLETE").source())
    return DONE


def add_serving(group: Group) -> None:
    for name, summary in (
        ("serve", "serve the whole API on one port"),
        ("demo", "load the sample data if it is missing, then serve"),
    ):
        add(
            group, name, f"quarry.local.server:{name}", summary, f"quarry {name} --port 8081",
            option("--host", default="127.0.0.1", show_default=True, help="the address to serve on"),
            option("--port", type=PORT, default=8080, show_default=True, help="0 for any free port"),
            flag("--open", "open_page", help="open the page in a browser"),
            json=None,
        )  # fmt: skip


def add_searching(group: Group) -> None:
    add(
        group, "ask", _ask, "ask a question and watch the answer",
        'quarry ask records "Why was the bridge closed to trucks?"',
        Argument("words", "[DOMAIN] QUESTION", f"{', '.join(sorted(_DOMAIN_NAMES))} (default: all with data), and the "
                 "question in plain words, up to 2,000 characters, in quotes", nargs=-1, required=True),
        *formats("csv: the numbers you asked for, or the rows listed or cited; json: the events, one a line"),
        remote=_ask_server, json=None,
    )  # fmt: skip
    add(
        group, "search", "quarry.local.ask:search_here", "list the records that match some words",
        'quarry search "bridge weight limit" --type motion --limit 5',
        Argument("words", "WORDS", "up to 2,000 characters, in quotes"),
        option("--type", "types", multiple=True, metavar="NAME", help="only records of this type; repeat for several"),
        option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, metavar="N", help="how many"),
        *formats(),
        remote="quarry.local.ask:search_server", json=None,
        about="List the records that match your words or their meaning, best first, as `GET /records/search` does.",
    )  # fmt: skip
    add(
        group, "query", "quarry.local.ask:query_here", "give the exact result of a Query",
        """echo '{"source": "motion", "aggregate": ["count"]}' | quarry query -""",
        Argument("file", "FILE", "a file of JSON, or - for standard input"),
        *formats(),
        remote="quarry.local.ask:query_server", json=None,
        about="Give the exact result of a Query, which is JSON: the rows, numbers or groups of a source, a sentence that states "
        "them, and the filters. docs/query.md describes the Query.",
    )  # fmt: skip
    add(
        group, "explain", "quarry.local.ask:explain", "show how a question is read without a model",
        'quarry explain "How many motions were there in 2024?"',
        _QUESTION,
        option("--source", "sources", multiple=True, metavar="NAME", help="only this source; repeat for several"),
        about="Show how a question is read without a chat model: what its words may mean, the likeliest Queries with their "
        "scores, how likely the first one is right, and which words were not read. No Query is run.",
    )  # fmt: skip
    _add_agents(group)
    _add_runs(group)


def _add_agents(group: Group) -> None:
    add(
        group, "tools", "quarry.local.agents:print_tools", "print the definitions of the tools for agents",
        "quarry tools --format openai",
        option("--format", type=click.Choice(("openai", "mcp")), default="openai", show_default=True, help="function format"),
        json=None,
    )  # fmt: skip
    add(
        group, "mcp", "quarry.local.agents:serve_agents", "serve the tools for agents over standard input and output",
        "quarry mcp",
        option("--user", metavar="NAME", default="demo", show_default=True, help="the user who searches"),
        flag("--allow-spending", "may_spend", help="also offer search_people, which costs a credit per call"),
        json=None,
        about="Serve the tools for agents by the Model Context Protocol over standard input and output. Clients on this "
        "machine start it themselves: docs/agents.md has the configuration to paste.",
    )  # fmt: skip


def _add_runs(group: Group) -> None:
    runs = add(
        group, "runs", "quarry.local.runs:list_runs", "list past searches, or show one", "quarry runs --limit 5",
        option("--limit", type=POSITIVE, default=20, show_default=True, metavar="N", help="how many"),
        flag("--feedback", "with_feedback", help="only runs with feedback"),
        *formats(),
        json=None, kind=Group, invoke_without_command=True, subcommand_metavar="[COMMAND]",
    )  # fmt: skip
    run_id = Argument("run_id", "ID", "the run's id, or its first characters")
    add(runs, "show", "quarry.local.runs:show_run", "show one run as a timeline", "quarry runs show 3f2a", run_id)
    add(
        runs, "replay", "quarry_tools.replay:replay_run", "repeat a run, and show what differs",
        "quarry runs replay 3f2a", run_id,
        about="Repeat the request of a run, with its filters and constraints, on the current code, data and settings. Compares "
        "results, their order and how the search ended; for records also the answer, as long as it is stored. For companies "
        "and campaigns it shows the new answer. Nobody is charged and no run is recorded, but a chat model is called if there "
        "is one. Of a conversation only the questions are repeated: the run log has neither its answers nor requests of more "
        "than 20,000 characters.",
    )  # fmt: skip


def add_judging(group: Group) -> None:
    what = "one judged query a line, as JSON"
    only = option("--domain", type=_DOMAIN, help="only the queries of this domain")
    add(
        group, "eval", "quarry_tools.evaluation:evaluate_files", "measure search on judged queries",
        "quarry eval sql/sample/records/judged.jsonl",
        Argument("files", "FILE...", what, type=FILE, nargs=-1, required=True),
        option("--against", metavar="EARLIER.json", type=FILE, help="compare with what `quarry eval --json` wrote earlier"),
        only,
        about="Run each query of a judged file through the search of its domain, in this process. Print for each kind of "
        "query the quality of the ranking, how many answers are right, how many results break a condition, and the times. "
        "Searches that use a chat model call it. docs/evaluating.md explains how to judge your own queries.",
    )  # fmt: skip
    add(
        group, "tune", "quarry_tools.tune:tune_by_files", "find the weights of words and meaning that suit your data",
        "quarry tune sql/sample/records/judged.jsonl",
        Argument("files", "[FILE...]", what, type=FILE, nargs=-1),
        option(
            "--folds", type=click.IntRange(2), default=5, show_default=True, metavar="N",
            help="how many parts to hold out in turn",
        ),
        flag("--apply", help="store the best weights for this database"),
        flag("--reset", help="delete the stored weights"),
        only,
        about="Try weights of words and meaning on judged queries, and measure the best ones on queries that were held out. "
        "--apply stores them for this database if they do better there; the environment takes precedence.",
    )  # fmt: skip


def add_users(group: Group) -> None:
    actions = add_group(
        group, "credits", "show a user's credits, or grant some",
        "Show a user's credits, or grant some. A people search costs one, and so does a contact unlocked.",
        "quarry credits grant ada 50",
    )  # fmt: skip
    deployed = "locally a name; deployed, the user's Cognito `sub`"
    add(
        actions, "show", _show_credits, "show a user's balance and latest bookings", "quarry credits show ada",
        Argument("user_id", "[USER]", f"none with --server; {deployed}", type=user_name, required=False),
        remote=_show_own_credits,
    )  # fmt: skip
    add(
        actions, "grant", _grant_credits, "give a user credits", "quarry credits grant ada 50",
        Argument("user_id", "USER", deployed, type=user_name),
        Argument("credits", "N", "how many to add", type=POSITIVE),
    )  # fmt: skip
    add(
        group, "forget", "quarry.local.users:forget_record", "delete a record and everything stored about it",
        "quarry forget person p-17",
        Argument("kind", "TYPE", "person, company, campaign, meeting, motion, task, …"),
        Argument("id", "ID", "the record's id", type=user_name),
        about="Delete a record with its vectors, and remove it from everything that is stored: searches, unlocked contacts, "
        "answers, streams, the run log, users' conversations. If that fails, nothing changes. A line in the table "
        "`forgotten` remains, which does not name the record. Delete a row of your own tables yourself, first.",
    )  # fmt: skip
    summary, example = "print what is stored about a user", "quarry export user ada > ada.json"
    about = "Print what is stored about a user, as JSON: searches, answers, unlocked contacts, credits, feedback, conversations."
    add(
        add_group(group, "export", summary, about, example), "user", "quarry.local.users:export_user", summary, example,
        Argument("user", "NAME", deployed, type=user_name),
        json="accepted; the output is always JSON",
    )  # fmt: skip


def add_installation(group: Group) -> None:
    add(
        group, "psql", "quarry.local.database:open_psql", "open psql on the database",
        """quarry psql -c 'select count(*) from motions'""",
        Argument("arguments", "[ARGUMENT...]", "passed on to psql", nargs=-1, type=click.UNPROCESSED),
        json=None, context_settings={"ignore_unknown_options": True},
        about="Open psql, the terminal of Postgres, on the database that Quarry uses: DATABASE_URL, or the embedded one, which "
        "runs as long as psql does and brings a psql of its own.",
    )  # fmt: skip
    summary = "check this installation and say how to fix it"
    add(group, "doctor", "quarry.local.doctor:examine", summary, "quarry doctor")
    actions = add_group(
        group, "config", "show the settings in force", "Show the settings in force. docs/settings.md describes them.",
        "quarry config show",
    )  # fmt: skip
    summary = "list every setting, its value and where it comes from; secrets are hidden"
    add(actions, "show", "quarry.local.config:show_settings", summary, "quarry config show")
    add(
        group, "completion", _completion, "print a completion script for a shell",
        "quarry completion bash > ~/.local/share/bash-completion/completions/quarry\n"
        "  quarry completion zsh > a file _quarry in a folder of $fpath\n"
        "  quarry completion fish > ~/.config/fish/completions/quarry.fish",
        Argument("shell", "SHELL", "bash, zsh or fish", type=click.Choice(("bash", "zsh", "fish"))),
        json=None,
    )  # fmt: skip


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
        actions, "add", "quarry.local.installation:add", "add a tenant", "quarry tenant add acme", name,
        option("--schema", metavar="NAME", help="its schema (default: made from its name)"),
        option("--node", metavar="HOST:PORT", help="the server to put it on (default: that of the database; on Citus, a worker)"),
        *quotas,
        facts={"tenants": []},
    )  # fmt: skip
    add(
        actions, "list", "quarry.local.installation:list_all", "list the tenants: schema, node, state, size, quotas",
        "quarry tenant list", *formats(), json=None,
    )  # fmt: skip
    add(
        actions, "quota", "quarry.local.installation:show_quotas", "set or show what a tenant may use",
        "quarry tenant quota acme --rows 100000", name, *quotas, *formats(), json=None,
        about="Set what all users of a tenant may use together, and show how much of it they use. A server takes up a "
        "new value within seconds.",
    )  # fmt: skip
    add(
        actions, "move", "quarry.local.installation:move", "move a tenant to another server while it serves",
        "quarry tenant move acme db-2.internal:5432",
        name, Argument("node", "NODE", "the server, as host:port"),
        about="Move a tenant to another server while it serves. User, password and database are those of DATABASE_URL. Needs "
        "wal_level = logical where the tenant is, pg_dump here, and a network between the servers.",
        facts={"moved": []},
    )  # fmt: skip
    add(
        actions, "remove", "quarry.local.installation:remove", "drop a tenant with all its data",
        "quarry tenant remove acme --yes",
        name, flag("--yes", "confirmed", help="do not ask for confirmation"),
        facts={"removed": []},
    )  # fmt: skip


def command_line() -> Group:
    """The whole command line."""
    quarry = Group(
        "quarry",
        params=[
            option("--server", metavar="URL", help="Ask a server; works with `ask`, `query` and `credits show`."),
            option("--tenant", metavar="NAME", help="Run the command for one tenant; see `quarry tenant --help`."),
            option("--stack", metavar="NAME", help="Run the command inside a stack on AWS, with your AWS credentials."),
        ],
        help="Agentic search over your own Postgres.",
        epilog=_EPILOG,
        subcommand_metavar="COMMAND",
        no_args_is_help=False,
    )
    click.version_option(__version__, prog_name="quarry", message="%(prog)s %(version)s")(quarry)
    add_serving(quarry)
    add_data(quarry)
    add_searching(quarry)
    add_judging(quarry)
    add_users(quarry)
    add_tenants(quarry)
    add_installation(quarry)
    return quarry
